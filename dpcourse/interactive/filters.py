"""Filters and odometers: budgets for an adversary that chooses what to spend as it goes.

A filter says, before a query is answered, whether the query's guarantee still fits; a refused query
costs nothing. Its promise covers every adaptive choice of mechanisms and of their parameters, which
plain composition theorems do not: there the parameters are fixed in advance.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dpcourse.errors import delta as check_delta
from dpcourse.errors import nonnegative, positive, probability, reject
from dpcourse.guarantees import RDP, ZCDP, ApproxDP, Guarantee, PureDP
from dpcourse.neighbours import ADD_REMOVE, Adjacency

ROUNDING: Final = 1e-12
"""What a sum of costs may exceed a budget by, relatively: three times .1 fits into .3."""


@dataclass(frozen=True)
class Filter(ABC):
    """Admits a query if the costs so far and its own stay within the budget."""

    adjacency: Adjacency = field(default=ADD_REMOVE, kw_only=True)

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised about everything that the filter lets through, together."""

    @abstractmethod
    def costs(self, guarantee: Guarantee) -> tuple[float, ...]:
        """What one query spends, in each of the filter's currencies."""

    @abstractmethod
    def fits(self, spent: tuple[float, ...]) -> bool:
        """Whether these total costs are within the budget."""

    def spent(self, charges: Sequence[Guarantee]) -> tuple[float, ...]:
        """The total costs of the queries let through so far."""
        each = [self.costs(g) for g in charges]
        return tuple(math.fsum(column) for column in zip(*each, strict=True)) if each else ()

    def refuses(self, charges: Sequence[Guarantee], query: Guarantee) -> str:
        """Why the query is refused; empty if it is admitted. Nothing is charged for asking."""
        self.adjacency.require_same(query.adjacency)
        after = self.spent([*charges, query])
        if self.fits(after):
            return ""
        before = self.spent(charges) or (0.0,) * len(after)
        return f"{query!r} does not fit: {_amounts(before)} spent, {_amounts(after)} with it, in {self!r}"


@dataclass(frozen=True)
class PureFilter(Filter):
    """Admits while the epsilons sum to at most the budget: epsilon-DP (Rogers et al., NeurIPS 2016).

    >>> budget = PureFilter(0.3)
    >>> budget.refuses([PureDP(0.1), PureDP(0.1)], PureDP(0.1))
    ''
    """

    epsilon: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-DP, the rounding slack included."""
        return PureDP(self.epsilon * (1 + ROUNDING), adjacency=self.adjacency)

    def costs(self, guarantee: Guarantee) -> tuple[float, ...]:
        """The query's epsilon."""
        return (_as(guarantee, PureDP).epsilon_0,)

    def fits(self, spent: tuple[float, ...]) -> bool:
        """The sum is within the budget."""
        return spent[0] <= self.epsilon * (1 + ROUNDING)


@dataclass(frozen=True)
class ApproxFilter(Filter):
    """(epsilon, delta)-DP for adaptively chosen (eps_i, delta_i).

    rule="advanced": sqrt(2 ln(1/d) sum eps_i^2) + sum eps_i^2/2 <= epsilon with d = share * delta, and
    the delta_i sum to at most the rest (Whitehouse, Ramdas, Rogers and Wu, ICML 2023, Theorem 1).
    rule="basic": the sums of eps_i and of delta_i. The rule is fixed before the first query.
    """

    epsilon: float
    delta: float
    rule: str = "advanced"
    share: float = 0.5

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        positive("delta", check_delta("delta", self.delta))
        probability("share", self.share)
        if self.rule not in ("advanced", "basic"):
            reject("rule", self.rule, "'advanced' or 'basic'", "choose one of them.")

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-DP, the rounding slack included."""
        return ApproxDP(self.epsilon * (1 + ROUNDING), self.delta * (1 + ROUNDING), adjacency=self.adjacency)

    def costs(self, guarantee: Guarantee) -> tuple[float, ...]:
        """(eps, eps^2, delta) of the query."""
        cost = _as(guarantee, ApproxDP)
        return cost.epsilon_0, cost.epsilon_0**2, cost.delta_0

    def fits(self, spent: tuple[float, ...]) -> bool:
        """The rule's epsilon and delta are within the budget."""
        linear, squares, deltas = spent
        if self.rule == "basic":
            used, rest = linear, self.delta
        else:
            used = math.sqrt(2 * math.log(1 / (self.share * self.delta)) * squares) + squares / 2
            rest = (1 - self.share) * self.delta
        return used <= self.epsilon * (1 + ROUNDING) and deltas <= rest * (1 + ROUNDING)


@dataclass(frozen=True)
class ZCDPFilter(Filter):
    """Admits while the rhos sum to at most the budget: rho-zCDP (Feldman and Zrnic, NeurIPS 2021)."""

    rho: float

    def __post_init__(self) -> None:
        positive("rho", self.rho)

    @property
    def guarantee(self) -> Guarantee:
        """rho-zCDP, the rounding slack included."""
        return ZCDP(self.rho * (1 + ROUNDING), adjacency=self.adjacency)

    def costs(self, guarantee: Guarantee) -> tuple[float, ...]:
        """The query's rho (eps tanh(eps/2) for a pure one)."""
        return (_as(guarantee, ZCDP).rho,)

    def fits(self, spent: tuple[float, ...]) -> bool:
        """The sum is within the budget."""
        return spent[0] <= self.rho * (1 + ROUNDING)


@dataclass(frozen=True)
class RDPFilter(Filter):
    """Admits while the Renyi divergences sum to at most the curve, at every one of the orders.

    Each order on its own is a valid filter (Feldman and Zrnic, NeurIPS 2021; Lecuyer 2021), so all
    orders together keep a promise of the whole curve.
    """

    curve: Callable[[float], float]
    orders: tuple[float, ...] = (1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)

    @property
    def guarantee(self) -> Guarantee:
        """The curve at the orders; between them, the next larger order's value (it only grows)."""

        def curve(order: float) -> float:
            above = [a for a in self.orders if a >= order]
            return self.curve(min(above)) * (1 + ROUNDING) if above else math.inf

        return RDP(curve, adjacency=self.adjacency)

    def costs(self, guarantee: Guarantee) -> tuple[float, ...]:
        """The query's Renyi divergence at each order."""
        curve = _as(guarantee, RDP).curve
        return tuple(curve(order) for order in self.orders)

    def fits(self, spent: tuple[float, ...]) -> bool:
        """Every order is within its budget."""
        pairs = zip(spent, self.orders, strict=True)
        return all(total <= self.curve(order) * (1 + ROUNDING) for total, order in pairs)


@dataclass(frozen=True)
class Odometer:
    """Reads what has been spent at any time, also at a time that depends on the answers.

    With probability at least 1 - delta over the view, the privacy loss after every prefix is at most
    `reading(charges)`: e^{aL - a(a+1) sum rho_i} is a supermartingale for every fixed a > 0, so by
    Ville's inequality L_t <= (a+1) sum rho_i + ln(1/delta)/a at all times t together. The slope a is
    tuned in advance to the spending `around` which the reading should be sharp.
    """

    delta: float
    around: float = 0.1

    def __post_init__(self) -> None:
        positive("delta", check_delta("delta", self.delta))
        positive("around", self.around, "give the sum of rhos that you expect to spend.")

    def reading(self, charges: Sequence[Guarantee]) -> float:
        """The bound on the loss so far."""
        slope = math.sqrt(math.log(1 / self.delta) / self.around)
        rho = math.fsum(_as(g, ZCDP).rho for g in charges)
        return (slope + 1) * rho + math.log(1 / self.delta) / slope if rho > 0 else 0.0


def pure_reading(charges: Sequence[Guarantee]) -> float:
    """The odometer of pure privacy: the sum of the epsilons bounds the loss at all times, surely."""
    return math.fsum(_as(g, PureDP).epsilon_0 for g in charges)


def _as(guarantee: Guarantee, kind: type[Any]) -> Any:
    return guarantee.to(kind)


def _amounts(spent: tuple[float, ...]) -> str:
    return "/".join(f"{nonnegative('cost', v):.6g}" for v in spent[:3])
