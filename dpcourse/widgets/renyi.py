"""Renyi divergence: the moment curve of many releases, and the tangent that picks epsilon."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse.guarantees import RDP
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import GaussianMechanism, LaplaceMechanism, RandomizedResponse
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Choice, Explorer, Slider, View

GAUSSIAN, LAPLACE, RESPONSE = "Gaussian noise, σ = 1/ε₀", "Laplace noise, ε₀", "randomized response, ε₀"
ORDERS = 1 + np.geomspace(0.01, 999, 961)  # neighbours are 1.2 % apart


def pair(mechanism: str, strength: float, k: int) -> PrivacyLoss:
    """The worst pair of k releases."""
    if mechanism == GAUSSIAN:
        return k * GaussianMechanism(1 / strength).worst_case()
    return k * (LaplaceMechanism if mechanism == LAPLACE else RandomizedResponse)(strength).worst_case()


@lru_cache(maxsize=128)
def conversions(mechanism: str, strength: float, k: int, delta: float) -> tuple[Any, Any, float]:
    """The epsilon of each order by both conversions, and the exact one."""
    loss = pair(mechanism, strength, k)
    divergence = np.real(loss.log_moment(ORDERS - 1)) / (ORDERS - 1)
    simple = divergence + np.log(1 / delta) / (ORDERS - 1)
    improved = simple + np.log1p(-1 / ORDERS) - np.log(ORDERS) / (ORDERS - 1)
    return simple, np.maximum(improved, 0), float(loss.epsilon(delta))


def draw(mechanism: str, strength: float, k: int, delta: float, order: float) -> View:
    """The moment curve with its tangent, and the epsilon of every order."""
    from dpcourse.plots import orders as picture
    from dpcourse.plots import panels

    loss = pair(mechanism, strength, k)
    simple, improved, exact = conversions(mechanism, strength, k, delta)
    best = float(ORDERS[int(np.argmin(simple))])
    right = float(max(2.2 * (best - 1), 1.15 * (order - 1), 1.0))
    with panels(10, 4.5, columns=(1.1, 1)) as (fig, (left, other)):
        picture.moment_tangent(left, order, best, loss.log_moment, delta, _round(right))
        picture.order_choice(
            other, ORDERS, simple, improved, order, exact, _round(max(3 * exact, 1.5 * float(simple.min())))
        )
    promise = RDP(loss.renyi)
    yours = float(loss.renyi(order) + np.log(1 / delta) / (order - 1))
    where = f"near {best:.3g}" if best < ORDERS[-1] else f"beyond {best:g}"
    words = (
        f"Order {order:.3g} gives ε = {number(yours)} at δ = {number(delta)}. "
        f"The best order is {where}: ε = {number(simple.min())}, "
        f"with the improved conversion {number(promise.epsilon(delta))}. Exactly ε = {number(exact)}."
    )
    return View(fig, words)


def _round(x: float) -> float:
    """Up to the next of a few round numbers, so that the axes seldom move."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(
        next(step * power for step in (1, 1.5, 2, 3, 4, 6, 8, 10) if step * power >= x * (1 - 1e-12))
    )


def renyi(**start: Any) -> Explorer:
    """Choose an order, and compare its line with the tangent.

    >>> renyi(k=100, strength=0.25).view().words.split("Exactly ")[1]
    'ε = 13.21.'
    """
    controls = {
        "mechanism": Choice("each release", (GAUSSIAN, LAPLACE, RESPONSE)),
        "strength": Slider("ε₀", 0.05, 1, 0.05, 0.25),
        "k": Slider("releases k", 0, 3, 0.1, 100, log=True),
        "delta": Slider("δ", -12, -1, 0.5, 1e-5, log=True),
        "order": Slider("your order α", 1.25, 20, 0.25, 4.0),
    }
    return Explorer("Rényi", draw, controls, **start)
