"""Sensitivities by their definitions, over small finite domains: the oracle for every formula.

    global         max of |q(D) - q(D')| over neighbours D, D'
    local          the same with D fixed
    at distance t  max of the local sensitivity over the datasets at most t steps from D
    smooth         max over t of e^{-beta t} times that: the least beta-smooth bound on the local one

Nissim, Raskhodnikova and Smith, STOC 2007. A query takes a tuple of rows and gives a number or a vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpcourse.errors import number, numeric, one_of, positive, reject, whole
from dpcourse.neighbours import ADD_REMOVE, LIMIT, REPLACE_ONE, Adjacency, Dataset, Rows, rows

Query = Callable[[Any], Any]


def global_sensitivity(
    query: Query, domain: Rows, size: int, adjacency: Adjacency = REPLACE_ONE, *, norm: float = 1
) -> float:
    """The farthest that one step moves the answer, the larger dataset of `size` rows.

    >>> global_sensitivity(sum, (0, 1, 5), 3)
    5.0
    """
    one_of("adjacency", adjacency, (ADD_REMOVE, REPLACE_ONE))
    return max((_gap(query, x, y, norm) for x, y in adjacency.pairs(domain, size)), default=0.0)


def local_sensitivity(
    query: Query,
    data: Rows,
    domain: Rows,
    adjacency: Adjacency = REPLACE_ONE,
    *,
    norm: float = 1,
    smallest: int = 0,
) -> float:
    """The farthest that one step from this dataset moves the answer (to at least `smallest` rows).

    >>> local_sensitivity(max, (0, 1, 5), (0, 1, 5))
    4.0
    """
    one_of("adjacency", adjacency, (ADD_REMOVE, REPLACE_ONE))
    near = (y for y in adjacency.enumerate(data, domain) if len(y) >= smallest)
    return max((_gap(query, rows("data", data), y, norm) for y in near), default=0.0)


def local_at_distance(
    query: Query,
    data: Rows,
    distance: int,
    domain: Rows,
    adjacency: Adjacency = REPLACE_ONE,
    *,
    norm: float = 1,
    smallest: int = 0,
) -> float:
    """The largest local sensitivity of a dataset at most `distance` steps away.

    >>> [local_at_distance(max, (5, 5, 5), t, (0, 5)) for t in (0, 1, 2)]
    [0.0, 0.0, 5.0]
    """
    reach = whole("distance", distance, 0)
    every = _ball(data, domain, adjacency, reach, smallest)
    return max(local_sensitivity(query, y, domain, adjacency, norm=norm, smallest=smallest) for _, y in every)


def smooth_sensitivity(
    query: Query,
    data: Rows,
    beta: float,
    domain: Rows,
    adjacency: Adjacency = REPLACE_ONE,
    *,
    reach: int | None = None,
    norm: float = 1,
    smallest: int = 0,
) -> float:
    """max of e^{-beta d(D, D')} LS(D') over all D' (under add/remove: over those within `reach`).

    >>> round(smooth_sensitivity(max, (5, 5, 5), 0.5, (0, 5)), 6)  # 5 e^{-1}
    1.839397
    """
    positive("beta", number("beta", beta))
    if reach is None:
        if adjacency is not REPLACE_ONE:
            fix = "give reach; farther datasets count for at most e^{-beta (reach+1)} times the global one."
            reject("reach", reach, "given under add/remove, where datasets of every size are near", fix)
        reach = len(rows("data", data))
    every = _ball(data, domain, adjacency, reach, smallest)
    return max(
        math.exp(-beta * t) * local_sensitivity(query, y, domain, adjacency, norm=norm, smallest=smallest)
        for t, y in every
    )


def _ball(
    data: Rows, domain: Rows, adjacency: Adjacency, reach: int, smallest: int
) -> Iterator[tuple[int, Dataset]]:
    """Every dataset within `reach` steps and its distance, nearest first, each multiset once."""
    place = {row: i for i, row in enumerate(rows("domain", domain))}
    level = [rows("data", data)]
    adjacency.enumerate(data, domain)  # refuses rows that are not in the domain
    seen = {tuple(sorted(level[0], key=place.__getitem__))}
    for t in range(reach + 1):
        yield from ((t, y) for y in level)
        found: dict[Dataset, None] = {}
        if t < reach:
            for y in level:
                near = (tuple(sorted(z, key=place.__getitem__)) for z in adjacency.enumerate(y, domain))
                found |= {z: None for z in near if len(z) >= smallest and z not in seen}
        seen |= found.keys()
        if len(seen) > LIMIT:
            reject("reach", reach, f"small enough for {LIMIT} datasets", "use a smaller domain or reach.")
        level = list(found)


def _gap(query: Query, x: Dataset, y: Dataset, norm: float) -> float:
    one_of("norm", norm, (1, 2, math.inf))
    answers = numeric("the query's answers", [query(x), query(y)])
    return float(np.linalg.norm(np.atleast_1d(answers[0] - answers[1]), norm))
