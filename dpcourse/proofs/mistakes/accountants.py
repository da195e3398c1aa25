"""Errata about accountants: rounding the wrong way, and a limit that is taken for a bound."""

from __future__ import annotations

from typing import Any, Final

from dpcourse.proofs.chapters import rounding
from dpcourse.proofs.chapters.gaussian import gaussian_delta
from dpcourse.proofs.chapters.repeated import response_delta
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, sqrt
from dpcourse.proofs.mistakes.base import Erratum, claim, dropped
from dpcourse.proofs.scalars import Real, Whole
from dpcourse.proofs.steps import Term


def _limit(v: Any) -> dict[str, Any]:
    """mu = 2 mean/deviation of k losses, and the error of Berry and Esseen's theorem."""
    h = 1 / (1 + exp(-v.epsilon0))
    root = exp(v.epsilon0 / 2)
    error = 0.56 * (h**2 + (1 - h) ** 2) / sqrt(v.k * h * (1 - h))
    return {"mu": sqrt(v.k) * (root - 1 / root), "error": error}


RESPONSES: Final = Domain(
    {
        "epsilon0": Real(0.05, 1.0, log=True),
        "k": Whole(10, 1000, log=True),
        "epsilon": Real(0.1, 20.0, log=True),
    },
    _limit,
)
EXACT = Term(r"\delta(\varepsilon)", lambda v: response_delta(v.k, v.epsilon0, v.epsilon))
LIMIT = Term(
    r"\delta_\mu(\varepsilon),\ \mu=2\sqrt k\sinh\tfrac{\varepsilon_0}2",
    lambda v: gaussian_delta(v.mu, v.epsilon),
)
WITH_ERROR = Term(
    r"\delta_\mu(\varepsilon)+(1+e^{\varepsilon})\gamma",
    lambda v: gaussian_delta(v.mu, v.epsilon) + (1 + exp(v.epsilon)) * v.error,
)

ERRATA: Final = (
    Erratum(
        "rounding-down",
        dropped("losses rounded down", rounding.SAFE, "rounded up"),
        rounding.SAFE,
        "a grid of width h is fine enough; it does not matter which way losses are rounded",
        "only rounding up gives a bound, and it costs up to k h in epsilon",
    ),
    Erratum(
        "rounding-nearest",
        dropped("losses rounded to the nearest point", rounding.SAFE, "not to the nearest"),
        rounding.SAFE,
        "rounding to the nearest grid point is the most accurate, so it is the best accountant",
        "it is closer to the truth on either side of it: an approximation, not a bound",
    ),
    Erratum(
        "central-limit-bound",
        claim("the Gaussian limit as a bound", EXACT, "<=", LIMIT, RESPONSES, "k is large"),
        claim("the Gaussian limit with its error", EXACT, "<=", WITH_ERROR, RESPONSES, "Berry and Esseen"),
        "many small losses add up to a Gaussian, so the composition is mu-GDP",
        "only up to an error gamma in both rates, which is far above any useful delta",
    ),
)
