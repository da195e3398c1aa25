"""Pictures of what an answer costs: noes that are free, the borderline, and named curves to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse.laws import Laplace
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label

LOOKS: Final = (
    (GREEN, "-", "o"),
    (BLUE, "--", "s"),
    (VERMILION, ":", "X"),
    (PURPLE, "-.", "D"),
    (INK, "-", "^"),
    (GREEN, "--", "v"),
    (BLUE, ":", "P"),
    (VERMILION, "-.", "*"),
)
"""Colour, line and marker: no two curves differ in colour alone."""


def curves(ax: Axes, x: Any, named: Mapping[str, Any], markers: bool = True) -> list[Artist]:
    """Several curves over the same x, each with a look of its own."""
    artists: list[Artist] = []
    for (name, y), (colour, line, marker) in zip(named.items(), LOOKS, strict=False):
        mark = marker if markers else "None"
        artists += ax.plot(x, y, color=colour, linestyle=line, marker=mark, ms=5, mfc="none", label=name)
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def free_noes(ax: Axes, scale: float, numbers: Sequence[int], shift: float = 1.0) -> list[Artist]:
    """The chance of n noes against the hidden threshold z, for queries at 0 and at `shift`."""
    z = np.linspace(-2 * scale, scale * (np.log(max(numbers)) + 3), 400)
    artists: list[Artist] = []
    for n, (colour, _, _) in zip(numbers, LOOKS, strict=False):
        here, there = (Laplace(q, scale).cdf(z) ** n for q in (0.0, shift))
        artists += ax.plot(z, here, "-", color=colour)
        artists += ax.plot(z, there, "--", color=colour)
        half = float(np.interp(0.5, here, z))
        artists.append(label(ax, half, 0.5, f"{n} no" + "es" * (n > 1), colour, dx=-52, dy=10))
        artists.append(
            ax.annotate(
                "", (half + shift, 0.5), (half, 0.5), arrowprops={"arrowstyle": "->", "color": colour}
            )
        )
    ax.set(xlabel="hidden threshold z", ylabel="chance that all are noes", ylim=(0, 1.02))
    ax.grid()
    return artists


def borderline(ax: Axes, scale: float, reach: float = 6.0) -> list[Artist]:
    """What one answer costs at each distance from the threshold: a no, a yes, and the two on average."""
    gap = np.linspace(-reach * scale, reach * scale, 401)
    sides = Laplace(gap, scale), Laplace(gap - 1, scale)
    yes, yes_there = (law.sf(0.0) for law in sides)
    no, no_there = (law.cdf(0.0) for law in sides)
    costs = {"a yes": np.log(yes / yes_there), "a no": np.log(no_there / no)}
    mean = yes * np.log(yes / yes_there) + no * np.log(no / no_there)
    artists = curves(ax, gap, costs, markers=False)
    ax.set(xlabel="query minus threshold", ylabel="loss of the answer")
    other = ax.twinx()
    other.spines["right"].set_visible(True)
    artists += other.plot(gap, 1e3 * mean, color=PURPLE, linewidth=2, label="mean loss (right)")
    other.set_ylabel("mean loss, thousandths", color=PURPLE)
    other.set_ylim(0, 1.15e3 * float(mean.max()))
    lines = [line for line in (*ax.lines, *other.lines) if isinstance(line.get_label(), str)]
    ax.legend(handles=lines, frameon=False, labelcolor=INK, loc="center left")
    return artists
