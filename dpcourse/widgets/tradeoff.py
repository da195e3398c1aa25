"""Trade-off curves: the best test against a mechanism, and (ε, δ) as lines that support the curve."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import GaussianMechanism, LaplaceMechanism, RandomizedResponse
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Choice, Explorer, Slider, View

GAUSSIAN, LAPLACE, RESPONSE = (
    "Gaussian noise, σ = 1/strength",
    "Laplace noise, ε₀ = strength",
    "randomized response, ε₀ = strength",
)
FPR = np.linspace(0, 1, 201)
EPSILONS = np.linspace(0, 4, 121)


def pair(mechanism: str, strength: float) -> PrivacyLoss:
    """The worst pair of one release."""
    if mechanism == GAUSSIAN:
        return GaussianMechanism(1 / strength).worst_case()
    return (LaplaceMechanism if mechanism == LAPLACE else RandomizedResponse)(strength).worst_case()


@lru_cache(maxsize=128)
def curves(mechanism: str, strength: float) -> tuple[Any, Any]:
    """The trade-off curve and δ(ε) on their grids."""
    loss = pair(mechanism, strength)
    return np.asarray(loss.tradeoff(FPR)), np.asarray(loss.delta(EPSILONS))


def draw(mechanism: str, strength: float, epsilon: float, fpr: float) -> View:
    """The trade-off curve with the lines of (ε, δ(ε)), next to δ(ε)."""
    from dpcourse.plots import panels
    from dpcourse.plots import testing as picture

    loss = pair(mechanism, strength)
    fnr, deltas = curves(mechanism, strength)
    delta, miss = float(loss.delta(epsilon)), float(loss.tradeoff(fpr))
    with panels(10, 4.6, columns=(1, 1)) as (fig, (left, right)):
        picture.supported(
            left, FPR, fnr, epsilon, delta, fpr, miss, list(zip(EPSILONS[::6], deltas[::6], strict=True))
        )
        picture.delta_curve(right, EPSILONS, deltas, epsilon, delta)
    bound = max(0.0, 1 - delta - np.exp(epsilon) * fpr, (1 - delta - fpr) * np.exp(-epsilon))
    words = (
        f"With {fpr:.0%} false positives the best test misses {miss:.4f}. "
        f"(ε, δ) = ({epsilon:.3g}, {number(delta)}) alone only says: at least {bound:.4f}.\n"
        "All the lines together are the curve, and the curve is all that any test can tell."
    )
    return View(fig, words)


def tradeoff(**start: Any) -> Explorer:
    """Move ε and see its two lines roll along the trade-off curve.

    >>> tradeoff(fpr=0.05).view().words.split(".")[0] + tradeoff(fpr=0.05).view().words.split(".")[1][:5]
    'With 5% false positives the best test misses 07405'
    """
    controls = {
        "mechanism": Choice("mechanism", (GAUSSIAN, LAPLACE, RESPONSE)),
        "strength": Slider("strength", 0.1, 3, 0.1, 1.0),
        "epsilon": Slider("ε of the lines", 0, 4, 0.1, 1.0),
        "fpr": Slider("false positives of your test", 0.0, 1.0, 0.01, 0.1),
    }
    return Explorer("trade-off", draw, controls, **start)
