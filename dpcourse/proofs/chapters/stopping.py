"""Advanced composition with the sharp mean loss, against an adversary who stops when it has seen enough.

It asks one eps-DP question again until the ones lead the zeros by `high`, or trail them by `low`, or k rounds
are over. With low = 1 that is the adversary who shows the gap in the early proof: the first answer alone
moves the mean of all later losses.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.proofs.chapters.advanced import argument
from dpcourse.proofs.chapters.divergence import TANH
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, log, sqrt, stack, tanh, where
from dpcourse.proofs.lists import Laws
from dpcourse.proofs.objects import col, kl, log_ratio, one_sided_pair, pure_pair
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Real, Whole

LONGEST: Final = 12


def stopped(v: Any, law: Any) -> Any:
    """The chance to stop after i answers with j ones among them, for (i, j) = (0, 0), (1, 0), (1, 1), ..."""
    running, ends = [law[:, 0] * 0 + 1], []
    for i in range(LONGEST + 1):
        lead = 2 * np.arange(i + 1) - i
        stops = (lead >= v.high[:, None]) | (lead <= -v.low[:, None]) | (i >= v.k[:, None])
        here = stack(running)
        ends += [where(stops, here, 0)[:, j] for j in range(i + 1)]
        on = where(stops, 0, here)
        none = on[:, 0] * 0
        zeros, ones = ([on[:, j] * law[:, a] for j in range(i + 1)] for a in (0, 1))
        running = [x + y for x, y in zip([*zeros, none], [none, *ones], strict=True)]
    return stack(ends)


def stopping_game(v: Any, pair: Any = pure_pair) -> dict[str, Any]:
    """The views by their number of answers and of ones; views with the same numbers have the same loss."""
    p, q = pair(v.kernel, v.ratio)
    epsilon = log(v.ratio)
    radius = epsilon * sqrt(2 * v.k * log(1 / v.slack))
    rate = radius / (v.k * epsilon**2)
    losses, mean = log_ratio(p, q), kl(p, q)
    centred = losses - col(mean)
    ends = [(i - j, j) for i in range(LONGEST + 1) for j in range(i + 1)]
    zeros, ones = np.array(ends).T
    return {
        "epsilon": epsilon,
        "radius": radius,
        "total": radius + v.k * epsilon * tanh(epsilon / 2),
        "rate": rate,
        "p": stopped(v, p),
        "q": stopped(v, q),
        "loss": losses[:, :1] * zeros + losses[:, 1:] * ones,
        "centred": centred[:, :1] * zeros + centred[:, 1:] * ones,
        "means": col(mean),
        "mgf": (p * exp(col(rate) * centred)).sum(-1)[:, None],
    }


DOMAIN: Final = Domain(
    {
        "ratio": Rational(Fraction(65, 64), 4, log=True),
        "k": Whole(1, LONGEST),
        "slack": Real(0.01, 0.999),
        "kernel": Laws(2, 2),
        "low": Whole(1, LONGEST),
        "high": Whole(1, LONGEST),
    },
    stopping_game,
    start={"ratio": Fraction(9, 8), "k": 12, "slack": 0.5, "kernel": ((1, 8), (8, 1)), "low": 2, "high": 12},
)
STATEMENT, STEPS = argument(TANH, "eps tanh(eps/2)")
STOPPING: Final = Proof(
    "advanced-composition-stopping",
    STATEMENT,
    DOMAIN,
    STEPS,
    "Dwork, Rothblum and Vadhan, FOCS 2010; the mean: Kairouz, Oh and Viswanath, ICML 2015",
    {"both directions": replace(DOMAIN, build=lambda v: stopping_game(v, one_sided_pair))},
)
PROOFS: Final = (STOPPING,)
