"""Queries: what may be asked about a table, with the noise of the engine's mechanisms.

Each states how far an edit moves its answer (or its scores): `moves.add` for a row more or less,
`moves.swap` for a row that changes. With noise for the sensitivity s, these edits cost epsilon
moves.add/s and epsilon moves.swap/s.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcourse.errors import reject
from dpcourse.guarantees import Guarantee, PureDP
from dpcourse.interactive.table.agents import alone
from dpcourse.interactive.table.costs import Cost
from dpcourse.interactive.table.expressions import Columns
from dpcourse.interactive.table.stages import Stage
from dpcourse.laws import Law
from dpcourse.mechanisms import GeometricMechanism, Mechanism
from dpcourse.neighbours import REPLACE_ONE, Adjacency, Rows


@dataclass(frozen=True)
class Query(ABC):
    """A question about a table; `on` gives its mechanism for a noise level."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The question, in a few words."""

    @property
    @abstractmethod
    def moves(self) -> Cost:
        """How far an edit of the table moves the answer."""

    @property
    def note(self) -> str:
        """What was done to the values; empty if nothing."""
        return ""

    @abstractmethod
    def noisy(self, epsilon: float, sensitivity: float) -> Mechanism:
        """The mechanism, as a map from the table's columns to a law."""

    def sensitivity(self, adjacency: Adjacency, resizes: bool) -> Fraction:
        """The longest move among the edits that can happen to the table."""
        if adjacency is not REPLACE_ONE:
            return self.moves.add
        return self.moves.most if resizes else self.moves.swap or self.moves.add

    def asked(self, stage: Stage, epsilon: Fraction, adjacency: Adjacency) -> TableQuery:
        """The query about one table, with the noise that fits."""
        size = self.sensitivity(adjacency, stage.resizes)
        cost = Cost(epsilon * self.moves.add / size, epsilon * self.moves.swap / size)
        return TableQuery(stage, self.noisy(float(epsilon), float(size)), cost, adjacency)


@dataclass(frozen=True)
class TableQuery(Mechanism):
    """A query as a mechanism on the rows of the source: what contract, game and audit can judge.

    The data are the source's rows, as tuples in the order of its columns; for a join of two sources,
    a pair of such datasets, of which each may differ from its neighbour in one row.
    """

    stage: Stage
    noisy: Mechanism
    cost: Cost
    adjacency: Adjacency

    def law(self, data: Any) -> Law:
        """The law of the answer, if the sources held these rows."""
        parts = zip(self.stage.sources, self._split(data), strict=True)
        return self.noisy.law(self.stage.columns({source: source.parse(rows) for source, rows in parts}))

    @property
    def guarantee(self) -> Guarantee:
        """What the query costs by itself, at the sources."""
        return PureDP(float(alone(self.stage, self.cost, self.adjacency)), adjacency=self.adjacency)

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """By the adjacency, in every source."""
        pairs = zip(self._split(left), self._split(right), strict=True)
        return all(self.adjacency.are_neighbours(x, y) for x, y in pairs)

    def _split(self, data: Any) -> tuple[Rows, ...]:
        sources = self.stage.sources
        if len(sources) > 1 and len(data) != len(sources):
            names = ", ".join(source.name for source in sources)
            reject("data", data, f"one dataset for each of {names}", "give a tuple of datasets.")
        return tuple(data) if len(sources) > 1 else (data,)


@dataclass(frozen=True)
class Count(Query):
    """How many rows: whole numbers with geometric noise."""

    label = "noisy_count"
    moves = Cost(Fraction(1), Fraction(0))

    def noisy(self, epsilon: float, sensitivity: float) -> Mechanism:
        """The number of rows plus discrete Laplace noise."""
        return GeometricMechanism(epsilon, sensitivity=int(sensitivity), query=_size)


def _size(columns: Columns) -> int:
    return len(next(iter(columns.values())))
