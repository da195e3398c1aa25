"""Laws with a density on the real line, their formulas written out.

A frozen scipy.stats object costs thousands of times more than these few lines; scipy.stats is the
oracle in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import numeric, positive, reject
from dpcourse.laws.base import Law, Size, generator, shape_of


@dataclass(frozen=True, eq=False)
class LocationScale(Law):
    """A fixed shape, moved by `loc` and stretched by `scale`."""

    loc: Any = 0.0
    scale: Any = 1.0

    def __post_init__(self) -> None:
        loc = numeric("loc", self.loc)
        object.__setattr__(self, "loc", loc if loc.ndim else float(loc))
        object.__setattr__(self, "scale", positive("scale", self.scale))

    def _standard(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        raise NotImplementedError

    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """Independent draws: loc + scale * (draws of the standard law)."""
        draws = self._standard(generator(rng), shape_of(size) + self.batch_shape)
        if np.ndim(draws):  # in place: a million games should not allocate twice
            draws *= self.scale
            draws += self.loc
            return draws
        return self.loc + self.scale * draws

    def sf(self, y: ArrayLike) -> Any:
        """Pr[Y > y], the distribution function reflected at the centre of symmetry."""
        return self.cdf(2 * np.asarray(self.loc) - np.asarray(y, dtype=float))

    def _z(self, y: ArrayLike) -> Any:
        return (np.asarray(y, dtype=float) - self.loc) / self.scale

    def mean(self) -> Any:
        """The centre of symmetry."""
        return self.loc + np.zeros(self.batch_shape)


@dataclass(frozen=True, eq=False)
class Laplace(LocationScale):
    r"""Density \(e^{-|y - loc|/scale} / (2 scale)\).

    >>> Laplace(0, 2).prob(0)
    np.float64(0.25)
    """

    def _standard(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        # An exponential with a random sign: more than twice as fast as Generator.laplace.
        magnitude = rng.standard_exponential(shape)
        return np.where(rng.integers(0, 2, shape, dtype=np.bool_), magnitude, -magnitude)

    def log_prob(self, y: ArrayLike) -> Any:
        """-|y - loc|/scale - ln(2 scale)."""
        return -np.abs(self._z(y)) - np.log(2 * np.asarray(self.scale))

    def cdf(self, y: ArrayLike) -> Any:
        """Half of e^z on the left of loc, one minus half of e^-z on the right."""
        z = self._z(y)
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1 - tail)[()]

    def variance(self) -> Any:
        """2 scale^2."""
        return 2 * np.square(self.scale) + np.zeros(self.batch_shape)

    @property
    def formula(self) -> str:
        """The density in LaTeX."""
        return r"\frac{1}{2b}\,e^{-|y-\mu|/b}"


@dataclass(frozen=True, eq=False)
class Gaussian(LocationScale):
    r"""Density \(e^{-(y - loc)^2 / (2 scale^2)} / (scale \sqrt{2\pi})\); scale is the standard deviation.

    >>> Gaussian(0, 2).variance()
    np.float64(4.0)
    """

    def _standard(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.standard_normal(shape)

    def log_prob(self, y: ArrayLike) -> Any:
        """-z^2/2 - ln(scale sqrt(2 pi))."""
        return -0.5 * np.square(self._z(y)) - np.log(np.sqrt(2 * np.pi) * np.asarray(self.scale))

    def cdf(self, y: ArrayLike) -> Any:
        """The normal distribution function."""
        return special.ndtr(self._z(y))

    def variance(self) -> Any:
        """scale^2."""
        return np.square(self.scale) + np.zeros(self.batch_shape)

    @property
    def formula(self) -> str:
        """The density in LaTeX."""
        return r"\frac{1}{\sigma\sqrt{2\pi}}\,e^{-(y-\mu)^2/2\sigma^2}"


@dataclass(frozen=True, eq=False)
class Gumbel(LocationScale):
    """Density e^{-(z + e^-z)}/scale, z = (y - loc)/scale: the noise whose maximum is a softmax.

    >>> round(float(Gumbel(0, 1).mean()), 6)  # Euler's constant
    0.577216
    """

    def _standard(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return -np.log(rng.standard_exponential(shape))

    def log_prob(self, y: ArrayLike) -> Any:
        """-(z + e^-z) - ln scale."""
        z = self._z(y)
        with np.errstate(over="ignore"):  # far to the left the density is exactly 0
            return -(z + np.exp(-z)) - np.log(self.scale)

    def cdf(self, y: ArrayLike) -> Any:
        """e^{-e^-z}."""
        with np.errstate(over="ignore"):
            return np.exp(-np.exp(-self._z(y)))

    def sf(self, y: ArrayLike) -> Any:
        """1 - e^{-e^-z}."""
        with np.errstate(over="ignore"):
            return -np.expm1(-np.exp(-self._z(y)))

    def mean(self) -> Any:
        """loc + scale * Euler's constant."""
        return self.loc + self.scale * np.euler_gamma + np.zeros(self.batch_shape)

    def variance(self) -> Any:
        """(pi scale)^2 / 6."""
        return np.square(np.pi * np.asarray(self.scale)) / 6 + np.zeros(self.batch_shape)

    @property
    def formula(self) -> str:
        """The density in LaTeX."""
        return r"\frac{1}{b}\,e^{-(z+e^{-z})},\ z=(y-\mu)/b"


@dataclass(frozen=True, eq=False)
class GeneralizedCauchy(LocationScale):
    r"""Density proportional to \(1/(1+|z|^p)\), z = (y - loc)/scale, p > 1: noise for smooth sensitivity.

    The tails fall like a power, so stretching the law changes log-densities by a bounded amount;
    this is what Laplace noise lacks (Nissim, Raskhodnikova and Smith, STOC 2007).
    With u = |z|^p/(1+|z|^p), u has the Beta(1/p, 1-1/p) law.

    >>> round(float(GeneralizedCauchy(0, 1, p=2).prob(0)), 6)  # p = 2 is Cauchy's law: 1/pi
    0.31831
    """

    p: Any = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "p", positive("p", self.p))
        if np.any(np.asarray(self.p) <= 1):
            fix = "choose p = 2 (Cauchy) or p = 4 (finite variance)."
            reject("p", self.p, "above 1, or the density has no finite mass", fix)

    def _standard(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        power = 1 / np.asarray(self.p)
        ratio = rng.standard_gamma(power, shape) / rng.standard_gamma(1 - power, shape)
        return np.where(rng.integers(0, 2, shape, dtype=np.bool_), 1.0, -1.0) * ratio**power

    def log_prob(self, y: ArrayLike) -> Any:
        """-ln(1+|z|^p) - ln(2 scale (pi/p)/sin(pi/p))."""
        p = np.asarray(self.p)
        with np.errstate(divide="ignore"):  # at the centre ln|z| = -inf, as it should be
            log_power = p * np.log(np.abs(self._z(y)))
        mass = 2 * np.asarray(self.scale) * (np.pi / p) / np.sin(np.pi / p)
        return -np.logaddexp(0, log_power) - np.log(mass)

    def cdf(self, y: ArrayLike) -> Any:
        """Each tail is I_v(1-1/p, 1/p)/2 at v = 1/(1+|z|^p), I the regularized incomplete beta."""
        z, power = self._z(y), 1 / np.asarray(self.p)
        with np.errstate(divide="ignore"):
            v = special.expit(-np.log(np.abs(z)) / power)
        tail = 0.5 * special.betainc(1 - power, power, v)
        return np.where(z < 0, tail, 1 - tail)[()]

    def mean(self) -> Any:
        """loc, which exists for p > 2 only."""
        return np.where(np.asarray(self.p) > 2, self.loc, np.nan) + np.zeros(self.batch_shape)

    def variance(self) -> Any:
        """scale^2 sin(pi/p)/sin(3 pi/p) for p > 3; infinite below; NaN without a mean (p <= 2)."""
        p = np.asarray(self.p, dtype=float)
        with np.errstate(divide="ignore"):
            ratio = np.sin(np.pi / p) / np.sin(3 * np.pi / p)
        spread = np.where(p > 3, np.square(self.scale) * ratio, np.inf)
        return np.where(p > 2, spread, np.nan) + np.zeros(self.batch_shape)

    def window(self) -> tuple[float, float]:
        """Ten scales on both sides: the tails are too heavy for standard deviations."""
        spread = 10 * float(np.max(self.scale))
        return float(np.mean(self.loc)) - spread, float(np.mean(self.loc)) + spread

    @property
    def formula(self) -> str:
        """The density in LaTeX."""
        return r"\propto \frac{1}{1+|z|^p},\ z=(y-\mu)/b"
