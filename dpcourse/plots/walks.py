"""Pictures of martingales: many paths under Azuma's envelope, and the exact law of where they end."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from dpcourse.plots.marks import steps
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION


def paths(ax: Axes, walks: Any, envelope: Any, time: int, reach: float, broken: bool) -> None:
    """The paths up to a time, the envelope for each time, and the paths that are outside now."""
    rounds = len(envelope) - 1
    t = np.arange(rounds + 1)
    outside = walks[:, time] >= envelope[time] - 1e-9 if time else np.zeros(len(walks), dtype=bool)
    ax.fill_between(t, -reach, envelope, color=GREEN, alpha=0.1, linewidth=0)
    ax.plot(t, envelope, "--", color=GREEN, linewidth=2)
    for chosen, colour, alpha, width in ((~outside, BLUE, 0.28, 0.8), (outside, VERMILION, 0.9, 1.2)):
        lines = [np.column_stack([t[: time + 1], walk[: time + 1]]) for walk in walks[chosen]]
        ax.add_collection(LineCollection(lines, colors=colour, alpha=alpha, linewidths=width), autolim=False)
    ax.plot(np.full(len(walks), time), walks[:, time], ".", color=INK, markersize=3)
    ax.axvline(time, color=INK, linewidth=0.8)
    ax.set(xlim=(0, rounds * 1.02), ylim=(-reach, reach), xlabel="round", ylabel="sum so far, in steps of ε")
    ax.set_title(f"{len(walks)} paths; orange is above Azuma’s envelope" + (", too often" if broken else ""))
    ax.grid()


def ending(ax: Axes, values: Any, masses: Any, ends: Any, limit: float, reach: float) -> None:
    """The exact law at this time turned on its side, and the part of it above the limit."""
    values, masses = np.asarray(values, dtype=float), np.asarray(masses, dtype=float)
    first = float(values.min()) - 1  # bins of whole steps, or some would hold one value and others two
    edges = first + 4 * np.arange(np.floor((-reach - first) / 4), np.ceil((reach - first) / 4) + 1)
    exact, _ = np.histogram(values, edges, weights=masses)
    seen, _ = np.histogram(ends, edges)
    top = max(float(exact.max()), float(seen.max()) / len(ends), 1e-9)
    steps(ax, exact / top, edges, orientation="horizontal", color=BLUE, alpha=0.55)
    high = (edges[1:] - 2 >= limit - 1e-9) & (limit > 0)  # before the first step nothing is above
    steps(ax, np.where(high, exact / top, 0), edges, orientation="horizontal", color=VERMILION)
    middle = (edges[1:] + edges[:-1]) / 2
    shown = seen > 0
    ax.plot(seen[shown] / len(ends) / top, middle[shown], "o", mfc="none", color=PURPLE, markersize=5)
    ax.axhline(limit, color=GREEN, linestyle="--", linewidth=2)
    ax.plot([], [], "s", color=BLUE, label="exact")
    ax.plot([], [], "o", mfc="none", color=PURPLE, label="simulated")
    ax.set(xlim=(0, 1.15), ylim=(-reach, reach), xticks=[], xlabel="share of the paths")
    ax.tick_params(axis="y", labelleft=False)
    ax.set_title("where they are now")
    ax.legend(frameon=False, labelcolor=INK, loc="upper right", fontsize=9)
    ax.grid(axis="y")
