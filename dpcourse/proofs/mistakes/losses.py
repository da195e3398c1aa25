"""Errata about sums of losses: where Azuma applies, what a martingale is, the KL lemma."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.chapters import divergence
from dpcourse.proofs.chapters.martingale import tail
from dpcourse.proofs.chapters.repeated import binomial_tail
from dpcourse.proofs.chapters.rounds import NODES, along, running
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, sqrt, stack, tanh
from dpcourse.proofs.lists import Laws, Many
from dpcourse.proofs.mistakes.base import Erratum, claim, dropped
from dpcourse.proofs.mistakes.formulas import SLACK, radius
from dpcourse.proofs.objects import col, fair, kl, log_ratio
from dpcourse.proofs.scalars import Rational, Real, Whole
from dpcourse.proofs.steps import Term

# The sum of the losses -----------------------------------------------------------------------------

GAP: Final = Domain(
    {
        "epsilon": Real(0.05, 2.0, log=True),
        "k": Whole(2, 20_000, log=True),
        "slack": Real(1e-3, 0.2, log=True),
    }
)


def stop_or_spend(centre: Any, latex: str) -> Term:
    """Pr[f >= centre + t] for the adversary who goes on only if the first answer favours bit 0."""

    def value(v: Any) -> Any:
        h = 1 / (1 + exp(-v.epsilon))
        level = centre(v, h, v.epsilon * tanh(v.epsilon / 2)) + radius(v, v.slack)
        # f = eps (2 + 2B - k) after the first answer 0, with B ~ Bin(k-1, h); else f = -eps < level.
        place = (level / v.epsilon + v.k - 2) / 2
        most, least = (np.ceil(end).astype(np.int64) for end in (place.upper + 1e-9, place.lower - 1e-9))
        sure, possible = binomial_tail(v.k - 1, h, most), binomial_tail(v.k - 1, h, least)
        return h * Bracket(sure.lower, possible.upper)

    return Term(rf"\Pr[f\ge {latex}+\varepsilon\sqrt{{2k\ln(1/\delta)}}]", value)


AT_MEAN = stop_or_spend(lambda v, h, mean: mean * (1 + h * (v.k - 1)), r"\mathbb E f")
AT_K_MEANS = stop_or_spend(lambda v, h, mean: v.k * mean, r"k\,\varepsilon\tanh\tfrac\varepsilon2")

WALK: Final = Domain(
    {"epsilon": Real(0.01, 2.0, log=True), "k": Whole(1, 2000, log=True), "z": Real(0.5, 3.0)}
)


def _walk_tail(v: Any) -> Any:
    """Pr[sum of losses > k mean + z sqrt(k) eps] for randomized response."""
    h = 1 / (1 + exp(-v.epsilon))
    place = (v.k * tanh(v.epsilon / 2) + v.z * sqrt(v.k) + v.k) / 2
    return binomial_tail(v.k, h, np.ceil(place.upper + 1e-9).astype(np.int64))


STRAY = Term(r"\Pr\big[\sum C_i>k\beta+z\sqrt k\,\alpha\big]", _walk_tail)


def _highest(values: Any, chances: Any) -> dict[str, Any]:
    """The highest place of a walk of three steps on each of its paths, and the chances of the paths."""
    steps = along(values)
    places = [steps[..., 0], steps[..., 0] + steps[..., 1], steps.sum(-1)]
    return {"highest": Bracket.of(stack(places)).max(-1), "weights": running(along(chances))[-1]}


def last_value_only(v: Any) -> dict[str, Any]:
    """Steps of 1, fair but for the third: at 0 it goes on in the direction of the second with chance `again`.

    The mean of the third step is 0 given X_2, since 0 is reached from above as often as from below.
    """
    fair_coin = 0 * v.again + Fraction(1, 2)
    ups = stack([fair_coin] * 4 + [1 - v.again, v.again, fair_coin])  # after (up, down) and (down, up)
    ones = 0 * ups + 1
    return _highest(stack([ones, -ones]), stack([ups, 1 - ups]))


def whole_past(v: Any) -> dict[str, Any]:
    """Any two values of the next step for each past, between -1 and 1 and with mean 0."""
    return _highest(stack([v.up, -v.down]), stack([v.down, v.up]) / col(v.up + v.down))


STEP: Final = Many(Rational(Fraction(1, 64), 1), NODES)
FAKE: Final = Domain({"again": Rational(0, 1)}, last_value_only)
TRUE: Final = Domain({"up": STEP, "down": STEP}, whole_past)
REACHES = Term(
    r"\Pr[\max_iX_i\ge1]", lambda v: tail(v.highest, v.weights, Bracket.points(np.ones(v.weights.shape[0])))
)
FIVE_EIGHTHS = Term(r"5/8", lambda v: 0 * v.weights[:, 0] + Fraction(5, 8))
UNITS: Final = Domain({"laws": Laws(4, 2)}, lambda v: {"p": fair(v.laws[:, 0]), "q": fair(v.laws[:, 1])})
BITS = Term(r"\sum_yp\log_2\frac pq", lambda v: (v.p * (log_ratio(v.p, v.q) / log(2))).sum(-1))
NATS = Term(r"\sum_yp\ln\frac pq", lambda v: kl(v.p, v.q))
NATS_IN_BITS = Term(r"\tfrac1{\ln2}\sum_yp\ln\frac pq", lambda v: kl(v.p, v.q) / log(2))


RESPONSE: Final = Domain({"ratio": Rational(Fraction(17, 16), 20)})
LARGEST_LOSS = Term(
    r"\max_y\ln\frac{\Pr[\mathrm{RR}(0)=y]}{\Pr[\mathrm{RR}(1)=y]}",
    lambda v: log((v.ratio / (1 + v.ratio)) / (1 / (1 + v.ratio))),
)

ERRATA: Final = (
    Erratum(
        "loss-and-ratio",
        claim(
            "the largest loss is e^eps",
            LARGEST_LOSS,
            "=",
            Term(r"e^{\varepsilon}", lambda v: v.ratio),
            RESPONSE,
            "as printed",
        ),
        claim(
            "the largest loss is eps",
            LARGEST_LOSS,
            "=",
            Term(r"\varepsilon", lambda v: log(v.ratio)),
            RESPONSE,
            "a logarithm",
        ),
        "the maximum privacy loss of an eps-DP mechanism is e^eps",
        "the loss is at most eps; e^eps bounds the likelihood ratio",
    ),
    Erratum(
        "azuma-gap",
        claim("Azuma around E[f]", AT_MEAN, "<=", SLACK, GAP, "each round moves the mean by 2 eps"),
        claim(
            "Azuma around the sum of conditional means",
            AT_K_MEANS,
            "<=",
            SLACK,
            GAP,
            "subtract the conditional means first",
        ),
        "the sum f of the losses exceeds E[f] + t with probability at most delta",
        "an adaptive adversary moves E[f] by more than 2 eps; subtract the conditional means",
    ),
    Erratum(
        "azuma-range",
        claim(
            "a range of alpha",
            STRAY,
            "<=",
            Term(r"e^{-2z^2}", lambda v: exp(-2 * v.z**2)),
            WALK,
            "as if C_i had range alpha",
        ),
        claim(
            "a range of 2 alpha",
            STRAY,
            "<=",
            Term(r"e^{-z^2/2}", lambda v: exp(-(v.z**2) / 2)),
            WALK,
            "C_i lies between -alpha and alpha",
        ),
        "Pr[sum C_i > k beta + z sqrt(k) alpha] <= e^{-2 z^2}",
        "e^{-z^2/2}: between -alpha and alpha the range is 2 alpha",
    ),
    Erratum(
        "martingale-last-value",
        claim(
            "mean 0 given the last value", REACHES, "<=", FIVE_EIGHTHS, FAKE, "a walk of 3 steps of size 1"
        ),
        claim(
            "mean 0 given the whole past",
            REACHES,
            "<=",
            FIVE_EIGHTHS,
            TRUE,
            "a walk of 3 steps of size 1 at most",
        ),
        "a martingale is a sequence with E[X_{i+1} | X_i] = X_i",
        "given the whole past; else the walk may know that it came from below, and reach 1 more often",
    ),
    Erratum(
        "kl-one-direction",
        dropped("the KL lemma with one direction only", divergence.KL_CLASSIC, "both directions"),
        divergence.KL_CLASSIC,
        "D_inf(P||Q) <= eps gives D(P||Q) <= eps (e^eps - 1)",
        "privacy in both directions is needed; else only D(P||Q) <= eps",
    ),
    Erratum(
        "nats-and-bits",
        claim("ln gives bits", BITS, "=", NATS, UNITS, "as printed"),
        claim("nats divided by ln 2", BITS, "=", NATS_IN_BITS, UNITS, "change of base"),
        "the sum of p ln(p/q) counts bits",
        "nats; bits need log_2",
    ),
)
