"""Kinds of inputs that an exercise is tried on: the parameters of proofs, and small data sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.proofs import Laws, Many, Rational, Real, Whole
from dpcourse.proofs.parameters import Parameter

__all__ = ["Data", "Laws", "Many", "Parameter", "Rational", "Real", "Whole"]


@dataclass(frozen=True)
class Data(Parameter):
    """A data set: up to `longest` rows from a short list of rows, with repetitions, in any order.

    >>> Data(("a", "b"), longest=2).corners()
    [(), ('a', 'a'), ('b', 'b')]
    """

    rows: tuple[Any, ...]
    longest: int

    def draw(self, rng: np.random.Generator, size: int) -> Any:
        """Any length, each row as likely as the others."""
        lengths = rng.integers(0, self.longest + 1, size)
        return self.array(
            [tuple(self.rows[i] for i in rng.integers(len(self.rows), size=n)) for n in lengths]
        )

    def corners(self) -> list[Any]:
        """No rows at all, and the longest with equal rows."""
        return [(), *((row,) * self.longest for row in self.rows)]

    def sweep(self) -> list[Any]:
        """Every length, the rows in turn."""
        return [tuple(self.rows[i % len(self.rows)] for i in range(n)) for n in range(self.longest + 1)]

    def simpler(self, value: Any) -> Iterator[Any]:
        """One row less."""
        return (value[:i] + value[i + 1 :] for i in range(len(value)))

    def size(self, value: Any) -> float:
        """The number of rows."""
        return float(len(value))

    def rule(self) -> str:
        """What a data set is."""
        return f"a tuple of at most {self.longest} rows, each one of {self.rows}"

    def read(self, value: Any) -> Any:
        """The tuple itself."""
        fits = isinstance(value, tuple) and len(value) <= self.longest
        return value if fits and all(row in self.rows for row in value) else None

    def array(self, values: Sequence[Any]) -> Any:
        """One tuple an entry."""
        found = np.empty(len(values), dtype=object)
        found[:] = list(values)
        return found
