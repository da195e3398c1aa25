"""Laplace noise, randomized response and histograms: privacy and accuracy.

Positions are whole numbers (of a unit as small as you like), epsilon is a fraction: every line is exact.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, stack
from dpcourse.proofs.lists import Many
from dpcourse.proofs.objects import col
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Whole
from dpcourse.proofs.steps import Step, Term

EPSILON: Final = Rational(Fraction(1, 16), 4)


def shifts(
    name: str, domain: Domain, reference: str, sensitivity: str, hypotheses: dict[str, Domain]
) -> Proof:
    """The proof for Laplace noise of scale Delta/eps around f, in logarithms of densities.

    The domain builds f (`centre`), f' (`other`), the output y, and the sensitivity `Delta`.
    """
    loss = Term(
        r"\ln\frac{p_D(y)}{p_{D'}(y)}",
        lambda v: (
            v.epsilon * _l1(v.output - v.other) / v.Delta - v.epsilon * _l1(v.output - v.centre) / v.Delta
        ),
    )
    written = Term(
        r"\frac{\varepsilon}{\Delta}\sum_j\big(|y_j-f'_j|-|y_j-f_j|\big)",
        lambda v: v.epsilon / v.Delta * (abs(v.output - v.other) - abs(v.output - v.centre)).sum(-1),
    )
    distance = Term(
        r"\frac{\varepsilon}{\Delta}\|f-f'\|_1", lambda v: v.epsilon / v.Delta * _l1(v.centre - v.other)
    )
    epsilon = Term(r"\varepsilon", lambda v: v.epsilon)
    steps = (
        Step(
            "each coordinate",
            Term(r"|y_j-f'_j|-|y_j-f_j|", lambda v: abs(v.output - v.other) - abs(v.output - v.centre)),
            "<=",
            Term(r"|f_j-f'_j|", lambda v: abs(v.centre - v.other)),
            "the triangle inequality",
            lemma=True,
        ),
        Step("densities", loss, "=", written, "independent noise: densities multiply, normalisers cancel"),
        Step("triangle", written, "<=", distance, "add up the coordinates", uses=("each coordinate",)),
        Step("sensitivity", distance, "<=", epsilon, sensitivity),
    )
    statement = Step("statement", loss, "<=", epsilon, "densities with ratio at most e^eps")
    return Proof(name, statement, domain, steps, reference, hypotheses)


def _l1(x: Any) -> Any:
    return abs(x).sum(-1)


def _clipped(v: Any) -> dict[str, Any]:
    """f' = f + shift, where coordinate after coordinate may use what is left of the sensitivity."""
    left, moves = v.Delta, []
    for j in range(v.shift.shape[1]):
        moves.append(np.clip(v.shift[:, j], -left, left))
        left = left - abs(moves[-1])
    return {"other": v.centre + np.stack(moves, 1)}


POSITIONS: Final = Many(Whole(-20, 20), 3)
LAPLACE_DOMAIN: Final = Domain(
    {
        "epsilon": EPSILON,
        "Delta": Whole(1, 10),
        "centre": POSITIONS,
        "shift": Many(Whole(-10, 10), 3),
        "output": POSITIONS,
    },
    _clipped,
    [{"shift": (10, 0, 0), "Delta": 10, "output": (20, 20, 20), "centre": (0, 0, 0)}],
    start={"epsilon": Fraction(1, 2), "Delta": 3, "shift": (2, -1, 0), "output": (1, 5, 0)},
)
LAPLACE: Final = shifts(
    "laplace-privacy",
    LAPLACE_DOMAIN,
    "Dwork, McSherry, Nissim and Smith, TCC 2006",
    "neighbours differ by at most Delta in l1 norm",
    {"sensitivity in l1": replace(LAPLACE_DOMAIN, build=lambda v: {"other": v.centre + v.shift}, hard=())},
)


def _tail(v: Any) -> dict[str, Any]:
    """t = ln(k/beta), and the chance of each coordinate to exceed it."""
    return {"t": log(v.k / v.beta), "each": v.beta / v.k}


def _uncounted(v: Any) -> dict[str, Any]:
    """The mistake: t for one coordinate, whatever their number."""
    return {"t": log(1 / v.beta), "each": v.beta}


MISS = Term(r"\Pr[\max_j|Y_j|\ge tb]", lambda v: 1 - (1 - v.each) ** v.k)
UNION = Term(r"\sum_{j\le k}\Pr[|Y_j|\ge tb]", lambda v: v.k * v.each)
ACCURACY_DOMAIN: Final = Domain({"k": Whole(1, 12), "beta": Rational(Fraction(1, 1000), 1)}, _tail)
LAPLACE_ACCURACY: Final = Proof(
    "laplace-accuracy",
    Step("statement", MISS, "<=", Term(r"\beta", lambda v: v.beta), "the choice t = ln(k/beta)"),
    ACCURACY_DOMAIN,
    (
        Step(
            "one coordinate",
            Term(r"2\cdot\tfrac12e^{-t}", lambda v: 2 * exp(-v.t) / 2),
            "=",
            Term(r"\beta/k", lambda v: v.each),
            "both tails of Laplace noise beyond t scales, at t = ln(k/beta)",
            lemma=True,
        ),
        Step("union bound", MISS, "<=", UNION, "at least one of k independent events"),
        Step("choice", UNION, "=", Term(r"\beta", lambda v: v.beta), "the tail", uses=("one coordinate",)),
    ),
    "Dwork and Roth, 2014",
    {"all coordinates counted": replace(ACCURACY_DOMAIN, build=_uncounted)},
)


def _two_coins(v: Any) -> dict[str, Any]:
    """Coin 1 says "tell the truth" with probability t; else coin 2, a fair one, answers."""
    yes = stack([v.truth + (1 - v.truth) / 2, (1 - v.truth) / 2])  # Pr[Yes] if the truth is Yes, No
    return _answers(yes, v.truth)


def _one_coin(v: Any) -> dict[str, Any]:
    """The mistake: coin 2 is coin 1 again, so whoever does not tell the truth says Yes."""
    return _answers(stack([v.truth * 0 + 1, 1 - v.truth]), v.truth)


def _answers(yes: Any, truth: Any) -> dict[str, Any]:
    """Over (truth, answer): the chance of the answer here, and for the other truth."""
    return {
        "here": stack([yes[:, 0], 1 - yes[:, 0], yes[:, 1], 1 - yes[:, 1]]),
        "there": stack([yes[:, 1], 1 - yes[:, 1], yes[:, 0], 1 - yes[:, 0]]),
        "ratio": (1 + truth) / (1 - truth),
    }


ANSWER = Term(r"\Pr[A(x)=y]", lambda v: v.here)
LIKELY = Term(r"\tfrac{1+t}2", lambda v: col((1 + v.truth) / 2))
SCALED = Term(r"e^{\varepsilon}\,\tfrac{1-t}2", lambda v: col(v.ratio * (1 - v.truth) / 2))
OTHER_ANSWER = Term(r"e^{\varepsilon}\Pr[A(x')=y]", lambda v: col(v.ratio) * v.there)
RESPONSE_DOMAIN: Final = Domain({"truth": Rational(0, Fraction(99, 100))}, _two_coins)
RESPONSE: Final = Proof(
    "randomized-response",
    Step("statement", ANSWER, "<=", OTHER_ANSWER, "for both answers y and both truths x"),
    RESPONSE_DOMAIN,
    (
        Step("at most", ANSWER, "<=", LIKELY, "the truth, or heads twice: t + (1-t)/2, or only the latter"),
        Step("epsilon", LIKELY, "=", SCALED, "the definition e^eps = (1+t)/(1-t)"),
        Step("at least", SCALED, "<=", OTHER_ANSWER, "each answer has at least the chance of heads twice"),
    ),
    "Warner, JASA 1965",
    {"fresh second coin": replace(RESPONSE_DOMAIN, build=_one_coin)},
)

BINS: Final = 4


def _unit(bin_number: Any) -> Any:
    return (np.arange(BINS) == bin_number[:, None]).astype(int)


def one_row_more(v: Any) -> dict[str, Any]:
    """D' has one row more than D, or one less."""
    return {"other": v.centre + np.where(v.added, 1, -1)[:, None] * _unit(v.to), "Delta": 1}


def one_row_moved(v: Any) -> dict[str, Any]:
    """In D' one row of D has another value."""
    return {"other": v.centre + _unit(v.to) - _unit(v.out_of), "Delta": 1}


def one_row_moved_double(v: Any) -> dict[str, Any]:
    """The same with noise for a sensitivity of 2."""
    return one_row_moved(v) | {"Delta": 2}


def two_rows_moved(v: Any) -> dict[str, Any]:
    """Not neighbours: two rows change."""
    return {"other": v.centre + 2 * _unit(v.to) - 2 * _unit(v.out_of), "Delta": 2}


HISTOGRAM_PARAMETERS: Final = {
    "epsilon": EPSILON,
    "centre": Many(Whole(2, 9), BINS),
    "to": Whole(0, BINS - 1),
    "out_of": Whole(0, BINS - 1),
    "output": Many(Whole(-5, 15), BINS),
}
ADD_REMOVE_DOMAIN: Final = Domain(HISTOGRAM_PARAMETERS | {"added": Whole(0, 1)}, one_row_more)
REPLACE_DOMAIN: Final = Domain(
    HISTOGRAM_PARAMETERS, one_row_moved_double, start={"to": 0, "out_of": 1, "output": (5, 6, 6, 6)}
)
HISTOGRAM_ADD_REMOVE: Final = shifts(
    "histogram-add-remove",
    ADD_REMOVE_DOMAIN,
    "Dwork, McSherry, Nissim and Smith, TCC 2006",
    "one row more or less changes one count by 1; the scale is 1/eps",
    {"adjacency": replace(ADD_REMOVE_DOMAIN, build=one_row_moved)},
)
HISTOGRAM_REPLACE: Final = shifts(
    "histogram-replace",
    REPLACE_DOMAIN,
    "Dwork, McSherry, Nissim and Smith, TCC 2006",
    "a changed row leaves one count and enters another; the scale is 2/eps",
    {"adjacency": replace(REPLACE_DOMAIN, build=two_rows_moved)},
)
PROOFS: Final = (LAPLACE, LAPLACE_ACCURACY, RESPONSE, HISTOGRAM_ADD_REMOVE, HISTOGRAM_REPLACE)
