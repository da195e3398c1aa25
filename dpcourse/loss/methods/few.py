"""A few Laplace losses that share no lattice, and finite ones: their sum as an exact spline on its own knots.

Measure distances y from the largest loss, in mu(dl) = e^{-l/2} P(dl). The knots are the subset sums of
2 s_1, ..., 2 s_k: atoms sit on them, and between two neighbours the density is a polynomial of degree
below k. With G(y) the mu-mass within distance y of the top, one more Laplace loss of shift s is

    f'(y) = a [f(y) + f(y - 2s)] + b [G(y) - G(y - 2s)],   a = e^{-s/2}/2,  b = a/2.

A cell moved by 2s never straddles a knot of the sum before, so k + 1 Gauss nodes a cell make every step
exact; off the nodes, a cell is a sum of Legendre polynomials. Finite losses come last, as a list of sums
b: delta(eps) = E[delta(eps - b)]. Proved up to rounding: a few ulps of the largest value in a cell an
operation (modelled).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.polynomial.legendre import legvander

from dpcourse.errors import Floats
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.counts import Law
from dpcourse.loss.methods.listing import listing
from dpcourse.loss.methods.pieces import MOST_ROUNDING, gauss, growth
from dpcourse.loss.shifts import LaplaceLoss
from dpcourse.loss.solve import ULP, solve_decreasing

_MOST_WORK: Final = 1e6  # knots times nodes squared: some tenths of a second
_MOST_SUMS: Final = 2**11  # of the finite losses
_FINE: Final = 32  # nodes for the exponentials over a cell
_WIDEST: Final = 20.0  # a shift for which they are enough
_SAME: Final = 32 * ULP  # sums of shifts that differ by less, relative to the largest loss, are equal
_NOTHING: Final = np.zeros(1), np.ones(1)


class Few:
    """The law of the sum, ready for delta(eps).

    >>> low, high = Few([(LaplaceLoss(0.3), 1), (LaplaceLoss(0.7), 1)]).bounds(np.array([0.2]))
    >>> f"{low[0]:.12f} {high[0]:.12f}"
    '0.229131947059 0.229131947059'
    """

    def __init__(
        self,
        parts: Sequence[tuple[LaplaceLoss, int]],
        finite: Law = _NOTHING,
        slack: float = 0.0,
        relative: float = 0.0,
    ) -> None:
        shifts = sorted(leaf.shift for leaf, k in parts for _ in range(k))
        self.finite = finite
        self.top = math.fsum(shifts)
        counts = product(*(range(k + 1) for _, k in parts))
        sums = [2 * math.fsum(n * leaf.shift for n, (leaf, _) in zip(c, parts, strict=True)) for c in counts]
        self.knots, merged = _distinct(np.array(sums))
        size = self.top + float(np.abs(finite[0]).max())
        self.slack = slack + (1 + len(shifts)) * merged + 16 * ULP * size
        self.widths = np.diff(self.knots)
        rounding = ULP * (64 + 16 * len(shifts)) * (1 + size) * growth(len(shifts), float(self.widths.max()))
        self.relative = relative + self.slack + rounding
        self.atoms = np.zeros(len(self.knots))
        self.atoms[0] = 1.0
        self.cells = np.zeros((len(self.widths), len(shifts) + 1))
        self.method = f"spline on the {len(self.knots)} knots of {len(shifts)} Laplace losses"
        if len(finite[0]) > 1:
            self.method += f", for each of {len(finite[0])} sums of finite losses"
        u = gauss(self.cells.shape[1])[0]
        nodes = self.knots[:-1, None] + self.widths[:, None] * u
        for s in shifts:
            a = math.exp(-s / 2) / 2
            (f, mass), (g, before) = self._at(nodes), self._at(nodes - 2 * s)
            middles = (self.knots[1:] + self.knots[:-1]) / 2
            moved = np.searchsorted(middles, self.knots - 2 * s)  # the nearest knot
            lands = np.abs(self.knots[moved] - (self.knots - 2 * s)) < _SAME * self.top + merged
            self.cells = a * (f + g) + a / 2 * (mass - before)
            self.atoms = a * (self.atoms + np.where(lands, self.atoms[moved], 0.0))

    def _legendre(self) -> Any:
        """The coefficients of each cell: (2n + 1) times the mean of P_n f."""
        u, weights, _ = gauss(self.cells.shape[1])
        n = np.arange(len(u))
        return (self.cells * weights) @ (legvander(2 * u - 1, len(u) - 1) * (2 * n + 1))

    def _at(self, y: Any) -> tuple[Any, Any]:
        """The density at y, and the mass above: G(y)."""
        j = np.clip(np.searchsorted(self.knots, y, side="right") - 1, 0, len(self.cells) - 1)
        place = np.clip((y - self.knots[j]) / self.widths[j], 0.0, 1.0)
        degree = self.cells.shape[1]
        waves = legvander(2 * place - 1, degree)  # the integral of P_n is (P_{n+1} - P_{n-1})/(2n + 1)
        sums = np.concatenate([place[..., None], np.zeros((*place.shape, degree - 1))], axis=-1)
        n = np.arange(1, degree)
        sums[..., 1:] = (waves[..., 2:] - waves[..., :-2]) / (4 * n + 2)
        each = self._legendre()
        whole = np.append(0.0, np.cumsum(each[:, 0] * self.widths))
        mass = np.cumsum(self.atoms)[j] + whole[j] + (each[j] * sums).sum(-1) * self.widths[j]
        density = (each[j] * waves[..., :-1]).sum(-1)
        return np.where(y > 0, density, 0.0), np.where(y > 0, mass, 0.0)

    @cached_property
    def _above(self) -> tuple[Any, list[tuple[Any, Any]]]:
        """The coefficients, and for P and Q the masses of the atoms and of the cells above each knot."""
        each = self._legendre()
        u, weights, _ = gauss(_FINE)
        values = each @ legvander(2 * u - 1, each.shape[1] - 1).T
        y = self.knots[:-1, None] + self.widths[:, None] * u
        found = []
        for sign in (+1, -1):  # P = e^{l/2} mu and Q = e^{-l/2} mu
            atoms = np.cumsum(np.append(0.0, self.atoms * np.exp(sign * (self.top - self.knots) / 2)))
            cells = (values * np.exp(sign * (self.top - y) / 2) * weights).sum(-1) * self.widths
            found.append((atoms, np.append(0.0, np.cumsum(cells))))
        return each, found

    def _masses(self, epsilon: Floats) -> list[Any]:
        """P and Q of {S > eps} for the Laplace losses: atoms, whole cells above, and a part of one cell."""
        reach = np.clip(self.top - epsilon, 0.0, self.knots[-1])
        j = np.clip(np.searchsorted(self.knots, reach, side="right") - 1, 0, len(self.cells) - 1)
        each, above = self._above
        u, weights, _ = gauss(_FINE)
        length = (reach - self.knots[j])[:, None]
        place = length / self.widths[j][:, None] * u
        part = (legvander(2 * place - 1, each.shape[1] - 1) * each[j][:, None, :]).sum(-1) * weights * length
        at = self.knots[j][:, None] + length * u
        atoms_above = np.where(reach > self.knots[j], j + 1, j) + (epsilon < -self.top)  # the last one, too
        return [
            atoms[atoms_above] + cells[j] + (part * np.exp(sign * (self.top - at) / 2)).sum(-1)
            for sign, (atoms, cells) in zip((+1, -1), above, strict=True)
        ]

    def _terms(self, epsilon: Floats) -> tuple[Any, Any]:
        """P and e^eps Q of {S > eps}, the finite losses included."""
        losses, mass = self.finite
        level = np.subtract.outer(epsilon, losses)
        p, q = (m.reshape(level.shape) for m in self._masses(level.ravel()))
        return (p * mass).sum(-1), (np.exp(level) * q * mass).sum(-1)

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """P(S > eps) - e^eps Q(S > eps), widened by its rounding."""
        p, q = self._terms(np.concatenate([epsilon + self.slack, epsilon - self.slack]))
        (low, high), (less, more) = np.split(p - q, 2), np.split(self.relative * (p + q), 2)
        return np.maximum(low - less, 0.0), np.maximum(high, 0.0) + more

    def slope(self, epsilon: Floats) -> Floats:
        """e^eps Q(S > eps)."""
        return np.asarray(self._terms(epsilon)[1])

    def root(self, target: float) -> tuple[float, float]:
        """Where the upper bound reaches the target, and how far off it may be."""

        def upper(epsilon: float) -> float:
            return float(self.bounds(np.array([epsilon]))[1][0])

        last = self.top + float(self.finite[0].max())
        point = solve_decreasing(upper, target, last) if upper(0.0) > target else 0.0
        low, high = self.bounds(np.array([point]))
        slope = self.slope(np.array([point - 2 * self.slack]))  # to the left of an atom that is near
        return point, float((high - low)[0] / max(slope[0], 1e-300))


def few(
    laplace: Sequence[tuple[LaplaceLoss, int]], finite: Sequence[tuple[FiniteLoss, int]] = ()
) -> Few | None:
    """The spline, if there are few enough losses."""
    knots, nodes = math.prod(k + 1 for _, k in laplace), 1 + sum(k for _, k in laplace)
    if knots * nodes**2 > _MOST_WORK or max(leaf.shift for leaf, _ in laplace) > _WIDEST:
        return None
    if not finite:
        return _sharp(Few(laplace))
    every = listing(finite)
    if every is None or len(every.tails.p) > _MOST_SUMS:
        return None
    return _sharp(Few(laplace, (every.tails.losses, every.tails.p), every.slack, every.relative))


def _sharp(found: Few) -> Few | None:
    return found if found.relative < MOST_ROUNDING else None


def _distinct(values: Floats) -> tuple[Floats, float]:
    """Sorted values, those merged that differ by rounding only, and how far one was moved at most."""
    ordered = np.sort(values)
    fresh = np.append(True, np.diff(ordered) > _SAME / 2 * ordered[-1])
    kept = ordered[fresh]
    return kept, float(np.max(ordered - kept[np.cumsum(fresh) - 1]))
