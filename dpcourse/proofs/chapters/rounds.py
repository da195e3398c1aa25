"""Many rounds on a tree: k-fold composition by induction, and the budget filter.

An adaptive adversary with binary answers is a tree: node 1 asks first, nodes 2 and 3 ask after answer 0 or 1,
and so on. `paths` lists for each transcript the nodes on its way and the answers there.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import equals, is_exact, stack, where
from dpcourse.proofs.lists import Laws, Many
from dpcourse.proofs.objects import col, pure_pair
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational
from dpcourse.proofs.steps import Step, Term

DEPTH: Final = 3
NODES: Final = 2**DEPTH - 1


def paths(depth: int, count: int = 2) -> tuple[Any, Any]:
    """(nodes, answers) of shape (transcripts, rounds), nodes counted from 0, with `count` answers each."""
    answers = np.arange(count**depth)[:, None] // count ** np.arange(depth)[::-1] % count
    nodes = np.zeros_like(answers)
    for i in range(1, depth):
        nodes[:, i] = count * nodes[:, i - 1] + 1 + answers[:, i - 1]
    return nodes, answers


def along(table: Any, depth: int = DEPTH) -> Any:
    """The entries (point, transcript, round) of a table (point, node, answer)."""
    nodes, answers = paths(depth, table.shape[-1])
    return table[:, nodes, answers]


def node_pairs(kernels: Any, ratios: Any) -> tuple[Any, Any]:
    """Both laws at every node, from the maps (point, 2 x nodes, answers)."""
    nodes = kernels.shape[1] // 2
    rows = stack([kernels[:, i * 2 : i * 2 + 2] for i in range(nodes)], 1)
    return pure_pair(rows, ratios)


def running(factors: Any) -> list[Any]:
    """The products of the first 0, 1, 2, ... factors along the last axis."""
    products = [factors[..., 0] * 0 + 1]
    for i in range(factors.shape[-1]):
        products.append(products[-1] * factors[..., i])
    return products


def _rounds(v: Any, adapts: bool = False) -> dict[str, Any]:
    """The chances of each transcript and of its beginnings, and the factors of each round.

    Where eps `adapts`, the last question after the answers 1 and 1 costs twice what was planned.
    """
    by_round = np.array([0, 1, 1, 2, 2, 2, 2])
    twice = (np.arange(NODES) == NODES - 1) & adapts
    p, q = (along(law) for law in node_pairs(v.kernels, v.ratios[:, by_round] ** (1 + twice)))
    return _products(p, q, stack([running(v.ratios)[i] for i in range(DEPTH + 1)]))


def _products(p: Any, q: Any, spent: Any) -> dict[str, Any]:
    ps, qs = running(p), running(q)
    return {"p": p, "q": q, "p_i": ps, "q_i": qs, "spent": spent, "prefix": _prefix(ps[-1])}


def _prefix(whole: Any) -> Any:
    """Pr[r_1 ... r_{k-1}] from the law of the whole transcripts: add up over the last answer."""
    place = np.arange(2**DEPTH)
    return whole[:, place & ~1] + whole[:, place | 1]


WHOLE_P = Term(r"\Pr[r_1\ldots r_k]", lambda v: v.p_i[-1])
LAST_P = Term(r"\Pr[r_1\ldots r_{k-1}]\Pr[r_k\mid r_{<k}]", lambda v: v.prefix * v.p[..., -1])
LAST_BOUND = Term(
    r"\Pr[r_1\ldots r_{k-1}]\,e^{\varepsilon_k}\Pr{}'[r_k\mid r_{<k}]",
    lambda v: v.prefix * col(v.ratios[:, -1]) * v.q[..., -1],
)
INDUCTION = Term(
    r"e^{\varepsilon_1+\cdots+\varepsilon_{k-1}}\Pr{}'[r_{<k}]\,e^{\varepsilon_k}\Pr{}'[r_k\mid r_{<k}]",
    lambda v: col(v.spent[:, -2]) * v.q_i[-2] * col(v.ratios[:, -1]) * v.q[..., -1],
)
FOLD_BOUND = Term(
    r"e^{\varepsilon_1+\cdots+\varepsilon_k}\Pr{}'[r_1\ldots r_k]", lambda v: col(v.spent[:, -1]) * v.q_i[-1]
)
FOLD_DOMAIN: Final = Domain({"ratios": Many(Rational(1, 4), DEPTH), "kernels": Laws(2, 2 * NODES)}, _rounds)
K_FOLD: Final = Proof(
    "basic-composition-induction",
    Step("statement", WHOLE_P, "<=", FOLD_BOUND, "for every transcript, by induction on the rounds"),
    FOLD_DOMAIN,
    (
        Step(
            "claim for i < k",
            Term(r"\Pr[r_1\ldots r_i]", lambda v: stack(v.p_i[1:-1])),
            "<=",
            Term(
                r"e^{\varepsilon_1+\cdots+\varepsilon_i}\Pr{}'[r_1\ldots r_i]",
                lambda v: v.spent[:, None, 1:-1] * stack(v.q_i[1:-1]),
            ),
            "the induction hypothesis",
            lemma=True,
        ),
        Step("condition", WHOLE_P, "=", LAST_P, "the chain rule of probability"),
        Step("round k", LAST_P, "<=", LAST_BOUND, "round k is eps_k-DP for every prefix"),
        Step("induction", LAST_BOUND, "<=", INDUCTION, "the claim for k - 1", uses=("claim for i < k",)),
        Step("collect", INDUCTION, "=", FOLD_BOUND, "exponents add, probabilities multiply"),
    ),
    "Dwork and Roth, 2014",
    {"every eps fixed in advance": replace(FOLD_DOMAIN, build=lambda v: _rounds(v, True))},
)


def may_be_at_most(a: Any, b: Any) -> Any:
    """a <= b; for brackets, unless it is certainly false (then a tie is left open, not decided)."""
    return a <= b if is_exact(a) and is_exact(b) else a.lower <= b.upper


def _filtered(v: Any, check_first: bool = True) -> dict[str, Any]:
    """At each node the adversary asks for e^eps = `asks`; what does not fit in the budget is not answered."""
    one = v.asks[:, 0] * 0 + 1
    spent, used = [one], []
    for node in range(NODES):
        before = spent[node]
        wanted = before * v.asks[:, node] if check_first else before
        admitted = may_be_at_most(wanted, v.budget)
        used.append(where(admitted, v.asks[:, node], one))
        after = before * used[-1]
        spent += [after, after]
    ratios = stack(used)
    nodes, _ = paths(DEPTH)
    refused = equals(ratios, 1)[..., None]  # the answer is a fair coin then
    p, q = (along(where(refused, Fraction(1, 2), law)) for law in node_pairs(v.kernels, ratios))
    return _products(p, q, None) | {"admitted": ratios[:, nodes], "total": running(ratios[:, nodes])[-1]}


FILTERED = Term(r"\Pr[r_1\ldots r_k]", lambda v: v.p_i[-1])
FILTER_SUM = Term(r"e^{\sum\varepsilon_i}\Pr{}'[r_1\ldots r_k]", lambda v: v.total * v.q_i[-1])
FILTER_BOUND = Term(r"e^{B}\Pr{}'[r_1\ldots r_k]", lambda v: col(v.budget) * v.q_i[-1])
FILTER_DOMAIN: Final = Domain(
    {"budget": Rational(1, 16), "asks": Many(Rational(1, 8), NODES), "kernels": Laws(2, 2 * NODES)}, _filtered
)
FILTER: Final = Proof(
    "pure-filter",
    Step("statement", FILTERED, "<=", FILTER_BOUND, "for every transcript of every adaptive adversary"),
    FILTER_DOMAIN,
    (
        Step(
            "each round",
            Term(r"\Pr[r_i\mid r_{<i}]", lambda v: v.p),
            "<=",
            Term(r"e^{\varepsilon_i(r_{<i})}\Pr{}'[r_i\mid r_{<i}]", lambda v: v.admitted * v.q),
            "an admitted question is eps_i-DP; a refused one says nothing",
            lemma=True,
        ),
        Step(
            "budget",
            Term(r"e^{\sum_i\varepsilon_i(r_{<i})}", lambda v: v.total),
            "<=",
            Term("e^B", lambda v: col(v.budget)),
            "a question is admitted only if it fits in what is left, before it is answered",
            lemma=True,
        ),
        Step("multiply", FILTERED, "<=", FILTER_SUM, "round by round", uses=("each round",)),
        Step("stop in time", FILTER_SUM, "<=", FILTER_BOUND, "on every path", uses=("budget",)),
    ),
    "Rogers, Roth, Ullman and Vadhan, NeurIPS 2016",
    {"charge before answering": replace(FILTER_DOMAIN, build=lambda v: _filtered(v, False))},
)

PROOFS: Final = (K_FOLD, FILTER)
