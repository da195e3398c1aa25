"""Post-processing and basic composition, adaptive, over arbitrary small mechanisms; all lines are exact."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import fractions, minimum, stack
from dpcourse.proofs.lists import Laws, Many
from dpcourse.proofs.objects import approx_pair, chosen, col, positive_part, pure_pair
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Whole
from dpcourse.proofs.steps import Step, Term

OUTCOMES: Final = 3
RATIO: Final = Rational(1, 4)
DELTA: Final = Rational(0, Fraction(1, 2))


def _preimages(v: Any) -> Any:
    """For each of the deterministic maps, which outcomes it sends into the event T."""
    in_event = chosen(v.event, OUTCOMES)
    maps = v.maps.reshape(-1, OUTCOMES, OUTCOMES)
    return np.take_along_axis(in_event[:, None, :].repeat(OUTCOMES, 1), maps, 2)


def _processed(v: Any, other_maps: bool = False) -> dict[str, Any]:
    """The law of f(M(x)) on T, answer by answer; and map by map, the chance of the preimage of T."""
    p, q = approx_pair(v.kernel, v.ratio, v.delta)
    sets = _preimages(v)
    there = sets[:, ::-1] if other_maps else sets
    sent = (v.maps.reshape(-1, OUTCOMES, OUTCOMES)[..., None] == np.arange(OUTCOMES)).astype(int)
    kernel = (v.mixture[:, :, None, None] * sent).sum(1)  # Pr[f(y) = z]
    answers = (p[..., None] * kernel).sum(1)
    return {
        "inside": (answers * chosen(v.event, OUTCOMES)).sum(-1),
        "p_w": (p[:, None] * sets).sum(-1),
        "q_w": (q[:, None] * there).sum(-1),
    }


PROCESSED = Term(r"\Pr[f(M(x))\in T]", lambda v: v.inside)
PREIMAGE = Term(r"\sum_w\lambda_w\Pr[M(x)\in f_w^{-1}(T)]", lambda v: (v.p_w * v.mixture).sum(-1))
PROMISED = Term(
    r"\sum_w\lambda_w\big(e^{\varepsilon}\Pr[M(x')\in f_w^{-1}(T)]+\delta\big)",
    lambda v: (v.mixture * (col(v.ratio) * v.q_w + col(v.delta))).sum(-1),
)
PROCESSED_BOUND = Term(
    r"e^{\varepsilon}\Pr[f(M(x'))\in T]+\delta", lambda v: v.ratio * (v.mixture * v.q_w).sum(-1) + v.delta
)
PROCESS_DOMAIN: Final = Domain(
    {
        "ratio": RATIO,
        "delta": DELTA,
        "kernel": Laws(OUTCOMES, 4),
        "maps": Many(Whole(0, OUTCOMES - 1), OUTCOMES * OUTCOMES),
        "mixture": Laws(OUTCOMES),
        "event": Whole(0, 2**OUTCOMES - 1),
    },
    _processed,
    start={"maps": (0, 1, 1, 2, 0, 1, 0, 0, 2), "mixture": (3, 2, 1), "event": 1},
)
POST_PROCESSING: Final = Proof(
    "post-processing",
    Step("statement", PROCESSED, "<=", PROCESSED_BOUND, "a randomized map is a mixture of maps"),
    PROCESS_DOMAIN,
    (
        Step(
            "each map",
            Term(r"\Pr[M(x)\in f_w^{-1}(T)]", lambda v: v.p_w),
            "<=",
            Term(
                r"e^{\varepsilon}\Pr[M(x')\in f_w^{-1}(T)]+\delta",
                lambda v: col(v.ratio) * v.q_w + col(v.delta),
            ),
            "the promise of M for the event f_w^{-1}(T)",
            lemma=True,
        ),
        Step("preimages", PROCESSED, "=", PREIMAGE, "f is f_w with probability lambda_w, whatever M says"),
        Step("promise", PREIMAGE, "<=", PROMISED, "on average over w", uses=("each map",)),
        Step("collect", PROMISED, "=", PROCESSED_BOUND, "the weights lambda_w add up to 1"),
    ),
    "Dwork and Roth, 2014",
    {"the map does not see the data": replace(PROCESS_DOMAIN, build=lambda v: _processed(v, True))},
)


def two_rounds(v: Any) -> dict[str, Any]:
    """M_1, and for each of its answers r_1 a mechanism M_2(., r_1); the joint laws of (r_1, r_2)."""
    p1, q1 = pure_pair(v.first, v.ratio1)
    p2, q2 = pure_pair(_after(v.second, 2), _same(v.ratio2))
    return {"p1": p1, "q1": q1, "p2": p2, "q2": q2, "joint_p": col(p1) * p2, "joint_q": col(q1) * q2}


def _after(rows: Any, size: int) -> Any:
    """The rows of the second mechanism, sorted by the first answer."""
    return stack([rows[:, i * size : (i + 1) * size] for i in range(OUTCOMES)], 1)


def _same(x: Any) -> Any:
    return stack([x] * OUTCOMES)


def same_coins(v: Any) -> dict[str, Any]:
    """The mistake: both answers come from one coin z. M_1 says x + z, M_2 says z: each alone says nothing."""
    even = fractions(np.ones((len(v.event), OUTCOMES), dtype=int), OUTCOMES)
    alone = np.stack([even] * OUTCOMES, 1)
    joint = [np.broadcast_to(np.roll(np.eye(OUTCOMES, dtype=int), x, 0), alone.shape) * alone for x in (0, 1)]
    return {"p1": even, "q1": even, "p2": alone, "q2": alone, "joint_p": joint[0], "joint_q": joint[1]}


def _event(v: Any) -> Any:
    return chosen(v.event, OUTCOMES**2).reshape(-1, OUTCOMES, OUTCOMES)


def _total(table: Any) -> Any:
    return table.sum(-1).sum(-1)


JOINT = Term(r"\Pr[(r_1,r_2)\in T]", lambda v: _total(v.joint_p * _event(v)))
PRODUCT = Term(
    r"\sum_{(r_1,r_2)\in T}\Pr[M_1=r_1]\Pr[M_2(r_1)=r_2]", lambda v: _total(col(v.p1) * v.p2 * _event(v))
)
BOTH = Term(
    r"\sum_{T}e^{\varepsilon_1}\Pr{}'[M_1=r_1]\,e^{\varepsilon_2}\Pr{}'[M_2(r_1)=r_2]",
    lambda v: _total(col(col(v.ratio1) * v.q1) * (col(col(v.ratio2)) * v.q2) * _event(v)),
)
BASIC_BOUND = Term(
    r"e^{\varepsilon_1+\varepsilon_2}\Pr{}'[(r_1,r_2)\in T]",
    lambda v: v.ratio1 * v.ratio2 * _total(v.joint_q * _event(v)),
)
BASIC_DOMAIN: Final = Domain(
    {
        "ratio1": RATIO,
        "ratio2": RATIO,
        "first": Laws(OUTCOMES, 2),
        "second": Laws(OUTCOMES, 2 * OUTCOMES),
        "event": Whole(0, 2 ** (OUTCOMES**2) - 1),
    },
    two_rounds,
)
BASIC: Final = Proof(
    "basic-composition",
    Step("statement", JOINT, "<=", BASIC_BOUND, "factor by factor"),
    BASIC_DOMAIN,
    (
        Step(
            "first round",
            Term(r"\Pr[M_1=r_1]", lambda v: v.p1),
            "<=",
            Term(r"e^{\varepsilon_1}\Pr{}'[M_1=r_1]", lambda v: col(v.ratio1) * v.q1),
            "M_1 is eps_1-DP",
            lemma=True,
        ),
        Step(
            "second round",
            Term(r"\Pr[M_2(r_1)=r_2]", lambda v: v.p2),
            "<=",
            Term(r"e^{\varepsilon_2}\Pr{}'[M_2(r_1)=r_2]", lambda v: col(col(v.ratio2)) * v.q2),
            "M_2(., r_1) is eps_2-DP for every fixed r_1",
            lemma=True,
        ),
        Step("condition", JOINT, "=", PRODUCT, "M_2 has fresh coins: given r_1 it is M_2(., r_1)"),
        Step("both rounds", PRODUCT, "<=", BOTH, "bound each factor", uses=("first round", "second round")),
        Step("collect", BOTH, "=", BASIC_BOUND, "the same conditioning for D'"),
    ),
    "Dwork, Kenthapadi, McSherry, Mironov and Naor, EUROCRYPT 2006",
    {"fresh coins": replace(BASIC_DOMAIN, build=same_coins)},
)


def two_approx_rounds(v: Any) -> dict[str, Any]:
    """The same with (eps_i, delta_i); `here` and `there` are the chances of T in round 2, given r_1."""
    p1, q1 = approx_pair(v.first, v.ratio1, v.delta1)
    p2, q2 = approx_pair(_after(v.second, 4), _same(v.ratio2), _same(v.delta2))
    here, there = (p2 * _event(v)).sum(-1), (q2 * _event(v)).sum(-1)
    return {"p1": p1, "q1": q1, "here": here, "there": there, "capped": minimum(1, col(v.ratio2) * there)}


def same_coins_approx(v: Any) -> dict[str, Any]:
    """The mistake of `same_coins`: given r_1, the second answer tells the data."""
    made = same_coins(v)
    here, there = (OUTCOMES * (made[name] * _event(v)).sum(-1) for name in ("joint_p", "joint_q"))
    capped = minimum(1, col(v.ratio2) * there)
    return {"p1": made["p1"], "q1": made["q1"], "here": here, "there": there, "capped": capped}


def _excess(v: Any) -> Any:
    return positive_part(v.p1 - col(v.ratio1) * v.q1).sum(-1)


APPROX_JOINT = Term(r"\Pr[(r_1,r_2)\in T]", lambda v: (v.p1 * v.here).sum(-1))
ROUND_TWO = Term(
    r"\sum_{r_1}p_1(r_1)\min(1,e^{\varepsilon_2}q_2(T_{r_1}))+\delta_2",
    lambda v: (v.p1 * v.capped).sum(-1) + v.delta2,
)
ROUND_ONE = Term(
    r"\sum_{r_1}e^{\varepsilon_1}q_1(r_1)\min(1,e^{\varepsilon_2}q_2(T_{r_1}))+\delta_1+\delta_2",
    lambda v: v.ratio1 * (v.q1 * v.capped).sum(-1) + v.delta1 + v.delta2,
)
APPROX_BOUND = Term(
    r"e^{\varepsilon_1+\varepsilon_2}\Pr{}'[(r_1,r_2)\in T]+\delta_1+\delta_2",
    lambda v: v.ratio1 * v.ratio2 * (v.q1 * v.there).sum(-1) + v.delta1 + v.delta2,
)
APPROX_DOMAIN: Final = Domain(
    {
        "ratio1": RATIO,
        "ratio2": RATIO,
        "delta1": DELTA,
        "delta2": DELTA,
        "first": Laws(OUTCOMES, 4),
        "second": Laws(OUTCOMES, 4 * OUTCOMES),
        "event": Whole(0, 2 ** (OUTCOMES**2) - 1),
    },
    two_approx_rounds,
)
BASIC_APPROX: Final = Proof(
    "basic-composition-approx",
    Step("statement", APPROX_JOINT, "<=", APPROX_BOUND, "round 2 first, then round 1"),
    APPROX_DOMAIN,
    (
        Step(
            "promise of round 2",
            Term(r"p_2(T_{r_1})", lambda v: v.here),
            "<=",
            Term(r"\min(1,e^{\varepsilon_2}q_2(T_{r_1}))+\delta_2", lambda v: v.capped + col(v.delta2)),
            "for every fixed r_1; a probability is at most 1",
            lemma=True,
        ),
        Step(
            "excess of round 1",
            Term(r"\sum_{r_1}(p_1-e^{\varepsilon_1}q_1)_+", _excess),
            "<=",
            Term(r"\delta_1", lambda v: v.delta1),
            "the promise of M_1 for the event where p_1 is larger",
            lemma=True,
        ),
        Step("round 2", APPROX_JOINT, "<=", ROUND_TWO, "on average", uses=("promise of round 2",)),
        Step("round 1", ROUND_TWO, "<=", ROUND_ONE, "the minimum is at most 1", uses=("excess of round 1",)),
        Step("collect", ROUND_ONE, "<=", APPROX_BOUND, "leave out the minimum"),
    ),
    "Dwork, Kenthapadi, McSherry, Mironov and Naor, EUROCRYPT 2006",
    {"fresh coins": replace(APPROX_DOMAIN, build=same_coins_approx)},
)


PROOFS: Final = (POST_PROCESSING, BASIC, BASIC_APPROX)
