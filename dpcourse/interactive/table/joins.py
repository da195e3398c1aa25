"""Join: pairs of rows with the same key, of which one row reaches only so many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcourse.errors import reject
from dpcourse.interactive.table.costs import Cost
from dpcourse.interactive.table.expressions import Columns, look_up
from dpcourse.interactive.table.stages import Contents, Stage


@dataclass(frozen=True, eq=False, kw_only=True)
class Join(Stage):
    """Pairs of rows with the same key; of each key, each side keeps only its first k rows.

    The first k in the order of their values, so that the result depends on the rows and not on where they
    stand. One row more on a side may push another one of its key out: at most k pairs come and as many
    go, which is at most k swaps or k additions. A swapped row does this at its old key and at its new one.
    """

    on: str
    k: int

    @property
    def label(self) -> str:
        """The key and the limit."""
        return f"join on {self.on}, at most {self.k} per key"

    @property
    def notes(self) -> tuple[str, ...]:
        """The limit."""
        return (*super().notes, f"of each {self.on}, rows beyond the first {self.k} on a side are left out")

    def columns(self, contents: Contents) -> Columns:
        """All pairs, key by key; a name that both sides use gets _left and _right."""
        left, right = (first_per_key(side, self.on, self.k) for side in self.before(contents))
        order = np.argsort(right[self.on], kind="stable")
        keys = right[self.on][order]
        start = np.searchsorted(keys, left[self.on], side="left")
        matches = np.searchsorted(keys, left[self.on], side="right") - start
        i = np.repeat(np.arange(len(matches)), matches)
        j = order[np.arange(len(i)) - np.repeat(np.cumsum(matches) - matches, matches) + start[i]]
        both = set(left) & set(right) - {self.on}
        joined = {n + "_left" if n in both else n: column[i] for n, column in left.items()}
        others = {n + "_right" if n in both else n: column[j] for n, column in right.items() if n != self.on}
        if len(joined | others) < len(left) + len(right) - 1:
            fix = "give the columns other names with select first."
            reject("columns", [*joined, *others], "distinct once _left and _right are added", fix)
        return joined | others

    def passed(self, cost: Cost) -> Cost:
        """k times the dearer edit; for a swap, what a removal and an addition of k pairs can come to."""
        return Cost(self.k * cost.most, self.k * (cost.swap + cost.most))


def first_per_key(columns: Columns, on: str, k: int) -> Columns:
    """The first k rows of each key, in the order of the rows' values."""
    key = look_up(columns, on)
    rest = [column for name, column in columns.items() if name != on]
    order = np.lexsort([*reversed(rest), key])  # the last one is the first to decide
    _, start, count = np.unique(key[order], return_index=True, return_counts=True)
    rank = np.arange(len(key)) - np.repeat(start, count)
    return {name: column[order[rank < k]] for name, column in columns.items()}
