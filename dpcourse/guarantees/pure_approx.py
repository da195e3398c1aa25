"""PureDP and ApproxDP: bounds on the probability of every event."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import errors, special
from dpcourse.guarantees.base import Guarantee, ratio
from dpcourse.guarantees.rounding import ULP, decimal_sum, up
from dpcourse.loss import FiniteLoss, PrivacyLoss
from dpcourse.neighbours import ADD_REMOVE, Adjacency


def group_delta(epsilon: float, delta: float, size: ArrayLike) -> Any:
    """delta (e^{k eps}-1)/(e^eps-1) for groups of k (k delta at eps = 0), rounded up; void from 1 on.

    >>> print(round(group_delta(0.5, 0.01, 5), 4))
    0.1724
    """
    k = np.asarray(size, dtype=float)
    if delta == 0:
        return np.zeros(k.shape)[()]
    with np.errstate(over="ignore"):  # beyond every double it is infinite
        growth = np.expm1(k * epsilon) / math.expm1(min(epsilon, 700.0)) if epsilon > 0 else k
    return (delta * growth * (1 + ULP * (8 + k * epsilon) * (k > 1)))[()]


@dataclass(frozen=True, repr=False, init=False)
class ApproxDP(Guarantee):
    """P(S) <= e^epsilon Q(S) + delta for all events S (Dwork et al., EUROCRYPT 2006).

    >>> ApproxDP(0.5, 1e-6) + ApproxDP(0.25, 1e-6)
    ApproxDP(epsilon=0.75, delta=2e-06, adjacency=add/remove)
    """

    epsilon_0: float
    delta_0: float

    def __init__(self, epsilon: float, delta: float, *, adjacency: Adjacency = ADD_REMOVE) -> None:
        object.__setattr__(self, "epsilon_0", float(errors.nonnegative("epsilon", epsilon)))
        object.__setattr__(self, "delta_0", float(errors.delta("delta", delta)))
        object.__setattr__(self, "adjacency", adjacency)

    def delta(self, epsilon: float) -> float:
        """The whole curve of the worst such mechanism: leak with delta, else randomized response."""
        if epsilon >= self.epsilon_0:
            return self.delta_0
        # Randomized response: the loss is epsilon_0 or -epsilon_0, and below both everything counts.
        near = -math.expm1(epsilon - self.epsilon_0) / (1 + math.exp(-self.epsilon_0))
        inner = near if epsilon > -self.epsilon_0 else -math.expm1(epsilon)
        return min(1.0, up(self.delta_0 + (1 - self.delta_0) * inner))

    def epsilon(self, delta: float) -> float:
        """The same curve, inverted."""
        errors.delta("delta", delta)
        if delta < self.delta_0:
            return math.inf
        if delta == self.delta_0:
            return self.epsilon_0
        spare = (delta - self.delta_0) / (1 - self.delta_0)
        # Randomized response: e^eps = e^eps0 - spare (1 + e^eps0); a little less spare rounds up.
        inside = -spare * (1 + math.exp(-self.epsilon_0)) * (1 - 8 * ULP)
        if inside <= -1:
            return 0.0
        lower = math.log1p(inside)
        return min(self.epsilon_0, max(0.0, self.epsilon_0 + lower + 2 * ULP * (self.epsilon_0 - lower)))

    def group(self, size: int) -> Self:
        """(k eps, delta (e^{k eps}-1)/(e^eps-1)): the chain p_i = e^eps p_{i-1} + delta, summed."""
        size = errors.whole("size", size)
        delta = group_delta(self.epsilon_0, self.delta_0, size)
        if delta >= 1:
            fix = "use a smaller group or a smaller delta; delta grows like e^{k epsilon}."
            errors.reject("size", size, f"small enough to promise anything ({self!r})", fix)
        return self._with(decimal_sum([self.epsilon_0], [size]), delta)

    def share(self, loss: PrivacyLoss) -> float:
        """delta(epsilon) of the pair, as a part of delta."""
        return ratio(float(loss.delta_bounds(self.epsilon_0)[0]), self.delta_0)

    def __mul__(self, times: int) -> Self:
        times = errors.whole("k", times)
        return self._with(decimal_sum([self.epsilon_0], [times]), decimal_sum([self.delta_0], [times]))

    def _plus(self, other: ApproxDP) -> Self:
        both = (
            decimal_sum([self.epsilon_0, other.epsilon_0], [1, 1]),
            decimal_sum([self.delta_0, other.delta_0], [1, 1]),
        )
        return self._with(*both)

    def _with(self, epsilon: float, delta: float) -> Self:
        return type(self)(epsilon, delta, adjacency=self.adjacency)


@dataclass(frozen=True, repr=False, init=False)
class PureDP(Guarantee):
    """P(S) <= e^epsilon Q(S) for all events S (Dwork, McSherry, Nissim and Smith, TCC 2006).

    >>> 3 * PureDP(0.5)
    PureDP(epsilon=1.5, adjacency=add/remove)
    >>> from dpcourse.guarantees import ZCDP
    >>> round(PureDP(1).to(ZCDP).rho, 6)  # tanh(1/2), tighter than 1/2
    0.462117
    """

    epsilon_0: float

    def __init__(self, epsilon: float, *, adjacency: Adjacency = ADD_REMOVE) -> None:
        object.__setattr__(self, "epsilon_0", float(errors.nonnegative("epsilon", epsilon)))
        object.__setattr__(self, "adjacency", adjacency)

    def delta(self, epsilon: float) -> float:
        """That of randomized response, the worst such mechanism."""
        return ApproxDP(self.epsilon_0, 0).delta(epsilon)

    def epsilon(self, delta: float = 0.0) -> float:
        """epsilon itself at delta = 0, a little less above."""
        return ApproxDP(self.epsilon_0, 0).epsilon(delta)

    def group(self, size: int) -> Self:
        """size * epsilon."""
        return self * errors.whole("size", size)

    def share(self, loss: PrivacyLoss) -> float:
        """The largest loss of the pair, as a part of epsilon."""
        return ratio(loss.max_divergence(), self.epsilon_0)

    def __mul__(self, times: int) -> Self:
        return type(self)(decimal_sum([self.epsilon_0], [errors.whole("k", times)]), adjacency=self.adjacency)

    def _plus(self, other: PureDP) -> Self:
        return type(self)(decimal_sum([self.epsilon_0, other.epsilon_0], [1, 1]), adjacency=self.adjacency)


def randomized_response_loss(epsilon: float, delta: float = 0.0) -> FiniteLoss:
    """The worst (epsilon, delta)-DP pair: reveal all with probability delta, else randomized response.

    Every (epsilon, delta)-DP mechanism is a post-processing of it (Kairouz, Oh and Viswanath, ICML 2015).
    """
    truth, lie = (
        (1 - delta) * float(special.expit(epsilon)),
        (1 - delta) * float(special.expit(-epsilon)),
    )
    if delta == 0:
        return FiniteLoss((truth, lie), (lie, truth))
    return FiniteLoss((delta, truth, lie, 0.0), (0.0, lie, truth, delta))
