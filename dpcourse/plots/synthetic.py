"""Pictures of synthetic data: a net of small databases, and a hypothesis that learns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Polygon

from dpcourse.errors import Floats
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])


def simplex_net(
    ax: Axes, shares: Floats, chances: Floats, data: Floats, names: Sequence[str], alpha: float
) -> list[Artist]:
    """All databases of the net in the triangle of shares, each with a circle of its probability.

    The data are a star; the hexagon holds the databases whose answers are all within `alpha`.
    """
    place, here = shares @ CORNERS, data @ CORNERS
    whole = Polygon(CORNERS, fill=False, edgecolor=INK, linewidth=1.2)
    artists: list[Artist] = [ax.add_patch(whole)]
    sides = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1], [-1, 1, 0], [-1, 0, 1], [0, -1, 1]])
    near = Polygon(
        here + alpha * sides @ CORNERS, facecolor=to_rgba(GREEN, 0.2), edgecolor=GREEN, linewidth=1.5
    )
    artists.append(ax.add_patch(near))
    near.set_clip_path(whole)
    artists += ax.plot(*place.T, ".", color=INK, markersize=3, alpha=0.8)
    artists.append(
        ax.scatter(place[:, 0], place[:, 1], s=3000 * chances, color=BLUE, alpha=0.5, linewidths=0, zorder=3)
    )
    artists += ax.plot(*here[:, None], "*", color=VERMILION, markersize=16, markeredgecolor="white", zorder=5)
    for corner, name, (dx, dy, ha) in zip(
        CORNERS, names, ((-0.02, -0.05, "right"), (0.02, -0.05, "left"), (0, 0.03, "center")), strict=True
    ):
        artists.append(ax.text(corner[0] + dx, corner[1] + dy, name, color=INK, ha=ha))
    ax.set(xlim=(-0.2, 1.2), ylim=(-0.1, 0.94), aspect="equal")
    ax.set_axis_off()
    return artists


def net_errors(
    ax: Axes, sizes: Sequence[int], curves: Mapping[str, Sequence[float]], here: int
) -> list[Artist]:
    """The error against the size of a database: what the best has, what is chosen, what is promised."""
    looks = ((INK, ":", "."), (GREEN, "-", "D"), (BLUE, "--", "s"), (PURPLE, "-.", "^"))
    artists: list[Artist] = [*ax.plot([here, here], [0, 1.02], color=INK, linewidth=1)]
    for (name, values), (colour, style, marker) in zip(curves.items(), looks, strict=False):
        artists += ax.plot(
            sizes, np.minimum(values, 1.02), style, marker=marker, color=colour, markersize=5, label=name
        )
    ax.set(
        xlim=(sizes[0], sizes[-1]),
        ylim=(0, 1.32),
        yticks=[0, 0.25, 0.5, 0.75, 1],
        xlabel="rows of a database in the net",
        ylabel="largest error",
    )
    ax.set_xticks([size for size in sizes if size in {1, 4, 8, 12, 16}])
    ax.legend(frameon=False, labelcolor=INK, loc="upper right", fontsize=9, ncols=2, columnspacing=1.0)
    ax.grid()
    return artists


def learned(ax: Axes, data: Floats, hypothesis: Floats, query: Floats | None, top: float) -> list[Artist]:
    """The public hypothesis filled, the data as an outline, and below them the rows that the query counts."""
    edges = np.arange(len(data) + 1) - 0.5
    artists: list[Artist] = [
        ax.stairs(hypothesis, edges, color=BLUE, alpha=0.7, fill=True, label="hypothesis (public)"),
        ax.stairs(data, edges, color=VERMILION, linewidth=2, label="data (secret)"),
    ]
    if query is not None:
        counted = np.flatnonzero(query > 0.5)
        artists += ax.plot(
            counted,
            np.full(len(counted), -0.045 * top),
            "s",
            color=GREEN,
            markersize=6,
            clip_on=False,
            label="query",
        )
    ax.set(xlim=(-0.7, len(data) - 0.3), ylim=(-0.09 * top, top), xlabel="kind of row", ylabel="share")
    ax.legend(frameon=False, labelcolor=INK, loc="upper right", fontsize=9)
    return artists


def staircase(
    ax: Axes, potentials: Sequence[float], rounds: Sequence[int], drop: float, now: int, total: int
) -> list[Artist]:
    """The potential falls at every update, by at least `drop`; what is still to come is grey."""
    x = np.concatenate([[0], np.asarray(rounds, dtype=float) + 1, [total]])
    y = np.concatenate([potentials, potentials[-1:]])
    promised = potentials[0] - drop * np.arange(len(potentials))
    done = int(np.searchsorted(rounds, now))
    artists: list[Artist] = []
    artists += ax.step(x, y, where="post", color=INK, linewidth=1, alpha=0.6)
    upto = np.concatenate([x[: done + 1], [now]])
    artists += ax.step(
        upto, np.append(y[: done + 1], y[done]), where="post", color=GREEN, linewidth=2.5, label="potential"
    )
    artists += ax.step(
        x, np.append(promised, promised[-1]), where="post", color=PURPLE, linestyle="--", label="guaranteed"
    )
    artists += ax.plot([now], [y[done]], "D", color=GREEN, markersize=8, clip_on=False, zorder=4)
    ax.set(xlim=(0, total), ylim=(0, potentials[0] * 1.12), ylabel="KL of the data (nats)")
    ax.legend(frameon=False, labelcolor=INK, loc="lower left", fontsize=9, ncols=2)
    ax.grid()
    return artists


def answer_errors(ax: Axes, errors: Floats, updated: Any, limit: float, total: int) -> list[Artist]:
    """How far each answer was off: free ones by the hypothesis, and those that cost an update."""
    i, paid = np.arange(1, len(errors) + 1), np.asarray(updated, dtype=bool)
    top = 1.6 * limit
    artists: list[Artist] = [ax.axhspan(-limit, limit, color=GREEN, alpha=0.13, linewidth=0)]
    shown = np.clip(errors, -top, top)
    artists += ax.plot(i[~paid], shown[~paid], "o", color=BLUE, mfc="none", markersize=4, label="free")
    artists += ax.plot(i[paid], shown[paid], "^", color=VERMILION, markersize=6, label="update")
    ax.set(xlim=(0, total), ylim=(-top, 1.75 * top), xlabel="query", ylabel="error")
    ax.legend(frameon=False, labelcolor=INK, loc="upper left", fontsize=9, ncols=2)
    ax.grid()
    return artists
