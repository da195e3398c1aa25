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
from dpcourse.loss.base import PrivacyLoss
from dpcourse.loss.engine import largest_sum
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.factors import FiniteFactor
from dpcourse.loss.methods.fourier import outside, power, survival
from dpcourse.loss.methods.lattice import common_step
from dpcourse.loss.methods.rounding import LaplaceCells, blocks
from dpcourse.loss.methods.saddle import Saddle
from dpcourse.loss.solve import ULP, solve_decreasing

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
    """P- and Q-masses above each grid point around some epsilons, for both bounds.

    With l the grid point they are e^{log_mass - cl} p and e^{log_mass - (c+1)l} q.
    """

    h: float
    c: float
    log_mass: float
    upper: tuple[float, Floats, Floats]
    lower: tuple[float, Floats, Floats]
    error: float
    lost: float
    slack: float
    """How far a sum of losses may be from where it was computed."""

    def _at(self, side: tuple[float, Floats, Floats], epsilon: Floats, move: int) -> Any:
        start, p, q = side
        j = np.ceil((epsilon - start) / self.h).astype(int) + move
        inside = np.clip(j, 0, len(p) - 1)
        point = start + self.h * inside
        value = np.exp(self.log_mass - self.c * point) * (p[inside] - np.exp(epsilon - point) * q[inside])
        return np.where(j < len(p), value, 0.0)

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The expectation above, the best test below."""
        error = self.error * np.exp(self.log_mass - self.c * epsilon)
        tries = range(-4, 5) if self.h < 0.1 else (0,)  # a coarse grid is a lattice: nothing was rounded
        low = np.max([self._at(self.lower, epsilon + self.slack, move) for move in tries], axis=0)
        moved = (self.c + 1) * self.h * (len(tries) // 2)  # rounding at tau, not eps
        low = low - error * np.exp(moved)
        high = self._at(self.upper, epsilon - self.slack, 0) + error
        return np.maximum(low, 0.0), np.maximum(high, 0.0) + self.lost

    def slope(self, epsilon: Floats) -> Any:
        """e^eps Q[S > eps], from the upper law."""
        start, _, q = self.upper
        j = np.clip(np.ceil((epsilon - start) / self.h).astype(int), 0, len(q) - 1)
        point = start + self.h * j
        return np.exp(self.log_mass - self.c * point) * np.exp(epsilon - point) * q[j]


@dataclass(frozen=True)
class Grid:
    """The sum of any losses.

    >>> from dpcourse.loss.shifts import GaussianLoss
    >>> low, high = Grid([(GaussianLoss(0.5), 4)]).bounds(np.array([1.0]))
    >>> f"{low[0]:.8f} {high[0]:.8f}"
    '0.12693674 0.12693674'
    """

    parts: Sequence[tuple[PrivacyLoss, int]]
    exact: Saddle | None = None
    """The cumulants of the losses as they are, where they are known."""
    _windows: dict[int, Window] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        return "grid: tilted Fourier transforms of rounded losses, from above and below; it takes any losses"

    @cached_property
    def _step(self) -> float:
        """The lattice on which all losses lie, if there is one: then nothing needs to be rounded."""
        finite = [leaf for leaf, _ in self.parts if isinstance(leaf, FiniteLoss)]
        if len(finite) < len(self.parts):
            return 0.0
        gaps = [leaf.atoms[0] - leaf.atoms[0].min() for leaf in finite]
        return common_step(np.concatenate(gaps), max(leaf.slip for leaf in finite))

    @cached_property
    def _drift(self) -> float:
        """What the losses may be off together: their rounding, and their distance from the lattice."""
        total = 0.0
        for leaf, k in self.parts:
            if isinstance(leaf, FiniteLoss):
                gaps = (leaf.atoms[0] - leaf.atoms[0].min()) / self._step if self._step else np.zeros(1)
                total += k * (leaf.slip + self._step * float(np.abs(gaps - np.rint(gaps)).max()))
        return total

    @cached_property
    def _blocks(self) -> list[tuple[Any, int]]:
        return blocks(self.parts, merge=not self._step)

    @cached_property
    def _saddle(self) -> Saddle:
        few = blocks(self.parts, merge=False)
        factors = [FiniteFactor(_Sketch(b.sketch), k) for b, k in few]  # type: ignore[arg-type]
        mean = sum(f.times * float(f.leaf.atoms[0] @ f.leaf.atoms[1]) for f in factors)
        return Saddle(factors, mean, largest_sum(self.parts))

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
        c = float(table.c[middle])
        low, high = ends = self._span(c)
        # `_region` sends here all epsilons above the last of the region below; the ends stand for all beyond.
        first = float(table.eps[members[0] - 1]) if members[0] else min(float(table.eps[0]), 0.0)
        last = float(table.eps[members[-1]]) if members[-1] + 1 < len(table.eps) else high[1]
        h, size = self._resolution(high[1] - low[1], c)
        rounded = [(block.rounded(h), k) for block, k in self._blocks]
        span = first - 8 * h - 1e-9, last + 8 * h + 1e-9
        above = [(r.start, r.p, k) for r, k in rounded]
        start, log_p, law = power(above, c, h, size, low[1])
        beyond = outside(above, c, h, ends)
        begin, p = survival(start, law, h, c, span)
        upper = begin, p, survival(start, law, h, c + 1, span)[1]
        if any(r.p is not r.p_low for r, _ in rounded):  # the lower bound was rounded in another way
            below = [(r.start_low, r.p_low, k) for r, k in rounded]
            start, log_low, law = power(below, c, h, size, low[1])
            p = survival(start, law * np.exp(log_low - log_p), h, c, span)[1]
            beyond += outside(below, c, h, ends)
        other = [(r.start_low, r.q_low, k) for r, k in rounded]
        start, log_q, law = power(other, c + 1, h, size, low[1])
        begin, q = survival(start, law * np.exp(log_q - log_p), h, c + 1, span)
        beyond += outside(other, c + 1, h, ends)
        ulps = 16 + 4 * math.log2(size) + 4 * sum(k for _, k in self.parts)
        ulps += 4 * (abs(log_p) + abs(log_q) + (c + 1) * max(map(abs, span)))
        error = beyond + ULP * ulps
        lost = float(sum(k * r.lost for r, k in rounded)) * (1 + 4 * ULP)
        slack = self._drift + 8 * ULP * (h * size + sum(k * abs(r.start) for r, k in rounded))
        return Window(h, c, log_p, upper, (begin, p, q), 2 * error, lost, slack)

    def _span(self, c: float) -> Any:
        """A window for all but e^-44 of the tilted law, by Chernoff's bound: (x - c, edge) for each side."""
        k_c = float(self._saddle.cumulant(np.array([c]))[0])
        sides = []
        for apart, pick in ((-np.geomspace(1e-4, 1, 60), np.argmax), (np.geomspace(1e-4, 4, 60), np.argmin)):
            with np.errstate(over="ignore", invalid="ignore"):
                edges = (self._saddle.cumulant(c + (1 + c) * apart) - k_c + 44) / ((1 + c) * apart)
            edges = np.where(np.isfinite(edges), edges, np.inf * np.sign(apart))
            best = int(pick(edges))
            sides.append(((1 + c) * float(apart[best]), float(edges[best])))
        (down, low), (up, high) = sides
        pad = 0.01 * (high - low)  # the sketch is not quite the law
        return (down, low - pad), (up, high + pad)

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
            with np.errstate(over="ignore", invalid="ignore"):  # beyond e^700 nothing is known: [0, 1]
                low[mine], high[mine] = self._window(int(region)).bounds(epsilon[mine])
        low, high = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 1.0)
        if self.exact is not None:  # for the tail that the grid has cut off
            high = np.minimum(high, self.exact.chernoff(epsilon))
        return low, np.minimum(high, self._saddle.under_top(epsilon))

    def slope(self, epsilon: Floats) -> Any:
        """Each epsilon by the transform of its region."""
        with np.errstate(over="ignore", invalid="ignore"):
            each = [self._window(self._region(float(e))).slope(np.array([e])) for e in epsilon]
        return np.nan_to_num(np.concatenate(each), posinf=0.0)

    def root(self, target: float) -> tuple[float, float]:
        """Newton's method on ln delta, from the saddle-point estimate; bisection where that fails."""
        root, off = self._saddle.newton(lambda e: (*self.bounds(e), self.slope(e)), target)
        if not math.isnan(root):
            return root, off

        def middle(epsilon: float) -> float:
            return float(np.sum(self.bounds(np.array([epsilon])))) / 2

        root = solve_decreasing(middle, target, 1e5) if middle(0.0) > target else 0.0
        return root, 0.0
