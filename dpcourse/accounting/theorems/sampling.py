"""Gaussian noise on a random sample: the Renyi divergences behind DP-SGD."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from dpcourse import special
from dpcourse.accounting.theorems.moments import gaussian_rdp, whole_orders
from dpcourse.errors import Floats, positive, probability
from dpcourse.guarantees.renyi import check_order
from dpcourse.guarantees.rounding import ULP, up

_NO_NOISE = 1e-3
LARGEST_SUM = 1024
"""Orders of a subsampled Gaussian up to this are summed exactly; above, Gaussian noise alone bounds them."""


def subsampled_gaussian_rdp(rate: float, sigma: float, order: float) -> float:
    """Gaussian noise on a Poisson sample: each person is in with probability `rate`; sigma in sensitivities.

    The Renyi divergence of (1-q) N(0, sigma^2) + q N(1, sigma^2) from N(0, sigma^2), which is the larger
    of the two directions (Mironov, Talwar and Zhang 2019, Theorem 5). For a whole order a

        D_a = ln( sum_j C(a,j) (1-q)^{a-j} q^j e^{j(j-1)/(2 sigma^2)} )/(a-1)

    (their Section 3.3; Abadi et al., CCS 2016, for the moments); small fractional orders by quadrature.
    The cumulant (a-1) D_a is convex in a, so a large fractional order is bounded by the chord between
    its neighbours, and one above 1024 by the noise without sampling.

    >>> f"{subsampled_gaussian_rdp(0.01, 1, 1.5):.15f}", f"{subsampled_gaussian_rdp(0.001, 1, 2):.6e}"
    ('0.000127253743327', '1.718280e-06')
    """
    q, s = float(positive("rate", probability("rate", rate))), float(positive("sigma", sigma))
    a, s = check_order(order), min(s, 1e100)  # more noise costs less, and its square is not a double
    if q == 1 or a > LARGEST_SUM or s < _NO_NOISE:
        return gaussian_rdp(s, a)
    below = math.floor(a)
    if a == below:
        return up(_cumulant(q, s, below) / (a - 1), 4)
    if a > 32:
        part = a - below
        chord = (1 - part) * _cumulant(q, s, below) + part * _cumulant(q, s, below + 1)
        return up(chord / (a - 1))
    return up(_quadrature(q, s, a) / (a - 1))


def moments_accountant(
    rate: float, sigma: float, k: int, delta: float, orders: Iterable[int] = range(2, 257)
) -> float:
    """The epsilon at delta of k steps of subsampled Gaussian noise, from whole orders as in DP-SGD.

    min over the orders of k D_a + ln(1/delta)/(a-1), D_a of `subsampled_gaussian_rdp` (Abadi et al.,
    CCS 2016, Theorem 2). Fractional orders and the improved conversion are in `rdp_composition`.

    >>> round(moments_accountant(0.01, 1, 1000, 1e-5), 3)
    2.538
    """
    return whole_orders(lambda a: subsampled_gaussian_rdp(rate, sigma, a), k, delta, orders)


@lru_cache(maxsize=4096)
def _cumulant(q: float, sigma: float, a: int) -> float:
    """ln(1 + sum_j>=2 C(a,j) (1-q)^{a-j} q^j (e^{j(j-1)/(2 sigma^2)} - 1)): positive terms, rounded up."""
    if a == 1:
        return 0.0
    j = np.arange(2.0, a + 1)
    binomial, logs = 1, []
    for i in range(1, a + 1):  # exact integers: a difference of ln Gamma would lose digits
        binomial = binomial * (a - i + 1) // i
        logs.append(math.log(binomial))
    power = j * (j - 1) / (2 * sigma * sigma)
    grown = power + np.log(-np.expm1(-power))  # ln(e^power - 1)
    terms = np.array(logs[1:]) + (a - j) * math.log1p(-q) + j * math.log(q) + grown
    size = float(np.max(np.abs(terms)) + power[-1] + logs[a // 2 - 1])
    return float(np.logaddexp(0.0, special.logsumexp(terms))) * (1 + 8 * ULP) + _slip(terms, size)


def _slip(terms: Floats, size: float) -> float:
    """What an error of a few ulps of `size` in every exponent can do to ln(1 + sum e^terms)."""
    total = float(special.logsumexp(terms))
    return 4 * ULP * size * float(special.expit(total))


def _quadrature(q: float, sigma: float, a: float) -> float:
    """ln(1 + E[(1+y)^a - 1 - a y]), y = q (e^{(2x-1)/(2 sigma^2)} - 1), x from N(0, sigma^2).

    E[y] = 0, so the integrand may be made positive. It is analytic in a strip of half-width pi sigma^2
    around the real line, where the trapezoid rule converges faster than any power of its step.
    """
    step = min(sigma / 8, sigma * sigma / 2)
    x = np.arange(-12 * sigma, a + 12 * sigma + step, step)
    u = (2 * x - 1) / (2 * sigma * sigma)
    log_bell = -0.5 * (x / sigma) ** 2 + math.log(step / (sigma * math.sqrt(2 * math.pi)))
    log_ratio = np.logaddexp(math.log1p(-q), math.log(q) + u)
    with np.errstate(over="ignore"):
        y = q * np.expm1(np.minimum(u, 700))
    small = np.abs(y) < 0.3  # beyond, 1 + a y takes at most 1/(0.04 (a - 1)) of the digits
    t = np.where(small, y, 0.0)
    series, term = np.zeros_like(t), a * t
    for i in range(2, 34):
        term = term * t * ((a - i + 1) / i)
        series += term
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        far = np.where(small, -np.inf, a * log_ratio + np.log1p(-np.exp(-a * log_ratio) * (1 + a * y)))
        logs = log_bell + np.where(small, np.log(np.maximum(series, 0.0)), far)
    total = float(special.logsumexp(logs))
    return float(np.logaddexp(0.0, total)) * (1 + 1e-13 + 200 * ULP / (a - 1))
