"""A line of the smoothed contour: where its nodes are, what each counts for, and the sums over them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.logs import turned
from dpcourse.loss.solve import ULP

_BLOCK: Final = 2**13


def _blocks(count: int) -> Iterator[slice]:
    """So many nodes, as many at a time as stay near the processor."""
    return (slice(i, min(i + _BLOCK, count)) for i in range(0, count, _BLOCK))


@dataclass(frozen=True)
class Line:
    """Re z = c with step h, for epsilons around `centre`; K(c); w T; what to leave out; aliases; the aim."""

    c: float
    centre: float
    k_c: float
    h: float
    reach: float
    count: int
    spare: float
    aliases: tuple[tuple[float, float], ...]
    aim: float

    @property
    def shift(self) -> float:
        """Where the phases turn: e^{-it centre}, and e^{iwwct} from the noise."""
        return self.centre - (self.reach / (self.h * self.count)) ** 2 * self.c


@dataclass(frozen=True)
class Nodes:
    """Weighted values of M, as `contour.Plan` keeps them: what cos and sin of t (eps - centre) count for."""

    line: Line
    t: Floats
    cos: Floats
    sin: Floats
    """A row for the lower bound, one for the upper, one for the slope."""
    aliases: Sequence[tuple[float, float]]
    error: float
    common: float
    """The relative error of all terms together."""
    cut: bool
    """Whether the line is shorter than it should be, because it took too long."""

    def at(self, epsilon: Floats, first: int | None = None) -> Floats:
        """The bounds on delta and its slope, or what the first nodes say about them.

        The aliases of the upper bound are on the safe side.
        """
        found = np.empty((3, len(epsilon)))
        for i, shift in enumerate(epsilon - self.line.centre):
            sums = np.zeros(3)
            for some in _blocks(first or len(self.t)):
                turn = shift * self.t[some]
                # einsum is as fast as a product of matrices, and wakes no threads
                sums += np.einsum("ij,j", self.cos[:, some], np.cos(turn))
                sums += np.einsum("ij,j", self.sin[:, some], np.sin(turn))
            error = self.error + (self.common + ULP * abs(self.line.c * shift)) * sums[1]
            sums += -error, error, 0.0
            found[:, i] = math.exp(self.line.k_c - self.line.c * epsilon[i]) * sums
            found[0, i] -= sum(math.exp(min(at + slope * shift, 700.0)) for at, slope in self.aliases)
        return found


def weighted(c: float, t: Floats, value: Any, ww: float) -> tuple[Floats, Floats, Floats]:
    """The rows for cos and for sin of nodes with noise of variance ww, and the sizes of their weights."""
    cos, sin = np.empty((2, 3, len(t)))
    size = np.empty(len(t))
    for some in _blocks(len(t)):
        weights = _weights(c, t[some], value[some], ww)
        cos[:, some], sin[:, some] = weights.real, weights.imag
        size[some] = np.abs(weights[:2]).sum(0)
    return cos, sin, size


def _weights(c: float, t: Floats, value: Any, ww: float) -> Any:
    """What nodes count for in the lower bound, in the upper one, and in its slope."""
    z = c + 1j * t
    grown, once = math.expm1(ww / 2 * c), math.expm1(ww / 2)
    rise = grown + (1 + grown) * turned(ww / 2 * t)  # e^{w^2 z/2} - 1
    base = value * np.exp(ww / 2 * (c * c - t * t)) / (z * (z + 1))
    upper = base * (1 + rise)
    lower = base * (1 - z * ((1 + once) * rise * (2 + rise) + once))  # 1 - z (e^{w^2 (z + 1/2)} - 1)
    return np.array([lower, upper, upper * z])
