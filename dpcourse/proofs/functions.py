"""Functions of brackets; those that do not round keep exact numbers exact."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpcourse import special
from dpcourse.loss.solve import ULP
from dpcourse.proofs.bracket import Bracket, widen


def rising(function: Callable[[Any], Any], x: Any, ulps: int, least: float, most: float) -> Bracket:
    """An increasing function with values in [least, most], accurate to `ulps`."""
    x = Bracket.of(x)
    with np.errstate(all="ignore"):
        wide = widen(function(x.lower), function(x.upper), ulps)
    return Bracket(np.clip(wide.lower, least, most), np.clip(wide.upper, least, most))


def exp(x: Any) -> Bracket:
    """e^x."""
    return rising(np.exp, x, 4, 0.0, np.inf)


def expm1(x: Any) -> Bracket:
    """e^x - 1, without cancellation."""
    return rising(np.expm1, x, 4, -1.0, np.inf)


def log(x: Any) -> Bracket:
    """ln x for x >= 0."""
    x = Bracket.of(x)
    return rising(np.log, Bracket(np.maximum(x.lower, 0.0), x.upper), 4, -np.inf, np.inf)


def log1p(x: Any) -> Bracket:
    """ln(1 + x), without cancellation."""
    return rising(np.log1p, x, 4, -np.inf, np.inf)


def sqrt(x: Any) -> Bracket:
    """The root of x >= 0."""
    x = Bracket.of(x)
    return rising(np.sqrt, Bracket(np.maximum(x.lower, 0.0), x.upper), 1, 0.0, np.inf)


def tanh(x: Any) -> Bracket:
    """(e^x - e^-x)/(e^x + e^-x)."""
    return rising(np.tanh, x, 4, -1.0, 1.0)


def cosh(x: Any) -> Bracket:
    """(e^x + e^-x)/2."""
    return (exp(x) + exp(-Bracket.of(x))) / 2


def normal_cdf(x: Any) -> Bracket:
    """Pr[N(0, 1) <= x]; the exponent of the tail magnifies the rounding of a large x."""
    x = Bracket.of(x)
    square = np.maximum(np.abs(x.lower), np.abs(x.upper)) ** 2
    wide = rising(special.ndtr, x, 128, 0.0, 1.0)
    margin = ULP * square
    return Bracket(wide.lower * (1 - margin), np.minimum(wide.upper * (1 + margin), 1.0))


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two, entry by entry; exact for exact numbers."""
    if is_exact(a) and is_exact(b):
        return np.minimum(a, b)
    a, b = Bracket.of(a), Bracket.of(b)
    return Bracket(np.minimum(a.lower, b.lower), np.minimum(a.upper, b.upper))


def maximum(a: Any, b: Any) -> Any:
    """The larger of two, entry by entry; exact for exact numbers."""
    if is_exact(a) and is_exact(b):
        return np.maximum(a, b)
    a, b = Bracket.of(a), Bracket.of(b)
    return Bracket(np.maximum(a.lower, b.lower), np.maximum(a.upper, b.upper))


def where(mask: Any, a: Any, b: Any) -> Any:
    """a where the mask is true, b elsewhere."""
    if is_exact(a) and is_exact(b):
        return np.where(mask, a, b)
    a, b = Bracket.of(a), Bracket.of(b)
    return Bracket(np.where(mask, a.lower, b.lower), np.where(mask, a.upper, b.upper))


def stack(parts: list[Any], axis: int = -1) -> Any:
    """Several arrays along a new axis."""
    if all(is_exact(part) for part in parts):
        return np.stack(np.broadcast_arrays(*parts), axis)
    brackets = [Bracket.of(part) for part in parts]
    return Bracket(
        np.stack(np.broadcast_arrays(*(b.lower for b in brackets)), axis),
        np.stack(np.broadcast_arrays(*(b.upper for b in brackets)), axis),
    )


def equals(value: Any, number: int) -> Any:
    """Where an entry certainly is this number."""
    if is_exact(value):
        return value == number
    bracket = Bracket.of(value)
    return (bracket.lower == number) & (bracket.upper == number)


def is_exact(value: Any) -> bool:
    """Whether the numbers are ints or Fractions."""
    return not isinstance(value, Bracket) and np.asarray(value).dtype.kind in "iuO"


def fractions(numerator: Any, denominator: Any = 1) -> Any:
    """An object array of Fractions."""
    return np.frompyfunc(Fraction, 2, 1)(numerator, denominator)
