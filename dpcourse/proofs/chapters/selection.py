"""Choosing the best: the exponential mechanism and report noisy max, privacy and accuracy.

Scores are whole numbers with sensitivity 1 and e^{eps/2} is a fraction, so privacy is decided exactly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, where
from dpcourse.proofs.lists import Laws, Many
from dpcourse.proofs.objects import col
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Real, Whole
from dpcourse.proofs.steps import Step, Term

CHOICES: Final = 4
ROOT: Final = Rational(1, 4)  # e^{eps/2}


def exponential_weights(v: Any) -> dict[str, Any]:
    """w(y) = e^{eps q(y)/2} for D, and w'(y) for D' whose scores differ by `move`."""
    return weights_of(v, v.scores, v.scores + v.move)


def weights_of(v: Any, scores: Any, others: Any) -> dict[str, Any]:
    """The same for any two lists of scores."""
    weights, others = (col(v.root) ** s for s in (scores, others))
    return {"w": weights, "w2": others, "Z": weights.sum(-1), "Z2": others.sum(-1)}


CHANCE = Term(r"\Pr[M(D)=y]", lambda v: v.w / col(v.Z))
SPLIT = Term(
    r"\frac{w(y)}{w'(y)}\cdot\frac{Z'}{Z}\cdot\Pr[M(D')=y]",
    lambda v: v.w / v.w2 * col(v.Z2 / v.Z) * (v.w2 / col(v.Z2)),
)
HALF = Term(
    r"e^{\varepsilon/2}\cdot\frac{Z'}{Z}\cdot\Pr[M(D')=y]",
    lambda v: col(v.root * v.Z2 / v.Z) * (v.w2 / col(v.Z2)),
)
WHOLE = Term(r"e^{\varepsilon}\Pr[M(D')=y]", lambda v: col(v.root * v.root) * (v.w2 / col(v.Z2)))
EXPONENTIAL_STEPS: Final = (
    Step(
        "numerators",
        Term(r"w(y)", lambda v: v.w),
        "<=",
        Term(r"e^{\varepsilon/2}w'(y)", lambda v: col(v.root) * v.w2),
        "a score changes by at most Delta, and the exponent is eps q/(2 Delta)",
        lemma=True,
    ),
    Step(
        "normalisers",
        Term("Z'", lambda v: v.Z2),
        "<=",
        Term(r"e^{\varepsilon/2}Z", lambda v: v.root * v.Z),
        "the same for every term of the sum, in the other direction",
        lemma=True,
    ),
    Step("two ratios", CHANCE, "=", SPLIT, "multiply and divide"),
    Step("first ratio", SPLIT, "<=", HALF, "the numerators", uses=("numerators",)),
    Step("second ratio", HALF, "<=", WHOLE, "the normalisers", uses=("normalisers",)),
)
EXPONENTIAL_DOMAIN: Final = Domain(
    {"root": ROOT, "scores": Many(Whole(-4, 4), CHOICES), "move": Many(Whole(-1, 1), CHOICES)},
    exponential_weights,
    start={"root": 2, "scores": (0, 2, 3, 4), "move": (1, -1, 0, -1)},
)
EXPONENTIAL: Final = Proof(
    "exponential-privacy",
    Step("statement", CHANCE, "<=", WHOLE, "for every outcome y"),
    EXPONENTIAL_DOMAIN,
    EXPONENTIAL_STEPS,
    "McSherry and Talwar, FOCS 2007",
    {"sensitivity": EXPONENTIAL_DOMAIN.widened(move=Many(Whole(-2, 2), CHOICES))},
)


def _good_and_bad(v: Any, counted: bool = True) -> dict[str, Any]:
    """Weights relative to the best one, and those of scores at or below the threshold.

    Where the outcomes are not `counted`, the threshold has only t, as if there were no others.
    """
    best = v.scores.max(-1)
    gap = v.scores - best[:, None]  # at most 0
    optimal = (gap == 0).sum(-1)
    others = log(CHOICES / Bracket.of(optimal)) if counted else 0
    threshold = -2 / v.epsilon * (others + v.t)
    weights = exp(col(v.epsilon) * gap / 2)
    surely, perhaps = gap <= col(threshold.lower), gap <= col(threshold.upper)
    bad = Bracket(
        where(surely, weights, 0).sum(-1).lower,
        where(perhaps, weights, 0).sum(-1).upper,
    )
    return {"Z": weights.sum(-1), "bad": bad, "optimal": optimal, "limit": exp(v.epsilon * threshold / 2)}


FAIL = Term(r"\Pr[q\le c]", lambda v: v.bad / v.Z)
MANY_BAD = Term(r"\frac{|R|\,e^{\varepsilon c/2}}{Z}", lambda v: CHOICES * v.limit / v.Z)
FEW_GOOD = Term(
    r"\frac{|R|\,e^{\varepsilon c/2}}{|R_{opt}|\,e^{\varepsilon\,opt/2}}",
    lambda v: CHOICES * v.limit / v.optimal,
)
TAIL = Term("e^{-t}", lambda v: exp(-v.t))
ACCURACY_DOMAIN: Final = Domain(
    {
        "epsilon": Real(0.05, 3.0, log=True),
        "scores": Many(Whole(0, 20), CHOICES),
        "t": Real(0.01, 8.0, log=True),
    },
    _good_and_bad,
    start={"scores": (0, 5, 18, 20), "epsilon": 1.0},
)
EXPONENTIAL_ACCURACY: Final = Proof(
    "exponential-accuracy",
    Step("statement", FAIL, "<=", TAIL, r"for c = opt - (2/eps)(ln(|R|/|R_opt|) + t)"),
    ACCURACY_DOMAIN,
    (
        Step("bad outcomes", FAIL, "<=", MANY_BAD, "at most |R| of them, each of weight at most e^{eps c/2}"),
        Step("good outcomes", MANY_BAD, "<=", FEW_GOOD, "Z is at least the weight of the optimal outcomes"),
        Step("choice of c", FEW_GOOD, "=", TAIL, "solve for c"),
    ),
    "McSherry and Talwar, FOCS 2007",
    {"all outcomes counted": replace(ACCURACY_DOMAIN, build=lambda v: _good_and_bad(v, False))},
)

WORLDS: Final = 3


def upper_tail(ratio: Any, x: Any) -> Any:
    """Pr[Laplace >= x] for noise whose density falls by the factor `ratio` in one unit."""
    half = col(ratio) ** -abs(x) / 2
    return where(x >= 0, half, 1 - half)


def noisy_max(v: Any, change: Any) -> dict[str, Any]:
    """Candidate 0 wins if its noise reaches r*; the noise of the others is one of a few possible worlds."""
    others = v.noise.reshape(-1, WORLDS, 2)
    here = (v.scores[:, None, 1:] + others).max(-1) - v.scores[:, None, 0]
    changed = v.scores + change
    there = (changed[:, None, 1:] + others).max(-1) - changed[:, None, 0]
    return {"here": here, "there": there}


def monotone_change(v: Any) -> Any:
    """One row more raises some counts by 1, one row less lowers them."""
    return np.where(v.added[:, None], abs(v.move), -abs(v.move))


def any_change(v: Any) -> Any:
    """Each score moves by at most 1 in its own direction."""
    return v.move


def noisy_max_proof(name: str, shift: int, domain: Domain, hypotheses: dict[str, Domain], why: str) -> Proof:
    """Report noisy max with thresholds that move by at most `shift` (1 if monotone, 2 in general).

    `ratio` is the factor of one unit of noise, so that e^eps = ratio^shift.
    """
    e_epsilon = Term(r"e^{\varepsilon}", lambda v: v.ratio**shift)
    wins = Term(r"\Pr[i\text{ wins}\mid D]", lambda v: (v.worlds * upper_tail(v.ratio, v.here)).sum(-1))
    slid = Term(
        rf"e^{{\varepsilon}}\sum_r\mu(r)\Pr[Z\ge r^*+{shift}]",
        lambda v: e_epsilon(v) * (v.worlds * upper_tail(v.ratio, v.here + shift)).sum(-1),
    )
    other = Term(
        r"e^{\varepsilon}\Pr[i\text{ wins}\mid D']",
        lambda v: e_epsilon(v) * (v.worlds * upper_tail(v.ratio, v.there)).sum(-1),
    )
    steps = (
        Step(
            "threshold",
            Term("r'^*", lambda v: v.there),
            "<=",
            Term(rf"r^*+{shift}", lambda v: v.here + shift),
            why,
            lemma=True,
        ),
        Step(
            "one tail",
            Term(r"\Pr[Z\ge x]", lambda v: upper_tail(v.ratio, v.here)),
            "<=",
            Term(
                rf"e^{{\varepsilon}}\Pr[Z\ge x+{shift}]",
                lambda v: col(e_epsilon(v)) * upper_tail(v.ratio, v.here + shift),
            ),
            "Laplace noise slides: its density falls by at most this factor",
            lemma=True,
        ),
        Step(
            "slide", wins, "<=", slid, "for each noise r of the others, then on average", uses=("one tail",)
        ),
        Step("wins there", slid, "<=", other, "noise r* + shift is enough for D'", uses=("threshold",)),
    )
    statement = Step("statement", wins, "<=", other, "i wins if its noise reaches r*")
    return Proof(name, statement, domain, steps, "Dwork and Roth, 2014", hypotheses)


NOISY_MAX_PARAMETERS: Final = {
    "ratio": Rational(1, 4),
    "scores": Many(Whole(0, 6), 3),
    "move": Many(Whole(-1, 1), 3),
    "added": Whole(0, 1),
    "noise": Many(Whole(-6, 6), 2 * WORLDS),
    "worlds": Laws(WORLDS),
}
CLOSE_RACE: Final = {"scores": (3, 4, 2), "move": (-1, 1, 0), "noise": (0, 1, 2, -1, -2, 0)}
MONOTONE_DOMAIN: Final = Domain(
    NOISY_MAX_PARAMETERS, lambda v: noisy_max(v, monotone_change(v)), start=CLOSE_RACE
)
GENERAL_DOMAIN: Final = Domain(NOISY_MAX_PARAMETERS, lambda v: noisy_max(v, any_change(v)), start=CLOSE_RACE)
NOISY_MAX_MONOTONE: Final = noisy_max_proof(
    "noisy-max-monotone",
    1,
    MONOTONE_DOMAIN,
    {"monotone scores": GENERAL_DOMAIN},
    "all counts move the same way, by 0 or 1: the lead of a candidate changes by at most 1",
)
NOISY_MAX: Final = noisy_max_proof(
    "noisy-max-general",
    2,
    GENERAL_DOMAIN,
    {"sensitivity": replace(GENERAL_DOMAIN, build=lambda v: noisy_max(v, 2 * any_change(v)))},
    "the candidate may lose 1 while another gains 1",
)
PROOFS: Final = (EXPONENTIAL, EXPONENTIAL_ACCURACY, NOISY_MAX_MONOTONE, NOISY_MAX)
