"""Rounding a privacy-loss distribution to a grid: upwards is safe, and costs at most one step a release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.chapters.tradeoff import middle
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp
from dpcourse.proofs.lists import Laws
from dpcourse.proofs.objects import col, fair, log_ratio, positive_part
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Real
from dpcourse.proofs.steps import Step, Term


def _moved(x: Any, width: Any, rounding: Any) -> Bracket:
    """x moved to a multiple of the width by np.ceil, np.floor or np.rint."""
    steps = Bracket.of(x) / width
    whole = Bracket(rounding(steps.lower), rounding(steps.upper))
    return whole * Bracket.of(width)


def _losses(p: Any, q: Any) -> Bracket:
    """ln p/q, and exactly 0 where they are equal: laws of our domains differ by 1e-9 or not at all."""
    same = abs(np.asarray(middle(p) - middle(q), dtype=float)) < 1e-12
    loss = Bracket.of(log_ratio(p, q))
    return Bracket(np.where(same, 0.0, loss.lower), np.where(same, 0.0, loss.upper))


def rounded(v: Any, rounding: Any = np.ceil) -> dict[str, Any]:
    """Two releases: the sum S of their losses and R of the rounded ones, for each pair of outcomes."""
    pairs = [(fair(laws[:, 0]), fair(laws[:, 1])) for laws in (v.one, v.two)]
    losses = [_losses(p, q) for p, q in pairs]
    moved = [_moved(loss, col(v.width), rounding) for loss in losses]
    mass, other = (col(pairs[0][i]) * pairs[1][i][..., None, :] for i in (0, 1))
    total, there = (col(a) + b[..., None, :] for a, b in (losses, moved))
    return {"mass": mass, "other": other, "total": total, "moved": there}


def _delta_at(v: Any, losses: Any, epsilon: Any) -> Any:
    part = positive_part(1 - exp(col(col(epsilon)) - losses))
    return (Bracket.of(v.mass) * part).sum(-1).sum(-1)


def _events(v: Any, epsilon: Any) -> Any:
    """The exact delta of both releases, from their laws and without any logarithm."""
    return positive_part(v.mass - col(col(exp(epsilon))) * v.other).sum(-1).sum(-1)


BY_EVENTS = Term(r"\max_S\Pr[V\in S]-e^{\varepsilon}\Pr[V'\in S]", lambda v: _events(v, v.epsilon))
BY_EVENTS_LATER = Term(
    r"\max_S\Pr[V\in S]-e^{\varepsilon-2h}\Pr[V'\in S]",
    lambda v: _events(v, v.epsilon - 2 * Bracket.of(v.width)),
)
EXACT_DELTA = Term(r"\mathbb E\big[(1-e^{\varepsilon-S})_+\big]", lambda v: _delta_at(v, v.total, v.epsilon))
GRID_DELTA = Term(r"\mathbb E\big[(1-e^{\varepsilon-R})_+\big]", lambda v: _delta_at(v, v.moved, v.epsilon))
SHIFTED = Term(
    r"\mathbb E\big[(1-e^{\varepsilon-2h-S})_+\big]",
    lambda v: _delta_at(v, v.total + 2 * col(col(Bracket.of(v.width))), v.epsilon),
)
SUM = Term(r"S=L_1+L_2", lambda v: v.total)
MOVED = Term(r"R=\lceil L_1\rceil_h+\lceil L_2\rceil_h", lambda v: v.moved)
SUM_AND_MORE = Term(r"S+2h", lambda v: v.total + 2 * col(col(Bracket.of(v.width))))
GRID: Final = Domain(
    {
        "width": Real(0.01, 1.0, log=True),
        "epsilon": Real(0.01, 1.5),
        "one": Laws(3, 2),
        "two": Laws(3, 2),
    },
    rounded,
    start={"width": 0.25, "epsilon": 0.5, "one": ((6, 3, 1), (1, 3, 6)), "two": ((5, 2, 2), (2, 2, 5))},
)
FALLING: Final = {
    "rounded up": replace(GRID, build=lambda v: rounded(v, np.floor)),
    "not to the nearest": replace(GRID, build=lambda v: rounded(v, np.rint)),
}
SAFE: Final = Proof(
    "rounding-up-is-safe",
    Step("statement", BY_EVENTS, "<=", GRID_DELTA, "delta of the rounded losses is never too small"),
    GRID,
    (
        Step("every pair", SUM, "<=", MOVED, "each loss goes up, so their sum does", lemma=True),
        Step(
            "best event", BY_EVENTS, "=", EXACT_DELTA, "the pairs whose loss is above eps, and nothing else"
        ),
        Step("monotone", EXACT_DELTA, "<=", GRID_DELTA, "1 - e^{eps-L} grows with L", uses=("every pair",)),
    ),
    "Koskela, Jalko and Honkela, AISTATS 2020",
    FALLING,
)
COST: Final = Proof(
    "rounding-up-costs",
    Step(
        "statement", GRID_DELTA, "<=", BY_EVENTS_LATER, "k releases on a grid of h: at most delta(eps - k h)"
    ),
    GRID,
    (
        Step("less than a step", MOVED, "<=", SUM_AND_MORE, "each loss goes up by less than h", lemma=True),
        Step("monotone", GRID_DELTA, "<=", SHIFTED, "1 - e^{eps-L} grows with L", uses=("less than a step",)),
        Step("best event", SHIFTED, "=", BY_EVENTS_LATER, "the pairs whose loss is above eps - 2h"),
    ),
    "Koskela, Jalko and Honkela, AISTATS 2020",
)

PROOFS: Final = (SAFE, COST)
