"""Mechanisms that choose: exponential, report noisy max, and the top k.

Probabilities are computed as logarithms, so scores of 10^4 are as good as small ones: a loss is a difference
of logarithms, also for an outcome whose probability is too small for a float.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse import special
from dpcourse.errors import Floats, distinct, one_of, positive, reject, whole
from dpcourse.guarantees import Guarantee, PureDP
from dpcourse.laws import Finite, Law, Ranking
from dpcourse.loss import FiniteLoss, PrivacyLoss
from dpcourse.mechanisms.base import Mechanism, answer
from dpcourse.neighbours import ADD_REMOVE, Adjacency


@dataclass(frozen=True)
class Selection(Mechanism):
    """Choose among public outcomes by score; without `score` the data is the vector of scores.

    `score(data)` gives one number per outcome, each of which one person moves by at most
    `sensitivity`. If adding a person can only move all scores the same way (counts, say), the
    selection is `monotone` under add/remove and needs half the noise; a replaced row is not monotone.
    """

    epsilon: float
    outcomes: tuple[Hashable, ...] | None = None
    score: Callable[[Any], Any] | None = field(default=None, kw_only=True)
    sensitivity: float = field(default=1, kw_only=True)
    monotone: bool = field(default=False, kw_only=True)
    adjacency: Adjacency = field(default=ADD_REMOVE, kw_only=True)

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        positive("sensitivity", self.sensitivity)
        if self.monotone and self.adjacency is not ADD_REMOVE:
            fix = "use adjacency=ADD_REMOVE, or monotone=False (twice the noise)."
            reject("monotone", True, "False where rows are replaced: scores then move both ways", fix)
        if self.outcomes is not None and not distinct(self.outcomes):
            rule = "distinct outcomes, at least one"
            reject("outcomes", self.outcomes, rule, "list what may be chosen, each once, as a tuple.")

    @property
    def scale(self) -> float:
        """The noise scale: 2 sensitivity/epsilon, or half of that for monotone scores."""
        return (1 if self.monotone else 2) * self.sensitivity / self.epsilon

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-DP."""
        return PureDP(self.epsilon, adjacency=self.adjacency)

    def scores(self, data: Any) -> Floats:
        """One score per outcome, checked."""
        scores: Floats = np.atleast_1d(np.asarray(answer(self.score, data), dtype=float))
        expected = len(self.outcomes) if self.outcomes is not None else len(scores)
        if not len(scores) or len(scores) != expected:
            fix = "return one score per outcome."
            reject("scores", scores, f"a vector of {max(expected, 1)} numbers", fix)
        if np.ptp(scores / 4) > 1e307:
            reject("scores", scores, "within 10^307 of each other", "scale the score and its sensitivity.")
        return scores

    def names(self, scores: Floats) -> tuple[Hashable, ...]:
        """The outcomes, or their indices."""
        return self.outcomes if self.outcomes is not None else tuple(range(len(scores)))

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """By the adjacency where there is a score function; by the sensitivity where there is none."""
        if self.score is not None:
            return super().are_neighbours(left, right)
        if np.shape(left) != np.shape(right):
            return False
        moves = np.subtract(left, right)
        one_way = not self.monotone or np.all(moves >= 0) or np.all(moves <= 0)
        return bool(one_way and np.all(np.abs(moves) <= self.sensitivity * (1 + 1e-12)))


_LEAST = -690.0  # e^-690 is the least probability that a loss computes with


@dataclass(frozen=True)
class Single(Selection):
    """A selection of one outcome, which states the logarithms of its probabilities."""

    def log_probs(self, data: Any) -> Floats:
        """ln Pr of each outcome; -inf for one that is never chosen, whatever the data."""
        raise NotImplementedError

    def law(self, data: Any) -> Finite:
        """The exact law of the choice.

        What is too small for a float becomes the smallest one rather than 0: no sample shows the
        difference, and no outcome turns from possible to impossible between neighbours.
        """
        logs = self.log_probs(data)
        probs = np.where(logs > -np.inf, np.maximum(np.exp(logs), np.finfo(float).tiny), 0.0)
        return Finite(self.names(logs), probs / probs.sum())

    def loss(self, left: Any, right: Any) -> PrivacyLoss:
        """The privacy loss on two neighbours, from the logarithms."""
        plain = super().loss(left, right)  # refuses what are no neighbours
        logs = np.stack([self.log_probs(left), self.log_probs(right)])
        logs = logs[:, logs[0] > -np.inf]
        lifted = logs + np.maximum(_LEAST - logs.min(0), 0)  # the ratio stays; the masses are nothing
        p, q = np.exp(lifted).tolist()
        return FiniteLoss(tuple(p), tuple(q), 0.0, tuple((logs[0] - logs[1]).tolist()), plain.pair)


@dataclass(frozen=True)
class ExponentialMechanism(Single):
    """Pr[r] proportional to base(r) e^{epsilon score(r)/(2 sensitivity)}: epsilon-DP.

    Monotone scores may use e^{epsilon score/sensitivity}. McSherry and Talwar, FOCS 2007.

    >>> ExponentialMechanism(2.0, ("a", "b")).law([0, 1])
    Finite('a': 0.268941, 'b': 0.731059)
    """

    base: tuple[float, ...] | None = field(default=None, kw_only=True)

    def log_probs(self, data: Any) -> Floats:
        """The logarithm of a softmax of the scores."""
        scores = self.scores(data)
        try:
            weights = np.ones(len(scores)) if self.base is None else np.asarray(self.base, dtype=float)
        except (TypeError, ValueError):
            weights = np.zeros(0)
        measure = weights.shape == scores.shape and np.all(weights >= 0) and 0 < weights.sum() < np.inf
        if not measure:
            fix = "give one nonnegative weight per outcome, chosen without the data."
            reject("base", self.base, "a measure with some mass, and a finite one", fix)
        log_weights = np.log(weights, where=weights > 0, out=np.full(len(scores), -np.inf))
        return np.asarray(special.log_softmax(scores / self.scale + log_weights))


@dataclass(frozen=True)
class NoisyMax(Single):
    """The outcome whose score plus noise is largest, and nothing else: epsilon-DP.

    With Gumbel noise it is the exponential mechanism. Releasing the winning value as well would not
    be free. Dwork and Roth 2014, Section 3.3.

    >>> law = NoisyMax(1.0, monotone=True).law([0, 5])
    >>> round(float(law.prob(0)), 7)  # e^-5 (1/2 + 5/4)
    0.0117914
    """

    noise: str = field(default="laplace", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("noise", self.noise, ("laplace", "gumbel"))

    def log_probs(self, data: Any) -> Floats:
        """ln Pr[i wins]: a softmax for Gumbel noise, an integral for Laplace noise."""
        scores = self.scores(data) / self.scale
        if self.noise == "gumbel":
            return np.asarray(special.log_softmax(scores))
        return log_laplace_winner(scores)


@dataclass(frozen=True)
class TopK(Selection):
    """The k best in order, by Gumbel noise of scale 2 k sensitivity/epsilon: epsilon-DP.

    The same law as choosing k times by the exponential mechanism with epsilon/k each, without
    replacement (Durfee and Rogers, NeurIPS 2019).

    >>> TopK(1.0, k=2).law([0, 1, 2, 3]).k
    2
    """

    k: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("k", self.k)

    @property
    def scale(self) -> float:
        """k times the scale of a single choice."""
        return self.k * super().scale

    def law(self, data: Any) -> Law:
        """The Plackett-Luce law of the first k."""
        scores = self.scores(data)
        return Ranking(self.names(scores), tuple(scores / self.scale), self.k)


_FAR = 45.0  # e^-45 is below the rounding of a double


def laplace_winner(scores: Floats) -> Floats:
    """Pr[i is the argmax of scores + standard Laplace noise]."""
    return np.asarray(np.exp(log_laplace_winner(scores)))


def log_laplace_winner(scores: Floats) -> Floats:
    """ln Pr[i is the argmax of scores + standard Laplace noise], by quadrature over the winning value t.

    The integrand f_i(t) times the product of F_j(t), j other than i, is smooth between the scores and
    positive, so the smallest probabilities are as accurate, relatively, as the largest. Below the second
    largest score it falls at least like e^t for every i, so 45 further down nothing is left.
    """
    scores = scores - scores.max()  # what is common to all does not matter, and may be too large for panels
    edges, gap = _panels(scores)
    x, w = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges) / 2
    nodes, weights = (edges[:, :1] + half * (1 + x)).ravel(), (half * w).ravel()
    terms = _log_win(nodes, scores)
    peak = terms.max(0)
    logs = peak + np.log(weights @ np.exp(terms - peak))
    if gap:  # far from the two largest scores the integrand is e^{linear}
        low, high = _log_win(np.array(gap), scores)
        rise = np.maximum(np.abs(high - low), 1e-12)
        area = np.maximum(low, high) + np.log(-np.expm1(-rise) / rise * (gap[1] - gap[0]))
        logs = np.logaddexp(logs, area)
    return np.asarray(logs - special.logsumexp(logs))


def _log_win(t: Floats, scores: Floats) -> Floats:
    """ln of the density of "i has value t and all others have less", for each t and i."""
    z = t[:, None] - scores
    log_density = -np.abs(z) - np.log(2)
    log_below = np.where(z < 0, log_density, np.log1p(-0.5 * np.exp(-np.abs(z))))
    return np.asarray(log_density - log_below + log_below.sum(1, keepdims=True))


def _panels(scores: Floats) -> tuple[Floats, tuple[float, float] | None]:
    """Panels of half a unit, cut at the scores that matter; and the gap, if the winner is far ahead."""
    second, top = np.sort(scores)[-2:] if len(scores) > 1 else np.repeat(scores, 2)
    low, high = second - _FAR, top + _FAR
    gap = (second + _FAR, top - _FAR) if top - second > 2 * _FAR else None
    ranges = [(low, gap[0]), (gap[1], high)] if gap else [(low, high)]
    steps = [np.linspace(a, b, 2 * math.ceil(b - a) + 1) for a, b in ranges]
    edges = np.unique(np.concatenate([*steps, scores[scores > low]]))
    panels = np.stack([edges[:-1], edges[1:]], axis=1)
    usable = np.diff(panels)[:, 0] > np.finfo(float).tiny
    if gap:
        usable &= (panels[:, 0] < gap[0]) | (panels[:, 0] >= gap[1])
    return panels[usable], gap
