"""What a method of composition answers; `methods.choose` says which of them there are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from dpcourse.errors import Floats
from dpcourse.loss.base import PrivacyLoss
from dpcourse.loss.solve import ULP

Parts = Sequence[tuple[PrivacyLoss, int]]
"""Losses, and how often each of them is taken."""


def sum_up(products: Iterable[float]) -> float:
    """The sum of products, rounded up."""
    terms = list(products)
    total = float(sum(terms))
    return math.fsum(terms) + 2 * ULP * math.fsum(map(abs, terms)) if math.isfinite(total) else total


def largest_sum(parts: Parts) -> float:
    """The largest finite sum, rounded up; there is nothing above it."""
    return sum_up(k * leaf.top for leaf, k in parts)


class Engine(Protocol):
    """One way to sum losses. It answers for eps >= 0 and for the finite losses only."""

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Bounds on E[(1 - e^{eps-S})+; S finite]; NaN where another engine should answer."""

    def slope(self, epsilon: Floats) -> Floats:
        """e^eps Q[S > eps] = -d delta/d eps, to a few digits."""

    def root(self, target: float) -> tuple[float, float]:
        """About where delta reaches the target, and how far the bounds may be off; NaN to decline."""
