"""Advanced composition, adaptive: any eps-DP mechanism at every node of the adversary's tree.

An early proof (lecture notes of 2011) applies Azuma's inequality to the sum of the losses as if each round
moved its mean by 2 eps; in the adaptive game a round may move it by far more. Here the conditional means are
subtracted first, so that the sum is a martingale, and the gap is closed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpcourse.proofs.chapters.divergence import CLASSIC_MEAN
from dpcourse.proofs.chapters.martingale import tail
from dpcourse.proofs.chapters.rounds import DEPTH, NODES, along, running
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, sqrt, stack
from dpcourse.proofs.lists import Laws
from dpcourse.proofs.objects import approx_pair, col, hockey_stick, kl, log_ratio, one_sided_pair, pure_pair
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Real
from dpcourse.proofs.steps import Step, Term


def node_rows(kernels: Any, count: int) -> Any:
    """The `count` rows of the map at each node: (point, node, row, answer)."""
    return stack([kernels[:, i : i + count] for i in range(0, kernels.shape[1], count)], 1)


def at_nodes(x: Any, nodes: int = NODES) -> Any:
    """One number for each node."""
    return stack([x] * nodes)


def game(v: Any, p: Any, q: Any, rounds: int = DEPTH) -> dict[str, Any]:
    """The views of the adversary for both bits, and the losses along each of them."""
    epsilon = log(v.ratio)
    radius = epsilon * sqrt(2 * rounds * log(1 / v.slack))
    rate = radius / (rounds * epsilon**2)
    losses, means = log_ratio(p, q), kl(p, q)
    centred = losses - col(means)
    return {
        "k": rounds,
        "epsilon": epsilon,
        "radius": radius,
        "total": radius + rounds * epsilon * (v.ratio - 1),
        "rate": rate,
        "p": running(along(p, rounds))[-1],
        "q": running(along(q, rounds))[-1],
        "loss": along(losses, rounds).sum(-1),
        "centred": along(centred, rounds).sum(-1),
        "means": means,
        "mgf": (p * exp(col(col(rate)) * centred)).sum(-1),
    }


def pure_game(v: Any) -> dict[str, Any]:
    """Any eps-DP mechanism at every node."""
    return game(v, *pure_pair(node_rows(v.kernels, 2), at_nodes(v.ratio)))


def _one_sided_game(v: Any) -> dict[str, Any]:
    return game(v, *one_sided_pair(node_rows(v.kernels, 2), at_nodes(v.ratio)))


DELTA = Term(
    r"\Pr[V^0\in S]-e^{\varepsilon'}\Pr[V^1\in S]", lambda v: hockey_stick(v.p, v.q, col(exp(v.total)))
)
BAD = Term(r"\Pr\big[\textstyle\sum C_i\ge\varepsilon'\big]", lambda v: tail(v.loss, v.p, v.total))
CENTRED = Term(
    r"\Pr\big[\textstyle\sum(C_i-\mathbb E[C_i\mid\text{past}])\ge t\big]",
    lambda v: tail(v.centred, v.p, v.radius),
)
MARKOV = Term(
    r"e^{-\lambda t}\,\mathbb E\,e^{\lambda\sum(C_i-\mathbb E[C_i\mid\text{past}])}",
    lambda v: exp(-v.rate * v.radius) * (v.p * exp(col(v.rate) * v.centred)).sum(-1),
)
AZUMA = Term(
    r"e^{-\lambda t}e^{k\lambda^2\varepsilon^2/2}",
    lambda v: exp(-v.rate * v.radius) * exp(v.k * v.rate**2 * v.epsilon**2 / 2),
)
SLACK = Term(r"\delta'", lambda v: v.slack)
DOMAIN: Final = Domain(
    {
        "ratio": Rational(Fraction(65, 64), 2, log=True),
        "slack": Real(0.01, 0.999),
        "kernels": Laws(2, 2 * NODES),
    },
    pure_game,
    start={"ratio": Fraction(17, 16), "slack": 0.75, "kernels": ((8, 1), (1, 8)) * NODES},
)


def argument(mean: Term, words: str) -> tuple[Step, tuple[Step, ...]]:
    """The statement and its steps, with a bound on the mean loss of a round, in LaTeX and in words."""
    steps = (
        Step(
            "mean loss",
            Term(r"\mathbb E[C_i\mid\text{past}]", lambda v: v.means),
            "<=",
            Term(mean.latex, lambda v: col(mean(v))),
            "the KL lemma at every node: privacy in both directions",
            lemma=True,
        ),
        Step(
            "one round",
            Term(
                r"\mathbb E[e^{\lambda(C_i-\mu_i)}\mid\text{past}],\ \mu_i=\mathbb E[C_i\mid\text{past}]",
                lambda v: v.mgf,
            ),
            "<=",
            Term(r"e^{\lambda^2\varepsilon^2/2}", lambda v: col(exp(v.rate**2 * v.epsilon**2 / 2))),
            "Hoeffding's lemma: the loss lies between -eps and eps",
            lemma=True,
        ),
        Step("bad views", DELTA, "<=", BAD, "a view whose loss is below eps' adds nothing"),
        Step("centre", BAD, "<=", CENTRED, f"the means add up to at most k {words}", uses=("mean loss",)),
        Step("Markov", CENTRED, "<=", MARKOV, "Markov's inequality; the centred losses are a martingale"),
        Step("Azuma", MARKOV, "<=", AZUMA, "round by round", uses=("one round",)),
        Step("best lambda", AZUMA, "=", SLACK, "lambda = t/(k eps^2)"),
    )
    return Step(
        "statement", DELTA, "<=", SLACK, f"for eps' = t + k {words}, t = eps sqrt(2k ln(1/delta'))"
    ), steps


STATEMENT, STEPS = argument(CLASSIC_MEAN, "eps (e^eps - 1)")
ADVANCED: Final = Proof(
    "advanced-composition",
    STATEMENT,
    DOMAIN,
    STEPS,
    "Dwork, Rothblum and Vadhan, FOCS 2010",
    {"both directions": replace(DOMAIN, build=_one_sided_game)},
)


TWICE: Final = 2
ANSWERS: Final = 3  # "told all", and two others
QUESTIONS: Final = 1 + ANSWERS


def approx_game(v: Any, times: int = 1) -> dict[str, Any]:
    """Two rounds of (eps, delta)-DP mechanisms: with probability 1 - delta an eps-DP one, else anything.

    `times` 2 breaks the promise: anything comes twice as often.
    """
    rows, ratios = node_rows(v.kernels, 4), at_nodes(v.ratio, QUESTIONS)
    inside = game(v, *pure_pair(rows[:, :, 1:3], ratios), TWICE)
    p, q = approx_pair(rows, ratios, times * at_nodes(v.delta, QUESTIONS))
    return inside | {
        "p_in": inside["p"],
        "q_in": inside["q"],
        "p": running(along(p, TWICE))[-1],
        "q": running(along(q, TWICE))[-1],
        "good": (1 - v.delta) ** TWICE,
    }


INSIDE = r"\Pr[V'^0\in S]-e^{\varepsilon'}\Pr[V'^1\in S]"
MIXTURE = Term(
    r"1-(1-\delta)^k+(1-\delta)^k\big(" + INSIDE + r"\big)",
    lambda v: 1 - v.good + v.good * hockey_stick(v.p_in, v.q_in, col(exp(v.total))),
)
BERNOULLI = Term(
    r"k\delta+\big(" + INSIDE + r"\big)",
    lambda v: TWICE * v.delta + hockey_stick(v.p_in, v.q_in, col(exp(v.total))),
)
SUM = Term(r"k\delta+\delta'", lambda v: TWICE * v.delta + v.slack)
CANONICAL: Final = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 1)) * QUESTIONS
"""Randomized response, except that with probability delta all is told: the worst step."""
BLURRED: Final = ((98, 1, 1), (1, 98, 1), (1, 1, 98), (1, 1, 98)) * QUESTIONS
APPROX_DOMAIN: Final = Domain(
    {
        "ratio": Rational(Fraction(65, 64), 2, log=True),
        "delta": Rational(0, Fraction(1, 4)),
        "slack": Real(0.01, 0.999),
        "kernels": Laws(ANSWERS, 4 * QUESTIONS),
    },
    approx_game,
    [{"ratio": Fraction(5, 4), "delta": Fraction(1, 4), "slack": 0.05, "kernels": CANONICAL}],
    start={"ratio": Fraction(9, 8), "delta": Fraction(1, 50), "slack": 0.75, "kernels": BLURRED},
)
ADVANCED_APPROX: Final = Proof(
    "advanced-composition-approx",
    Step("statement", DELTA, "<=", SUM, "reduce (eps, delta)-DP to a mixture with an eps-DP pair"),
    APPROX_DOMAIN,
    (
        Step(
            "inside",
            Term(r"\Pr[V^b=v]", lambda v: stack([v.p, v.q])),
            ">=",
            Term(r"(1-\delta)^k\Pr[V'^b=v]", lambda v: col(col(v.good)) * stack([v.p_in, v.q_in])),
            "with probability (1-delta)^k every round uses its eps-DP part",
            lemma=True,
        ),
        Step("mixture", DELTA, "<=", MIXTURE, "the rest of V^0 has mass 1 - (1-delta)^k", uses=("inside",)),
        Step(
            "Bernoulli", MIXTURE, "<=", BERNOULLI, "(1-delta)^k >= 1 - k delta, and both parts are at most 1"
        ),
        Step("pure case", BERNOULLI, "<=", SUM, "advanced composition for the eps-DP parts"),
    ),
    "Murtagh and Vadhan, TCC 2016",
    {"every round within delta": replace(APPROX_DOMAIN, build=lambda v: approx_game(v, 2))},
)
PROOFS: Final = (ADVANCED, ADVANCED_APPROX)
