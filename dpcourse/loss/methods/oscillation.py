"""The subsampled Gaussian loss on the contour, with a proved bound on its characteristic function.

With g = phi rho^y >= 0 and lambda = ln rho, |M(c+it)| = |integral of g e^{it lambda}|. Three bounds
together cover all t:

- between sampled t_m, the modulus moves by at most |t - t_m| times the integral of g |lambda - mean|;
- for large t, cut at any x_0: below it the mass, above it by parts (van der Corput), |M(c+it)| <=
  integral_{x < x_0} g + [r(x_0) + TV_{x > x_0}(r)]/t  with r = g/lambda';
- ln r = const - (x+1)^2/(2 sigma^2) + (y+1) lambda turns at most three times, so the total variation on
  a fine grid, with a thousandth added for turns inside a grid cell, is an upper bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.subsampled import SubsampledGaussianLoss, grid, moment, nodes

_FARTHEST = 800.0  # longer lines cost more than a grid
_MANY = 2**13  # nodes of x: a sum over more only tells that nothing cancels
_ROUGH = 9.0  # digits (natural) for the sampled moduli: e^-9 is added to each


@dataclass(frozen=True)
class SubsampledFactor:
    """k releases of one subsampled Gaussian mechanism."""

    leaf: SubsampledGaussianLoss
    times: int

    def cumulant(self, z: Any) -> Any:
        if np.iscomplexobj(z):  # a few t at a time: the smaller t, the fewer x they need
            parts = np.array_split(z.imag, len(z) // 64 + 1)
            return self.times * np.concatenate([moment(self.leaf, float(z[0].real), t) for t in parts])
        return self.times * moment(self.leaf, z, None)

    def decay(self, c: float, t: Floats) -> Any:
        y = c + 1 if self.leaf.removed else -c
        fine = t[0] * np.concatenate([np.geomspace(1, 30, 70), np.geomspace(35, 35 * 1.15**50, 51)])
        fine = fine[fine < 5000 * self.leaf.sigma**2]
        with np.errstate(over="ignore", invalid="ignore"):  # hardly any noise: nothing is proved then
            far = self._by_parts(y, fine)
        proved = far <= math.exp(-60 / self.times)
        if not proved.any():
            return np.zeros(len(t))
        last = int(np.argmax(proved))
        fine, far = fine[: last + 1], far[last]
        here = np.concatenate([self._modulus(y, part) for part in np.array_split(fine, last // 12 + 1)])
        between = (here[1:] + here[:-1] + self._spread(y) * np.diff(fine)) / 2
        sup = np.maximum.accumulate(np.append(between, far)[::-1])[::-1]  # for all u >= fine[m]
        proved_at = np.log(np.minimum(sup, 1.0))[np.searchsorted(fine, t, side="right") - 1]
        # A node of the line takes about t/sigma nodes of x, so a large sigma shortens the line.
        farthest = _FARTHEST * self.leaf.sigma**2 / max(1.0, self.leaf.sigma / 20)
        return np.where(t < farthest, self.times * proved_at, 0.0)

    def roundings(self, c: float) -> float:
        y = c + 1 if self.leaf.removed else -c
        moved = 1.0
        if nodes(self.leaf, c) < _MANY:
            _, log_phi, log_rho, step = grid(self.leaf, y, 0.0)
            grown = np.exp(np.minimum(log_phi + np.maximum(y * log_rho, 0), 600.0))
            moved = min(step * float(grown @ -np.expm1(-np.abs(y * log_rho))), 1.0)
        return 8 * self.times * moved + 64 * math.sqrt(self.times)

    def _modulus(self, y: float, t: Floats) -> Any:
        """|M(c+it)|/M(c) + e^-9."""
        _, log_phi, log_rho, _ = grid(self.leaf, y, float(t[-1]), _ROUGH)
        weight = np.exp(log_phi + y * log_rho)
        turn = np.multiply.outer(t, log_rho)
        return np.hypot(np.cos(turn) @ weight, np.sin(turn) @ weight) / weight.sum() + math.exp(-_ROUGH)

    def _spread(self, y: float) -> float:
        """The mean absolute deviation of lambda under g, and 2% for the kink in it."""
        _, log_phi, log_rho, _ = grid(self.leaf, y, 1.0)
        weight = np.exp(log_phi + y * log_rho)
        mean = weight @ log_rho / weight.sum()
        return 1.02 * float(weight @ np.abs(log_rho - mean) / weight.sum())

    def _by_parts(self, y: float, t: Floats) -> Any:
        """The van der Corput bound, at the best x_0 for each t."""
        sigma, rate = self.leaf.sigma, self.leaf.rate
        x = np.linspace(-8 * sigma, max(y, 0.0) + 1 + 10 * sigma, 4000)
        h = x[1] - x[0]
        u = (2 * x - 1) / (2 * sigma**2)
        log_rho = np.logaddexp(math.log1p(-rate), math.log(rate) + u)
        log_g = -x * x / (2 * sigma**2) + y * log_rho
        g = np.exp(log_g - log_g.max())
        ratio = np.exp(log_g - log_g.max() + log_rho - u - math.log(rate)) * sigma**2
        bend = float(np.abs(np.diff(g, n=2)).sum()) / h  # about the total variation of g'
        below = (
            h * (np.cumsum(g) - g / 2) + 0.15 * h * h * bend
        )  # the trapezoid rule errs by at most h^2/12 of it
        variation = np.append(np.cumsum(np.abs(np.diff(ratio))[::-1])[::-1], 0.0)
        above = 1.001 * (ratio + variation)
        chosen = slice(0, None, 16)
        return (below[chosen] + np.multiply.outer(1 / t, above[chosen])).min(-1) / (h * g.sum())
