"""Basic and advanced composition: sums of epsilons, and sums of their squares."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpcourse.accounting.common import Deltas, Numbers, Steps, Total, check_slack, steps
from dpcourse.errors import one_of
from dpcourse.guarantees.rounding import up


def _classic(e: float) -> float:
    return e * math.expm1(e) if e < 700 else math.inf


MEANS: dict[str, Callable[[float], float]] = {
    "tanh": lambda e: e * math.tanh(e / 2),
    "half-square": lambda e: e * e / 2,
    "square": lambda e: e * e,
    "classic": _classic,
}
"""Upper bounds on the mean privacy loss of an epsilon-DP step, tightest first.

epsilon tanh(epsilon/2) = epsilon (e^epsilon - 1)/(e^epsilon + 1) is exactly the Kullback-Leibler
divergence of randomized response, the worst such step; the others are simpler and larger.
"""


def basic_composition(epsilon: Numbers, k: int = 1, delta: Deltas = 0.0) -> Total:
    """Basic composition: epsilons add, deltas add.

    If step i is (epsilon_i, delta_i)-DP for every outcome of the steps before it (they may be chosen
    adaptively, their parameters may not), all of them together are (sum epsilon_i, sum delta_i)-DP.
    `epsilon` and `delta` are one number or one per step; `k` repeats the whole list. The epsilons are
    added as decimals, as they are printed, so that ten steps of 0.1 fit a budget of 1. A delta of 1, here
    and below, promises nothing.

    Dwork, Kenthapadi, McSherry, Mironov and Naor, EUROCRYPT 2006; Dwork and Roth 2014, Theorem 3.16.

    >>> basic_composition(0.1, k=100)
    Total(epsilon=10, delta=0)
    >>> basic_composition([0.5, 0.25], delta=1e-6)
    Total(epsilon=0.75, delta=2e-06)
    """
    every = steps(epsilon, k, delta)
    return Total(every.epsilon_sum, min(every.delta_sum, 1.0))


def advanced_composition(
    epsilon: Numbers, k: int, slack: float, delta: Deltas = 0.0, mean: str = "tanh"
) -> Total:
    """Advanced composition: the squares of the epsilons add, at the price of a slack delta' > 0.

    If step i is (epsilon_i, delta_i)-DP (adaptively chosen, parameters fixed in advance), then for every
    0 < delta' < 1 all of them together are (epsilon', sum delta_i + delta')-DP with

        epsilon' = sqrt(2 ln(1/delta') sum epsilon_i^2) + sum m(epsilon_i),

    where m bounds the mean loss of a step. The notes print four forms, all true, tightest first:

        "tanh"         epsilon tanh(epsilon/2)    Kairouz, Oh and Viswanath, ICML 2015
        "half-square"  epsilon^2/2                Bun and Steinke, TCC 2016 (the same number as zCDP)
        "square"       epsilon^2
        "classic"      epsilon (e^epsilon - 1)    Dwork, Rothblum and Vadhan, FOCS 2010; Dwork and Roth
                                                  2014, Theorem 3.20

    >>> [round(advanced_composition(0.1, 100, slack=1e-6, mean=m).epsilon, 3) for m in MEANS]
    [5.756, 5.757, 6.257, 6.308]
    """
    every = steps(epsilon, k, delta)
    term = MEANS[one_of("mean", mean, MEANS)]
    check_slack(slack)
    total = up(deviation(every, -math.log(slack)) + every.total(term))
    return Total(total, min(up(every.delta_sum + slack, 2), 1.0))


def deviation(every: Steps, log_term: float) -> float:
    """sqrt(2 log_term sum epsilon_i^2): how far the loss strays above its mean (Azuma), rounded up."""
    return up(math.sqrt(2 * log_term * every.total(lambda e: e * e)))


def kov_simple(epsilon: Numbers, k: int, slack: float, delta: Deltas = 0.0) -> Total:
    """The closed form of Kairouz, Oh and Viswanath: the least of three.

    If step i is (epsilon_i, delta_i)-DP, then for every 0 < delta' < 1 all of them together are
    (epsilon', 1 - (1 - delta') prod (1 - delta_i))-DP, where with m = sum epsilon_i tanh(epsilon_i/2)
    and s = sum epsilon_i^2

        epsilon' = min( sum epsilon_i,  m + sqrt(2 s ln(e + sqrt(s)/delta')),  m + sqrt(2 s ln(1/delta')) ).

    Kairouz, Oh and Viswanath, ICML 2015, Theorems 3.4 and 3.5.

    >>> kov_simple(0.1, 100, slack=1e-6)
    Total(epsilon=5.756105519, delta=1e-06)
    """
    every = steps(epsilon, k, delta)
    check_slack(slack)
    mean = every.total(MEANS["tanh"])
    spread = math.sqrt(every.total(lambda e: e * e))
    logs = math.log(math.e + spread / slack), -math.log(slack)
    total = min(up(-math.expm1(every.log_kept + math.log1p(-slack))), 1.0)
    return Total(min(every.epsilon_sum, *(up(mean + deviation(every, log)) for log in logs)), total)
