"""Pictures for private k-means: what one point can tip, two balls, losses of whole runs, and real people."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon
from matplotlib.ticker import NullLocator

from dpcourse.errors import Floats
from dpcourse.loss import PrivacyLoss
from dpcourse.plots.streams import LOOKS, curves
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label


def tipped(ax: Axes, points: Floats, before: Floats, after: Floats, extra: Floats) -> list[Artist]:
    """Where the centres end without and with one extra point; an arrow for each centre that moved."""
    artists: list[Artist] = []
    artists += ax.plot(*points.T, ".", color=INK, markersize=3, alpha=0.7)
    artists += ax.plot(*extra, "X", color=VERMILION, markersize=10, clip_on=False, label="the extra point")
    artists += ax.plot(
        *before.T, "o", color=BLUE, markersize=11, mfc="none", mew=2, label="centres without it"
    )
    artists += ax.plot(*after.T, "D", color=GREEN, markersize=8, label="centres with it")
    for here, there in zip(before, after, strict=True):
        if np.linalg.norm(there - here) > 0.05:
            style: Any = {"arrowstyle": "->", "color": GREEN, "linewidth": 1.5, "shrinkA": 8, "shrinkB": 6}
            artists.append(ax.annotate("", there, here, arrowprops=style))
    ax.set(xlim=(-1.08, 1.08), ylim=(-0.45, 0.6), aspect="equal", xticks=[-1, 0, 1], yticks=[0])
    return artists


def two_balls(ax: Axes) -> list[Artist]:
    """The l1 ball inside the l2 ball, and a point of the larger one that is longer than 1 in l1."""
    corners = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    disc = ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=VERMILION, linestyle="--", linewidth=1.5))
    diamond = ax.add_patch(Polygon(corners, facecolor=GREEN, alpha=0.25, linewidth=0))
    edge = ax.add_patch(Polygon(corners, fill=False, edgecolor=GREEN, linewidth=1.5))
    worst = 0.5**0.5
    artists: list[Artist] = [disc, diamond, edge]
    artists += ax.plot([0, worst, worst], [0, 0, worst], ":", color=VERMILION, linewidth=1.5)
    artists += ax.plot([worst], [worst], "X", color=VERMILION, markersize=11, zorder=5)
    artists.append(label(ax, worst, worst, f"ℓ1 length {2 * worst:.2f}", VERMILION, dx=8, dy=6))
    artists.append(ax.text(-0.02, -0.36, "ℓ1 ball", color=GREEN, ha="center"))
    artists.append(label(ax, -worst, -worst, "ℓ2 ball", VERMILION, dx=-46, dy=-4))
    ax.set(xlim=(-1.15, 1.6), ylim=(-1.12, 1.12), aspect="equal")
    ax.set_axis_off()
    return artists


def ball_prices(ax: Axes, dims: Floats, claim: float) -> list[Artist]:
    """What a round costs that puts the noise of the l1 ball on points of other balls, against d."""
    half = claim / 2
    prices = {
        "box": half * (1 + dims),
        "ℓ2 ball": half * (1 + np.sqrt(dims)),
        "ℓ1 ball": half * (1 + np.ones_like(dims)),
    }
    artists = curves(ax, dims, prices, markers=False)
    ax.set(xscale="log", yscale="log", xlabel="dimensions d", ylabel="exact ε of a round")
    ax.set_xticks([1, 4, 16, 64], ["1", "4", "16", "64"])
    ax.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_minor_locator(NullLocator())
    return artists


def played_losses(
    ax: Axes, played: Floats, exact: PrivacyLoss, epsilon: float, bins: int = 21
) -> list[Artist]:
    """The privacy loss of runs that were played, the exact law, and the two ends of what is promised."""
    edges = np.linspace(-1.1 * epsilon, 1.1 * epsilon, bins + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    share = np.histogram(played, edges)[0] / len(played)
    truth = -np.diff(exact.tail(edges))
    artists: list[Artist] = list(
        ax.bar(middle, share, np.diff(edges) * 0.9, color=BLUE, alpha=0.35, label="runs played")
    )
    artists += ax.plot(middle, truth, "o-", color=GREEN, markersize=5, label="exact")
    for end in (-epsilon, epsilon):
        artists.append(ax.axvline(end, color=VERMILION, linestyle="--", linewidth=1.5))
    artists.append(label(ax, epsilon, float(share.max()), "ε", VERMILION, dx=5))
    artists.append(label(ax, -epsilon, float(share.max()), "−ε", VERMILION, dx=-18))
    ax.set(xlabel="privacy loss of a whole run (nats)", ylabel="share of the runs")
    ax.legend(frameon=False, labelcolor=INK, loc="upper left", bbox_to_anchor=(0.08, 1))
    ax.grid()
    return artists


def centres_among(ax: Axes, points: Floats, exact: Floats, private: Floats) -> list[Artist]:
    """People as dots, the centres without noise, and where private runs put theirs."""
    artists: list[Artist] = []
    artists += ax.plot(*points.T, ".", color=INK, markersize=2.5, alpha=0.25, zorder=1)
    spots = private.reshape(-1, 2)
    artists += ax.plot(
        *spots.T, "D", color=VERMILION, markersize=4, alpha=0.7, mew=0, label="private runs", zorder=3
    )
    look: Any = {"markersize": 10, "mfc": "none", "mew": 1.5, "zorder": 4}
    artists += ax.plot(*exact.T, "o", color=BLUE, label="without noise", **look)
    return artists


def error_of_share(ax: Axes, shares: Floats, errors: dict[str, Floats]) -> list[Artist]:
    """The error of a centre against the counts' share of a round, with the best share and the half marked."""
    artists: list[Artist] = []
    for (name, error), (colour, line) in zip(
        errors.items(), ((GREEN, "-"), (BLUE, "--"), (PURPLE, "-.")), strict=False
    ):
        least = int(np.argmin(error))
        artists += ax.plot(shares, error / error[least], line, color=colour, linewidth=2, label=name)
        artists += ax.plot([shares[least]], [1], "v", color=colour, markersize=9, clip_on=False, zorder=5)
    artists.append(ax.axvline(0.5, color=INK, linestyle=":", linewidth=1.2))
    ax.set(
        xlabel="share of the round for the counts",
        ylabel="squared error, best = 1",
        xlim=(0, 1),
        ylim=(0.9, 4),
    )
    ax.legend(frameon=False, labelcolor=INK, loc="center right")
    ax.grid()
    return artists


def extra_cost(
    axes: tuple[Axes, Axes], sizes: Floats, excess: dict[float, Floats], first_order: Floats
) -> list[Artist]:
    """The extra cost against n, a curve for each epsilon; and against n epsilon, next to the first order.

    `first_order` is the line for epsilon = 1, so that it can be drawn against n epsilon.
    """
    left, right = axes
    artists = curves(left, sizes, {f"ε = {epsilon:g}": found for epsilon, found in excess.items()})
    for (epsilon, found), (colour, _, marker) in zip(excess.items(), LOOKS, strict=False):
        artists += right.plot(epsilon * sizes, found, marker, color=colour, mfc="none", ms=7, mew=1.5)
    artists += right.plot(sizes, first_order, color=INK, linewidth=1.5, label="first order")
    right.legend(frameon=False, labelcolor=INK)
    right.grid()
    for ax, name in ((left, "people n"), (right, "nε")):
        ax.set(xscale="log", yscale="log", xlabel=name, ylim=(3e-6, 2))
    left.set_ylabel("extra cost a point")
    return artists
