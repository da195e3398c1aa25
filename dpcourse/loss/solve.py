"""Where a decreasing function reaches a value: the one root finder of the engine, and its certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

ULP: Final = float(np.finfo(float).eps)
_CLOSE: Final = 9e-9  # ends as near as the smoothed contour brings them: halving would double its work
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


def certified(
    bounds: Callable[[float], tuple[Any, Any]], target: float, start: tuple[float, float], last: float
) -> tuple[float, float]:
    """Where a decreasing function reaches the target, between two points that its bounds make certain.

    From the start outwards in ever larger steps; if that went far, halving brings the ends together again.

    >>> [round(x, 8) for x in certified(lambda x: (0.9 - x, 1.1 - x), 0.5, (0.5, 0.5), 1.0)]
    [0.3984375, 0.6015625]
    >>> certified(lambda x: (0.1, 0.6), 0.5, (1.0, 1.0), math.inf)  # nothing is certain
    (0.0, inf)
    """
    first = (start[1] - start[0]) / 16
    lower = _outwards(lambda x: bool(bounds(x)[0] >= target), start[0], -1, 0.0, first)
    upper = _outwards(lambda x: bool(bounds(x)[1] <= target), start[1], +1, last, first)
    return closer(bounds, target, (lower, upper))


def closer(
    bounds: Callable[[float], tuple[Any, Any]], target: float, ends: tuple[float, float]
) -> tuple[float, float]:
    """Certain ends brought together: halved while the bounds at the middle decide, then each by itself.

    >>> [round(x, 8) for x in closer(lambda x: (0.9 - x, 1.1 - x), 0.5, (0.0, 1.0))]
    [0.375, 0.625]
    """
    lower, upper = ends
    while _apart(lower, upper):
        middle = (lower + upper) / 2
        low, high = bounds(middle)
        if low < target < high:
            near = (upper - lower) / 32
            lower = _inwards(lambda x: bool(bounds(x)[0] >= target), lower, middle, near)
            return lower, _inwards(lambda x: bool(bounds(x)[1] <= target), upper, middle, near)
        lower, upper = (middle, upper) if low >= target else (lower, middle)
    return lower, upper


def _outwards(holds: Callable[[float], bool], start: float, way: int, last: float, first: float) -> float:
    """Where it holds first: at the start, a first step or a few ulps away, ever larger steps; or the last."""
    step = 0.0
    for _ in range(150):
        point = start + way * step
        if way * (point - last) >= 0:
            break
        if holds(point):
            return point
        step = max(2 * step, first, 4 * ULP * max(start, 1e-12))
    return last


def _inwards(holds: Callable[[float], bool], good: float, bad: float, near: float) -> float:
    """A point where it holds, near one where it does not."""
    while abs(good - bad) > near:
        middle = (good + bad) / 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def _apart(a: float, b: float) -> bool:
    return _CLOSE + 1e-13 * abs(a) < abs(b - a) < math.inf


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -1e4
