"""Epsilon of finite losses with few sums, in closed form.

delta(eps) is the largest P(S) - e^eps Q(S) of all events S, so

    e^{eps(delta)} = max over events S of (P(S) - delta)/Q(S),

and the best events are the outcomes with p/q above some level (J. Neyman and E. Pearson, Phil. Trans. R.
Soc. A 231, 1933): one pass over the outcomes in falling order of p/q.

Proved, with every probability known to a relative error r and their running sums to R: any S gives a lower
bound, off by R in P(S) and in Q(S). Ratios, and so the order, are known to 3r: it is the right order for
q' = p/ratio, which is within 3r of q. The largest value for q' is at such an S, and q in place of q' changes
no value by more than 3r, neither that one nor the true largest: the upper bound has 6r more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

import numpy as np

from dpcourse.loss.solve import ULP

Laws = Sequence[tuple[Sequence[float], Sequence[float], int]]
"""Probabilities of the same outcomes under P and Q, none of them 0, and how often the pair is taken."""
_MOST: Final = 2**15  # sums
STEPS: Final = 12  # of one law: a table of ways for more takes longer than other methods
_ENTRIES: Final = 2**17  # of such tables: a megabyte
_TINY: Final = 16  # outcomes for which Python's own numbers are faster than arrays
_RAREST: Final = 1e-290  # far from underflow


def steps_and_sums(laws: Laws) -> tuple[int, int]:
    """How many there are; none if they are too many, or a sum is too rare for products of doubles.

    >>> steps_and_sums([((0.75, 0.25), (0.25, 0.75), 2), ((0.5, 0.5), (0.4, 0.6), 1)])
    (3, 6)
    """
    number, steps, rarest = 1, 0, 1.0
    for p, q, k in laws:
        rarest *= min(*p, *q) ** k
        if rarest < _RAREST or k > STEPS:
            return 0, 0
        number, steps = number * math.comb(k + len(p) - 1, k), steps + k
    return (steps, number) if number <= _MOST and steps * number <= _ENTRIES else (0, 0)


def epsilon_of_few(laws: Laws, infinite: float, target: float) -> tuple[float, float] | None:
    """Bounds on epsilon for a delta above the infinite mass; None for many sums, or where 0 is near.

    >>> low, high = epsilon_of_few([((0.75, 0.25), (0.25, 0.75), 2)], 0.0, 0.1)
    >>> f"{math.exp(high):.6f}", high - low < 1e-13  # (9/16 - 1/10) / (1/16)
    ('7.400000', True)
    """
    steps, number = steps_and_sums(laws)
    if not number:
        return None
    each = (2 * steps + 8) * ULP  # inputs and products
    off = each + number * ULP  # running sums
    best = _best_by_hand if steps == 1 and number <= _TINY else _best
    low, high = best(laws, infinite, target, off)
    more = off + 6 * each
    if high < 1 - more:
        return 0.0, 0.0
    if low < 1 + off:
        return None
    return math.log(low) * (1 - ULP) - off, math.log(high) * (1 + ULP) + more


def _best(laws: Laws, infinite: float, target: float, off: float) -> tuple[float, float]:
    """The largest (P(S) - delta)/Q(S), with P(S) rounded down and rounded up."""
    p, q = _sums((one, k) for one, _, k in laws), _sums((other, k) for _, other, k in laws)
    order = (q / p).argsort()
    above, below = infinite + p[order].cumsum(), q[order].cumsum()
    low, high = (float(((size * above - target) / below).max()) for size in (1 - off, 1 + off))
    return low, high


def _best_by_hand(laws: Laws, infinite: float, target: float, off: float) -> tuple[float, float]:
    """The same for one step of very few outcomes."""
    ((p, q, _),) = laws
    order = sorted((b / a, a, b) for a, b in zip(p, q, strict=True))
    above = list(accumulate((a for _, a, _ in order), initial=infinite))[1:]
    below = list(accumulate(b for *_, b in order))
    low, high = (
        max((size * a - target) / b for a, b in zip(above, below, strict=True)) for size in (1 - off, 1 + off)
    )
    return low, high


def _sums(laws: Iterable[tuple[Sequence[float], int]]) -> Any:
    """The multinomial probabilities of all sums."""
    every: Any = np.ones(1)
    for law, k in laws:
        each: Any = np.array(law)
        if k > 1:
            ways, orders = ways_to_choose(len(law), k)
            each = orders * each[ways].prod(0)
        every = np.multiply.outer(every, each).ravel()
    return every


@lru_cache(16)
def ways_to_choose(n: int, k: int) -> tuple[Any, Any]:
    """All ways to choose k of n outcomes, a column each, and in how many orders they come.

    >>> ways_to_choose(2, 2)
    (array([[0, 0, 1],
           [0, 1, 1]]), array([1., 2., 1.]))
    """
    ways, orders, again = np.arange(n)[None], np.ones(n), np.ones(n)
    for chosen in range(2, k + 1):
        more = n - ways[-1]  # the next one is the last one again, or comes after it
        before = np.repeat(np.arange(len(more)), more)
        after = np.arange(len(before)) - np.repeat(np.cumsum(more) - n, more)
        again = np.where(after == ways[-1, before], again[before] + 1, 1.0)
        ways, orders = np.vstack([ways[:, before], after]), orders[before] * chosen / again
    return ways, orders
