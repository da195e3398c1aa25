"""The exponential mechanism: scores become probabilities, and the worst neighbour is searched exactly."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from dpcourse import special
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Choice, Explorer, Slider, View

NAMES = ("A", "B", "C", "D")
HALF, FULL = "e^(εq/2)", "e^(εq)"
BOTH, ONE = "all scores, either way", "all scores, the same way (counts)"


def log_probs(scores: Any, epsilon: float, exponent: str) -> Any:
    """ln Pr of each candidate: a log-softmax, so scores of any size are fine."""
    return special.log_softmax(
        (0.5 if exponent == HALF else 1.0) * epsilon * np.asarray(scores, dtype=float), axis=-1
    )


def worst_neighbour(scores: Any, epsilon: float, exponent: str, moves: str) -> tuple[Any, float]:
    """The neighbour with the largest log-ratio among all moves of the scores by -1, 0 or 1."""
    steps = [(0, 1), (-1, 0)] if moves == ONE else [(-1, 0, 1)]
    shifts = np.array([shift for choice in steps for shift in product(choice, repeat=len(scores))])
    ratios = log_probs(scores, epsilon, exponent) - log_probs(scores + shifts, epsilon, exponent)
    worst = np.abs(ratios).max(axis=1)
    best = int(np.argmax(worst))
    return scores + shifts[best], float(worst[best])


def draw(a: float, b: float, c: float, d: float, epsilon: float, exponent: str, moves: str) -> View:
    """The probabilities in both worlds, and the log-ratio of every candidate."""
    from dpcourse.plots import choosing as picture
    from dpcourse.plots import panels

    scores = np.array([a, b, c, d], dtype=float)
    other, worst = worst_neighbour(scores, epsilon, exponent, moves)
    here, there = log_probs(scores, epsilon, exponent), log_probs(other, epsilon, exponent)
    names = [f"{name}: {number(x)} → {number(y)}" for name, x, y in zip(NAMES, scores, other, strict=True)]
    with panels(10, 4.2, columns=(1.15, 1), across=0.85) as (fig, (left, right)):
        picture.choice_bars(left, names, np.exp(here), np.exp(there), "softmax: a better score is likelier")
        picture.ratio_needles(right, NAMES, here - there, epsilon)
    verdict = "kept" if worst <= epsilon * (1 + 1e-9) else "broken"
    gap = float(np.exp(here) @ (scores.max() - scores))
    words = (
        f"The worst neighbour gives a log-ratio of {worst:.4f} against ε = {epsilon:.3g}: "
        f"the promise is {verdict}.\n"
        f"On average the chosen score is {gap:.3f} below the best one."
    )
    return View(fig, words)


def exponential(**start: Any) -> Explorer:
    """Set the scores of four candidates and see how private the choice is.

    >>> exponential(exponent="e^(εq)").view().words.split(":")[1].split(".")[0]
    ' the promise is broken'
    """
    controls = {
        "a": Slider("score of A", 0, 10, 1, 0),
        "b": Slider("score of B", 0, 10, 1, 2),
        "c": Slider("score of C", 0, 10, 1, 3),
        "d": Slider("score of D", 0, 10, 1, 5),
        "epsilon": Slider("ε", 0.1, 2, 0.1, 1.0),
        "exponent": Choice("weight of a score q", (HALF, FULL)),
        "moves": Choice("one person moves", (BOTH, ONE)),
    }
    return Explorer("exponential mechanism", draw, controls, **start)
