"""Private k-means: a few rounds of noisy counts and noisy sums."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.lists import Many
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Whole
from dpcourse.proofs.steps import Step, Term

UNIT: Final = 8  # a coordinate of 8 is the number 1
CLUSTERS, PLANE, ROUNDS = 2, 2, 2


def _one_point(v: Any) -> Any:
    """The point that D' has and D has not, moved into the l1 ball of radius UNIT."""
    first = v.point[:, 0]
    rest = UNIT - abs(first)
    return np.stack([first, np.clip(v.point[:, 1], -rest, rest)], 1)


def lloyd(v: Any, points: list[Any]) -> dict[str, Any]:
    """Loss of the counts and of the sums in each round: the noise sees its centre move by one point."""
    home = v.cluster[:, :, None] == np.arange(CLUSTERS)  # (point, round, cluster)
    counts = v.count_noise.reshape(-1, ROUNDS, CLUSTERS)
    sums = v.sum_noise.reshape(-1, ROUNDS, CLUSTERS, PLANE)
    count_shift, sum_shift = 0 * counts, 0 * sums
    for sign, point in zip((1, -1), points, strict=False):
        where_to = home if sign == 1 else home[:, :, ::-1]
        count_shift = count_shift + sign * where_to * UNIT
        sum_shift = sum_shift + sign * where_to[..., None] * point[:, None, None, :]
    return {
        "count_loss": (abs(counts - count_shift) - abs(counts)).sum(-1),
        "count_move": abs(count_shift).sum(-1),
        "sum_loss": (abs(sums - sum_shift) - abs(sums)).sum(-1).sum(-1),
        "sum_move": abs(sum_shift).sum(-1).sum(-1),
    }


def _share(v: Any, whole: Any) -> Any:
    """eps' = eps/(2T) for each unit of l1 distance."""
    return v.epsilon * whole / (2 * ROUNDS * UNIT)


LLOYD_LOSS = Term(
    r"\ln\frac{p_D(y)}{p_{D'}(y)}",
    lambda v: _share(v, v.count_loss.sum(-1)) + _share(v, v.sum_loss.sum(-1)),
)
LLOYD_MOVES = Term(
    r"\varepsilon'\sum_{t\le T}\big(\|n-n'\|_1+\|a-a'\|_1\big)",
    lambda v: _share(v, (v.count_move + v.sum_move).sum(-1)),
)
LLOYD_TWO = Term(r"T\cdot2\varepsilon'", lambda v: _share(v, 2 * UNIT * ROUNDS))
LLOYD_EPSILON = Term(r"\varepsilon", lambda v: v.epsilon)
LLOYD_DOMAIN: Final = Domain(
    {
        "epsilon": Rational(Fraction(1, 16), 4),
        "point": Many(Whole(-UNIT, UNIT), PLANE),
        "second": Many(Whole(-UNIT, UNIT), PLANE),
        "cluster": Many(Whole(0, CLUSTERS - 1), ROUNDS),
        "count_noise": Many(Whole(-20, 20), ROUNDS * CLUSTERS),
        "sum_noise": Many(Whole(-20, 20), ROUNDS * CLUSTERS * PLANE),
    },
    lambda v: lloyd(v, [_one_point(v)]),
)
LLOYD: Final = Proof(
    "private-lloyd",
    Step("statement", LLOYD_LOSS, "<=", LLOYD_EPSILON, "T rounds, two Laplace releases each"),
    LLOYD_DOMAIN,
    (
        Step(
            "counts",
            Term(r"\|n-n'\|_1", lambda v: v.count_move),
            "<=",
            Term("1", lambda v: 0 * v.count_move + UNIT),
            "the counts are a histogram: one point more changes one of them by 1",
            lemma=True,
        ),
        Step(
            "sums",
            Term(r"\|a-a'\|_1", lambda v: v.sum_move),
            "<=",
            Term("1", lambda v: 0 * v.sum_move + UNIT),
            "one point more adds a vector of l1 norm at most 1 to one sum",
            lemma=True,
        ),
        Step("triangle", LLOYD_LOSS, "<=", LLOYD_MOVES, "Laplace noise of scale 1/eps' on counts and sums"),
        Step("sensitivities", LLOYD_MOVES, "<=", LLOYD_TWO, "in each round", uses=("counts", "sums")),
        Step("budget", LLOYD_TWO, "=", LLOYD_EPSILON, "eps' = eps/(2T)"),
    ),
    "Blum, Dwork, McSherry and Nissim, PODS 2005",
    {
        "points in the l1 ball": replace(LLOYD_DOMAIN, build=lambda v: lloyd(v, [v.point])),
        "adjacency": replace(LLOYD_DOMAIN, build=lambda v: lloyd(v, [_one_point(v), _one_point(v)])),
    },
)
PROOFS: Final = (LLOYD,)
