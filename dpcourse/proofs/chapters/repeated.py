"""Many rounds of one yes/no question: the exact delta by two binomial tails, next to what theorems promise.

If every round answers 1 with probability p in one world and q < p in the other, the loss of k rounds grows
with the number J of ones, and the best event is {J >= j}:

    delta(eps) = max_j Pr_p[J >= j] - e^eps Pr_q[J >= j]
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dpcourse import special
from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, maximum, minimum, sqrt, tanh
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Real, Whole
from dpcourse.proofs.steps import Step, Term

ALLOWANCE: Final = 1e-9
"""The relative error that we grant the incomplete beta function (the tests find less than 1e-10)."""


SMALLEST: Final = 1e-280


def binomial_tail(k: Any, chance: Any, least: Any) -> Bracket:
    """Pr[J >= least] for J ~ Bin(k, chance)."""
    chance = Bracket.of(chance)
    middle = (chance.lower + chance.upper) / 2
    inside = np.clip(least, 1, k)
    exact = special.betainc(inside, k - inside + 1, middle)
    value = np.where(least <= 0, 1.0, np.where(least > k, 0.0, exact))
    tiny = (value < SMALLEST) & (least <= k)  # here the function loses its digits, then underflows
    lower = np.where(tiny, 0.0, value * (1 - ALLOWANCE))
    return Bracket(lower, np.where(tiny, SMALLEST, np.minimum(value * (1 + ALLOWANCE), 1.0)))


def repeated_delta(k: Any, p: Any, q: Any, epsilon: Any) -> Any:
    """The exact delta of k rounds at epsilon."""
    p, q = Bracket.of(p), Bracket.of(q)
    up, down = log(p / q), log((1 - p) / (1 - q))
    place = (Bracket.of(epsilon) - k * down) / (up - down)
    # The least J with loss >= epsilon; a J on the edge adds nothing, so it may round either way.
    least = np.ceil((place.lower + place.upper) / 2 - 1e-9).astype(np.int64)
    here, there = binomial_tail(k, p, least), exp(epsilon) * binomial_tail(k, q, least)
    there = minimum(there, here)  # every J >= least has a loss of at least epsilon
    return maximum(here - there, 0)


def response_delta(k: Any, epsilon0: Any, epsilon: Any) -> Any:
    """k rounds of randomized response with parameter epsilon0."""
    h = 1 / (1 + exp(-epsilon0))
    return repeated_delta(k, h, 1 - h, epsilon)


def response_tail(k: Any, epsilon0: Any, epsilon: Any) -> Bracket:
    """Pr[L >= epsilon] for k rounds of randomized response: the loss is epsilon0 (2J - k)."""
    place = (Bracket.of(epsilon) / epsilon0 + k) / 2
    ends = (np.ceil(end).astype(np.int64) for end in (place.upper + 1e-9, place.lower - 1e-9))
    sure, possible = (binomial_tail(k, 1 / (1 + exp(-epsilon0)), least) for least in ends)
    return Bracket(sure.lower, possible.upper)


def theorem(v: Any) -> dict[str, Any]:
    """eps' with the exact mean loss, eps tanh(eps/2) for each round."""
    radius = v.epsilon * sqrt(2 * v.k * log(1 / v.slack))
    return {"radius": radius, "total": radius + v.k * v.epsilon * tanh(v.epsilon / 2)}


def heads(v: Any) -> Any:
    """h = e^eps/(1 + e^eps)."""
    return 1 / (1 + exp(-v.epsilon))


EXACT = Term(
    r"\Pr[V^0\in S]-e^{\varepsilon'}\Pr[V^1\in S]", lambda v: response_delta(v.k, v.epsilon, v.total)
)
LARGE = Term(
    r"\Pr\big[\textstyle\sum C_i\ge\varepsilon'\big]", lambda v: response_tail(v.k, v.epsilon, v.total)
)
HOEFFDING = Term(
    r"e^{-2k(j/k-h)^2},\ j=\tfrac12(k+\varepsilon'/\varepsilon)",
    lambda v: exp(-2 * v.k * ((v.total / v.epsilon + v.k) / (2 * v.k) - heads(v)) ** 2),
)
SLACK = Term(r"\delta'", lambda v: v.slack)
DOMAIN: Final = Domain(
    {"epsilon": Real(0.01, 2.0, log=True), "k": Whole(1, 2000, log=True), "slack": Real(1e-9, 0.9, log=True)},
    theorem,
    [{"epsilon": 0.1, "k": 100, "slack": 1e-6}],
    start={"epsilon": 0.1, "k": 100, "slack": 1e-6},
)
REPEATED: Final = Proof(
    "advanced-composition-response",
    Step("statement", EXACT, "<=", SLACK, "for eps' = eps sqrt(2k ln(1/delta')) + k eps tanh(eps/2)"),
    DOMAIN,
    (
        Step("bad views", EXACT, "<=", LARGE, "drop the negative term; the loss is eps (2J - k)"),
        Step("Hoeffding", LARGE, "<=", HOEFFDING, "J is binomial with mean k h"),
        Step(
            "choice",
            HOEFFDING,
            "=",
            SLACK,
            "2h - 1 = tanh(eps/2), so j - kh = eps' - k eps tanh(eps/2) over 2 eps",
        ),
    ),
    "Kairouz, Oh and Viswanath, ICML 2015",
)
PROOFS: Final = (REPEATED,)
