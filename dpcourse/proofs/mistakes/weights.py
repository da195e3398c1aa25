"""Errata of private multiplicative weights: the step, the noise that is used twice, the number of draws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.chapters import synthetic
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, where
from dpcourse.proofs.lists import Many
from dpcourse.proofs.mistakes.base import Erratum, claim
from dpcourse.proofs.scalars import Rational, Real, Whole
from dpcourse.proofs.steps import Term

# The step ------------------------------------------------------------------------------------------


def _divided(v: Any) -> dict[str, Any]:
    """The exponent (eta/q_i) q_i is eta wherever q_i > 0, however small q_i is."""
    made = synthetic.update(v)
    touched = (np.asarray(v.query.upper) > 0).astype(int)
    moved = np.where(made["falls"][:, None], 1 - touched, touched)
    return made | {"after": synthetic.reweighted(Bracket.of(made["state"]), moved, v.eta)}


# The tested value ----------------------------------------------------------------------------------

EPOCHS: Final = Domain(
    {"mu": Real(0.5, 20.0, log=True), "m": Whole(1, 1000, log=True), "away": Many(Rational(-1, 1), 2)}
)
"""How far one person moves the gaps of the m lazy queries, and the last answer from its released value."""


def _tested(v: Any) -> Any:
    """ln of the ratio of the densities of (lazy m times, then an update whose tested value is released).

    The noisy threshold t was below the value, and all gaps g are above it. There a query is lazy with chance
    e^{-g/mu} sinh(t/mu), so that the integral over t is the same for both neighbours, and cancels.
    """
    return (v.m * Bracket.of(v.away[:, 0]) + Bracket.of(v.away[:, 1])) / v.mu


SHIFTED: Final = Domain(
    {
        "mu": Real(0.5, 20.0, log=True),
        "T": Real(0.5, 20.0),
        "t": Real(0.01, 20.0),
        "gaps": Many(Real(0.0, 20.0), 2),
        "moves": Many(Real(-1.0, 1.0), 2),
        "value": Real(-20.0, 20.0),
    },
    start={"mu": 3.0, "T": 10.0, "t": 9.0, "gaps": (12.0, 8.0), "moves": (1.0, -1.0), "value": 8.0},
)
"""A lazy query and an update at the noisy threshold t; for the neighbour, at t + 1."""


def _lazy(gap: Any, t: Any, mu: Any) -> tuple[Bracket, Bracket]:
    """Pr[|gap + Laplace(mu)| < t] and the rest: e^{-g} sinh(t) for t <= g, e^{-t} cosh(g) for t >= g."""
    g, t = abs(gap) / mu, t / mu
    below, above = (exp(t - g) - exp(-t - g)) / 2, (exp(g - t) + exp(-g - t)) / 2
    small = np.asarray(t.upper <= g.lower)
    return where(small, below, 1 - above), where(small, 1 - below, above)


def _integrand(v: Any, gaps: Any, t: Any) -> Any:
    """The density of t, a lazy query, an update, and its answer with fresh noise."""
    lazy, (_, update) = _lazy(gaps[:, 0], t, v.mu)[0], _lazy(gaps[:, 1], t, v.mu)
    threshold, answer = (exp(-abs(x) / v.mu) / (2 * v.mu) for x in (t - v.T, v.value - gaps[:, 1]))
    return threshold * lazy * update * answer


HERE = Term(r"f(t)\Pr[\text{lazy}\mid t]\Pr[\text{update}\mid t]\,p(v)", lambda v: _integrand(v, v.gaps, v.t))
THERE = Term(
    r"e^{4/\mu}f(t+1)\Pr{}'[\text{lazy}\mid t+1]\Pr{}'[\text{update}\mid t+1]\,p'(v)",
    lambda v: exp(4 / v.mu) * _integrand(v, v.gaps + v.moves, v.t + 1),
)

# The number of draws -------------------------------------------------------------------------------

DRAWS: Final = Domain(
    {"t": Whole(1, 30), "L": Whole(1, 15), "beta": Rational(Fraction(1, 100), Fraction(9, 10))}
)


def _some_draw(count: Any, latex: str) -> Term:
    return Term(
        rf"\Pr[\text{{some of }}t+L\text{{ draws exceeds }}\mu\ln({latex}/\beta)]",
        lambda v: 1 - (1 - v.beta / count(v)) ** (v.t + v.L),
    )


BETA = Term(r"\beta", lambda v: v.beta)

ERRATA: Final = (
    Erratum(
        "weights-step",
        claim(
            "exponent T/(4 q_i) times q_i",
            synthetic.DROP,
            ">=",
            synthetic.GAIN,
            replace(synthetic.WEIGHTS_DOMAIN, build=_divided),
            "as printed",
        ),
        synthetic.POTENTIAL,
        "an update multiplies entry i by e^{eta q_i} with eta = T/(4 q_i)",
        "eta = T/4 for all entries; divided by q_i the step no longer knows the query, and may do nothing",
    ),
    Erratum(
        "weights-tested-value",
        claim(
            "the tested value is the answer",
            Term(r"\ln\frac{p_x(\text{lazy}^m,v)}{p_{x'}(\text{lazy}^m,v)}", _tested),
            "<=",
            Term(r"4/\mu", lambda v: 4 / v.mu),
            EPOCHS,
            "an epoch costs 4/mu",
        ),
        claim(
            "the answer has fresh noise",
            HERE,
            "<=",
            THERE,
            SHIFTED,
            "shift t by 1: the threshold costs 1/mu, the update 2/mu, the answer 1/mu; a lazy query nothing",
        ),
        "an update may release the noisy answer that was compared with the threshold of the epoch",
        "the loss grows like m/mu with the number of lazy queries; with fresh noise an epoch costs 4/mu",
    ),
    Erratum(
        "weights-draws",
        claim("t + L draws, union over t", _some_draw(lambda v: v.t, "t"), "<=", BETA, DRAWS, "as printed"),
        claim(
            "t + L draws, union over t + L",
            _some_draw(lambda v: v.t + v.L, "(t+L)"),
            "<=",
            BETA,
            DRAWS,
            "the union bound over all draws",
        ),
        "with probability 1 - beta all noise of t queries is at most mu ln(t/beta)",
        "the thresholds of the L epochs are drawn as well: mu ln((t + L)/beta)",
    ),
)
