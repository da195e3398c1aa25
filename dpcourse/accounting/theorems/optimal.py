"""Optimal composition: exactly what (epsilon, delta)-DP steps can add up to, and no more.

Every (epsilon, delta)-DP step is a post-processing of "reveal all with probability delta, else
randomized response" (Kairouz, Oh and Viswanath, ICML 2015), so the worst sequence of steps is a
sequence of these: k answers of which J are lies have the loss (k - 2J) epsilon, and

    delta(eps) = 1 - prod (1 - delta_i) (1 - delta_RR(eps)),    delta_RR(eps) = E[(1 - e^{eps - L})+],

where L is the sum of the losses of the randomized responses and J is binomial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dpcourse import special
from dpcourse.accounting.common import Deltas, Numbers, Steps, boundary, steps
from dpcourse.errors import Floats, nonnegative
from dpcourse.errors import delta as check_delta
from dpcourse.guarantees import randomized_response_loss
from dpcourse.guarantees.rounding import ULP, decimal_sum, up
from dpcourse.loss import PrivacyLoss

TINY = float(np.finfo(float).tiny)
MOST_ATOMS = 2**16
"""Sums with more values than this are left to the composition of privacy losses."""


def optimal_delta(total_epsilon: float, epsilon: Numbers, k: int = 1, delta: Deltas = 0.0) -> float:
    """The smallest delta for which the composition is (total_epsilon, delta)-DP, rounded up.

    No other statement about all (epsilon_i, delta_i)-DP steps is better. Homogeneous: Kairouz, Oh and
    Viswanath, ICML 2015, Theorem 3.3; heterogeneous: Murtagh and Vadhan, TCC 2016, Theorem 1.5.
    Exact sums up to 65536 values of the total loss (a few thousand equal steps, 16 different ones);
    beyond, the numerical composition of the same privacy losses, also rounded up.

    >>> f"{optimal_delta(3, 0.1, k=100):.12f}"
    '0.001361398695'
    >>> f"{optimal_delta(1, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]):.12f}"
    '0.495299256338'
    """
    return _delta(float(nonnegative("total_epsilon", total_epsilon)), steps(epsilon, k, delta))


def optimal_epsilon(total_delta: float, epsilon: Numbers, k: int = 1, delta: Deltas = 0.0) -> float:
    """The smallest epsilon for which the composition is (epsilon, total_delta)-DP, rounded up.

    Infinite if total_delta does not even pay for the deltas of the steps.

    >>> round(optimal_epsilon(1e-6, 0.1, k=100), 6), round(optimal_epsilon(1e-6, 0.1, k=1000), 6)
    (4.774568, 19.344671)
    """
    every = steps(epsilon, k, delta)
    check_delta("total_delta", total_delta)
    largest = every.epsilon_sum
    if _delta(0.0, every) <= total_delta:
        return 0.0
    if total_delta < -math.expm1(every.log_kept) * (1 - 4 * ULP):
        return math.inf
    if largest == math.inf or total_delta == 0 or _delta(largest, every) > total_delta:
        return largest
    return boundary(lambda e: _delta(e, every), total_delta, good=largest, bad=0.0)


def _delta(at: float, every: Steps) -> float:
    """The composition's delta at epsilon = at, rounded up."""
    if math.inf in every.epsilon:
        return 1.0
    inner = min(_responses(every.epsilon, every.count).delta(at), 1.0)
    if max(every.delta) == 0 or inner == 1:
        return inner
    return min(1.0, up(-math.expm1(every.log_kept + math.log1p(-inner))))


@lru_cache(maxsize=64)
def _responses(epsilons: tuple[float, ...], counts: tuple[int, ...]) -> Responses:
    return Responses(epsilons, counts)


@dataclass(frozen=True)
class Responses:
    """counts[i] randomized responses with epsilons[i]: the law of their total loss."""

    epsilons: tuple[float, ...]
    counts: tuple[int, ...]

    def delta(self, at: float) -> float:
        """E[(1 - e^{at - L})+], a sum of positive terms, rounded up by its rounding error."""
        if at >= decimal_sum(self.epsilons, self.counts):
            return 0.0
        if math.prod(n + 1.0 for n in self.counts) > MOST_ATOMS:
            return float(self._composed.delta(at))
        losses, chances, errors = self._atoms
        # A chance is right to a few ulps of its logarithm, a loss to a few of itself, or of the largest
        # where different ones were added up.
        blur = 4 * ULP * (at + (at if len(self.counts) == 1 else losses[0]))
        above = int(np.searchsorted(-losses, blur - at))
        losses, chances, errors = losses[:above], chances[:above], errors[:above]
        gain = np.maximum(-np.expm1(at - losses), 0.0)
        slip = gain * (errors + 4 * ULP) + blur
        return up(float(np.sum(chances * (gain + slip))), 32) + TINY * (above > 0)

    @cached_property
    def _atoms(self) -> tuple[Floats, Floats, Floats]:
        """The possible losses, largest first, their chances, and bounds on the chances' relative errors."""
        losses, logs, errors = np.zeros(1), np.zeros(1), np.zeros(1)
        for epsilon, n in zip(self.epsilons, self.counts, strict=True):
            log, error = binomial_log_pmf(n, epsilon)
            losses = np.add.outer(losses, (n - 2.0 * np.arange(n + 1)) * epsilon).ravel()
            logs, errors = np.add.outer(logs, log).ravel(), np.add.outer(errors, error).ravel()
        order = np.argsort(-losses, kind="stable")
        return losses[order], np.exp(logs[order]), errors[order]

    @cached_property
    def _composed(self) -> PrivacyLoss:
        parts = [n * randomized_response_loss(e) for e, n in zip(self.epsilons, self.counts, strict=True)]
        first, *rest = parts
        return sum(rest, first)


def binomial_log_pmf(n: int, epsilon: float) -> tuple[Floats, Floats]:
    """ln Pr[J = j], j = 0..n, for n lies of chance 1/(1 + e^epsilon) each, and a bound on its error.

    Loader's saddle-point form (2000): Stirling's formula with its remainder, and deviances, so that
    nothing large cancels; ln Gamma would lose 1e-11 at n = 10^4.

    >>> round(math.exp(binomial_log_pmf(4, 0.0)[0][2]), 12)
    0.375
    """
    j = np.arange(n + 1.0)
    lie, truth = n * float(special.expit(-epsilon)), n * float(special.expit(epsilon))
    log = np.empty(n + 1)
    log[0], log[-1] = -n * np.logaddexp(0, -epsilon), -n * np.logaddexp(0, epsilon)
    x = j[1:-1]
    if n > 1:
        log[1:-1] = (
            _remainder(np.array([float(n)])) - _remainder(x) - _remainder(n - x)
            - _deviance(x, lie) - _deviance(n - x, truth) - 0.5 * np.log(2 * math.pi * x * (1 - x / n))
        )  # fmt: skip
    return log, ULP * (16 + 4 * np.minimum(np.abs(log), 1e3) + 8 * np.abs(j - lie))


def _stirling(m: int) -> float:
    return (m + 0.5) * math.log(m) - m + 0.5 * math.log(2 * math.pi)


_SMALL = np.array([0.0, *(math.lgamma(m + 1) - _stirling(m) for m in range(1, 16))])


def _remainder(m: Floats) -> Floats:
    """ln m! minus Stirling's formula."""
    square = m * m
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / m
    return np.where(m < 16, _SMALL[np.minimum(m, 15).astype(int)], series)


def _deviance(x: Floats, mean: float) -> Floats:
    """x ln(x/mean) + mean - x, by a series where the two are close."""
    v = (x - mean) / (x + mean)
    square = v * v
    series = sum(square**i / (2 * i + 1) for i in range(1, 10))
    with np.errstate(divide="ignore"):
        far = x * (np.log(x) - math.log(mean)) + mean - x if mean > 0 else np.full_like(x, np.inf)
    return np.where(np.abs(v) < 0.1, (x - mean) * v + 2 * x * v * series, far)
