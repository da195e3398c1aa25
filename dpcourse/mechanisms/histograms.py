"""Histograms: noisy counts of disjoint public bins, under both adjacencies."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import distinct, reject
from dpcourse.mechanisms.additive import GeometricMechanism, LaplaceMechanism
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency


@dataclass(frozen=True)
class BinCounts:
    """The query of a histogram: how many rows fall into each public bin.

    `bins` are the values to count; `key` maps a row to its bin. Rows outside all bins are not counted.
    """

    bins: Sequence[Hashable]
    key: Callable[[Any], Hashable] | None = None

    def __call__(self, data: Sequence[Any]) -> Any:
        """The vector of counts."""
        if not isinstance(data, Iterable):
            reject("data", data, "the rows to count", "pass them as a sequence, such as ('a', 'a', 'b').")
        keys = data if self.key is None else map(self.key, data)
        places = {value: i for i, value in enumerate(self.bins)}
        found = [places[k] for k in keys if k in places]
        return np.bincount(np.array(found, dtype=int), minlength=len(places)).astype(float)

    def sensitivity(self, adjacency: Adjacency) -> int:
        """1 under add/remove; 2 under replace-one (a row leaves one bin and enters another)."""
        return 2 if adjacency is REPLACE_ONE and len(self.bins) > 1 else 1


def histogram(
    epsilon: float,
    bins: Sequence[Hashable],
    *,
    key: Callable[[Any], Hashable] | None = None,
    adjacency: Adjacency = ADD_REMOVE,
    mechanism: type[LaplaceMechanism | GeometricMechanism] = LaplaceMechanism,
) -> LaplaceMechanism | GeometricMechanism:
    """Noisy counts of disjoint public bins: noise 1/epsilon under add/remove, 2/epsilon under replace-one.

    >>> histogram(0.5, bins=("a", "b")).law("aab").mean()
    array([2., 1.])
    """
    if not distinct(bins):
        rule = "distinct bins, at least one"
        reject("bins", bins, rule, "list the values to count, each once, chosen without the data.")
    counts = BinCounts(tuple(bins), key)
    return mechanism(epsilon, sensitivity=counts.sensitivity(adjacency), query=counts, adjacency=adjacency)
