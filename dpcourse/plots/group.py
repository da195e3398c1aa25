"""Pictures of group privacy: the chain of neighbours, what delta becomes, what a whole data set can hide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from dpcourse.accounting import fastest_climb
from dpcourse.guarantees import group_delta
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label


def chain_of_neighbours(ax: Axes, epsilon: float, delta: float, size: int, start: float) -> list[Artist]:
    """Pr[A(D_i) in S] along the worst chain, under the theorem's ceiling and past the tempting one."""
    steps = np.arange(size + 1)
    worst = fastest_climb(epsilon, delta, size, start)
    ceiling = np.exp(epsilon * steps) * start + group_delta(epsilon, delta, steps)
    tempting = np.exp(epsilon * steps) * start + steps * delta
    artists: list[Artist] = []
    artists += ax.plot(steps, np.minimum(ceiling, 1), "--", color=BLUE, label="ceiling of the theorem")
    artists += ax.plot(
        steps, np.minimum(tempting, 1), ":X", color=VERMILION, mfc="none", label="with $kδ$: not a ceiling"
    )
    artists += ax.plot(steps, worst, "-D", color=GREEN, markersize=5, label="fastest climb allowed")
    ax.set(xlabel="people changed, i", ylabel="probability of the event on $D_i$", ylim=(0, 1.02))
    ax.set_xlim(-0.15, size + 0.15)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_title("one event, one neighbour at a time")
    ax.legend(frameon=False, labelcolor=INK, loc="upper left")
    ax.grid()
    return artists


def group_curves(ax: Axes, epsilon: float, delta: float, largest: int, size: int = 0) -> list[Artist]:
    """The delta of a group of k: the exact sum, the simple bound above it, and k delta below it."""
    k = np.arange(1, largest + 1)
    simple = np.exp(np.minimum((k - 1) * epsilon, 700)) * k * delta
    curves = (
        (simple, "--", BLUE, "$k e^{(k-1)ε} δ$"),
        (group_delta(epsilon, delta, k), "-", GREEN, "exact sum"),
        (k * delta, ":", VERMILION, "$kδ$, too small"),
    )
    artists: list[Artist] = []
    for values, style, colour, name in curves:
        artists += ax.plot(k, np.where(values <= 4, values, np.nan), style, color=colour, label=name)
    artists.append(ax.axhline(1, color=INK, linewidth=0.8))
    artists.append(ax.text(1, 1.15, "nothing is promised", color=INK))
    if size:
        here = min(float(group_delta(epsilon, delta, size)), 4)
        artists += ax.plot([size], [here], "D", color=GREEN, markersize=7)
    ax.set(yscale="log", xlabel="group size k", ylabel="δ of the group", ylim=(delta / 2, 4))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_title("what δ becomes")
    ax.legend(frameon=False, labelcolor=INK, loc="lower right")
    ax.grid()
    return artists


def two_inductions(ax: Axes, epsilon: float, largest: int, exact: Sequence[float]) -> list[Artist]:
    """The exponent after k steps: k eps if each claim is about D_0, k(k+1)eps/2 if about the one before."""
    k = np.arange(1, largest + 1)
    artists: list[Artist] = []
    artists += ax.plot(
        k, k * (k + 1) / 2 * epsilon, ":X", color=VERMILION, label="claims chained: $k(k+1)ε/2$"
    )
    artists += ax.plot(k, k * epsilon, "--", color=BLUE, label="claims about $D_0$: $kε$")
    artists += ax.plot(k, exact, "D", color=GREEN, mfc="none", markersize=8, label="a noisy count, exactly")
    ax.set(xlabel="people changed, k", ylabel="log of the ratio (nats)")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def hidden_data(ax: Axes, epsilons: Sequence[float], largest: int) -> list[Artist]:
    """tanh(n eps/2): the best advantage anybody has in telling any two data sets of n rows apart."""
    n = np.geomspace(1, largest, 200)
    artists: list[Artist] = []
    for epsilon, (colour, style) in zip(
        epsilons, ((GREEN, "-"), (BLUE, "--"), (PURPLE, "-."), (VERMILION, ":")), strict=False
    ):
        artists += ax.plot(n, np.tanh(n * epsilon / 2), style, color=colour)
        artists += ax.plot([1 / epsilon], [np.tanh(0.5)], "o", color=colour)
        artists.append(label(ax, 1 / epsilon, np.tanh(0.5), f"ε = {epsilon:g}", colour))
    ax.set(xscale="log", xlabel="number of rows n", ylabel="best advantage over a coin", ylim=(0, 1.02))
    ax.grid()
    return artists
