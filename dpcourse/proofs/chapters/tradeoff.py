"""Tests and losses: the best test, and optimal composition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import is_exact, maximum, stack, where
from dpcourse.proofs.lists import Laws, Many
from dpcourse.proofs.objects import (
    col,
    fair,
    one_sided_pair,
    positive_part,
    pure_pair,
)
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational
from dpcourse.proofs.steps import Step, Term

OUTCOMES: Final = 4

# The best test ------------------------------------------------------------------------------------


def middle(x: Any) -> Any:
    """The middle of a bracket, or an exact number itself."""
    return x if is_exact(x) else (x.lower + x.upper) / 2


def any_test(v: Any) -> dict[str, Any]:
    """A test says "P" at outcome y with probability phi(y); `best` says it where P > t Q."""
    p, q = fair(v.laws[:, 0]), fair(v.laws[:, 1])
    excess = p - col(v.ratio) * q
    # A tie adds nothing to either side, so a bracket may decide it as it likes.
    best = np.asarray(middle(excess) > 0).astype(int)
    return {"p": p, "q": q, "excess": excess, "best": best, "phi": v.test}


def no_more_alarms(v: Any) -> dict[str, Any]:
    """The same, with phi scaled down until it has no more false positives than the best test."""
    made = any_test(v)
    allowed, alarms = (made["q"] * made["best"]).sum(-1), (made["q"] * v.test).sum(-1)
    least = maximum(allowed, alarms)
    least = where(middle(least) == 0, Fraction(1), least)  # both are 0: the test never says "P"
    return made | {"phi": v.test * col(where(middle(alarms) == 0, Fraction(1), allowed / least))}


def _false_alarms(v: Any, test: Any) -> Any:
    return v.ratio * (v.q * test).sum(-1)


def _line(v: Any, test: Any) -> Any:
    return 1 - positive_part(v.excess).sum(-1) - _false_alarms(v, test)


BEST_MISS = Term(r"\mathrm{FNR}(\varphi^*)", lambda v: 1 - (v.p * v.best).sum(-1))
BEST_LINE = Term(
    r"1-\delta(\varepsilon)-e^{\varepsilon}\,\mathrm{FPR}(\varphi^*)", lambda v: _line(v, v.best)
)
LINE = Term(r"1-\delta(\varepsilon)-e^{\varepsilon}\,\mathrm{FPR}(\varphi)", lambda v: _line(v, v.phi))
TAKEN = Term(
    r"1-\sum_y\varphi(y)\big(P-e^{\varepsilon}Q\big)_+-e^{\varepsilon}\,\mathrm{FPR}(\varphi)",
    lambda v: 1 - (v.phi * positive_part(v.excess)).sum(-1) - _false_alarms(v, v.phi),
)
SIGNED = Term(
    r"1-\sum_y\varphi(y)\big(P-e^{\varepsilon}Q\big)-e^{\varepsilon}\,\mathrm{FPR}(\varphi)",
    lambda v: 1 - (v.phi * v.excess).sum(-1) - _false_alarms(v, v.phi),
)
MISS = Term(r"\mathrm{FNR}(\varphi)", lambda v: 1 - (v.p * v.phi).sum(-1))
TESTS: Final = Domain(
    {
        "ratio": Rational(Fraction(1, 8), 8, log=True),
        "laws": Laws(OUTCOMES, 2),
        "test": Many(Rational(0, 1), OUTCOMES),
    },
    no_more_alarms,
    start={"ratio": Fraction(3, 2), "laws": ((4, 3, 2, 1), (1, 2, 3, 4)), "test": (1, Fraction(1, 2), 0, 0)},
)
LINE_STEPS: Final = (
    Step("all of each excess", LINE, "<=", TAKEN, "a test says P with probability at most 1"),
    Step("positive part", TAKEN, "<=", SIGNED, "leaving out what is negative only helps"),
    Step("cancel", SIGNED, "=", MISS, "e^eps times the false positives cancels"),
)
LINES: Final = Proof(
    "tradeoff-lines",
    Step("statement", LINE, "<=", MISS, "each (eps, delta(eps)) is a line that no test gets below"),
    replace(TESTS, build=any_test),
    LINE_STEPS,
    "Wasserman and Zhou, JASA 2010; Kairouz, Oh and Viswanath, ICML 2015",
)
NEYMAN_PEARSON: Final = Proof(
    "neyman-pearson",
    Step("statement", BEST_MISS, "<=", MISS, "say P where the loss is above eps"),
    TESTS,
    (
        Step("on the line", BEST_MISS, "=", BEST_LINE, "the best test takes every excess, and nothing else"),
        Step("fewer alarms", BEST_LINE, "<=", LINE, "phi has no more false positives than the best test"),
        *LINE_STEPS,
    ),
    "Neyman and Pearson, 1933",
    {"no more false positives": replace(TESTS, build=any_test)},
)

# Optimal composition ------------------------------------------------------------------------------

ANSWERS: Final = 3


def _two_rounds(v: Any, pair: Any) -> dict[str, Any]:
    """A first answer x, then a second one y by a mechanism that depends on x."""
    p1, q1 = pair(v.first, v.ratio)
    rows = v.second.reshape(len(v.second), ANSWERS, 2, ANSWERS) if is_exact(v.second) else _rows(v.second)
    p2, q2 = pair(rows, col(v.ratio))
    h = v.ratio / (1 + v.ratio)
    truth, lie = stack([h, 1 - h]), stack([1 - h, h])
    return {"p1": p1, "q1": q1, "p2": p2, "q2": q2, "h": h, "truth": truth, "lie": lie}


def _rows(second: Bracket) -> Bracket:
    shape = (len(second.lower), ANSWERS, 2, ANSWERS)
    return Bracket(second.lower.reshape(shape), second.upper.reshape(shape))


def _joint(p1: Any, q1: Any, p2: Any, q2: Any, total: Any) -> Any:
    return positive_part(col(p1) * p2 - col(col(total)) * (col(q1) * q2)).sum(-1).sum(-1)


def _maps(v: Any) -> Any:
    """The map that makes (P_1, Q_1) of randomized response; it must not be negative."""
    r = col(v.ratio)
    return stack([r * v.p1 - v.q1, r * v.q1 - v.p1])


VIEWS = Term(
    r"\sum_{x,y}\big(P_1(x)P_2(y|x)-e^{\varepsilon'}Q_1(x)Q_2(y|x)\big)_+",
    lambda v: _joint(v.p1, v.q1, v.p2, v.q2, v.total),
)
HALF_WAY = Term(
    r"\sum_{x,b}\big(P_1(x)R(b)-e^{\varepsilon'}Q_1(x)R'(b)\big)_+",
    lambda v: _joint(v.p1, v.q1, v.truth[..., None, :], v.lie[..., None, :], v.total),
)
RESPONSES = Term(
    r"\sum_{a,b}\big(R(a)R(b)-e^{\varepsilon'}R'(a)R'(b)\big)_+",
    lambda v: _joint(v.truth, v.lie, v.truth[..., None, :], v.lie[..., None, :], v.total),
)
BINOMIAL = Term(
    r"\sum_j\tbinom2j\big(h^{2-j}(1-h)^j-e^{\varepsilon'}h^j(1-h)^{2-j}\big)_+",
    lambda v: sum(
        n * positive_part(v.h ** (2 - j) * (1 - v.h) ** j - v.total * v.h**j * (1 - v.h) ** (2 - j))
        for j, n in enumerate((1, 2, 1))
    ),
)
ROUNDS: Final = Domain(
    {
        "ratio": Rational(Fraction(17, 16), 8, log=True),
        "total": Rational(1, 16, log=True),
        "first": Laws(ANSWERS, 2),
        "second": Laws(ANSWERS, 2 * ANSWERS),
    },
    lambda v: _two_rounds(v, pure_pair),
    start={
        "ratio": Fraction(2),
        "total": Fraction(3, 2),
        "first": ((3, 2, 1), (1, 1, 4)),
        "second": ((4, 1, 1), (1, 1, 4), (1, 4, 1), (2, 1, 3), (1, 2, 3), (3, 2, 1)),
    },
)
OPTIMAL: Final = Proof(
    "optimal-composition",
    Step("statement", VIEWS, "<=", BINOMIAL, "no worse than two randomized responses"),
    ROUNDS,
    (
        Step(
            "a map of randomized response",
            Term(r"e^{\varepsilon}P_1-Q_1,\ e^{\varepsilon}Q_1-P_1", _maps),
            ">=",
            Term("0", lambda v: 0 * _maps(v)),
            "privacy in both directions: P_1 and Q_1 are one map of R and R'; so are P_2 and Q_2 for each x",
            lemma=True,
        ),
        Step(
            "second round",
            VIEWS,
            "<=",
            HALF_WAY,
            "for each x the second answer is a map of R or R', and a map only loses",
        ),
        Step(
            "first round",
            HALF_WAY,
            "<=",
            RESPONSES,
            "and so is the first answer",
            uses=("a map of randomized response",),
        ),
        Step("count", RESPONSES, "=", BINOMIAL, "only the number of lies matters"),
    ),
    "Kairouz, Oh and Viswanath, ICML 2015",
    {"both directions": replace(ROUNDS, build=lambda v: _two_rounds(v, one_sided_pair))},
)

PROOFS: Final = (LINES, NEYMAN_PEARSON, OPTIMAL)
