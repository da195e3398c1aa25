"""The KL lemma: how large the mean privacy loss can be when the largest is epsilon."""

from __future__ import annotations

import math
from typing import Any

from dpcourse.laws import Finite
from dpcourse.loss import FiniteLoss
from dpcourse.widgets.explorer import Explorer, Slider, View


def draw(epsilon: float, p: float, q: float) -> View:
    """All pairs of coins that epsilon allows, the chosen one, and the constants."""
    from dpcourse.plots import divergence as picture
    from dpcourse.plots import panels

    loss = FiniteLoss.of(Finite((1, 0), (p, 1 - p)), Finite((1, 0), (q, 1 - q)))
    largest = max(loss.max_divergence(), loss.reversed().max_divergence())
    legal, mean = largest <= epsilon + 1e-12, loss.kl()
    with panels(10, 4.6, columns=(1, 1.08)) as (fig, (left, right)):
        picture.coin_pairs(left, epsilon, p, q)
        picture.kl_constants(right, epsilon, mean, legal)
    tight = epsilon * math.tanh(epsilon / 2)
    inside = "allowed" if legal else f"outside: its largest log-ratio is {largest:.4g}"
    words = (
        f"Your pair has KL {mean:.4f} and is {inside}.\n"
        f"No pair with log-ratios up to ε = {epsilon:.3g} has more than ε tanh(ε/2) = {tight:.4f}, and "
        f"randomized response (the stars) has it. "
        f"The classic ε(e^ε − 1) says {epsilon * math.expm1(epsilon):.4f}."
    )
    return View(fig, words)


def kl_lemma(**start: Any) -> Explorer:
    """Move a pair of coins through the lens, and compare its KL with four constants.

    >>> "tanh(ε/2) = 0.4621" in kl_lemma().view().words
    True
    """
    controls = {
        "epsilon": Slider("ε", 0.1, 3, 0.1, 1.0),
        "p": Slider("Pr[heads] under P", 0.02, 0.98, 0.02, 0.6),
        "q": Slider("Pr[heads] under Q", 0.02, 0.98, 0.02, 0.4),
    }
    return Explorer("KL lemma", draw, controls, **start)
