"""Brackets: arrays of real numbers known between a lower and an upper end.

Each operation widens its result by a few units in the last place, so the true value never escapes: one step
of arithmetic by 1 ULP (IEEE guarantees half of one; by nothing if it was exact, which the classic error-free
transformations of Knuth and Dekker tell), an elementary function by 4, a special function by 128.
Exact numbers (ints and Fractions, in object arrays) mix with brackets and stay exact among themselves; the
functions of `functions.py` take both.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.solve import ULP

_TINY: Final = 5e-324
_HUGE: Final = float(np.finfo(float).max)


class Bracket:
    """Every entry of the true array lies in [lower, upper].

    >>> from fractions import Fraction
    >>> third = Bracket.of(1) / 3
    >>> bool(third.lower < Fraction(1, 3) < third.upper)
    True
    """

    __array_ufunc__ = None  # so that `array * bracket` asks the bracket
    __slots__ = ("lower", "upper")

    def __init__(self, lower: Any, upper: Any) -> None:
        self.lower: Floats = np.asarray(lower, dtype=float)
        self.upper: Floats = np.asarray(upper, dtype=float)

    @staticmethod
    def of(value: Any) -> Bracket:
        """An int or a single float stands for itself; a Fraction is rounded to both sides."""
        if isinstance(value, Bracket):
            return value
        array = np.asarray(value)
        if array.dtype.kind == "f" and array.ndim:
            raise TypeError(
                "these floats were rounded somewhere: keep brackets, ints or Fractions throughout"
            )
        near = array.astype(float)
        if array.dtype == object:
            return widen(near, near, 1, np.logical_not(np.frompyfunc(_is_float, 1, 1)(array)))
        large = abs(near) > 2.0**53  # an int64 may have more bits than a float
        return widen(near, near, 1, large) if large.any() else Bracket.points(near)

    @staticmethod
    def points(values: Any) -> Bracket:
        """Floats that stand for themselves."""
        array = np.asarray(values, dtype=float)
        return Bracket(array, array)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.lower.shape

    def __getitem__(self, index: Any) -> Bracket:
        return Bracket(self.lower[index], self.upper[index])

    def __neg__(self) -> Bracket:
        return Bracket(-self.upper, -self.lower)

    def __abs__(self) -> Bracket:
        inside = (self.lower <= 0) & (self.upper >= 0)
        ends = np.abs(self.lower), np.abs(self.upper)
        return Bracket(np.where(inside, 0.0, np.minimum(*ends)), np.maximum(*ends))

    def __add__(self, other: Any) -> Bracket:
        other = Bracket.of(other)
        with np.errstate(all="ignore"):
            low, low_off = _two_sum(self.lower, other.lower)
            if self.lower is self.upper and other.lower is other.upper:
                return widen(low, low, 1, low_off)
            high, high_off = _two_sum(self.upper, other.upper)
            return Bracket(_down(low, 1, low_off), _up(high, 1, high_off))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Bracket:
        return self + (-Bracket.of(other))

    def __rsub__(self, other: Any) -> Bracket:
        return Bracket.of(other) + (-self)

    def __mul__(self, other: Any) -> Bracket:
        return _four_ends(_two_product, self, Bracket.of(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Bracket:
        other = Bracket.of(other)
        result = _four_ends(_two_quotient, self, other)
        through_zero = (other.lower <= 0) & (other.upper >= 0)
        return Bracket(
            np.where(through_zero, -np.inf, result.lower), np.where(through_zero, np.inf, result.upper)
        )

    def __rtruediv__(self, other: Any) -> Bracket:
        return Bracket.of(other) / self

    def __pow__(self, exponent: Any) -> Bracket:
        """Of a base that is known not to be negative, or the square of any number."""
        if isinstance(exponent, int) and exponent == 2:
            square = abs(self)
            return square * square
        base = Bracket(np.maximum(self.lower, 0.0), np.maximum(self.upper, 0.0))
        return _four_ends(_power, base, Bracket.of(exponent), 4)

    def __rpow__(self, base: Any) -> Bracket:
        return Bracket.of(base) ** self

    def sum(self, axis: int = -1) -> Bracket:
        """The sum along an axis, entry after entry, so that an exact sum stays exact."""
        low, high = np.moveaxis(self.lower, axis, 0), np.moveaxis(self.upper, axis, 0)
        total = Bracket.points(np.zeros(low.shape[1:]))
        for i in range(len(low)):
            total = total + Bracket(low[i], high[i])
        return total

    def max(self, axis: int = -1) -> Bracket:
        """The largest entry along an axis."""
        return Bracket(self.lower.max(axis), self.upper.max(axis))

    def __repr__(self) -> str:
        return f"Bracket({self.lower}, {self.upper})"


def _is_float(x: Any) -> bool:
    """Whether a fraction (or an int) has a denominator that is a power of 2 and few enough bits."""
    return not x.denominator & (x.denominator - 1) and int(x.numerator).bit_length() <= 53


def _down(x: Any, ulps: int, off: Any = True) -> Any:
    """x, or a little less where it was rounded; what overflowed is only known to be large."""
    return np.where(off, np.where(x == np.inf, _HUGE, x - ulps * ULP * np.abs(x) - _TINY), x)


def _up(x: Any, ulps: int, off: Any = True) -> Any:
    return np.where(off, np.where(x == -np.inf, -_HUGE, x + ulps * ULP * np.abs(x) + _TINY), x)


def widen(lower: Any, upper: Any, ulps: int, off: Any = True) -> Bracket:
    """[lower, upper], and a little more where the ends were rounded."""
    return Bracket(_down(lower, ulps, off), _up(upper, ulps, off))


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b, and whether it was rounded (Knuth)."""
    total = a + b
    part = total - a
    return total, ((a - (total - part)) + (b - part)) != 0


def _two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """a b, and whether it was rounded (Dekker); near underflow and overflow it counts as rounded."""
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
    tiny = (np.abs(product) < 1e-250) & (a != 0) & (b != 0)
    return product, (error != 0) | tiny


def _halves(x: Any) -> tuple[Any, Any]:
    scaled = 134217729.0 * x  # 2^27 + 1
    high = scaled - (scaled - x)
    return high, x - high


def _two_quotient(a: Any, b: Any) -> tuple[Any, Any]:
    """a/b, and whether it was rounded."""
    quotient = a / b
    back, off = _two_product(quotient, b)
    return quotient, off | (back != a)


def _power(a: Any, b: Any) -> tuple[Any, Any]:
    return np.power(a, b), (b != 0) & (a != 1)


def _four_ends(operation: Any, a: Bracket, b: Bracket, ulps: int = 1) -> Bracket:
    """For an operation that is monotone in each argument."""
    with np.errstate(all="ignore"):
        return _combine(operation, a, b, ulps)


def _combine(operation: Any, a: Bracket, b: Bracket, ulps: int) -> Bracket:
    if a.lower is a.upper and b.lower is b.upper:
        ends, off = operation(a.lower, b.lower)
        return widen(ends, ends, ulps, off)
    results = [operation(x, y) for x in (a.lower, a.upper) for y in (b.lower, b.upper)]
    # 0 times infinity only occurs where the true product is 0.
    lows = [np.where(np.isnan(x), 0.0, _down(x, ulps, off)) for x, off in results]
    highs = [np.where(np.isnan(x), 0.0, _up(x, ulps, off)) for x, off in results]
    return Bracket(np.minimum.reduce(lows), np.maximum.reduce(highs))
