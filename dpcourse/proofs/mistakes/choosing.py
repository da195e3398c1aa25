"""Errata of private k-means and of selection."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dpcourse.proofs.chapters import lloyd, selection
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, fractions, log, where
from dpcourse.proofs.mistakes.base import Erratum, claim, dropped
from dpcourse.proofs.mistakes.basics import EPSILON
from dpcourse.proofs.objects import col
from dpcourse.proofs.scalars import Real, Whole
from dpcourse.proofs.steps import Term

# k-means -----------------------------------------------------------------------------------------

SCALING: Final = Domain({"n": Whole(1, 200), "near": Whole(1, 10), "far": Whole(1, 100)})


def _scaled_sums(largest: Any) -> Term:
    """The sum of n points at `near` after division by a bound, without and with a point at `far`."""
    return Term(
        r"\big|\sum_i x_i/B-\sum_i x'_i/B'\big|",
        lambda v: abs(
            fractions(v.n * v.near, largest(v)[0]) - fractions(v.n * v.near + v.far, largest(v)[1])
        ),
    )


DATA_BOUND = _scaled_sums(lambda v: (v.near, np.maximum(v.near, v.far)))
PUBLIC_BOUND = _scaled_sums(lambda v: (100, 100))
ONE = Term("1", lambda v: 0 * v.n + 1)
FULL_SHARE = Term(
    r"\ln\frac{p_D(y)}{p_{D'}(y)},\ \text{scales }T/\varepsilon",
    lambda v: v.epsilon * (v.count_loss + v.sum_loss).sum(-1) / (lloyd.ROUNDS * lloyd.UNIT),
)

# Selection ---------------------------------------------------------------------------------------

FULL_WEIGHT: Final = Domain(
    dict(selection.EXPONENTIAL_DOMAIN.parameters),
    lambda v: {
        "w": (a := col(v.root) ** (2 * v.scores)),
        "w2": (b := col(v.root) ** (2 * (v.scores + v.move))),
        "Z": a.sum(-1),
        "Z2": b.sum(-1),
    },
)
VALUES: Final = Domain(
    {"epsilon": Real(0.1, 4.0, log=True), "m": Whole(1, 50, log=True), "v": Real(-10.0, 10.0)},
)


def _value_density(v: Any, shift: int) -> Any:
    """ln of the density of "candidate 1 wins with noisy count v", when all m counts are `shift`."""
    x = v.v - shift
    half = exp(-v.epsilon * abs(x)) / 2
    below = where(x.lower < 0, half, 1 - half)
    return log(v.epsilon / 2) - v.epsilon * abs(x) + (v.m - 1) * log(below)


VALUE_LOSS = Term(r"\ln\frac{p_D(i,v)}{p_{D'}(i,v)}", lambda v: _value_density(v, 0) - _value_density(v, 1))


ERRATA: Final = (
    Erratum(
        "k-means-ball",
        dropped("points outside the l1 ball", lloyd.LLOYD, "points in the l1 ball"),
        lloyd.LLOYD,
        "noise of scale 1/eps' for points in another ball",
        "the sums need l1 norm at most 1 (the l2 ball costs a factor sqrt(d))",
    ),
    Erratum(
        "k-means-adjacency",
        dropped("k-means when a point is replaced", lloyd.LLOYD, "adjacency"),
        lloyd.LLOYD,
        "eps-DP when a point is replaced",
        "2 eps; eps if a point is added or removed",
    ),
    Erratum(
        "k-means-budget",
        claim(
            "both releases with eps/T",
            FULL_SHARE,
            "<=",
            EPSILON,
            lloyd.LLOYD_DOMAIN,
            "eps/T for each iteration",
        ),
        lloyd.LLOYD,
        "give each iteration eps/T, for the counts and for the sums",
        "an iteration has two releases: eps/(2T) each",
    ),
    Erratum(
        "k-means-scaling",
        claim(
            "points divided by the largest", DATA_BOUND, "<=", ONE, SCALING, "then all norms are at most 1"
        ),
        claim(
            "points divided by a public bound",
            PUBLIC_BOUND,
            "<=",
            ONE,
            SCALING,
            "one point more adds at most 1",
        ),
        "rescale the points by the largest norm in the data",
        "by a public bound: one outlier would move all the others",
    ),
    Erratum(
        "noisy-max-swap",
        dropped("noisy max with noise 1/eps, any scores", selection.NOISY_MAX_MONOTONE, "monotone scores"),
        selection.NOISY_MAX,
        "report noisy max with Lap(1/eps) is eps-DP",
        "for counts that all move the same way; in general it needs Lap(2/eps)",
    ),
    Erratum(
        "noisy-max-value",
        claim("the winner and its noisy count", VALUE_LOSS, "<=", EPSILON, VALUES, "the index is eps-DP"),
        selection.NOISY_MAX_MONOTONE,
        "the winning noisy count may be released as well",
        "only the index; the value tells m eps when all m counts move",
    ),
    Erratum(
        "exponential-factor-two",
        claim("weights e^{eps q}", selection.CHANCE, "<=", selection.WHOLE, FULL_WEIGHT, "as printed"),
        selection.EXPONENTIAL,
        "Pr[y] proportional to e^{eps q(y)} is eps-DP for scores of sensitivity 1",
        "e^{eps q/2}; the normaliser moves too (eps suffices only for monotone scores)",
    ),
)
