"""Pictures of the sparse vector technique: one run against its noisy threshold, and the exact price."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse.errors import Floats
from dpcourse.plots.streams import curves
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label

TOP = 30.0  # of the axis of epsilon; beyond it is drawn as infinite


def threshold_run(
    ax: Axes, values: Floats, noisy: Floats, thresholds: Floats, said: Sequence[bool], room: tuple[int, float]
) -> list[Artist]:
    """True values, what the test saw, and the noisy threshold; the answers stop where it halts.

    `room` is for how many queries, and for values of what size.
    """
    most, reach = room
    i, n = np.arange(1, len(values) + 1), len(said)
    yes = np.array(said, dtype=bool)
    artists: list[Artist] = [ax.axhline(0, color=INK, linewidth=1, linestyle=":")]
    artists += ax.plot(i, values, "_", color=INK, markersize=7, label="true value")
    artists.append(ax.vlines(i[:n], values[:n], noisy[:n], color=INK, linewidth=0.8, alpha=0.6))
    artists += ax.plot(i[:n][~yes], noisy[:n][~yes], "o", color=BLUE, mfc="none", markersize=5, label="no")
    artists += ax.plot(i[:n][yes], noisy[:n][yes], "^", color=GREEN, markersize=9, label="yes")
    steps = np.repeat(thresholds[:n], 2)
    where = np.repeat(np.arange(n + 1), 2)[1:-1] + 0.5
    artists += ax.plot(where, steps, color=VERMILION, linewidth=2, label="threshold with noise")
    if n < len(values):
        artists.append(ax.axvspan(n + 0.5, len(values) + 0.5, 0, 0.86, color=INK, alpha=0.15, linewidth=0))
        place, side = (len(values) + 0.2, "right") if n > most - 8 else (n + 1, "left")
        artists.append(ax.text(place, -reach * 0.93, "halted", color=INK, va="bottom", ha=side))
    ax.set(xlim=(0.5, most + 0.5), ylim=(-reach, 1.3 * reach), xlabel="query", ylabel="value")
    ax.set_yticks([-80, -40, 0, 40, 80])
    ax.legend(
        frameon=False,
        labelcolor=INK,
        loc="upper left",
        fontsize=9,
        ncols=4,
        columnspacing=1.0,
        handletextpad=0.7,
    )
    return artists


def price_of_streams(
    ax: Axes,
    lengths: Sequence[int],
    zoo: Mapping[str, Sequence[float]],
    chosen: str,
    claim: float,
    here: int,
    now: float,
) -> list[Artist]:
    """The exact worst epsilon against the length of the stream, of every variant; the chosen one in front."""
    artists: list[Artist] = [
        ax.axhline(claim, color=VERMILION, linestyle="--", linewidth=1.5, label="claimed")
    ]
    for name, epsilons in zoo.items():
        shown = np.minimum(epsilons, TOP)
        if name != chosen:
            artists += ax.plot(lengths, shown, color=INK, linewidth=0.9, alpha=0.55)
    artists += ax.plot([], [], color=INK, linewidth=0.9, label="the other versions")
    bad = max(zoo[chosen]) > claim * (1 + 1e-9)
    colour, mark = (PURPLE, "X") if bad else (GREEN, "D")
    artists += ax.plot(lengths, np.minimum(zoo[chosen], TOP), color=colour, linewidth=3, label="this version")
    artists += ax.plot([here], [min(now, TOP)], mark, color=colour, markersize=11, clip_on=False, zorder=5)
    if math.isinf(now):
        artists.append(
            ax.text(here, TOP * 0.78, "  ∞", color=colour, fontsize=16, va="center", weight="bold")
        )
    ax.set(xscale="log", yscale="log", xlabel="queries in the stream", ylabel="exact ε (nats)")
    ax.set(xlim=(lengths[0], lengths[-1]), ylim=(0.07, TOP))
    ax.set_xticks([1, 2, 5, 10, 20, 60], ["1", "2", "5", "10", "20", "60"])
    ax.set_yticks([0.1, 0.3, 1, 3, 10, 30], ["0.1", "0.3", "1", "3", "10", "30+"])
    ax.set_title("what a whole stream really costs")
    ax.legend(frameon=False, labelcolor=INK, loc="lower right", fontsize=9)
    ax.grid()
    return artists


def found_counts(ax: Axes, counts: Floats, yeses: Any, threshold: float) -> list[Artist]:
    """All counts of a search in their order: those with a yes, those with a no, and those never asked."""
    places = np.arange(len(counts))
    asked = places <= yeses[-1]  # it halts at the last yes
    noes = asked & ~np.isin(places, yeses)
    artists: list[Artist] = [*ax.plot(places[noes], counts[noes], ".", color=BLUE, markersize=3, label="no")]
    artists += ax.plot(yeses, counts[yeses], "^", color=GREEN, markersize=9, label="yes")
    artists += ax.plot(places[~asked], counts[~asked], "x", color=INK, markersize=4, label="never asked")
    artists.append(ax.axhline(threshold, color=VERMILION, linestyle=":", linewidth=2, label="threshold"))
    ax.set(xlim=(0, len(counts)), xlabel="query", ylabel="people")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, labelcolor=INK, loc="upper left")
    ax.grid(axis="y")
    return artists


def claimed_loss(ax: Axes, lengths: Sequence[int], losses: Mapping[str, Sequence[float]]) -> list[Artist]:
    """The loss at each witness against its length, above and below the claim of 1."""
    artists = curves(ax, lengths, losses)
    artists.append(ax.axhspan(1, 2e3, color=VERMILION, alpha=0.08, linewidth=0))
    artists.append(ax.axhline(1, color=VERMILION, linestyle="--", linewidth=1.5))
    artists.append(label(ax, lengths[-1], 1, "the claim", VERMILION, dx=-52, dy=-9))
    ax.set(xscale="log", yscale="log", xlim=(lengths[0], lengths[-1]), ylim=(0.1, 2e3))
    ax.set(xlabel="noes m", ylabel="loss at the witness (nats)")
    return artists
