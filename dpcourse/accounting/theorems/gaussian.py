"""Gaussian differential privacy: exact for Gaussian noise, and the limit of everything else.

The central limit theorem says what many small losses look like. It is an approximation, not a bound:
nothing below that comes from it may be promised to anybody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpcourse.accounting.common import Numbers, steps
from dpcourse.errors import delta as check_delta
from dpcourse.errors import positive, probability, reject, whole
from dpcourse.guarantees import GDP
from dpcourse.loss import GaussianLoss, PrivacyLoss


class Limit(NamedTuple):
    """The limiting mu of a composition, and how far the trade-off curve may be from it (both ways)."""

    mu: float
    error: float

    def epsilon(self, delta: float) -> float:
        """What the limit says at delta: an approximation, which may lie below the truth."""
        return GDP(self.mu).epsilon(delta)


def gdp_composition(mu: Numbers, k: int, delta: float) -> float:
    """The epsilon at delta of steps that are mu_i-GDP: together they are sqrt(k sum mu_i^2)-GDP.

    Exact for Gaussian noise (mu = sensitivity/sigma), rounded up (Dong, Roth and Su, JRSS B 2022,
    Corollary 3.3; the conversion to (epsilon, delta) is Balle and Wang, ICML 2018).

    >>> round(gdp_composition(1 / 20, 1000, 1e-6), 9)
    8.306225050
    """
    every = steps(mu, k, name="mu")
    check_delta("delta", delta)
    return float(GaussianLoss(math.sqrt(every.total(lambda m: m * m))).epsilon(delta))


def central_limit(losses: Sequence[tuple[PrivacyLoss, int]]) -> Limit:
    """The central limit theorem of Dong, Roth and Su: an approximation, not a bound.

    For steps with symmetric trade-off curves the composition tends to mu-GDP with

        mu = 2 sum E[L_i] / sqrt(sum Var[L_i]),

    and its curve f obeys G_mu(x + error) - error <= f(x) <= G_mu(x - error) + error for x from error to
    1 - error, if error = 0.56 sum E|L_i - E L_i|^3 / (sum Var L_i)^{3/2} is below 1/2 (Dong, Roth and Su,
    JRSS B 2022, Theorem 3.4, from Berry and Esseen). Here E|.|^3 is bounded by (E|.|^4)^{3/4}. The error is
    far above any useful delta: at small delta nothing stops the limit from being too low.

    >>> limit = central_limit([(GaussianLoss(0.1), 100)])
    >>> round(limit.mu, 9), limit.error > 0.01
    (1.0, True)
    """
    if not isinstance(losses, Sequence) or not losses:
        reject("losses", losses, "a list of at least one (loss, count)", "list the steps.")
    if any(loss.infinite > 0 for loss, _ in losses):
        return Limit(math.inf, 0.0)
    mean = variance = third = 0.0
    for loss, count in losses:
        one, two, _, four = _cumulants(loss)
        mean, variance = mean + whole("count", count) * one, variance + count * two
        third += count * max(four + 3 * two * two, two * two) ** 0.75
    if not 0 < variance < math.inf:
        return Limit(0.0 if mean == 0 else math.inf, 0.0)
    return Limit(2 * mean / math.sqrt(variance), 0.56 * third / variance**1.5)


def subsampled_central_limit(rate: float, sigma: float, k: int) -> float:
    """The limiting mu of k steps of Poisson-subsampled Gaussian noise: an approximation, not a bound.

    rate sqrt(k (e^{1/sigma^2} - 1)), as k grows with rate sqrt(k) fixed; sigma in sensitivities (Bu,
    Dong, Long and Su, Harvard Data Science Review 2020).

    >>> round(subsampled_central_limit(0.01, 1, 1000), 6)
    0.414522
    """
    q, s = positive("rate", probability("rate", rate)), positive("sigma", sigma)
    exponent = 1 / (s * s) if s > 1e-100 else math.inf
    return float(q * math.sqrt(whole("k", k) * math.expm1(exponent))) if exponent < 700 else math.inf


def _cumulants(loss: PrivacyLoss) -> tuple[float, ...]:
    """The first four cumulants of a loss: Cauchy's formula for ln M on a circle around 0."""
    largest = loss.max_divergence() or 1.0
    radius = 0.5 / (largest if math.isfinite(largest) else math.sqrt(8 * loss.kl() + 1))
    circle = np.exp(2j * math.pi * np.arange(32) / 32)
    values = np.asarray(loss.log_moment(radius * circle))
    return tuple(
        float(math.factorial(n) * np.real(np.mean(values * circle**-n)) / radius**n) for n in range(1, 5)
    )
