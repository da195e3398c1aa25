"""One epoch, exactly: the law of when the first update comes and of what is then released.

Given the noise z of the threshold, the tests are independent, so every probability is one integral:

    Pr[lazy until i, then update, value in B] = E_z[ prod_{k<i} lazy_k(z) Pr[update at i, value in B | z] ],
    lazy_k(z) = Pr[|q_k(x) + Laplace(mu) - q_k(D)| < T + z].
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import Floats, numeric, positive, reject
from dpcourse.guarantees import Guarantee, PureDP
from dpcourse.laws import Finite, Laplace
from dpcourse.mechanisms import Mechanism
from dpcourse.neighbours import ADD_REMOVE, Adjacency

_X, _W = np.polynomial.legendre.leggauss(12)


def log_lazy(gap: ArrayLike, threshold: ArrayLike, noise: float) -> Any:
    """ln Pr[|gap + Laplace(noise)| < threshold], with no underflow; -inf for a threshold of at most 0.

    e^{-a} sinh(t) for t <= a, 1 - e^{-t} cosh(a) for t >= a, where a = |gap|/noise, t = threshold/noise.

    >>> round(float(np.exp(log_lazy(0.0, 2.0, 1.0))), 6)  # 1 - e^-2
    0.864665
    """
    a, t = np.broadcast_arrays(np.abs(gap) / noise, np.asarray(threshold) / noise)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        outside = t - a - math.log(2) + np.log(-np.expm1(-2 * t))
        inside = np.log1p(-0.5 * (np.exp(a - t) + np.exp(-a - t)))
    return np.where(t <= 0, -np.inf, np.where(t <= a, outside, inside))[()]


@dataclass(frozen=True, eq=False)
class Epoch(Mechanism):
    """Tests a list of queries until the first update, and then releases its answer with fresh noise.

    The data is the vector of true answers, each of which one person moves by at most `sensitivity`. An
    outcome is None (no update), or (i, j): the first update is at query i, and the released value lies in
    the j-th interval between the public `cuts`. 4 sensitivity/noise-DP: 3 for the tests, 1 for the value.

    >>> Epoch([0.0, 0.0], threshold=2.0, noise=3.0).guarantee
    PureDP(epsilon=1.3333333333333333, adjacency=add/remove)
    """

    hypothesis: ArrayLike
    threshold: float
    noise: float
    cuts: tuple[float, ...] = ()
    sensitivity: float = field(default=1.0, kw_only=True)
    adjacency: Adjacency = field(default=ADD_REMOVE, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hypothesis", np.atleast_1d(numeric("hypothesis", self.hypothesis)))
        for name in ("threshold", "noise", "sensitivity"):
            positive(name, getattr(self, name))
        if list(self.cuts) != sorted(set(self.cuts)):
            reject("cuts", self.cuts, "in rising order", "sort them.")

    @property
    def guarantee(self) -> Guarantee:
        """4 sensitivity/noise, for any number of queries."""
        return PureDP(4 * self.sensitivity / self.noise, adjacency=self.adjacency)

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Every answer within the sensitivity."""
        if np.shape(left) != np.shape(right):
            return False
        return bool(np.all(np.abs(np.subtract(left, right)) <= self.sensitivity * (1 + 1e-12)))

    def law(self, data: Any) -> Finite:
        """The exact law of the outcome, by quadrature over the noise of the threshold."""
        answers = self._answers(data)
        ends = np.array([-np.inf, *self.cuts, np.inf])
        found: dict[Any, float] = {}
        z, log_weight = self._nodes(answers, [abs(c - d) for c in self.cuts for d in self._d])
        lazy = self._log_lazies(answers, z)
        before = log_weight + np.vstack([np.zeros(len(z)), np.cumsum(lazy, axis=0)])
        for i in range(len(answers)):
            for j in range(len(ends) - 1):
                with np.errstate(divide="ignore"):
                    last = self._log_release(answers[i], self._d[i], self.threshold + z, *ends[j : j + 2])
                found[i, j] = float(np.exp(special.logsumexp(before[i] + last)))
        found[None] = float(np.exp(special.logsumexp(before[-1])))
        total = math.fsum(found.values())
        return Finite(tuple(found), [p / total for p in found.values()])

    def log_density(self, data: Any, value: float) -> float:
        """ln of the density of: lazy at all queries but the last, then an update that releases `value`."""
        answers = self._answers(data)
        z, log_weight = self._nodes(answers, [abs(value - self._d[-1])])
        lazy = self._log_lazies(answers, z)[:-1].sum(axis=0)
        with np.errstate(divide="ignore"):
            last = self._log_release(answers[-1], self._d[-1], self.threshold + z, value, None)
        return float(special.logsumexp(log_weight + lazy + last))

    def _log_release(self, answer: float, d: float, threshold: Floats, low: float, high: float | None) -> Any:
        """ln Pr[update, and the value between low and high] given the threshold; at low if high is None."""
        fresh = Laplace(answer, self.noise)
        value = fresh.log_prob(low) if high is None else np.log(fresh.cdf(high) - fresh.cdf(low))
        return np.log(-np.expm1(log_lazy(answer - d, threshold, self.noise))) + value

    @property
    def _d(self) -> Floats:
        return np.asarray(self.hypothesis)

    def _answers(self, data: Any) -> Floats:
        answers = np.atleast_1d(numeric("data", data))
        if answers.shape != self._d.shape:
            fix = "give the true answer to each query."
            reject("data", data, f"{len(self._d)} answers, one for each query", fix)
        return answers

    def _nodes(self, answers: Floats, turns: Iterable[float]) -> tuple[Floats, Floats]:
        """Nodes z and ln(weights) of an integral over the threshold's noise.

        The integrand is smooth between the points where T + z passes 0, a gap or a cut. Panels shrink
        towards these points, and are narrow enough for a peak of width mu/sqrt(number of queries).
        """
        mu, many, top = self.noise, len(answers), self.threshold
        corners = np.unique([0.0, *turns, *np.abs(answers - self._d), top]) - top
        narrow = mu / max(2.0, math.sqrt(many))
        low, high = corners[0] - 45 * mu, corners[-1] + mu * (math.log(many) + 6)
        if high - low > 1e7 * narrow:
            fix = "look at queries nearer to the threshold; beyond it, every test ends alike."
            reject("data", answers, f"within {1e6 * narrow:.3g} of the hypothesis", fix)
        near = narrow * 0.5 ** np.arange(math.ceil(math.log2(many + 1)) + 8)
        graded = (corners[:, None] + np.concatenate([-near, [0.0], near])).ravel()
        coarse = np.arange(low, high + 45 * mu, mu / 2)
        edges = np.unique(np.concatenate([coarse, np.arange(corners[0], high, narrow), graded]))
        half = np.diff(edges)[:, None] / 2
        z = (edges[:-1, None] + half * (1 + _X)).ravel()
        return z, np.log((half * _W).ravel()) + Laplace(0.0, mu).log_prob(z)

    def _log_lazies(self, answers: Floats, z: Floats) -> Floats:
        """ln lazy_k(z) for every query; equal gaps are computed once."""
        gaps, place = np.unique(np.abs(answers - self._d), return_inverse=True)
        return np.asarray(log_lazy(gaps[:, None], self.threshold + z, self.noise)[place])


@dataclass(frozen=True, eq=False)
class SameNoiseEpoch(Epoch):
    """As some lecture notes have it: the value that was tested is the one released. Not private.

    Who sees the value knows that the threshold was below its distance from the hypothesis, and this makes
    every lazy answer before it informative: the loss grows with their number without end. It is the
    mistake of Roth's notes on the sparse vector technique (Lyu, Su and Li, VLDB 2017).
    """

    def _log_release(self, answer: float, d: float, threshold: Floats, low: float, high: float | None) -> Any:
        """ln Pr[the tested value is outside of the threshold, and between low and high]."""
        tested = Laplace(answer, self.noise)
        if high is None:
            return np.where(np.abs(low - d) >= threshold, tested.log_prob(low), -np.inf)
        start, end = np.maximum(low, d - threshold), np.minimum(high, d + threshold)
        within = np.maximum(tested.cdf(end) - tested.cdf(start), 0.0)
        return np.log(np.maximum(tested.cdf(high) - tested.cdf(low) - within, 0.0))
