"""Ball: the public region that holds every point, and the public map that puts points into it.

The region is fixed before the data are seen: a region fitted to the data is itself an answer about the
data. For the same reason a point outside is moved to the border rather than refused or counted; how many
were moved is asked by a mechanism of its own (`outside`) or not at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, numeric, one_of, positive, reject, whole
from dpcourse.laws.base import generator
from dpcourse.mechanisms import GeometricMechanism
from dpcourse.neighbours import ADD_REMOVE, Adjacency

GRID: Final = 2.0**20
"""Points are rounded to multiples of 1/GRID of the radius, so that all sums over them are exact."""
_MOST_DIMENSIONS: Final = 1024
_FAR: Final = 1e300  # in radii; a coordinate beyond counts as this


@dataclass(frozen=True)
class Ball:
    r"""The points with \(\|(x - centre)/radius\|_p \le 1\), p = `norm`: 1, 2 or infinity (a box).

    `centre` and `radius` are numbers or one number per dimension. Distances are measured in the unit
    coordinates u = (x - centre)/radius.

    >>> Ball(2, norm=math.inf, centre=(50, 500), radius=(50, 500)).project([[25, 1200]])
    array([[-0.5, 1. ]])
    """

    dim: int
    norm: float = 2
    centre: Any = 0.0
    radius: Any = 1.0

    def __post_init__(self) -> None:
        if whole("dim", self.dim) > _MOST_DIMENSIONS:
            fix = "project the points to fewer dimensions by a public map first."
            reject("dim", self.dim, f"at most {_MOST_DIMENSIONS}, for exact sums", fix)
        one_of("norm", self.norm, (1, 2, math.inf))
        positive("radius", self.radius, "give a bound that is known without the data.")
        for name in ("centre", "radius"):
            value = numeric(name, getattr(self, name))
            if value.shape not in {(), (self.dim,)}:
                fix = "give one number, or one number per dimension."
                reject(name, getattr(self, name), f"a number or {self.dim} numbers", fix)
            object.__setattr__(self, name, tuple(value.tolist()) if value.ndim else float(value))

    @classmethod
    def box(cls, low: ArrayLike, high: ArrayLike) -> Self:
        """The box between two public corners.

        >>> Ball.box((0, 0), (100, 1000)).radius
        (50.0, 500.0)
        """
        low, high = np.atleast_1d(numeric("low", low)), np.atleast_1d(numeric("high", high))
        if low.ndim != 1 or low.shape != high.shape or not np.all(low < high):
            reject("high", high, f"above low = {low} in every dimension", "give two public corners.")
        return cls(len(low), math.inf, tuple((low + high) / 2), tuple((high - low) / 2))

    def reach(self, norm: float) -> float:
        r"""The largest \(\|u\|_q\) in the unit ball, q = `norm`: \(d^{\max(0,\, 1/q - 1/p)}\).

        It is how far one added point moves a sum; rounded up where it is no whole number.

        >>> Ball(64, norm=2).reach(1), Ball(64, norm=1).reach(1)
        (8.0, 1.0)
        """
        power = 1 / norm - 1 / self.norm
        if power <= 0:
            return 1.0
        root = math.isqrt(self.dim)
        up = root if root**2 == self.dim else math.nextafter(math.sqrt(self.dim), math.inf)
        return float(self.dim if power == 1 else up)

    def unit(self, points: ArrayLike) -> Floats:
        """The points in unit coordinates, one per row, not yet moved into the ball."""
        values = numeric("points", points)
        if values.size == 0:
            values = values.reshape(0, self.dim)
        if values.ndim != 2 or values.shape[1] != self.dim:
            shape = f"an array of shape {values.shape}"
            reject("points", shape, f"rows of {self.dim} numbers", "give one row per point.")
        if self.centre == 0.0 and self.radius == 1.0:
            return values
        with np.errstate(over="ignore"):
            unit = (values - np.asarray(self.centre)) / np.asarray(self.radius)
        return np.asarray(np.clip(unit, -_FAR, _FAR))

    def project(self, points: ArrayLike) -> Floats:
        """Unit coordinates, moved into the ball along the ray from its centre, rounded to the grid.

        Rounding goes towards zero. Afterwards every norm (squared, for p = 2) is a multiple of a power of
        two far above the rounding error of what came before, so points are inside exactly, and sums and
        scalar products of them have no rounding error, whatever the order of the terms: the sensitivity
        that is proved for real numbers holds for the floats (Casacuberta et al., CCS 2022, on what
        happens otherwise).
        """
        unit = self.unit(points)
        if self.norm == math.inf:
            unit = np.clip(unit, -1.0, 1.0)
        else:
            size = self._size(unit)
            if size.max(initial=0.0) > _FAR**0.5:  # the norm may have overflowed: shorten such points before
                unit = unit / np.maximum(np.abs(unit).max(1), 1.0)[:, None]
                size = self._size(unit)
            if size.max(initial=0.0) > 1:
                unit = unit / np.maximum(size, 1.0)[:, None]
        scaled = unit * GRID
        np.trunc(scaled, out=scaled)
        scaled /= GRID
        return scaled

    def restore(self, unit: Floats) -> Floats:
        """Back from unit coordinates."""
        return np.asarray(np.asarray(self.centre) + np.asarray(self.radius) * unit)

    def _size(self, unit: Floats) -> Floats:
        if self.norm == 2:
            return np.asarray(np.sqrt(np.einsum("ij,ij->i", unit, unit)))
        with np.errstate(over="ignore"):
            return np.asarray(np.abs(unit).max(1) if self.norm == math.inf else np.abs(unit).sum(1))

    def outside(self, epsilon: float, adjacency: Adjacency = ADD_REMOVE) -> GeometricMechanism:
        """The noisy number of points that `project` moves to the border, for a price of its own.

        One person changes that number by at most 1 under either adjacency.

        >>> Ball(1).outside(0.5).law(((0.5,), (3.0,), (4.0,)))
        DiscreteLaplace(loc=2, scale=2.0)
        """

        def count(points: Any) -> float:
            return float(np.count_nonzero(self._size(self.unit(points)) > 1))

        return GeometricMechanism(epsilon, query=count, adjacency=adjacency)

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Uniform draws from the unit ball, rounded to the grid."""
        rng, shape = generator(rng), (whole("size", size, 0), self.dim)
        if self.norm == math.inf:
            draws = rng.uniform(-1, 1, shape)
        elif self.norm == 2:  # a uniform direction, and a radius whose power is uniform
            draws = rng.standard_normal(shape)
            draws *= (rng.random(size) ** (1 / self.dim) / np.linalg.norm(draws, axis=1))[:, None]
        else:  # exponentials over the sum of one more of them are uniform in the simplex
            draws = rng.standard_exponential(shape)
            draws /= (draws.sum(1) + rng.standard_exponential(size))[:, None]
            draws *= rng.choice((-1.0, 1.0), shape)
        return np.trunc(draws * GRID) / GRID
