"""Martingale paths under Azuma's envelope; and a sum that looks like one and is not."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse import special
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Button, Choice, Explorer, Slider, View

FAIR = "a fair coin, ±ε"
CENTRED = "privacy loss minus its mean, round by round"
ONCE = "stop-or-spend, minus its mean once: no martingale"
ROUNDS, PATHS = 200, 150


def chances(kind: str, epsilon: float) -> tuple[float, float]:
    """The chance of a step up, and the mean step, in units of epsilon."""
    up = 0.5 if kind == FAIR else float(special.expit(epsilon))
    return up, 2 * up - 1


@lru_cache(maxsize=64)
def walks(kind: str, epsilon: float, seed: int) -> Any:
    """Paths in units of epsilon, centred as the kind says."""
    up, mean = chances(kind, epsilon)
    steps = np.where(np.random.default_rng(seed).random((PATHS, ROUNDS)) < up, 1.0, -1.0)
    if kind == ONCE:  # whoever loses the first round asks nothing any more
        steps[:, 1:] *= steps[:, :1] > 0
        centre = np.r_[mean, np.full(ROUNDS - 1, up * mean)]
    else:
        centre = np.full(ROUNDS, mean)
    return np.hstack([np.zeros((PATHS, 1)), np.cumsum(steps - centre, axis=1)])


def law(kind: str, epsilon: float, time: int) -> tuple[Any, Any]:
    """The exact law of a path at a time: values and probabilities."""
    up, mean = chances(kind, epsilon)
    if time == 0:
        return np.zeros(1), np.ones(1)
    free = time - 1 if kind == ONCE else time
    j = np.arange(free + 1)
    logs = special.gammaln(free + 1) - special.gammaln(j + 1) - special.gammaln(free - j + 1)
    mass = np.exp(logs + special.xlogy(j, up) + special.xlogy(free - j, 1 - up))
    if kind != ONCE:
        return 2.0 * j - free - time * mean, mass
    centre = mean * (1 + up * free)
    return np.r_[2.0 * j - free + 1, -1.0] - centre, np.r_[up * mass, 1 - up]


def draw(kind: str, epsilon: float, beta: float, time: int, again: int) -> View:
    """The paths so far under the envelope, and the exact law of where they are now."""
    from dpcourse.plots import panels
    from dpcourse.plots import walks as picture

    drawn = walks(kind, epsilon, again)
    envelope = np.sqrt(2 * np.arange(ROUNDS + 1) * math.log(1 / beta))
    values, masses = law(kind, epsilon, time)
    above = float(masses[values >= envelope[time] - 1e-9].sum()) if time else 0.0
    seen = int(np.count_nonzero(drawn[:, time] >= envelope[time] - 1e-9)) if time else 0
    reach = 90.0 if kind == ONCE else 50.0
    with panels(10, 4.6, columns=(3, 1), across=0.25) as (fig, (left, right)):
        picture.paths(left, drawn, envelope, time, reach, above > beta)
        picture.ending(right, values, masses, drawn[:, time], envelope[time], reach)
    verdict = (
        ", and that holds" if above <= beta else ", but does not apply: the steps' means depend on the past"
    )
    words = (
        f"After {time} rounds the envelope is at {epsilon * envelope[time]:.4g} nats. Above it: "
        f"with probability {number(above)} exactly, {seen} of {PATHS} paths here. "
        f"Azuma allows {number(beta)}{verdict}."
    )
    return View(fig, words)


def martingale(**start: Any) -> Explorer:
    """Let the paths run, and count those above the envelope.

    >>> martingale(time=100, beta=0.1).view().words.split(",")[0]
    'After 100 rounds the envelope is at 21.46 nats. Above it: with probability 0.01759 exactly'
    """
    controls = {
        "time": Slider("round", 0, ROUNDS, 2, 120, play=True),
        "kind": Choice("steps", (FAIR, CENTRED, ONCE)),
        "epsilon": Slider("ε of a round", 0.1, 2, 0.1, 1.0),
        "beta": Slider("allowed above", -4, -0.5, 0.25, 0.1, log=True),
        "again": Button("New paths", 1),
    }
    return Explorer("martingale", draw, controls, **start)
