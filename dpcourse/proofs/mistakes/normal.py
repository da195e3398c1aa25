"""Errata of the Gaussian mechanism."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from dpcourse.proofs.chapters import gaussian
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import log, minimum, sqrt
from dpcourse.proofs.mistakes.base import Erratum, claim, dropped
from dpcourse.proofs.scalars import Real, Whole
from dpcourse.proofs.steps import Term

# Gaussian noise ------------------------------------------------------------------------------------

WIDE: Final = Domain({"epsilon": Real(0.01, 30.0, log=True), "delta": Real(1e-9, 0.5, log=True)})
DELTA = Term(r"\delta", lambda v: v.delta)


def _noise(latex: str, mu: Any) -> Term:
    """The exact delta of Gaussian noise with Delta/sigma = mu."""
    return Term(rf"\delta(\varepsilon),\ \sigma={latex}", lambda v: gaussian.gaussian_delta(mu(v), v.epsilon))


def _c(v: Any, numerator: float) -> Any:
    return sqrt(2 * log(numerator / v.delta))


TWO_OVER = _noise(r"\sqrt{2\ln(2/\delta)}\Delta/\varepsilon", lambda v: v.epsilon / _c(v, 2))
TWO_OVER_SMALL = _noise(
    r"\sqrt{2\ln(2/\delta)}\Delta/\min(\varepsilon,1)", lambda v: minimum(v.epsilon, 1) / _c(v, 2)
)
SMALL_EPSILON: Final = Domain({"epsilon": Real(0.01, 1.0, log=True), "delta": Real(1e-9, 0.5, log=True)})
VARIANCE = _noise(r"\sqrt{c\Delta/\varepsilon}", lambda v: sqrt(v.epsilon / _c(v, 1.25)))
LARGE_DELTA: Final = Domain({"epsilon": Real(0.01, 1.0, log=True), "delta": Real(0.5, 0.999)})
ONE_OVER = _noise(r"\sqrt{2\ln(1/\delta)}\Delta/\varepsilon", lambda v: v.epsilon / _c(v, 1))
CLASSIC = _noise(r"\sqrt{2\ln(1.25/\delta)}\Delta/\varepsilon", lambda v: v.epsilon / _c(v, 1.25))
DIMENSION: Final = Domain({"K": Whole(1, 200, log=True), "delta": Real(1e-9, 0.1, log=True)})
GAUSS_ERROR = Term(r"K\sqrt{2\ln(1.25/\delta)}", lambda v: v.K * _c(v, 1.25))
LAPLACE_ERROR = Term(r"\sqrt2\,K^{3/2}", lambda v: sqrt(2) * v.K * sqrt(v.K))
HIGH_DIMENSION: Final = replace(DIMENSION, fits=lambda v: np.log(1.25 / v.delta) + 1e-9 < v.K)


ERRATA: Final = (
    Erratum(
        "gaussian-any-epsilon",
        dropped("the classic constant for eps above 1", gaussian.GAUSSIAN, "eps at most 1"),
        gaussian.GAUSSIAN,
        "sigma = sqrt(2 ln(1.25/delta)) Delta/eps for every eps",
        "proved for eps <= 1; it fails from eps = 5.7 (delta = 0.1) or 8.8 (1e-6) on",
    ),
    Erratum(
        "gaussian-two-over-delta",
        claim("sqrt(2 ln(2/delta)) for every eps", TWO_OVER, "<=", DELTA, WIDE, "no condition on eps"),
        claim(
            "sqrt(2 ln(2/delta)) for eps up to 1",
            TWO_OVER_SMALL,
            "<=",
            DELTA,
            WIDE,
            "noise as for eps = 1 at least",
        ),
        "sigma = sqrt(2 ln(2/delta)) Delta/eps, no condition on eps",
        "valid for eps <= 1; it fails from eps = 7.9 (delta = 0.01) or 9.7 (1e-6) on",
    ),
    Erratum(
        "gaussian-variance",
        claim(
            "c Delta/eps as the variance", VARIANCE, "<=", DELTA, SMALL_EPSILON, "parameter b adds variance b"
        ),
        claim("c Delta/eps as the deviation", CLASSIC, "<=", DELTA, SMALL_EPSILON, "the classic constant"),
        "noise of variance c Delta/eps",
        "of standard deviation c Delta/eps",
    ),
    Erratum(
        "gaussian-one-over-delta",
        claim("sqrt(2 ln(1/delta))", ONE_OVER, "<=", DELTA, LARGE_DELTA, "eps at most 1"),
        claim("sqrt(2 ln(1.25/delta))", CLASSIC, "<=", DELTA, LARGE_DELTA, "eps at most 1"),
        "sigma = sqrt(2 ln(1/delta)) Delta/eps",
        "1.25/delta to be safe; 1/delta fails for delta near 1",
    ),
    Erratum(
        "gaussian-always-better",
        claim(
            "Gaussian error below Laplace error",
            GAUSS_ERROR,
            "<=",
            LAPLACE_ERROR,
            DIMENSION,
            "K instead of K^{3/2}",
        ),
        claim(
            "for K above ln(1.25/delta)",
            GAUSS_ERROR,
            "<=",
            LAPLACE_ERROR,
            HIGH_DIMENSION,
            "compare the roots",
        ),
        "Gaussian noise has a smaller l2 error than Laplace noise",
        "if K is above ln(1.25/delta); for few coordinates Laplace wins",
    ),
)
