"""Pictures of the first mechanisms: neighbours as a graph, what privacy costs, and the teeth of doubles."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from dpcourse.errors import Floats
from dpcourse.neighbours import Adjacency
from dpcourse.plots.marks import block
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

_EDGE: dict[str, Any] = {"color": BLUE, "linewidth": 1.6, "alpha": 0.7, "zorder": 1}


def neighbour_graph(ax: Axes, adjacency: Adjacency, rows: tuple[str, str], largest: int) -> None:
    """All data sets of up to `largest` rows over two values, a line between neighbours."""
    every = adjacency.datasets(rows, largest, smallest=0)
    place = {data: (data.count(rows[1]) - len(data) / 2, len(data)) for data in every}
    for data, (x, y) in place.items():
        for other, (x2, y2) in place.items():
            if (x, y) < (x2, y2) and adjacency.are_neighbours(data, other):
                ax.plot([x, x2], [y, y2], **_EDGE)
        ax.text(
            x,
            y,
            "".join(map(str, data)) or "∅",
            ha="center",
            va="center",
            color="white",
            fontweight="bold",
            fontsize=9.5,
            bbox={"boxstyle": "round,pad=0.35", "facecolor": "#4d4d4d", "linewidth": 0},
        )
    ax.set(xlim=(-largest / 2 - 0.5, largest / 2 + 0.5), ylim=(-0.4, largest + 0.4), xticks=[])
    ax.set_yticks(range(largest + 1), [f"{n} rows" if n != 1 else "1 row" for n in range(largest + 1)])
    ax.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


def two_errors(
    ax: Axes, sizes: Floats, sampling: Floats, privacy: Mapping[float, Floats], played: Mapping[float, Any]
) -> None:
    """The standard deviation of a mean from sampling, and from noise at each epsilon; rings were played."""
    ax.plot(sizes, sampling, color=INK, linewidth=3, label="sampling error, ∝ 1/√n")
    for (epsilon, noise), colour, style in zip(
        privacy.items(), (BLUE, VERMILION, GREEN), ("-", "--", "-."), strict=False
    ):
        ax.plot(sizes, noise, style, color=colour, label=f"privacy noise, ε = {epsilon:g}, ∝ 1/n")
        for n, error in played.get(epsilon, ()):
            ax.plot([n], [error], "o", mfc="none", mew=1.8, markersize=8, color=colour)
    ax.set(xscale="log", yscale="log", xlabel="people in the data, n", ylabel="standard deviation")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlim(sizes[0], sizes[-1])
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()


def noisy_counts(ax: Axes, names: Sequence[Hashable], counts: Any, noisy: Any, within: float) -> None:
    """True counts as bars; published ones as dots with the band in which all truths lie at once."""
    for place, (count, value) in enumerate(zip(counts, noisy, strict=True)):
        block(ax, place - 0.38, 0, 0.76, float(count), color=BLUE, alpha=0.45)
        ax.plot([place] * 2, [value - within, value + within], color=VERMILION, linewidth=1.8)
        ax.plot([place], [value], "o", color=VERMILION, markersize=5)
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set_xticks(range(len(names)), [str(name) for name in names])
    ax.tick_params(axis="x", length=0)
    low, high = (
        min(float(np.min(noisy)) - within, 0.0),
        max(float(np.max(noisy)) + within, float(max(counts))),
    )
    ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(1.08 * low, 1.06 * high))
    ax.grid(axis="y")


def ranked(ax: Axes, names: Sequence[Hashable], scores: Floats, k: int, slack: float) -> None:
    """Scores in order, the k-th best, and the two bands: who must be on a useful list, and who must not."""
    last = float(np.sort(scores)[-k])
    ax.axhspan(last - slack, last + slack, color=GREEN, alpha=0.16, linewidth=0)
    ax.axhline(last, color=GREEN, linewidth=1.4, linestyle="--")
    for place, score in enumerate(scores):
        must, must_not = score > last + slack, score < last - slack
        colour = BLUE if must else VERMILION if must_not else GREEN
        block(
            ax, place - 0.36, 0, 0.72, float(score), color=colour, alpha=0.7, hatch="//" if must_not else None
        )
    end = len(names) - 0.45
    for height, words in ((last + slack, "$S_k+\\gamma$"), (last, "$S_k$"), (last - slack, "$S_k-\\gamma$")):
        ax.text(end + 0.15, height, words, va="center", color=GREEN, clip_on=False)
    ax.set(xlim=(-0.6, end), ylim=(0, 1.06 * float(np.max(scores))), ylabel="score")
    ax.set_xticks(range(len(names)), [str(name) for name in names], rotation=60, ha="right", fontsize=8.5)
    ax.tick_params(axis="x", length=0)


def on_the_list(ax: Axes, chances: Sequence[float], counted: Any = None) -> None:
    """How likely each item is on the released list: exactly (dots), and as counted (rings)."""
    places = np.arange(len(chances))
    ax.vlines(places, 0, chances, color=PURPLE, linewidth=1.2)
    ax.plot(places, chances, "o", color=PURPLE, markersize=5)
    if counted is not None:
        ax.plot(places, counted, "o", mfc="none", mew=1.4, color=INK, markersize=10)
    ax.set(ylim=(-0.05, 1.1), yticks=[0, 0.5, 1], ylabel="on the list")
    ax.grid(axis="y")


def teeth(ax: Axes, around: float, combs: Mapping[str, Floats], steps: int) -> None:
    """The doubles around a number, a tick each; tall and coloured those that a sampler can return.

    `combs` gives for each true answer the possible outputs; a triangle marks those that no other can give.
    """
    unit = np.spacing(abs(around))
    places = {name: np.rint((found - around) / unit) for name, found in combs.items()}
    looks = ((BLUE, "v"), (VERMILION, "^"))
    for level, ((name, found), (colour, mark)) in enumerate(zip(places.items(), looks, strict=True)):
        base = 1.3 * (1 - level)
        others = np.concatenate([x for other, x in places.items() if other != name])
        alone = found[~np.isin(found, others)]
        ax.vlines(np.arange(-steps, steps + 1), base, base + 0.1, color=INK, linewidth=0.8)
        ax.vlines(found, base, base + 0.72, color=colour, linewidth=2)
        ax.plot(alone, np.full(len(alone), base + 0.84), mark, color=colour, markersize=5)
        ax.text(-steps - 1.5, base + 0.35, name, color=colour, ha="right", va="center")
    ax.set(xlim=(-steps - 1, steps + 1), ylim=(-0.1, 2.3), yticks=[])
    ax.set_xlabel(f"output, counted in doubles from {around:g}")
    ax.spines["left"].set_visible(False)
