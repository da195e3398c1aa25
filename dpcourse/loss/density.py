"""The privacy loss of any two laws with densities: crossings of the log-ratio, then cdfs.

delta(eps) = P(S) - e^eps Q(S) with S = {y: L(y) > eps}. The line is cut where L turns; on each piece L
is monotone, so S is an interval whose end is found by bisection, and the masses are differences of
distribution functions. An end that is slightly off costs only the square of the mistake, because the
integrand vanishes there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats
from dpcourse.laws import Law
from dpcourse.loss.base import Bounds, PrivacyLoss, widen
from dpcourse.loss.solve import ULP

_REACH = 42.0  # sinh(42) is about 1e18: as far out as a double can tell two locations apart


@dataclass(frozen=True)
class DensityLoss(PrivacyLoss):
    """Two laws with densities on the line, none of whose closed forms is known.

    >>> from dpcourse.laws import Laplace
    >>> loss = DensityLoss((Laplace(0, 2), Laplace(0, 1)))  # a different scale: the loss is unbounded
    >>> loss.max_divergence()
    inf
    """

    pair: tuple[Law, Law]
    panels: int = field(default=400, compare=False, repr=False)

    @property
    def method(self) -> str:
        """How answers are computed."""
        return "crossings of the log-ratio and distribution functions; moments by adaptive quadrature"

    @cached_property
    def _mesh(self) -> Floats:
        """Where crossings are sought: below e^-10^4 there is no mass, and L is all rounding."""
        return self._panels(-1e4)

    def _panels(self, least: float) -> Floats:
        """Panel edges: dense around each law's centre, geometric in the tails, an edge at each centre."""
        edges = []
        for law in self.pair:
            low, high = law.window()
            centre, spread = (low + high) / 2, (high - low) / 8
            edges.append(centre + spread * np.sinh(np.linspace(-_REACH, _REACH, self.panels + 1)))
            edges.append(np.linspace(low, high, self.panels + 1))
        parts = [part for law in self.pair for part in getattr(law, "parts", (law,))]
        kinks = [np.ravel(part.loc) for part in parts if hasattr(part, "loc")]
        mesh = np.unique(np.concatenate(edges + kinks))
        p, q = self.pair
        return np.asarray(mesh[(p.log_prob(mesh) > least) & (q.log_prob(mesh) > least)])

    @cached_property
    def _pieces(self) -> list[tuple[Floats, Floats, bool]]:
        """(points, losses there, whether L rises) for maximal pieces on which L is monotone."""
        mesh, loss = self._mesh, self.at(self._mesh)
        noise = 16 * ULP * (1 + np.abs(self.pair[0].log_prob(mesh)) + np.abs(loss))[1:]
        slopes = np.sign(np.diff(loss)) * (np.abs(np.diff(loss)) > noise)
        turns, ways, way = [], [], 0.0
        for i, slope in enumerate(slopes):
            if slope and way and slope != way:
                turns.append(self._extremum(mesh[i - 1], mesh[i], mesh[i + 1], way))
                ways.append(way > 0)
            way = slope or way
        ends = [mesh[0], *turns, mesh[-1]]
        pieces = []
        for left, right, rising in zip(ends, ends[1:], [*ways, way > 0], strict=False):
            points = np.concatenate([[left], mesh[(mesh > left) & (mesh < right)], [right]])
            order = np.maximum if rising else np.minimum
            pieces.append((points, order.accumulate(self.at(points)), rising))
        return pieces

    def _extremum(self, left: float, middle: float, right: float, sign: float) -> float:
        """Where L (times sign) is largest between three mesh points, by golden section."""
        golden = (math.sqrt(5) - 1) / 2
        low, high = left, right
        for _ in range(80):
            a, b = high - golden * (high - low), low + golden * (high - low)
            if sign * self.at(a) >= sign * self.at(b):
                high = b
            else:
                low = a
        found = (low + high) / 2
        return found if sign * self.at(found) > sign * self.at(middle) else middle  # a kink stays put

    def _masses(self, level: ArrayLike) -> tuple[Floats, Floats]:
        """P and Q of {y: L(y) > level}."""
        level = np.asarray(level, dtype=float)
        p, q = self.pair
        mass_p, mass_q = np.zeros(level.shape), np.zeros(level.shape)
        first, last = self._mesh[0], self._mesh[-1]
        for points, losses, rising in self._pieces:
            low, high = self._above(points, losses, rising, level)
            low, high = np.where(low == first, -np.inf, low), np.where(high == last, np.inf, high)
            some = high > low
            mass_p += np.where(some, _between(p, low, high), 0.0)
            mass_q += np.where(some, _between(q, low, high), 0.0)
        return mass_p, mass_q

    def _above(self, points: Floats, losses: Floats, rising: bool, level: Any) -> tuple[Any, Any]:
        """The part of a monotone piece where L > level: its panel by look-up, its end by bisection."""
        if not rising:
            points, losses = points[::-1], losses[::-1]
        first = np.searchsorted(losses, level, side="right")  # the first point with L > level
        inside = points[np.minimum(first, len(points) - 1)]
        outside = points[np.maximum(first - 1, 0)]
        for _ in range(40):
            middle = (inside + outside) / 2
            holds = self.at(middle) > level
            inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
        edge = np.where(first == 0, points[0], inside)
        far = np.where(first == len(points), edge, points[-1])  # nothing of the piece is above
        return (edge, far) if rising else (far, edge)

    def delta_bounds(self, epsilon: ArrayLike) -> Bounds:
        """P(S) - e^eps Q(S) at the best S, widened by the rounding of the distribution functions.

        The lower end is the value of an actual test. The upper end rests on having found every turn of
        L on the mesh, which holds for the laws of this course: their log-ratios turn a few times only.
        """
        eps = np.asarray(epsilon, dtype=float)
        mass_p, mass_q = self._masses(eps)
        scaled = np.exp(np.minimum(eps, 700)) * mass_q
        # A tail of mass m is computed to about |ln m| ulps, at each end of each interval.
        digits = 16 + np.abs(eps) - np.log(np.maximum(mass_p, 1e-300))
        error = 4 * ULP * len(self._pieces) * digits * (mass_p + scaled)
        value = np.maximum(mass_p - scaled, 0)
        lower, upper = widen(value, error + np.finfo(float).smallest_subnormal)
        return np.where(eps > 600, 0.0, lower)[()], upper  # beyond, Q's masses may be below every double

    def tail(self, loss: ArrayLike) -> Any:
        """P[L > loss]."""
        return self._masses(loss)[0][()]

    def log_moment(self, z: ArrayLike) -> Any:
        """ln of the integral of p e^{zL}; infinite where it diverges."""
        z = np.asarray(z)
        return np.array([self._integral(v) for v in z.ravel()]).reshape(z.shape)[()]

    def _integral(self, z: Any) -> Any:
        total, top = self._quadrature(lambda log_p, log_q: (log_p + z * (log_p - log_q), 1.0))
        return top + np.log(total) if np.iscomplexobj(total) else top + math.log(total)

    def kl(self) -> float:
        """The integral of p L; infinite where it diverges."""
        total, top = self._quadrature(lambda log_p, log_q: (log_p, log_p - log_q))
        return max(0.0, float(total) * math.exp(top))

    def _quadrature(self, integrand: Callable[[Floats, Floats], tuple[Any, Any]]) -> tuple[Any, float]:
        """The integral of factor * e^exponent, as (total, top) meaning total * e^top.

        16-point Gauss-Legendre on panels far into the tails, where high moments have their mass; the
        panels that matter are halved until the total stays the same to 12 digits.
        """
        x, w = np.polynomial.legendre.leggauss(16)
        edges, before = self._panels(-1e8), None
        for _ in range(14):
            half = np.diff(edges)[:, None] / 2
            nodes = edges[:-1, None] + half + half * x
            exponent, factor = integrand(*(np.asarray(law.log_prob(nodes)) for law in self.pair))
            exponent = exponent + np.log(half * w)
            size = np.real(exponent).max(axis=1)
            top = float(size.max())
            if max(size[0], size[-1]) > top - 30:
                return math.inf, 0.0  # mass at the end of the line: the integral diverges
            total = (factor * np.exp(exponent - top)).sum()
            value = total * np.exp(top) if top < 700 else top + np.log(total)
            if before is not None and abs(value - before) <= 1e-12 * abs(value):
                break
            before, live = value, np.flatnonzero(size > top - 45)
            middle = (edges[live] + edges[live + 1]) / 2
            edges = np.union1d(edges, middle)
        return total, top

    def max_divergence(self) -> float:
        """The largest loss on the line; infinite if it still grows where the line ends."""
        mesh, loss = self._mesh, self.at(self._mesh)
        best = float(loss.max())
        for end, before in ((0, len(mesh) // 50), (-1, -1 - len(mesh) // 50)):
            if loss[end] > loss[before] + 1e-6 * (1 + abs(loss[end])):
                return math.inf
        return max(best, *(float(losses.max()) for _, losses, _ in self._pieces))

    def reversed(self) -> DensityLoss:
        """P and Q exchanged."""
        return DensityLoss(self.pair[::-1])


def _between(law: Law, low: Any, high: Any) -> Any:
    """Pr[low < Y < high], as a difference of left tails or of right tails, whichever are smaller."""
    right = law.sf(low) < 0.5
    return np.maximum(np.where(right, law.sf(low) - law.sf(high), law.cdf(high) - law.cdf(low)), 0.0)
