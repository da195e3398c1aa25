"""Pictures of randomized response: what each answer says, and what many answers say together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from dpcourse import special
from dpcourse.plots.marks import steps
from dpcourse.plots.panel import Panel
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION


def answer_squares(ax: Axes, yes_if_yes: float, yes_if_no: float) -> None:
    """Two columns of probability, one for each truth; the ratio at each answer is what it gives away."""
    for x, yes in ((0.0, yes_if_yes), (1.25, yes_if_no)):
        ax.add_artist(Rectangle((x, 0), 1, yes, color=BLUE, alpha=0.9, linewidth=0))
        ax.add_artist(Rectangle((x, yes), 1, 1 - yes, color=VERMILION, alpha=0.9, linewidth=0))
        for word, low, high in (("yes", 0, yes), ("no", yes, 1)):
            if high - low > 0.055:
                ax.text(
                    x + 0.5,
                    (low + high) / 2,
                    f"“{word}” {high - low:.3g}",
                    ha="center",
                    va="center",
                    color="white",
                    fontweight="bold",
                )
    for place, a, b, word in (
        (0.22, yes_if_yes, yes_if_no, "yes"),
        (0.78, 1 - yes_if_yes, 1 - yes_if_no, "no"),
    ):
        told = (
            "tells nothing" if a == b else "tells all" if min(a, b) == 0 else f"{max(a / b, b / a):.3g} to 1"
        )
        ax.text(
            2.36,
            place,
            f"“{word}”\n{told}",
            va="center",
            color=BLUE if word == "yes" else VERMILION,
            fontsize=10.5,
        )
    ax.set(
        xlim=(-0.05, 3.1), ylim=(0, 1.0), yticks=[0, 0.25, 0.5, 0.75, 1], ylabel="probability of the answer"
    )
    ax.set_xticks([0.5, 1.75], ["the truth is yes", "the truth is no"])
    ax.tick_params(axis="x", length=0)
    ax.set_title("one person: what an answer gives away")


def estimate_law(
    ax: Panel, yes_if_yes: float, yes_if_no: float, people: int, share: float
) -> tuple[float, float]:
    """The exact law of the estimated share from n answers; its standard deviation, and how far 95% reach."""
    chance = share * yes_if_yes + (1 - share) * yes_if_no
    spread = yes_if_yes - yes_if_no
    if abs(spread) < 1e-12:
        ax.text(
            0.5,
            0.93,
            "the answers do not depend on the truth:\nnothing can be estimated",
            ha="center",
            va="center",
            color=VERMILION,
            transform=ax.transAxes,
        )
        deviation = reach = math.inf
    else:
        deviation = math.sqrt(chance * (1 - chance) / people) / abs(spread)
        j = np.arange(people + 1)
        logs = special.gammaln(people + 1) - special.gammaln(j + 1) - special.gammaln(people - j + 1)
        mass = np.exp(logs + special.xlogy(j, chance) + special.xlogy(people - j, 1 - chance))
        estimate = (j / people - yes_if_no) / spread
        order = np.argsort(estimate)
        half = 0.5 / (people * abs(spread))
        edges = np.append(estimate[order] - half, estimate[order[-1]] + half)
        steps(ax, mass[order] / mass.max(), edges, color=BLUE, alpha=0.8)
        reach = _within(np.abs(estimate - share), mass, 0.95)
        ax.plot([share - reach, share + reach], [1.1, 1.1], "-|", color=PURPLE, linewidth=2, markersize=9)
        ax.text(
            max(min(share, 1.1), -0.1),
            1.16,
            f"95 of 100: ± {reach:.3f}",
            color=PURPLE,
            ha="center",
        )
    ax.plot([share, share], [0, 1.1], color=GREEN, linewidth=2)
    ax.axvspan(-2, 0, color=INK, alpha=0.1, linewidth=0)
    ax.axvspan(1, 3, color=INK, alpha=0.1, linewidth=0)
    ax.set(
        xlim=(-0.5, 1.5),
        ylim=(0, 1.3),
        yticks=[],
        xticks=[-0.5, 0, 0.5, 1, 1.5],
        xlabel="estimated share of yes",
    )
    ax.still(-0.02, 0.43, "how likely", rotation=90, ha="right", va="center")
    ax.spines["left"].set_visible(False)
    ax.set_title("all people: the exact law of the estimate")
    return deviation, reach


def _within(away: Any, mass: Any, share: float) -> float:
    """The least distance within which that share of the mass lies."""
    order = np.argsort(away)
    held = np.cumsum(mass[order]) / mass.sum()
    return float(away[order][min(int(np.searchsorted(held, share - 1e-12)), len(held) - 1)])
