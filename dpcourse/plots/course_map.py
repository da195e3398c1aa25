"""The map of the course: twelve units, one idea each, and which needs which."""

from __future__ import annotations

from textwrap import wrap
from typing import Any, Final, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from dpcourse.plots.style import BLUE, GREEN, INK, VERMILION

WIDE, HIGH = 0.86, 0.72
"""The size of a box, where columns and rows are one apart."""


class Stop(NamedTuple):
    """A unit on the map: its place (column, row), its theme, and the units just before it."""

    title: str
    idea: str
    place: tuple[float, float]
    theme: str
    needs: tuple[int, ...]


PROMISE, COST, USE = "what a promise is", "what asking again costs", "what it is good for"
THEMES: Final[dict[str, tuple[str, Any]]] = {
    PROMISE: (BLUE, "-"),
    COST: (VERMILION, (0, (6, 1.5))),
    USE: (GREEN, (0, (2, 1.2))),
}
"""The colour and the line of each theme."""

STOPS: Final = {
    1: Stop("Why privacy fails", "too many good answers give everybody away", (0, 1), PROMISE, ()),
    2: Stop("Mechanisms", "noise as large as one person's influence", (1, 1), PROMISE, (1,)),
    3: Stop("Group privacy", "k people get kε, and a δ that grows faster", (2, 2), PROMISE, (2,)),
    4: Stop("Composition", "the ε's add up, whoever asks", (2, 1), COST, (2,)),
    5: Stop("Private k-means", "noise what the algorithm reads", (3, 2), USE, (4,)),
    6: Stop("Approximate privacy", "a small δ buys Gaussian noise", (2, 0), PROMISE, (2,)),
    7: Stop("Advanced composition", "k answers for the price of √k", (3, 1), COST, (4, 6)),
    8: Stop("Sparse vector", "pay for the yeses only", (4, 2), USE, (7,)),
    9: Stop("Smooth sensitivity", "noise for your data, not for the worst", (3, 0), USE, (6,)),
    10: Stop("Rényi and concentrated", "add up moments, convert once", (4, 1), COST, (7,)),
    11: Stop("Trade-off curves", "the whole truth is a curve", (5, 1), COST, (10,)),
    12: Stop("Many queries", "learn data that answer in your place", (5, 2), USE, (8,)),
}


def course_map(ax: Axes) -> list[Artist]:
    """A box for each unit with its idea, and an arrow to each from what it builds on."""
    artists: list[Artist] = []
    for number, stop in STOPS.items():
        x, y = stop.place
        colour, line = THEMES[stop.theme]
        corner = (x - WIDE / 2, y - HIGH / 2)
        box = FancyBboxPatch(
            corner,
            WIDE,
            HIGH,
            boxstyle="round,pad=0,rounding_size=0.08",
            fc="none",
            ec=colour,
            lw=1.8,
            ls=line,
        )
        artists.append(ax.add_patch(box))
        artists.append(
            ax.text(
                x - WIDE / 2 + 0.05,
                y + 0.22,
                str(number),
                color=colour,
                fontsize=13,
                weight="bold",
                va="center",
            )
        )
        title = "\n".join(wrap(stop.title, 14))
        artists.append(
            ax.text(
                x + 0.08, y + 0.2, title, color=colour, fontsize=9, weight="bold", ha="center", va="center"
            )
        )
        idea = "\n".join(wrap(stop.idea, 20))
        artists.append(ax.text(x, y - 0.13, idea, color=INK, fontsize=8.2, ha="center", va="center"))
        artists += [ax.add_patch(_arrow(STOPS[before].place, stop.place)) for before in stop.needs]
    handles = [
        Line2D([], [], color=colour, ls=line, lw=2, label=theme) for theme, (colour, line) in THEMES.items()
    ]
    artists.append(ax.legend(handles=handles, loc="lower right", frameon=False, labelcolor=INK, fontsize=9))
    ax.set(xlim=(-0.5, 5.5), ylim=(-0.5, 2.5))
    ax.axis("off")
    return artists


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> FancyArrowPatch:
    """From the side of a box that faces the other one, to the side that faces the first."""
    (x, y), (u, v) = start, end
    tail = (x + WIDE / 2, y + 0.22 * (v - y))
    head = (u - WIDE / 2, v - 0.22 * (v - y))
    return FancyArrowPatch(
        tail, head, arrowstyle="-|>", mutation_scale=11, color=INK, lw=1.2, shrinkA=1, shrinkB=1
    )
