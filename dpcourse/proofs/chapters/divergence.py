"""The mean privacy loss of an eps-DP step: the KL lemma in all its constants.

KL(P||Q) <= eps tanh(eps/2) <= eps^2/2 <= eps^2 <= eps (e^eps - 1) <= 2 eps^2     (the last for eps <= 1)
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import expm1, log, maximum, minimum, stack, tanh
from dpcourse.proofs.lists import Laws
from dpcourse.proofs.objects import col, kl, log_ratio, one_sided_pair, pure_pair
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational
from dpcourse.proofs.steps import Step, Term

OUTCOMES: Final = 3


def two_sided(v: Any) -> dict[str, Any]:
    """Any pair with likelihood ratios in [e^-eps, e^eps]."""
    return _rows(v, *pure_pair(v.kernel, v.ratio))


def one_sided(v: Any) -> dict[str, Any]:
    """P <= e^eps Q, but Q may be much larger than P."""
    return _rows(v, *one_sided_pair(v.kernel, v.ratio))


def _rows(v: Any, p: Any, q: Any) -> dict[str, Any]:
    """The map that makes (P, Q) of randomized response: P = h K_0 + (1-h) K_1, Q = (1-h) K_0 + h K_1."""
    h = v.ratio / (1 + v.ratio)
    k0 = (col(h) * p - col(1 - h) * q) / col(2 * h - 1)
    k1 = (col(h) * q - col(1 - h) * p) / col(2 * h - 1)
    return {"p": p, "q": q, "h": h, "k0": k0, "k1": k1, "epsilon": log(v.ratio)}


DOMAIN: Final = Domain(
    {"ratio": Rational(Fraction(17, 16), 50, log=True), "kernel": Laws(OUTCOMES, 2)},
    two_sided,
    start={"ratio": Fraction(2), "kernel": ((3, 2, 1), (1, 1, 4))},
)
ONE_SIDED: Final = {"both directions": replace(DOMAIN, build=one_sided)}

KL = Term(r"D(P\|Q)", lambda v: kl(v.p, v.q))
BOTH = Term(r"D(P\|Q)+D(Q\|P)", lambda v: kl(v.p, v.q) + kl(v.q, v.p))
DIFFERENCE = Term(r"\sum_y(P-Q)\ln\frac PQ", lambda v: ((v.p - v.q) * log_ratio(v.p, v.q)).sum(-1))
DISTANCE = Term(r"\varepsilon\sum_y|P-Q|", lambda v: v.epsilon * abs(v.p - v.q).sum(-1))
OVERLAP = Term(
    r"\varepsilon(e^{\varepsilon}-1)\sum_y\min(P,Q)",
    lambda v: v.epsilon * (v.ratio - 1) * minimum(v.p, v.q).sum(-1),
)
CLASSIC_MEAN = Term(r"\varepsilon(e^{\varepsilon}-1)", lambda v: v.epsilon * (v.ratio - 1))
KL_CLASSIC: Final = Proof(
    "kl-lemma-classic",
    Step("statement", KL, "<=", CLASSIC_MEAN, "by way of the symmetric divergence"),
    DOMAIN,
    (
        Step(
            "bounded loss",
            Term(r"\max(P(y),Q(y))", lambda v: maximum(v.p, v.q)),
            "<=",
            Term(r"e^{\varepsilon}\min(P(y),Q(y))", lambda v: col(v.ratio) * minimum(v.p, v.q)),
            "privacy in both directions",
            lemma=True,
        ),
        Step("other direction", KL, "<=", BOTH, "divergences are never negative"),
        Step("symmetric", BOTH, "=", DIFFERENCE, "the two logarithms are opposite"),
        Step("loss", DIFFERENCE, "<=", DISTANCE, "every loss is at most eps", uses=("bounded loss",)),
        Step("ratio", DISTANCE, "<=", OVERLAP, "|P - Q| <= (e^eps - 1) min(P, Q)", uses=("bounded loss",)),
        Step("mass", OVERLAP, "<=", CLASSIC_MEAN, "the overlap of two laws is at most 1"),
    ),
    "Dwork, Rothblum and Vadhan, FOCS 2010",
    ONE_SIDED,
)

RESPONSE = Term(
    r"\sum_y\big(hK_0-(1-h)K_1\big)\varepsilon",
    lambda v: ((col(v.h) * v.k0 - col(1 - v.h) * v.k1) * col(v.epsilon)).sum(-1),
)
TANH = Term(r"\varepsilon\tanh\tfrac{\varepsilon}2", lambda v: v.epsilon * tanh(v.epsilon / 2))
TANH_STEPS: Final = (
    Step(
        "a map of randomized response",
        Term("K_b(y)", lambda v: stack([v.k0, v.k1])),
        ">=",
        Term("0", lambda v: 0 * stack([v.k0, v.k1])),
        "K_0 is proportional to e^eps P - Q and K_1 to e^eps Q - P: privacy in both directions",
        lemma=True,
    ),
    Step(
        "log-sum",
        KL,
        "<=",
        RESPONSE,
        "the log-sum inequality in each outcome: hK_0 against (1-h)K_0, (1-h)K_1 against hK_1",
        uses=("a map of randomized response",),
    ),
    Step("sum", RESPONSE, "=", TANH, "K_0 and K_1 have mass 1, and 2h - 1 = tanh(eps/2)"),
)
KL_TANH: Final = Proof(
    "kl-lemma-tanh",
    Step("statement", KL, "<=", TANH, "randomized response is the worst pair"),
    DOMAIN,
    TANH_STEPS,
    "Kairouz, Oh and Viswanath, ICML 2015",
    ONE_SIDED,
)

HALF_SQUARE = Term(r"\varepsilon^2/2", lambda v: v.epsilon**2 / 2)
SQUARE = Term(r"\varepsilon^2", lambda v: v.epsilon**2)
CHORD = Term(r"(e-1)\varepsilon^2", lambda v: expm1(1) * v.epsilon**2)
TWICE = Term(r"2\varepsilon^2", lambda v: 2 * v.epsilon**2)
SMALL: Final = DOMAIN.widened(ratio=Rational(Fraction(17, 16), Fraction(27, 10)))  # 27/10 < e
KL_CONSTANTS: Final = Proof(
    "kl-lemma-constants",
    Step("statement", KL, "<=", TWICE, "one constant after the other, for eps at most 1"),
    SMALL,
    (
        *TANH_STEPS,
        Step("half square", TANH, "<=", HALF_SQUARE, "tanh x <= x"),
        Step("square", HALF_SQUARE, "<=", SQUARE, "1/2 <= 1"),
        Step("classic", SQUARE, "<=", CLASSIC_MEAN, "x <= e^x - 1"),
        Step("chord", CLASSIC_MEAN, "<=", CHORD, "e^x - 1 is convex: on [0, 1] below its chord"),
        Step("twice", CHORD, "<=", TWICE, "e < 3"),
    ),
    "Dwork and Roth, 2014",
    {"eps at most 1": DOMAIN, "both directions": replace(SMALL, build=one_sided)},
)
PROOFS: Final = (KL_CLASSIC, KL_TANH, KL_CONSTANTS)
