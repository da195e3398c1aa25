"""Mechanisms made of mechanisms: post-processing, composition, parallel composition, subsampling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpcourse.errors import positive, probability, reject
from dpcourse.guarantees import GDP, RDP, ApproxDP, Guarantee, PureDP
from dpcourse.laws import Gaussian, Image, Law, Mixture, Product
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms.base import Mechanism
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency, rows


@dataclass(frozen=True)
class Custom(Mechanism):
    """Any function from data to a law, with any claim: an experiment, or a broken mechanism.

    >>> from dpcourse.laws import Point
    >>> Custom(lambda data: Point(len(data)), PureDP(1.0)).law((3, 4))
    Finite(2: 1)
    """

    rule: Callable[[Any], Law]
    claim: Guarantee
    related: Callable[[Any, Any], bool] | None = None

    def law(self, data: Any) -> Law:
        """What the function says."""
        return self.rule(data)

    @property
    def guarantee(self) -> Guarantee:
        """What is claimed."""
        return self.claim

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """By `related`, or by the claim's adjacency."""
        return self.related(left, right) if self.related else super().are_neighbours(left, right)


@dataclass(frozen=True)
class PostProcessed(Mechanism):
    """A function of another mechanism's output, with no further look at the data: the same promise."""

    mechanism: Mechanism
    function: Callable[[Any], Any]

    def law(self, data: Any) -> Law:
        """The image of the inner law under the function."""
        inner = self.mechanism.law(data)
        finite = inner.to_finite()
        return finite.map(self.function) if finite is not None else Image(inner, self.function)

    @property
    def guarantee(self) -> Guarantee:
        """That of the inner mechanism."""
        return self.mechanism.guarantee

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """As for the inner mechanism."""
        return self.mechanism.are_neighbours(left, right)

    def worst_case(self) -> PrivacyLoss:
        """That of the inner mechanism: post-processing cannot add to it."""
        return self.mechanism.worst_case()


@dataclass(frozen=True, init=False)
class Composed(Mechanism):
    """All outputs of several mechanisms on the same data, each with fresh coins.

    >>> from dpcourse.mechanisms import LaplaceMechanism
    >>> Composed(LaplaceMechanism(0.5), LaplaceMechanism(0.25)).guarantee
    PureDP(epsilon=0.75, adjacency=add/remove)
    """

    mechanisms: tuple[Mechanism, ...]

    def __init__(self, *mechanisms: Mechanism) -> None:
        if not mechanisms:
            reject("mechanisms", mechanisms, "at least one mechanism", "list the parts.")
        object.__setattr__(self, "mechanisms", mechanisms)

    def law(self, data: Any) -> Law:
        """The joint law: a product, because the coins are independent."""
        return joint([m.law(data) for m in self.mechanisms])

    @property
    def guarantee(self) -> Guarantee:
        """The sum of the parts' guarantees (basic composition)."""
        first, *rest = (m.guarantee for m in self.mechanisms)
        return sum(rest, first)

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Neighbours for every part."""
        return all(m.are_neighbours(left, right) for m in self.mechanisms)

    def worst_case(self) -> PrivacyLoss:
        """The composition of the parts' worst cases."""
        first, *rest = (m.worst_case() for m in self.mechanisms)
        return sum(rest, first)


@dataclass(frozen=True)
class Parallel(Mechanism):
    """Each mechanism sees only the rows whose key is its own: disjoint blocks of a public partition.

    Under add/remove one row touches one block, so the promise is that of the weakest block (McSherry,
    SIGMOD 2009). A replaced row may leave one block for another, or change within one, so under
    replace-one a block that knows its promise for add/remove only counts twice.
    """

    key: Callable[[Any], Hashable]
    mechanisms: Mapping[Hashable, Mechanism]
    adjacency: Adjacency = field(default=ADD_REMOVE, kw_only=True)

    def __post_init__(self) -> None:
        if not self.mechanisms:
            reject("mechanisms", self.mechanisms, "at least one block", "give a mechanism per key.")
        for m in self.mechanisms.values():
            ADD_REMOVE.require_same(m.guarantee.adjacency)

    def law(self, data: Any) -> Law:
        """The joint law of all blocks; rows with an unknown key belong to no block."""
        blocks: dict[Hashable, list[Any]] = {k: [] for k in self.mechanisms}
        for row in rows("data", data):
            blocks.get(self.key(row), []).append(row)
        return joint([m.law(tuple(blocks[k])) for k, m in self.mechanisms.items()])

    @property
    def guarantee(self) -> Guarantee:
        """The weakest block's promise.

        Under replace-one a row leaves a block and joins another (two promises together), or changes within
        one (its promise to a group of two).
        """
        promises = [m.guarantee for m in self.mechanisms.values()]
        kinds = {type(g) for g in promises}
        if kinds <= {PureDP, ApproxDP} and len(kinds) == 2:
            promises, kinds = [g.to(ApproxDP) for g in promises], {ApproxDP}
        if len(kinds) > 1 or RDP in kinds:
            fix = "convert them with .to(ZCDP) or give all blocks the same kind."
            reject("mechanisms", [k.__name__ for k in kinds], "of one comparable kind", fix)
        if self.adjacency is REPLACE_ONE:
            moved = [first + second for first, second in itertools.combinations(promises, 2)]
            promises = moved + [promise.group(2) for promise in promises]
        return _weakest(promises, self.adjacency)

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """By the adjacency of the whole."""
        return self.adjacency.are_neighbours(left, right)


def _weakest(promises: list[Any], adjacency: Adjacency) -> Guarantee:
    """The least guarantee that all of one kind imply: the largest of each parameter."""
    kind = type(promises[0])
    names = [name for name in ("epsilon_0", "delta_0", "rho", "mu") if hasattr(promises[0], name)]
    worst: Guarantee = kind(*(max(getattr(g, n) for g in promises) for n in names), adjacency=adjacency)
    return worst


@dataclass(frozen=True)
class Subsampled(Mechanism):
    """Run the mechanism on a secret random sample: each row is kept with probability `rate` (Poisson).

    Amplification under add/remove: epsilon becomes ln(1 + rate (e^epsilon - 1)) and delta becomes
    rate * delta (Balle, Barthe and Gaboardi, NeurIPS 2018).

    >>> from dpcourse.mechanisms import LaplaceMechanism
    >>> round(Subsampled(LaplaceMechanism(1.0, query=len), rate=0.1).guarantee.epsilon(0), 4)
    0.1586
    """

    mechanism: Mechanism
    rate: float

    def __post_init__(self) -> None:
        positive("rate", probability("rate", self.rate), "give the chance to keep a row, in (0, 1].")
        ADD_REMOVE.require_same(self.mechanism.guarantee.adjacency)

    def law(self, data: Any) -> Law:
        """The mixture over all subsets; for up to 12 rows (accounting needs only `worst_case`)."""
        people = rows("data", data)
        if len(people) > 12:
            fix = "use m.worst_case() for accounting; the exact law has 2^n parts."
            reject("data", f"{len(people)} rows", "at most 12 rows for the exact law", fix)
        weights: dict[tuple[Any, ...], float] = {}
        for kept in itertools.product((True, False), repeat=len(people)):
            sample = tuple(sorted((r for r, k in zip(people, kept, strict=True) if k), key=repr))
            chance = self.rate ** sum(kept) * (1 - self.rate) ** (len(people) - sum(kept))
            weights[sample] = weights.get(sample, 0.0) + chance
        parts = tuple(self.mechanism.law(sample) for sample in weights)
        total = math.fsum(weights.values())
        mixed = Mixture(tuple(w / total for w in weights.values()), parts)
        return mixed.to_finite() or mixed

    @property
    def guarantee(self) -> Guarantee:
        """The amplified promise; for Gaussian noise the Renyi curve of the exact worst case."""
        inner, rate = self.mechanism.guarantee, self.rate
        if isinstance(inner, GDP):
            worst = self.worst_case()
            back = worst.reversed()
            return RDP(lambda order: max(worst.renyi(order), back.renyi(order)))
        if not isinstance(inner, PureDP | ApproxDP):
            fix = "convert the inner guarantee with .to(ApproxDP, delta=...) or use Gaussian noise."
            reject("mechanism", inner, "pure, approximate or Gaussian DP", fix)
        epsilon = _amplified(inner.epsilon_0, rate)
        return PureDP(epsilon) if isinstance(inner, PureDP) else ApproxDP(epsilon, rate * inner.delta_0)

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """As for the inner mechanism."""
        return self.mechanism.are_neighbours(left, right)

    def worst_case(self) -> PrivacyLoss:
        """The pair (a person is in the sample with chance `rate`, the person is away)."""
        inner = self.mechanism.guarantee
        if isinstance(inner, GDP):
            away, here = Gaussian(0.0, 1 / inner.mu), Gaussian(1.0, 1 / inner.mu)
            sampled = Mixture((1 - self.rate, self.rate), (away, here)) if self.rate < 1 else here
            return PrivacyLoss.between(sampled, away)
        return super().worst_case()


def _amplified(epsilon: float, rate: float) -> float:
    """ln(1 + rate (e^epsilon - 1)), also where e^epsilon overflows."""
    if epsilon < 700:
        return math.log1p(rate * math.expm1(epsilon))
    return float(epsilon + math.log(rate))  # the rest is below (1/rate - 1) e^-700


def joint(laws: list[Law]) -> Law:
    """The law of independent outputs together: finite where all are, else a product."""
    finite = [law.to_finite() for law in laws]
    if all(law is not None for law in finite):
        first, *rest = (law for law in finite if law is not None)
        return first.product(*rest)
    parts: list[Law] = []
    for law in laws:
        parts += law.parts if isinstance(law, Product) else [law]
    return Product(*parts)
