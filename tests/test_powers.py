"""Moments of subsampled Gaussian losses: a moved line against the real one, and the bound on their decay."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dpcourse.loss import SubsampledGaussianLoss
from dpcourse.loss.powers import Powers

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
rates = st.floats(math.log(1e-6), math.log(0.9)).map(math.exp)
sigmas = st.floats(math.log(0.25), math.log(20)).map(math.exp)
shares = st.floats(0, 1)


def on_the_real_line(powers: Powers, y: float, t: Any) -> tuple[Any, float]:
    """E[rho^{y+it}]/E[rho^y] by Gauss's rule on short panels, and the most that a panel turns."""
    q, s = powers.rate, powers.sigma
    cuts = np.linspace(-13 * s, max(y, 0.0) + 13 * s, 8001)
    half = (cuts[1] - cuts[0]) / 2
    x = (cuts[:-1, None] + half * (1 + NODES)).ravel()
    u = (2 * x - 1) / (2 * s * s)
    log_rho = np.logaddexp(math.log1p(-q), math.log(q) + u)
    log_rho[np.abs(u) < 1] = np.log1p(q * np.expm1(u[np.abs(u) < 1]))
    size = -x * x / (2 * s * s) + y * log_rho
    weight = np.tile(WEIGHTS, len(cuts) - 1) * np.exp(size - size.max())
    means = np.array([weight @ np.exp(1j * each * log_rho) for each in t]) / weight.sum()
    steepest = float(np.abs(np.diff(log_rho[weight > 1e-16 * weight.max()])).max())
    return means, 20 * steepest * float(np.max(t))


def exponents(powers: Powers, share: float) -> tuple[float, float]:
    """A y for a removed record, up to beyond where the tail takes over, and one for an added record."""
    over = 1 + 3 * powers.sigma**2 * -math.log(powers.rate)
    return 1 + share * over, -share * 40 / powers.rate


@settings(max_examples=40, deadline=None)
@given(rates, sigmas, shares, st.booleans(), st.floats(-2, 5))
def test_a_moved_line_gives_what_the_real_line_gives(
    rate: float, sigma: float, share: float, removed: bool, log_t: float
) -> None:
    powers = Powers(rate, sigma)
    y = exponents(powers, share)[not removed]
    t = 10**log_t * np.array([0.3, 1.0])
    truth, turned = on_the_real_line(powers, y, t)
    assume(turned < 6)  # else Gauss's rule is not the truth
    assert np.abs(np.exp(powers.turned(y, t)) - truth).max() < 1e-12


@settings(max_examples=40, deadline=None)
@given(rates, sigmas, shares, st.booleans(), st.floats(-2, 7))
@example(
    math.exp(-7), math.exp(-1), 0.9375, True, 2.0
)  # a bound of e^-29 was too low by a hundredth of itself
def test_nothing_beyond_t_is_above_the_bound_on_the_decay(
    rate: float, sigma: float, share: float, removed: bool, log_t: float
) -> None:
    powers = Powers(rate, sigma)
    y, t = exponents(powers, share)[not removed], 10**log_t
    beyond = np.sort(np.concatenate([t * np.geomspace(1, 1e4, 60), t * np.linspace(1, 1.5, 30)]))
    bounds = [powers.decay(y, t), powers.decay(y, 2 * t)]
    largest = np.exp(powers.turned(y, beyond).real).max()
    assert largest <= math.exp(bounds[0]) * (1 + 1e-12) + 1e-15
    assert bounds[1] <= bounds[0] <= 0


@pytest.mark.parametrize(
    ("rate", "sigma", "y", "t", "digits"),
    [
        (0.01, 1.0, 10.0, 500.0, 14),
        (1e-4, 0.8, 9.0, 1e5, 14),
        (1e-4, 0.8, -300.0, 1e5, 14),
        (1e-3, 0.3, -2000.0, 1e4, 14),  # rho is near 0 on a line of 2 theta: that must be seen
        (0.1, 10.0, 60.0, 100.0, 14),
    ],
)
def test_large_powers_in_forty_digits(rate: float, sigma: float, y: float, t: float, digits: int) -> None:
    """Along a line at another angle, since the real one turns too often."""
    with mpmath.workdps(40):
        q, s = mpmath.mpf(rate), mpmath.mpf(sigma)
        moved = mpmath.mpc(0, s * s / (4 * max(1, s)))

        def term(x: mpmath.mpf, power: mpmath.mpc) -> mpmath.mpc:
            z = x + moved
            rho = 1 - q + q * mpmath.exp((2 * z - 1) / (2 * s * s))
            return mpmath.exp(-z * z / (2 * s * s) + power * mpmath.log(rho))

        cuts = [i * s for i in range(-13, 14)] + [
            y + i * s for i in range(-13, 14) if y + (i - 1) * s > 13 * s
        ]
        whole, part = (mpmath.quad(lambda x, p=p: term(x, p), cuts) for p in (y, mpmath.mpc(y, t)))
        found = Powers(rate, sigma).turned(y, np.array([t]))[0]
        assert abs(part / whole - mpmath.exp(mpmath.mpc(found))) < mpmath.mpf(10) ** -digits
        assert mpmath.log(abs(part / whole)) <= Powers(rate, sigma).decay(y, t)


def test_equal_steps_are_taken_in_two_levels() -> None:
    powers = Powers(1e-3, 0.7)
    t = 0.37 * np.arange(5000)
    slow = np.concatenate([powers.turned(8.0, t[i : i + 50]) for i in range(0, len(t), 50)])
    assert np.abs(np.exp(powers.turned(8.0, t)) - np.exp(slow)).max() < 1e-14


@pytest.mark.parametrize("removed", [True, False])
def test_moments_below_the_real_line_are_conjugates(removed: bool) -> None:
    loss = SubsampledGaussianLoss(0.05, 0.9, removed)
    above, below = loss.log_moment(np.array([2 + 3j, 2 - 3j]))
    assert above == below.conjugate()
    assert loss.log_moment(2 + 0j) == pytest.approx(loss.log_moment(2.0), rel=1e-13)
