"""The picture of the group explorer: how fast an event can climb along a chain, and what δ becomes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from dpcourse.accounting import fastest_climb
from dpcourse.guarantees import group_delta
from dpcourse.plots.marks import brief
from dpcourse.plots.style import BLUE, GREEN, INK, VERMILION, label


def climb(ax: Axes, epsilon: float, delta: float, size: int, start: float, largest: int) -> None:
    """Pr[event] on D_0, D_1, ...: bold up to the group, faint beyond; and the tempting ceiling below it."""
    i = np.arange(largest + 1)
    worst = np.asarray(fastest_climb(epsilon, delta, largest, start))
    tempting = np.minimum(np.exp(np.minimum(epsilon * i, 700)) * start + i * delta, 1)
    ax.plot(i, worst, "-o", color=GREEN, markersize=3, linewidth=1, alpha=0.4)
    ax.fill_between(i[: size + 1], worst[: size + 1], color=GREEN, alpha=0.12, linewidth=0)
    ax.plot(i, tempting, ":X", color=VERMILION, markersize=5, mfc="none", linewidth=1.2)
    ax.plot(i[: size + 1], worst[: size + 1], "-D", color=GREEN, markersize=6, linewidth=2)
    ax.plot([size, size], [0, worst[size]], color=INK, linewidth=0.8)
    ax.plot([], [], "-D", color=GREEN, label="the fastest climb that the promise allows")
    ax.plot([], [], ":X", color=VERMILION, mfc="none", label="$e^{iε}p_0+iδ$, no ceiling")
    here = label(ax, size, float(worst[size]), brief(worst[size]), GREEN, dx=-10 if size > 3 else 0, dy=14)
    here.set(ha="right" if size > 3 else "left", fontsize=13)
    ax.set(xlim=(-0.4, largest + 0.4), ylim=(0, 1.4), xticks=range(0, largest + 1, 4))
    ax.set(yticks=[0, 0.25, 0.5, 0.75, 1], xlabel="people changed", ylabel="probability of the event")
    ax.set_title("one event, one neighbour at a time")
    ax.legend(frameon=False, labelcolor=INK, loc="upper left", fontsize=9)
    ax.grid()


def worn_delta(ax: Axes, epsilon: float, delta: float, size: int, largest: int) -> None:
    """The delta of a group of k on a log scale: the exact sum between the simple bound and k delta."""
    k = np.arange(1, largest + 1)
    least = 10.0 ** math.floor(math.log10(delta) + 1e-9)  # whole powers, so that the axis seldom moves
    simple = np.exp(np.minimum((k - 1) * epsilon, 700)) * k * delta
    curves = (
        (simple, "--", BLUE, "$k\\,e^{(k-1)ε}\\,δ$, simple"),
        (group_delta(epsilon, delta, k), "-", GREEN, "exact sum"),
        (k * delta, ":", VERMILION, "$kδ$, too small"),
    )
    for values, style, colour, name in curves:
        ax.plot(k, np.minimum(values, 1e3), style, color=colour, linewidth=1.8, label=name)
    here = float(np.minimum(group_delta(epsilon, delta, size), 6))
    ax.axhspan(1, 10, color=VERMILION, alpha=0.13, linewidth=0)
    late = simple[largest // 2 - 1] < 10  # the curves leave through the top on the right, or not at all
    place, side = (0.02, "left") if late else (0.9, "right")
    words: Any = {"color": VERMILION, "ha": side, "va": "center", "transform": ax.transAxes}
    ax.text(place, 0.945, "nothing is promised", **words)
    ax.plot([size], [here], "D", color=GREEN, markersize=9)
    floor = least ** (5 / 4) if least < 0.1 else least / 2  # room for the legend
    ax.set(yscale="log", xlabel="group size k", ylabel="δ of the group", ylim=(floor, 10))
    ax.set(xlim=(0.5, largest + 0.5), xticks=[1, *range(4, largest + 1, 4)])
    powers = range(round(math.log10(least)), 1, 1 if least > 1e-5 else 2)
    ax.set_yticks([10.0**p for p in powers])
    ax.set_title("what δ becomes: k times δ is too little")
    ax.legend(frameon=False, labelcolor=INK, loc="lower right", fontsize=9)
    ax.grid()
