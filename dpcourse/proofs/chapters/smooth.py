"""Smooth sensitivity: noise scaled by S(x), when S changes by at most e^beta between neighbours.

Admissible noise may slide by one sensitivity and dilate by e^beta, each at the price of eps/2 (Nissim,
Raskhodnikova and Smith, STOC 2007). Laplace noise dilates only up to a small delta; noise with density
proportional to 1/(1 + |z|^gamma) does it everywhere.
"""

from __future__ import annotations

from typing import Any, Final

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, log1p, maximum, where
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Real
from dpcourse.proofs.steps import Step, Term


def laplace_tail(x: Any) -> Any:
    """Pr[Z >= x] for standard Laplace noise."""
    half = exp(-abs(x)) / 2
    return where(x.lower + x.upper >= 0, half, 1 - half)


def _laplace(v: Any) -> dict[str, Any]:
    """beta = eps/(2 ln(2/delta)), scale 2S/eps: in units of the scale the centre moves by eps/2 at most."""
    beta = v.epsilon / (2 * log(2 / v.delta))
    dilation = v.stretch * beta  # ln S(x')/S(x)
    move = v.move * v.epsilon / 2  # f(x') - f(x)
    ratio = exp(-dilation)
    return {
        "beta": beta,
        "dilation": dilation,
        "limit": log(2 / v.delta),
        "p": _outside(v, 0 * move, 0 * move + 1),
        "middle": _outside(v, move, 0 * move + 1),
        "q": _outside(v, move, ratio),
    }


def _outside(v: Any, centre: Any, inverse_scale: Any) -> Any:
    """The chance of the event |y - c| >= w."""
    above = laplace_tail((v.c + v.w - centre) * inverse_scale)
    below = laplace_tail((centre - v.c + v.w) * inverse_scale)
    return above + below


def _worst_dilation(v: Any) -> Any:
    """The expression is linear in |z|, so its largest value is at one of the ends."""
    return maximum(v.dilation, (exp(-v.dilation) - 1) * v.limit + v.dilation)


P = Term(r"\Pr[A(x)\in S]", lambda v: v.p)
SLID = Term(
    r"e^{\varepsilon/2}\Pr[f(x')+\tfrac{2S(x)}{\varepsilon}Z\in S]", lambda v: exp(v.epsilon / 2) * v.middle
)
DILATED = Term(
    r"e^{\varepsilon/2}\big(e^{\varepsilon/2}\Pr[A(x')\in S]+\tfrac{\delta}2\big)",
    lambda v: exp(v.epsilon / 2) * (exp(v.epsilon / 2) * v.q + v.delta / 2),
)
BOUND = Term(r"e^{\varepsilon}\Pr[A(x')\in S]+\delta", lambda v: exp(v.epsilon) * v.q + v.delta)
LAPLACE_DOMAIN: Final = Domain(
    {
        "epsilon": Real(0.05, 1.0, log=True),
        "delta": Real(1e-8, 0.73, log=True),
        "move": Real(-1.0, 1.0),
        "stretch": Real(-1.0, 1.0),
        "c": Real(-3.0, 3.0),
        "w": Real(0.01, 40.0, log=True),
    },
    _laplace,
    start={"epsilon": 1.0, "delta": 0.01, "move": 1.0, "stretch": -1.0, "c": 0.0, "w": 6.0},
)
SMOOTH_LAPLACE: Final = Proof(
    "smooth-sensitivity-laplace",
    Step("statement", P, "<=", BOUND, "slide, then dilate: here for all events |y - c| >= w"),
    LAPLACE_DOMAIN,
    (
        Step(
            "pointwise dilation",
            Term(r"\max_{|z|\le\ln(2/\delta)}(e^{-\lambda}-1)|z|+\lambda", _worst_dilation),
            "<=",
            Term(r"\varepsilon/2", lambda v: v.epsilon / 2),
            "the log ratio of the two densities; |lambda| <= beta = eps/(2 ln(2/delta)), and delta <= 2/e",
            lemma=True,
        ),
        Step("slide", P, "<=", SLID, "the centre moves by at most S(x): eps/2 in units of the scale"),
        Step(
            "dilate",
            SLID,
            "<=",
            DILATED,
            "outside |z| <= ln(2/delta) there is only a mass of delta/2",
            uses=("pointwise dilation",),
        ),
        Step("collect", DILATED, "<=", BOUND, "e^{eps/2} is at most 2"),
    ),
    "Nissim, Raskhodnikova and Smith, STOC 2007",
    {
        "S is beta-smooth": LAPLACE_DOMAIN.widened(stretch=Real(-8.0, 8.0)),
        "S bounds how f moves": LAPLACE_DOMAIN.widened(move=Real(-8.0, 8.0)),
        "eps at most 1": LAPLACE_DOMAIN.widened(epsilon=Real(0.05, 8.0, log=True)),
    },
)


def _cauchy(v: Any) -> dict[str, Any]:
    """beta = eps/(2 (gamma+1)), scale 2 (gamma+1) S/eps."""
    beta = v.epsilon / (2 * (v.gamma + 1))
    return {"beta": beta, "slide": v.move * beta, "dilation": v.stretch * beta, "there": v.z - v.move * beta}


def _log_density(z: Any, gamma: Any) -> Any:
    """ln h(z), up to a constant."""
    return -log1p(abs(z) ** gamma)


def _loss(v: Any) -> Any:
    """ln of the density of A(x) over that of A(x'), at the point z scales from f(x)."""
    there = v.there * exp(-v.dilation)
    return _log_density(v.z, v.gamma) - (_log_density(there, v.gamma) - v.dilation)


def _sliding(v: Any) -> Any:
    return _log_density(v.z, v.gamma) - _log_density(v.there, v.gamma)


def _dilating(v: Any) -> Any:
    there = v.there * exp(-v.dilation)
    return _log_density(v.there, v.gamma) - _log_density(there, v.gamma) + v.dilation


LOSS = Term(r"\ln\frac{p_x(y)}{p_{x'}(y)}", _loss)
TWO_PARTS = Term(
    r"\ln\frac{h(z)}{h(z-s)}+\ln\frac{h(z-s)}{e^{-\lambda}h(e^{-\lambda}(z-s))}",
    lambda v: _sliding(v) + _dilating(v),
)
SLOPES = Term(
    r"\gamma|s|+(\gamma+1)|\lambda|",
    lambda v: v.gamma * abs(v.slide) + (v.gamma + 1) * abs(v.dilation),
)
HALVES = Term(r"(\gamma+1)\beta+(\gamma+1)\beta", lambda v: 2 * (v.gamma + 1) * v.beta)
EPSILON = Term(r"\varepsilon", lambda v: v.epsilon)
CAUCHY_DOMAIN: Final = Domain(
    {
        "epsilon": Real(0.05, 4.0, log=True),
        "gamma": Real(1.01, 6.0),
        "move": Real(-1.0, 1.0),
        "stretch": Real(-1.0, 1.0),
        "z": Real(-50.0, 50.0),
    },
    _cauchy,
    start={"epsilon": 1.0, "gamma": 4.0, "move": 1.0, "stretch": -1.0, "z": -2.0},
)
SMOOTH_CAUCHY: Final = Proof(
    "smooth-sensitivity-cauchy",
    Step("statement", LOSS, "<=", EPSILON, "pure eps-DP: the density ratio at every point"),
    CAUCHY_DOMAIN,
    (
        Step(
            "sliding",
            Term(r"\ln\frac{h(z)}{h(z-s)}", _sliding),
            "<=",
            Term(r"\gamma|s|", lambda v: v.gamma * abs(v.slide)),
            "the slope of ln(1 + |z|^gamma) is gamma |z|^(gamma-1)/(1 + |z|^gamma) <= gamma",
            lemma=True,
        ),
        Step(
            "dilating",
            Term(r"\ln\frac{h(z)}{e^{-\lambda}h(e^{-\lambda}z)}", _dilating),
            "<=",
            Term(r"(\gamma+1)|\lambda|", lambda v: (v.gamma + 1) * abs(v.dilation)),
            "its derivative in lambda is 1 - gamma |z|^gamma/(1 + |z|^gamma), between 1 - gamma and 1",
            lemma=True,
        ),
        Step("two parts", LOSS, "=", TWO_PARTS, "first slide, then dilate"),
        Step("slopes", TWO_PARTS, "<=", SLOPES, "both", uses=("sliding", "dilating")),
        Step("smooth", SLOPES, "<=", HALVES, "|s| and |lambda| are at most beta: S is smooth and bounds f"),
        Step("choice", HALVES, "=", EPSILON, "beta = eps/(2 (gamma+1))"),
    ),
    "Nissim, Raskhodnikova and Smith, STOC 2007",
    {
        "S is beta-smooth": CAUCHY_DOMAIN.widened(stretch=Real(-8.0, 8.0)),
        "S bounds how f moves": CAUCHY_DOMAIN.widened(move=Real(-8.0, 8.0)),
    },
)
PROOFS: Final = (SMOOTH_LAPLACE, SMOOTH_CAUCHY)
