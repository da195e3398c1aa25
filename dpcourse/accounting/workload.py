"""Workload: what is released and how often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from dpcourse.accounting.common import Steps
from dpcourse.accounting.step import Item, Step
from dpcourse.errors import reject, whole
from dpcourse.guarantees.rounding import ULP, decimal_sum
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import Composed, PostProcessed
from dpcourse.neighbours import REPLACE_ONE

MOST_LOPSIDED = 6


@dataclass(frozen=True)
class Workload:
    """Steps in any order; they may be chosen adaptively, their parameters are fixed in advance."""

    steps: tuple[Step, ...]

    @classmethod
    def of(cls, items: Any, k: int = 1) -> Workload:
        """From an item, an (item, count), or a list of either; `k` repeats all of it.

        >>> from dpcourse.guarantees import GDP, PureDP
        >>> print(Workload.of([(PureDP(0.1), 5), GDP(0.5)], k=2))
        10 x PureDP(epsilon=0.1) + 2 x GDP(mu=0.5)
        """
        rounds = whole("k", k)
        pairs = [items] if isinstance(items, Item) or _is_pair(items) else items
        if not isinstance(pairs, list | tuple) or not pairs:
            fix = "pass a mechanism, (mechanism, count), or a list of these."
            reject("workload", items, "a mechanism, guarantee or loss, or a list with counts", fix)
        steps = tuple(Step(item, rounds * n) for pair in pairs for item, n in _flat(pair))
        promises = [
            step.guarantee for step in steps if step.guarantee and not isinstance(step.item, PrivacyLoss)
        ]
        for promise in promises[1:]:
            promises[0].adjacency.require_same(promise.adjacency)
        return cls(steps)

    @property
    def k(self) -> int:
        """How many releases there are."""
        return sum(step.count for step in self.steps)

    @property
    def promised(self) -> bool:
        """Whether some mechanism is known by its guarantee only."""
        return any(step.promised for step in self.steps)

    @cached_property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """The composed worst cases, one of which is the worst; empty if a step has none.

        Under add/remove all steps point the same way: the person was added, or removed. Under replace-one
        different lopsided steps may point different ways, so every combination counts (up to six of them).
        """
        lopsided = sum(not step.symmetric for step in self.steps)
        if any(step.loss is None for step in self.steps) or lopsided > MOST_LOPSIDED:
            return ()
        free = any(s.guarantee and s.guarantee.adjacency is REPLACE_ONE for s in self.steps)
        ways = product((False, True), repeat=lopsided) if free else {(False,) * lopsided, (True,) * lopsided}
        return tuple(self._composed(way) for way in ways)

    def _composed(self, turned: Iterable[bool]) -> PrivacyLoss:
        """All steps together, the lopsided ones turned around where it says so."""
        turns = iter(turned)
        first, *rest = (
            step.count * (step.loss.reversed() if not step.symmetric and next(turns) else step.loss)
            for step in self.steps
            if step.loss is not None
        )
        return sum(rest, first)

    @property
    def fixed(self) -> float:
        """The sum of the deltas that steps have already."""
        own = [(s.approximate.delta_0, s.count) for s in self.steps if s.approximate]
        return decimal_sum([d for d, _ in own], [n for _, n in own])

    def slack(self, delta: float) -> float:
        """What is left of delta for composition; 0 if the steps have used it up."""
        return max(0.0, (delta - self.fixed) * (1 - 4 * ULP)) if self.fixed else delta

    def approximated(self, delta: float, part: float) -> Steps:
        """Every step as (epsilon, delta)-DP; those without a delta of their own share a part of the slack."""
        free = sum(step.count for step in self.steps if not step.approximate)
        share = part * self.slack(delta) / free * (1 - 8 * ULP) if free else 0.0
        claims = [s.approximate or s.approximation(share) for s in self.steps]
        counts = tuple(s.count for s in self.steps)
        return Steps(tuple(c.epsilon_0 for c in claims), tuple(c.delta_0 for c in claims), counts)

    def __str__(self) -> str:
        return " + ".join(map(str, self.steps))


def _is_pair(items: Any) -> bool:
    return (
        isinstance(items, tuple)
        and len(items) == 2
        and isinstance(items[0], Item)
        and not isinstance(items[1], Item)
    )


def _flat(pair: Any) -> Iterator[tuple[Item, int]]:
    item, count = pair if _is_pair(pair) else (pair, 1)
    if not isinstance(item, Item):
        fix = "use a mechanism such as LaplaceMechanism(0.1), a guarantee such as PureDP(0.1), or a loss."
        reject("workload", item, "made of mechanisms, guarantees and losses", fix)
    count = whole("count", count)
    if isinstance(item, Composed):
        yield from ((part, count * n) for m in item.mechanisms for part, n in _flat(m))
    elif isinstance(item, PostProcessed):
        yield from ((part, count * n) for part, n in _flat(item.mechanism))
    else:
        yield item, count
