"""Certified lower bounds on epsilon and delta, from samples of a score in two worlds.

A part of the data chooses the event, the rest certifies it: the choice cannot flatter itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.audit.confidence import check_confidence, clopper_pearson, margin, scores
from dpcourse.errors import Floats, nonnegative, probability, reject
from dpcourse.errors import delta as check_delta

Value = Callable[[Any, Any], Any]  # (lower bound on p, upper bound on q) -> what they certify
RANKS: Final = 300  # candidate thresholds on each scale and at each end of a sample


@dataclass(frozen=True)
class LowerBound:
    """With this confidence no (epsilon', delta)-DP with epsilon' < epsilon holds: an event shows it.

    The event is {score `sign` threshold}; `direction` says which world it favours. `hits` of `trials`
    count it in the favoured world and in the other one, on the data that certify.
    """

    epsilon: float
    delta: float
    confidence: float
    threshold: float
    sign: str
    direction: str
    hits: tuple[int, int]
    trials: tuple[int, int]

    @property
    def event(self) -> str:
        """The event in words."""
        return f"score {self.sign} {self.threshold:.6g}, {self.direction}"

    def __str__(self) -> str:
        counts = " against ".join(f"{h}/{n}" for h, n in zip(self.hits, self.trials, strict=True))
        rate = f"at delta = {self.delta:.4g} ({100 * self.confidence:g}% confidence; {self.event}: {counts})"
        return f"epsilon >= {self.epsilon:.4f} {rate}"


def epsilon_lower_bound(
    scores_p: ArrayLike,
    scores_q: ArrayLike,
    delta: float = 0.0,
    confidence: float = 0.99,
    *,
    choose: float = 0.2,
    resolution: float = 1e-9,
) -> LowerBound:
    """The epsilon that samples of a score rule out: ln((p - delta)/q) of the best event found.

    Any score will do: it only ranks outputs, and the privacy loss ranks them best (Neyman and
    Pearson). A part of the runs chooses the threshold, the side and which world to favour; on the
    others p is replaced by its lower and q by its upper Clopper-Pearson bound, each at error
    (1 - confidence)/2. The true epsilon is below the result with probability at most 1 - confidence.

    Scores that differ by less than `resolution` (relative to themselves and to a typical score) are not
    told apart. With 0 they are, and the last bits of floating-point noise give the world away (Mironov,
    CCS 2012): an audit of the program, where the default is one of the mathematics.

    Give the scores in the order in which they were drawn: sorted ones would not be independent parts.

    >>> rng = np.random.default_rng(0)
    >>> honest = rng.random(20_000) < 0.75, rng.random(20_000) < 0.25  # randomized response
    >>> round(epsilon_lower_bound(*honest).epsilon, 2)  # the truth is ln 3 = 1.10
    1.05
    """
    spare = float(check_delta("delta", delta))

    def value(p: Any, q: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(p > spare, np.log(np.maximum(p - spare, 0.0)) - np.log(q), -np.inf)

    found, event = _certified(scores_p, scores_q, value, confidence, choose, resolution)
    return LowerBound(max(0.0, found), spare, confidence, *event)


def delta_lower_bound(
    scores_p: ArrayLike,
    scores_q: ArrayLike,
    epsilon: float,
    confidence: float = 0.99,
    *,
    choose: float = 0.2,
    resolution: float = 1e-9,
) -> LowerBound:
    """The delta that samples of a score rule out at a given epsilon: p - e^epsilon q of the best event.

    >>> worlds = np.tile([1.0, 0.0], 500), np.zeros(1000)  # one output in two gives the world away
    >>> round(delta_lower_bound(*worlds, epsilon=0.5).delta, 2)
    0.44
    """
    ratio = math.exp(min(nonnegative("epsilon", epsilon), 700.0))
    found, event = _certified(scores_p, scores_q, lambda p, q: p - ratio * q, confidence, choose, resolution)
    return LowerBound(float(epsilon), max(0.0, found), confidence, *event)


def _certified(
    scores_p: ArrayLike,
    scores_q: ArrayLike,
    value: Value,
    confidence: float,
    choose: float,
    resolution: float,
) -> tuple[float, tuple[Any, ...]]:
    level, blur = check_confidence(confidence), float(nonnegative("resolution", resolution))
    if not 0 < probability("choose", choose) <= 0.5:
        reject("choose", choose, "above 0 and at most 1/2", "0.2 lets a fifth of the data choose.")
    parts = [_split(scores(n, s), choose) for n, s in (("scores_p", scores_p), ("scores_q", scores_q))]
    (first_p, rest_p), (first_q, rest_q) = parts
    threshold, sign, favoured = _choice(np.sort(first_p), np.sort(first_q), value, level, blur)
    rests = (rest_p, rest_q) if favoured == 0 else (rest_q, rest_p)
    above = [int(np.count_nonzero(rest >= threshold)) for rest in rests]
    trials = (len(rests[0]), len(rests[1]))
    hits = tuple(above) if sign == ">=" else tuple(n - h for n, h in zip(trials, above, strict=True))
    p_low = clopper_pearson(hits[0], trials[0], level)[0]
    q_high = clopper_pearson(hits[1], trials[1], level)[1]
    return float(value(p_low, q_high)), (threshold, sign, ("P over Q", "Q over P")[favoured], hits, trials)


def _split(values: Floats, choose: float) -> tuple[Floats, Floats]:
    """Every so many runs for the choice, and all others."""
    rest = np.ones(len(values), dtype=bool)
    rest[:: round(1 / choose)] = False
    return values[~rest], values[rest]


def _choice(p: Floats, q: Floats, value: Value, level: float, blur: float) -> tuple[float, str, int]:
    """The threshold, the sign and the favoured world (0 for P) of the most promising event.

    Promising means: certified best if the choosing data were the certifying ones. Their bounds punish
    rare events, so a lucky tail does not win.
    """
    values = np.unique(np.concatenate([_spread(p), _spread(q)]))
    thresholds = values - margin(values, values, blur)
    low = [np.searchsorted(s, thresholds, side="left") for s in (p, q)]
    high = [len(s) - n for s, n in zip((p, q), low, strict=True)]
    best: tuple[float, float, str, int] = (-math.inf, float(thresholds[-1]), ">=", 0)
    for sign, hits in ((">=", high), ("<", low)):
        bounds = [clopper_pearson(h, len(s), level) for h, s in zip(hits, (p, q), strict=True)]
        for favoured in (0, 1):
            worth = value(bounds[favoured][0], bounds[1 - favoured][1])
            i = int(np.argmax(worth))
            if worth[i] > best[0]:
                best = (float(worth[i]), float(thresholds[i]), sign, favoured)
    return best[1:]


def _spread(ordered: Floats) -> Floats:
    """Values at ranks spread over the sample and dense at both ends; all values, if they are few."""
    n = len(ordered)
    if n <= 4 * RANKS:
        return ordered
    near = np.geomspace(1, n, RANKS).astype(int)
    ranks = np.concatenate([near - 1, n - near, np.linspace(0, n - 1, RANKS).astype(int)])
    return np.asarray(ordered[np.unique(ranks)])
