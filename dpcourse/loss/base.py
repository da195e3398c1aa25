"""PrivacyLoss: what one directed pair of laws reveals, and everything that follows from it.

For laws P and Q the privacy loss is L = ln P(Y)/Q(Y) with Y drawn from P. Every measure of the course
is a function of it:

    delta(eps)  = E_P[(1 - e^{eps-L})+]  = sup_S P(S) - e^eps Q(S)      the hockey stick
    renyi(a)    = ln E_P[e^{(a-1)L}] / (a-1)                            Renyi's divergence
    tradeoff(x) = min FNR of a test with FPR x = sup_eps 1 - delta(eps) - x e^eps

Every delta and epsilon is a bracket. `delta` and `epsilon` give its upper end, so rounding never makes a
mechanism look more private than it is; `tradeoff` is a lower end. Moments (`renyi`, `kl`) are accurate to
rounding and not bracketed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, probability, reject, whole
from dpcourse.errors import delta as check_delta
from dpcourse.laws import Law
from dpcourse.loss.fnr import least_fnr
from dpcourse.loss.solve import ULP, certified, solve_decreasing

Bounds = tuple[Any, Any]


class PrivacyLoss(ABC):
    """The privacy loss of a directed pair of laws; `+` composes, `k * loss` repeats.

    >>> from dpcourse.laws import Laplace
    >>> loss = PrivacyLoss.between(Laplace(0, 1), Laplace(1, 1))
    >>> round(loss.delta(0.5), 6)  # 1 - e^{(0.5-1)/2}
    0.221199
    """

    pair: tuple[Law, Law] | None = None
    """The two laws, where they are known; `at` needs them."""

    infinite: float = 0.0
    """The probability under P that the loss is infinite: an outcome that Q never gives."""

    @staticmethod
    def between(p: Law, q: Law) -> PrivacyLoss:
        """The loss of p against q: closed form, exact sum or quadrature, as the laws allow."""
        from dpcourse.loss.between import between  # the dispatcher imports every kind of loss

        return between(p, q)

    # What every kind of loss defines ------------------------------------------------------------

    @property
    @abstractmethod
    def method(self) -> str:
        """How answers are computed, and why so."""

    @abstractmethod
    def delta_bounds(self, epsilon: ArrayLike) -> Bounds:
        """A lower and an upper bound on delta(epsilon); any real epsilon, arrays too."""

    @abstractmethod
    def log_moment(self, z: ArrayLike) -> Any:
        """ln E_P[e^{zL}; L finite], for real or complex z."""

    @abstractmethod
    def tail(self, loss: ArrayLike) -> Any:
        """P[L > loss], the probability of an infinite loss included."""

    @abstractmethod
    def kl(self) -> float:
        """The Kullback-Leibler divergence E_P[L], in nats."""

    @abstractmethod
    def max_divergence(self) -> float:
        """The largest possible loss: the pure epsilon of this directed pair."""

    def ceiling(self) -> float:
        """The largest possible loss, rounded up; closed forms have it exactly."""
        return self.max_divergence()

    @property
    def top(self) -> float:
        """The largest finite loss, rounded up."""
        return self.ceiling()

    @abstractmethod
    def reversed(self) -> PrivacyLoss:
        """The loss of Q against P."""

    # What follows -------------------------------------------------------------------------------

    def delta(self, epsilon: ArrayLike) -> Any:
        """The smallest delta with P(S) <= e^epsilon Q(S) + delta for all S, rounded up."""
        return self.delta_bounds(epsilon)[1]

    def hockey_stick(self, ratio: Any) -> Any:
        """delta at e^epsilon = ratio; exact for exact finite laws and a Fraction."""
        return self.delta(math.nextafter(math.log(ratio), -math.inf))

    def epsilon_bounds(self, delta: ArrayLike) -> Bounds:
        """A lower and an upper bound on the smallest epsilon >= 0 with delta(epsilon) <= delta."""
        given = check_delta("delta", delta)
        if not isinstance(given, np.ndarray):
            lower, upper = self._invert(float(given))
            return float(lower), float(upper)
        pairs = np.array([self._invert(float(d)) for d in given.ravel()]).reshape(*given.shape, 2)
        return pairs[..., 0], pairs[..., 1]

    def epsilon(self, delta: ArrayLike) -> Any:
        """The smallest epsilon >= 0 with delta(epsilon) <= delta, rounded up."""
        return self.epsilon_bounds(delta)[1]

    def total_variation(self) -> Any:
        """The advantage of the best distinguisher: delta at epsilon = 0, rounded up."""
        return self.delta(0.0)

    def renyi(self, order: float) -> float:
        """Renyi's divergence of an order > 0; order 1 is `kl`, infinity is `max_divergence`."""
        if not order > 0:
            fix = "use an order above 1, 1 for KL, or math.inf for the largest loss."
            reject("order", order, "a number above 0", fix)
        if order == 1:
            return self.kl()
        if math.isinf(order):
            return self.max_divergence()
        if order > 1 and self.infinite > 0:
            return math.inf
        return float(np.real(self.log_moment(order - 1))) / (order - 1)

    def tradeoff(self, fpr: ArrayLike) -> Any:
        """The least false-negative rate of a test with this false-positive rate, rounded down.

        Q is the null hypothesis; `delta` and `tradeoff` are convex conjugates of each other
        (Dong, Roth and Su, JRSS B 2022).
        """
        probability("fpr", fpr)
        flat = least_fnr(self.delta, self.infinite, np.ravel(np.asarray(fpr, dtype=float)))
        return flat.reshape(np.shape(fpr)) if np.ndim(fpr) else float(flat[0])

    def at(self, y: Any) -> Any:
        """The loss at an outcome: ln P(y) - ln Q(y)."""
        p, q = self._laws()
        log_p, log_q = np.asarray(p.log_prob(y)), np.asarray(q.log_prob(y))
        with np.errstate(invalid="ignore"):  # an outcome that neither law gives has loss NaN
            return (log_p - log_q)[()]

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Any:
        """Draws of the loss under P."""
        return self.at(self._laws()[0].sample(rng, size))

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        from dpcourse.loss.composed import compose  # composed losses are losses themselves

        return compose([(self, 1), (other, 1)])

    def __radd__(self, other: int) -> PrivacyLoss:
        """For `sum(losses)`, which starts at 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, times: int) -> PrivacyLoss:
        if isinstance(times, PrivacyLoss):
            return NotImplemented
        if (k := whole("k", times)) == 1:
            return self
        from dpcourse.loss.composed import compose

        return compose([(self, k)])

    __rmul__ = __mul__

    # How ----------------------------------------------------------------------------------------

    def _laws(self) -> tuple[Law, Law]:
        if self.pair is None:
            fix = "make it with PrivacyLoss.between(P, Q) from two laws."
            reject("loss", repr(self), "a loss whose two laws are known", fix)
        return self.pair

    def _pure(self) -> tuple[float, float]:
        """Bounds on epsilon at delta = 0: the largest loss, as far off below as `ceiling` is above."""
        high = self.ceiling()
        return (max(0.0, 2 * self.max_divergence() - high), high) if high < math.inf else (high, high)

    def _root(self, target: float, last: float) -> float:
        """About where delta reaches a target, which it passes between 0 and there."""
        return solve_decreasing(lambda e: float(sum(self.delta_bounds(e))) / 2, target, last)

    def _invert(self, target: float) -> tuple[float, float]:
        """Certified bounds on inf{eps >= 0: delta(eps) <= target}, for one target."""
        if self.delta_bounds(0.0)[1] <= target:
            return 0.0, 0.0
        if self.infinite > target:
            return math.inf, math.inf
        if target == 0:
            return self._pure()
        largest = self.ceiling()
        root = self._root(target, largest)
        near = min(max(root * (1 + 1e-7), 1e-12), largest)
        (low, other), (high, _) = self.delta_bounds(np.array([root, near]))
        off = (high - low) * (near - root) / (low - other) if low > other else 0.0  # by the slope there
        ends = max(root - 2 * off - 4 * ULP * root, 0.0), min(root + 2 * off + 4 * ULP * root, largest)
        low, high = self.delta_bounds(np.array(ends))
        if low[0] >= target and high[1] <= target and off < 1e-9 * (1 + root):
            return ends
        return certified(self.delta_bounds, target, (root, root), largest)


def widen(value: Floats, error: Any) -> Bounds:
    """value -+ error as bounds on a probability."""
    lower, upper = np.maximum(value - error, 0.0), np.minimum(value + error, 1.0)
    return (lower, upper) if np.ndim(lower) else (float(lower), float(upper))
