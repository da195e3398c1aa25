"""From Renyi and concentrated privacy to (eps, delta): Mironov, improved, zCDP."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.chapters.martingale import tail
from dpcourse.proofs.chapters.renyi import OUTCOMES, divergence, response_moment
from dpcourse.proofs.chapters.repeated import response_delta, response_tail
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, sqrt
from dpcourse.proofs.lists import Laws
from dpcourse.proofs.objects import col, fair, hockey_stick, kl, log_ratio, moment, positive_part
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Real, Whole
from dpcourse.proofs.steps import Step, Term


def converted(v: Any) -> dict[str, Any]:
    """eps from (order, D) as Mironov does, for a pair without impossible outcomes."""
    return _at(v, lambda d: d + log(1 / v.delta) / (v.order - 1))


def converted_better(v: Any) -> dict[str, Any]:
    """eps from (order, D) by the improved conversion."""
    a = v.order
    return _at(v, lambda d: d + log((a - 1) / a) - (log(v.delta) + log(a)) / (a - 1))


def converted_mean(v: Any) -> dict[str, Any]:
    """The mistake: D is the mean loss, the divergence of order 1, and the rest is Mironov's."""
    return _at(v, lambda d: kl(fair(v.laws[:, 0]), fair(v.laws[:, 1])) + log(1 / v.delta) / (v.order - 1))


def _at(v: Any, epsilon_of: Any) -> dict[str, Any]:
    p, q = fair(v.laws[:, 0]), fair(v.laws[:, 1])
    m = moment(p, q, col(v.order))
    epsilon = epsilon_of(divergence(m, v.order))
    return {"p": p, "q": q, "loss": log_ratio(p, q), "moment": m, "epsilon": epsilon}


HOCKEY = Term(r"\mathbb E[(1-e^{\varepsilon-L})_+]", lambda v: hockey_stick(v.p, v.q, col(exp(v.epsilon))))
LARGE = Term(r"\Pr[L\ge\varepsilon]", lambda v: tail(Bracket.of(v.loss), v.p, v.epsilon))
MARKOV = Term(
    r"e^{-(\alpha-1)\varepsilon}\,\mathbb E\,e^{(\alpha-1)L}",
    lambda v: exp(-(v.order - 1) * v.epsilon) * v.moment,
)
DELTA = Term(r"\delta", lambda v: v.delta)
CONVERT_PARAMETERS: Final = {
    "order": Real(1.1, 20.0, log=True),
    "delta": Real(0.001, 0.999),
    "laws": Laws(OUTCOMES, 2),
}
CONVERTED: Final = Domain(
    CONVERT_PARAMETERS, converted, start={"order": 8.0, "delta": 0.75, "laws": ((6, 1, 1), (1, 3, 4))}
)
RDP_TO_DP: Final = Proof(
    "rdp-to-dp",
    Step("statement", HOCKEY, "<=", DELTA, "for eps = D_a + ln(1/delta)/(a-1)"),
    CONVERTED,
    (
        Step("large loss", HOCKEY, "<=", LARGE, "1 - e^{eps-L} is at most 1"),
        Step("Markov", LARGE, "<=", MARKOV, "Markov's inequality for e^{(a-1)L}"),
        Step("choice", MARKOV, "=", DELTA, "the moment is e^{(a-1) D_a}"),
    ),
    "Mironov, CSF 2017",
    {"D at the same order": Domain(CONVERT_PARAMETERS, converted_mean)},
)
TANGENT = Term(
    r"\frac{(\alpha-1)^{\alpha-1}}{\alpha^\alpha}e^{-(\alpha-1)\varepsilon}\,\mathbb E\,e^{(\alpha-1)L}",
    lambda v: _best_constant(v.order) * exp(-(v.order - 1) * v.epsilon) * v.moment,
)


def _best_constant(order: Any) -> Any:
    return exp((order - 1) * log(order - 1) - order * log(order))


RDP_TO_DP_BETTER: Final = Proof(
    "rdp-to-dp-improved",
    Step("statement", HOCKEY, "<=", DELTA, "for eps = D_a + ln((a-1)/a) - (ln delta + ln a)/(a-1)"),
    Domain(CONVERT_PARAMETERS, converted_better),
    (
        Step(
            "pointwise",
            Term(r"(1-e^{\varepsilon-L})_+", lambda v: positive_part(1 - exp(col(v.epsilon) - v.loss))),
            "<=",
            Term(
                r"\frac{(\alpha-1)^{\alpha-1}}{\alpha^\alpha}e^{(\alpha-1)(L-\varepsilon)}",
                lambda v: col(_best_constant(v.order)) * exp((col(v.order) - 1) * (v.loss - col(v.epsilon))),
            ),
            "the best multiple of e^{(a-1)x} above 1 - e^{-x}; they touch at e^x = a/(a-1)",
            lemma=True,
        ),
        Step("on average", HOCKEY, "<=", TANGENT, "take the mean over L", uses=("pointwise",)),
        Step("choice", TANGENT, "=", DELTA, "solve for eps"),
    ),
    "Canonne, Kamath and Steinke, NeurIPS 2020; Balle et al., AISTATS 2020",
    {"D at the same order": Domain(CONVERT_PARAMETERS, converted_mean)},
)


def zcdp_to_dp(v: Any, leak: float = 0.0) -> dict[str, Any]:
    """k rounds of randomized response: rho = k eps_0^2/2, and the best order for it.

    With a `leak` a run tells all with that probability: (eps, delta)-DP, but not rho-zCDP for any rho.
    """
    rho, loud = v.k * v.epsilon0**2 / 2, log(1 / v.delta)
    order = 1 + sqrt(loud / rho)
    epsilon = rho + 2 * sqrt(rho * loud)
    log_moment = v.k * log(response_moment(v.epsilon0, order))
    leaked = Bracket.of(Fraction(leak))
    return {"rho": rho, "order": order, "epsilon": epsilon, "log_moment": log_moment, "leak": leaked}


MANY_HOCKEY = Term(HOCKEY.latex, lambda v: v.leak + (1 - v.leak) * response_delta(v.k, v.epsilon0, v.epsilon))
MANY_LARGE = Term(LARGE.latex, lambda v: v.leak + (1 - v.leak) * response_tail(v.k, v.epsilon0, v.epsilon))
MANY_MARKOV = Term(MARKOV.latex, lambda v: exp(v.log_moment - (v.order - 1) * v.epsilon))
IN_RHO = Term(
    r"e^{-(\alpha-1)\varepsilon}\,e^{(\alpha-1)\alpha\rho}",
    lambda v: exp((v.order - 1) * v.order * v.rho - (v.order - 1) * v.epsilon),
)
ROUNDS: Final = Domain(
    {
        "epsilon0": Real(0.01, 1.0, log=True),
        "k": Whole(1, 1000, log=True),
        "delta": Real(1e-9, 0.9, log=True),
    },
    zcdp_to_dp,
    start={"epsilon0": 0.1, "k": 100, "delta": 1e-6},
)
ZCDP_TO_DP: Final = Proof(
    "zcdp-to-dp",
    Step(
        "statement",
        MANY_HOCKEY,
        "<=",
        DELTA,
        "for eps = rho + 2 sqrt(rho ln(1/delta)); here rho = k eps_0^2/2",
    ),
    ROUNDS,
    (
        Step("large loss", MANY_HOCKEY, "<=", MANY_LARGE, "1 - e^{eps-L} is at most 1"),
        Step("Markov", MANY_LARGE, "<=", MANY_MARKOV, "Markov's inequality for e^{(a-1)L}"),
        Step("concentrated", MANY_MARKOV, "<=", IN_RHO, "D_a is at most rho a for every order a"),
        Step("best order", IN_RHO, "=", DELTA, "a = 1 + sqrt(ln(1/delta)/rho)"),
    ),
    "Bun and Steinke, TCC 2016",
    {"no chance of telling all": replace(ROUNDS, build=lambda v: zcdp_to_dp(v, 1 / 1024))},
)
PROOFS: Final = (RDP_TO_DP, RDP_TO_DP_BETTER, ZCDP_TO_DP)
