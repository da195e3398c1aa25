"""The noisy queries, for one table or for all parts of one at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from dpcourse.errors import reject
from dpcourse.interactive.table import numeric
from dpcourse.interactive.table.agents import Request
from dpcourse.interactive.table.costs import exact, exact_positive, shown
from dpcourse.interactive.table.expressions import kind_of, look_up
from dpcourse.interactive.table.queries import Count, Query
from dpcourse.laws.base import generator
from dpcourse.mechanisms import Mechanism
from dpcourse.neighbours import REPLACE_ONE

if TYPE_CHECKING:
    from dpcourse.interactive.table.private import PrivateTable

Rng = np.random.Generator
Out = TypeVar("Out")


@dataclass(frozen=True)
class Answer:
    """A noisy answer, what was charged for it, and what was done to the values or left out."""

    value: float
    query: str
    charged: Fraction
    note: str
    mechanism: Mechanism
    """The query as a map from the source's rows to a law: `mechanism.law(rows)`, `.guarantee`."""

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        return f"Answer({self.value:.6g}, {self.query}, charged {shown(self.charged)}{note})"


class Asking(ABC, Generic[Out]):
    """The noisy queries: a table gives an answer, parts give one for each of them."""

    @property
    @abstractmethod
    def _tables(self) -> Sequence[PrivateTable]:
        """The tables that a query goes to; they have the same columns."""

    @abstractmethod
    def _packed(self, answers: list[Answer]) -> Out:
        """The answers in the form that the caller gets."""

    def noisy_count(self, epsilon: Any, rng: Rng) -> Out:
        """The number of rows, with geometric noise."""
        return self._release(Count(), epsilon, rng)

    def noisy_sum(self, column: str, epsilon: Any, rng: Rng, *, bounds: Any = None) -> Out:
        """The sum of a column, its values moved into public bounds, with Laplace noise."""
        query = numeric.Sum(self._numeric(column), numeric.public_bounds(bounds))
        return self._release(query, epsilon, rng)

    def noisy_mean(self, column: str, epsilon: Any, rng: Rng, *, bounds: Any = None) -> Out:
        """The mean of a column, its values moved into public bounds."""
        limits, table = numeric.public_bounds(bounds), self._tables[0]
        query: Query = numeric.Mean(self._numeric(column), limits, table.agent.adjacency is REPLACE_ONE)
        if not table.stage.resizes:
            query = numeric.MeanOfKnownSize(column, limits)
        return self._release(query, epsilon, rng)

    def noisy_quantile(
        self, column: str, rank: Any, epsilon: Any, rng: Rng, *, candidates: Any = None
    ) -> Out:
        """One of the public candidates, with about the share `rank` of the column below it."""
        share = exact("rank", rank)
        if not 0 < share < 1:
            reject("rank", rank, "between 0 and 1", "give 0.5 for the median, 0.9 for the top tenth.")
        query = numeric.Quantile(self._numeric(column), share, numeric.public_candidates(candidates))
        return self._release(query, epsilon, rng)

    def noisy_median(self, column: str, epsilon: Any, rng: Rng, *, candidates: Any = None) -> Out:
        """One of the public candidates, near the median of the column."""
        return self.noisy_quantile(column, Fraction(1, 2), epsilon, rng, candidates=candidates)

    def _numeric(self, column: str) -> str:
        kind = kind_of(look_up(self._tables[0].stage.schema, column))
        if kind == "text":
            reject("column", column, "a column of numbers, not of text", "choose another column.")
        return column

    def _release(self, query: Query, epsilon: Any, rng: Rng) -> Out:
        """Check everything, then charge for all tables together, then draw."""
        agent, level, source = self._tables[0].agent, exact_positive("epsilon", epsilon), generator(rng)
        label = f"{query.label} at {shown(level)}"
        asked = [query.asked(table.stage, level, agent.adjacency) for table in self._tables]
        charged = agent.charge([Request(a.stage, a.cost, label) for a in asked])
        answers = []
        for table, mechanism in zip(self._tables, asked, strict=True):
            drawn = np.asarray(mechanism.noisy(table._columns, source)).item()
            note = "; ".join(filter(None, (*table.stage.notes, query.note)))
            answers.append(Answer(drawn, label, charged, note, mechanism))
        return self._packed(answers)
