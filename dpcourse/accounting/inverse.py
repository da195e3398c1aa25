"""The inverse problem: the most that a budget allows, under any bound, by one certified search.

Every answer was checked by evaluating the bound forward: it obeys the budget, and what is a little
more (one part in 10^12, or one step) does not.
"""

from __future__ import annotations

from collections.abc import Callable

from dpcourse.accounting.bounds import BOUNDS, epsilon_under
from dpcourse.accounting.common import boundary
from dpcourse.accounting.step import Item
from dpcourse.accounting.workload import Workload
from dpcourse.errors import delta as check_delta
from dpcourse.errors import one_of, positive, reject, whole
from dpcourse.guarantees import PureDP
from dpcourse.mechanisms import GaussianMechanism, LaplaceMechanism, Subsampled


def largest_epsilon(epsilon: float, delta: float, k: int, bound: str = "optimal") -> float:
    """The largest epsilon of each of k pure steps such that together they are (epsilon, delta)-DP.

    >>> [round(largest_epsilon(1, 1e-6, 100, b), 6) for b in ("basic", "classic", "tanh", "optimal")]
    [0.01, 0.018376, 0.018692, 0.024011]
    """
    return extreme(PureDP, epsilon, delta, k, bound, risky=+1)


def largest_k(item: Item, epsilon: float, delta: float, bound: str = "exact") -> int:
    """How often a mechanism (or anything with a guarantee) can run within (epsilon, delta); 0 if never.

    >>> [largest_k(PureDP(0.1), 1, 1e-6, b) for b in ("basic", "tanh", "optimal")]
    [10, 3, 10]
    """
    target, delta = _budget(epsilon, delta, bound)

    def fits(k: int) -> bool:
        return epsilon_under(bound, Workload.of(item, k), delta) <= target

    low, high = 0, 1
    while fits(high):
        low, high = high, 2 * high
        if high > 2**50:
            fix = "ask for a smaller epsilon, or use a mechanism that reveals something."
            reject("epsilon", epsilon, "a budget that some number of steps exceeds", fix)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def smallest_scale(
    epsilon: float, delta: float, k: int, bound: str = "exact", sensitivity: float = 1.0
) -> float:
    """The smallest scale of Laplace noise such that k answers are (epsilon, delta)-DP.

    >>> [round(smallest_scale(1, 1e-6, 100, b), 3) for b in ("basic", "tanh", "exact")]
    [100.0, 53.5, 41.487]
    """
    size = positive("sensitivity", sensitivity)
    return extreme(lambda b: LaplaceMechanism(size / b, sensitivity=size), epsilon, delta, k, bound, risky=-1)


def smallest_sigma(
    epsilon: float,
    delta: float,
    k: int,
    bound: str = "exact",
    sensitivity: float = 1.0,
    rate: float = 1.0,
) -> float:
    """The smallest standard deviation of Gaussian noise such that k answers are (epsilon, delta)-DP.

    With a `rate` below 1 every answer is about a fresh Poisson sample of the people, as in DP-SGD.

    >>> [round(smallest_sigma(1, 1e-6, 100, b), 3) for b in ("zcdp", "rdp", "exact")]
    [53.5, 45.309, 42.247]
    >>> round(smallest_sigma(1, 1e-5, 100, rate=0.1), 4)
    3.9417
    """
    size = positive("sensitivity", sensitivity)

    def family(sigma: float) -> Item:
        noisy = GaussianMechanism(sigma, sensitivity=size)
        return noisy if rate == 1 else Subsampled(noisy, rate)

    return extreme(family, epsilon, delta, k, bound, risky=-1)


def extreme(
    family: Callable[[float], Item], epsilon: float, delta: float, k: int, bound: str, *, risky: int
) -> float:
    """The extreme parameter x of a family such that k times family(x) is (epsilon, delta)-DP.

    `risky` is +1 if a larger parameter reveals more (a budget), -1 if it reveals less (noise).
    """
    target, delta = _budget(epsilon, delta, bound)
    rounds = whole("k", k)

    def cost(x: float) -> float:
        return epsilon_under(bound, Workload.of(family(x), rounds), delta)

    x = 1.0
    good = cost(x) <= target
    factor = 2.0**risky if good else 0.5**risky
    for turn in range(80):
        before, x = x, x * (factor if turn < 40 else factor**20)
        if (cost(x) <= target) != good:
            return boundary(cost, target, *((before, x) if good else (x, before)))
    if good:
        fix = "take any parameter: what this budget allows has no end here."
        reject("epsilon", epsilon, f"a budget that some parameter from {1 / x:.0e} to {x:.0e} exceeds", fix)
    fix = (
        'try another bound, other noise or a larger delta; at delta = 0 only "basic", "kov-simple", "optimal"'
    )
    fix += ' and "exact" work, and Gaussian noise not at all.'
    reject("bound", bound, f"one that can promise ({epsilon}, {delta}) at all", fix)


def _budget(epsilon: float, delta: float, bound: str) -> tuple[float, float]:
    one_of("bound", bound, BOUNDS)
    if BOUNDS[bound].kind in {"approximation", "misprint"}:
        reject("bound", bound, "one that promises something", 'use "exact"; see BOUNDS for the others.')
    return float(positive("epsilon", epsilon)), float(check_delta("delta", delta))
