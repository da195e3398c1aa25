"""Saddle points of e^{K(z) - eps z}/(z(z+1)) on the real line, and what Chernoff's bound gives there.

A table over c > 0 says which epsilon has its saddle point at c (K'(c) - 1/c - 1/(1+c) = eps), how small
delta is there, and in which cell the epsilon lies: epsilons of one cell are at most two standard
deviations of the tilted law apart and share one line of integration. The table only guides choices; that
they are good is proved afterwards, for any c.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse import special
from dpcourse.errors import Floats
from dpcourse.loss.methods.factors import Factor
from dpcourse.loss.solve import ULP

Look = Callable[[Floats], tuple[Any, Any, Any]]
"""From epsilons to the lower and the upper delta, and to about -d delta/d eps."""
AIM = math.log(1e15)  # aliases and truncation aim at 1e-15 of delta
_NOTHING = 745.0  # e^-745 is below every double
_LARGEST = 1e30  # a c: losses below 1e-30 need no saddle point
_BELOW = np.array([0.0, 0.25, 0.5, 0.75])
_ABOVE = 1 + np.array([0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.35, 0.5, 1.0, 2.0, 4.0])


def log_kappa(x: Any) -> Any:
    """ln of x^x/(1+x)^{1+x}, the largest value of e^{-xy} (1 - e^{-y}) for y > 0."""
    return special.xlogy(x, x) - (1 + x) * np.log1p(x)


@dataclass(frozen=True)
class Table:
    """For rising c: the epsilon with its saddle point at c, about ln delta, the curvature, the cell."""

    c: Floats
    eps: Floats
    log_delta: Floats
    curve: Floats
    cell: Any

    def find(self, epsilon: Floats) -> Any:
        """The cells of epsilons, -1 beyond the last."""
        at = np.searchsorted(self.eps, epsilon)
        return np.where(at < len(self.cell), self.cell[np.minimum(at, len(self.cell) - 1)], -1)

    def members(self, cell: int, width: int = 1) -> Any:
        """The rows of a cell, or of `width` neighbouring cells."""
        return np.flatnonzero(self.cell // width == cell)

    @property
    def goes_on(self) -> bool:
        """Whether losses still vary at its end."""
        varies = self.curve[-1] * self.c[-1] ** 2 > 2.2  # 2 if none does
        return bool(varies and self.log_delta[-1] > -_NOTHING)

    def ends(self, members: Any) -> Any:
        """The rows between which the epsilons of a cell lie: the last one below it, and its own last."""
        return np.array([max(members[0] - 1, 0), members[-1]])


@dataclass(frozen=True)
class Saddle:
    """K of a whole composition; `mean` is about E[S], and no S is above `top`."""

    factors: Sequence[Factor]
    mean: float
    top: float = math.inf
    _tables: dict[bool, Table] = field(default_factory=dict, repr=False)

    def cumulant(self, z: Any) -> Any:
        """K(z)."""
        return sum(factor.cumulant(z) for factor in self.factors)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """A c below every saddle point of interest, and one where delta is far below 1e-30."""
        near = 1 / (1 + abs(self.mean))
        with np.errstate(over="ignore", invalid="ignore"):
            curve = float(np.diff(self.cumulant(near * np.arange(3.0)), n=2)[0]) / near**2
        width = max(abs(self.mean) + math.sqrt(max(curve, 0.0)), 40 / _LARGEST)
        low, high = 0.3 / width, min(20 / math.sqrt(max(curve, 1e-300)) + 20 / width, _LARGEST)
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(40):  # a heavy tail may move the saddle points of small epsilons further down
                slope = float(np.diff(self.cumulant(low * np.array([1.0, 1.1])))[0]) / (0.1 * low)
                if slope <= 1 / low + 1 / (1 + low):
                    break
                low /= 4
            while not np.isfinite(self.cumulant(np.array([high]))[0]) and high > 1e-300:
                low, high = min(low, high / 64), high / 4  # K is known where it is finite
        return low, high

    @cached_property
    def _finest(self) -> float:
        """About the least standard deviation of a factor."""
        near = 1e-3 / self._ends[1]
        with np.errstate(over="ignore", invalid="ignore"):
            curves = [float(np.diff(each.cumulant(near * np.arange(3.0)), n=2)[0]) for each in self.factors]
        return min((math.sqrt(curve) / near for curve in curves if curve > 0), default=math.inf)

    def under_top(self, epsilon: Floats) -> Any:
        """1 - e^{eps - top}, which delta is at most, whatever the law."""
        return -np.expm1(np.minimum(epsilon - self.top, 0.0)) * (1 + 4 * ULP)

    @cached_property
    def _chernoff(self) -> tuple[Floats, Floats]:
        """Some c, and K(c) + ln of x^x/(1+x)^{1+x} there, rounded up."""
        c = self.table(wide=True).c
        with np.errstate(over="ignore", invalid="ignore"):
            k = self.cumulant(c)
        c, k = c[np.isfinite(k)], k[np.isfinite(k)]
        ulps = [sum(factor.roundings(x) for factor in self.factors) for x in c.tolist()]
        return c, k + log_kappa(c) + ULP * (16 + 4 * np.abs(k) + ulps)

    def chernoff(self, epsilon: Floats) -> Any:
        """Chernoff's bound on delta."""
        c, k = self._chernoff
        best = (k - np.multiply.outer(epsilon, c) * (1 - 4 * ULP)).min(-1)
        return np.exp(np.minimum(best, 0.0)) * (1 + 1e-9) + 5e-324

    def table(self, wide: bool = False) -> Table:
        """Saddle points; the wide table goes on to where even bounded losses end."""
        if wide not in self._tables:
            low, high = self._ends
            if wide:  # where large losses have come to their end, small ones still vary
                high = min(max(30 * high, 20 / self._finest), _LARGEST)
            table = self._tabulate(np.geomspace(low, high, 100))
            while wide and table.goes_on and high < _LARGEST:
                high = 8 * high
                table = self._tabulate(np.geomspace(low, high, 100))
            for _ in range(3):
                seen = min(int(np.searchsorted(-table.log_delta, _NOTHING)) + 2, len(table.c))
                length = np.cumsum(np.sqrt(table.curve) * np.gradient(table.c))[:seen]
                if np.diff(length).max() < 1.5:
                    break  # neighbours share most of their mass
                # A heavy tail bends K sharply: half of the c anew, evenly in standard deviations.
                even = np.interp(np.linspace(length[0], length[-1], 50), length, table.c[:seen])
                table = self._tabulate(np.union1d(even, np.geomspace(low, table.c[seen - 1], 50)))
            self._tables[wide] = table
        return self._tables[wide]

    def cells(self, epsilon: Floats) -> Any:
        """The cell of each epsilon: in the table, beyond it in the wide one as -2 - cell, or -1 for none."""
        keys = self.table().find(epsilon)
        if (beyond := keys < 0).any():
            keys[beyond] = -2 - self.table(wide=True).find(epsilon[beyond])
        return keys

    def rows(self, key: int) -> tuple[Table, Any]:
        """The table of a cell that `cells` names, and its rows there."""
        table = self.table(wide=key < 0)
        return table, table.members(key if key >= 0 else -2 - key)

    def _tabulate(self, grid: Floats) -> Table:
        with np.errstate(over="ignore", invalid="ignore"):
            k = self.cumulant(grid)
        good = np.isfinite(k)
        grid, k = grid[good], k[good]
        c, step = (grid[1:] + grid[:-1]) / 2, np.diff(grid)
        slope = np.diff(k) / step  # rises, because K is convex
        curve = np.maximum(np.gradient(slope, c), 0.0) + 1 / c**2 + 1 / (1 + c) ** 2
        eps = slope - 1 / c - 1 / (1 + c)
        middle = (k[1:] + k[:-1]) / 2 - curve * step**2 / 8
        log_delta = middle - c * eps - np.log(c * (1 + c)) - np.log(2 * np.pi * curve) / 2
        cell = np.floor(np.cumsum(np.sqrt(curve) * step) / 2).astype(int)
        return Table(c, eps, log_delta, curve, cell)

    def step(
        self, c: float, centre: float, shift: Floats, log_delta: Floats, aim: float = AIM
    ) -> tuple[float, Any]:
        """The largest step whose aliases are e^-aim of delta, by Chernoff's bound on each side of c."""
        chosen, aliases = math.inf, []
        sides = [c * _BELOW, c * _ABOVE]
        with np.errstate(over="ignore", invalid="ignore"):
            k = self.cumulant(np.concatenate(sides))
        found = []
        for x, k_x in zip(sides, np.split(k, [len(_BELOW)]), strict=True):
            chernoff = k_x - x * centre + log_kappa(x)
            worst = (-np.multiply.outer(x, shift) - log_delta).max(-1)
            need = np.where(np.isfinite(chernoff), chernoff + worst + aim, np.inf)
            room = np.where(need > 0, 2 * np.pi * np.abs(x - c) / np.maximum(need, 1e-9), 0.0)
            best = int(np.argmax(room))
            found.append((float(x[best]), float(chernoff[best])))
            chosen = min(chosen, float(room[best]))
        if not 0 < chosen < math.inf:
            return 0.0, ()
        for at, chernoff_at in found:
            ratio = 2 * math.pi * abs(at - c) / chosen
            aliases.append((chernoff_at - ratio - math.log(-math.expm1(-ratio)), -at))
        return chosen, tuple(aliases)

    def about(self, target: float) -> float:
        """The saddle-point estimate of the epsilon at which delta reaches a target."""
        goal = math.log(target)
        table = self.table(wide=goal < self.table().log_delta[-1])
        return float(np.interp(-goal, -table.log_delta, table.eps))

    def newton(
        self, look: Look, target: float, last: float = math.inf, start: float = math.nan
    ) -> tuple[float, float]:
        """Where the middle of a bracket reaches the target, and how far off that is; NaN where it is NaN.

        Newton's method on ln delta, from the saddle-point estimate if not from elsewhere; where atoms make
        kinks, also in e^eps, in which delta is convex (from the left it never passes the root); and where
        they make plateaus, bisection.
        """
        goal = math.log(target)
        point = min(max(self.about(target) if math.isnan(start) else start, 0.0), last)
        left, right, off = 0.0, last, math.inf
        for tries in range(120):
            low, high, slope = (float(v[0]) for v in look(np.array([point])))
            value = (low + high) / 2
            if math.isnan(value):
                return math.nan, math.nan
            if value > target:
                left = point
            elif point == 0:
                return 0.0, 0.0
            else:
                right = point
            steps = []
            if value > 0 and slope > 0:
                off = (high - low) / 2 / slope
                steps = [value / slope * (math.log(value) - goal)]
                again = steps[0] * steps[0] * slope / value  # about what is left after this step
                if min(abs(steps[0]), 4 * again) < 1e-15 * point + 0.2 * off:
                    return point + steps[0], off
                if slope + value > target:
                    steps.insert(tries < 8, math.log1p((value - target) / slope))
            middle = (left + right) / 2 if right < math.inf else 2 * point + 1
            inside = (point + step for step in steps if left < point + step < right)
            point = middle if tries > 8 and tries % 2 else next(inside, middle)
            if not left < point < right:
                break
        return point, off
