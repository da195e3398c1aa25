"""Sparse vector as data: one record of scales and switches covers the sound versions and the broken ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats, nonnegative, number, one_of, positive, probability, reject, whole
from dpcourse.guarantees import Guarantee, PureDP
from dpcourse.neighbours import ADD_REMOVE, Adjacency

NEVER, AFTER_YES, EACH_QUERY = "never", "after yes", "each query"
INDICATOR, TESTED, FRESH = "indicator", "tested value", "fresh value"
_REDRAWS: Final = (NEVER, AFTER_YES, EACH_QUERY)
_RELEASES: Final = (INDICATOR, TESTED, FRESH)


@dataclass(frozen=True)
class Variant:
    """Is query + noise at least threshold + noise? Answer for a stream, and halt after `cutoff` yeses.

    The noises are Laplace; a scale of 0 is no noise, a cutoff of None is no halt. The threshold's noise is
    drawn once, again `after yes`, or for `each query`. A yes releases nothing else (`indicator`), the noisy
    value that passed the test (`tested value`), or the query with noise of its own (`fresh value`).
    `claim` is what its author says about it, true or not.
    """

    name: str
    claim: Guarantee
    threshold_scale: float
    query_scale: float
    cutoff: int | None = 1
    redraw: str = NEVER
    releases: str = INDICATOR
    answer_scale: float = 0.0
    threshold: float = 0.0
    sensitivity: float = 1.0
    monotone: bool = False

    def __post_init__(self) -> None:
        nonnegative("threshold_scale", self.threshold_scale)
        nonnegative("query_scale", self.query_scale)
        nonnegative("answer_scale", self.answer_scale)
        positive("sensitivity", self.sensitivity)
        number("threshold", self.threshold)
        one_of("redraw", self.redraw, _REDRAWS)
        one_of("releases", self.releases, _RELEASES)
        if self.cutoff is not None:
            whole("cutoff", self.cutoff)
        if self.monotone and self.claim.adjacency is not ADD_REMOVE:
            fix = "use adjacency=ADD_REMOVE, or monotone=False (twice the query noise)."
            reject("monotone", True, "False where rows are replaced: queries then move both ways", fix)
        if self.releases == FRESH and self.answer_scale == 0:
            fix = "set answer_scale, or release the indicator only."
            reject("answer_scale", 0, "above 0 to release a fresh value", fix)
        if self.releases == TESTED and (self.query_scale == 0 or self.redraw != NEVER):
            fix = "give query_scale and redraw='never', as in the published version."
            reject("releases", TESTED, "the value under one threshold and query noise", fix)

    def stream(self, values: Any) -> Floats:
        """The query values as a vector, checked."""
        fix = "write it as a tuple, such as (0, 1)."
        try:
            array = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            reject("stream", values, "a vector of finite query values", fix)
        if array.ndim != 1 or not len(array) or not np.isfinite(array).all():
            reject("stream", values, "a vector of finite query values", fix)
        return array

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Streams of one length, each value moved by at most the sensitivity, one way if monotone."""
        if np.shape(left) != np.shape(right):
            return False
        moves = np.subtract(left, right)
        one_way = not self.monotone or np.all(moves >= 0) or np.all(moves <= 0)
        return bool(one_way and np.all(np.abs(moves) <= self.sensitivity * (1 + 1e-12)))


def best_share(cutoff: int, monotone: bool = False) -> float:
    """The threshold's share of the budget that makes the test's noise smallest: 1/(1 + (2c)^{2/3}).

    It minimises the variance 2 (1/share)^2 + 2 (2c/(1-share))^2 of threshold noise and query noise together;
    c in place of 2c for monotone queries (Lyu, Su and Li 2017).

    >>> round(best_share(4), 3)
    0.2
    """
    moves = whole("cutoff", cutoff) * (1 if monotone else 2)
    return float(1 / (1 + moves ** (2 / 3)))


def standard(
    epsilon: float,
    cutoff: int = 1,
    *,
    threshold: float = 0.0,
    sensitivity: float = 1.0,
    monotone: bool = False,
    share: float = 0.5,
    answers: float = 0.0,
    adjacency: Adjacency = ADD_REMOVE,
) -> Variant:
    """The sound technique: up to `cutoff` yeses in a stream of any length are epsilon-DP.

    Threshold noise Lap(D/e1) once, query noise Lap(2cD/e2) (cD/e2 for monotone queries), and if
    `answers` > 0 a fresh value with Lap(cD/e3) for each yes; D the sensitivity, e3 = answers * epsilon,
    e1 = share of the rest, e2 what remains. Algorithms 1 and 7 of Lyu, Su and Li (PVLDB 2017).

    >>> v = standard(1.0, cutoff=3)
    >>> v.threshold_scale, v.query_scale
    (2.0, 12.0)
    """
    positive("epsilon", number("epsilon", epsilon))
    positive("sensitivity", sensitivity)
    c = whole("cutoff", cutoff)
    for name, part in (("share", share), ("answers", answers)):
        if probability(name, part) == 1 or (name == "share" and part == 0):
            reject(name, part, "below 1 (and above 0 for the threshold)", "split the budget, say in halves.")
    tests = epsilon * (1 - answers)
    return Variant(
        "numeric" if answers else "standard",
        PureDP(epsilon, adjacency=adjacency),
        threshold_scale=sensitivity / (share * tests),
        query_scale=(1 if monotone else 2) * c * sensitivity / ((1 - share) * tests),
        cutoff=c,
        releases=FRESH if answers else INDICATOR,
        answer_scale=c * sensitivity / (answers * epsilon) if answers else 0.0,
        threshold=threshold,
        sensitivity=sensitivity,
        monotone=monotone,
    )


def above_threshold(epsilon: float, **options: Any) -> Variant:
    """The technique with a single yes (Dwork and Roth 2014, Section 3.6).

    >>> above_threshold(1.0).query_scale
    4.0
    """
    return replace(standard(epsilon, 1, **options), name="above threshold")


def refreshed(epsilon: float, cutoff: int = 1, *, adjacency: Adjacency = ADD_REMOVE) -> Variant:
    """Above-threshold restarted after each yes with epsilon/c: sound, and with c times the threshold noise.

    Algorithm 2 of Lyu, Su and Li (PVLDB 2017), the version of Dwork and Roth 2014.

    >>> refreshed(1.0, 3).threshold_scale
    6.0
    """
    c, claim = whole("cutoff", cutoff), PureDP(positive("epsilon", epsilon), adjacency=adjacency)
    return Variant("refreshed threshold", claim, 2 * c / epsilon, 4 * c / epsilon, c, redraw=AFTER_YES)
