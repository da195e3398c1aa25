"""Filters that look right and are not; each is beaten by an adversary in the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from dpcourse.errors import positive
from dpcourse.guarantees import ApproxDP, Guarantee, dominating_loss
from dpcourse.interactive.filters import Filter, PureFilter


@dataclass(frozen=True)
class CheckAfterFilter(PureFilter):
    """Answers first and checks afterwards, so the last query may overdraw the budget.

    With costs 1, 2, 3 and a budget of 3 the loss can reach 5: spend 2, then 3.

    >>> CheckAfterFilter(3).most((1, 2, 3))
    5
    """

    def refuses(self, charges: Sequence[Guarantee], query: Guarantee) -> str:
        """Refuses only once the budget is used up."""
        spent = sum(self.spent(charges))
        return f"the budget {self.epsilon} is used up" if spent >= self.epsilon else ""

    def most(self, menu: Sequence[int]) -> int:
        """The largest total of whole prices from a menu that it lets through."""
        reached, waiting = {0}, [0]
        while waiting:
            spent = waiting.pop()
            new = {spent + price for price in menu if spent < self.epsilon} - reached
            reached |= new
            waiting += new
        return max(reached)


@dataclass(frozen=True)
class RealisedCompositionFilter(Filter):
    """Admits while the optimal composition of the queries asked so far has delta(epsilon) <= delta.

    Optimal composition is about sequences fixed in advance. An adaptive adversary picks the sequence
    by the answers, and the mixture of allowed sequences is worse than each of them: with the menu
    {RR(ln 2), RR(ln 3)}, epsilon = ln 3/2 and delta = 3/8 every sequence is within 3/8 and the game
    reaches 89/216 = .412.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        positive("delta", self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """What it claims, and does not keep."""
        return ApproxDP(self.epsilon, self.delta, adjacency=self.adjacency)

    def costs(self, guarantee: Guarantee) -> tuple[float, ...]:
        """There is no additive cost: the whole sequence counts."""
        return (0.0,)

    def fits(self, spent: tuple[float, ...]) -> bool:
        """Not used: see `refuses`."""
        return True

    def refuses(self, charges: Sequence[Guarantee], query: Guarantee) -> str:
        """Composes the worst cases of what was asked and of the query."""
        self.adjacency.require_same(query.adjacency)
        losses = [dominating_loss(g) for g in (*charges, query)]
        found = reduce(lambda a, b: a + b, losses).delta_bounds(self.epsilon)[0]
        return f"delta would be {found:.4g}" if found > self.delta * (1 + 1e-9) else ""
