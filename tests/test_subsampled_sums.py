"""Sums of subsampled Gaussian losses: few releases, small rates, little noise and a lot of it."""

from __future__ import annotations

import math
import tracemalloc

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcourse import accounting
from dpcourse.errors import BadInput
from dpcourse.loss.methods.contour import Contour
from dpcourse.loss.methods.grid import Grid
from dpcourse.loss.subsampled import SubsampledGaussianLoss
from tests.brackets import contains, overlap

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def two_subsampled_by_quadrature(rate: float, sigma: float, eps: float) -> mpmath.mpf:
    """Two releases, a record removed: delta(eps) = E[delta_1(eps - L)], integrated over the first answer."""
    with mpmath.workdps(40):
        q, s, e = map(mpmath.mpf, (rate, sigma, eps))

        def one(level: mpmath.mpf) -> mpmath.mpf:
            if level <= mpmath.log1p(-q):
                return -mpmath.expm1(level)
            x = s * s * mpmath.log1p(mpmath.expm1(level) / q) + mpmath.mpf(1) / 2  # where L = level
            ratio, tail, moved = mpmath.exp(level), mpmath.ncdf(-x / s), mpmath.ncdf((1 - x) / s)
            return (1 - q) * tail + q * moved - ratio * tail

        def weighted(x: mpmath.mpf) -> mpmath.mpf:
            rho = 1 - q + q * mpmath.exp((2 * x - 1) / (2 * s * s))
            return mpmath.npdf(x, 0, s) * rho * one(e - mpmath.log(rho))

        kink = s * s * mpmath.log1p(mpmath.expm1(e - mpmath.log1p(-q)) / q) + mpmath.mpf(1) / 2
        cuts = sorted({mpmath.mpf(i) * s / 2 for i in range(-30, 80)} | {kink})
        return mpmath.quad(weighted, cuts)


@pytest.mark.parametrize("eps", [0.05, 1.0, 4.0, 9.0])
def test_two_subsampled_releases(eps: float) -> None:
    """Few releases decay slowly on the contour; down to a delta far below 1e-30."""
    low, high = (2 * SubsampledGaussianLoss(0.1, 1.0)).delta_bounds(eps)
    truth = two_subsampled_by_quadrature(0.1, 1.0, eps)
    assert contains((low, high), truth)
    assert high - low < 1e-6 * high


def two_by_panels(loss: SubsampledGaussianLoss, eps: float, panels: int) -> float:
    """E[delta_1(eps - L)] in doubles, by Gauss's rule on panels that get smaller where delta_1 bends."""
    q, s, way = loss.rate, loss.sigma, 1 if loss.removed else -1
    bend = math.expm1(way * eps - math.log1p(-q)) / q  # there eps - L is the least or the largest loss
    kink = s * s * math.log1p(bend) + 0.5 if bend > -1 else -14 * s
    near = s * np.append(0.0, np.geomspace(1e-6, 30, panels))
    cuts = np.concatenate([kink - near, kink + near, np.linspace(-14 * s, 1 + 14 * s, panels)])
    cuts = np.unique(np.clip(cuts, -14 * s, 1 + 14 * s))
    half = np.diff(cuts)[:, None] / 2
    x, weight = (cuts[:-1, None] + half * (1 + NODES)).ravel(), (half * WEIGHTS).ravel()
    u = (2 * x - 1) / (2 * s * s)
    log_rho = np.logaddexp(math.log1p(-q), math.log(q) + u)
    log_rho[np.abs(u) < 1] = np.log1p(q * np.expm1(u[np.abs(u) < 1]))
    density = np.exp(-x * x / (2 * s * s) + log_rho * loss.removed) / (s * math.sqrt(2 * math.pi))
    return math.fsum(weight * density * loss.delta(eps - way * log_rho))


@settings(max_examples=40, deadline=None)
@given(
    sigma=st.floats(0.2, 20),
    log_rate=st.floats(math.log(1e-6), math.log(0.9)),
    log_delta=st.floats(-23, -4),
    removed=st.booleans(),
)
def test_two_releases_of_any_kind(sigma: float, log_rate: float, log_delta: float, removed: bool) -> None:
    loss = SubsampledGaussianLoss(math.exp(log_rate), sigma, removed)
    eps = (2 * loss).epsilon(math.exp(log_delta)) or 1e-3 * loss.rate
    low, high = (2 * loss).delta_bounds(eps)
    rough, truth = two_by_panels(loss, eps, 200), two_by_panels(loss, eps, 340)
    spare = 3 * abs(truth - rough) + 1e-12 * truth
    assert low <= truth + spare
    assert truth - spare <= high


@pytest.mark.parametrize("delta", [1e-15, 1e-30, 1e-100])
def test_few_subsampled_releases_at_tiny_deltas(delta: float) -> None:
    loss = 10 * SubsampledGaussianLoss(0.01, 1.0)
    low, high = loss.epsilon_bounds(delta)
    assert 0 < low < high < 30  # and not 10^77
    assert high - low < (1e-6 if delta >= 1e-30 else 1)
    chernoff = min(loss.log_moment(c) - c * low for c in np.geomspace(0.5, 60, 80))
    assert math.log(delta) <= chernoff  # no true delta is larger than that


@pytest.mark.parametrize(
    ("sigma", "rate", "k", "removed", "relative"),
    [
        (0.3, 1e-5, 100, True, 1e-6),  # by the grid: nearly all mass is closer together than its steps
        (0.3, 0.5, 10, False, 1e-5),  # by the grid: tiny masses far to the left must not become large
        (0.3, 1e-5, 10**4, True, 1e-8),  # the others by long lines
        (0.3, 1e-3, 10**4, True, 1e-11),
        (0.3, 1e-2, 100, False, 1e-11),
        (10.0, 0.5, 2, False, 1e-11),
        (0.8, 1e-4, 10**5, True, 1e-7),  # 0.141 to 0.245 by a grid
        (0.5, 1e-4, 10**5, False, 1e-10),
        (1.0, 1e-6, 10**5, True, 1e-6),
    ],
)
def test_small_rates_and_little_noise_have_narrow_brackets(
    sigma: float, rate: float, k: int, removed: bool, relative: float
) -> None:
    low, high = (k * SubsampledGaussianLoss(rate, sigma, removed)).epsilon_bounds(1e-6)
    assert 0 < low <= high < low * (1 + relative)


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(("sigma", "rate", "k"), [(0.05, 0.5, 1000), (0.5, 1e-5, 10**6), (1.0, 1e-12, 10)])
def test_extremes_are_answered_without_a_complaint(sigma: float, rate: float, k: int, removed: bool) -> None:
    """Little noise, small rates, many steps: numbers beyond every double on the way."""
    loss = k * SubsampledGaussianLoss(rate, sigma, removed)
    low, high = loss.epsilon_bounds(1e-9)
    assert 0 <= low <= high
    rdp = accounting.rdp_composition(lambda a: accounting.subsampled_gaussian_rdp(rate, sigma, a), k, 1e-9)
    assert low <= rdp


def test_a_window_wider_than_a_double_reaches() -> None:
    """Masses of Q from e^-700 to e^700 in one window: counted too small, they raised the lower end."""
    loss, k = SubsampledGaussianLoss(0.6896714548424456, 0.4101413018912835), 19596
    eps = np.array([34898.29491851208])
    contour, grid = (k * loss)._engine(0), Grid([(loss, k)])
    assert isinstance(contour, Contour)
    exact = contour.bounds(eps)
    assert contains((exact[0][0], exact[1][0]), "2.248409786543e-10", 12)  # on other lines, in long doubles
    assert overlap(grid.bounds(eps), exact)


@settings(max_examples=20, deadline=None)
@given(
    sigma=st.floats(0.4, 8), rate=st.floats(0.001, 0.9), log_k=st.floats(3, 11), log_delta=st.floats(-25, -2)
)
def test_grid_and_contour_agree(sigma: float, rate: float, log_k: float, log_delta: float) -> None:
    loss, k = SubsampledGaussianLoss(rate, sigma), round(math.exp(log_k))
    eps = (k * loss).epsilon(math.exp(log_delta)) * np.array([0.5, 1.0])
    low, high = (k * loss)._engine(0).bounds(eps)
    grid = Grid([(loss, k)]).bounds(eps)
    answered = ~np.isnan(low)
    assert overlap((low[answered], high[answered]), (grid[0][answered], grid[1][answered]))


def test_many_epsilons_at_once_agree_with_one_at_a_time() -> None:
    """A long line serves a few epsilons; for a whole curve the grid answers instead."""
    loss, eps = 10**5 * SubsampledGaussianLoss(1e-5, 0.8), np.linspace(0.001, 0.05, 40)
    curve = loss.delta_bounds(eps)
    one = [loss.delta_bounds(e) for e in eps[::13]]
    few = np.array(one).T
    assert overlap((curve[0][::13], curve[1][::13]), (few[0], few[1]))
    assert np.all(few[1] - few[0] <= curve[1][::13] - curve[0][::13])


@pytest.mark.slow
def test_a_lot_of_noise_takes_little_memory() -> None:
    """The contour of ten releases with sigma = 100 once took millions of phases, and four gigabytes."""
    tracemalloc.start()
    low, high = (10 * SubsampledGaussianLoss(0.01, 100.0)).epsilon_bounds(1e-6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.000746 < low < high < 0.000747
    assert peak < 8e8


def test_too_little_noise_is_refused() -> None:
    with pytest.raises(BadInput, match=r"sigma = 0.005 breaks a rule: it must be at least 0.01"):
        SubsampledGaussianLoss(0.1, 0.005)
