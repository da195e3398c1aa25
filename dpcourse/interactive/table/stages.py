"""Stages: how a table comes about, and what an edit of its parent costs.

Stability is the bookkeeping of PINQ (McSherry, SIGMOD 2009), kept for two kinds of edit. If an edit of
a table costs `add` (a row more or less) or `swap` (a row changes its value), then an edit of its parent
costs:

    select       (add, swap)                             each row is mapped on its own
    where        (add, max(add, swap))                   a swapped row may enter or leave
    partition    (max add, max(max swap, two largest adds))   a row is in one part; a swapped one may move
    join         (k max, k (swap + max))                 with max = max(add, swap); see `Join`
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.interactive.table.costs import NOTHING, Cost
from dpcourse.interactive.table.expressions import Columns, Expression
from dpcourse.neighbours import REPLACE_ONE, Adjacency, Rows, rows

_SERIAL = itertools.count()
Contents = Mapping["Stage", Columns]


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage(ABC):
    """One step from the source to a table; it is a function of the source's rows, not their keeper."""

    parents: tuple[Stage, ...]
    serial: int = field(default_factory=lambda: next(_SERIAL))  # a parent's is smaller than its child's

    @property
    @abstractmethod
    def label(self) -> str:
        """What the step does, in a few words."""

    @abstractmethod
    def columns(self, contents: Contents) -> Columns:
        """The table, for these contents of the sources (or of any tables on the way)."""

    def before(self, contents: Contents) -> list[Columns]:
        """The parents' tables."""
        return [contents[p] if p in contents else p.columns(contents) for p in self.parents]

    @property
    def schema(self) -> Columns:
        """The table without its rows: the names and types of its columns, which are public."""
        return self.columns({source: source.empty for source in self.sources})

    @property
    def sources(self) -> tuple[Source, ...]:
        """The tables that it comes from, each once."""
        return tuple(dict.fromkeys(s for parent in self.parents for s in parent.sources))

    @property
    def resizes(self) -> bool:
        """Whether an edit of a source can change the number of rows."""
        return True

    @property
    def notes(self) -> tuple[str, ...]:
        """Which rows were left out on the way here, other than by a condition."""
        return tuple(dict.fromkeys(note for parent in self.parents for note in parent.notes))

    def passed(self, cost: Cost) -> Cost:
        """What an edit of the parent costs, from what an edit of this table costs."""
        return cost

    def gathered(self, costs: Iterable[Cost]) -> Cost:
        """What an edit of this table costs in the tables made from it: each may see it, so they add up."""
        return Cost(*(sum(side, Fraction(0)) for side in zip(NOTHING, *costs, strict=True)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Source(Stage):
    """The rows as they were given."""

    name: str
    empty: Columns
    adjacency: Adjacency

    parents: tuple[Stage, ...] = ()

    @property
    def label(self) -> str:
        """Its name."""
        return self.name

    @property
    def sources(self) -> tuple[Source, ...]:
        """Itself."""
        return (self,)

    @property
    def resizes(self) -> bool:
        """Not if rows are replaced: then the size is public."""
        return self.adjacency is not REPLACE_ONE

    def columns(self, contents: Contents) -> Columns:
        """What it holds."""
        return contents[self]

    def parse(self, data: Rows) -> Columns:
        """Other rows in the columns of this table: tuples, or plain values if there is one column."""
        listed = rows("data", data)
        width = len(self.empty)
        if width > 1 and any(not isinstance(row, tuple) or len(row) != width for row in listed):
            fix = "give each row as a tuple, in the order of the columns."
            reject("data", listed, f"rows of {width} values ({', '.join(self.empty)})", fix)
        lines = listed if width > 1 else [row if isinstance(row, tuple) else (row,) for row in listed]
        cells = list(zip(*lines, strict=True)) or [()] * width
        return {
            name: np.array(cell, dtype=str if none.dtype.kind == "U" else none.dtype)
            for cell, (name, none) in zip(cells, self.empty.items(), strict=True)
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Select(Stage):
    """Columns computed row by row."""

    expressions: Mapping[str, Expression]

    @property
    def label(self) -> str:
        """The new columns."""
        parts = [n if n == e.text else f"{n} = {e}" for n, e in self.expressions.items()]
        return f"select {', '.join(parts)}"

    @property
    def resizes(self) -> bool:
        """As its parent: each row gives one row."""
        return self.parents[0].resizes

    def columns(self, contents: Contents) -> Columns:
        """One array for each expression."""
        (before,) = self.before(contents)
        return {name: expression.on(before) for name, expression in self.expressions.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Where(Stage):
    """The rows that fulfil a condition."""

    condition: Expression

    @property
    def label(self) -> str:
        """The condition."""
        return f"where {self.condition}"

    def columns(self, contents: Contents) -> Columns:
        """The rows where the condition is true."""
        (before,) = self.before(contents)
        kept = self.condition.on(before)
        return {name: column[kept] for name, column in before.items()}

    def passed(self, cost: Cost) -> Cost:
        """A swapped row of the parent may be swapped here, enter, or leave."""
        return Cost(cost.add, cost.most)


@dataclass(frozen=True, eq=False, kw_only=True)
class Partition(Stage):
    """The split of a table by a public rule; its children are the parts."""

    key: Expression

    @property
    def label(self) -> str:
        """The rule."""
        return f"partition by {self.key}"

    def columns(self, contents: Contents) -> Columns:
        """All rows; the parts choose among them."""
        return self.before(contents)[0]

    def gathered(self, costs: Iterable[Cost]) -> Cost:
        """Parallel composition: a row is in one part, and a swapped row in two at most.

        Under add/remove the dearest part counts. A swapped row stays in its part, or leaves one part and
        enters another (or none), so the two dearest add up.
        """
        listed = list(costs)
        adds = sorted((c.add for c in listed), reverse=True)
        return Cost(
            adds[0] if adds else NOTHING.add, max([sum(adds[:2], Fraction(0)), *(c.swap for c in listed)])
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Part(Where):
    """One part of a partition."""

    key: Any

    @property
    def label(self) -> str:
        """The rows' common key."""
        return f"part {self.key!r}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The keys were listed without a look at the rows, so some rows may have another one."""
        return (*super().notes, "rows with a key that was not listed are in no part")

    def passed(self, cost: Cost) -> Cost:
        """Left to the partition, which sees all parts."""
        return cost
