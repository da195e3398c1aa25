"""What the contour needs to know of a loss: its cumulant off the real line, and how fast it decays there.

A factor stands for k equal steps (or for all Laplace steps of a composition together). With
K(z) = k ln E[e^{zL}] it gives

    cumulant(z)   K(z), computed from M - 1 where M is near 1, so that k ln M keeps its digits;
    decay(c, t)   a proved bound on ln |e^{K(c+iu)}| - K(c) for all u >= t, which falls with t;
    roundings(c)  how many ulps the rounding of K may cost (modelled: operations counted, not proved).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.logs import expm1, log1p, log_sum_exp
from dpcourse.loss.shifts import GaussianLoss
from dpcourse.loss.subsampled import SubsampledGaussianLoss

_MANY = 2**13  # nodes of x: a sum over more only tells that nothing cancels


class Factor(Protocol):
    """One or more equal steps of a composition, as the contour sees them."""

    @property
    def worth(self) -> int:
        """How many nodes of a line are worth their time."""

    def cumulant(self, z: Any) -> Any:
        """k ln M(z) for an array of real or complex z."""

    def decay(self, c: float, t: float) -> float:
        """A bound on the sup over u >= t of ln |M(c+iu)/M(c)|, times k, for t > 0."""

    def roundings(self, c: float) -> float:
        """The rounding error of K on Re z = c, in ulps."""


@dataclass(frozen=True)
class GaussianFactor:
    """K(z) = z(z+1) mu^2/2, so ln |e^K| falls by exactly mu^2 t^2/2."""

    leaf: GaussianLoss
    times: int

    @property
    def worth(self) -> int:
        return 2**20

    def cumulant(self, z: Any) -> Any:
        return z * (z + 1) * (self.times * self.leaf.mu**2 / 2)

    def decay(self, c: float, t: float) -> float:
        return -self.times * (self.leaf.mu * t) ** 2 / 2

    def roundings(self, c: float) -> float:
        return 3 * c * (c + 1) * self.times * self.leaf.mu**2


@dataclass(frozen=True)
class LaplaceFactor:
    """All Laplace steps, shifts s_i taken k_i times: M = e^{-s/2} [cosh(ws) + sinh(ws)/(2w)], w = z + 1/2.

    M - 1 = e^{-s/2} [2 sinh(s(z+1)/2) sinh(sz/2) + (s/2)(shc(ws) - shc(s/2))],  shc(x) = sinh(x)/x.

    Decay: with a = c + 1/2, |cosh(ws)|^2 = cosh^2(as) - sin^2(ts), and sinh(ws)/w, the integral of cosh(wl)
    over l from 0 to s, is at most cosh(as)/t and at most sinh(as)/a - g(t)/(2 cosh(as)), g(t) the integral of
    sin^2(tl). Together |M| <= e^{-s/2} cosh(as) [sqrt(1 - sin^2(ts)/cosh^2(as)) + `between`(t)/2]. The root
    is largest where sin(ts) is smallest: for u from t to pi/s - t no larger than at t, beyond at most 1 (the
    atoms are in phase again). g rises up to t = pi/(2s), and is at least s (1 - 1/pi)/2 beyond.
    """

    shifts: Floats
    times: Floats

    @property
    def worth(self) -> int:
        return 2**13

    def cumulant(self, z: Any) -> Any:
        s, z = self.shifts[:, None], z[None, :]
        w = z + 0.5
        x = w * s
        near = np.real(x) < 1.0
        small = np.where(near, x, 1.0)
        half = s / 2
        zs = np.where(near, z * half, 0.0)
        few = np.minimum(half, 1.0)  # where x is near 0, s/2 is below 1
        excess = 2 * np.sinh(zs + few) * np.sinh(zs) + few * (np.sinh(small) / small - np.sinh(few) / few)
        value = log1p(np.exp(-half) * np.where(near, excess, 0.0))
        if not near.all():
            far = np.where(near, 1.0, x)
            fall = np.exp(-2 * far)
            value = np.where(near, value, far - half + np.log((1 + fall) / 2 + half * (1 - fall) / (2 * far)))
        return self.times @ value

    def decay(self, c: float, t: float) -> float:
        s, a = self.shifts, c + 0.5
        narrow = 1 / np.cosh(np.minimum(a * s, 300))

        def between(u: Any) -> Any:
            near = np.minimum(u, np.pi / (2 * s))
            integral = (s - np.sin(2 * near * s) / (2 * near)) / 2
            integral = np.where(near < u, s * (1 - 1 / np.pi) / 2, integral)
            return np.minimum(1 / u, np.tanh(a * s) / a - integral * narrow * narrow / 2)

        wide = np.sin(np.minimum(t * s, np.pi / 2)) * narrow
        here = np.sqrt(1 - wide * wide) + between(t) / 2
        again = np.where(t * s < np.pi / 2, np.pi / s - t, t)  # from here on the root may be 1
        bound = np.maximum(here, 1 + between(again) / 2)
        ratio = np.log(bound) - np.log1p(np.tanh(a * s) / (2 * a))
        return float(self.times @ np.minimum(ratio, 0.0))

    def roundings(self, c: float) -> float:
        s = self.shifts
        return float(self.times @ (s * (1 + 3 * min(c, 1e6)))) / 2


@dataclass(frozen=True)
class FiniteFactor:
    """A sum over atoms; it does not decay, and needs another factor that does."""

    leaf: FiniteLoss
    times: int

    @property
    def worth(self) -> int:
        return max(2**13, 2**20 // max(1, len(self.leaf.atoms[0])))

    def cumulant(self, z: Any) -> Any:
        losses, p = self.leaf.atoms
        losses, p = losses[p > 0], p[p > 0]
        exponent, total = np.multiply.outer(z, losses), float(p.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            growth = expm1(exponent) @ p / total  # M/M(0) - 1
        near = np.abs(growth) < 0.5
        value = log1p(np.where(near, growth, 0.0))
        if not near.all():
            value[~near] = log_sum_exp(exponent[~near] + np.log(p / total))
        return self.times * (value + (math.log(total) if self.leaf.infinite else 0.0))

    def decay(self, c: float, t: float) -> float:
        return 0.0

    def roundings(self, c: float) -> float:
        losses, p = self.leaf.atoms
        share = p * np.exp(c * (losses - losses.max()))  # an error in one term counts as much as the term
        slips = 1.5 + 2 * np.abs(losses) - np.log(np.maximum(p, 5e-324))  # of the losses themselves
        return self.times * (4.0 + c * float(share @ slips) / float(share.sum()))


@dataclass(frozen=True)
class SubsampledFactor:
    """k releases of one subsampled Gaussian mechanism: `powers` of rho, by a line where nothing oscillates.

    Roundings: of K(c), as far as rho^y differs from 1; and at each t of the mean of e^{it ln rho} - 1, which
    has the size of t times a standard deviation, where e^K has fallen to e^{-k (t sd)^2/2}.
    """

    leaf: SubsampledGaussianLoss
    times: int

    @property
    def worth(self) -> int:
        return 2**18

    def cumulant(self, z: Any) -> Any:
        return self.times * self.leaf.moment(z)

    def decay(self, c: float, t: float) -> float:
        return self.times * self.leaf.powers.decay(self.leaf.exponent(c), t)

    def roundings(self, c: float) -> float:
        powers, y = self.leaf.powers, self.leaf.exponent(c)
        moved = 1.0
        if powers.count(y) < _MANY:
            log_phi, log_rho, step = powers.grid(y)
            grown = np.exp(np.minimum(log_phi + np.maximum(y * log_rho, 0), 600.0))
            moved = min(step * float(grown @ -np.expm1(-np.abs(y * log_rho))), 1.0)
        return 8 * self.times * moved + 64 * math.sqrt(self.times)
