"""The Gaussian mechanism with the classic constant, sigma = Delta sqrt(2 ln(1.25/delta))/eps for eps <= 1."""

from __future__ import annotations

from typing import Any, Final

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, normal_cdf, sqrt
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Real
from dpcourse.proofs.steps import Step, Term


def classic(v: Any) -> dict[str, Any]:
    """c = sqrt(2 ln(1.25/delta)) and mu = Delta/sigma = eps/c."""
    c = sqrt(2 * log(1.25 / v.delta))
    return {"c": c, "mu": v.epsilon / c}


def gaussian_delta(mu: Any, epsilon: Any) -> Any:
    """The exact delta of two normal laws at distance mu (Balle and Wang, ICML 2018)."""
    return normal_cdf(mu / 2 - epsilon / mu) - exp(epsilon) * normal_cdf(-mu / 2 - epsilon / mu)


EXACT = Term(r"\Pr[N\in S]-e^{\varepsilon}\Pr[N'\in S]", lambda v: gaussian_delta(v.mu, v.epsilon))
LARGE_LOSS = Term(r"\Pr[L>\varepsilon]", lambda v: normal_cdf(v.mu / 2 - v.epsilon / v.mu))
NORMAL_TAIL = Term(
    r"\Pr\big[N(0,1)>c-\tfrac{\varepsilon}{2c}\big]", lambda v: normal_cdf(v.epsilon / (2 * v.c) - v.c)
)
HALF_EXP = Term(
    r"\tfrac12e^{-(c-\varepsilon/2c)^2/2}", lambda v: exp(-((v.c - v.epsilon / (2 * v.c)) ** 2) / 2) / 2
)
EXPANDED = Term(r"\tfrac12e^{\varepsilon/2}e^{-c^2/2}", lambda v: exp(v.epsilon / 2) * exp(-(v.c**2) / 2) / 2)
IN_DELTA = Term(r"\frac{e^{\varepsilon/2}}{2.5}\,\delta", lambda v: exp(v.epsilon / 2) * v.delta * 2 / 5)
DELTA = Term(r"\delta", lambda v: v.delta)
DOMAIN: Final = Domain(
    {"epsilon": Real(0.01, 1.0, log=True), "delta": Real(1e-12, 0.97, log=True)},
    classic,
    start={"epsilon": 1.0, "delta": 1e-5},
)
GAUSSIAN: Final = Proof(
    "gaussian-privacy",
    Step("statement", EXACT, "<=", DELTA, "S is the event that the loss L exceeds eps, the worst one"),
    DOMAIN,
    (
        Step("loss", EXACT, "<=", LARGE_LOSS, "outside S nothing is lost: drop the negative term"),
        Step("normal", LARGE_LOSS, "=", NORMAL_TAIL, "L is N(mu^2/2, mu^2) with mu = Delta/sigma = eps/c"),
        Step(
            "tail", NORMAL_TAIL, "<=", HALF_EXP, "Pr[N(0,1) > t] <= exp(-t^2/2)/2 for t >= 0; here c^2 > 1/2"
        ),
        Step("square", HALF_EXP, "<=", EXPANDED, "(c - eps/2c)^2 = c^2 - eps + (eps/2c)^2 >= c^2 - eps"),
        Step("constant", EXPANDED, "=", IN_DELTA, "c^2 = 2 ln(1.25/delta)"),
        Step("small epsilon", IN_DELTA, "<=", DELTA, "e^{1/2} < 2.5, and eps is at most 1"),
    ),
    "Dwork and Roth, 2014",
    {"eps at most 1": DOMAIN.widened(epsilon=Real(0.01, 30.0, log=True))},
)
PROOFS: Final = (GAUSSIAN,)
