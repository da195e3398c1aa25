"""Few finite losses: every value of the sum, listed.

n outcomes taken k times have C(k+n-1, n-1) different sums, each with a multinomial probability. As long
as that is a list of some hundred thousand, delta(eps) = P(S > eps) - e^eps Q(S > eps) is read off its
running sums. Proved up to the rounding of the logarithms of the probabilities (a few ulps of their size)
and one ulp for every input probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.lattice import WIDE
from dpcourse.loss.methods.rounding import Atoms, multinomial
from dpcourse.loss.solve import ULP

_MOST = 2**19


@dataclass(frozen=True)
class Listing:
    """All sums in falling order, with running masses under P and Q."""

    method: str
    losses: Floats
    above_p: Any
    above_q: Any
    slack: float
    relative: float

    def _parts(self, epsilon: Floats) -> tuple[Any, Any]:
        above = np.searchsorted(-self.losses, -epsilon, side="left")
        return self.above_p[above], np.exp(epsilon.astype(WIDE)) * self.above_q[above]

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The difference, at eps -+ slack, widened by the rounding of both terms."""
        p, q = self._parts(epsilon + self.slack)
        low = p - q - self.relative * (p + q)
        p, q = self._parts(epsilon - self.slack)
        high = p - q + self.relative * (p + q)
        return np.maximum(low, 0).astype(float), np.maximum(high, 0).astype(float)

    def slope(self, epsilon: Floats) -> Floats:
        """e^eps Q[S > eps]."""
        slope: Floats = self._parts(epsilon)[1].astype(float)
        return slope

    def root(self, target: float) -> tuple[float, float]:
        """ln of a ratio, between the two sums where delta passes the target."""
        at = (
            self.above_p[:-1] - np.exp(self.losses.astype(WIDE)) * self.above_q[:-1]
        )  # delta at each sum, rising
        j = int(np.searchsorted(at, target, side="right"))  # below losses[j - 1], at or above losses[j]
        j = max(j, 1)  # at the very top nothing lies above
        p, q = self.above_p[j], self.above_q[j]
        ratio = (p - target) / q
        off = self.slack + self.relative * float(p + ratio * q) / max(float(ratio * q), 1e-300)
        return float(np.log(ratio)) if ratio > 0 else -math.inf, off


def listing(parts: Sequence[tuple[FiniteLoss, int]]) -> Listing | None:
    """All sums, or None if they are too many.

    >>> coin = FiniteLoss((0.75, 0.25), (0.25, 0.75))
    >>> np.exp(listing([(coin, 2)]).losses)
    array([9. , 1. , 0.11111111])
    """
    if math.prod(math.comb(k + len(leaf.atoms[0]) - 1, k) for leaf, k in parts) > _MOST:
        return None
    total = Atoms(np.zeros(1), np.zeros(1))
    for leaf, k in parts:
        total = total.plus(multinomial(leaf, k))
    order = np.argsort(-total.losses, kind="stable")
    losses, log_p = total.losses[order], total.log_p[order]
    zero = np.zeros(1, dtype=WIDE)
    p = np.concatenate([zero, np.cumsum(np.exp(log_p), dtype=WIDE)])
    q = np.concatenate([zero, np.cumsum(np.exp(log_p - losses), dtype=WIDE)])
    steps = sum(k for _, k in parts)
    largest = max(float(np.abs(leaf.atoms[0]).max()) for leaf, _ in parts)
    size = float(np.max(-log_p)) + math.lgamma(steps + 1)
    relative = ULP * (8 + 2 * steps + 2 * size)
    why = f"list of all {len(losses)} sums of finite losses, with their multinomial probabilities"
    return Listing(why, losses, p, q, steps * ULP * (1.5 + 2 * largest), relative)
