"""Pictures of composition: losses that pile up, peeking, the gain of listening, answers of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from dpcourse.laws import Law
from dpcourse.loss import FiniteLoss
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label


def loss_ladder(ax: Axes, losses: Sequence[FiniteLoss], epsilon: float) -> list[Artist]:
    """The exact law of the loss after 1, 2, ... rounds: a disc for each value, as large as it is probable."""
    rounds = np.arange(len(losses) + 1)
    artists: list[Artist] = []
    for sign in (1, -1):
        artists += ax.plot(rounds, sign * epsilon * rounds, "--", color=VERMILION, linewidth=1.6)
    for k, loss in enumerate(losses, 1):
        each, chances = loss.atoms
        values, place = np.unique(np.round(each, 9), return_inverse=True)
        sizes = 900 * np.bincount(place, chances)
        artists.append(ax.scatter(np.full(len(values), k), values, s=sizes, color=BLUE, alpha=0.7, lw=0))
        artists += ax.plot(np.full(len(values), k), values, "_", color=INK, markersize=5)
    end = len(losses)
    artists.append(label(ax, end, epsilon * end, "Σε, the theorem", VERMILION, dx=8))
    artists.append(label(ax, end, -epsilon * end, "−Σε", VERMILION, dx=8))
    ax.set(xlabel="rounds, k", ylabel="privacy loss, nats", xlim=(0, end + 1.9))
    ax.set_xticks(rounds)
    ax.grid(axis="y")
    return artists


def peeking(ax: Axes, walks: Any, curves: Mapping[str, Any]) -> list[Artist]:
    """Walks of the loss, red from where they first pass the first of the curves; the curves by name."""
    t = np.arange(walks.shape[1])
    first = np.concatenate([[np.inf], next(iter(curves.values()))])
    passed = walks > first + 1e-9
    artists: list[Artist] = []
    calm = [np.column_stack([t, walk]) for walk, over in zip(walks, passed, strict=True) if not over.any()]
    found = [np.column_stack([t, walk]) for walk, over in zip(walks, passed, strict=True) if over.any()]
    for lines, colour, alpha, width in ((calm, BLUE, 0.12, 0.7), (found, VERMILION, 0.75, 0.9)):
        artists.append(ax.add_collection(LineCollection(lines, colors=colour, alpha=alpha, linewidths=width)))
    looks = ((INK, "-", 2.2), (GREEN, "--", 2.4), (PURPLE, ":", 2.4))
    for (name, curve), (colour, style, width) in zip(curves.items(), looks, strict=False):
        even = slice(1, None, 2)  # a walk of odd and even times lives on two lattices
        artists += ax.plot(t[1:][even], curve[even], style, color=colour, linewidth=width, label=name)
    ax.set(xlim=(0, t[-1]), xlabel="rounds", ylabel="privacy loss, nats")
    ax.legend(frameon=False, labelcolor=INK, loc="upper left")
    ax.grid()
    return artists


def gain_of_listening(
    ax: Axes, ratios: Sequence[float], adaptive: Sequence[float], fixed: Sequence[float]
) -> list[Artist]:
    """The best delta of an adversary that listens and of one that does not, against e^epsilon."""
    x, high, low = (np.asarray(values, dtype=float) for values in (ratios, adaptive, fixed))
    artists: list[Artist] = [ax.fill_between(x, low, high, color=GREEN, alpha=0.35, lw=0)]
    artists += ax.plot(x, high, color=GREEN, linewidth=2.2, label="best adversary")
    artists += ax.plot(x, low, "--", color=BLUE, linewidth=2, label="best fixed list")
    ax.set(xlabel="likelihood ratio to beat, $e^\\varepsilon$", ylabel="δ", xlim=(x[0], x[-1]))
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def block_answers(ax: Axes, answers: Any, truth: float, release: Law) -> list[Artist]:
    """The program's answers on the blocks, the density of what is released, and the answer on all rows."""
    artists: list[Artist] = []
    edges = np.linspace(float(np.min(answers)), float(np.max(answers)), 31)
    counts, _ = np.histogram(answers, edges, density=True)
    artists.append(ax.stairs(counts / counts.max(), edges, fill=True, color=BLUE, alpha=0.4))
    x = np.linspace(edges[0], edges[-1], 1201)
    density = np.exp(release.log_prob(x))
    artists += ax.plot(x, density / density.max(), color=VERMILION, linewidth=2)
    artists.append(ax.axvline(truth, color=GREEN, linestyle="--", linewidth=2))
    for height, words, colour in (
        (0.95, "one answer a block (not shown to anybody)", BLUE),
        (0.85, "what is released: their mean, with noise", VERMILION),
        (0.75, "the program on all rows", GREEN),
    ):
        artists.append(
            ax.text(0.98, height, words, color=colour, ha="right", va="top", transform=ax.transAxes)
        )
    ax.set(yticks=[], ylim=(0, 1.12), xlim=(edges[0], edges[-1]))
    ax.spines["left"].set_visible(False)
    return artists
