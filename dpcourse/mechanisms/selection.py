"""Mechanisms that choose: exponential, report noisy max, and the top k."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse import special
from dpcourse.errors import Floats, one_of, positive, reject, whole
from dpcourse.guarantees import Guarantee, PureDP
from dpcourse.laws import Finite, Law, Ranking
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
        if self.outcomes is not None and not len(self.outcomes):
            reject("outcomes", self.outcomes, "at least one outcome", "list what may be chosen.")

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


@dataclass(frozen=True)
class ExponentialMechanism(Selection):
    """Pr[r] proportional to base(r) e^{epsilon score(r)/(2 sensitivity)}: epsilon-DP.

    Monotone scores may use e^{epsilon score/sensitivity}. McSherry and Talwar, FOCS 2007.

    >>> ExponentialMechanism(2.0, ("a", "b")).law([0, 1])
    Finite('a': 0.268941, 'b': 0.731059)
    """

    base: tuple[float, ...] | None = field(default=None, kw_only=True)

    def law(self, data: Any) -> Finite:
        """A softmax of the scores."""
        scores = self.scores(data)
        weights = np.ones(len(scores)) if self.base is None else np.asarray(self.base, dtype=float)
        if weights.shape != scores.shape or not np.all(weights >= 0) or not weights.any():
            fix = "give one nonnegative weight per outcome, chosen without the data."
            reject("base", self.base, "a measure with some mass", fix)
        log_weights = np.log(weights, where=weights > 0, out=np.full(len(scores), -np.inf))
        return Finite(self.names(scores), special.softmax(scores / self.scale + log_weights))


@dataclass(frozen=True)
class NoisyMax(Selection):
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

    def law(self, data: Any) -> Finite:
        """The exact law of the winner."""
        scores = self.scores(data)
        if self.noise == "gumbel":
            return Finite(self.names(scores), special.softmax(scores / self.scale))
        return Finite(self.names(scores), laplace_winner(scores / self.scale))


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


def laplace_winner(scores: Floats) -> Floats:
    """Pr[i is the argmax of scores + standard Laplace noise], by quadrature over the winning value.

    The integrand f_i(t) times the product of F_j(t), j other than i, is piecewise smooth between the
    scores, and all terms are positive, so small probabilities keep their relative accuracy.
    """
    top = scores.max()
    inner = np.unique(scores[(scores > top - 45)])
    edges = np.unique(np.concatenate([np.arange(top - 45, top + 46, 0.5), inner]))
    x, w = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges)[:, None] / 2
    t = (edges[:-1, None] + half + half * x).ravel()[:, None]
    z = t - scores
    log_density = -np.abs(z) - np.log(2)
    log_below = np.where(z < 0, log_density, np.log1p(-0.5 * np.exp(-np.abs(z))))
    log_win = log_density - log_below + log_below.sum(1, keepdims=True)
    probs = ((half * w).ravel()[:, None] * np.exp(log_win)).sum(0)
    return np.asarray(probs / probs.sum())
