"""Two coins: how much an answer gives away, and how much many answers tell."""

from __future__ import annotations

import math
from typing import Any

from dpcourse.mechanisms import TwoCoins
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Choice, Explorer, Slider, View

FRESH, REUSED = "a coin of its own", "the first coin again"


def draw(truth: float, yes: float, second: str, people: int, share: float) -> View:
    """What one answer gives away, and the exact law of what all of them tell.

    The second coin is tossed when the first one says "do not tell the truth". Reused, it has already fallen
    on tails, so it never says yes.
    """
    from dpcourse.plots import coins as picture
    from dpcourse.plots import panels

    coins = TwoCoins(truth, yes if second == FRESH else 0.0)
    yes_if_yes, yes_if_no = (float(coins.law(answer).prob(True)) for answer in (True, False))
    with panels(10, 4.2, columns=(1.12, 1)) as (fig, (left, right)):
        picture.answer_squares(left, yes_if_yes, yes_if_no)
        deviation, half = picture.estimate_law(right, yes_if_yes, yes_if_no, people, share)
    epsilon = float(coins.guarantee.epsilon(0)) if truth < 1 else math.inf
    if math.isinf(epsilon):
        words = "Some answer is impossible for one of the two truths: ε is infinite, nobody is protected."
    else:
        words = f"ε = {epsilon:.4f}: the larger of both answers' log-ratios, in either direction."
    if math.isinf(deviation):
        words += "\nNothing can be estimated: the answers do not depend on the truth."
    else:
        words += f"\nThe estimate from {people} people has standard deviation {number(deviation)}; "
        words += "without the coins a census of them would have none. "
        words += f"It is within {number(half)} of the truth in at least 95 of 100 surveys, exactly counted."
    return View(fig, words)


def randomized_response(**start: Any) -> Explorer:
    """Bias both coins, and see what an answer gives away and what a survey still learns.

    >>> randomized_response().view().words.split(":")[0]
    'ε = 1.0986'
    """
    controls = {
        "truth": Slider("coin 1: tell the truth", 0.0, 1.0, 0.05, 0.5),
        "yes": Slider("coin 2: say yes", 0.0, 1.0, 0.05, 0.5),
        "second": Choice("coin 2 is", (FRESH, REUSED)),
        "people": Slider("people", 1, 4, 0.1, 100, log=True),
        "share": Slider("true share of yes", 0.0, 1.0, 0.05, 0.3),
    }
    return Explorer("randomized response", draw, controls, **start)
