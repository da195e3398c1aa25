"""Pictures of games: what an adversary can tell apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse.game.results import Simulation
from dpcourse.loss import PrivacyLoss
from dpcourse.plots.style import BLUE, GREEN, INK, VERMILION

CEILINGS = ((VERMILION, "--"), (BLUE, ":"), (INK, "-."))


def pure_ceiling(epsilon: float, fpr: Any) -> Any:
    """The best true-positive rate that epsilon-DP allows: min{e^eps x, 1 - e^{-eps}(1 - x)}."""
    fpr = np.asarray(fpr)
    return np.minimum(math.exp(epsilon) * fpr, 1 - math.exp(-epsilon) * (1 - fpr))


def roc(
    ax: Axes, simulated: Simulation, exact: PrivacyLoss, ceilings: Mapping[str, float] | None = None
) -> list[Artist]:
    """True against false positives: the games that were played, the exact curve, and what promises allow."""
    x = np.linspace(0, 1, 401)
    artists: list[Artist] = []
    for (name, epsilon), (colour, style) in zip((ceilings or {}).items(), CEILINGS, strict=False):
        artists += ax.plot(x, pure_ceiling(epsilon, x), style, color=colour, label=name)
    artists += ax.plot(x, 1 - np.asarray(exact.tradeoff(x)), color=GREEN, label="exact")
    fpr, tpr = simulated.roc()
    at = np.searchsorted(fpr, np.linspace(0.03, 0.97, 16)).clip(max=len(fpr) - 1)
    artists += ax.plot(fpr[at], tpr[at], "o", color=INK, markersize=5, mfc="none", label="games played")
    artists += ax.plot(x, x, color=INK, linewidth=0.8)
    ax.set(xlabel="false positives: says “there”, and they are not", ylabel="true positives")
    ax.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
    ax.legend(frameon=False, labelcolor=INK, loc="lower right")
    ax.grid()
    return artists
