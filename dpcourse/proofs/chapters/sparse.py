"""Above-threshold, the heart of the sparse vector technique: pay for the answer "above" only.

The threshold gets Laplace noise of scale 2/eps, each query of scale 4/eps. Queries are whole numbers and
u = e^{eps/4} is a fraction, so that every probability is a fraction too.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import where
from dpcourse.proofs.lists import Laws, Many
from dpcourse.proofs.objects import col
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Whole
from dpcourse.proofs.steps import Step, Term

WORLDS: Final = 3
SIXTH: Final = Fraction(1, 6)


def answer_above(u: Any, a: Any, b: Any) -> Any:
    """Pr[rho > a, nu >= rho - b] for rho ~ Lap(2/eps), nu ~ Lap(4/eps), u = e^{eps/4}.

    The integral of the density of rho against the tail of nu, in three pieces with ends at 0 and b.
    """
    u = col(u)
    first, second = np.minimum(0, b), np.maximum(0, b)
    low = np.minimum(a, first)  # below both ends: (u^{2z} - u^{3z-b}/3)/2
    below = (u ** (2 * first) - u ** (2 * low)) / 2 - SIXTH * (u ** (3 * first - b) - u ** (3 * low - b))
    left, right = np.clip(a, first, second), second
    falling = (u ** (right + b) - u ** (left + b)) / 2  # between them if b < 0
    rising = (u ** (-2 * left) - u ** (-2 * right)) / 2 + (u ** (-right - b) - u ** (-left - b)) / 2
    above = SIXTH * u ** (b - 3 * np.maximum(a, second))
    return below + where(b < 0, falling, rising) + above


def two_streams(v: Any) -> dict[str, Any]:
    """Two queries answered "below", a third "above"; the noise of the first two is one of a few worlds."""
    return _worlds(v, v.queries + v.move)


def _worlds(v: Any, others: Any) -> dict[str, Any]:
    noise = v.noise.reshape(-1, WORLDS, 2)
    here = (v.queries[:, None, :2] + noise).max(-1)
    there = (others[:, None, :2] + noise).max(-1)
    above, above_there = (np.repeat(q[:, 2:], WORLDS, 1) for q in (v.queries, others))
    shift = here - there
    return {
        "here": answer_above(v.u, here, above),
        "there": answer_above(v.u, there, above_there),
        "rho": abs(shift),
        "nu": abs(shift - (above - above_there)),
    }


HERE = Term(r"\Pr[\bot\bot\top\mid D]", lambda v: (v.worlds * v.here).sum(-1))
MOVED = Term(
    r"\sum_r\mu(r)\,e^{\frac{\varepsilon}2|\Delta\rho|}e^{\frac{\varepsilon}4|\Delta\nu|}\Pr[\top\mid D',r]",
    lambda v: (v.worlds * col(v.u) ** (2 * v.rho + v.nu) * v.there).sum(-1),
)
THERE = Term(r"e^{\varepsilon}\Pr[\bot\bot\top\mid D']", lambda v: v.u**4 * (v.worlds * v.there).sum(-1))
DOMAIN: Final = Domain(
    {
        "u": Rational(1, 2),
        "queries": Many(Whole(-4, 4), 3),
        "move": Many(Whole(-1, 1), 3),
        "noise": Many(Whole(-4, 4), 2 * WORLDS),
        "worlds": Laws(WORLDS),
    },
    two_streams,
    start={"u": Fraction(5, 4), "queries": (0, 0, 1), "move": (1, 1, -1), "noise": (0, 1, 2, -1, 0, 0)},
)
ABOVE_THRESHOLD: Final = Proof(
    "above-threshold",
    Step("statement", HERE, "<=", THERE, "the threshold is 0; any number of queries below it would do"),
    DOMAIN,
    (
        Step(
            "threshold noise",
            Term(r"|\Delta\rho|=|g-g'|", lambda v: v.rho),
            "<=",
            Term("1", lambda v: 0 * v.rho + 1),
            "g, the largest noisy answer so far, changes by at most 1, however many there are",
            lemma=True,
        ),
        Step(
            "query noise",
            Term(r"|\Delta\nu|", lambda v: v.nu),
            "<=",
            Term("2", lambda v: 0 * v.nu + 2),
            "the query moves by 1 and the threshold that it must reach by 1",
            lemma=True,
        ),
        Step(
            "change of variables",
            HERE,
            "<=",
            MOVED,
            "shift rho and nu so that the events agree; Laplace slides",
        ),
        Step(
            "two shifts", MOVED, "<=", THERE, "eps/2 + 2 eps/4 = eps", uses=("threshold noise", "query noise")
        ),
    ),
    "Dwork and Roth, 2014; Lyu, Su and Li, PVLDB 2017",
    {"sensitivity": replace(DOMAIN, build=lambda v: _worlds(v, v.queries + 2 * v.move))},
)
PROOFS: Final = (ABOVE_THRESHOLD,)
