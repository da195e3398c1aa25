"""Errata of the first lectures: group privacy, coins, histograms, means, union bounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.chapters import group, noise
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import fractions, log, stack
from dpcourse.proofs.lists import Many
from dpcourse.proofs.mistakes.base import Erratum, claim, dropped
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Whole
from dpcourse.proofs.steps import Step, Term

# Group privacy -----------------------------------------------------------------------------------

LITERAL = Term(r"e^{k\varepsilon}\Pr[A(D_{k-1})\in S]", lambda v: v.r_k * v.p_last)
CHAINED = Term(
    r"e^{(k+(k-1)+\cdots+1)\varepsilon}\Pr[A(D_0)\in S]",
    lambda v: v.ratio ** (v.k * (v.k + 1) // 2) * v.start,
)
WRONG_INDEX: Final = Proof(
    "group privacy with index i-1",
    group.PURE.statement,
    replace(group.PURE_DOMAIN, hard=()),
    (
        Step("claim for k", group.P_K, "<=", LITERAL, "the claim as printed: e^{i eps} against D_{i-1}"),
        Step("claims below k", LITERAL, "<=", CHAINED, "the same claim for k-1, ..., 1"),
        Step("collect", CHAINED, "=", group.PURE_BOUND, "as printed"),
    ),
    "lecture notes that circulate",
)
APPROX: Final = replace(group.APPROX_DOMAIN, hard=())
K_DELTA = Term(r"e^{k\varepsilon}\Pr[A(D_0)\in S]+k\delta", lambda v: v.r_k * v.start + v.k * v.delta)
K_E_DELTA = Term(
    r"e^{k\varepsilon}\Pr[A(D_0)\in S]+ke^{\varepsilon}\delta",
    lambda v: v.r_k * v.start + v.k * v.ratio * v.delta,
)

# Randomized response, histograms, means ----------------------------------------------------------

COINS: Final = Domain(
    {"truth": Rational(0, Fraction(15, 16)), "heads": Rational(Fraction(1, 16), Fraction(15, 16))}
)


def _says(truth: str, coins: tuple[str, str]) -> str:
    """The program: tails, tell the truth; heads, say Yes if the second coin is heads and No if tails."""
    return truth if coins[0] == "tails" else {"heads": "Yes", "tails": "No"}[coins[1]]


def _yes_for_no(v: Any) -> Any:
    """The program run on all four falls of the coins."""
    first, second = {"tails": v.truth, "heads": 1 - v.truth}, {"heads": v.heads, "tails": 1 - v.heads}
    falls = [(a, b) for a in first for b in second if _says("No", (a, b)) == "Yes"]
    return sum(first[a] * second[b] for a, b in falls)


YES_NO = Term(r"\Pr[\text{Yes}\mid\text{No}]", _yes_for_no)


def _second(latex: str, chance: Any) -> Term:
    return Term(
        rf"\Pr[\text{{coin 1: answer at random}}]\Pr[\text{{coin 2: {latex}}}]",
        lambda v: (1 - v.truth) * chance(v),
    )


def _blocks(v: Any) -> dict[str, Any]:
    """Each bin has noise of its own; one row moves from one bin to another."""
    return {"other": noise.one_row_moved(v)["other"]}


BLOCK_LOSS = Term(
    r"\sum_j\varepsilon_j\big(|y_j-n'_j|-|y_j-n_j|\big)",
    lambda v: (v.epsilons * (abs(v.output - v.other) - abs(v.output - v.centre))).sum(-1),
)
BLOCKS: Final = Domain(
    {
        "epsilons": Many(Rational(Fraction(1, 16), 2), noise.BINS),
        "centre": Many(Whole(2, 9), noise.BINS),
        "to": Whole(0, noise.BINS - 1),
        "out_of": Whole(0, noise.BINS - 1),
        "output": Many(Whole(-5, 15), noise.BINS),
    },
    _blocks,
)


def _two_largest(v: Any) -> Any:
    pairs = [v.epsilons[:, i] + v.epsilons[:, j] for i in range(noise.BINS) for j in range(i)]
    return stack(pairs).max(-1)


def _means(v: Any) -> dict[str, Any]:
    """The mean of n numbers in {0, 1}: with one row more (noise for its own n), and with one row changed."""
    ones = np.minimum(v.ones, v.n)
    return {
        "mean": fractions(ones, v.n),
        "grown": fractions(ones + v.bit, v.n + 1),
        "changed": fractions(np.clip(ones + 2 * v.bit - 1, 0, v.n), v.n),
    }


MEANS: Final = Domain(
    {
        "epsilon": Rational(Fraction(1, 16), 4),
        "n": Whole(1, 20),
        "ones": Whole(0, 20),
        "bit": Whole(0, 1),
        "y": Rational(-5, 5),
    },
    _means,
)


def _log_laplace(v: Any, centre: Any, n: Any) -> Any:
    return log(n * v.epsilon / 2) - n * v.epsilon * abs(v.y - centre)


GROWN_LOSS = Term(
    r"\ln\frac{p_D(y)}{p_{D'}(y)}", lambda v: _log_laplace(v, v.mean, v.n) - _log_laplace(v, v.grown, v.n + 1)
)
CHANGED_LOSS = Term(
    r"\ln\frac{p_D(y)}{p_{D'}(y)}", lambda v: v.n * v.epsilon * (abs(v.y - v.changed) - abs(v.y - v.mean))
)
EPSILON = Term(r"\varepsilon", lambda v: v.epsilon)

DRAWS: Final = Domain({"m": Whole(1, 30), "beta": Rational(Fraction(1, 100), Fraction(9, 10))})


def _fails(draws: int, spread: int) -> Term:
    return Term(
        rf"\Pr[\text{{some of }}{draws}m\text{{ draws exceeds }}\sigma\ln({spread}m/\beta)]",
        lambda v: 1 - (1 - v.beta / (spread * v.m)) ** (draws * v.m),
    )


BETA = Term(r"\beta", lambda v: v.beta)


ERRATA: Final = (
    Erratum(
        "group-privacy-index",
        WRONG_INDEX,
        group.PURE,
        "Pr[A(D_i) in S] <= e^{i eps} Pr[A(D_{i-1}) in S] for all i gives e^{k eps}",
        "the claim must compare with D_0; chained as printed it gives only e^{k(k+1) eps/2}",
    ),
    Erratum(
        "group-privacy-k-delta",
        claim("group privacy with k delta", group.P_K, "<=", K_DELTA, APPROX, "as printed"),
        group.APPROX,
        "groups of k get (k eps, k delta)",
        "each error is multiplied as it travels: delta (e^{k eps} - 1)/(e^eps - 1)",
    ),
    Erratum(
        "group-privacy-one-factor",
        claim("group privacy with k e^eps delta", group.P_K, "<=", K_E_DELTA, APPROX, "as printed"),
        group.APPROX_SIMPLE,
        "groups of k get (k eps, k e^eps delta)",
        "the exponent is (k-1) eps: k e^{(k-1) eps} delta",
    ),
    Erratum(
        "two-coins",
        claim(
            "Yes for No: heads, then tails",
            YES_NO,
            "=",
            _second("tails", lambda v: 1 - v.heads),
            COINS,
            "as printed",
        ),
        claim(
            "Yes for No: heads, then heads",
            YES_NO,
            "=",
            _second("heads", lambda v: v.heads),
            COINS,
            "coin 2 says Yes",
        ),
        "whoever should say No says Yes if coin 1 is heads and coin 2 is tails",
        "if both are heads; with a fair second coin the number happens to agree",
    ),
    Erratum(
        "histogram-adjacency",
        dropped("noise of scale 1/eps when a row is replaced", noise.HISTOGRAM_ADD_REMOVE, "adjacency"),
        noise.HISTOGRAM_REPLACE,
        "Laplace noise of scale 1/eps on each bin, whatever neighbours are",
        "a replaced row changes two bins: scale 2/eps",
    ),
    Erratum(
        "parallel-composition",
        claim(
            "parallel composition with the maximum",
            BLOCK_LOSS,
            "<=",
            Term(r"\max_j\varepsilon_j", lambda v: v.epsilons.max(-1)),
            BLOCKS,
            "each row is in one block",
        ),
        claim(
            "parallel composition with the two largest",
            BLOCK_LOSS,
            "<=",
            Term(r"\max_{i\ne j}(\varepsilon_i+\varepsilon_j)", _two_largest),
            BLOCKS,
            "a replaced row leaves one block and enters another",
        ),
        "mechanisms on disjoint blocks cost the largest eps_j",
        "true if rows are added or removed; a replaced row costs the two largest",
    ),
    Erratum(
        "noisy-mean",
        claim(
            "noise for 1/n when n may change",
            GROWN_LOSS,
            "<=",
            EPSILON,
            MEANS,
            "the mean has sensitivity 1/n",
        ),
        claim(
            "noise for 1/n when n is public",
            CHANGED_LOSS,
            "<=",
            EPSILON,
            MEANS,
            "one of n rows is replaced",
        ),
        "mean + Lap(1/(n eps)) is eps-DP",
        "only if n is public; else the scale of the noise tells n",
    ),
    Erratum(
        "count-the-draws",
        claim("2m draws, union over m", _fails(2, 1), "<=", BETA, DRAWS, "as printed"),
        claim("2m draws, union over 2m", _fails(2, 2), "<=", BETA, DRAWS, "the union bound over all draws"),
        "with probability 1 - beta all tests and answers err by at most sigma ln(m/beta)",
        "there are 2m draws: sigma ln(2m/beta)",
    ),
)
