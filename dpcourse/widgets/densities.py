"""Two sliding densities: what one output says about two neighbouring data sets."""

from __future__ import annotations

import math
from typing import Any

from dpcourse.laws import Gaussian, Laplace
from dpcourse.loss import PrivacyLoss
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Choice, Explorer, Slider, View

LAPLACE, GAUSSIAN = "Laplace", "Gaussian"


def draw(noise: str, epsilon: float, distance: float, y: float) -> View:
    """Two densities `distance` apart, whose scale promises epsilon to neighbours at distance 1."""
    from dpcourse.plots import panels
    from dpcourse.plots import twins as picture

    kind: type[Laplace] | type[Gaussian] = Laplace if noise == LAPLACE else Gaussian
    left, right = kind(distance, 1 / epsilon), kind(0.0, 1 / epsilon)
    with panels(10, 5.0, rows=(1.25, 1), down=0.25) as (fig, (top, bottom)):
        picture.twin_densities(top, left, right, y)
        picture.ratio_strip(bottom, left, right, epsilon, y)
    loss = PrivacyLoss.between(left, right)
    here, worst = float(left.log_prob(y) - right.log_prob(y)), loss.max_divergence()
    reach = "has no largest value" if math.isinf(worst) else f"is at most {worst:.4g} anywhere"
    words = (
        f"At y = {number(y)} the output is exp({number(here)}) = {number(math.exp(here))} times as likely "
        f"with you as without. The log-ratio {reach}.\n"
        f"Exactly, this pair needs δ = {number(float(loss.delta(epsilon)))} at ε = {number(epsilon)}."
    )
    return View(fig, words)


def densities(**start: Any) -> Explorer:
    """Slide two densities apart and read off the log-ratio of any output.

    >>> densities(noise="Gaussian")
    Explorer(densities: noise = Gaussian, epsilon = 1, distance = 1, y = 2)
    """
    controls = {
        "noise": Choice("noise", (LAPLACE, GAUSSIAN)),
        "epsilon": Slider("ε = 1/scale", 0.1, 2, 0.1, 1.0),
        "distance": Slider("distance of the true answers", 0, 3, 0.1, 1.0),
        "y": Slider("output y", -7, 9, 0.25, 2.0),
    }
    return Explorer("densities", draw, controls, **start)
