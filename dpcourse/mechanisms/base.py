"""Mechanism: the mathematical definition, literally: a map from data to a probability law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.guarantees import Guarantee, dominating_loss
from dpcourse.laws import Finite, Law
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

    def laws(self, data: Any) -> Law:
        """One law for each entry of an array of inputs, for playing many games side by side."""
        values, index = np.unique(np.asarray(data), return_inverse=True)
        each = [self.law(v).to_finite() for v in values.tolist()]
        if any(law is None or law.outcomes != each[0].outcomes for law in each if each[0] is not None):
            fix = "pass one input at a time to law."
            reject("mechanism", self, "finite with common outcomes, for an array of inputs", fix)
        return Finite(each[0].outcomes, np.stack([law.weights for law in each])[index])  # type: ignore[union-attr]

    def losses(self, answers: Any, left: Any, right: Any) -> Any:
        """The privacy loss at each answer; inputs may be arrays, one entry an answer."""
        laws = [self.laws(d) if isinstance(d, np.ndarray) and d.ndim else self.law(d) for d in (left, right)]
        with np.errstate(invalid="ignore"):  # an answer that neither input gives has loss NaN
            return laws[0].log_prob(answers) - laws[1].log_prob(answers)

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
    try:
        array = np.asarray(value, dtype=float) if not isinstance(value, float | int) else value
    except (OverflowError, TypeError, ValueError):
        reject(
            "the query's answer", value, "a number or a vector of numbers", "let the query return numbers."
        )
    if not np.isfinite(array).all():
        fix = "clip or replace such rows by public rules before asking."
        reject("the query's answer", value, "finite (no NaN, no infinity)", fix)
    if np.ndim(array) > 1:
        rule = "a number or a vector of numbers"
        reject("the query's answer", f"an array of shape {np.shape(array)}", rule, "flatten it.")
    return array
