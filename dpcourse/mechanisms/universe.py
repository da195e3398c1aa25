"""Data over a finite universe: rows are numbers 0, ..., N-1, and a linear query is a vector over it."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcourse.errors import Floats, reject, whole


def row_numbers(data: Any, universe: int) -> NDArray[np.int64]:
    """The rows as an array of numbers below `universe`; no rows are fine.

    >>> row_numbers((2, 0), universe=3)
    array([2, 0])
    """
    found = np.asarray(data)
    found = found if found.shape != (0,) else np.zeros(0, dtype=np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu" or np.any((found < 0) | (found >= universe)):
        fix = "number the universe, and write each row as its number."
        reject("data", data, f"rows between 0 and {universe - 1}", fix)
    return found.astype(np.int64)


def histogram_of(data: Any, universe: int) -> Floats:
    """How often each row of the universe occurs.

    >>> histogram_of((2, 0, 2), universe=4)
    array([1., 0., 2., 0.])
    """
    return np.bincount(row_numbers(data, universe), minlength=universe).astype(float)


def linear_queries(queries: ArrayLike, universe: int | None = None) -> Floats:
    """One query (a vector) or several (a matrix): a value in [0, 1] for each row of the universe."""
    try:
        values = np.asarray(queries, dtype=float)
    except (OverflowError, TypeError, ValueError):
        reject("query", queries, "numbers between 0 and 1", "list its value on every possible row.")
    shaped = values.ndim in {1, 2} and values.size and universe in {None, values.shape[-1]}
    if not shaped or not np.all((values >= 0) & (values <= 1)):
        given = f"an array of shape {values.shape}" + (" with entries outside of [0, 1]" if shaped else "")
        size = "numbers" if universe is None else f"{universe} numbers"
        rule = f"{size} between 0 and 1, one for each row of the universe"
        reject("query", given, rule, "scale the query, and list its value on every possible row.")
    return values


def marginals(attributes: int, ways: int) -> Floats:
    """The linear queries "these attributes have these values", for all choices of `ways` yes/no attributes.

    Row number r has attribute i if bit i of r is 1. There are C(attributes, ways) 2^ways queries, and each
    row counts in C(attributes, ways) of them: those of one choice of attributes are a histogram.

    >>> marginals(2, 1).astype(int)  # attribute 0: no, yes; attribute 1: no, yes
    array([[1, 0, 1, 0],
           [0, 1, 0, 1],
           [1, 1, 0, 0],
           [0, 0, 1, 1]])
    """
    if not 1 <= whole("ways", ways) <= whole("attributes", attributes):
        reject("ways", ways, f"between 1 and {attributes}, the attributes", "choose among those there are.")
    bits = np.arange(2**attributes)[:, None] >> np.arange(attributes) & 1
    cells = [
        (bits[:, chosen] == values).all(axis=1)
        for chosen in combinations(range(attributes), ways)
        for values in product((0, 1), repeat=ways)
    ]
    return np.array(cells, dtype=float)
