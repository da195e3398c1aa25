"""Errata of the definition itself, and of the sensitivity of a mean."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dpcourse.proofs.chapters.selection import upper_tail
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import fractions
from dpcourse.proofs.mistakes.base import Erratum, claim
from dpcourse.proofs.scalars import Rational, Whole
from dpcourse.proofs.steps import Term

INTERVALS: Final = Domain(
    {"ratio": Rational(1, 8), "a": Whole(-6, 6), "length": Whole(1, 6), "width": Whole(1, 6)}
)
"""Outputs in [a, a + length]; the true answers of the neighbours are 0 and 1."""


def _uniform(v: Any, answer: int) -> Any:
    """Pr[answer + U(0, width) in the interval]."""
    low, high = np.maximum(v.a - answer, 0), np.minimum(v.a + v.length - answer, v.width)
    return fractions(np.maximum(high - low, 0), v.width)


def _laplace(v: Any, answer: int) -> Any:
    """Pr[answer + Laplace(1/eps) in the interval]."""
    ends = np.stack([v.a, v.a + v.length], 1) - answer
    tails = upper_tail(v.ratio, ends)
    return tails[:, 0] - tails[:, 1]


def _inside(noise: Any, name: str) -> tuple[Term, Term]:
    here = Term(rf"\Pr[0+\mathrm{{{name}}}\in I]", lambda v: noise(v, 0))
    return here, Term(rf"e^{{\varepsilon}}\Pr[1+\mathrm{{{name}}}\in I]", lambda v: v.ratio * noise(v, 1))


UNIFORM, LAPLACE = _inside(_uniform, "U"), _inside(_laplace, "Lap")

ROWS: Final = Domain(
    {"n": Whole(1, 100, log=True), "B": Rational(1, 100), "row": Rational(0, 1), "other": Rational(0, 1)}
)
"""One of n rows in [0, B] changes from B row to B other."""
MEAN_MOVE = Term(r"|\bar x-\bar x'|", lambda v: v.B * abs(v.row - v.other) / v.n)

ERRATA: Final = (
    Erratum(
        "points-of-a-density",
        claim(
            "point by point, for a density",
            UNIFORM[0],
            "<=",
            UNIFORM[1],
            INTERVALS,
            "Pr[M(x) = y] = 0 <= e^eps 0 for every y",
        ),
        claim(
            "the ratio of the densities",
            LAPLACE[0],
            "<=",
            LAPLACE[1],
            INTERVALS,
            "the density at y falls by at most e^eps; integrate over the interval",
        ),
        "it is enough to compare Pr[M(x) = y] with Pr[M(x') = y] for every y",
        "true for discrete outputs; of a density compare the values, since single points have probability 0",
    ),
    Erratum(
        "mean-range",
        claim(
            "the mean moves by at most 1/n",
            MEAN_MOVE,
            "<=",
            Term(r"\tfrac1n", lambda v: fractions(1, v.n)),
            ROWS,
            "whatever the rows are",
        ),
        claim(
            "the mean moves by at most B/n",
            MEAN_MOVE,
            "<=",
            Term(r"\tfrac Bn", lambda v: v.B / v.n),
            ROWS,
            "rows in [0, B]",
        ),
        "the average has global sensitivity 1/n",
        "B/n for rows in [0, B], with n public and a row replaced",
    ),
)
