"""Everything else: the sum of rounded losses by two tilted Fourier transforms.

The losses are rounded to a grid (`rounding`: once so that delta grows, once as a post-processing, so
that it shrinks), the masses tilted by e^{cl} towards the epsilon that is asked for, transformed, raised
to their powers, multiplied, and transformed back. For any c > 0 a perturbation of the tilted law by eta
in total variation changes delta(eps) by at most

    eta * e^{K(c) - c eps} * sup_x e^{-cx} (1 - e^{-x})+  <=  eta * e^{K(c) - c eps},

so what wraps around the window (bounded by Chernoff at other c) and what rounding does (modelled: a few
ulps for each level of the transform and each multiplication) is small against delta itself, down to
1e-300.

    upper   E[(1 - e^{eps - S})+] for the sum S of the losses rounded by connect-the-dots
    lower   P'(S' >= tau) - e^eps Q'(S' >= tau) for the best tau near eps: a test, hence a lower bound
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import fft

from dpcourse.errors import Floats
from dpcourse.loss.base import ULP, PrivacyLoss, solve_decreasing
from dpcourse.loss.factors import FiniteFactor
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.lattice import common_step
from dpcourse.loss.rounding import LaplaceCells, blocks
from dpcourse.loss.saddle import Saddle

_AIM = 1e-10  # the error of epsilon that the step of the grid aims at
_FEWEST, _MOST = 2**12, 2**20
_CELLS = 2  # saddle-point cells (two standard deviations each) that share a transform


@dataclass(frozen=True)
class _Sketch:
    """A loss as a few hundred atoms, to find saddle points and windows."""

    atoms: tuple[Floats, Floats]
    infinite: float = 0.0


@dataclass(frozen=True)
class Window:
    """P- and Q-masses above each grid point around some epsilons, times e^{-scale}, for both bounds."""

    h: float
    c: float
    centre: float
    scale: float
    upper: tuple[float, Floats, Floats]
    lower: tuple[float, Floats, Floats]
    error: float
    lost: float

    def _at(self, side: tuple[float, Floats, Floats], epsilon: Floats, move: int) -> Any:
        start, p, q = side
        j = np.ceil((epsilon - start) / self.h).astype(int) + move
        inside = np.clip(j, 0, len(p) - 1)
        return np.where(j < len(p), p[inside] - np.exp(epsilon - self.centre) * q[inside], 0.0)

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The expectation above, the best test below."""
        error = self.error * np.exp(-self.c * (epsilon - self.centre))
        factor = math.exp(self.scale)
        tries = (
            range(-4, 5) if self.h < 0.1 else (0,)
        )  # a coarse grid is a lattice, where nothing was rounded
        low = np.max([self._at(self.lower, epsilon, move) for move in tries], axis=0)
        low = low - error * math.exp(
            (self.c + 1) * self.h * (len(tries) // 2)
        )  # the rounding at tau, not at eps
        high = self._at(self.upper, epsilon, 0) + error
        return np.maximum(factor * low, 0.0), factor * np.maximum(high, 0.0) + self.lost

    def slope(self, epsilon: Floats) -> Any:
        """e^eps Q[S > eps], from the upper law."""
        start, _, q = self.upper
        j = np.clip(np.ceil((epsilon - start) / self.h).astype(int), 0, len(q) - 1)
        return math.exp(self.scale) * np.exp(epsilon - self.centre) * q[j]


@dataclass(frozen=True)
class Grid:
    """The sum of any losses."""

    parts: Sequence[tuple[PrivacyLoss, int]]
    _windows: dict[int, Window] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        return "grid: tilted Fourier transforms of rounded losses, from above and below; it takes any losses"

    @cached_property
    def _step(self) -> float:
        """The lattice on which all losses lie, if there is one: then nothing needs to be rounded."""
        atoms = [leaf.atoms[0] for leaf, _ in self.parts if isinstance(leaf, FiniteLoss)]
        if len(atoms) < len(self.parts):
            return 0.0
        return common_step(np.concatenate([losses - losses.min() for losses in atoms]))

    @cached_property
    def _blocks(self) -> list[tuple[Any, int]]:
        return blocks(self.parts, merge=not self._step)

    @cached_property
    def _saddle(self) -> Saddle:
        few = blocks(self.parts, merge=False)
        factors = [FiniteFactor(_Sketch(b.sketch), k) for b, k in few]  # type: ignore[arg-type]
        mean = sum(f.times * float(f.leaf.atoms[0] @ f.leaf.atoms[1]) for f in factors)
        return Saddle(factors, mean)

    def _region(self, epsilon: float) -> int:
        table = self._saddle.table()
        return int(table.cell[min(int(np.searchsorted(table.eps, epsilon)), len(table.cell) - 1)]) // _CELLS

    def _window(self, region: int) -> Window:
        if region not in self._windows:
            self._windows[region] = self._transform(region)
        return self._windows[region]

    def _transform(self, region: int) -> Window:
        table = self._saddle.table()
        members = table.members(region, _CELLS)
        middle = members[len(members) // 2]
        c, centre = float(table.c[middle]), float(table.eps[middle])
        low, high, outside = self._span(c)
        # `_region` sends here all epsilons above the last of the region below; the ends stand for all beyond.
        first = float(table.eps[members[0] - 1]) if members[0] else min(float(table.eps[0]), 0.0)
        last = float(table.eps[members[-1]]) if members[-1] + 1 < len(table.eps) else high
        h, size = self._resolution(high - low, c)
        rounded = [(block.rounded(h), k) for block, k in self._blocks]
        span = first - 8 * h - 1e-9, last + 8 * h + 1e-9
        start, log_p, law = _power([(r.start, r.p, k) for r, k in rounded], c, h, size, low)
        scale = log_p - c * centre
        begin, p = _survival(start, law, h, centre, c, span)
        upper = begin, p, _survival(start, law, h, centre, c + 1, span)[1]
        if any(r.p is not r.p_low for r, _ in rounded):  # the lower bound was rounded in another way
            start, log_low, law = _power([(r.start_low, r.p_low, k) for r, k in rounded], c, h, size, low)
            p = _survival(start, law * math.exp(log_low - log_p), h, centre, c, span)[1]
        start, log_q, law = _power([(r.start_low, r.q_low, k) for r, k in rounded], c + 1, h, size, low)
        law = law * math.exp(log_q - (c + 1) * centre + centre - scale)
        begin, q = _survival(start, law, h, centre, c + 1, span)
        steps = sum(k for _, k in self.parts)
        error = 2 * outside + ULP * (16 + 4 * math.log2(size) + 4 * steps)
        lost = float(sum(k * (r.lost + ULP) for r, k in rounded if r.lost))
        return Window(h, c, centre, scale, upper, (begin, p, q), 2 * error, lost)

    def _span(self, c: float) -> tuple[float, float, float]:
        """A window for all but e^-44 of the tilted law, by Chernoff's bound, and what it may leave out."""
        k_c = float(self._saddle.cumulant(np.array([c]))[0])
        other = c + (1 + c) * np.concatenate([-np.geomspace(1, 1e-4, 60), np.geomspace(1e-4, 4, 60)])
        with np.errstate(over="ignore"):
            excess = self._saddle.cumulant(other) - k_c + 44
        edge = excess / (other - c)
        edge = edge[np.isfinite(edge)]
        above = float(edge[other[np.isfinite(excess)] > c].min())
        below = float(edge[other[np.isfinite(excess)] < c].max())
        pad = 0.01 * (above - below)  # the sketch is not quite the law
        return below - pad, above + pad, 4 * math.exp(-44)

    def _resolution(self, width: float, c: float) -> tuple[float, int]:
        """The step of the grid and the length of the transform."""
        if self._step and width / self._step < 4 * _MOST:
            return self._step, fft.next_fast_len(math.ceil(width / self._step) + 2, real=True)
        roundings = sum(k for _, k in self._blocks)
        finest = max(b.finest for b, _ in self._blocks)
        h = max(math.sqrt(4 * _AIM / (roundings * (1 + c))), width / _MOST, finest)
        if len(shifts := {b.leaf.shift for b, _ in self._blocks if isinstance(b, LaplaceCells)}) == 1:
            h = 2 * (s := shifts.pop()) / max(1, math.floor(2 * s / h))
        return h, fft.next_fast_len(max(math.ceil(width / h) + 2, _FEWEST), real=True)

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Each epsilon by the transform of its region."""
        low, high = np.empty((2, len(epsilon)))
        regions = np.array([self._region(float(e)) for e in epsilon])
        for region in np.unique(regions):
            mine = regions == region
            low[mine], high[mine] = self._window(int(region)).bounds(epsilon[mine])
        return low, high

    def slope(self, epsilon: Floats) -> Any:
        """Each epsilon by the transform of its region."""
        return np.concatenate([self._window(self._region(float(e))).slope(np.array([e])) for e in epsilon])

    def root(self, target: float) -> tuple[float, float]:
        """Newton's method on ln delta, from the saddle-point estimate; bisection where that fails."""
        root, off = self._saddle.newton(self, target)
        if not math.isnan(root):
            return root, off

        def middle(epsilon: float) -> float:
            return float(np.sum(self.bounds(np.array([epsilon])))) / 2

        root = solve_decreasing(middle, target, 1e5) if middle(0.0) > target else 0.0
        return root, 0.0


def _power(
    parts: Sequence[tuple[float, Floats, int]], c: float, h: float, size: int, low: float
) -> tuple[float, float, Floats]:
    """The tilted sum on start, start + h, ..., with start near `low`, and ln of its total mass."""
    total, start, log_mass = np.ones(size // 2 + 1, dtype=complex), 0.0, 0.0
    for begin, mass, k in parts:
        tilt = c * h * np.arange(len(mass))
        top = float(np.max(np.where(mass > 0, tilt + np.log(np.maximum(mass, 1e-320)), -np.inf)))
        tilted = mass * np.exp(tilt - top)
        weight = float(tilted.sum())
        folded = np.zeros(math.ceil(len(mass) / size) * size)
        folded[: len(mass)] = tilted / weight
        total *= _raised(fft.rfft(folded.reshape(-1, size).sum(0)), k)
        start += k * begin
        log_mass += k * (math.log(weight) + top + c * begin)
    ahead = math.ceil((low - start) / h)
    law = np.roll(fft.irfft(total, size), -(ahead % size))
    return start + h * ahead, log_mass, law


def _raised(base: Any, k: int) -> Any:
    """base ** k by squaring; what is too small to matter is set to 0, because subnormal numbers are slow."""
    result = None
    while k:
        if k & 1:
            result = base.copy() if result is None else result * base
        k >>= 1
        if k:
            base = base * base
            base[np.abs(base.real) + np.abs(base.imag) < 1e-100] = 0
    return result


def _survival(
    start: float, law: Floats, h: float, centre: float, tilt: float, span: tuple[float, float]
) -> tuple[float, Floats]:
    """Sums of the untilted law (times e^{tilt centre}) above each grid point of the span."""
    first = max(math.floor((span[0] - start) / h), 0)
    last = max(min(math.ceil((span[1] - start) / h), len(law) - 2), first)
    losses = start + h * np.arange(first, len(law))
    with np.errstate(under="ignore"):
        mass = law[first:] * np.exp(np.minimum(-tilt * (losses - centre), 700.0))
    return start + h * first, np.cumsum(mass[::-1])[::-1][: last - first + 2]
