"""GDP: as hard to tell apart as two Gaussians."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from dpcourse import errors
from dpcourse.guarantees.base import Guarantee, ratio
from dpcourse.guarantees.rounding import decimal_sum, exact, root
from dpcourse.loss import GaussianLoss, PrivacyLoss

_EPSILONS = np.concatenate([np.linspace(0, 4, 33), np.linspace(4.5, 20, 32)])


@dataclass(frozen=True, repr=False)
class GDP(Guarantee):
    """Telling neighbours apart is as hard as telling N(0,1) from N(mu,1) (Dong, Roth and Su, JRSS B 2022).

    >>> GDP(3.0) + GDP(4.0)
    GDP(mu=5.0, adjacency=add/remove)
    """

    mu: float

    def __post_init__(self) -> None:
        errors.nonnegative("mu", self.mu)

    def delta(self, epsilon: float) -> float:
        """Exact for the Gaussian mechanism, rounded up."""
        return float(GaussianLoss(self.mu).delta(epsilon))

    def epsilon(self, delta: float) -> float:
        """Exact for the Gaussian mechanism, rounded up."""
        return float(GaussianLoss(self.mu).epsilon(delta))

    def group(self, size: int) -> Self:
        """size * mu."""
        return type(self)(decimal_sum([self.mu], [errors.whole("size", size)]), adjacency=self.adjacency)

    def share(self, loss: PrivacyLoss) -> float:
        """The pair's delta(eps) as a part of the Gaussian's, at the worst of a range of eps."""
        upper = GaussianLoss(self.mu).delta_bounds(_EPSILONS)[1]
        seen = upper > 1e-12  # further out the curve is all rounding
        if not seen.any():
            return ratio(float(loss.total_variation()), 0.0)
        return float(np.max(loss.delta_bounds(_EPSILONS[seen])[0] / upper[seen]))

    def __mul__(self, times: int) -> Self:
        return type(self)(_norm([self.mu], [errors.whole("k", times)]), adjacency=self.adjacency)

    def _plus(self, other: GDP) -> Self:
        return type(self)(_norm([self.mu, other.mu], [1, 1]), adjacency=self.adjacency)


def _norm(mus: list[float], counts: list[int]) -> float:
    """The root of the sum of squares, rounded up."""
    if math.inf in mus:
        return math.inf
    return root(sum((n * exact(mu) ** 2 for mu, n in zip(mus, counts, strict=True)), Fraction(0)))
