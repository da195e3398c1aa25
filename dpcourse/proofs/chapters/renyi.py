"""Renyi and concentrated privacy: the chain rule with its maximum, and composition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import cosh, exp, log, stack
from dpcourse.proofs.lists import Laws
from dpcourse.proofs.objects import col, fair, log_ratio, moment, one_sided_pair, pure_pair
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Real
from dpcourse.proofs.steps import Step, Term

OUTCOMES: Final = 3
UNEVEN: Final = ((1, 2, 3), (3, 2, 1), (1, 1, 1), (1, 4, 1), (2, 1, 1), (1, 1, 6))
ORDER: Final = Real(1.05, 20.0, log=True)


def divergence(moments: Any, order: Any) -> Any:
    """D_a = ln E[(P/Q)^{a-1}]/(a-1)."""
    return log(moments) / (order - 1)


def joint(v: Any, p1: Any, q1: Any, p2: Any, q2: Any) -> dict[str, Any]:
    """Moments of a first answer X, of the second one Y given each x, and of both together."""
    weight = p1 * exp(log_ratio(p1, q1) * (col(v.order) - 1))
    given = moment(p2, q2, col(col(v.order)))
    pairs = col(p1) * p2, col(q1) * q2
    both = moment(*pairs, col(col(v.order))).sum(-1)
    return {"weight": weight, "given": given, "both": both, "first": weight.sum(-1)}


def any_joint(v: Any) -> dict[str, Any]:
    """Two joint laws of (X, Y) without impossible outcomes."""
    p1, q1 = fair(v.first[:, 0]), fair(v.first[:, 1])
    p2, q2 = fair(v.second[:, :OUTCOMES]), fair(v.second[:, OUTCOMES:])
    return joint(v, p1, q1, p2, q2) | {"p1": p1}


BOTH = Term(r"D_\alpha(P_{XY}\|Q_{XY})", lambda v: divergence(v.both, v.order))
CONDITIONED = Term(
    r"\tfrac1{\alpha-1}\ln\sum_xP_x^\alpha Q_x^{1-\alpha}\,M_\alpha(Y\mid x)",
    lambda v: divergence((v.weight * v.given).sum(-1), v.order),
)
LARGEST = Term(
    r"\tfrac1{\alpha-1}\ln\big(M_\alpha(X)\max_xM_\alpha(Y\mid x)\big)",
    lambda v: divergence(v.first * v.given.max(-1), v.order),
)
ADDED = Term(
    r"D_\alpha(P_X\|Q_X)+\max_xD_\alpha(P_{Y|x}\|Q_{Y|x})",
    lambda v: divergence(v.first, v.order) + divergence(v.given.max(-1), v.order),
)
CHAIN_STEPS: Final = (
    Step("condition", BOTH, "=", CONDITIONED, "the moment of the pair, summed over y first"),
    Step("largest", CONDITIONED, "<=", LARGEST, "replace each inner moment by the largest"),
    Step("logarithm", LARGEST, "=", ADDED, "the logarithm of a product"),
)
JOINT_DOMAIN: Final = Domain(
    {"order": ORDER, "first": Laws(OUTCOMES, 2), "second": Laws(OUTCOMES, 2 * OUTCOMES)},
    any_joint,
    start={"order": 2.0, "second": UNEVEN},
)
CHAIN_RULE: Final = Proof(
    "renyi-chain-rule",
    Step("statement", BOTH, "<=", ADDED, "so Renyi guarantees of one order add up, adaptively"),
    JOINT_DOMAIN,
    CHAIN_STEPS,
    "Mironov, CSF 2017; Bun and Steinke, TCC 2016",
)


def response_moment(epsilon: Any, order: Any) -> Any:
    """E[(P/Q)^{a-1}] of randomized response: h e^{(a-1) eps} + (1-h) e^{-(a-1) eps}."""
    h = 1 / (1 + exp(-epsilon))
    return h * exp((order - 1) * epsilon) + (1 - h) * exp(-(order - 1) * epsilon)


def pure_pair_moments(v: Any, pair: Any = pure_pair) -> dict[str, Any]:
    """Any eps-DP pair: the image of randomized response under a map with rows K_0 and K_1."""
    p, q = pair(v.kernel, v.ratio)
    return {"p": p, "q": q, "epsilon": log(v.ratio), "moment": moment(p, q, col(v.order))}


def _outcome_bound(v: Any) -> Any:
    """h^a (1-h)^{1-a} K_0(y) + (1-h)^a h^{1-a} K_1(y), where h/(1-h) = e^eps."""
    h = col(v.ratio / (1 + v.ratio))
    up = exp((col(v.order) - 1) * col(v.epsilon))
    return h * up * v.kernel[:, 0] + (1 - h) / up * v.kernel[:, 1]


RENYI = Term(r"D_\alpha(P\|Q)", lambda v: divergence(v.moment, v.order))
OF_RESPONSE = Term(
    r"D_\alpha(\mathrm{RR}_\varepsilon)", lambda v: divergence(response_moment(v.epsilon, v.order), v.order)
)
COSH = Term(
    r"\tfrac1{\alpha-1}\ln\frac{\cosh((\alpha-\frac12)\varepsilon)}{\cosh(\varepsilon/2)}",
    lambda v: divergence(cosh((v.order - 0.5) * v.epsilon) / cosh(v.epsilon / 2), v.order),
)
RHO_ALPHA = Term(r"\tfrac{\varepsilon^2}2\alpha", lambda v: v.epsilon**2 / 2 * v.order)
RATIO: Final = Rational(Fraction(17, 16), 20, log=True)
PAIR_DOMAIN: Final = Domain(
    {"ratio": RATIO, "order": ORDER, "kernel": Laws(OUTCOMES, 2)},
    pure_pair_moments,
    start={"ratio": Fraction(3), "order": 2.0, "kernel": ((3, 2, 1), (1, 1, 4))},
)
PURE_TO_ZCDP: Final = Proof(
    "pure-to-zcdp",
    Step("statement", RENYI, "<=", RHO_ALPHA, "an eps-DP pair is (eps^2/2)-zCDP"),
    PAIR_DOMAIN,
    (
        Step(
            "each outcome",
            Term(
                r"P(y)^\alpha Q(y)^{1-\alpha}",
                lambda v: v.p * exp(log_ratio(v.p, v.q) * (col(v.order) - 1)),
            ),
            "<=",
            Term(r"h^\alpha(1-h)^{1-\alpha}K_0(y)+(1-h)^\alpha h^{1-\alpha}K_1(y)", _outcome_bound),
            "p^a q^{1-a} is convex and homogeneous, so it is subadditive; P = h K_0 + (1-h) K_1",
            lemma=True,
        ),
        Step("processing", RENYI, "<=", OF_RESPONSE, "add up the outcomes", uses=("each outcome",)),
        Step("closed form", OF_RESPONSE, "=", COSH, "h = e^{eps/2}/(2 cosh(eps/2))"),
        Step("cosh", COSH, "<=", RHO_ALPHA, "ln cosh x - x^2/2 falls for x >= 0"),
    ),
    "Bun and Steinke, TCC 2016",
    {"both directions": replace(PAIR_DOMAIN, build=lambda v: pure_pair_moments(v, one_sided_pair))},
)


def zcdp_joint(v: Any, every: bool = True) -> dict[str, Any]:
    """An eps_1-DP answer x, then one chosen by it: eps_2-DP after `every` x, or after all but the first."""
    p1, q1 = pure_pair(v.first, v.ratio1)
    rows = stack([v.second[:, 2 * i : 2 * i + 2] for i in range(OUTCOMES)], 1)
    ratios = [v.ratio2 if every or i else v.ratio2**3 for i in range(OUTCOMES)]
    p2, q2 = pure_pair(rows, stack(ratios))
    rho1, rho2 = log(v.ratio1) ** 2 / 2, log(v.ratio2) ** 2 / 2
    return joint(v, p1, q1, p2, q2) | {"rho1": rho1, "rho2": rho2}


TWO_RHOS = Term(r"\rho_1\alpha+\rho_2\alpha", lambda v: v.rho1 * v.order + v.rho2 * v.order)
ONE_RHO = Term(r"(\rho_1+\rho_2)\alpha", lambda v: (v.rho1 + v.rho2) * v.order)
TWO_ROUNDS: Final = Domain(
    {
        "ratio1": RATIO,
        "ratio2": RATIO,
        "order": ORDER,
        "first": Laws(OUTCOMES, 2),
        "second": Laws(OUTCOMES, 2 * OUTCOMES),
    },
    zcdp_joint,
    start={"ratio1": Fraction(3), "ratio2": Fraction(3), "order": 2.0, "second": UNEVEN},
)
ZCDP_COMPOSITION: Final = Proof(
    "zcdp-composition",
    Step("statement", BOTH, "<=", ONE_RHO, "here with rho_i = eps_i^2/2"),
    TWO_ROUNDS,
    (
        *CHAIN_STEPS,
        Step("each round", ADDED, "<=", TWO_RHOS, "round 1 is rho_1-zCDP, round 2 is rho_2-zCDP for every x"),
        Step("collect", TWO_RHOS, "=", ONE_RHO, "factor out the order"),
    ),
    "Bun and Steinke, TCC 2016",
    {"round 2 private after every answer": replace(TWO_ROUNDS, build=lambda v: zcdp_joint(v, False))},
)


PROOFS: Final = (CHAIN_RULE, PURE_TO_ZCDP, ZCDP_COMPOSITION)
