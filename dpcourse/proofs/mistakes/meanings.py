"""Errata about what (eps, delta), zCDP and Renyi privacy say."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dpcourse.proofs.chapters import gaussian, renyi
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, normal_cdf
from dpcourse.proofs.lists import Laws
from dpcourse.proofs.mistakes.base import Erratum, claim
from dpcourse.proofs.objects import chosen, col, positive_part
from dpcourse.proofs.scalars import Rational, Real
from dpcourse.proofs.steps import Term

# What (eps, delta) means ---------------------------------------------------------------------------

GAUSSIANS: Final = Domain({"mu": Real(0.05, 4.0, log=True), "epsilon": Real(0.01, 6.0, log=True)})
LOSS_TAIL = Term(r"\Pr[L>\varepsilon]", lambda v: normal_cdf(v.mu / 2 - v.epsilon / v.mu))
GAUSS_DELTA = Term(r"\delta(\varepsilon)", lambda v: gaussian.gaussian_delta(v.mu, v.epsilon))


def _two_laws(v: Any) -> dict[str, Any]:
    p, q = v.laws[:, 0], v.laws[:, 1]
    excess = positive_part(p - col(v.ratio) * q)
    return {"p": p, "q": q, "largest": excess.max(-1), "sum": excess.sum(-1)}


OUTCOMES: Final = 4
LAWS: Final = Domain({"ratio": Rational(1, 4), "laws": Laws(OUTCOMES, 2)}, _two_laws)
SETS: Final = chosen(np.arange(1 << OUTCOMES), OUTCOMES)
EVENTS = Term(
    r"\max_S\Pr[M\in S]-e^{\varepsilon}\Pr[M'\in S]",
    lambda v: ((v.p - col(v.ratio) * v.q)[:, None] * SETS).sum(-1).max(-1),
)
DOMINATED: Final = Domain({"epsilon": Real(0.05, 3.0, log=True), "order": Real(1.01, 20.0, log=True)})
RESPONSE_LOSS = Term(r"\Pr[L\ge\varepsilon]", lambda v: 1 / (1 + exp(-v.epsilon)))
GAUSS_LOSS = Term(
    r"\Pr[N(\rho,2\rho)\ge\varepsilon],\ \rho=\tfrac{\varepsilon^2}2",
    lambda v: normal_cdf((v.epsilon**2 / 2 - v.epsilon) / v.epsilon),
)
RESPONSE_MGF = Term(r"\mathbb E\,e^{(\alpha-1)L}", lambda v: renyi.response_moment(v.epsilon, v.order))
GAUSS_MGF = Term(
    r"\mathbb E\,e^{(\alpha-1)N(\rho,2\rho)}=e^{(\alpha-1)\alpha\rho}",
    lambda v: exp((v.order - 1) * v.order * v.epsilon**2 / 2),
)
AVERAGE = Term(
    r"D_\alpha(P_X\|Q_X)+\sum_xP_x\,D_\alpha(P_{Y|x}\|Q_{Y|x})",
    lambda v: renyi.divergence(v.first, v.order) + (v.p1 * renyi.divergence(v.given, col(v.order))).sum(-1),
)


ERRATA: Final = (
    Erratum(
        "loss-except-delta",
        claim(
            "loss at most eps except with probability delta",
            LOSS_TAIL,
            "<=",
            GAUSS_DELTA,
            GAUSSIANS,
            "as a characterisation",
        ),
        claim("the converse", GAUSS_DELTA, "<=", LOSS_TAIL, GAUSSIANS, "1 - e^{eps-L} is at most 1"),
        "(eps, delta)-DP means that the loss exceeds eps with probability at most delta",
        "that is sufficient, not necessary: delta(eps) = E[(1 - e^{eps-L})+]",
    ),
    Erratum(
        "pointwise-delta",
        claim(
            "delta checked outcome by outcome",
            EVENTS,
            "<=",
            Term(r"\max_y\big(p(y)-e^{\varepsilon}q(y)\big)_+", lambda v: v.largest),
            LAWS,
            "it suffices to check outcomes",
        ),
        claim(
            "delta summed over outcomes",
            EVENTS,
            "<=",
            Term(r"\sum_y\big(p(y)-e^{\varepsilon}q(y)\big)_+", lambda v: v.sum),
            LAWS,
            "the worst event collects all of them",
        ),
        "p(y) <= e^eps q(y) + delta for every outcome y",
        "for every event; outcome by outcome is enough only for delta = 0",
    ),
    Erratum(
        "zcdp-domination",
        claim(
            "the loss below a Gaussian",
            RESPONSE_LOSS,
            "<=",
            GAUSS_LOSS,
            DOMINATED,
            "dominated by N(rho, 2 rho)",
        ),
        claim("the moments below a Gaussian's", RESPONSE_MGF, "<=", GAUSS_MGF, DOMINATED, "D_a <= rho a"),
        "rho-zCDP: the loss is dominated by N(rho, 2 rho)",
        "its exponential moments are, not its tails",
    ),
    Erratum(
        "renyi-average",
        claim("the chain rule with the average", renyi.BOTH, "<=", AVERAGE, renyi.JOINT_DOMAIN, "as for KL"),
        renyi.CHAIN_RULE,
        "D_a(P_XY || Q_XY) <= D_a(P_X || Q_X) + E_x D_a(P_Y|x || Q_Y|x)",
        "with the maximum over x; the average is right only for a = 1",
    ),
)
