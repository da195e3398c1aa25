"""Parameters that are one number: a real, a fraction, an integer."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.functions import fractions
from dpcourse.proofs.parameters import Parameter


@dataclass(frozen=True)
class Real(Parameter):
    """A real number in [low, high]; steps see a bracket around the very float."""

    low: float
    high: float
    log: bool = False

    def draw(self, rng: np.random.Generator, size: int) -> Any:
        """Uniform, or log-uniform on a log scale."""
        u = rng.random(size)
        if self.log:
            values = np.exp(math.log(self.low) + u * math.log(self.high / self.low))
        else:
            values = self.low + u * (self.high - self.low)
        return np.clip(values, self.low, self.high)

    def corners(self) -> list[Any]:
        """Both ends."""
        return [self.low, self.high]

    def sweep(self) -> list[Any]:
        """Nine values from end to end."""
        space = np.geomspace if self.log else np.linspace
        return [float(min(max(x, self.low), self.high)) for x in space(self.low, self.high, 9)]

    def simpler(self, value: Any) -> Iterator[Any]:
        """Fewer digits."""
        for digits in (1, 2, 3):
            rounded = float(f"{value:.{digits - 1}e}")
            if self.low <= rounded <= self.high:
                yield rounded

    def size(self, value: Any) -> float:
        """The number of digits."""
        return float(len(f"{value!r}".split("e")[0].strip("-0.").replace(".", "")))

    def rule(self) -> str:
        """The range."""
        return f"a number from {self.low:g} to {self.high:g}"

    def read(self, value: Any) -> Any:
        """A float in the range."""
        number = float(value) if isinstance(value, numbers.Real) else math.nan
        return number if self.low <= number <= self.high else None

    def view(self, raw: Any, exact: bool) -> Any:
        """The floats as exact points."""
        return Bracket.points(raw)

    def show(self, value: Any) -> str:
        """Six digits."""
        return f"{value:.6g}"


@dataclass(frozen=True)
class Rational(Parameter):
    """A fraction in [low, high]; steps compute with it exactly."""

    low: Fraction | int
    high: Fraction | int
    log: bool = False
    has_fractions = True

    def view(self, raw: Any, exact: bool) -> Any:
        """The Fractions themselves, or brackets around them."""
        return raw if exact else Bracket.of(raw)

    def draw(self, rng: np.random.Generator, size: int) -> Any:
        """Few significant bits, so that exact arithmetic stays quick."""
        low, high = float(self.low), float(self.high)
        u = rng.random(size)
        x = np.exp(np.log(low) + u * np.log(high / low)) if self.log else low + u * (high - low)
        scale = np.maximum(np.abs(x), 2.0**-40) if self.log else np.full(size, max(high - low, 2.0**-40))
        bits = np.maximum(rng.integers(2, 9, size) - np.floor(np.log2(scale)), 0).astype(int)
        drawn = fractions(np.rint(x * 2.0**bits).astype(int), (1 << bits))
        low_end, high_end = self.array(self.corners())
        return np.minimum(np.maximum(drawn, low_end), high_end)

    def corners(self) -> list[Any]:
        """Both ends."""
        return [Fraction(self.low), Fraction(self.high)]

    def sweep(self) -> list[Any]:
        """Nine values from end to end."""
        values = Real(float(self.low), float(self.high), self.log).sweep()
        near = [Fraction(f"{x:.2g}") for x in values]
        return [min(max(x, Fraction(self.low)), Fraction(self.high)) for x in near]

    def simpler(self, value: Any) -> Iterator[Any]:
        """Smaller denominators."""
        for most in (1, 2, 3, 4, 10, 100):
            near = value.limit_denominator(most)
            if self.low <= near <= self.high:
                yield near

    def size(self, value: Any) -> float:
        """Bits of numerator and denominator."""
        return float(abs(value.numerator).bit_length() + value.denominator.bit_length())

    def rule(self) -> str:
        """The range."""
        return f"a Fraction or an int from {self.low} to {self.high}"

    def read(self, value: Any) -> Any:
        """A fraction; a float stands for its shortest decimal, 0.1 for 1/10."""
        if isinstance(value, float) and math.isfinite(value):
            value = Fraction(repr(float(value)))
        exact = isinstance(value, numbers.Rational)
        return Fraction(value) if exact and self.low <= value <= self.high else None

    def array(self, values: Sequence[Any]) -> Any:
        """An object array."""
        result = np.empty(len(values), dtype=object)
        result[:] = list(values)
        return result


@dataclass(frozen=True)
class Whole(Parameter):
    """An integer in low..high."""

    low: int
    high: int
    log: bool = False

    def draw(self, rng: np.random.Generator, size: int) -> Any:
        """Uniform, or log-uniform on a log scale."""
        if not self.log:
            return rng.integers(self.low, self.high + 1, size)
        drawn = Real(self.low, self.high + 0.999, True).draw(rng, size)
        return np.minimum(drawn.astype(int), self.high)

    def corners(self) -> list[Any]:
        """Both ends."""
        return [self.low, self.high]

    def sweep(self) -> list[Any]:
        """Up to nine values from end to end."""
        space = np.geomspace if self.log else np.linspace
        return sorted({round(float(x)) for x in space(self.low, self.high, 9)})

    def simpler(self, value: Any) -> Iterator[Any]:
        """Numbers nearer to 0."""
        start, sign = self._start, 1 if value > self._start else -1
        way = abs(value - start)
        for part in sorted({0, way // 10, way // 2, way * 3 // 4, way * 9 // 10, max(way - 1, 0)}):
            yield int(start + sign * part)

    def size(self, value: Any) -> float:
        """The distance from 0, or from the end of the range that is nearest to it."""
        return float(abs(value - self._start))

    @property
    def _start(self) -> int:
        return min(max(0, self.low), self.high)

    def rule(self) -> str:
        """The range."""
        return f"a whole number from {self.low} to {self.high}"

    def read(self, value: Any) -> Any:
        """An int in the range."""
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return int(value) if whole and self.low <= value <= self.high else None
