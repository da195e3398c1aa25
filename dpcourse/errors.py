"""Argument checks whose messages teach: each names the value, the rule it breaks and the fix.

Every check returns the value in the form that the caller computes with, so a constructor reads as a
list of rules.

>>> positive("epsilon", -1)
Traceback (most recent call last):
dpcourse.errors.BadInput: epsilon = -1 breaks a rule: it must be a finite number above 0. \
Fix: choose a value such as 0.5.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class BadInput(ValueError):
    """A value that breaks a rule of the mathematics; nothing has been computed or changed."""


def reject(name: str, value: Any, rule: str, fix: str) -> NoReturn:
    """Raise the one kind of error that dpcourse raises for bad input."""
    shown = repr(value) if isinstance(value, str) else str(value)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    raise BadInput(f"{name} = {shown} breaks a rule: it must be {rule}. Fix: {fix}")


def numeric(name: str, value: ArrayLike) -> Floats:
    """Finite real numbers as a float array: no NaN, no infinity, no text."""
    fix = "remove or replace the offending entries first; a public default keeps the result private."
    try:
        array = np.asarray(value, dtype=float)
    except (OverflowError, TypeError, ValueError):  # the first for whole numbers beyond floats
        reject(name, value, "a real number or an array of real numbers", fix)
    if not np.isfinite(array).all():
        reject(name, value, "finite (no NaN, no infinity)", fix)
    return array


def number(name: str, value: Any) -> float:
    """One finite real number."""
    array = numeric(name, value)
    if array.ndim:
        reject(name, value, "one number", "give a single number, not an array.")
    return float(array)


def generator(rng: Any) -> np.random.Generator:
    """The generator itself; anything else is refused, so no draw ever uses hidden global state."""
    if not isinstance(rng, np.random.Generator):
        reject("rng", rng, "a numpy.random.Generator", "pass numpy.random.default_rng(seed).")
    return rng


def distinct(values: Any) -> bool:
    """Whether these are one or more values that can be told apart, each given once.

    >>> distinct("ab"), distinct((1, 1)), distinct([[1], [2]]), distinct(())
    (True, False, False, False)
    """
    try:
        return 0 < len(values) == len(set(values))
    except TypeError:
        return False


def _all(name: str, value: ArrayLike, holds: Any, rule: str, fix: str) -> Any:
    """`value` itself if it is a plain number, else as an array, once every entry obeys the rule."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.generic):
        try:
            number = value if isinstance(value, Fraction) else float(value)
        except OverflowError:
            number = math.nan
        if not holds(number):  # NaN fails every comparison, so it is caught here too
            reject(name, value, rule, fix)
        return number
    try:
        array = np.asarray(value, dtype=float)
    except (OverflowError, TypeError, ValueError):
        reject(name, value, rule, fix)
    if not np.all(holds(array)):
        reject(name, value, rule, fix)
    return array if array.ndim else float(array)


def positive(name: str, value: ArrayLike, fix: str = "choose a value such as 0.5.") -> Any:
    """A finite number (or array) above 0."""
    return _all(name, value, lambda v: (v > 0) & (v < np.inf), "a finite number above 0", fix)


def nonnegative(name: str, value: ArrayLike, fix: str = "choose 0 or a value above it.") -> Any:
    """A number (or array) of at least 0; infinity is allowed."""
    return _all(name, value, lambda v: v >= 0, "a number of at least 0", fix)


def delta(
    name: str,
    value: ArrayLike,
    fix: str = "choose a small probability such as 1e-6 (well below one over the number of people).",
) -> Any:
    """A failure probability in [0, 1)."""
    return _all(name, value, lambda v: (v >= 0) & (v < 1), "at least 0 and below 1", fix)


def probability(name: str, value: ArrayLike, fix: str = "give a probability between 0 and 1.") -> Any:
    """A probability in [0, 1]."""
    return _all(name, value, lambda v: (v >= 0) & (v <= 1), "between 0 and 1", fix)


def whole(name: str, value: Any, at_least: int = 1) -> int:
    """An integer of at least `at_least`; 3.0 is refused, because a count is not measured."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral) or value < at_least:
        fix = f"give an int such as {max(at_least, 10)}."
        reject(name, value, f"a whole number of at least {at_least}", fix)
    return int(value)


def one_of(name: str, value: Any, options: Iterable[Any]) -> Any:
    """One of a short list of choices."""
    options = list(options)
    if value not in options:
        listed = ", ".join(map(repr, options))
        reject(name, value, f"one of {listed}", "choose one of them.")
    return value
