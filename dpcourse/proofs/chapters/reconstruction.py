"""Reconstruction: how much accurate answers give away, and how little a private answer can.

First the argument of Dinur and Nissim against an adversary who asks about every set of people; then the bound
on every guess about a person's bit from an answer that is differentially private. All lines are exact.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import maximum
from dpcourse.proofs.lists import Laws, Many
from dpcourse.proofs.objects import chosen, one_sided_pair, pure_pair
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Whole
from dpcourse.proofs.steps import Step, Term

PEOPLE: Final = 4
SETS: Final = chosen(np.arange(1 << PEOPLE), PEOPLE)
"""Every set of people, set s holding person i if bit i of s is 1."""


def _candidates(v: Any, asked: Any = slice(None)) -> dict[str, Any]:
    """The counts of two candidates, the sets A and B where they differ, and their largest error E."""
    x, y, place = v.x @ SETS.T, v.y @ SETS.T, 1 << np.arange(PEOPLE)
    numbers = np.stack([(v.x > v.y) @ place, (v.y > v.x) @ place], 1)
    at = np.arange(len(x))[:, None], numbers
    worst = [abs(counts - v.answers)[:, asked].max(-1) for counts in (x, y)]
    return {"x_at": x[at], "y_at": y[at], "a_at": v.answers[at], "E": maximum(*worst)}


HALFWAY: Final = [
    {
        "x": x,
        "y": y,
        "answers": tuple(Fraction(int(a + b), 2) for a, b in zip(SETS @ x, SETS @ y, strict=True)),
    }
    for x, y in (((1, 1, 0, 0), (0, 0, 1, 1)), ((1, 0, 1, 0), (0, 1, 1, 0)), ((1, 1, 1, 0), (0, 0, 1, 1)))
]
CANDIDATES: Final = Domain(
    {
        "x": Many(Whole(0, 1), PEOPLE),
        "y": Many(Whole(0, 1), PEOPLE),
        "answers": Many(Rational(0, PEOPLE), 1 << PEOPLE),
    },
    _candidates,
    HALFWAY,
    start=HALFWAY[0],
)

DISTANCE = Term(r"d(x,y)", lambda v: (v.x != v.y).sum(-1))
TWO_SETS = Term(r"|A|+|B|", lambda v: (v.x > v.y).sum(-1) + (v.y > v.x).sum(-1))
COUNTED = Term(r"|x(A)-y(A)|+|x(B)-y(B)|", lambda v: abs(v.x_at - v.y_at).sum(-1))
ANSWERED = Term(
    r"\sum_{S\in\{A,B\}}|x(S)-a_S|+|a_S-y(S)|",
    lambda v: (abs(v.x_at - v.a_at) + abs(v.a_at - v.y_at)).sum(-1),
)
FOUR_ERRORS = Term(r"4E", lambda v: 4 * v.E)

EXHAUSTIVE: Final = Proof(
    "exhaustive-reconstruction",
    Step("statement", DISTANCE, "<=", FOUR_ERRORS, "two questions tell the candidates apart"),
    CANDIDATES,
    (
        Step("two sets", DISTANCE, "=", TWO_SETS, "A is where x = 1 and y = 0; B is where x = 0 and y = 1"),
        Step("count", TWO_SETS, "=", COUNTED, "x(A) = |A| and y(A) = 0; x(B) = 0 and y(B) = |B|"),
        Step("triangle", COUNTED, "<=", ANSWERED, "go through the answer a_S to the same question"),
        Step(
            "errors", ANSWERED, "<=", FOUR_ERRORS, "x and y fit every answer within E, also those to A and B"
        ),
    ),
    "Dinur and Nissim, PODS 2003",
    {
        "every set is asked": replace(
            CANDIDATES, build=lambda v: _candidates(v, SETS.sum(1) == 1), hard=(), start=None
        )
    },
)

OUTCOMES: Final = 3


def _guess(v: Any, pair: Any = pure_pair) -> dict[str, Any]:
    """Pr[guess is 1] if the bit is 1 and if it is 0; how often that is right, for a fair bit."""
    p, q = pair(v.kernel, v.ratio)
    says_one = chosen(v.event, OUTCOMES)
    s, t = (p * says_one).sum(-1), (q * says_one).sum(-1)
    return {"s": s, "t": t, "right": (s + 1 - t) / 2}


RESPONSE: Final = {"ratio": Fraction(3), "kernel": ((1, 0, 0), (0, 1, 0)), "event": 1}
"""Randomized response that tells the truth with probability 3/4, and believing it: the bound is reached."""
GUESSES: Final = Domain(
    {"ratio": Rational(1, 8), "kernel": Laws(OUTCOMES, 2), "event": Whole(0, (1 << OUTCOMES) - 1)},
    _guess,
    [RESPONSE],
    start=RESPONSE,
)
RIGHT = Term(r"\Pr[\text{right}]", lambda v: v.right)
SHARED = Term(
    r"\frac{\Pr[\text{right}]+e^{\varepsilon}\Pr[\text{right}]}{1+e^{\varepsilon}}",
    lambda v: (v.right + v.ratio * v.right) / (1 + v.ratio),
)
TRADED = Term(
    r"\frac{e^{\varepsilon}\Pr[\text{wrong}]+e^{\varepsilon}\Pr[\text{right}]}{1+e^{\varepsilon}}",
    lambda v: (v.ratio * (1 - v.right) + v.ratio * v.right) / (1 + v.ratio),
)
GUESS_BOUND = Term(r"\frac{e^{\varepsilon}}{1+e^{\varepsilon}}", lambda v: v.ratio / (1 + v.ratio))

GUESSING: Final = Proof(
    "guessing-bound",
    Step("statement", RIGHT, "<=", GUESS_BOUND, "right is at most e^eps times as likely as wrong"),
    GUESSES,
    (
        Step(
            "guess 1",
            Term(r"\Pr[\text{guess }1\mid 1]", lambda v: v.s),
            "<=",
            Term(r"e^{\varepsilon}\Pr[\text{guess }1\mid 0]", lambda v: v.ratio * v.t),
            "the promise, for the answers that lead to the guess 1",
            lemma=True,
        ),
        Step(
            "guess 0",
            Term(r"\Pr[\text{guess }0\mid 0]", lambda v: 1 - v.t),
            "<=",
            Term(r"e^{\varepsilon}\Pr[\text{guess }0\mid 1]", lambda v: v.ratio * (1 - v.s)),
            "the promise the other way round, for the other answers",
            lemma=True,
        ),
        Step("share out", RIGHT, "=", SHARED, "multiply and divide by 1 + e^eps"),
        Step("trade", SHARED, "<=", TRADED, "the mean of the two lemmas", uses=("guess 1", "guess 0")),
        Step("collect", TRADED, "=", GUESS_BOUND, "right and wrong add up to 1"),
    ),
    "Dwork and Roth, 2014, for the definition; Kairouz, Oh and Viswanath, 2015, for the region of errors",
    {
        "the promise in both directions": replace(
            GUESSES, build=lambda v: _guess(v, one_sided_pair), hard=(), start=None
        )
    },
)
PROOFS: Final = (EXHAUSTIVE, GUESSING)
