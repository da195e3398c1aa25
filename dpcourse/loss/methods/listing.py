"""Few finite losses: every value of the sum, listed.

n outcomes taken k times have C(k+n-1, n-1) different sums, each with a multinomial probability. With the
sums l_1 >= l_2 >= ... and

    P_j = p_1 + ... + p_j,    B_j = sum_{i<=j} p_i e^{l_j - l_i},

delta(eps) = P_j - e^{eps - l_j} B_j for l_j the last sum above eps: all these numbers are at most 1, even
where e^eps is beyond any double. Proved up to rounding: sums and products of positive numbers (each
operation an ulp), one ulp for every input probability, and `drift` for the losses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.counts import multinomial, plus
from dpcourse.loss.methods.lattice import WIDE, WIDE_ULP
from dpcourse.loss.solve import TINIEST, ULP

Parts = Sequence[tuple[FiniteLoss, int]]
_MOST = 2**11
_SPAN = 100.0  # p e^-l is summed over stretches of this length, so that rounding l matters little


@dataclass(frozen=True)
class Tails:
    """Losses in falling order with their masses, and what lies above a level."""

    losses: Floats
    p: Floats

    @cached_property
    def _running(self) -> tuple[Floats, Floats, Floats]:
        """P_j, B_j and l_j, from j = 0 on."""
        above = np.append(0.0, np.cumsum(self.p, dtype=WIDE)).astype(float)
        near = np.zeros(len(above))
        fall = self.losses[0] - self.losses
        cuts = np.unique(np.searchsorted(fall, np.arange(0.0, max(fall[-1], TINIEST), _SPAN)))
        for i, j in zip(cuts, [*cuts[1:], len(fall)], strict=True):
            carried = near[i] * math.exp(fall[i - 1] - fall[i]) if i else 0.0
            shrink = np.exp(fall[i] - fall[i:j])
            near[i + 1 : j + 1] = (np.cumsum(self.p[i:j] / shrink, dtype=WIDE) + carried) * shrink
        return above, near, np.append(math.inf, self.losses)

    def above(self, level: Any) -> tuple[Any, Any]:
        """P and e^level Q of the losses above a level."""
        above, near, last = self._running
        j = np.searchsorted(-self.losses, -level, side="left")
        return above[j], np.exp(level - last[j]) * near[j]


def falling(losses: Floats, p: Floats) -> Tails:
    """Losses in any order, sorted."""
    order = np.argsort(-losses)
    return Tails(losses[order], p[order])


def roundings(parts: Parts, length: int) -> float:
    """The relative error of a mass, and of running sums of so many of them."""
    operations = sum(2 * k + 4 * len(leaf.atoms[0]) for leaf, k in parts) + 16 + _SPAN / 2
    return ULP * operations + WIDE_ULP * (length + 4 * sum(k for _, k in parts))


def drift(parts: Parts) -> float:
    """How far a sum of losses ln p - ln q may be off: roundings of the logarithms, products and sums."""
    return sum(k * leaf.slip for leaf, k in parts)


@dataclass(frozen=True)
class Listing:
    """All sums above some level, ready for delta(eps) and its inverse."""

    method: str
    tails: Tails
    slack: float
    relative: float
    complete: float = -math.inf
    """Above this, no sum is missing; below, another method answers."""

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The difference, at eps -+ slack, widened by the rounding of both terms."""
        p, q = self.tails.above(np.array([epsilon + self.slack, epsilon - self.slack]))
        error = self.relative * (p + q)
        low, high = np.maximum(p - q - error, 0.0)[0], np.maximum(p - q + error, 0.0)[1]
        known = epsilon - self.slack > self.complete
        return np.where(known, low, np.nan), np.where(known, high, np.nan)

    def slope(self, epsilon: Floats) -> Floats:
        """e^eps Q[S > eps]."""
        return np.where(epsilon > self.complete, self.tails.above(epsilon)[1], np.nan)

    def root(self, target: float) -> tuple[float, float]:
        """ln of a ratio, between the two sums where delta passes the target."""
        losses = self.tails.losses
        p, q = self.tails.above(losses)
        j = max(int(np.searchsorted(p - q, target, side="right")) - 1, 0)  # below or at the target last
        level = math.nextafter(losses[j], -math.inf)
        p, q = map(float, self.tails.above(np.float64(level)))
        root = level + math.log((p - target) / q) if p > target else -math.inf
        if root - self.slack <= self.complete and self.complete > -math.inf:
            return math.nan, math.nan
        return root, self.slack + self.relative * (p + q) / max(p - target, 1e-300)


def listing(parts: Parts) -> Listing | None:
    """All sums, or None if they are too many.

    >>> coin = FiniteLoss((0.75, 0.25), (0.25, 0.75))
    >>> np.exp(listing([(coin, 2)]).tails.losses)
    array([9.        , 1.        , 0.11111111])
    """
    if not 0 < math.prod(math.comb(k + len(leaf.atoms[0]) - 1, k) for leaf, k in parts) <= _MOST:
        return None
    losses, p = reduce(plus, (multinomial(leaf, k) for leaf, k in parts))
    why = f"list of all {len(losses)} sums of finite losses, with their multinomial probabilities"
    return Listing(why, falling(losses, p), drift(parts), roundings(parts, len(p)))
