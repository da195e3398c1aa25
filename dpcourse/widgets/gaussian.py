"""The classical constants of Gaussian noise, and where they fail."""

from __future__ import annotations

from typing import Any

from dpcourse.loss import GaussianLoss
from dpcourse.mechanisms import classic_sigma, gaussian_sigma
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Explorer, Slider, View


def draw(epsilon: float, delta: float) -> View:
    """How far the exact delta is from the promised one, over all epsilon, and the noise at this one."""
    from dpcourse.plots import noise as picture
    from dpcourse.plots import panels

    least = gaussian_sigma(epsilon, delta)
    with panels(10, 4.3, columns=(1.2, 1), across=0.5) as (fig, (left, right)):
        picture.promise_curves(left, epsilon, delta)
        picture.sigma_rows(right, epsilon, delta, least)
    sigma = classic_sigma(epsilon, delta)
    exact = GaussianLoss(1 / sigma).delta(epsilon)
    if exact > delta:
        verdict = f"the textbook's σ = {sigma:.4g} has δ = {exact:.3g}, {exact / delta:.3g} times too much"
    else:
        verdict = (
            f"the textbook's σ = {sigma:.4g} keeps it, with {sigma / least - 1:.0%} more noise than needed"
        )
    promise = f"({number(epsilon)}, {number(delta)})-DP"
    words = f"To promise {promise}, σ = {least:.4f} is enough and no less. So {verdict}."
    return View(fig, words)


def gaussian(**start: Any) -> Explorer:
    """Move epsilon past 1 and see when the classical constants break.

    >>> print(gaussian(epsilon=10, delta=0.1).view().words.split("So ")[1])
    the textbook's σ = 0.2247 has δ = 0.406, 4.06 times too much.
    """
    controls = {
        "epsilon": Slider("ε", -1, 1.4, 0.1, 1.0, log=True),
        "delta": Slider("δ", -10, -0.5, 0.5, 1e-5, log=True),
    }
    return Explorer("Gaussian constants", draw, controls, **start)
