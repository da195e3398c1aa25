"""Errata of advanced composition: formulas that randomized response refutes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from dpcourse.proofs.chapters import divergence
from dpcourse.proofs.chapters.repeated import response_delta
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, expm1, log, sqrt, tanh
from dpcourse.proofs.mistakes.base import Erratum, claim
from dpcourse.proofs.scalars import Rational, Real, Whole
from dpcourse.proofs.steps import Term

STEPS: Final = {
    "epsilon": Real(0.01, 2.0, log=True),
    "k": Whole(1, 2000, log=True),
    "slack": Real(1e-9, 0.5, log=True),
}
RESPONSES: Final = Domain(STEPS)
SLACK = Term(r"\delta'", lambda v: v.slack)


def radius(v: Any, slack: Any) -> Any:
    """eps sqrt(2k ln(1/delta'))."""
    return v.epsilon * sqrt(2 * v.k * log(1 / slack))


def exact(total: Any, latex: str) -> Term:
    """The exact delta of k rounds of randomized response at the eps' that a formula gives."""
    return Term(
        rf"\delta_k(\varepsilon'),\ \varepsilon'={latex}", lambda v: response_delta(v.k, v.epsilon, total(v))
    )


ROOT = r"\varepsilon\sqrt{2k\ln\tfrac1{\delta'}}"
CLASSIC = exact(
    lambda v: radius(v, v.slack) + v.k * v.epsilon * expm1(v.epsilon),
    ROOT + r"+k\varepsilon(e^{\varepsilon}-1)",
)
OF_SLACK = exact(
    lambda v: radius(v, v.slack) + v.k * v.epsilon * expm1(v.slack), ROOT + r"+k\varepsilon(e^{\delta'}-1)"
)
NO_TWO = exact(
    lambda v: radius(v, v.slack) / sqrt(2) + v.k * v.epsilon * expm1(v.epsilon),
    r"\varepsilon\sqrt{k\ln\tfrac1{\delta'}}+k\varepsilon(e^{\varepsilon}-1)",
)
NO_MEAN = exact(lambda v: radius(v, v.slack), ROOT)
HALF_SQUARE = exact(lambda v: radius(v, v.slack) + v.k * v.epsilon**2 / 2, ROOT + r"+\tfrac k2\varepsilon^2")

LEAKY: Final = Domain(STEPS | {"delta": Real(1e-10, 0.9, log=True), "slack": Real(1e-14, 0.5, log=True)})


def _leaky(log_of: Any, latex: str) -> Term:
    """k rounds of the canonical (eps, delta)-DP step: 1 - (1-delta)^k (1 - delta_k(eps'))."""

    def value(v: Any) -> Any:
        total = radius(v, log_of(v)) + v.k * v.epsilon * tanh(v.epsilon / 2)
        inside = response_delta(v.k, v.epsilon, total)
        rest = -expm1(v.k * log(1 - v.delta))  # 1 - (1-delta)^k
        return rest + (1 - rest) * inside

    return Term(
        rf"\delta_k\big(\varepsilon\sqrt{{2k\ln{latex}}}+k\varepsilon\tanh\tfrac\varepsilon2\big)", value
    )


TOTAL = Term(r"k\delta+\delta'", lambda v: v.k * v.delta + v.slack)
ONE_EPSILON: Final = Domain({"epsilon": Real(0.01, 1.0, log=True)})
HALF = Term(r"\varepsilon/2", lambda v: v.epsilon / 2)
NOISE: Final = Domain({"k": Whole(2, 10_000, log=True), "slack": Real(1e-9, 0.1, log=True)})
ROOT_SAVING = Term(r"\sqrt{K/(2\ln\tfrac1\delta)}", lambda v: sqrt(v.k / (2 * log(1 / v.slack))))


ERRATA: Final = (
    Erratum(
        "advanced-wrong-delta",
        claim(
            "ln(1/delta) instead of ln(1/delta')",
            _leaky(lambda v: v.delta, r"\tfrac1\delta"),
            "<=",
            TOTAL,
            LEAKY,
            "as printed",
        ),
        claim(
            "ln(1/delta')",
            _leaky(lambda v: v.slack, r"\tfrac1{\delta'}"),
            "<=",
            TOTAL,
            LEAKY,
            "advanced composition",
        ),
        "eps sqrt(2k ln(1/delta)) + k eps tanh(eps/2) with the delta of the steps",
        "the logarithm is of the slack delta'",
    ),
    Erratum(
        "advanced-exp-delta",
        claim("e^{delta'} - 1 in the mean", OF_SLACK, "<=", SLACK, RESPONSES, "as printed"),
        claim("e^eps - 1 in the mean", CLASSIC, "<=", SLACK, RESPONSES, "advanced composition"),
        "eps' = eps sqrt(2k ln(1/delta')) + k eps (e^{delta'} - 1)",
        "k eps (e^eps - 1): the mean loss has nothing to do with delta'",
    ),
    Erratum(
        "advanced-missing-two",
        claim("no 2 under the root", NO_TWO, "<=", SLACK, RESPONSES, "as printed"),
        claim("2 under the root", CLASSIC, "<=", SLACK, RESPONSES, "Azuma with steps of size eps"),
        "eps' = eps sqrt(k ln(1/delta')) + k eps (e^eps - 1)",
        "sqrt(2k ln(1/delta'))",
    ),
    Erratum(
        "advanced-without-mean",
        claim("eps' = eps sqrt(2k ln(1/delta'))", NO_MEAN, "<=", SLACK, RESPONSES, "sqrt(k) instead of k"),
        claim("with k eps^2/2", HALF_SQUARE, "<=", SLACK, RESPONSES, "by way of zCDP"),
        "k rounds cost eps sqrt(2k ln(1/delta'))",
        "the mean term k eps^2/2 may be left out only while k < 1/eps^2",
    ),
    Erratum(
        "mean-loss-approximation",
        claim(
            "(e^eps - 1)/eps^2",
            Term(r"\frac{e^{\varepsilon}-1}{\varepsilon^2}", lambda v: expm1(v.epsilon) / v.epsilon**2),
            "<=",
            HALF,
            ONE_EPSILON,
            "as printed",
        ),
        claim(
            "(e^eps - 1)/(e^eps + 1)",
            Term(
                r"\frac{e^{\varepsilon}-1}{e^{\varepsilon}+1}",
                lambda v: expm1(v.epsilon) / (exp(v.epsilon) + 1),
            ),
            "<=",
            HALF,
            ONE_EPSILON,
            "it is tanh(eps/2)",
        ),
        "(e^eps - 1)/eps^2 is about eps/2",
        "(e^eps - 1)/(e^eps + 1) = tanh(eps/2) is",
    ),
    Erratum(
        "mean-loss-square",
        claim(
            "eps (e^eps - 1) is at most eps^2",
            divergence.CLASSIC_MEAN,
            "<=",
            divergence.SQUARE,
            Domain({"ratio": Rational(Fraction(17, 16), 8)}, lambda v: {"epsilon": log(v.ratio)}),
            "approximately",
        ),
        divergence.KL_TANH,
        "the KL lemma with eps (e^eps - 1), approximated by eps^2, gives K eps^2",
        "eps^2 is below eps (e^eps - 1); the lemma with eps tanh(eps/2) gives even K eps^2/2",
    ),
    Erratum(
        "variance-saving",
        claim(
            "the variance falls by sqrt(K/...)",
            Term(
                r"\frac{(K/\varepsilon)^2}{2K\ln(1/\delta)/\varepsilon^2}",
                lambda v: v.k / (2 * log(1 / v.slack)),
            ),
            "=",
            ROOT_SAVING,
            NOISE,
            "as printed",
        ),
        claim(
            "the scale falls by sqrt(K/...)",
            Term(
                r"\frac{K/\varepsilon}{\sqrt{2K\ln(1/\delta)}/\varepsilon}",
                lambda v: v.k / sqrt(2 * v.k * log(1 / v.slack)),
            ),
            "=",
            ROOT_SAVING,
            NOISE,
            "divide the scales",
        ),
        "advanced composition makes the variance smaller by sqrt(K) (up to logarithms)",
        "the scale by sqrt(K), the variance by K",
    ),
)
