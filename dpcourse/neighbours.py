"""Neighbouring datasets: what "one person's data" means, as two objects.

A dataset is a multiset of rows, written as a tuple. Under ADD_REMOVE, neighbours differ in one row
that is there or not; under REPLACE_ONE, in the value of one row, and their size is public. (Kifer
and Machanavajjhala 2011: unbounded and bounded privacy.)

>>> ADD_REMOVE.enumerate((0, 1), domain=(0, 1))
((1,), (0,), (0, 1, 0), (0, 1, 1))
>>> REPLACE_ONE.enumerate((0, 1), domain=(0, 1))
((1, 1), (0, 0))
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, combinations_with_replacement, zip_longest
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpcourse.errors import reject, whole

Rows = Sequence[Any] | NDArray[Any]
Dataset = tuple[Hashable, ...]
Edit = tuple[Dataset, Dataset]  # take this row out, put that row in; () for no row
LIMIT: Final = 1_000_000  # datasets listed at once


@dataclass(frozen=True, repr=False)
class Adjacency(ABC):
    """Which edits lead from a dataset to a neighbour; all else follows from that."""

    name: str
    resizes: int  # how far one edit can move the size

    def __repr__(self) -> str:
        return self.name

    @abstractmethod
    def _edits(self, present: Dataset, domain: Dataset) -> Iterable[Edit]:
        """Every edit of a dataset with these distinct rows."""

    @abstractmethod
    def _route(self, gone: Dataset, new: Dataset) -> list[Edit] | None:
        """The fewest edits that turn the rows `gone` into the rows `new`."""

    def enumerate(self, data: Rows, domain: Rows) -> tuple[Dataset, ...]:
        """All neighbours of `data` with rows in `domain`, each multiset once."""
        data, domain = rows("data", data), _domain(domain)
        for row in data:
            if row not in domain:
                fix = "fix the domain before the data are seen, and make it hold every legal row."
                reject("row", row, f"in the domain {domain}", fix)
        return tuple(_edited(data, edit) for edit in self._edits(tuple(dict.fromkeys(data)), domain))

    def distance(self, x: Rows, y: Rows) -> float:
        """The fewest steps from x to y, each to a neighbour: a metric.

        |x - y| + |y - x| for add/remove, |x - y| for replace-one (differences of multisets);
        infinite under replace-one if the sizes differ.

        >>> ADD_REMOVE.distance((0, 0, 1), (0, 2)), REPLACE_ONE.distance((0, 0, 1), (0, 2, 1))
        (3, 1)
        """
        route = self._between(rows("x", x), rows("y", y))
        return math.inf if route is None else len(route)

    def are_neighbours(self, x: Rows, y: Rows) -> bool:
        """Whether the distance is at most 1: x and itself pass, since no change is harmless."""
        return self.distance(x, y) <= 1

    def chain(self, x: Rows, y: Rows) -> tuple[Dataset, ...]:
        """Datasets D_0 = x, ..., D_k = y (up to order), k = distance(x, y), for group privacy.

        Each is a neighbour of the one before and none is smaller than both x and y.

        >>> REPLACE_ONE.chain((0, 0, 1), (2, 2, 1))
        ((0, 0, 1), (2, 0, 1), (2, 2, 1))
        """
        start, end = rows("x", x), rows("y", y)
        route = self._between(start, end)
        if route is None:
            fix = "compare datasets of one size, or use ADD_REMOVE."
            reject("y", end, f"of the size of x, {len(start)}, under {self}", fix)
        return tuple(accumulate(route, _edited, initial=start))

    def datasets(self, domain: Rows, size: int, smallest: int | None = None) -> tuple[Dataset, ...]:
        """All datasets of `size` rows (or of `smallest` to `size`), each multiset once.

        >>> ADD_REMOVE.datasets(("a", "b"), 2)
        (('a', 'a'), ('a', 'b'), ('b', 'b'))
        """
        domain, size = _domain(domain), whole("size", size, 0)
        sizes = range(size if smallest is None else whole("smallest", smallest, 0), size + 1)
        if sum(math.comb(len(domain) + n - 1, n) for n in sizes) > LIMIT:
            rule = f"small enough for {LIMIT} datasets over {len(domain)} rows"
            reject("size", size, rule, "use a smaller domain or size, such as 3.")
        return tuple(chain.from_iterable(combinations_with_replacement(domain, n) for n in sizes))

    def pairs(self, domain: Rows, size: int) -> tuple[tuple[Dataset, Dataset], ...]:
        """All neighbouring pairs, in both orders, the larger of `size` rows.

        >>> ADD_REMOVE.pairs((0, 1), 1)
        (((), (0,)), ((), (1,)), ((0,), ()), ((1,), ()))
        """
        place = {row: i for i, row in enumerate(_domain(domain))}
        found = self.datasets(domain, size, smallest=whole("size", size) - self.resizes)
        every = ((x, y) for x in found for y in self.enumerate(x, domain))
        kept = ((x, y) for x, y in every if size - self.resizes <= len(y) <= size)
        return tuple((x, tuple(sorted(y, key=place.__getitem__))) for x, y in kept)

    def require_same(self, other: Any, where: str = "the part it is combined with") -> None:
        """Raise unless `other` is this adjacency: promises about different pairs do not add up.

        >>> ADD_REMOVE.require_same(ADD_REMOVE)
        """
        if other != self:
            fix = (
                "state all parts for one adjacency. A replacement is a removal and an addition, so "
                "group(2) of an add/remove guarantee holds for replace-one; there is no way back."
            )
            reject("adjacency", other, f"{self}, as in {where}", fix)

    def _between(self, x: Dataset, y: Dataset) -> list[Edit] | None:
        gone, new = Counter(x) - Counter(y), Counter(y) - Counter(x)
        return self._route(tuple(gone.elements()), tuple(new.elements()))


class _AddRemove(Adjacency):
    def _edits(self, present: Dataset, domain: Dataset) -> list[Edit]:
        return [((row,), ()) for row in present] + [((), (row,)) for row in domain]

    def _route(self, gone: Dataset, new: Dataset) -> list[Edit]:
        edits = self._edits(gone, new)
        removals, additions = edits[: len(gone)], edits[len(gone) :]
        spare = max(0, len(gone) - len(new))  # removed first; then add and remove in turn
        pairs = zip_longest(additions, removals[spare:])
        return removals[:spare] + [edit for pair in pairs for edit in pair if edit]


class _ReplaceOne(Adjacency):
    def _edits(self, present: Dataset, domain: Dataset) -> list[Edit]:
        return [((old,), (new,)) for old in present for new in domain if old != new]

    def _route(self, gone: Dataset, new: Dataset) -> list[Edit] | None:
        same_size = len(gone) == len(new)
        return [((a,), (b,)) for a, b in zip(gone, new, strict=True)] if same_size else None


ADD_REMOVE: Final[Adjacency] = _AddRemove("add/remove", resizes=1)
REPLACE_ONE: Final[Adjacency] = _ReplaceOne("replace-one", resizes=0)


def rows(name: str, data: Rows) -> Dataset:
    """A dataset as a tuple of hashable rows, each equal to itself; a matrix gives tuples.

    >>> rows("data", np.array([[1, 2], [3, 4]]))
    ((1, 2), (3, 4))
    """
    if isinstance(data, np.ndarray) and data.ndim in {1, 2}:
        data = data.tolist() if data.ndim == 1 else [tuple(row) for row in data.tolist()]
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        rule = "a sequence of rows: a tuple, a list, or an array of one or two dimensions"
        reject(name, data, rule, "write it as a tuple, such as (0, 1, 1).")
    for row in data:
        try:
            hash(row)
        except TypeError:
            reject("row", row, "hashable, so that rows can be counted", "write the row as a tuple.")
        if any(v != v for v in (row if isinstance(row, tuple) else (row,))):  # noqa: PLR0124
            reject("row", row, "free of NaN, which differs from itself", "use a public default.")
    return tuple(data)


def _domain(domain: Rows) -> Dataset:
    distinct = tuple(dict.fromkeys(rows("domain", domain)))
    if not distinct:
        reject("domain", distinct, "at least one row", "list the legal rows, such as (0, 1).")
    return distinct


def _edited(data: Dataset, edit: Edit) -> Dataset:
    out, into = edit
    i = data.index(out[0]) if out else len(data)
    return data[:i] + into + data[i + 1 :]
