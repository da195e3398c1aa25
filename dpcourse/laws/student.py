"""Student's t: tails that fall like a power, for noise whose scale may move with the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import positive
from dpcourse.laws.continuous import LocationScale


@dataclass(frozen=True, eq=False)
class StudentT(LocationScale):
    """Density proportional to (1 + z^2/d)^{-(d+1)/2}, z = (y - loc)/scale, d > 0 degrees of freedom.

    >>> round(float(StudentT(0, 1, degrees=1).prob(0)), 6)  # Cauchy's law: 1/pi
    0.31831
    """

    degrees: Any = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degrees", positive("degrees", self.degrees))

    def _standard(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.standard_t(self.degrees, shape)

    def log_prob(self, y: ArrayLike) -> Any:
        """-(d+1)/2 ln(1 + z^2/d) - ln(scale sqrt(d) B(1/2, d/2))."""
        d = np.asarray(self.degrees)
        mass = np.log(np.asarray(self.scale) * np.sqrt(d)) + special.betaln(0.5, d / 2)
        with np.errstate(divide="ignore"):  # at the centre ln|z| = -inf, as it should be
            square = 2 * np.log(np.abs(self._z(y)))
        return -(d + 1) / 2 * np.logaddexp(0, square - np.log(d)) - mass

    def cdf(self, y: ArrayLike) -> Any:
        """Each tail is I_v(d/2, 1/2)/2 at v = d/(d + z^2), I the regularized incomplete beta."""
        z, d = self._z(y), np.asarray(self.degrees)
        with np.errstate(over="ignore"):  # v is then 0, and so is the tail
            tail = 0.5 * special.betainc(d / 2, 0.5, d / (d + np.square(z)))
        return np.where(z < 0, tail, 1 - tail)[()]

    def mean(self) -> Any:
        """loc, which exists for d > 1 only."""
        return np.where(np.asarray(self.degrees) > 1, self.loc, np.nan) + np.zeros(self.batch_shape)

    def variance(self) -> Any:
        """scale^2 d/(d-2) for d > 2; infinite below; NaN without a mean (d <= 1)."""
        d = np.asarray(self.degrees, dtype=float)
        spread = np.where(d > 2, np.square(self.scale) * d / np.where(d > 2, d - 2, 1), np.inf)
        return np.where(d > 1, spread, np.nan) + np.zeros(self.batch_shape)

    def window(self) -> tuple[float, float]:
        """Ten scales on both sides: the tails are too heavy for standard deviations."""
        spread = 10 * float(np.max(self.scale))
        return float(np.mean(self.loc)) - spread, float(np.mean(self.loc)) + spread

    @property
    def formula(self) -> str:
        """The density in LaTeX."""
        return r"\propto \left(1+z^2/d\right)^{-(d+1)/2},\ z=(y-\mu)/b"
