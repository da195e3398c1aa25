"""Pictures of private k-means: points, centres on their way, and the clouds of what noise may do to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon

from dpcourse.errors import Floats
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

LOOKS = ((BLUE, "o"), (GREEN, "s"), (PURPLE, "^"))
"""A colour and a marker for each cluster."""


def lloyd_map(
    ax: Axes,
    points: Floats,
    labels: Any,
    path: Floats,
    clouds: Floats | None,
    norm: float,
    worst: Floats | None,
) -> list[Artist]:
    """The points by cluster inside their public region, and the way of each centre until now.

    `clouds[j]` are places where the noise may put centre j next. `worst` is a point that the noise was not
    made for.
    """
    edge: Any = {"fill": False, "edgecolor": INK, "linewidth": 1, "linestyle": "--"}
    corners = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    artists: list[Artist] = [
        ax.add_patch(Circle((0, 0), 1, **edge) if norm == 2 else Polygon(corners, **edge))
    ]
    for j, (colour, marker) in enumerate(LOOKS):
        mine = points[labels == j]
        artists += ax.plot(*mine.T, marker, color=colour, markersize=3.5, alpha=0.45, markeredgewidth=0)
        if clouds is not None:
            dots: Any = {"markersize": 4.5, "alpha": 0.8, "markeredgewidth": 0, "zorder": 4}
            artists += ax.plot(*clouds[j].T, "D", color=VERMILION, **dots)
        artists += ax.plot(*path[:, j].T, "-", color=INK, linewidth=1.5)
        last: Any = {"markersize": 13, "markeredgecolor": "white", "markeredgewidth": 1.5, "zorder": 5}
        artists += ax.plot(*path[-1:, j].T, marker, color=colour, **last)
    if worst is not None:
        artists += ax.plot(*worst[:, None], "X", color=VERMILION, markersize=12, clip_on=False, zorder=6)
        artists.append(
            ax.text(
                worst[0] + 0.06, worst[1] + 0.04, f"ℓ1 length\n{np.abs(worst).sum():.2f}", color=VERMILION
            )
        )
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.05, 1.05), aspect="equal")
    ax.set_axis_off()
    return artists


def costs_by_round(ax: Axes, private: Sequence[float], exact: Sequence[float], rounds: int) -> list[Artist]:
    """The k-means cost of the centres after each round, with noise and without."""
    artists: list[Artist] = []
    artists += ax.plot(range(len(exact)), exact, "--", color=INK, linewidth=1.5, label="without noise")
    artists += ax.plot(
        range(len(private)), private, "-D", color=GREEN, markersize=6, label="private", clip_on=False
    )
    top = max(*exact, *private)
    step = 10.0 ** math.floor(math.log10(top))
    ax.set(xlim=(0, rounds), ylim=(0, math.ceil(top * 1.02 / step) * step), xlabel="round", ylabel="cost")
    ax.set_xticks(range(rounds + 1))
    ax.legend(frameon=False, labelcolor=INK, loc="upper right", fontsize=9)
    ax.set_title("mean squared distance to a centre")
    ax.grid()
    return artists
