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
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import Floats, positive, reject
from dpcourse.laws import Gaussian, Law, Mixture
from dpcourse.loss.base import Bounds, PrivacyLoss, widen
from dpcourse.loss.logs import log_sum_exp
from dpcourse.loss.methods.factors import log1p
from dpcourse.loss.shifts import GaussianLoss
from dpcourse.loss.solve import ULP

_THETA: Final = np.linspace(0.3, 3.0, 28)  # angles of which `grid` takes the best
_LEAST: Final = 1e-2  # a sigma, in sensitivities
_MOST: Final = 2**20  # nodes, or entries of a table of them


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

    def log_moment(self, z: ArrayLike) -> Any:
        """ln of the integral of the normal density times rho^y, y = z + 1 (removed) or -z (added)."""
        z = np.asarray(z)
        if not np.iscomplexobj(z):
            return moment(self, np.ravel(z), None).reshape(z.shape)[()]
        return np.array([moment(self, v.real, v.imag[None])[0] for v in np.ravel(z)]).reshape(z.shape)[()]

    def kl(self) -> float:
        """E_P[L], by the trapezoid rule."""
        _, log_phi, log_rho, step = grid(self, 1.0, 0.0)
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


def _step_and_reach(leaf: SubsampledGaussianLoss, y: float, t: float, digits: float) -> tuple[float, float]:
    """The step of `grid`, and how far its nodes go beyond 0 and y."""
    v = leaf.sigma**2
    need = digits + _THETA**2 * v / 2 + _THETA * t + min(y, 0.0) * np.log(np.cos(_THETA / 2))
    reach = leaf.sigma * math.sqrt(2 * (digits + 3 + 0.7 * abs(y) - abs(y) * math.log1p(-leaf.rate)))
    return float(np.max(2 * np.pi * _THETA * v / need)), reach


def grid(
    leaf: SubsampledGaussianLoss, y: float, t: float, digits: float = 44.0
) -> tuple[Any, Any, Any, float]:
    """Nodes x, ln of the normal density, ln rho, and the step of a trapezoid rule good to e^-digits.

    The integrand phi rho^{y+it} is analytic for |Im x| < pi sigma^2. On Im x = theta sigma^2, |phi|
    grows by e^{theta^2 sigma^2/2}, |arg rho| <= theta, and rho cos(theta/2) <= |rho(x + i theta
    sigma^2)| <= rho(x), so step h errs by at most 2 e^{-2 pi theta sigma^2/h + theta^2 sigma^2/2 + theta
    t} cos(theta/2)^{min(y,0)} of the integral at t = 0. The range leaves out less than e^-digits: rho <=
    2 max(1 - rate, rate e^u), hence Gaussian tails around 0 and around max(y, 0).
    """
    v = leaf.sigma**2
    step, reach = _step_and_reach(leaf, y, t, digits)
    x = step * np.arange(math.floor(-reach / step), math.ceil((max(y, 0.0) + reach) / step) + 1)
    log_phi = -x * x / (2 * v) - math.log(leaf.sigma * math.sqrt(2 * math.pi))
    log_rho = np.logaddexp(math.log1p(-leaf.rate), math.log(leaf.rate) + (2 * x - 1) / (2 * v))
    near = np.abs(2 * x - 1) < v
    log_rho[near] = np.log1p(leaf.rate * np.expm1((2 * x[near] - 1) / (2 * v)))
    return x, log_phi, log_rho, step


def nodes(leaf: SubsampledGaussianLoss, c: float) -> float:
    """About how many nodes the trapezoid rule takes for M(c)."""
    y = c + 1 if leaf.removed else -c
    step, reach = _step_and_reach(leaf, y, 0.0, 44.0)
    return (max(y, 0.0) + 2 * reach) / step


def moment(leaf: SubsampledGaussianLoss, c: Any, t: Floats | None) -> Any:
    """ln M(c) for an array of c, or ln M(c + it) for one c, from M - 1 so that it keeps its digits.

    Infinite for a real c that needs more than 2^16 nodes: an upper bound, far above any c of interest.
    """
    if t is None:
        most = max(nodes(leaf, float(np.min(c))), nodes(leaf, float(np.max(c))))
        if np.size(c) > 1 and most * len(c) > _MOST:  # each with a rule of its own
            return np.concatenate([moment(leaf, one, None) for one in np.split(c, len(c))])
        if most > _MOST / 16 + 4 * nodes(leaf, 0.0):
            return np.full(np.shape(c), math.inf)
    y, sign = (np.asarray(c) + 1, 1.0) if leaf.removed else (-np.asarray(c), -1.0)
    farthest = float(np.ravel(y)[np.argmax(np.abs(y))])
    _, log_phi, log_rho, step = grid(leaf, farthest, 0.0 if t is None else float(np.abs(t).max()))
    a = np.multiply.outer(y, log_rho)
    with np.errstate(over="ignore"):
        weight, phi = np.exp(log_phi + a), np.exp(log_phi)
        excess = step * np.where(a < 1, phi * np.expm1(np.minimum(a, 1.0)), weight - phi).sum(-1)
        if t is None:  # a large moment may exceed every double, its logarithm does not
            return np.where(excess < 1e100, np.log1p(excess), math.log(step) + log_sum_exp(log_phi + a))
    half = np.multiply.outer(sign * t / 2, log_rho)
    s, co = np.sin(half), np.cos(half)
    return log1p(excess - 2 * step * ((s * s) @ weight) + 2j * step * ((s * co) @ weight))
