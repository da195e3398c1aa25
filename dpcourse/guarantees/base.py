"""Guarantee: what every kind of promise can do, and how kinds turn into each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Self, TypeVar

from dpcourse.errors import reject
from dpcourse.loss import PrivacyLoss
from dpcourse.neighbours import ADD_REMOVE, Adjacency

Kind = TypeVar("Kind", bound="Guarantee")

Conversions = dict[tuple[type, type], Callable[..., Any]]
IMPLIED: Conversions = {}
"""(from, to): what `+` may use to bring two kinds together; filled in by `conversions`."""
CHOSEN: Conversions = {}
"""(from, to): what only `to` may use, because the user must choose (a delta, a loss of accuracy)."""


@dataclass(frozen=True, repr=False)
class Guarantee(ABC):
    """A promise about every pair of neighbouring datasets under a named adjacency."""

    adjacency: Adjacency = field(default=ADD_REMOVE, kw_only=True)

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """The smallest delta for which (epsilon, delta)-DP is known to follow, rounded up."""

    @abstractmethod
    def epsilon(self, delta: float) -> float:
        """The smallest epsilon for which (epsilon, delta)-DP is known to follow, rounded up."""

    @abstractmethod
    def group(self, size: int) -> Self:
        """The promise to any group of `size` neighbours."""

    @abstractmethod
    def share(self, loss: PrivacyLoss) -> float:
        """How much of the promise a neighbouring pair's loss uses: above 1 it is broken, at 1 it is tight."""

    @abstractmethod
    def __mul__(self, times: int) -> Self:
        """The promise of `times` such mechanisms in sequence."""

    @abstractmethod
    def _plus(self, other: Any) -> Self:
        """Composition with a guarantee of the same kind."""

    def __rmul__(self, times: int) -> Self:
        return self * times

    def __add__(self, other: Guarantee) -> Guarantee:
        if not isinstance(other, Guarantee):
            return NotImplemented
        self.adjacency.require_same(other.adjacency)
        known = [to for start, to in IMPLIED if start is type(self)]
        for kind in (type(self), type(other), *reversed(known)):
            if all(type(g) is kind or (type(g), kind) in IMPLIED for g in (self, other)):
                return self.to(kind)._plus(other.to(kind))
        fix = "turn one into the other's kind first, as in a.to(ApproxDP, delta=1e-6) + b."
        reject("guarantee", other, f"of a kind that adds to {type(self).__name__}", fix)

    def to(self, kind: type[Kind], **options: Any) -> Kind:
        """The same promise as another kind: `PureDP(1).to(ZCDP)`, `ZCDP(0.1).to(ApproxDP, delta=1e-6)`."""
        if type(self) is kind and not options:
            return self
        every = IMPLIED | CHOSEN
        convert = every.get((type(self), kind))
        if convert is None:
            known = ", ".join(b.__name__ for a, b in every if a is type(self))
            fix = f"choose from {known or 'its own kind'}."
            reject("kind", kind.__name__, f"implied by {type(self).__name__}", fix)
        return convert(self, **options)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        values = [f"{f.name.removesuffix('_0')}={getattr(self, f.name)!r}" for f in fields(self)[1:]]
        return f"{type(self).__name__}({', '.join(values)}, adjacency={self.adjacency!r})"


def ratio(found: float, allowed: float) -> float:
    """found/allowed, with 0/0 = 0: a promise of nothing is kept only by revealing nothing."""
    if allowed > 0:
        return found / allowed
    return 0.0 if found <= 1e-14 else float("inf")
