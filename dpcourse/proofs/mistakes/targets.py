"""Errata of how to choose the steps for a target, and of composition itself."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dpcourse.proofs.chapters import advanced, composition, rounds
from dpcourse.proofs.chapters.repeated import response_delta
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, fractions, log, minimum, sqrt
from dpcourse.proofs.lists import Many
from dpcourse.proofs.mistakes.base import Erratum, claim, dropped
from dpcourse.proofs.mistakes.formulas import SLACK
from dpcourse.proofs.scalars import Real, Whole
from dpcourse.proofs.steps import Term

# How to choose the eps of a step for a target ------------------------------------------------------

TARGET: Final = Domain(
    {"target": Real(0.1, 1.0, log=True), "k": Whole(2, 2000, log=True), "slack": Real(1e-9, 0.1, log=True)}
)


def _at_target(choice: Any, latex: str) -> Term:
    return Term(
        rf"\delta_k(\tilde\varepsilon),\ \varepsilon={latex}",
        lambda v: response_delta(v.k, choice(v), v.target),
    )


LITERAL_CHOICE = _at_target(
    lambda v: minimum(sqrt(v.target / v.k), v.target / sqrt(v.k * log(2 / v.slack))),
    r"\min\Big(\sqrt{\tilde\varepsilon/k},\tfrac{\tilde\varepsilon}{\sqrt{k\ln(2/\delta)}}\Big)",
)
SAFE_CHOICE = _at_target(
    lambda v: v.target / (2 * sqrt(2 * v.k * log(1 / v.slack))),
    r"\frac{\tilde\varepsilon}{2\sqrt{2k\ln(1/\delta)}}",
)
LARGE_TARGET: Final = Domain(
    {
        "target": Real(0.1, 20.0, log=True),
        "k": Whole(100, 2000, log=True),
        "slack": Real(1e-7, 1e-2, log=True),
    }
)


def _neglected(v: Any) -> Any:
    return v.target / sqrt(2 * v.k * log(1 / v.slack))


MEAN_LEFT_OUT = _at_target(_neglected, r"\frac{\tilde\varepsilon}{\sqrt{2K\ln(1/\delta)}}")
MEAN_PUT_BACK = Term(
    r"\delta_K\big(\tilde\varepsilon+\tfrac{\tilde\varepsilon^2}{4\ln(1/\delta)}\big)",
    lambda v: response_delta(v.k, _neglected(v), v.target + v.target**2 / (4 * log(1 / v.slack))),
)


# Composition itself --------------------------------------------------------------------------------

REDUCED: Final = Domain(
    {
        "k": Whole(1, 100, log=True),
        "delta": Real(1e-9, 1e-3, log=True),
        "slack": Real(1e-9, 1e-3, log=True),
        "total": Real(0.1, 5.0, log=True),
    }
)
TRIANGLE = Term(
    r"\mathrm{TV}(P,P')+\delta'+e^{\varepsilon'}\mathrm{TV}(Q,Q'),\ \mathrm{TV}\le k\delta",
    lambda v: v.k * v.delta + v.slack + exp(v.total) * v.k * v.delta,
)
HOPED = Term(r"k\delta+\delta'", lambda v: v.k * v.delta + v.slack)
BITS: Final = 3
TRAPDOOR: Final = Domain(
    {"b": Whole(1, BITS), "plan": Many(Whole(0, (1 << BITS) - 1), 1 << BITS)},
    start={"b": BITS, "plan": tuple(range(1 << BITS))},
)
"""The first answer r has b bits; the second tells the data if the second question, plan[r], was r."""


def _told(b: Any, plan: Any) -> Any:
    """The distance of the views of the two neighbours, over all first answers and both second ones."""
    r, size = np.arange(1 << BITS), 1 << b[:, None]
    possible, opened = r < size, plan % size == r
    views = [
        np.stack([possible & ~(opened & x), possible & opened & x], -1).astype(int) for x in (False, True)
    ]
    return fractions(abs(views[0] - views[1]).sum(-1).sum(-1), 2 << b)


ADAPTIVE = Term(r"\mathrm{TV}\text{ of the views}", lambda v: _told(v.b, v.plan))
FIXED = Term(
    r"\max_{q_2}\mathrm{TV}\text{ for the fixed question }q_2",
    lambda v: np.stack([_told(v.b, 0 * v.plan + q) for q in range(1 << BITS)], 1).max(1),
)

HALFWAY: Final = Domain(
    {"epsilon": Real(0.01, 2.0, log=True), "k": Whole(2, 1000, log=True), "slack": Real(1e-9, 0.5, log=True)}
)
LESS: Final = Domain({"epsilon": Real(0.05, 2.0, log=True), "k": Whole(1, 50), "part": Real(0.0, 0.99)})

ERRATA: Final = (
    Erratum(
        "tight-for-every-delta",
        claim(
            "half of k eps is never enough",
            Term(
                r"\delta_k(\tfrac12k\varepsilon)",
                lambda v: response_delta(v.k, v.epsilon, v.k * v.epsilon / 2),
            ),
            ">=",
            SLACK,
            HALFWAY,
            "k eps is tight in general",
        ),
        claim(
            "less than k eps is never enough without a delta",
            Term(
                r"\delta_k(s\,k\varepsilon),\ s<1",
                lambda v: response_delta(v.k, v.epsilon, v.part * v.k * v.epsilon),
            ),
            ">",
            Term("0", lambda v: 0 * v.epsilon),
            LESS,
            "k rounds of randomized response have a view whose loss is k eps",
        ),
        "k eps is the best that k rounds can promise",
        "for delta = 0 it is; any delta > 0 buys about eps sqrt(2k ln(1/delta))",
    ),
    Erratum(
        "reduction-by-triangle",
        claim(
            "k delta + delta' by the triangle inequality",
            TRIANGLE,
            "<=",
            HOPED,
            REDUCED,
            "P and Q are near P', Q'",
        ),
        advanced.ADVANCED_APPROX,
        "(eps, delta)-DP pairs are delta-near eps-DP pairs, so k rounds cost k delta + delta'",
        "the triangle inequality gives k delta (1 + e^{eps'}) + delta'; a mixture is needed",
    ),
    Erratum(
        "fixed-queries",
        claim(
            "adaptive questions tell no more than fixed ones",
            ADAPTIVE,
            "<=",
            FIXED,
            TRAPDOOR,
            "test all fixed questions",
        ),
        rounds.K_FOLD,
        "an interactive mechanism is (eps, delta)-DP if it is so for every fixed list of questions",
        "for every adversary; a trapdoor opens to one who looks at the answers (for pure eps they agree)",
    ),
    Erratum(
        "advanced-literal-choice",
        claim("constants left out", LITERAL_CHOICE, "<=", SLACK, TARGET, "from eps' = Theta(...)"),
        claim(
            "constants put in",
            SAFE_CHOICE,
            "<=",
            SLACK,
            TARGET,
            "half for each term, for a target of at most 1",
        ),
        "eps = min(sqrt(E/k), E/sqrt(k ln(2/delta))) meets a target of (E, delta)",
        "E/(2 sqrt(2k ln(1/delta))) does; constants matter",
    ),
    Erratum(
        "advanced-mean-neglected",
        claim("the mean neglected", MEAN_LEFT_OUT, "<=", SLACK, LARGE_TARGET, "it is only eps^2/60"),
        claim(
            "the mean put back",
            MEAN_PUT_BACK,
            "<=",
            SLACK,
            LARGE_TARGET,
            "K eps_0^2/2 = eps^2/(4 ln(1/delta))",
        ),
        "K steps of eps/sqrt(2K ln(1/delta)) are (eps, delta)-DP",
        "(eps + eps^2/(4 ln(1/delta)), delta)-DP; the second term counts for large eps",
    ),
    Erratum(
        "same-coins",
        dropped("two releases with the same coins", composition.BASIC, "fresh coins"),
        composition.BASIC,
        "eps_1 + eps_2, whatever coins the mechanisms use",
        "each release needs fresh coins",
    ),
    Erratum(
        "charge-after",
        dropped("a filter that charges after it answered", rounds.FILTER, "charge before answering"),
        rounds.FILTER,
        "stop as soon as the budget is exceeded",
        "refuse what does not fit, before it is answered",
    ),
)
