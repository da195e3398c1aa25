"""The sums of the smoothed contour: nodes of a line, what each counts for in both bounds, and the bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.logs import turned
from dpcourse.loss.methods.even import OFF, even_sums
from dpcourse.loss.methods.kink import LARGEST, transforms
from dpcourse.loss.methods.line import Line
from dpcourse.loss.solve import ULP

_BLOCK: Final = 2**12
_EVEN: Final = 2**4  # epsilons in even steps that are worth a Fourier transform


def _blocks(count: int) -> Iterator[slice]:
    """So many nodes, as many at a time as stay near the processor."""
    return (slice(i, min(i + _BLOCK, count)) for i in range(0, count, _BLOCK))


@dataclass(frozen=True)
class Values:
    """Some t = 0, h, ... of a line, and M(c + it)/M(c) e^{-it centre} there, half of it at 0."""

    t: Floats
    value: Any
    left_out: float
    """The sum of |M/M(c)|/t^2 over all other nodes, at most."""
    end: int
    """How many nodes there are, those that were left out included."""
    wanted: int
    """How many there should be: more than that, if it would have taken too long."""

    def sizes(self, line: Line) -> tuple[Floats, float]:
        """What the terms of both bounds together are at most, and a bound on the bend of either."""
        size = 2 * LARGEST * line.h / math.pi * np.abs(self.value)
        return size / (line.c**2 + self.t**2), float(size.sum()) / 2


@dataclass(frozen=True)
class Nodes:
    """The upper sum is a bound on delta, aliases and all; off the lower one they are taken."""

    line: Line
    values: Values
    error: float
    """In units of e^{K(c) - c eps}, as the sums are."""
    common: float
    """The relative error of all terms together."""
    turning: float
    """What rounding may do besides, for each unit of eps - centre: a phase is off by ulps of itself."""
    bend: float
    """The second derivative of e^{-c eps} times either sum, at most, in units of e^{-c eps}."""
    _last: dict[float, Floats] = field(default_factory=dict, repr=False)

    @cached_property
    def _number(self) -> Any:
        """t/h."""
        return np.rint(self.values.t / self.line.h).astype(np.intp)

    def _wheel(self, rate: float) -> Callable[[slice], Any]:
        """e^{-i rate t} - 1 for some of the nodes: from tables for the first and the last bits of t/h."""
        angle, number, end = rate * self.line.h, self._number, self.values.end
        bits = (end.bit_length() + 1) // 2
        if len(number) < 2 << bits:
            return lambda some: turned(-angle * number[some])
        low = turned(-angle * np.arange(2.0**bits))
        high = turned(-angle * 2.0**bits * np.arange((end >> bits) + 1.0))

        def turn(some: slice) -> Any:
            first, last = high[number[some] >> bits], low[number[some] & (1 << bits) - 1]
            return first + last + first * last

        return turn

    @cached_property
    def _terms(self) -> Any:
        """A row for the lower bound, one for the upper, each to be multiplied by e^{-it (eps - centre)}."""
        line, values = self.line, self.values
        terms = np.empty((2, len(values.t)), dtype=complex)
        unit, wheel = 2 * math.pi / (line.h * values.end), cache(self._wheel)
        for some in _blocks(len(values.t)):
            weight = line.h / math.pi * values.value[some]
            turn: Any = lambda rate, some=some: wheel(rate)(some)  # noqa: E731
            for row, transform in zip(terms, transforms(line.c, unit, values.t[some], turn), strict=True):
                np.multiply(weight, transform, out=row[some])
        return terms

    def _sums(self, shift: float) -> Floats:
        """Both sums and their slopes at an epsilon."""
        sums, turn = np.zeros(4), self._wheel(shift)
        for some in _blocks(len(self.values.t)):
            t = self.values.t[some]
            each = self._terms[:, some] * (1 + turn(some))
            sums[:2] += np.einsum("ij->i", each.real)
            sums[2:] -= np.einsum("ij,j", each.imag, t)  # as fast as the BLAS, and wakes no threads
        sums[2:] += self.line.c * sums[:2]
        return sums

    def _moved(self, shift: float) -> tuple[Floats, float]:
        """The sums, by the last ones and their slopes if those are near; and how far they may be off."""
        for before, sums in self._last.items():
            step = shift - before
            off = self.bend * step * step / 2 * math.exp(min(self.line.c * abs(step), 700.0))
            if off <= 1e-3 * (sums[1] - sums[0]):
                return np.append((sums[:2] - step * sums[2:]) * math.exp(self.line.c * step), sums[2:]), off
        self._last.clear()
        self._last[shift] = sums = self._sums(shift)
        return sums, 0.0

    def _curve(self, shift: Floats) -> tuple[Floats, Any] | None:
        """The sums at many even epsilons, which are sums of waves again; None if they are not even."""
        if len(shift) < _EVEN:
            return None
        step = (shift[-1] - shift[0]) / (len(shift) - 1)
        uneven = float(np.abs(shift - (shift[0] + step * np.arange(float(len(shift))))).max())
        if uneven > 8 * ULP * (abs(self.line.centre) + np.abs(shift).max()):
            return None
        waves = np.concatenate([self._terms, 1j * self.values.t * self._terms[1:]])
        low, high, slope = even_sums(-self.values.t, waves, shift[0], step, len(shift)).real
        off = OFF * ULP * float(np.abs(waves[:2]).sum()) + uneven * self.turning / ULP
        return np.array([low, high, slope + self.line.c * high]), off

    def at(self, epsilon: Floats) -> Floats:
        """The bounds on delta, and its slope."""
        line, shift = self.line, epsilon - self.line.centre
        if curve := self._curve(shift):
            found, off = curve
        else:
            each = [self._moved(one) for one in shift.tolist()]
            found, off = np.array([sums[[0, 1, 3]] for sums, _ in each]).T, np.array([one for _, one in each])
        error = self.error + off + self.turning * np.abs(shift)
        error += (self.common + ULP * np.abs(line.c * shift)) * np.abs(found[1])
        found[0] -= error
        found[1] += error
        found *= np.exp(line.k_c - line.c * epsilon)
        found[0] -= sum(np.exp(np.minimum(at + steep * shift, 700.0)) for at, steep in line.aliases)
        return found
