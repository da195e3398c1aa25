"""A law that is polynomial on the cells of a lattice, with atoms on the lattice points.

Sums of Laplace losses are such laws. They are stored in the measure mu(dl) = e^{-l/2} P(dl) = sqrt(P Q), in
which both directions look alike, and only from some l_0 upwards. With l_j the lattice points,

    B_j = integral over l >= l_j of e^{l_j - l} dP,
    D_j = integral over l >= l_j of (1 - e^{l_j - l}) dP = delta(l_j)

obey B_j = P{l_j} + (cell j) + e^-w B_{j+1} and D_j = (cell j) + D_{j+1} + (1 - e^-w) B_{j+1}, w the
width of a cell: positive terms only, so a delta of 1e-200 has as many digits as one of 0.1. Inside a
cell, delta(eps) = D_{j+1} + (1 - e^{eps - l_{j+1}}) B_{j+1} + integral from eps to l_{j+1} of (1 -
e^{eps-l}) dP, by Gauss-Legendre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.lattice import discounted

MOST_ROUNDING: Final = 1e-9
"""A relative error for which another method is better."""


@lru_cache(maxsize=64)
def gauss(degree: int) -> tuple[Floats, Floats, Floats]:
    """Gauss-Legendre nodes and weights on (0, 1), and the barycentric weights of the nodes."""
    x, w = np.polynomial.legendre.leggauss(degree)
    return (1 + x) / 2, w / 2, np.sqrt((1 - x * x) * w) * (-1.0) ** np.arange(degree)


@lru_cache(maxsize=64)
def _ahead(degree: int) -> Any:
    """1 - u at a point and at the nodes between it and the next edge, and u/2 at those nodes."""
    u = gauss(degree)[0]
    return np.append(1.0, 1 - u), u / 2


def growth(steps: int, width: float) -> float:
    """How many times larger a density may be at one end of a cell than at the other.

    It grows fastest below the largest loss, where k Laplace losses have the density sum over j of C(k, j)
    2^-j y^{j-1}/(j-1)! at distance y, up to a factor. A cell's roundings are as large as ulps of its largest
    value, so relative errors are larger by this.

    >>> f"{growth(10, 0.2):.4f} {growth(25, 100.0):.1e}"
    '1.5136 2.1e+19'
    """
    term = total = 1.0
    for j in range(1, steps):
        term *= width / 2 * (steps - j) / (j * (j + 1))
        total += term
    return total


@dataclass(frozen=True)
class Pieces:
    """Cells from `start` upwards: values[j] at the Gauss nodes of (l_j, l_{j+1}), atoms[j] at l_j."""

    method: str
    start: float
    width: float
    values: Floats
    """mu-density per cell width, n by d; cell j holds mass values[j] @ weights."""
    atoms: Floats
    """mu-masses at the n + 1 lattice points."""
    log_scale: float
    """ln of the factor that values and atoms are to be multiplied with."""
    relative: float
    """The relative error of it all, interpolation and rounding."""
    slack: float
    """How far the sum may lie from where the lattice has it."""

    @cached_property
    def _edges(self) -> Any:
        return self.start + self.width * np.arange(float(len(self.atoms)))

    @cached_property
    def _ladder(self) -> tuple[Floats, Floats]:
        """D_j and B_j."""
        u, weights, _ = gauss(self.values.shape[1])
        x = self.width * u
        lift = np.exp(self._edges / 2 + self.log_scale)
        near = lift * self.atoms
        near[:-1] += lift[:-1] * (self.values @ (weights * np.exp(-x / 2)))
        below = discounted(near, self.width)
        gain = (
            lift[:-1] * (self.values @ (weights * 2 * np.sinh(x / 2))) - math.expm1(-self.width) * below[1:]
        )
        above = np.zeros(len(below))
        above[:-1] = gain[::-1].cumsum()[::-1]
        return above, below

    def _inside(self, epsilon: Floats) -> tuple[Floats, Floats, Floats]:
        """delta, its slope, and the density of P, which is the slope plus the second derivative."""
        above, below = self._ladder
        j = ((epsilon - self.start) / self.width).astype(int)
        j = np.minimum(np.maximum(j, 0), len(above) - 2)
        degree, upper = self.values.shape[1], j + 1
        (u, weights, bary), (back, halves) = gauss(degree), _ahead(degree)
        to_next = np.minimum(np.maximum(self._edges[upper] - epsilon, 0.0), self.width)
        part = to_next / self.width
        share = bary / ((1 - part[:, None] * back)[:, :, None] - u + 1e-300)  # 1e-300: on a node
        density = (share @ self.values[j][:, :, None])[:, :, 0] / share.sum(-1)
        half = to_next[:, None] * halves  # of the distances above eps
        lift, near, mass = np.exp(epsilon / 2 + self.log_scale), below[upper], weights * density[:, 1:]
        gain, rest = 2 * part * lift * np.vecdot(mass, np.sinh(half)), np.expm1(-to_next) * near
        delta = above[upper] - rest + gain  # 0 above the last edge, where the slope must be told
        slope = near + rest + part * lift * np.vecdot(mass, np.exp(-half))
        return delta, np.where(epsilon < self._edges[-1], slope, 0.0), lift * density[:, 0] / self.width

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """delta at eps -+ slack, widened by the relative error."""
        delta = self._inside(np.concatenate([epsilon + self.slack, epsilon - self.slack]))[0]
        low, high = delta[: len(epsilon)], delta[len(epsilon) :]
        return low * (1 - self.relative), high * (1 + self.relative)

    def slope(self, epsilon: Floats) -> Floats:
        """-d delta/d eps."""
        return self._inside(epsilon)[1]

    def root(self, target: float) -> tuple[float, float]:
        """Halley's method on ln delta in the cell where delta passes the target."""
        above, below = self._ladder
        j = len(above) - int(np.searchsorted(above[::-1], target, side="right"))  # D_j <= target first
        if j == 0:
            return (0.0 if self.start <= 0 else math.nan), 1.0
        low, high = float(self._edges[j - 1]), float(self._edges[j])
        top = above[j] == 0  # then delta is nearly that of the uppermost atom, else ln delta nearly linear
        if top:
            point = high + math.log1p(-min(target / below[j], 0.999))
        else:
            fall = math.log(above[j - 1] / target)
            point = low + self.width * fall / (fall + math.log(target / above[j]))
        point, slope = min(max(point, low), high), 1.0
        for _ in range(12):
            delta, slope, density = (float(value[0]) for value in self._inside(np.array([point])))
            if slope <= 0:  # as near to the largest loss as a double can tell
                return point, 0.0
            bend = (density - slope) / slope
            if top or delta <= 0:
                move = (delta - target) / slope
            else:
                move, bend = math.log(delta / target) * delta / slope, bend - slope / delta
            move /= max(1 - move * bend / 2, 0.5)  # Halley
            point = min(max(point + move, (low + point) / 2), (high + point) / 2)
            if abs(move) <= 1.5e-5 * self.width:  # the error is about its cube
                break
        return point, self.relative * target / slope + self.slack


@lru_cache(maxsize=64)
def interpolation(degree: int) -> Any:
    """The matrices of u -> integral from 0 to u, and from u to 1, on values at the Gauss nodes."""
    x, w = np.polynomial.legendre.leggauss(degree)
    to_series = np.polynomial.legendre.legvander(x, degree - 1) * w[:, None] * (np.arange(degree) + 0.5)
    higher = np.polynomial.legendre.legvander(x, degree)
    lower = np.concatenate([-np.ones((degree, 1)), higher[:, : degree - 1]], axis=1)
    integrals = (higher[:, 1:] - lower) / (2 * np.arange(degree) + 1)  # of P_n from -1 to x; n = 0: x + 1
    left = integrals @ to_series.T / 2
    return left, w / 2 - left
