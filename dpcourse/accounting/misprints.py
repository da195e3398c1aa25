"""Forms of advanced composition that are in print and false, each with the numbers that refute it.

Never account with these. They are here to be caught: the exact value of `optimal_delta` shows that
randomized response breaks each of them.
"""

from __future__ import annotations

import math

from dpcourse.accounting.common import Total, check_slack, steps
from dpcourse.errors import reject


def log_of_wrong_delta(epsilon: float, k: int, slack: float, delta: float) -> Total:
    """FALSE: epsilon sqrt(2k ln(1/delta)) + k epsilon tanh(epsilon/2): the step's delta in the logarithm.

    True with ln(1/delta'), delta' the slack. As printed it is infinite for pure steps, and too small when
    delta is larger than delta': for epsilon = 0.1, delta = 1e-8, k = 100, delta' = 1e-14 it claims
    (6.5693, k delta + delta'), but the exact delta exceeds k delta by 1.18e-11, a thousand times delta'.
    And k = 1, epsilon = 1, delta = 0.9, delta' = 0.001: it claims .901, exactly it is .9055.

    >>> log_of_wrong_delta(0.1, 100, slack=1e-14, delta=1e-8)
    Total(epsilon=6.569292267, delta=1.00000001e-06)
    """
    check_slack(slack)
    steps(epsilon, k, delta)
    if delta == 0:
        reject("delta", delta, "above 0 in this misprint, which takes its logarithm", "give 1e-8.")
    mean = k * epsilon * math.tanh(epsilon / 2)
    return Total(epsilon * math.sqrt(-2 * k * math.log(delta)) + mean, k * delta + slack)


def exponential_of_slack(epsilon: float, k: int, slack: float, delta: float = 0.0) -> Total:
    """FALSE: epsilon sqrt(2k ln(1/delta')) + k epsilon (e^{delta'} - 1): delta' in the mean term.

    True with e^epsilon - 1. As printed the mean term vanishes: for epsilon = 0.5, k = 400, delta' = 1e-6
    it claims 52.57, where the exact delta is .322. For epsilon = 1, delta' = 0.01 it fails from k = 10 on
    (claims 9.698; exactly .01138 > .01).

    >>> exponential_of_slack(1, 10, slack=0.01)
    Total(epsilon=9.697553495, delta=0.01)
    """
    check_slack(slack)
    steps(epsilon, k, delta)
    mean = k * epsilon * math.expm1(slack)
    return Total(epsilon * math.sqrt(-2 * k * math.log(slack)) + mean, k * delta + slack)


def missing_two(epsilon: float, k: int, slack: float, delta: float = 0.0) -> Total:
    """FALSE: epsilon sqrt(k ln(1/delta')) + k epsilon (e^epsilon - 1), without the 2 under the root.

    True with sqrt(2k ln(1/delta')), which is what Azuma's inequality gives. For epsilon = 0.05, k = 100,
    delta' = 1e-6 it claims 2.1148, where the exact delta is 2.5e-6.

    >>> missing_two(0.05, 100, slack=1e-6)
    Total(epsilon=2.114816576, delta=1e-06)
    """
    check_slack(slack)
    steps(epsilon, k, delta)
    mean = k * epsilon * math.expm1(epsilon)
    return Total(epsilon * math.sqrt(-k * math.log(slack)) + mean, k * delta + slack)


def without_mean(epsilon: float, k: int, slack: float, delta: float = 0.0) -> Total:
    """FALSE in general: epsilon sqrt(2k ln(1/delta')), "epsilon' = O(epsilon sqrt(k log 1/delta'))".

    The mean term k epsilon^2/2 may be left out only as long as it is small, k < 1/epsilon^2. For
    epsilon = 1, k = 400, delta' = 1e-6 it claims 105.1, where the exact delta is nearly 1.

    >>> without_mean(1, 400, slack=1e-6)
    Total(epsilon=105.1304354, delta=1e-06)
    """
    check_slack(slack)
    steps(epsilon, k, delta)
    return Total(epsilon * math.sqrt(-2 * k * math.log(slack)), k * delta + slack)


MISPRINTS = {
    "exponential of slack": exponential_of_slack,
    "missing two": missing_two,
    "without mean": without_mean,
}
"""Those that say something about pure steps."""
