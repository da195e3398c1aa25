"""Mechanism: the mathematical definition, literally: a map from data to a probability law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.guarantees import Guarantee, dominating_loss
from dpcourse.laws import Law
from dpcourse.loss import PrivacyLoss


@dataclass(frozen=True)
class Mechanism(ABC):
    """A map from data to a law, and the promise it makes.

    A new mechanism is one frozen class with `law` and `guarantee`; sampling, privacy loss,
    accounting, games, audits and the contract work on it at once.
    """

    @abstractmethod
    def law(self, data: Any) -> Law:
        """The law of the output on this data."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The promise: what holds for every pair of neighbours."""

    def __call__(self, data: Any, rng: Any, size: int | tuple[int, ...] | None = None) -> Any:
        """One run (or `size` independent runs) on the data."""
        return self.law(data).sample(rng, size)

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Whether the guarantee speaks about this pair of inputs."""
        return self.guarantee.adjacency.are_neighbours(left, right)

    def loss(self, left: Any, right: Any) -> PrivacyLoss:
        """The privacy loss of running on `left` against running on `right`, two neighbours."""
        if not self.are_neighbours(left, right):
            fix = "change one row only, or look at PrivacyLoss.between(m.law(a), m.law(b))."
            rule = f"a pair of neighbours ({self.guarantee.adjacency!r})"
            reject("(left, right)", (left, right), rule, fix)
        return PrivacyLoss.between(self.law(left), self.law(right))

    def worst_case(self) -> PrivacyLoss:
        """A loss that dominates every neighbouring pair's: what an accountant should compose."""
        return dominating_loss(self.guarantee)


def answer(query: Any, data: Any) -> Any:
    """The query's answer on the data, or the data itself where the caller asked the query already."""
    value = data if query is None else query(data)
    array = np.asarray(value, dtype=float) if not isinstance(value, float | int) else value
    if not np.isfinite(array).all():
        fix = "clip or replace such rows by public rules before asking."
        reject("the query's answer", value, "finite (no NaN, no infinity)", fix)
    if np.ndim(array) > 1:
        rule = "a number or a vector of numbers"
        reject("the query's answer", f"an array of shape {np.shape(array)}", rule, "flatten it.")
    return array
