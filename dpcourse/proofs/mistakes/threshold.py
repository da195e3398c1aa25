"""Errata of the sparse vector technique."""

from __future__ import annotations

from typing import Any, Final

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.chapters import sparse
from dpcourse.proofs.chapters.repeated import repeated_delta
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, sqrt
from dpcourse.proofs.mistakes.base import Erratum, claim
from dpcourse.proofs.mistakes.normal import DELTA
from dpcourse.proofs.scalars import Real, Whole
from dpcourse.proofs.steps import Term

# Sparse vector -------------------------------------------------------------------------------------

ENDLESS: Final = Domain({"m": Whole(1, 1_000_000, log=True), "delta": Real(1e-8, 1e-3, log=True)})


def _sigma(k: Any, delta: Any) -> Any:
    """8 sqrt(2 ln(2/delta) (4k + ln(2/delta)))."""
    loud = log(2 / delta)
    return 8 * sqrt(2 * loud * (4 * k + loud))


def _comparisons(v: Any) -> Any:
    """The delta at eps = 1 of the bits of m comparisons, fresh noise each; all queries at T, or at T - 1."""
    step = exp(-1 / _sigma(1, v.delta)) / 2
    return repeated_delta(v.m, Bracket.of(0.5) + 0 * step, step, 1 + 0 * step)


SIGMAS: Final = Domain({"k": Whole(1, 10_000, log=True), "delta": Real(1e-9, 0.1, log=True)})
AT_4K = Term(r"\sigma(4k)", lambda v: _sigma(4 * v.k, v.delta))
TESTED: Final = Domain({"epsilon": Real(0.1, 4.0, log=True), "m": Whole(1, 1000, log=True)})


def _tested(v: Any) -> Any:
    """ln of the density of (below^m, then the tested value 0), queries (0^m, 1) against (1^m, 0), T = 0.

    Both noises are Lap(2/eps). The threshold is at most 0, where the chance to stay below is e^{eps z/2}/2,
    so each density is the integral of e^{eps z (m+1)/2} times a power of e^{-eps/2}.
    """
    integral = log(v.epsilon / 4) - v.m * log(2) - log(v.epsilon * (v.m + 1) / 2)
    value = log(v.epsilon / 4)
    here = integral + value - v.epsilon / 2
    there = integral - v.m * v.epsilon / 2 + value
    return here - there


TESTED_LOSS = Term(r"\ln\frac{p_D(\bot^m,0)}{p_{D'}(\bot^m,0)}", _tested)
EPSILON = Term(r"\varepsilon", lambda v: v.epsilon)


ERRATA: Final = (
    Erratum(
        "sparse-no-halt",
        claim(
            "never halt",
            Term(r"\delta(1)\text{ of }m\text{ comparisons}", _comparisons),
            "<=",
            DELTA,
            ENDLESS,
            "only answers above cost",
        ),
        sparse.ABOVE_THRESHOLD,
        "fresh noise in every comparison, and any number of answers below the threshold are free",
        "halt, and keep the noise of the threshold: above-threshold",
    ),
    Erratum(
        "sparse-linear",
        claim(
            "sigma is linear in k",
            AT_4K,
            ">=",
            Term(r"4\sigma(k)", lambda v: 4 * _sigma(v.k, v.delta)),
            SIGMAS,
            "as printed",
        ),
        claim(
            "sigma grows like sqrt(k)",
            AT_4K,
            "<=",
            Term(r"2\sigma(k)", lambda v: 2 * _sigma(v.k, v.delta)),
            SIGMAS,
            "k is under the root",
        ),
        "8 sqrt(2 ln(2/delta)(4k + ln(2/delta)))/eps is linear in k",
        "it grows like sqrt(k); linear is the sparse vector with pure privacy",
    ),
    Erratum(
        "sparse-tested-value",
        claim(
            "release the tested value", TESTED_LOSS, "<=", EPSILON, TESTED, "one answer above, one payment"
        ),
        sparse.ABOVE_THRESHOLD,
        "the noisy value that was compared with the threshold may be released",
        "the loss is (m-1) eps/2: an answer needs fresh noise",
    ),
)
