"""Laws on the integers: the discrete Laplace (two-sided geometric) and the discrete Gaussian.

Their samplers are exact (see `exact`): no floating-point rounding decides an outcome, so the attack
of Mironov (CCS 2012) on the low bits of noisy answers has nothing to work with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import Floats, numeric, positive, reject
from dpcourse.laws import exact
from dpcourse.laws.base import Law, Size, shape_of


@dataclass(frozen=True, eq=False)
class IntegerLaw(Law):
    """A law on the integers, symmetric about the integer `loc`."""

    loc: Any = 0
    scale: Any = 1.0

    discrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        loc = numeric("loc", self.loc)
        if np.any(loc != np.round(loc)):
            fix = "round the query's answer first; rounding a fixed function of the data is free."
            reject("loc", self.loc, "whole: the law lives on the integers", fix)
        whole = loc.astype(np.int64)
        object.__setattr__(self, "loc", whole if whole.ndim else int(whole))
        object.__setattr__(self, "scale", positive("scale", self.scale))

    def _exact(self, sampler: Callable[..., Any], rng: Any, size: Size) -> Any:
        """Noise of one scale at a time, by the exact sampler, moved to loc."""
        shape = shape_of(size) + self.batch_shape
        if np.ndim(self.scale) == 0:
            return (self.loc + sampler(rng, self.scale, shape))[()]
        scales = np.broadcast_to(self.scale, shape)
        noise = np.empty(shape, dtype=np.int64)
        for scale in np.unique(scales):
            here = scales == scale
            noise[here] = sampler(rng, float(scale), int(here.sum()))
        return self.loc + noise

    def _x(self, y: ArrayLike) -> tuple[Floats, Any]:
        """The distance from loc, and whether y is an integer at all."""
        y = np.asarray(y, dtype=float)
        return np.abs(y - self.loc), y == np.round(y)

    def mean(self) -> Any:
        """loc, by symmetry."""
        return self.loc + np.zeros(self.batch_shape)


@dataclass(frozen=True, eq=False)
class DiscreteLaplace(IntegerLaw):
    r"""Pr[y] = \((1-q)/(1+q)\, q^{|y-loc|}\), q = e^{-1/scale}: the geometric mechanism's law.

    Ghosh, Roughgarden and Sundararajan, STOC 2009.

    >>> round(float(DiscreteLaplace(0, 1).prob(0)), 12)  # tanh(1/2)
    0.46211715726
    """

    def sample(self, rng: Any, size: Size = None) -> Any:
        """Exact draws; `rng` is a numpy Generator or `laws.SystemRandomness()`."""
        return self._exact(exact.discrete_laplace, rng, size)

    def log_prob(self, y: ArrayLike) -> Any:
        """ln tanh(1/(2 scale)) - |y - loc|/scale on the integers, -inf elsewhere."""
        distance, whole = self._x(y)
        top = np.log(np.tanh(0.5 / np.asarray(self.scale)))
        return np.where(whole, top - distance / self.scale, -np.inf)[()]

    def cdf(self, y: ArrayLike) -> Any:
        """q^-x/(1+q) to the left of loc, 1 - q^{x+1}/(1+q) from loc on (x = floor(y) - loc)."""
        x = np.floor(np.asarray(y, dtype=float)) - self.loc
        q = np.exp(-1 / np.asarray(self.scale))
        tail = np.exp(-np.where(x < 0, -x, x + 1) / self.scale) / (1 + q)
        return np.where(x < 0, tail, 1 - tail)[()]

    def variance(self) -> Any:
        """2q/(1-q)^2 = 1/(2 sinh^2(1/(2 scale)))."""
        return 0.5 / np.square(np.sinh(0.5 / np.asarray(self.scale))) + np.zeros(self.batch_shape)

    @property
    def formula(self) -> str:
        """The probability in LaTeX."""
        return r"\frac{1-q}{1+q}\,q^{|y-\mu|},\ q=e^{-1/b}"


@dataclass(frozen=True, eq=False)
class DiscreteGaussian(IntegerLaw):
    r"""Pr[y] proportional to \(e^{-(y-loc)^2/(2 scale^2)}\) on the integers.

    Canonne, Kamath and Steinke, NeurIPS 2020. `scale` is the parameter sigma; the variance is a
    little smaller than its square.

    >>> round(float(DiscreteGaussian(0, 1).variance()), 10)
    0.9999997888
    """

    def sample(self, rng: Any, size: Size = None) -> Any:
        """Exact draws; `rng` is a numpy Generator or `laws.SystemRandomness()`."""
        return self._exact(exact.discrete_gaussian, rng, size)

    def log_prob(self, y: ArrayLike) -> Any:
        """-(y - loc)^2/(2 scale^2) - ln(normaliser) on the integers, -inf elsewhere."""
        distance, whole = self._x(y)
        log_mass = -0.5 * np.square(distance / self.scale) - np.log(self.normaliser())
        return np.where(whole, log_mass, -np.inf)[()]

    def cdf(self, y: ArrayLike) -> Any:
        """Pr[Y <= y], by direct summation (by Euler-Maclaurin where sigma exceeds 100)."""
        x, sigma = np.broadcast_arrays(np.floor(np.asarray(y, dtype=float)) - self.loc, self.scale)
        each, back = np.unique(np.stack([x.ravel(), sigma.ravel()]), axis=1, return_inverse=True)
        below = np.array([_gaussian_cdf(*pair) for pair in each.T.tolist()])
        return np.clip(below[back], 0, 1).reshape(x.shape)[()]

    def normaliser(self) -> Any:
        r"""\(\sum_x e^{-x^2/(2\sigma^2)}\), by Poisson's summation where sigma is not small."""
        return _theta_sums(self.scale)[0]

    def variance(self) -> Any:
        """sigma^2 less a correction that vanishes like e^{-2 pi^2 sigma^2}."""
        return _theta_sums(self.scale)[1] + np.zeros(self.batch_shape)

    @property
    def formula(self) -> str:
        """The probability in LaTeX."""
        return r"\propto e^{-(y-\mu)^2/2\sigma^2},\ y\in\mathbb{Z}"


def _theta_sums(scale: Any) -> tuple[Any, Any]:
    """The normaliser and the variance of the discrete Gaussian."""
    sigma = np.asarray(scale, dtype=float)[..., None]
    x = np.arange(1.0, 14.0)
    direct = np.exp(-0.5 * np.square(x / np.minimum(sigma, 1.0)))
    direct_z = 1 + 2 * direct.sum(-1)
    direct_var = 2 * (x**2 * direct).sum(-1) / direct_z
    dual = np.exp(-2 * np.square(np.pi * np.maximum(sigma, 1.0) * x))
    theta, s = 1 + 2 * dual.sum(-1), sigma[..., 0]
    dual_var = s**2 - 8 * np.pi**2 * s**4 * (x**2 * dual).sum(-1) / theta
    small = s < 1
    return (
        np.where(small, direct_z, np.sqrt(2 * np.pi) * s * theta)[()],
        np.where(small, direct_var, dual_var)[()],
    )


def _gaussian_cdf(x: float, sigma: float) -> float:
    """Pr[X <= x] for the discrete Gaussian at 0."""
    if not np.isfinite(x):
        return float(x > 0)
    if x >= 0:  # sum the smaller side: Pr[X <= x] = 1 - Pr[X <= -x-1]
        return 1 - _gaussian_cdf(-x - 1, sigma)
    mass = float(_theta_sums(sigma)[0])
    if sigma <= 100:
        tail = np.arange(0, np.ceil(40 * sigma) + 1) - x
        return float(np.exp(-0.5 * np.square(tail / sigma)).sum()) / mass
    # Midpoint Euler-Maclaurin at x + 1/2; the next term is of order sigma^-6.
    z = (x + 0.5) / sigma
    bell = np.exp(-0.5 * z * z)
    first, third = -z * bell / sigma, (3 * z - z**3) * bell / sigma**3
    integral = np.sqrt(2 * np.pi) * sigma * special.ndtr(z)
    return float(integral - first / 24 + 7 * third / 5760) / mass
