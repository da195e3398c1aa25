"""Poisson subsampling of the Gaussian mechanism: one release of DP-SGD.

Every record is taken with probability `rate`, the sum released with noise of `sigma` sensitivities.
Adding or removing one record compares the mixture (1 - rate) N(0, sigma^2) + rate N(1, sigma^2) with
N(0, sigma^2); with rho(x) the ratio of their densities,

    rho(x) = 1 - rate + rate e^u,   u = (2x - 1)/(2 sigma^2),   L = ln rho (removed) or -ln rho (added).

The loss rises in x, so {L > eps} is a half-line, and one release is a Gaussian mechanism in disguise:
delta(eps) = rate * delta_Gauss(ln(1 + (e^eps - 1)/rate))   (Balle, Barthe and Gaboardi, NeurIPS 2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import positive, reject
from dpcourse.laws import Gaussian, Law, Mixture
from dpcourse.loss.base import Bounds, PrivacyLoss, widen
from dpcourse.loss.powers import Powers
from dpcourse.loss.shifts import GaussianLoss
from dpcourse.loss.solve import ULP

_LEAST: Final = 1e-2  # a sigma, in sensitivities


@dataclass(frozen=True)
class SubsampledGaussianLoss(PrivacyLoss):
    """One Poisson-subsampled Gaussian release, for a record that is removed (P has it) or added (Q has it).

    >>> loss = SubsampledGaussianLoss(rate=0.01, sigma=1.0)
    >>> low, high = (1000 * loss).epsilon_bounds(1e-6)
    >>> f"{high:.9f}"
    '2.124515171'
    """

    rate: float
    sigma: float
    removed: bool = True
    pair: tuple[Law, Law] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not positive("sigma", self.sigma) >= _LEAST:
            fix = "add more noise: as little as this hides nothing."
            reject("sigma", self.sigma, f"at least {_LEAST}", fix)
        if not 0 < self.rate < 1:
            fix = "use GaussianLoss(1 / sigma) for rate 1; rate 0 releases nothing."
            reject("rate", self.rate, "strictly between 0 and 1", fix)

    @property
    def method(self) -> str:
        """How answers are computed."""
        return "closed form: a subsampled Gaussian release is a Gaussian one at another epsilon"

    @property
    def _gauss(self) -> GaussianLoss:
        return GaussianLoss(1 / self.sigma)

    def _crossing(self, loss: Any) -> Any:
        """u where L = loss: ln(1 + (e^{ln rho} - 1)/rate), -inf where rho never falls so low."""
        log_rho = loss if self.removed else -loss
        with np.errstate(divide="ignore", over="ignore"):
            usual = np.log1p(np.maximum(np.expm1(np.clip(log_rho, -700.0, 30.0)) / self.rate, -1.0))
            large = (
                log_rho - math.log(self.rate) + np.log1p((self.rate - 1) * np.exp(-np.maximum(log_rho, 30.0)))
            )
        return np.where(log_rho > 30, large, usual)

    def delta_bounds(self, epsilon: ArrayLike) -> Bounds:
        """The Gaussian delta at the crossing, scaled; an error of u counts by the slope there."""
        eps = np.asarray(epsilon, dtype=float)
        u = self._crossing(eps)
        crosses = u > -700
        u = np.where(crosses, u, 0.0)
        v, factor, off = (
            (u, self.rate, ULP * self.rate)
            if self.removed
            else (-u, -np.expm1(np.minimum(eps, 700.0) + math.log1p(-self.rate)), ULP * (2 + np.abs(eps)))
        )
        low, high = self._gauss.delta_bounds(v)
        log_tail = special.log_ndtr(-0.5 / self.sigma - v * self.sigma)  # of the Gaussian Q[L > v]
        drift = (4 + np.abs(u) + 2 * np.abs(np.expm1(-u))) * np.exp(v + log_tail)
        error = ULP * np.abs(factor) * drift + off * high + 5e-324  # never claims 0
        never = -np.expm1(np.minimum(eps, 0.0)) if self.removed else 0.0
        low, high = (
            np.where(crosses, factor * low - error, never),
            np.where(crosses, factor * high + error, never),
        )
        return widen(low, ULP * low)[0], widen(high, ULP * high)[1]

    def tail(self, loss: ArrayLike) -> Any:
        """P[L > loss], two normal tails."""
        x = self.sigma * self._crossing(np.asarray(loss, dtype=float)) + 0.5 / self.sigma  # x / sigma
        if not self.removed:
            return special.ndtr(x)
        return (1 - self.rate) * special.ndtr(-x) + self.rate * special.ndtr(1 / self.sigma - x)

    @cached_property
    def powers(self) -> Powers:
        """The moments of rho."""
        return Powers(self.rate, self.sigma)

    def exponent(self, z: Any) -> Any:
        """The y with E_P[e^{zL}] = E_Q[rho^y] (removed) or E_P[rho^y] (added): both laws N(0, sigma^2)."""
        return z + 1 if self.removed else -z

    def moment(self, z: Any) -> Any:
        """ln E_P[e^{zL}] for an array of real z, or of complex ones on one line Re z = c, Im z >= 0."""
        if not np.iscomplexobj(z):
            return self.powers.log_mean(self.exponent(z))
        y = float(self.exponent(z[0].real))
        turned = self.powers.turned(y, z.imag)
        return self.powers.log_mean(np.array([y])) + (turned if self.removed else turned.conj())

    def log_moment(self, z: ArrayLike) -> Any:
        """ln of the integral of the normal density times rho^y, y = z + 1 (removed) or -z (added)."""
        z = np.asarray(z)
        if not np.iscomplexobj(z):
            return self.moment(np.ravel(z).astype(float)).reshape(z.shape)[()]
        upper = np.where(z.imag < 0, z.conj(), z)
        found = np.array([self.moment(v[None])[0] for v in np.ravel(upper)]).reshape(z.shape)
        return np.where(z.imag < 0, found.conj(), found)[()]

    def kl(self) -> float:
        """E_P[L], by the trapezoid rule."""
        log_phi, log_rho, step = self.powers.grid(1.0)
        weight = np.exp(log_phi + (log_rho if self.removed else 0.0))
        return max(0.0, float(step * (weight @ log_rho)) * (1 if self.removed else -1))

    def max_divergence(self) -> float:
        """-ln(1 - rate) for an added record, infinite for a removed one."""
        return math.inf if self.removed else -math.log1p(-self.rate)

    def reversed(self) -> SubsampledGaussianLoss:
        """The same record, added instead of removed."""
        return SubsampledGaussianLoss(self.rate, self.sigma, not self.removed, self.pair and self.pair[::-1])

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Any:
        """Draws of ln rho or -ln rho."""
        x: Any = self.sigma * rng.standard_normal(size)
        if self.removed:
            x = x + (rng.random(size) < self.rate)
        log_rho = np.log1p(self.rate * np.expm1((2 * x - 1) / (2 * self.sigma**2)))
        return log_rho if self.removed else -log_rho


def recognise(p: Law, q: Law) -> PrivacyLoss | None:
    """The loss of a mixture of two Gaussians against one of them, or None."""
    mixture, plain = (p, q) if isinstance(p, Mixture) else (q, p)
    if not isinstance(mixture, Mixture) or not isinstance(plain, Gaussian) or len(mixture.parts) != 2:
        return None
    weighted: Any = list(zip(mixture.parts, mixture.weights, strict=True))
    if not all(isinstance(g, Gaussian) and g.scale == plain.scale for g, _ in weighted):
        return None
    (same, _), (other, rate) = sorted(weighted, key=lambda part: part[0].loc != plain.loc)
    if same.loc != plain.loc or other.loc == plain.loc or not 0 < rate < 1:
        return None
    return SubsampledGaussianLoss(float(rate), plain.scale / abs(other.loc - plain.loc), mixture is p, (p, q))
