"""Losses rounded to a grid, from above and from below.

The grid is l_j = start + j h. A loss l between l_j and l_{j+1} goes up with probability w = (1 - e^{-(l
- l_j)})/(1 - e^{-h}), else down.

- Upper: P-masses so rounded, with the likelihood ratio e^{l_j} at l_j, have the Q-mass of the original:
  a mean-preserving spread of the ratio under Q, so delta grows. This is "connect the dots" (Doroshenko,
  Ghazi, Kamath, Kumar, Manurangsi, PoPETs 2022).
- Lower: the same coin, applied as post-processing to P and to Q. Whatever test one makes afterwards is a
  test of the original pair, so it bounds delta from below; the best threshold on the rounded sum loses
  only order h^2, as the upper bound does.

Finite losses are first composed exactly, as multinomials, as far as they stay small: fewer roundings,
less error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.base import PrivacyLoss
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.counts import multinomial, plus
from dpcourse.loss.shifts import GaussianLoss, LaplaceLoss
from dpcourse.loss.subsampled import SubsampledGaussianLoss

_MOST_ATOMS = 2**16
_MOST_EDGES = 2**16  # for losses whose delta is slow to evaluate


@dataclass(frozen=True)
class Rounded:
    """Masses at start + j h: of P for both bounds, of Q for the lower; `lost` goes to infinity."""

    start: float
    start_low: float
    p: Any
    p_low: Any
    q_low: Any
    lost: float = 0.0


@dataclass(frozen=True)
class Atoms:
    """A finite law of losses: values, and their P-masses (which may sum to less than 1)."""

    losses: Floats
    p: Floats

    @property
    def finest(self) -> float:
        return 0.0

    @property
    def sketch(self) -> tuple[Any, Any]:
        return self.losses, self.p

    def rounded(self, h: float) -> Rounded:
        start = float(self.losses.min())
        place = (self.losses - start) / h
        index = np.floor(place).astype(int)
        up = np.expm1(-h * (place - index)) / math.expm1(-h)
        with np.errstate(divide="ignore"):  # a mass may have underflowed
            p, q = self.p, np.exp(np.log(self.p) - self.losses)
        size = int(index.max()) + 2
        both = [np.bincount(index, m * (1 - up), size) + np.bincount(index + 1, m * up, size) for m in (p, q)]
        return Rounded(start, start, both[0], both[0], both[1])


@dataclass(frozen=True)
class LaplaceCells:
    """A Laplace loss: an atom at each end and the density e^{(l-s)/2}/4 between them."""

    leaf: LaplaceLoss

    @property
    def finest(self) -> float:
        return 2 * self.leaf.shift / (16 * _MOST_EDGES)

    @property
    def sketch(self) -> tuple[Any, Any]:
        r = self.rounded(self.leaf.shift / 64)
        return r.start + self.leaf.shift / 64 * np.arange(len(r.p)), r.p

    def rounded(self, h: float) -> Rounded:
        s = self.leaf.shift
        n = max(1, math.ceil(2 * s / h - 1e-9))
        left = -s + h * np.arange(n)
        length = np.append(np.full(n - 1, h), 2 * s - h * (n - 1))
        one, top = -math.expm1(-h), min(math.expm1(h * (n - 1) - 2 * s) / math.expm1(-h), 1.0)
        # Over each cell, the integral of the density times 1 - e^{-(l - l_j)}; for P, and for Q = e^-l P.
        p_cell, q_cell = np.exp((left - s) / 2) / 2, np.exp(-(left + s) / 2) / 2
        p_up = p_cell * (4 * np.sinh(length / 4) ** 2) / one
        q_up = q_cell * (-np.expm1(-length / 2) + np.expm1(-1.5 * length) / 3) / one
        p = np.append(p_cell * np.expm1(length / 2) - p_up, 0.0) + np.append(0.0, p_up)
        q = np.append(-q_cell * np.expm1(-length / 2) - q_up, 0.0) + np.append(0.0, q_up)
        p[0], q[0] = p[0] + math.exp(-s) / 2, q[0] + 0.5
        p[-2:] += 0.5 * (1 - top), 0.5 * top
        q[-2:] += math.exp(-s) / 2 * (1 - top), math.exp(-s) / 2 * top
        return Rounded(-s, -s, p, p, q)


@dataclass(frozen=True)
class Cells:
    """Any loss, by its delta and its tail on the grid; what lies beyond `low` and `high` goes to the ends.

    The median is a point of the grid: where nearly all of the mass is closer together than a step (a small
    sampling rate), it hardly moves, however often it is taken.
    """

    leaf: PrivacyLoss
    low: float
    high: float

    @classmethod
    def of(cls, leaf: PrivacyLoss) -> Cells:
        """Ends beyond which P has next to no mass."""
        high = min(leaf.max_divergence(), 1e4)
        low = max(-leaf.reversed().max_divergence(), -1e4)
        grid = np.concatenate([-np.geomspace(1e4, 1e-4, 300), np.geomspace(1e-4, 1e4, 300)])
        grid = grid[(grid > low) & (grid < high)]
        tail = leaf.tail(grid)
        floor = 1e-60 if isinstance(leaf, GaussianLoss | SubsampledGaussianLoss) else 1e-17
        above, below = grid[tail <= floor], grid[1 - tail <= 1e-17]
        return cls(
            leaf,
            max(low, below[-1] if len(below) else low),
            min(high, above[0] if len(above) else high),
        )

    @cached_property
    def _median(self) -> float:
        low, high, half = self.low, self.high, (1 - self.leaf.infinite) / 2
        for _ in range(60):
            middle = (low + high) / 2
            inside = float(self.leaf.tail(middle)) - self.leaf.infinite > half
            low, high = (middle, high) if inside else (low, middle)
        return high

    @property
    def finest(self) -> float:
        quick = isinstance(self.leaf, GaussianLoss | SubsampledGaussianLoss)
        return (self.high - self.low) / (4 * _MOST_EDGES if quick else _MOST_EDGES)

    @property
    def sketch(self) -> tuple[Any, Any]:
        unit = 1e-3 * max(abs(self.low), abs(self.high))  # dense around 0, where most of the mass may be
        ends = math.asinh(self.low / unit), math.asinh(self.high / unit)
        edges = unit * np.sinh(np.linspace(*ends, 2000))
        return edges, np.maximum(self._connected(edges)[0], 0.0)

    def _connected(self, edges: Any) -> tuple[Any, float]:
        """P-masses at the edges by connect-the-dots: second differences of delta in e^l, and the mass above.

        All that lies left of the first edge is moved there: delta is continued by its chord to l = -inf. For
        l < 0 the dots are delta - finite + e^l = e^l delta_QP(-l), which has the same second differences, and
        small numbers where masses are small.
        """
        finite, first = 1 - self.leaf.infinite, int(np.searchsorted(edges, 0.0))
        dots = np.asarray(self.leaf.delta_bounds(edges[first:])[1], dtype=float) - self.leaf.infinite
        p = np.zeros(len(edges))
        if first:
            puts = np.exp(edges[:first]) * self.leaf.reversed().delta_bounds(-edges[:first])[1]
            puts = np.maximum.accumulate(puts)
            rise = np.diff(puts)
            back = rise / np.expm1(np.diff(edges[:first]))
            p[: first - 1] += back
            p[1:first] -= rise + back
            p[0] -= puts[0]
            last = math.exp(edges[first - 1])
            p[first - 1] += last
            dots = np.append(finite - last + puts[-1], dots)
        dots = np.minimum.accumulate(np.minimum(dots, finite))
        # Written as mass that moves from one edge to the next, so that rounding moves mass but loses none.
        fall = -np.diff(dots)
        moved = fall / np.expm1(np.diff(edges[-len(dots) :]))
        p[-len(fall) :] += fall + moved
        p[-len(dots) : -1] -= moved
        if not first:
            p[0] += finite - dots[0]
        return p, max(float(dots[-1]), 0.0)

    def rounded(self, h: float) -> Rounded:
        start = self._median - h * math.ceil((self._median - self.low) / h)
        n = math.ceil((self.high - start) / h) + 1
        points = start + h * np.arange(n + 1)
        p, lost = self._connected(points)
        # Lower: all within half a step of a point goes there; the two laws keep their own masses.
        edges = np.append(points, points[-1] + h) - h / 2
        tail = np.asarray(self.leaf.tail(edges), dtype=float) - self.leaf.infinite
        back = self.leaf.reversed()  # for l < 0, Q[L > l] from the other side: e^-l would magnify rounding
        delta = sum(self.leaf.delta_bounds(edges)) / 2 - self.leaf.infinite
        other = np.maximum(tail - delta, 0.0) * np.exp(-np.maximum(edges, 0.0))
        other = np.where(edges < 0, 1 - np.asarray(back.tail(-edges)), other)
        tail[0], other[0], tail[-1], other[-1] = 1 - self.leaf.infinite, 1 - back.infinite, 0.0, 0.0
        p_low, q_low = (np.maximum(-np.diff(v), 0.0) for v in (tail, other))
        return Rounded(start, start, p, p_low, q_low, lost)


def blocks(parts: Iterable[tuple[PrivacyLoss, int]], merge: bool = True) -> list[tuple[Any, int]]:
    """What is to be rounded, and how often: finite losses in exact blocks, all others one by one."""
    found: list[tuple[Any, int]] = []
    once = nothing = np.zeros(1), np.ones(1)
    for leaf, k in parts:
        if isinstance(leaf, LaplaceLoss):
            found.append((LaplaceCells(leaf), k))
        elif not isinstance(leaf, FiniteLoss):
            found.append((Cells.of(leaf), k))
        else:
            n = len(leaf.atoms[0])
            sizes = (j for j in range(2, min(k, 60) + 1) if math.comb(j + n - 1, n - 1) <= _MOST_ATOMS)
            m = max(sizes, default=1) if merge else 1
            repeat, left = divmod(k, m)
            if repeat > 1:
                found.append((Atoms(*multinomial(leaf, m)), repeat))
            for size in [m] * (repeat == 1) + [left] * (left > 0):
                extra = multinomial(leaf, size)
                if len(once[0]) * len(extra[0]) > _MOST_ATOMS:
                    found.append((Atoms(*once), 1))
                    once = extra
                else:
                    once = plus(once, extra)
    return found if once is nothing else [*found, (Atoms(*once), 1)]
