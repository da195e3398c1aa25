"""PureDP and ApproxDP: bounds on the probability of every event."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from dpcourse import errors, special
from dpcourse.guarantees.base import Guarantee, ratio
from dpcourse.loss import FiniteLoss, PrivacyLoss
from dpcourse.neighbours import ADD_REMOVE, Adjacency


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
        inner = randomized_response_loss(self.epsilon_0).delta(epsilon) if epsilon < self.epsilon_0 else 0.0
        return self.delta_0 + (1 - self.delta_0) * inner

    def epsilon(self, delta: float) -> float:
        """The same curve, inverted."""
        errors.delta("delta", delta)
        if delta < self.delta_0:
            return math.inf
        spare = (delta - self.delta_0) / (1 - self.delta_0)
        # Randomized response: e^eps = e^eps0 - spare (1 + e^eps0).
        inside = -spare * (1 + math.exp(-self.epsilon_0))
        return max(0.0, self.epsilon_0 + math.log1p(inside)) if inside > -1 else 0.0

    def group(self, size: int) -> Self:
        """(k eps, delta (e^{k eps}-1)/(e^eps-1)): the chain p_i = e^eps p_{i-1} + delta, summed."""
        size = errors.whole("size", size)
        if self.epsilon_0 > 0:
            growth = math.expm1(min(size * self.epsilon_0, 700.0)) / math.expm1(self.epsilon_0)
        else:
            growth = float(size)
        if self.delta_0 * growth >= 1:
            fix = "use a smaller group or a smaller delta; delta grows like e^{k epsilon}."
            errors.reject("size", size, f"small enough to promise anything ({self!r})", fix)
        return self._with(size * self.epsilon_0, self.delta_0 * growth)

    def share(self, loss: PrivacyLoss) -> float:
        """delta(epsilon) of the pair, as a part of delta."""
        return ratio(float(loss.delta_bounds(self.epsilon_0)[0]), self.delta_0)

    def __mul__(self, times: int) -> Self:
        times = errors.whole("k", times)
        return self._with(times * self.epsilon_0, times * self.delta_0)

    def _plus(self, other: ApproxDP) -> Self:
        return self._with(self.epsilon_0 + other.epsilon_0, self.delta_0 + other.delta_0)

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
        return type(self)(errors.whole("k", times) * self.epsilon_0, adjacency=self.adjacency)

    def _plus(self, other: PureDP) -> Self:
        return type(self)(self.epsilon_0 + other.epsilon_0, adjacency=self.adjacency)


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
