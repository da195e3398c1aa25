"""The privacy-loss distribution on a grid: composed step by step, rounded up or down."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse.accounting import Rounded
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import LaplaceMechanism, RandomizedResponse
from dpcourse.widgets.explorer import Choice, Explorer, Slider, View

RESPONSE, LAPLACE = "randomized response", "Laplace noise"
UP, DOWN = "up", "down"
FLOOR = 1e-10
NOISE = 1e-15
"""What a transform leaves, and is no delta."""


def one_release(mechanism: str, epsilon: float) -> PrivacyLoss:
    """The worst pair of one release."""
    return (RandomizedResponse if mechanism == RESPONSE else LaplaceMechanism)(epsilon).worst_case()


@lru_cache(maxsize=256)
def composed(mechanism: str, epsilon: float, k: int, width: float, rounding: str) -> Rounded:
    """The rounded distribution of k releases."""
    return k * Rounded.of(one_release(mechanism, epsilon), width, rounding)


def exactly(mechanism: str, epsilon: float, k: int, width: float, loss: PrivacyLoss) -> tuple[Any, Any]:
    """Where the exact loss lies: its values for randomized response, else the middles of cells."""
    cell = 2 * epsilon if mechanism == RESPONSE else max(width, k * epsilon / 200)
    edges = k * epsilon + cell * (np.arange(-np.ceil(2 * k * epsilon / cell) - 1, 2) - 0.5)
    tails = np.asarray(loss.tail(edges), dtype=float)
    return (edges[1:] + edges[:-1]) / 2, np.maximum(tails[:-1] - tails[1:], 0)


def draw(mechanism: str, epsilon: float, k: int, width: float, rounding: str) -> View:
    """The bars after k convolutions, and the delta that they report beside the exact one."""
    from dpcourse.plots import panels
    from dpcourse.plots import testing as picture

    exact = k * one_release(mechanism, epsilon)
    grid = composed(mechanism, epsilon, k, width, rounding)
    epsilons = np.linspace(0, max(min(k * epsilon, 4 + 2 * epsilon * np.sqrt(k)), 0.1), 61)
    found = {side: composed(mechanism, epsilon, k, width, side).delta(epsilons) for side in (UP, DOWN)}
    sides = {side: np.where(delta > NOISE, delta, 0.0) for side, delta in found.items()}
    truth = np.asarray(exact.delta(epsilons))
    reach = 4.5 * epsilon * np.sqrt(k) + 0.5 * k * epsilon * np.tanh(epsilon / 2) + width
    mean = float(grid.losses @ grid.masses / grid.masses.sum())  # coarse rounding can move all of it away
    ends = float(np.floor(min(-reach, 1.3 * mean))), float(np.ceil(max(reach, 1.3 * mean)))
    with panels(10, 4.4, columns=(1.2, 1), left=0.5) as (fig, (left, right)):
        exactly_at = exactly(mechanism, epsilon, k, width, exact)
        picture.loss_grid(left, grid.losses, grid.masses, *exactly_at, width, ends)
        left.set_title(f"{k} release{'s' * (k > 1)}: bars are rounded {rounding}, orange is exact")
        picture.ribbon(right, epsilons, truth, sides[UP], sides[DOWN], rounding, FLOOR)
    place = int(np.flatnonzero(truth >= 1e-3)[-1])  # delta is at least that at epsilon = 0
    at, told = epsilons[place], sides[rounding][place]
    verdict = "safe" if told >= truth[place] * (1 - 1e-9) else "too small: a false promise"
    words = (
        f"{k} release{'s' * (k > 1)} on a grid of {width:g}. At ε = {at:.3g} it reports δ = {told:.3g}; "
        f"exactly it is {truth[place]:.3g}: {verdict}.\n"
        f"Each release moves the loss by less than one grid step, so ε is off by at most {k * width:.3g}."
    )
    return View(fig, words)


def loss_distribution(**start: Any) -> Explorer:
    """Compose a privacy loss on a grid, and see what rounding does to δ.

    >>> loss_distribution(rounding="down").view().words.split(": ")[1].split(".")[0]
    'too small'
    """
    controls = {
        "k": Slider("releases k", 1, 60, 1, 12, play=True),
        "mechanism": Choice("each release", (RESPONSE, LAPLACE)),
        "epsilon": Slider("ε of one release", 0.1, 1, 0.05, 0.3),
        "width": Slider("grid width", 0.02, 0.4, 0.02, 0.16),
        "rounding": Choice("round", (UP, DOWN)),
    }
    return Explorer("privacy-loss distribution", draw, controls, **start)
