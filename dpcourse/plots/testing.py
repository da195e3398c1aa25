"""Pictures of trade-off curves: the best test, and the (ε, δ) pairs as lines that support it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from dpcourse.plots.panel import Panel
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

CELLS = 300
"""Bars that a panel can show apart."""


def supported(
    ax: Panel, fpr: Any, fnr: Any, epsilon: float, delta: float, at: float, miss: float, others: Any
) -> None:
    """False negatives against false positives: no test is below the curve; two lines of (ε, δ) touch it."""
    e = math.exp(epsilon)
    ax.fill_between(fpr, 0, fnr, color=VERMILION, alpha=0.12, linewidth=0)
    ax.plot([0, 1], [1, 0], ":", color=INK, linewidth=1)
    ax.add_collection(LineCollection(_family(others), colors=BLUE, alpha=0.25, linewidths=0.8), autolim=False)
    ax.plot(
        [0, 1], [1 - delta, 1 - delta - e], "--", color=BLUE, linewidth=1.8, label="the two lines of (ε, δ)"
    )
    ax.plot([0, 1], [(1 - delta) / e, (1 - delta - 1) / e], "--", color=BLUE, linewidth=1.8)
    ax.plot(fpr, fnr, color=GREEN, linewidth=2.6, label="the best tests, exactly")
    ax.plot([at], [miss], "D", color=PURPLE, markersize=10, clip_on=False)
    ax.plot([at, at], [0, miss], color=PURPLE, linewidth=0.9)
    ax.plot([0, at], [miss, miss], color=PURPLE, linewidth=0.9)
    ax.fill_between([], [], color=VERMILION, alpha=0.3, linewidth=0, label="no test gets here")
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 0.25, 0.5, 0.75, 1], yticks=[0, 0.25, 0.5, 0.75, 1])
    ax.set(xlabel="false positives", ylabel="false negatives")
    ax.set_title("best tests, and the lines that hold them up")
    ax.legend(frameon=False, labelcolor=INK, loc="upper right")
    ax.grid()


def _family(pairs: Any) -> list[Any]:
    """Both lines of each (ε, δ): FNR = 1 - δ - e^ε FPR, and its mirror image."""
    steep = [[(0, 1 - d), (1, 1 - d - math.exp(e))] for e, d in pairs]
    return steep + [[(y, x) for x, y in line] for line in steep]


def delta_curve(ax: Panel, epsilons: Any, deltas: Any, epsilon: float, delta: float) -> None:
    """δ(ε) of the same pair: each point is a line of the other picture."""
    ax.plot(epsilons, deltas, color=GREEN, linewidth=2.6)
    ax.fill_between(epsilons, 0, deltas, color=VERMILION, alpha=0.12, linewidth=0)
    ax.plot([epsilon], [delta], "o", color=BLUE, markersize=11, clip_on=False)
    ax.plot([epsilon, epsilon], [0, delta], "--", color=BLUE, linewidth=1.2)
    ax.plot([0, epsilon], [delta, delta], "--", color=BLUE, linewidth=1.2)
    ax.fill_between([], [], color=VERMILION, alpha=0.3, linewidth=0, label="no promise holds here")
    ax.legend(frameon=False, labelcolor=INK, loc="upper right")
    ax.set(
        xlim=(0, epsilons[-1]),
        ylim=(0, 1),
        yticks=[0, 0.25, 0.5, 0.75, 1],
        xlabel="ε (nats)",
        ylabel="least δ",
    )
    ax.set_title("the same as (ε, δ): each point is a line")
    ax.grid()


def loss_grid(
    ax: Panel, values: Any, masses: Any, atoms: Any, weights: Any, width: float, ends: tuple[float, float]
) -> None:
    """The rounded privacy-loss distribution as bars, and the exact one as stems or a line above them."""
    centres, heights = _bars(values, masses, width, ends)
    wide = 0.84 * max(width, (ends[1] - ends[0]) / CELLS)
    across = centres[:, None] + wide * np.array([-0.5, -0.5, 0.5, 0.5])
    up = heights[:, None] * np.array([0, 1, 1, 0])
    bars = PolyCollection(list(np.dstack([across, up])), facecolors=BLUE, alpha=0.7, linewidths=0)
    ax.add_collection(bars, autolim=False)
    if len(atoms):
        peak = float(np.max(weights))
        near = weights > 1e-4 * peak
        mark = "o" if near.sum() < 40 else "-"
        ax.plot(atoms[near], weights[near] / peak, mark, color=VERMILION, markersize=5.5, linewidth=2.2)
    ax.set(xlim=ends, ylim=(0, 1.18), yticks=[], xlabel="privacy loss (nats)")
    ax.still(-0.03, 0.5, "probability, each to its own scale", rotation=90, ha="right", va="center")
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x")


def _bars(values: Any, masses: Any, width: float, ends: tuple[float, float]) -> tuple[Any, Any]:
    """Where bars stand, and how tall; where the grid is finer than the eye, the tallest of each cell."""
    top = float(max(np.max(masses), 1e-300))
    keep = (masses > 1e-4 * top) & (values >= ends[0]) & (values <= ends[1])
    centres, heights = np.asarray(values)[keep], np.asarray(masses)[keep] / top
    cell = (ends[1] - ends[0]) / CELLS
    if width >= cell:
        return centres, heights
    tallest = np.zeros(CELLS + 1)
    np.maximum.at(tallest, ((centres - ends[0]) / cell).astype(int), heights)
    shown = np.flatnonzero(tallest)
    return ends[0] + (shown + 0.5) * cell, tallest[shown]


def ribbon(ax: Axes, epsilons: Any, exact: Any, up: Any, down: Any, chosen: str, floor: float) -> None:
    """δ(ε) between rounding down and rounding up; the exact curve runs inside."""
    ax.fill_between(
        epsilons, np.maximum(down, floor), np.maximum(up, floor), color=INK, alpha=0.18, linewidth=0
    )
    ax.plot(
        epsilons,
        np.maximum(up, floor),
        "--",
        color=BLUE,
        linewidth=2.4 if chosen == "up" else 1.2,
        label="rounded up: safe",
    )
    ax.plot(
        epsilons,
        np.maximum(down, floor),
        ":",
        color=VERMILION,
        linewidth=2.6 if chosen == "down" else 1.4,
        label="rounded down: false",
    )
    ax.plot(epsilons, np.maximum(exact, floor), color=GREEN, linewidth=2, label="exact")
    ax.set(yscale="log", ylim=(floor, 1), xlim=(0, epsilons[-1]), xlabel="ε (nats)", ylabel="δ")
    ax.set_yticks([10.0**p for p in range(0, round(math.log10(floor)) - 1, -2)])
    ax.set_title("what is reported: only up is safe")
    ax.legend(frameon=False, labelcolor=INK, loc="lower left", fontsize=9)
    ax.grid()
