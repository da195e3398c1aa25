"""A few large losses and many small ones: the large ones are listed, the small ones summed for themselves.

Let S = A + B, with A the sum of the losses that are far apart and B that of the others. Given A,

    delta(eps) = sum over a of P[A = a] delta_B(eps - a),

and only the few a within reach of eps ask for an effort: above the largest B delta_B is 0, below the
smallest one it is 1 - e^{eps - a}. This is where a contour does badly: near eps the law of S consists of a
few narrow peaks. Proved as far as the listing of A and the bounds on delta_B are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.base import PrivacyLoss
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.counts import possible
from dpcourse.loss.methods.crest import crest
from dpcourse.loss.methods.listing import Listing, Parts, listing
from dpcourse.loss.methods.saddle import Saddle
from dpcourse.loss.solve import ULP

_CHUNK: Final = 2**18
_WITHIN_REACH: Final = 8  # values of A: with more of them the contour does well


@dataclass(frozen=True)
class Coarse:
    """The values of A, all of them or the largest, and the loss B; declines where many A are near eps."""

    large: Listing
    small: PrivacyLoss
    saddle: Saddle
    reach: tuple[float, float]
    """The smallest and the largest B."""
    steps: Parts
    """What B adds up."""

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        count = len(self.large.tails.losses)
        return f"coarse: {count} sums of the larger losses listed, and for each of them the smaller ones"

    def _near(self, epsilon: Floats) -> Any:
        """Which epsilons have but few values of A within reach, farther apart than B spreads."""
        a = -self.large.tails.losses  # in rising order
        first, last = (np.searchsorted(a, end - epsilon) for end in self.reach)
        all_listed = epsilon - self.reach[1] - self._slack > self.large.complete
        ends = (a[np.clip(i, 0, len(a) - 1)] for i in (last - 1, first))
        apart = np.subtract(*ends) >= (last - first - 1) * self._spread(epsilon)
        return all_listed & (last - first <= _WITHIN_REACH) & apart

    def _spread(self, epsilon: Floats) -> Any:
        """About the standard deviation of B where S is near eps: in the law tilted towards it."""
        table = self.saddle.table()
        c = np.interp(epsilon, table.eps, table.c)[:, None]
        square: Any = 0.0
        for leaf, k in self.steps:
            losses, p = possible(leaf)
            tilted = p * np.exp(c * (losses - losses.max()))
            tilted /= tilted.sum(-1, keepdims=True)
            square += k * (tilted @ losses**2 - (tilted @ losses) ** 2)
        return np.sqrt(np.maximum(square, 0.0))

    @property
    def _slack(self) -> float:
        """How far eps - a may be off."""
        return self.large.slack + 2 * ULP * float(np.abs(self.large.tails.losses).max())

    def _sums(self, epsilon: Floats, slack: float) -> tuple[Floats, Floats]:
        """Bounds on the sum over A, if eps - a is off by so much at most, a few epsilons at a time."""
        low, high = np.full((2, len(epsilon)), np.nan)
        values, mass = self.large.tails.losses, self.large.tails.p
        (near,) = np.nonzero(self._near(epsilon))
        known = self.small.infinite
        chunk = max(1, _CHUNK // len(values))
        for some in (near[i : i + chunk] for i in range(0, len(near), chunk)):
            left = np.subtract.outer(epsilon[some], values)
            under, over = self.small.delta_bounds(left + slack)
            if slack:
                over = self.small.delta_bounds(left - slack)[1]
            low[some] = (np.maximum(under - known * (1 + 4 * ULP), 0.0) * mass).sum(-1)
            high[some] = ((over - known * (1 - 4 * ULP)) * mass).sum(-1)
        return low, high

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The two sums, widened by the rounding of the masses."""
        low, high = self._sums(epsilon, self._slack)
        return low * (1 - self.large.relative), high * (1 + self.large.relative) + 5e-324

    def slope(self, epsilon: Floats) -> Floats:
        """e^eps Q[S > eps]: for B it is P[B > x] - delta_B(x)."""
        slope = np.full(len(epsilon), np.nan)
        for i in np.flatnonzero(self._near(epsilon)):
            left = epsilon[i] - self.large.tails.losses
            middle = np.add(*self.small.delta_bounds(left)) / 2
            slope[i] = self.large.tails.p @ np.maximum(self.small.tail(left) - middle, 0.0)
        return slope

    def root(self, target: float) -> tuple[float, float]:
        """Newton's method on ln delta, from the saddle-point estimate."""

        def look(epsilon: Floats) -> tuple[Floats, Floats, Floats]:
            return *self._sums(epsilon, 0.0), self.slope(epsilon)

        return self.saddle.newton(look, target, self.saddle.top)


def coarse(parts: Parts, saddle: Saddle) -> Coarse | None:
    """The largest losses listed, as many of them as can be, or the crest of the very largest one; or None.

    >>> from dpcourse.loss import FiniteLoss
    >>> large, small = FiniteLoss((0.6, 0.4), (0.4, 0.6)), FiniteLoss((0.5, 0.3, 0.2), (0.499, 0.3, 0.201))
    >>> low, high = (5 * large + 1000 * small).epsilon_bounds(1e-20)
    >>> f"{high:.7f}", high - low < 1e-8
    ('2.6969595', True)
    """
    from dpcourse.loss.composed import compose  # the smaller losses are a composition of their own

    if len(parts) < 2:
        return None

    def spread(part: tuple[FiniteLoss, int]) -> float:
        """How far the losses are apart; a single one is just a shift, and no trouble to list."""
        losses = part[0].atoms[0]
        return float(np.ptp(losses)) if len(losses) > 1 else math.inf

    rising = sorted(parts, key=spread)
    for count in range(1, len(parts)):
        if large := listing(rising[count:]):
            break
    else:
        large = crest(rising[count:])
    if large is None:
        return None
    small = compose(rising[:count])
    return Coarse(large, small, saddle, (-small.reversed().top, small.top), rising[:count])
