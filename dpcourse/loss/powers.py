"""E[rho^y], the moments of a subsampled Gaussian loss: on the real line, and on one that is moved off it.

With x ~ N(0, sigma^2), u = (2x - 1)/(2 sigma^2) and rho = 1 - rate + rate e^u, a loss that is ln rho or
-ln rho has the moments E[rho^y], y real or complex. For y + it the integrand phi rho^{y+it} oscillates, the
faster the larger t > 0 is. But it is analytic for |Im x| < pi sigma^2, so it may be integrated along Im x =
theta sigma^2 (Cauchy). There e^u is turned by theta, arg rho lies between 0 and theta, and the modulus

    |phi rho^{y+it}| = phi(x) e^{theta^2 sigma^2/2} |rho|^y e^{-t arg rho}

falls with t at every x. Two things follow, for all t at once:

- The trapezoid rule with step h on that line errs by at most (W(0) + W(2 theta))/(e^{2 pi theta
  sigma^2/h} - 1), W(theta) the integral of the modulus at t = 0: a few hundred nodes, however large t is.
- For all s >= t, |E[rho^{y+is}]| is at most the integral of the modulus at t along this line, or along any
  path x + i theta(x) sigma^2. A good one has theta of the order of t d ln rho/dx.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.logs import expm1, log1p, log_sum_exp

_DIGITS: Final = 44.0  # natural ones: e^-44 is far below an ulp
_ANGLES: Final = np.concatenate([np.geomspace(0.01, 0.2, 6), np.linspace(0.3, 1.5, 13)])
_LOG_COS: Final = np.log(np.cos(_ANGLES))
_PATHS: Final = np.array([[0.1], [0.4], [1.2], [2.0]])  # angles that a bound tries, one a row
_FREEDOM: Final = 2.0  # how much larger than their sum the terms on a moved line may be
_MOST: Final = 2**20  # nodes, or entries of a table of them
_LONG: Final = 64  # values of t that are worth two levels of powers


@dataclass(frozen=True)
class Powers:
    """The moments for one rate and sigma.

    >>> some = Powers(0.01, 1.0)
    >>> [f"{value:.6f}" for value in some.log_mean(np.array([2.0, 10.0]))]
    ['0.000172', '0.344434']
    >>> f"{some.turned(10.0, np.array([50.0]))[0].real:.4f}", some.decay(10.0, 50.0) < -0.46
    ('-0.4898', True)
    """

    rate: float
    sigma: float
    _profiles: dict[float, Profile] = field(default_factory=dict, repr=False, compare=False)

    def _reach(self, y: float) -> float:
        """How far phi rho^y counts beyond 0 and y: as rho <= 2 max(1 - rate, rate e^u), like a Gaussian."""
        needed = _DIGITS + 3 + 0.7 * max(y, 0.0) - abs(y) * math.log1p(-self.rate)
        return self.sigma * math.sqrt(2 * needed)

    def _nodes(self, y: float, step: float, last: float = 0.0) -> Any:
        """Multiples of the step, that far, or to `last`."""
        reach = self._reach(y)
        last = max(last, max(y, 0.0) + reach)
        return step * np.arange(math.floor(-reach / step), math.ceil(last / step) + 1)

    def _logs(self, x: Any) -> tuple[Any, Any]:
        """ln phi and ln rho for real and complex x, with the digits of rho - 1."""
        v = self.sigma**2
        u = (2 * x - 1) / (2 * v)
        large = u.real > 30
        near, far = np.where(large, 0.0, u), np.where(large, u, 30.0)
        beyond = math.log(self.rate) + far + log1p((1 - self.rate) / self.rate * np.exp(-far))
        log_phi = -x * x / (2 * v) - math.log(self.sigma * math.sqrt(2 * math.pi))
        return log_phi, np.where(large, beyond, log1p(self.rate * expm1(near)))

    # Real powers --------------------------------------------------------------------------------

    def _step(self, y: float) -> float:
        """The step on the real line: for 2 theta both ways, rho cos(theta) <= |rho(x + 2i theta sigma^2)|."""
        v = self.sigma**2
        need = (_DIGITS + min(y, 0.0) * _LOG_COS) / _ANGLES + 2 * v * _ANGLES
        return 4 * math.pi * v / float(need.min())

    def count(self, y: float) -> float:
        """About how many nodes a real power takes."""
        return (max(y, 0.0) + 2 * self._reach(y)) / self._step(y)

    def grid(self, y: float) -> tuple[Floats, Floats, float]:
        """ln phi and ln rho at the nodes for real powers between 0 and y, and the step."""
        step = self._step(y)
        return *self._logs(self._nodes(y, step)), step

    def log_mean(self, y: Floats) -> Any:
        """ln E[rho^y] for an array of real y, from E - 1 so that it keeps its digits.

        Infinite where it needs more than 2^16 nodes: an upper bound, far above any y of interest.
        """
        most = max(self.count(float(np.min(y))), self.count(float(np.max(y))))
        if len(y) > 1 and most * len(y) > _MOST:  # each with a rule of its own
            return np.concatenate([self.log_mean(one) for one in np.split(y, len(y))])
        if most > _MOST / 16 + 4 * self.count(0.0):
            return np.full(len(y), math.inf)
        log_phi, log_rho, step = self.grid(float(y[np.argmax(np.abs(y))]))
        a = np.multiply.outer(y, log_rho)
        with np.errstate(over="ignore"):
            weight, phi = np.exp(log_phi + a), np.exp(log_phi)
            excess = step * np.where(a < 1, phi * np.expm1(np.minimum(a, 1.0)), weight - phi).sum(-1)
        # A large moment may exceed every double, its logarithm does not.
        return np.where(excess < 1e100, np.log1p(excess), math.log(step) + log_sum_exp(log_phi + a))

    # Complex powers -----------------------------------------------------------------------------

    def turned(self, y: float, t: Floats) -> Any:
        """ln E[rho^{y+it}] - ln E[rho^y] for t >= 0, from the weighted mean of e^{it ln rho} - 1."""
        weight, log_rho = self._moved(y)
        if len(t) < _LONG or np.ptp(np.diff(t)) > 1e-9 * t[-1] / len(t):
            some = np.array_split(t, len(t) * len(weight) // _MOST + 1)
            return log1p(np.concatenate([expm1(1j * np.multiply.outer(s, log_rho)) @ weight for s in some]))
        # Equal steps, two levels: e^{a+b} - 1 = (e^a - 1)(e^b - 1) + (e^a - 1) + (e^b - 1).
        n = math.isqrt(len(t)) + 1
        a, b = (expm1(1j * np.multiply.outer(s, log_rho)) for s in (t[::n], t[:n] - t[0]))
        means = (a * weight) @ b.T + (a @ weight)[:, None] + b @ weight
        return log1p(means.ravel()[: len(t)])

    def decay(self, y: float, t: float) -> float:
        """A bound on ln |E[rho^{y+is}]| - ln E[rho^y] for all s >= t: the best of some lines and paths."""
        profile, most = self._profile(y), _PATHS / max(1.0, self.sigma)
        pull = t * profile.share / ((1 + self.sigma**2) * most)
        turn = np.tanh(pull)
        bend = most * pull * (1 - profile.share) * (1 - turn * turn)
        lines, straight = np.broadcast_to(most, turn.shape), np.zeros(turn.shape)
        sizes = profile.log_size(np.vstack([lines, most * turn]), t, np.vstack([straight, bend]))
        return min(0.0, float(sizes.min()))

    def _profile(self, y: float) -> Profile:
        """phi rho^y on the real line; kept, for many t."""
        if y not in self._profiles:
            v = self.sigma**2
            # Where rate e^u is near 1, rho may be near 0 beyond theta = pi/2, and rho^y large if y < 0.
            last = 0.5 + v * (2 - math.log(self.rate)) if y < 0 and self.sigma < 2 else 0.0
            # Its integrals are analytic as far as sigma and sigma^2 go: these nodes give 13 digits.
            x = self._nodes(y, min(self.sigma / 5, v / 4), last)
            log_phi, log_rho = self._logs(x)
            size = log_phi + y * log_rho
            if y >= 0:  # then |rho|^y is largest on the real line: what is nothing there is nothing elsewhere
                some = size > size.max() - _DIGITS
                x, log_rho, size = x[some], log_rho[some], size[some]
            share = np.exp(math.log(self.rate) + (2 * x - 1) / (2 * v) - log_rho)
            self._profiles[y] = Profile(self.sigma, y, size - log_sum_exp(size), share)
        return self._profiles[y]

    def _moved(self, y: float) -> tuple[Any, Any]:
        """phi rho^y on a moved line, as shares of its sum, and ln rho: the line with the widest steps."""
        v, profile, angles = self.sigma**2, self._profile(y), _ANGLES / max(1.0, self.sigma)
        here, twice = (profile.log_size(angle[:, None]) for angle in (angles, 2 * angles))
        steps = 2 * math.pi * angles * v / (_DIGITS + np.logaddexp(0.0, twice))
        best = int(np.argmax(np.where(here < math.log(_FREEDOM), steps, 0.0)))
        log_phi, log_rho = self._logs(self._nodes(y, float(steps[best])) + 1j * float(angles[best]) * v)
        size = log_phi + y * log_rho
        some = size.real > size.real.max() - _DIGITS
        weight = np.exp(size[some] - size.real.max())
        return weight / weight.sum(), log_rho[some]


@dataclass(frozen=True)
class Profile:
    """phi rho^y on the real line, as shares of E[rho^y], and the share of rate e^u in rho."""

    sigma: float
    y: float
    log_mass: Floats
    share: Floats

    @cached_property
    def mass(self) -> Floats:
        """The shares themselves, as far as they are doubles."""
        mass: Floats = np.exp(self.log_mass)
        return mass

    def log_size(self, theta: Any, t: float = 0.0, bend: Any = 0.0) -> Any:
        """ln of the integral of the modulus along x + i theta(x) sigma^2, for each row of theta, rounded up.

        `bend` is sigma^2 d theta/dx, by which a path is longer than a line.
        """
        # rho on the path over rho(x) is 1 - share + share e^{i theta}: its argument, and its modulus squared.
        half = np.square(np.sin(theta / 2))
        turn = np.arctan2(self.share * np.sin(theta), 1 - 2 * self.share * half)
        square = np.log1p(-4 * self.share * (1 - self.share) * half)
        size = (np.square(self.sigma * theta) + self.y * square + np.log1p(bend * bend)) / 2 - t * turn
        grown = np.expm1(np.minimum(size, 1.0)) @ self.mass
        if (large := size > 1).any():  # a mass may be below every double, and its product with e^size not
            with np.errstate(over="ignore"):
                grown += np.exp(np.where(large, self.log_mass + size, -np.inf)).sum(-1)
        return (
            np.log1p(np.maximum(grown, -1.0) + 1e-12) + 1e-12
        )  # the sum has 13 digits, also where it is small
