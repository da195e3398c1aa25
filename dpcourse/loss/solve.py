"""Where a decreasing function reaches a value: the one root finder of the engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

ULP: Final = float(np.finfo(float).eps)
TINIEST: Final = float(np.finfo(float).smallest_subnormal)  # the smallest double above 0


def solve_decreasing(f: Callable[[float], float], target: float, last: float = math.inf) -> float:
    """A point where the decreasing f reaches target > 0, to a few ulps; f(0) > target is known.

    Chandrupatla's method on ln f: inverse quadratic interpolation where it is trustworthy, else bisection.
    """
    goal = math.log(target)
    a, at_a = 0.0, _log(f(0.0)) - goal
    b = min(1.0, last)
    at_b = _log(f(b)) - goal
    while at_b > 0 and b < last:
        a, at_a, b = b, at_b, min(2 * b, last)
        at_b = _log(f(b)) - goal
    c, at_c, place = a, at_a, 0.5
    for _ in range(100):
        x = a + place * (b - a)
        value = _log(f(x)) - goal
        if (value > 0) == (at_a > 0):
            c, at_c = a, at_a
        else:
            c, b, at_c, at_b = b, a, at_b, at_a
        a, at_a = x, value
        tolerance = 2 * ULP * abs(x) / max(abs(b - a), 1e-300)
        if value == 0 or tolerance >= 0.5:
            break
        place = 0.5
        if at_c in (at_a, at_b):  # flat: nothing to interpolate
            continue
        ratio, rise = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        if rise**2 < ratio and (1 - rise) ** 2 < 1 - ratio:
            place = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            place += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        place = min(max(place, tolerance), 1 - tolerance)
    return a if at_a <= 0 else b


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -1e4
