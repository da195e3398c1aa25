"""Closed forms: the privacy loss of Gaussian and of Laplace noise around two answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import nonnegative, probability
from dpcourse.laws import Law
from dpcourse.loss.base import Bounds, PrivacyLoss, widen
from dpcourse.loss.solve import ULP

_NO_NOISE: Final = 1e100  # a mu


@dataclass(frozen=True)
class GaussianLoss(PrivacyLoss):
    """Two Gaussians of one standard deviation, mu standard deviations apart: L is N(mu^2/2, mu^2).

    delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)   (Balle and Wang, ICML 2018).

    >>> round(GaussianLoss(1.0).delta(1.0), 6)
    0.126937
    """

    mu: float
    pair: tuple[Law, Law] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        nonnegative("mu", self.mu)

    @property
    def method(self) -> str:
        """How answers are computed."""
        return "closed form: a Gaussian shift, whose loss is Gaussian; compositions add mu^2"

    def delta_bounds(self, epsilon: ArrayLike) -> Bounds:
        """The closed form, without cancellation in the tail, widened by its rounding error."""
        eps = np.asarray(epsilon, dtype=float)
        if self.mu == 0:
            return widen(np.maximum(-np.expm1(np.minimum(eps, 0)), 0), np.where(eps < 0, ULP, 0.0))
        if self.mu > _NO_NOISE:  # the square of mu is no double
            half = np.where(eps < math.inf, 0.5, 0.0)
            return widen(half, half)
        with np.errstate(over="ignore"):
            ratio = np.clip(eps / self.mu, -1e150, 1e150)  # so that its square is a double
        a, b = self.mu / 2 - ratio, -self.mu / 2 - ratio
        # e^eps phi(b) = phi(a): in the tail, and where e^eps is no double, both terms share e^{-a^2/2}.
        bell, in_tail = np.exp(-0.5 * a * a) / 2, a < 0
        large = bell * special.erfcx(np.maximum(-b, 0) / math.sqrt(2))
        other = np.where(eps > 600, large, np.exp(np.minimum(eps, 600)) * special.ndtr(b))
        near = special.ndtr(a) - other
        drop, size = _erfcx_drop(np.maximum(-a, 0) / math.sqrt(2), self.mu / math.sqrt(2))
        value = np.where(in_tail, bell * drop, near)
        rounding = np.where(in_tail, bell * (size + (2 * a * a + np.abs(eps)) * drop), 1 + np.abs(eps))
        return widen(value, 8 * ULP * rounding + np.finfo(float).smallest_subnormal)  # never claims 0

    def _invert(self, target: float) -> tuple[float, float]:
        return super()._invert(target) if self.mu <= _NO_NOISE else (0.0, math.inf)

    def log_moment(self, z: ArrayLike) -> Any:
        """z(z+1) mu^2/2."""
        z = np.asarray(z)
        return z * (z + 1) * (self.mu * self.mu / 2)

    def tail(self, loss: ArrayLike) -> Any:
        """The tail of N(mu^2/2, mu^2)."""
        if self.mu == 0:
            return (np.asarray(loss, dtype=float) < 0).astype(float)
        return special.ndtr(self.mu / 2 - np.asarray(loss, dtype=float) / self.mu)

    def kl(self) -> float:
        """mu^2/2."""
        return self.mu * self.mu / 2

    def max_divergence(self) -> float:
        """Infinite: a Gaussian tail has no bounded ratio."""
        return math.inf if self.mu else 0.0

    def tradeoff(self, fpr: ArrayLike) -> Any:
        """Phi(Phi^-1(1 - fpr) - mu), rounded down."""
        level = -special.ndtri(probability("fpr", fpr))
        off = 8 * ULP * (1 + np.abs(level) + self.mu)
        with np.errstate(invalid="ignore"):  # at 0 and 1 the level is infinite, and the rate known
            rate = special.ndtr(level - self.mu - off) * (1 - 16 * ULP)
        return np.where(np.isinf(level), (level > 0) * 1.0, rate)[()]

    def reversed(self) -> GaussianLoss:
        """The same by symmetry."""
        return GaussianLoss(self.mu, self.pair and self.pair[::-1])

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Any:
        """Draws from N(mu^2/2, mu^2)."""
        return self.mu * self.mu / 2 + self.mu * rng.standard_normal(size)


@dataclass(frozen=True)
class LaplaceLoss(PrivacyLoss):
    """Two Laplace laws of one scale, `shift` scales apart: |L| <= shift, with an atom at each end.

    delta(eps) = 1 - e^{(eps - shift)/2} for |eps| <= shift.

    >>> round(LaplaceLoss(1.0).total_variation(), 6)  # 1 - e^{-1/2}
    0.393469
    """

    shift: float
    pair: tuple[Law, Law] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        nonnegative("shift", self.shift)

    @property
    def method(self) -> str:
        """How answers are computed."""
        return "closed form: a Laplace shift, whose loss is bounded with an atom at each end"

    def delta_bounds(self, epsilon: ArrayLike) -> Bounds:
        """The closed form, widened by its rounding error."""
        eps = np.asarray(epsilon, dtype=float)
        # Left of -shift every outcome counts: delta = 1 - e^eps.
        exponent = np.where(eps <= -self.shift, eps, np.minimum((eps - self.shift) / 2, 0))
        value = -np.expm1(exponent)
        return widen(value, np.where(exponent < 0, 4 * ULP * (1 + np.abs(eps) + self.shift), 0.0))

    def log_moment(self, z: ArrayLike) -> Any:
        """ln of e^{-s/2} [cosh(ws) + sinh(ws)/(2w)], w = z + 1/2, s the shift."""
        w = np.asarray(z) + 0.5
        w = np.where(np.real(w) < 0, -w, w)  # the bracket is even in w
        s = self.shift
        decay = np.exp(-2 * w * s)
        near_zero = np.abs(w * s) < 1e-8
        safe = np.where(near_zero, 1.0, w)
        spread = np.where(near_zero, s / 2, -np.expm1(-2 * safe * s) / (4 * safe))
        return w * s - s / 2 + np.log((1 + decay) / 2 + spread)

    def tail(self, loss: ArrayLike) -> Any:
        """1 - e^{-(shift - loss)/2}/2 inside (-shift, shift)."""
        loss = np.asarray(loss, dtype=float)
        inside = 1 - 0.5 * np.exp(-np.maximum(self.shift - loss, 0) / 2)
        return np.where(loss < -self.shift, 1.0, np.where(loss < self.shift, inside, 0.0))[()]

    def kl(self) -> float:
        """shift - 1 + e^-shift."""
        return self.shift + math.expm1(-self.shift)

    def max_divergence(self) -> float:
        """The shift."""
        return self.shift

    def tradeoff(self, fpr: ArrayLike) -> Any:
        """Two lines and a hyperbola between them, rounded down."""
        x = np.asarray(probability("fpr", fpr), dtype=float)
        odds = math.exp(-self.shift) * (1 - 4 * ULP)  # the larger the shift, the lower the curve
        if odds < 1e-300:
            return np.where(x > 0, 0.0, 1.0)[()]
        left, middle, right = 1 - x / odds, odds / (4 * np.maximum(x, odds / 2)), odds * (1 - x)
        rate = np.where(x < odds / 2, left, np.where(x <= 0.5, middle, right)) * (1 - 4 * ULP)
        return np.where(x > 0, rate, 1.0)[()]

    def reversed(self) -> LaplaceLoss:
        """The same by symmetry."""
        return LaplaceLoss(self.shift, self.pair and self.pair[::-1])

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Any:
        """Draws of |Y - shift| - |Y| for a standard Laplace Y."""
        y = rng.laplace(size=size)
        return np.abs(y - self.shift) - np.abs(y)


def _erfcx_drop(x: Any, step: float) -> tuple[Any, Any]:
    """erfcx(x) - erfcx(x + step), and the size of the terms that were subtracted.

    A small step is integrated instead: the derivative 2x erfcx(x) - 2/sqrt(pi) loses only about x^2 ulps.
    """
    first, second = special.erfcx(x), special.erfcx(x + step)
    drop, size = first - second, first + second
    small = 2 * min(step, 1.0) * x < 1
    if step < 0.5 and np.any(small):
        nodes, weights = _gauss()
        t = np.asarray(x)[..., None] + step * (nodes + 1) / 2
        slope, root = 2 * t * special.erfcx(t), 2 / math.sqrt(math.pi)
        drop = np.where(small, ((root - slope) * weights).sum(-1) * step / 2, drop)
        size = np.where(small, 2 * root * step, size)
    return drop, size


@cache
def _gauss() -> tuple[Any, Any]:
    return np.polynomial.legendre.leggauss(10)
