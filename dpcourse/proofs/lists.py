"""Parameters that are many numbers: lists, and probability laws on a few outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.functions import fractions
from dpcourse.proofs.parameters import Parameter
from dpcourse.proofs.scalars import Rational, Real, Whole


@dataclass(frozen=True)
class Many(Parameter):
    """A list of numbers of one kind; steps see them along the last axis."""

    kind: Real | Rational | Whole
    length: int

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """One axis more."""
        return (self.length,)

    def draw(self, rng: np.random.Generator, size: int) -> Any:
        """Independent entries; in every eighth list many are ends of the range, where proofs are tight."""
        shape = (size, self.length)
        drawn = self.kind.draw(rng, size * self.length).reshape(shape)
        ends = self.kind.array(self.kind.corners())[rng.integers(0, 2, shape)]
        extreme = (rng.random((size, 1)) < 1 / 8) & (rng.random(shape) < 2 / 3)
        return np.where(extreme, ends, drawn)

    def corners(self) -> list[Any]:
        """Constant lists, and lists that differ in the first or in the last entry."""
        low, high = self.kind.corners()
        n = self.length
        lists = [[low] * n, [high] * n, [high] + [low] * (n - 1), [low] * (n - 1) + [high]]
        return [tuple(entries) for entries in dict.fromkeys(map(tuple, lists))]

    def sweep(self) -> list[Any]:
        """Constant lists."""
        return [(value,) * self.length for value in self.kind.sweep()]

    def simpler(self, value: Any) -> Iterator[Any]:
        """One entry simpler, or the first one everywhere."""
        yield (value[0],) * self.length
        for i, entry in enumerate(value):
            for simple in self.kind.simpler(entry):
                yield (*value[:i], simple, *value[i + 1 :])

    def size(self, value: Any) -> float:
        """All entries together, and how many differ."""
        return sum(self.kind.size(entry) for entry in value) + len(set(value))

    def rule(self) -> str:
        """The rule of the entries."""
        return f"{self.length} entries, each {self.kind.rule()}"

    def read(self, value: Any) -> Any:
        """A tuple of entries."""
        if not isinstance(value, Sequence | np.ndarray) or len(value) != self.length:
            return None
        entries = tuple(self.kind.read(v.item() if isinstance(v, np.generic) else v) for v in value)
        return None if None in entries else entries

    @property
    def has_fractions(self) -> bool:  # type: ignore[override]
        """As the entries."""
        return self.kind.has_fractions

    def view(self, raw: Any, exact: bool) -> Any:
        """As the entries."""
        return self.kind.view(raw, exact)

    def show(self, value: Any) -> str:
        """In round brackets."""
        return "(" + ", ".join(self.kind.show(entry) for entry in value) + ")"

    def array(self, values: Sequence[Any]) -> Any:
        """Points along the first axis, entries along the second."""
        flat = self.kind.array([entry for value in values for entry in value])
        return flat.reshape(len(values), self.length)


@dataclass(frozen=True)
class Laws(Parameter):
    """`count` probability laws, given by whole weights; the last axis is the outcomes."""

    outcomes: int
    count: int = 1
    has_fractions = True

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Laws, then outcomes; a single law has no axis of its own."""
        return (self.outcomes,) if self.count == 1 else (self.count, self.outcomes)

    def draw(self, rng: np.random.Generator, size: int) -> Any:
        """Even laws, sparse laws, laws of very unequal weights, and certain outcomes."""
        shape = (size, self.count, self.outcomes)
        # Most points without zeros: zeros make proofs tight, and those points are decided in Fractions.
        kinds = np.where(rng.random((size, 1, 1)) < 0.9, 2, 4)
        style = rng.integers(0, kinds, (size, self.count, 1))
        even = rng.integers(1, 10, shape)
        steep = 1 << rng.integers(0, 11, shape)
        sparse = even * (rng.random(shape) < 0.5)
        sure = np.zeros(shape, dtype=int)
        drawn = np.choose(style, [even, steep, sparse, sure])
        spare = rng.integers(0, self.outcomes, (size, self.count))
        empty = drawn.sum(-1) == 0
        drawn[(*np.nonzero(empty), spare[empty])] = 1
        return drawn.reshape(size, *self.shape)

    def corners(self) -> list[Any]:
        """The even law, and each certain outcome; all laws alike, or each on an outcome of its own."""
        sure = [tuple(int(i == j) for i in range(self.outcomes)) for j in range(self.outcomes)]
        alike = [(law,) * self.count for law in [(1,) * self.outcomes, *sure]]
        apart = [tuple(sure[(i + s) % self.outcomes] for i in range(self.count)) for s in (0, 1)]
        rows = alike if self.count == 1 else alike + apart
        return [row[0] for row in rows] if self.count == 1 else rows

    def sweep(self) -> list[Any]:
        """Ever steeper laws."""
        laws = [tuple(s**i for i in range(self.outcomes)) for s in (1, 2, 4, 8)]
        return laws if self.count == 1 else [((law, law[::-1]) * self.count)[: self.count] for law in laws]

    def simpler(self, value: Any) -> Iterator[Any]:
        """One weight 0, 1 or halved."""
        rows = self._rows(value)
        for i, row in enumerate(rows):
            for j, weight in enumerate(row):
                for less in (0, 1, weight // 2):
                    if less < weight and sum(row) - weight + less > 0:
                        new = (*row[:j], less, *row[j + 1 :])
                        changed = (*rows[:i], new, *rows[i + 1 :])
                        yield changed[0] if self.count == 1 else changed

    def size(self, value: Any) -> float:
        """The sum of the weights."""
        return float(sum(map(sum, self._rows(value))))

    def rule(self) -> str:
        """What the weights must be."""
        what = f"{self.outcomes} whole weights from 0 to 10^9, not all 0"
        return what if self.count == 1 else f"{self.count} rows of {what}"

    def read(self, value: Any) -> Any:
        """Tuples of ints."""
        try:
            array = np.array(value)
        except ValueError:
            return None
        fits = (
            array.shape == self.shape and array.dtype.kind in "iu" and ((array >= 0) & (array <= 10**9)).all()
        )
        if not fits or not (array.sum(-1) > 0).all():
            return None
        rows = array.tolist()
        return tuple(rows) if self.count == 1 else tuple(map(tuple, rows))

    def view(self, raw: Any, exact: bool) -> Any:
        """Weights divided by their sum."""
        total = raw.sum(-1, keepdims=True)
        return fractions(raw, total) if exact else Bracket.of(raw) / total

    def show(self, value: Any) -> str:
        """The weights, 3:1 for the law (3/4, 1/4)."""
        return ", ".join(":".join(map(str, row)) for row in self._rows(value))

    def _rows(self, value: Any) -> Any:
        return (value,) if self.count == 1 else value
