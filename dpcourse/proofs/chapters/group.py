"""Group privacy: what one promise to neighbours says about data sets that differ in k rows.

The objects are a chain D_0 ~ D_1 ~ ... ~ D_k of neighbours and the probabilities p_i of one event S on them,
anywhere that the promise allows. All numbers are fractions (e^epsilon is one too), so every line is exact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import equals, fractions, maximum, minimum, stack, where
from dpcourse.proofs.lists import Many
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Whole
from dpcourse.proofs.steps import Step, Term

LONGEST: Final = 6


def reachable(p: Any, ratio: Any, delta: Any) -> tuple[Any, Any]:
    """The least and the largest Pr[A(D') in S] if Pr[A(D) in S] = p and D' is a neighbour of D.

    The promise holds for S and for its complement, in both directions.
    """
    least = maximum(maximum((p - delta) / ratio, 1 - delta - ratio * (1 - p)), 0)
    most = minimum(minimum(ratio * p + delta, 1 - (1 - p - delta) / ratio), 1)
    return least, most


def event_chain(v: Any, delta: Any, reach: Any = reachable) -> Any:
    """p_0, ..., p_LONGEST: each step goes a part `moves[i]` of the way from the least to the most."""
    chain = [v.start]
    for i in range(LONGEST):
        least, most = reach(chain[-1], v.ratio, delta)
        chain.append(least + v.moves[:, i] * (most - least))
    return stack(chain)


def _series(v: Any, delta: Any, reach: Any = reachable) -> dict[str, Any]:
    """The chain up to k, and the sums 1 + r + ... + r^{i-1} of its errors."""
    powers = v.ratio[:, None] ** np.arange(LONGEST + 1)
    sums = stack([powers[:, :i].sum(1) for i in range(LONGEST + 1)])
    p = event_chain(v, delta, reach)
    rows = np.arange(len(v.k))
    each = rows[:, None], np.minimum(np.arange(1, LONGEST + 1), v.k[:, None])  # past k, the last entry again
    before = each[0], each[1] - 1
    return {
        "p_i": p[each],
        "p_before": p[before],
        "r_i": powers[each],
        "p_k": p[rows, v.k],
        "p_last": p[rows, v.k - 1],
        "r_k": powers[rows, v.k],
        "r_last": powers[rows, v.k - 1],
        "sum_k": sums[rows, v.k],
        "sum_last": sums[rows, v.k - 1],
    }


def _pure(v: Any) -> dict[str, Any]:
    return _series(v, 0)


def _approx(v: Any) -> dict[str, Any]:
    return _series(v, v.delta)


def _anywhere(p: Any, ratio: Any, delta: Any) -> tuple[Any, Any]:
    return 0 * p, 0 * p + 1


def geometric_series(ratio: Any, k: Any) -> Any:
    """(r^k - 1)/(r - 1), which is k at r = 1."""
    one = equals(ratio, 1)
    return where(one, k, (ratio**k - 1) / (ratio - 1 + one))


PARAMETERS: Final = {
    "ratio": Rational(1, 8),
    "k": Whole(1, LONGEST),
    "start": Rational(0, 1),
    "moves": Many(Rational(0, 1), LONGEST),
}
DELTA: Final = Rational(0, fractions(1, 2))
TIGHT: Final = [
    {"ratio": 2, "k": k, "start": start, "moves": (1,) * LONGEST}
    for k in (2, LONGEST)
    for start in (0, fractions(1, 1000))
]
PURE_DOMAIN: Final = Domain(
    PARAMETERS, _pure, TIGHT, start={"ratio": fractions(3, 2), "k": 3, "start": fractions(1, 10)}
)
APPROX_DOMAIN: Final = Domain(
    PARAMETERS | {"delta": DELTA},
    _approx,
    [point | {"delta": fractions(1, 100)} for point in TIGHT],
    start={"ratio": fractions(3, 2), "k": 3, "start": fractions(1, 10), "delta": fractions(1, 100)},
)

P_K = Term(r"\Pr[A(D_k)\in S]", lambda v: v.p_k)
ONE_STEP = Term(r"e^{\varepsilon}\Pr[A(D_{k-1})\in S]", lambda v: v.ratio * v.p_last)
UNFOLDED = Term(
    r"e^{\varepsilon}e^{(k-1)\varepsilon}\Pr[A(D_0)\in S]", lambda v: v.ratio * v.r_last * v.start
)
PURE_BOUND = Term(r"e^{k\varepsilon}\Pr[A(D_0)\in S]", lambda v: v.r_k * v.start)

PURE: Final = Proof(
    "group-privacy-pure",
    Step("statement", P_K, "<=", PURE_BOUND, "induction on the length of the chain"),
    PURE_DOMAIN,
    (
        Step(
            "neighbours",
            Term(r"\Pr[A(D_i)\in S]", lambda v: v.p_i),
            "<=",
            Term(r"e^{\varepsilon}\Pr[A(D_{i-1})\in S]", lambda v: v.ratio[:, None] * v.p_before),
            "for each i, D_i and D_{i-1} differ in one row",
            lemma=True,
        ),
        Step(
            "claim for i",
            Term(r"\Pr[A(D_i)\in S]", lambda v: v.p_i),
            "<=",
            Term(r"e^{i\varepsilon}\Pr[A(D_0)\in S]", lambda v: v.r_i * v.start[:, None]),
            "induction on i, always against D_0: one more neighbour, one more factor",
            lemma=True,
            uses=("neighbours",),
        ),
        Step("last row", P_K, "<=", ONE_STEP, "D_k and D_{k-1} are neighbours", uses=("neighbours",)),
        Step("induction", ONE_STEP, "<=", UNFOLDED, "the claim for i = k - 1", uses=("claim for i",)),
        Step("collect", UNFOLDED, "=", PURE_BOUND, "exponents add"),
    ),
    "Dwork and Roth, 2014",
    {"neighbours": replace(PURE_DOMAIN, build=lambda v: _series(v, 0, _anywhere), hard=())},
)

ONE_STEP_DELTA = Term(r"e^{\varepsilon}\Pr[A(D_{k-1})\in S]+\delta", lambda v: v.ratio * v.p_last + v.delta)
UNFOLDED_DELTA = Term(
    r"e^{\varepsilon}(e^{(k-1)\varepsilon}\Pr[A(D_0)\in S]+\delta\sum_{i<k-1}e^{i\varepsilon})+\delta",
    lambda v: v.ratio * (v.r_last * v.start + v.delta * v.sum_last) + v.delta,
)
SUMMED = Term(
    r"e^{k\varepsilon}\Pr[A(D_0)\in S]+\delta\sum_{i<k}e^{i\varepsilon}",
    lambda v: v.r_k * v.start + v.delta * v.sum_k,
)
CLOSED = Term(
    r"e^{k\varepsilon}\Pr[A(D_0)\in S]+\delta\,\frac{e^{k\varepsilon}-1}{e^{\varepsilon}-1}",
    lambda v: v.r_k * v.start + v.delta * geometric_series(v.ratio, v.k),
)
SIMPLE = Term(
    r"e^{k\varepsilon}\Pr[A(D_0)\in S]+k e^{(k-1)\varepsilon}\delta",
    lambda v: v.r_k * v.start + v.k * v.r_last * v.delta,
)
APPROX_STEPS: Final = (
    Step(
        "neighbours",
        Term(r"\Pr[A(D_i)\in S]", lambda v: v.p_i),
        "<=",
        Term(
            r"e^{\varepsilon}\Pr[A(D_{i-1})\in S]+\delta",
            lambda v: v.ratio[:, None] * v.p_before + v.delta[:, None],
        ),
        "for each i, D_i and D_{i-1} differ in one row",
        lemma=True,
    ),
    Step("last row", P_K, "<=", ONE_STEP_DELTA, "D_k and D_{k-1} are neighbours", uses=("neighbours",)),
    Step(
        "induction",
        ONE_STEP_DELTA,
        "<=",
        UNFOLDED_DELTA,
        "the claim for k-1: each earlier error is multiplied as it travels",
        uses=("neighbours",),
    ),
    Step("collect", UNFOLDED_DELTA, "=", SUMMED, "multiply out"),
    Step("geometric series", SUMMED, "=", CLOSED, "the sum of a geometric series (k, if epsilon = 0)"),
)
_NOT_NEIGHBOURS = replace(APPROX_DOMAIN, build=lambda v: _series(v, v.delta, _anywhere), hard=())

APPROX: Final = Proof(
    "group-privacy-approx",
    Step("statement", P_K, "<=", CLOSED, "induction on the length of the chain"),
    APPROX_DOMAIN,
    APPROX_STEPS,
    "Vadhan, The Complexity of Differential Privacy, 2017",
    {"neighbours": _NOT_NEIGHBOURS},
)
APPROX_SIMPLE: Final = Proof(
    "group-privacy-approx-simple",
    Step("statement", P_K, "<=", SIMPLE, "the exact sum, and its largest term"),
    APPROX_DOMAIN,
    (
        *APPROX_STEPS,
        Step("largest term", CLOSED, "<=", SIMPLE, "each of the k terms is at most the last one"),
    ),
    "Dwork and Roth, 2014",
    {"neighbours": _NOT_NEIGHBOURS},
)
PROOFS: Final = (PURE, APPROX, APPROX_SIMPLE)
