"""Pictures of a histogram and its neighbours: every row is a dot, and one of them moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from dpcourse.plots.marks import block
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION


def dot_histogram(
    ax: Axes, names: Sequence[str], before: Sequence[int], out: int | None, into: int | None
) -> None:
    """A column of dots for each bin; a row that leaves is hollow, a row that comes is a diamond."""
    for place, count in enumerate(before):
        leaves = place == out
        heights = np.arange(count - leaves) + 0.5
        ax.plot(np.full(len(heights), place), heights, "o", color=BLUE, markersize=13)
    if out is not None:
        ax.plot([out], [before[out] - 0.5], "o", color=VERMILION, mfc="none", mew=2.2, markersize=13)
        ax.text(
            out + 0.27, before[out] - 0.5, "−1", color=VERMILION, va="center", fontweight="bold", fontsize=12
        )
    if into is not None:
        height = before[into] - (into == out) + 0.5
        ax.plot([into], [height], "D", color=GREEN, markersize=12)
        ax.text(into + 0.27, height, "+1", color=GREEN, va="center", fontweight="bold", fontsize=12)
    if out is not None and into is not None and out != into:
        start, end = (out, before[out] + 0.1), (into, before[into] + 1.1)
        bend = -0.3 if into > out else 0.3
        arrow = FancyArrowPatch(
            start,
            end,
            connectionstyle=f"arc3,rad={bend}",
            arrowstyle="-|>",
            mutation_scale=16,
            color=INK,
            linewidth=1.4,
        )
        ax.add_artist(arrow)
    ax.set(
        xlim=(-0.6, len(names) - 0.4),
        ylim=(0, max(before) + 2.2),
        ylabel="rows in the bin",
        yticks=range(0, max(before) + 2, 2),
    )
    ax.set_xticks(range(len(names)), list(names))
    ax.tick_params(axis="x", length=0)
    ax.set_title("every dot is a row; one of them moves")
    ax.grid(axis="y")


def distance_meter(ax: Axes, distance: int, epsilon: float, losses: Sequence[tuple[str, float]]) -> None:
    """How far the counts moved, and what that costs under two amounts of noise, against the promise."""
    rows = [
        (f"counts moved by {distance}", distance * epsilon, PURPLE),
        *((n, x, GREEN if x <= epsilon + 1e-12 else VERMILION) for n, x in losses),
    ]
    ax.axvspan(epsilon, 9, color=VERMILION, alpha=0.1, linewidth=0)
    for place, (name, value, colour) in enumerate(reversed(rows)):
        if place == len(rows) - 1:
            for step in range(distance):
                block(ax, (step + 0.03) * epsilon, place - 0.21, 0.94 * epsilon, 0.42, color=colour)
        else:
            block(
                ax,
                0,
                place - 0.21,
                max(value, 0.004),
                0.42,
                color=colour,
                hatch=None if colour == GREEN else "//",
            )
        ax.text(0.04 * epsilon, place + 0.36, name, color=INK, va="center")
        if place < len(rows) - 1:
            ax.text(
                value + 0.03 * epsilon, place, f"{value:.3g}", color=colour, va="center", fontweight="bold"
            )
    ax.axvline(epsilon, color=INK, linewidth=1.5, linestyle="--")
    ax.set(
        xlim=(0, 2.45 * epsilon),
        ylim=(-0.5, len(rows) - 0.4),
        yticks=[],
        xlabel="privacy loss (nats); counts in units of ε",
    )
    ax.set_xticks([0, epsilon, 2 * epsilon], ["0", "ε, promised", "2ε"])
    ax.set_title("what the move costs")
