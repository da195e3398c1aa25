"""Azuma's inequality, in the form for martingales and in the form for conditional means.

The objects are adaptive walks of a few rounds: at each node of a binary tree the next step takes one of two
values, with probabilities that the history has chosen.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.chapters.rounds import DEPTH, NODES, along, running
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import cosh, exp, is_exact, maximum, minimum, sqrt, stack, where
from dpcourse.proofs.lists import Many
from dpcourse.proofs.objects import col
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Real
from dpcourse.proofs.steps import Step, Term


def walk(values: Any, chances: Any) -> dict[str, Any]:
    """The sums and the chances of all paths, from tables (point, node, branch)."""
    return {
        "values": values,
        "chances": chances,
        "sums": along(values).sum(-1),
        "weights": running(along(chances))[-1],
    }


def tail(sums: Any, weights: Any, level: Any) -> Any:
    """Pr[sum >= level]; a path that may or may not reach it widens the bracket."""
    sure, possible = sums.lower >= col(level).upper, sums.upper >= col(level).lower
    if is_exact(weights) and (sure == possible).all():
        return where(sure, weights, 0).sum(-1)
    weights = Bracket.of(weights)
    return Bracket(where(sure, weights, 0).sum(-1).lower, where(possible, weights, 0).sum(-1).upper)


def mean_zero(v: Any) -> dict[str, Any]:
    """Steps +a with chance b/(a+b) and -b with chance a/(a+b): a martingale with steps in [-1, 1]."""
    values = stack([v.up, -v.down])
    return _martingale(v, values, stack([v.down, v.up]) / col(v.up + v.down))


def drifting(v: Any) -> dict[str, Any]:
    """The same steps with their chances exchanged: the walk drifts to the side of the larger step."""
    values = stack([v.up, -v.down])
    return _martingale(v, values, stack([v.up, v.down]) / col(v.up + v.down))


def _martingale(v: Any, values: Any, chances: Any) -> dict[str, Any]:
    level = v.L * sqrt(DEPTH)
    rate = level / DEPTH
    mgf = (chances * exp(col(col(rate)) * values)).sum(-1)
    return walk(values, chances) | {"level": level, "rate": rate, "mgf": mgf}


TAIL = Term(r"\Pr[X_m\ge L\sqrt m]", lambda v: tail(v.sums, v.weights, v.level))
MARKOV = Term(
    r"e^{-\lambda L\sqrt m}\,\mathbb E\,e^{\lambda X_m}",
    lambda v: exp(-v.rate * v.level) * (v.weights * exp(col(v.rate) * v.sums)).sum(-1),
)
COSH = Term(
    r"e^{-\lambda L\sqrt m}(\cosh\lambda)^m", lambda v: exp(-v.rate * v.level) * cosh(v.rate) ** DEPTH
)
SQUARED = Term(
    r"e^{-\lambda L\sqrt m}e^{m\lambda^2/2}",
    lambda v: exp(-v.rate * v.level) * exp(DEPTH * v.rate**2 / 2),
)
AZUMA_BOUND = Term(r"e^{-L^2/2}", lambda v: exp(-(v.L**2) / 2))
MARTINGALE_DOMAIN: Final = Domain(
    {"up": Many(Real(0.01, 1.0), NODES), "down": Many(Real(0.01, 1.0), NODES), "L": Real(0.1, 2.0)},
    mean_zero,
    start={"up": (0.75,) * NODES, "down": (0.5,) * NODES, "L": 1.0},
)
AZUMA: Final = Proof(
    "azuma-martingale",
    Step("statement", TAIL, "<=", AZUMA_BOUND, "exponential moments, round by round"),
    MARTINGALE_DOMAIN,
    (
        Step(
            "one round",
            Term(r"\mathbb E[e^{\lambda d_i}\mid\text{past}]", lambda v: v.mgf),
            "<=",
            Term(r"\cosh\lambda", lambda v: col(cosh(v.rate))),
            "e^{lambda d} is below its chord on [-1, 1], and the mean of d given the whole past is 0",
            lemma=True,
        ),
        Step("Markov", TAIL, "<=", MARKOV, "Markov's inequality for e^{lambda X_m}"),
        Step(
            "induction",
            MARKOV,
            "<=",
            COSH,
            "condition on the past, the last round first",
            uses=("one round",),
        ),
        Step("cosh", COSH, "<=", SQUARED, "compare the power series"),
        Step("best lambda", SQUARED, "=", AZUMA_BOUND, "lambda = L/sqrt(m)"),
    ),
    "Azuma, Tohoku Mathematical Journal 1967",
    {"mean 0 given the past": replace(MARTINGALE_DOMAIN, build=drifting)},
)


def bounded(v: Any, size: int = 1, hidden: int = 0) -> dict[str, Any]:
    """|C_i| <= alpha (times `size`): beta + a with chance c, else beta - b; the mean is at most beta.

    At `spread` 1 one of the two values is at its bound; `lower` moves the second one down towards -alpha.
    The mistake: a beta that is too small by a `hidden` part of alpha.
    """
    most = size * v.alpha
    beta = v.centre * most
    room = minimum(col(most - beta) / (1 - v.chance), col(most + beta) / v.chance) * v.spread
    high, low = col(beta) + room * (1 - v.chance), col(beta) - room * v.chance
    values = stack([high, low - v.lower * maximum(low + col(most), 0)])
    chances = stack([v.chance, 1 - v.chance])
    return _centred(v, values, chances, (values * chances).sum(-1), beta - hidden * most)


def _centred(v: Any, values: Any, chances: Any, means: Any, beta: Any) -> dict[str, Any]:
    rate = v.z / (sqrt(DEPTH) * v.alpha)
    level = DEPTH * beta + v.z * sqrt(DEPTH) * v.alpha
    centred = values - col(means)
    return walk(values, chances) | {
        "beta": beta,
        "rate": rate,
        "level": level,
        "means": means,
        "centred": along(centred).sum(-1),
        "mgf": (chances * exp(col(col(rate)) * centred)).sum(-1),
    }


LOSS_TAIL = Term(
    r"\Pr\big[\textstyle\sum C_i\ge k\beta+z\sqrt k\alpha\big]", lambda v: tail(v.sums, v.weights, v.level)
)
CENTRED_TAIL = Term(
    r"\Pr\big[\textstyle\sum(C_i-\mathbb E[C_i\mid\text{past}])\ge z\sqrt k\alpha\big]",
    lambda v: tail(v.centred, v.weights, v.level - DEPTH * v.beta),
)
CENTRED_MARKOV = Term(
    r"e^{-\lambda z\sqrt k\alpha}\,\mathbb E\,e^{\lambda\sum(C_i-\mathbb E[C_i\mid\text{past}])}",
    lambda v: exp(-(v.z**2)) * (v.weights * exp(col(v.rate) * v.centred)).sum(-1),
)
HOEFFDING = Term(
    r"e^{-\lambda z\sqrt k\alpha}\,e^{k\lambda^2\alpha^2/2}", lambda v: exp(-(v.z**2)) * exp(v.z**2 / 2)
)
Z_BOUND = Term(r"e^{-z^2/2}", lambda v: exp(-(v.z**2) / 2))
BOUNDED_DOMAIN: Final = Domain(
    {
        "alpha": Real(0.1, 2.0, log=True),
        "centre": Real(-0.99, 0.99),
        "chance": Many(Rational(Fraction(1, 64), Fraction(63, 64)), NODES),
        "spread": Many(Real(0.0, 1.0), NODES),
        "lower": Many(Real(0.0, 1.0), NODES),
        "z": Real(0.05, 1.8),
    },
    bounded,
    start={
        "alpha": 1.0,
        "centre": 0.125,
        "chance": (Fraction(3, 8),) * NODES,
        "spread": (0.75,) * NODES,
        "lower": (0.25,) * NODES,
        "z": 1.0,
    },
)
AZUMA_MEANS: Final = Proof(
    "azuma-conditional-means",
    Step("statement", LOSS_TAIL, "<=", Z_BOUND, "subtract the conditional means: the rest is a martingale"),
    BOUNDED_DOMAIN,
    (
        Step(
            "one round",
            Term(
                r"\mathbb E[e^{\lambda(C_i-\mathbb E[C_i\mid\text{past}])}\mid\text{past}]", lambda v: v.mgf
            ),
            "<=",
            Term(r"e^{\lambda^2\alpha^2/2}", lambda v: col(exp(v.z**2 / (2 * DEPTH)))),
            "Hoeffding's lemma for a range of 2 alpha",
            lemma=True,
        ),
        Step("centre", LOSS_TAIL, "<=", CENTRED_TAIL, "each conditional mean is at most beta"),
        Step("Markov", CENTRED_TAIL, "<=", CENTRED_MARKOV, "Markov's inequality"),
        Step("induction", CENTRED_MARKOV, "<=", HOEFFDING, "round by round", uses=("one round",)),
        Step("best lambda", HOEFFDING, "=", Z_BOUND, "lambda = z/(sqrt(k) alpha)"),
    ),
    "Dwork and Roth, 2014",
    {
        "losses at most alpha": replace(BOUNDED_DOMAIN, build=lambda v: bounded(v, 4)),
        "means at most beta": replace(BOUNDED_DOMAIN, build=lambda v: bounded(v, 1, 1)),
    },
)
PROOFS: Final = (AZUMA, AZUMA_MEANS)
