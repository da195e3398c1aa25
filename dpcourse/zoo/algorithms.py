"""The algorithms of the zoo: sparse vector, smooth sensitivity, k-means, tables, many queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dpcourse.algorithms import ranking, smooth
from dpcourse.algorithms.aggregate import sample_and_aggregate
from dpcourse.algorithms.kmeans import unsound as kmeans_traps
from dpcourse.algorithms.net import NetMechanism
from dpcourse.attacks.floating_point import TextbookLaplace
from dpcourse.contract import Case
from dpcourse.guarantees import PureDP
from dpcourse.interactive import sparse_vector as sv
from dpcourse.interactive.table import Agent, Answer, PrivateTable, col
from dpcourse.interactive.weights import Epoch, SameNoiseEpoch
from dpcourse.laws import Laplace, Law
from dpcourse.mechanisms import Custom, LaplaceMechanism, Mechanism, Parallel
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency
from dpcourse.sensitivity import median

_MEDIAN: Final = median(3, low=0, high=1)
_MEDIANS: Final = (((0, 0, 0), (0, 0, 1)), ((0, 0, 1), (0, 1, 1)), ((0, 0.5, 1), (0, 0, 1)))
_STREAMS: Final = (((0, 1, 0), (1, 0, 1)), ((2, -3, 1), (3, -2, 0)))


def sound() -> list[Case]:
    """The published algorithms, as corrected."""
    values = sv.Watched(sv.SparseVector(sv.standard(1.0, 2, answers=0.3)), (False, (0.0, 2.0)))
    rising = ((100,) * 9 + (-100,), (101,) * 9 + (-101,))
    monotone = sv.SparseVector(sv.standard(1.0, 2, monotone=True))
    return [
        Case("sparse vector", sv.SparseVector(sv.standard(1.0, 2)), _STREAMS),
        Case("sparse vector, long", sv.SparseVector(sv.above_threshold(1.0)), (rising,), tight=True),
        Case("sparse vector, monotone", monotone, (((0, 1, 0), (1, 2, 1)),)),
        Case("sparse vector, refreshed", sv.SparseVector(sv.refreshed(1.0, 2)), _STREAMS),
        Case("sparse vector, values", values, (((0, 1), (1, 0)),)),
        Case("smooth Laplace", smooth.SmoothLaplace(_MEDIAN, 1.0, 1e-3), _MEDIANS),
        Case("smooth Cauchy", smooth.SmoothCauchy(_MEDIAN, 1.0, 4.0), _MEDIANS),
        Case("smooth Student", smooth.SmoothStudentT(_MEDIAN, 1.0, 3.0), _MEDIANS),
        *_tables(),
        Case(
            "sample and aggregate", sample_and_aggregate(max, 3, (0, 5), 1.0), ADD_REMOVE.pairs((0, 1, 5), 3)
        ),
        Case("net", NetMechanism(1.0, [[0.0, 1.0], [1.0, 0.5]], n=3, size=2), REPLACE_ONE.pairs((0, 1), 3)),
        Case("net, two far databases", _far_net(1.0, 60), (((0,) * 60, (0,) * 59 + (1,)),)),
        Case(
            "multiplicative weights, an epoch",
            Epoch([0.0] * 31, 60.0, 3.0, (51.0,)),
            (((70.0,) * 30 + (51.0,), (71.0,) * 30 + (50.0,)),),
            tight=True,
        ),
    ]


def broken() -> list[Case]:
    """The same with the mistakes that were published, or that people make."""
    tested = sv.Watched(sv.SparseVector(sv.roth_2011(1.0)), ((False,) * 5) + ((-2, 1),))
    return [
        Case("sparse vector, tested value released", tested, (((0,) * 6, (1,) * 5 + (0,)),)),
        _stream(
            "noise not scaled by the cutoff", sv.lee_clifton(1.0, 3), (0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)
        ),
        _stream("no query noise", sv.stoddard(1.0), (0, 1), (1, 0)),
        _stream("no cutoff", sv.chen(1.0), (0, 0, 0, 0), (1, 1, -1, -1)),
        _stream("exact threshold", sv.exact_threshold(1.0), (0,) * 6, (1,) * 6),
        _stream("threshold redrawn", sv.redrawn_threshold(1.0), (0,) * 8, (1,) * 8),
        _stream("factor two missing", sv.missing_factor_two(1.0), (9,) * 8 + (-9,), (10,) * 8 + (-10,)),
        _stream("cutoff off by two", sv.late_cutoff(1.0), (9,) * 9 + (-9,) * 2, (10,) * 9 + (-10,) * 2),
        Case("smooth Laplace, claimed pure", smooth.NaiveSmoothLaplace(_MEDIAN, 0.5), _MEDIANS[:1]),
        Case(
            "noise of local sensitivity",
            smooth.LocalLaplace(median(5, 0, 10), 1.0),
            (((0,) * 4 + (10,), (0,) * 3 + (10,) * 2),),
        ),
        *(Case(f"k-means, {t.name}", t.mechanism, ((t.left, t.right),)) for t in kmeans_traps.traps()),
        Case("winning value released", ranking.WinningValue(1.0, monotone=True), (((0, 0, 0), (1, 1, 1)),)),
        Case("textbook Laplace in few bits", _few_bits(), ((0, 1),)),
        Case("parts charged as under add/remove", _cheap_parts(), REPLACE_ONE.pairs((0, 1), 2)),
        Case(
            "blocks by position",
            Custom(_blocks_by_position, PureDP(1.0)),
            (((0, 0, 5, 0, 0, 0, 0), (5, 0, 0, 5, 0, 0, 0, 0)),),
        ),
        Case(
            "net without the half in the exponent",
            Custom(_far_net(2.0, 20).law, PureDP(1.0, adjacency=REPLACE_ONE)),
            (((0,) * 20, (0,) * 19 + (1,)),),
        ),
        Case(
            "multiplicative weights, tested value released",
            SameNoiseEpoch([0.0] * 11, 4.0, 3.0, (-6.0, 0.0, 4.0, 6.0)),
            (((5.0,) * 11, (6.0,) * 10 + (4.0,)),),
        ),
    ]


def _stream(name: str, variant: Any, left: tuple[int, ...], right: tuple[int, ...]) -> Case:
    return Case(f"sparse vector, {name}", sv.SparseVector(variant), ((left, right),))


def _few_bits() -> Custom:
    """Noise by inversion of a 10-bit uniform: most outputs are possible from one input only."""
    noise = TextbookLaplace(1.0, bits=10)
    return Custom(noise.law, PureDP(1.0), lambda a, b: abs(a - b) <= 1)


_PEOPLE: Final = tuple((group, value) for group in "xy" for value in (-2, 3))


def _tables() -> list[Case]:
    """Queries to a private table, as mechanisms on its rows."""

    def total(table: PrivateTable, rng: np.random.Generator) -> Answer:
        return table.where(col("group") == "x").noisy_sum("value", 0.5, rng, bounds=(-2, 3))

    def mean(table: PrivateTable, rng: np.random.Generator) -> Answer:
        return table.noisy_mean("value", 0.5, rng, bounds=(-2, 3))

    def median_of(table: PrivateTable, rng: np.random.Generator) -> Answer:
        return table.noisy_median("value", 0.5, rng, candidates=(-1, 0, 1))

    def joined(table: PrivateTable, rng: np.random.Generator) -> Answer:
        return table.join(table.select("group"), "group", k=2).noisy_count(0.25, rng)

    return [
        _table("sum of a where", ADD_REMOVE, total, tight=True),
        _table("sum of a where, replace-one", REPLACE_ONE, total, tight=True),
        _table("mean", ADD_REMOVE, mean),
        _table("mean of a public size", REPLACE_ONE, mean, tight=True),
        _table("median", ADD_REMOVE, median_of),
        _table("count of a join", ADD_REMOVE, joined),
    ]


def _table(name: str, adjacency: Adjacency, ask: Callable[..., Answer], tight: bool = False) -> Case:
    table = PrivateTable({"group": ["x"], "value": [0]}, Agent(10, adjacency=adjacency))
    mechanism: Mechanism = ask(table, np.random.default_rng(0)).mechanism
    return Case(f"table, {name}", mechanism, adjacency.pairs(_PEOPLE, 2), tight)


def _far_net(epsilon: float, n: int) -> NetMechanism:
    """A net of two databases, all zeros and all ones."""
    return NetMechanism(epsilon, [[0, 1]], n=n, net=[(0,), (1,)])


def _cheap_parts() -> Custom:
    """Two counts side by side, charged as if a replaced row touched only one of them."""
    counts = Parallel(lambda row: row, {v: LaplaceMechanism(0.5, query=len) for v in (0, 1)})
    return Custom(counts.law, PureDP(0.5, adjacency=REPLACE_ONE))


def _blocks_by_position(data: Any) -> Law:
    """Sample and aggregate with blocks by place: one row more moves every row after it."""
    blocks = np.array_split(np.array(data), 3)
    return Laplace(float(np.mean([block[0] for block in blocks])), 5 / 3)
