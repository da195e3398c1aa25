"""Pictures of answering many queries: promises, epochs of a conversation, and what an update is worth."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from dpcourse.interactive.weights import worst_drop
from dpcourse.plots.streams import LOOKS
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label


def power_laws(ax: Axes, x: ArrayLike, named: Mapping[str, ArrayLike], right: float = 0.0) -> list[Artist]:
    """Curves on two logarithmic axes, each with its name at its right end; `right` is room for the names."""
    where = np.asarray(x, dtype=float)
    artists: list[Artist] = []
    ends: list[tuple[float, float, str, str]] = []
    for (name, y), (colour, line, marker) in zip(named.items(), LOOKS, strict=False):
        values = np.asarray(y, dtype=float)
        artists += ax.plot(where, values, color=colour, linestyle=line, marker=marker, ms=5, mfc="none")
        shown = np.flatnonzero(np.isfinite(values))[-1]
        ends.append((float(where[shown]), float(values[shown]), name, colour))
    ax.set(xscale="log", yscale="log")
    ax.set_xlim(where[0] * 0.8, where[-1] * (where[-1] / where[0]) ** right * 1.25)
    ax.grid()
    return artists + _names(ax, ends)


def _names(ax: Axes, ends: list[tuple[float, float, str, str]]) -> list[Artist]:
    """Names at the ends of curves, moved up where two at the same place would meet."""
    points = 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    artists: list[Artist] = []
    taken: dict[float, float] = {}
    for x, y, name, colour in sorted(ends, key=lambda end: end[1]):
        at, half = float(ax.transData.transform((x, y))[1]) * points, 7.0 * (1 + name.count("\n"))
        place = max(at, taken.get(x, -np.inf) + half)
        taken[x] = place + half
        artists.append(label(ax, x, y, name, colour, dx=8, dy=place - at))
    return artists


def epochs(
    ax: Axes, gaps: Sequence[float], updated: Sequence[bool], thresholds: Sequence[float], public: float
) -> list[Artist]:
    """How far off the hypothesis is at each query, under the hidden threshold of the epoch.

    `gaps` is for each query, `thresholds` for each epoch; an epoch ends with an update.
    """
    i, off, paid = np.arange(1, len(gaps) + 1), np.abs(gaps), np.asarray(updated, dtype=bool)
    ends = [0.5, *(i[paid] + 0.5).tolist()]
    if not paid[-1]:
        ends.append(len(gaps) + 0.5)
    top = 1.2 * max(off.max(), *thresholds[: len(ends) - 1])
    artists: list[Artist] = []
    for k, (start, end) in enumerate(itertools.pairwise(ends)):
        if k % 2 == 0:
            artists.append(ax.axvspan(start, end, color=INK, alpha=0.12, linewidth=0))
        name = "hidden threshold of the epoch" if k == 0 else None
        artists += ax.plot([start, end], [thresholds[k]] * 2, "--", color=PURPLE, linewidth=1.8, label=name)
        if end - start > 0.05 * len(gaps):
            artists.append(
                ax.text((start + end) / 2, 0.97 * top, f"epoch {k + 1}", ha="center", va="top", fontsize=9)
            )
    artists.append(ax.axhline(public, color=INK, linestyle=":", linewidth=1.2, label="public threshold T"))
    artists.append(ax.vlines(i, 0, off, color=INK, linewidth=0.6, alpha=0.6))
    artists += ax.plot(i[~paid], off[~paid], "o", color=BLUE, mfc="none", markersize=4, label="lazy: free")
    artists += ax.plot(i[paid], off[paid], "^", color=VERMILION, markersize=8, label="update: paid for")
    ax.set(xlim=(0.5, len(gaps) + 0.5), ylim=(0, top), xlabel="query", ylabel="error of the hypothesis")
    ax.legend(frameon=False, labelcolor=INK, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=4)
    return artists


def steps(ax: Axes, threshold: float, largest: float = 6.0) -> list[Artist]:
    """What an update at the smallest gap T/2 is worth, against its step: exactly, proved, and as printed."""
    ratio = np.linspace(0.01, largest, 300)
    eta, unit = ratio * threshold, threshold**2
    exact = worst_drop(threshold / 2, eta) / unit
    named = {
        "the worst case, exactly": (exact, GREEN, "-"),
        "proved: η·gap − η²/8": ((eta * threshold / 2 - eta**2 / 8) / unit, BLUE, "--"),
        "printed: ηT − η²": ((eta * threshold - eta**2) / unit, VERMILION, ":"),
    }
    artists: list[Artist] = [ax.axhline(0, color=INK, linewidth=1)]
    for name, (y, colour, line) in named.items():
        artists += ax.plot(ratio, y, color=colour, linestyle=line, linewidth=2, label=name)
    for at, name, dx, dy in (
        (0.25, "η = T/4", 8, -8),
        (0.5, "η = T/2", -16, 22),
        (2.0, "η = 2T, the best", 8, 10),
    ):
        y = float(np.interp(at, ratio, exact))
        artists += ax.plot([at], [y], "D", color=GREEN, markersize=7)
        artists.append(label(ax, at, y, name, GREEN, dx=dx, dy=dy))
    ax.set(
        xlim=(0, largest), ylim=(-0.55, 0.75), xlabel="step η, in units of T", ylabel="drop, in units of T²"
    )
    ax.legend(frameon=False, labelcolor=INK, loc="upper right")
    ax.grid()
    return artists
