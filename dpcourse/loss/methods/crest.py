"""The largest sums of finite losses: all that a very small delta depends on.

A step falls short of its largest loss by d_i >= 0. The sums within some depth of the largest of all are the
counts with c_1 d_1 + c_2 d_2 + ... <= depth, however many other sums there are. With m = c_1 + c_2 + ..., a
loss that is taken k times contributes to their probability

    p_top^k * k!/((k - m)! k^m) * product of (k p_i/p_top)^{c_i}/c_i!.

Nothing is left out above the depth, so this is a listing, proved up to rounding; below it another method
answers.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.counts import Law, possible, shared
from dpcourse.loss.methods.lattice import WIDE
from dpcourse.loss.methods.listing import Listing, Parts, drift, falling, roundings
from dpcourse.loss.methods.saddle import Saddle
from dpcourse.loss.solve import ULP

_MOST: Final = 2**12
_LOSSES: Final = 2**6  # within the depth: they are taken in turns, so more of them take longer than a line
_RAREST: Final = 1e-250  # the least probability of the largest sum: far from underflow
_STEEP: Final = np.geomspace(1, 100, 16)


@dataclass(frozen=True)
class Crest:
    """The largest sums, listed as deep as an epsilon asks for; declines where they are too many."""

    parts: Parts
    laws: Sequence[tuple[Law, int]]
    gaps: Floats
    likeliest: Any
    """The probability of the largest sum."""
    saddle: Saddle
    _made: dict[float, Listing | None] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        return "crest: the largest sums of finite losses, listed; no other is above such an epsilon"

    @property
    def _top(self) -> float:
        return math.fsum(k * float(losses[0]) for (losses, _), k in self.laws)

    def _above(self, epsilon: float) -> Listing | None:
        """All sums above an epsilon, and some below it; None if they are too many."""
        for asked, made in self._made.items():
            if made is None and epsilon <= asked:
                return None
            if made is not None and made.complete < epsilon - made.slack:
                return made
        depth = 1.1 * max(self._top - epsilon + 2 * drift(self.parts), float(self.gaps.min()))
        found = _within(self.laws, depth) if _log_number(self.gaps, depth) < math.log(3 * _MOST) else None
        self._made[epsilon] = self._listing(depth, *found) if found else None
        return self._made[epsilon]

    def _listing(self, depth: float, short: Floats, mass: Any) -> Listing:
        """Sums that fall short of the largest, and their masses in units of its probability."""
        tails = falling(self._top - short, (mass * self.likeliest).astype(float))
        slips = ULP * (abs(self._top) + (len(self.gaps) + 4) * depth)  # a gap, its multiples, their sums
        slack, relative = drift(self.parts) + slips, roundings(self.parts, len(short))
        return Listing(self.method, tails, slack, relative, self._top - depth * (1 - 1e-9))

    def _deepest(self, epsilon: Floats) -> Listing | None:
        """A listing for as many of the epsilons as there can be one for."""
        rising = np.unique(epsilon).tolist()
        least = bisect_left(rising, x=True, key=lambda each: self._above(each) is not None)
        return self._above(rising[least]) if least < len(rising) else None

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Those of the listing."""
        found = self._deepest(epsilon)
        return found.bounds(epsilon) if found else (epsilon * math.nan, epsilon * math.nan)

    def slope(self, epsilon: Floats) -> Floats:
        """That of the listing."""
        found = self._deepest(epsilon)
        return found.slope(epsilon) if found else epsilon * math.nan

    def root(self, target: float) -> tuple[float, float]:
        """That of a listing deep enough, by the saddle-point estimate to begin with."""
        depth = self._top - self.saddle.about(target)
        whole = math.fsum(k * float(np.ptp(losses)) for (losses, _), k in self.laws)
        while (found := self._above(self._top - depth)) and depth < 2 * whole:
            root, off = found.root(target)
            if not math.isnan(root):
                return root, off
            depth = 2 * (self._top - found.complete)
        return math.nan, math.nan


def crest(parts: Parts, saddle: Saddle) -> Crest | None:
    """The largest sums, if there are any below the largest one, and that one ever comes.

    >>> from dpcourse.loss import FiniteLoss
    >>> from dpcourse.loss.methods.choose import smoothed
    >>> three = FiniteLoss((0.5, 0.3, 0.2), (0.3, 0.3, 0.4))
    >>> largest = crest([(three, 500)], smoothed([], [(three, 500)]).saddle)
    >>> low, high = largest.bounds(np.array([255.0, 100.0]))
    >>> f"{low[0]:.6e} {high[0]:.6e} {low[1]}"
    '1.033220e-151 1.033220e-151 nan'
    """
    laws = [(possible(leaf), k) for leaf, k in parts]
    if any(len(p) == 0 for (_, p), _ in laws):
        return None
    likeliest = math.prod((WIDE(p[0]) ** k for (_, p), k in laws), start=WIDE(1))
    gaps = np.concatenate([losses[0] - losses[1:] for (losses, _), _ in laws])
    if likeliest < _RAREST or not len(gaps):
        return None
    return Crest(parts, laws, gaps, likeliest, saddle)


def _log_number(gaps: Floats, depth: float) -> float:
    """About ln of how many c_i >= 0 have c_1 gap_1 + c_2 gap_2 + ... <= depth: a saddle point once more.

    Their generating function is the product of 1/(1 - e^{-s gap_i}). For two gaps of 1 they are a triangle:

    >>> bool(abs(_log_number(np.ones(2), 20.5) - math.log(21 * 22 / 2)) < 0.3)
    True
    """
    fall = np.multiply.outer(_STEEP, np.maximum(gaps / depth, 1e-300))
    rise = -np.expm1(-fall)
    exponents = _STEEP - np.log(rise).sum(-1)
    best = int(np.argmin(exponents - np.log(_STEEP)))
    curve = 1 + float((np.square(fall[best] / rise[best]) * (1 - rise[best])).sum())
    return float(exponents[best]) - math.log(2 * math.pi * curve) / 2


def _within(laws: Sequence[tuple[Law, int]], depth: float) -> tuple[Floats, Any] | None:
    """How far the sums within a depth fall short, and their masses in units of the largest one's."""
    short: Any
    mass: Any
    short, mass = np.zeros(1), np.ones(1, dtype=WIDE)
    if sum(int(np.count_nonzero(losses[0] - losses <= depth)) - 1 for (losses, _), _ in laws) > _LOSSES:
        return None
    for (losses, p), k in laws:
        left = np.full(len(short), k)
        gap = losses[0] - losses
        for i in range(int(np.searchsorted(gap, depth, side="right")) - 1, 0, -1):  # the fewest choices first
            counts = np.arange(1, int(min(k, depth / gap[i])) + 1, dtype=WIDE)
            table = np.append(WIDE(1), np.cumprod(k * WIDE(p[i]) / WIDE(p[0]) / counts))
            room = np.minimum(left, (depth - short) / gap[i]).astype(int)
            if int(room.sum()) + len(room) > _MOST or not np.isfinite(table).all():
                return None
            left, short, mass = shared(left, short, mass, gap[i], (0, table), room)
        taken = k - left  # few, however many steps there are
        apart = np.append(WIDE(1), np.cumprod(1 - np.arange(taken.max(), dtype=WIDE) / k))
        mass = mass * apart[taken]
    return (short, mass) if np.isfinite(mass).all() else None
