"""A few Laplace losses that share no lattice: their sum as an exact spline on its own knots.

Measure distances y from the largest loss, in mu(dl) = e^{-l/2} P(dl). The knots are the subset sums of
2 s_1, ..., 2 s_k: atoms sit on them, and between two neighbours the density is a polynomial of degree
below k. With G(y) the mu-mass within distance y of the top, one more Laplace loss of shift s is

    f'(y) = a [f(y) + f(y - 2s)] + b [G(y) - G(y - 2s)],   a = e^{-s/2}/2,  b = a/2.

A cell moved by 2s never straddles a knot of the sum before, so k Gauss nodes a cell make every step
exact. Proved up to rounding: all terms are positive, a few ulps an operation (modelled).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.pieces import gauss
from dpcourse.loss.shifts import LaplaceLoss
from dpcourse.loss.solve import ULP, solve_decreasing

MOST: Final = 7  # 2^7 knots
_FINE: Final = 32  # nodes for the exponentials over a cell


class Few:
    """The law of the sum, ready for delta(eps) with eps >= 0.

    >>> low, high = Few([LaplaceLoss(0.3), LaplaceLoss(0.7)]).bounds(np.array([0.2]))
    >>> f"{low[0]:.12f} {high[0]:.12f}"
    '0.229131947059 0.229131947059'
    """

    def __init__(self, losses: Sequence[LaplaceLoss]) -> None:
        shifts = sorted(loss.shift for loss in losses)
        self.method = f"spline on the {2 ** len(shifts)} knots of {len(shifts)} Laplace losses"
        self.top = math.fsum(shifts)
        sums = [2 * math.fsum(c) for n in range(len(shifts) + 1) for c in combinations(shifts, n)]
        self.knots = _distinct(np.array(sums))
        self.atoms = np.zeros(len(self.knots))
        self.atoms[0] = 1.0
        self.cells = np.zeros((len(self.knots) - 1, len(shifts) + 1))
        u = gauss(self.cells.shape[1])[0]
        nodes = self.knots[:-1, None] + np.diff(self.knots)[:, None] * u
        for s in shifts:
            a = math.exp(-s / 2) / 2
            (f, mass), (g, before) = self._at(nodes), self._at(nodes - 2 * s)
            moved = np.searchsorted(self.knots, self.knots - 2 * s - 1e-12 * (1 + self.top))
            moved = np.minimum(moved, len(self.knots) - 1)
            lands = np.abs(self.knots[moved] - (self.knots - 2 * s)) < 1e-11 * (1 + self.top)
            self.cells = a * (f + g) + a / 2 * (mass - before)
            self.atoms = a * (self.atoms + np.where(lands, self.atoms[moved], 0.0))

    def _at(self, y: Any) -> tuple[Any, Any]:
        """The density at y, and the mass above: G(y)."""
        j = np.clip(np.searchsorted(self.knots, y, side="right") - 1, 0, len(self.cells) - 1)
        width = np.diff(self.knots)[j]
        place = (y - self.knots[j]) / width
        u, weights, _ = gauss(self.cells.shape[1])
        partial = self._interpolated(j[..., None], place[..., None] * u) @ weights * place * width
        whole = np.append(0.0, np.cumsum(self.cells @ weights * np.diff(self.knots)))
        mass = np.cumsum(self.atoms)[j] + whole[j] + partial
        inside = y > 0
        return np.where(inside, self._interpolated(j, place), 0.0), np.where(inside, mass, 0.0)

    def _interpolated(self, j: Any, place: Any) -> Any:
        """The polynomial of cell j at a place in (0, 1), barycentric."""
        u, _, bary = gauss(self.cells.shape[1])
        gap = np.asarray(place)[..., None] - u
        share = bary / np.where(gap == 0, 1e-300, gap)
        return (share * self.cells[j]).sum(-1) / share.sum(-1)

    def _masses(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """P and Q of {S > eps}: atoms, whole cells above, and a part of one cell."""
        reach = np.clip(self.top - epsilon, 0.0, self.knots[-1])
        j = np.clip(np.searchsorted(self.knots, reach, side="right") - 1, 0, len(self.cells) - 1)
        u, weights, _ = gauss(_FINE)
        found = []
        for sign in (+1, -1):  # P = e^{l/2} mu and Q = e^{-l/2} mu
            level = sign * (self.top - self.knots) / 2
            ahead = np.cumsum(np.append(0.0, self.atoms * np.exp(level)))
            ahead = np.where(reach > self.knots[j], ahead[j + 1], ahead[j])
            widths = np.diff(self.knots)
            y = self.knots[:-1, None] + widths[:, None] * u
            rows = np.arange(len(self.cells))[:, None]
            each = (
                self._interpolated(rows, np.broadcast_to(u, y.shape)) * np.exp(sign * (self.top - y) / 2)
            ) @ weights
            whole = np.append(0.0, np.cumsum(each * widths))[j]
            length = reach - self.knots[j]
            at = self.knots[j][:, None] + length[:, None] * u
            part = self._interpolated(j[:, None], length[:, None] * u / widths[j][:, None])
            found.append(ahead + whole + (part * np.exp(sign * (self.top - at) / 2)) @ weights * length)
        return found[0], found[1]

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """P(S > eps) - e^eps Q(S > eps), widened by its rounding."""
        p, q = self._masses(epsilon)
        scaled = np.exp(epsilon) * q
        error = ULP * (64 + 16 * self.cells.shape[1]) * (1 + np.abs(epsilon)) * (p + scaled)
        return np.maximum(p - scaled - error, 0.0), np.maximum(p - scaled, 0.0) + error

    def slope(self, epsilon: Floats) -> Floats:
        """e^eps Q(S > eps)."""
        return np.asarray(np.exp(epsilon) * self._masses(epsilon)[1])

    def root(self, target: float) -> tuple[float, float]:
        """Where the upper bound reaches the target, and how far off it may be."""

        def upper(epsilon: float) -> float:
            return float(self.bounds(np.array([epsilon]))[1][0])

        point = solve_decreasing(upper, target, self.top) if upper(0.0) > target else 0.0
        low, high = self.bounds(np.array([point]))
        return point, float((high - low)[0] / max(self.slope(np.array([point]))[0], 1e-300))


def few(parts: Sequence[tuple[LaplaceLoss, int]]) -> Few | None:
    """The spline, if there are few enough losses."""
    losses = [leaf for leaf, k in parts for _ in range(k) if k <= MOST]
    return Few(losses) if len(losses) <= MOST and all(k <= MOST for _, k in parts) else None


def _distinct(values: Floats) -> Floats:
    """Sorted values, those merged that differ by rounding only."""
    ordered = np.sort(values)
    fresh = np.append(True, np.diff(ordered) > 1e-12 * (1 + ordered[-1]))
    return np.asarray(ordered[fresh])
