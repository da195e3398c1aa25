"""Rounding to the safe side: a promise may be a little too weak in its last digit, never too strong.

Two kinds of numbers are rounded. Parameters are read as they are printed: 0.1 is a tenth, three of them are
0.3, and 3 * 0.1 must fit a budget of 0.3 although the double next to 0.1 is a little above it. Their sums and
products are exact in Fractions, and rounded up once. What a formula computes from them is raised by more than
its rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

ULP = float(np.finfo(float).eps)


def up(value: float, ulps: float = 8) -> float:
    """A little above a nonnegative value that a short formula computed: more than its rounding error."""
    return value * (1 + ulps * ULP)


def exact(value: float) -> Fraction:
    """The number as it is printed."""
    return Fraction(repr(float(value)))


def ceil(value: Fraction) -> float:
    """The least float that, as it is printed, is not below the value.

    >>> ceil(3 * exact(0.1)), ceil(6 * exact(0.15)), ceil(Fraction(1, 3)) > 1 / 3
    (0.3, 0.9, True)
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if exact(nearest) >= value else math.nextafter(nearest, math.inf)


def decimal_sum(values: Iterable[float], counts: Iterable[int]) -> float:
    """The sum of count times value, as they are printed, rounded up.

    >>> decimal_sum([0.1], [3]), decimal_sum([0.1, 0.2], [1, 1]), decimal_sum([0.15], [6])
    (0.3, 0.3, 0.9)
    """
    pairs = list(zip(values, counts, strict=True))
    if any(math.isinf(v) for v, _ in pairs):
        return math.inf
    return ceil(sum((n * exact(v) for v, n in pairs), Fraction(0)))


def root(square: Fraction) -> float:
    """The least float, or the one after it, whose square, as it is printed, is not below this one.

    >>> root(exact(3.0) ** 2 + exact(4.0) ** 2), root(100 * exact(0.1) ** 2)
    (5.0, 1.0)
    """
    nearest = math.sqrt(square)
    while exact(nearest) ** 2 < square:
        nearest = math.nextafter(nearest, math.inf)
    return nearest
