"""Guarantees: reference values, soundness against exact losses, composition, groups, messages."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf, workdps

import dpcourse as dp
from dpcourse.errors import BadInput
from dpcourse.guarantees import dominating_loss, group_delta, randomized_response_loss
from dpcourse.loss import FiniteLoss, GaussianLoss, LaplaceLoss

small = st.floats(0.01, 3.0)
deltas = st.floats(1e-9, 0.3)


# Reference values ---------------------------------------------------------------------------------


def test_renyi_to_approx_reference(golden):
    for row in golden["rdp_to_dp"]["rows"]:
        order, value, delta = float(row["alpha"]), float(row["rdp_eps"]), float(row["delta"])
        promise = dp.RDP(lambda _, value=value: value)
        assert promise.epsilon_at(order, delta, "simple") == pytest.approx(float(row["mironov"]), rel=1e-12)
        assert promise.epsilon_at(order, delta) == pytest.approx(float(row["bbghs_cks"]), rel=1e-12)


def test_zcdp_to_approx_reference(golden):
    for row in golden["zcdp_to_dp"]["rows"]:
        promise, delta = dp.ZCDP(float(row["rho"])), float(row["delta"])
        assert promise.epsilon(delta, "simple") == pytest.approx(float(row["bun_steinke"]), rel=1e-12)
        assert promise.epsilon(delta) == pytest.approx(float(row["cks"]), rel=1e-12)
        gaussian = dp.GDP(math.sqrt(2 * float(row["rho"])))
        assert gaussian.epsilon(delta) == pytest.approx(float(row["gaussian_exact"]), rel=1e-12)


def test_many_gaussians_by_renyi():
    """100 Gaussians with sigma = 4 at delta = 1e-5: simple 15.1213, improved 14.1305, exact 13.2067."""
    promise = 100 * dp.GDP(1 / 4)
    assert promise.to(dp.RDP).epsilon(1e-5, "simple") == pytest.approx(15.1213, abs=5e-5)
    assert promise.to(dp.RDP).epsilon(1e-5) == pytest.approx(14.1305, abs=5e-5)
    assert promise.epsilon(1e-5) == pytest.approx(13.2067, abs=5e-5)


def test_pure_to_zcdp_has_two_forms():
    assert dp.PureDP(1).to(dp.ZCDP).rho == pytest.approx(math.tanh(0.5), rel=1e-15)
    assert dp.PureDP(1).to(dp.ZCDP, form="simple").rho == 0.5


# Soundness: a promise read in another way never promises too much -----------------------------------


@given(small, deltas)
def test_conversions_cover_the_worst_pure_mechanism(eps, delta):
    worst, promise = randomized_response_loss(eps), dp.PureDP(eps)
    exact = worst.epsilon_bounds(delta)[0]
    for kind in (dp.ApproxDP, dp.ZCDP, dp.RDP, dp.GDP):
        assert promise.to(kind).share(worst) <= 1 + 1e-9
        if kind is not dp.ApproxDP:
            assert promise.to(kind).epsilon(delta) >= exact - 1e-9
    assert promise.epsilon(delta) == pytest.approx(exact, abs=1e-9)


@given(small, st.floats(1e-6, 0.4), st.floats(0, 3))
def test_approximate_curve_is_that_of_the_leaky_response(eps, delta, at):
    promise, worst = dp.ApproxDP(eps, delta), randomized_response_loss(eps, delta)
    assert promise.delta(at) == pytest.approx(worst.delta(at), abs=1e-12)
    assert promise.share(worst) == pytest.approx(1, rel=1e-6)
    total = min(delta + 0.05, 0.9)
    assert promise.epsilon(total) == pytest.approx(worst.epsilon(total), abs=1e-9)
    assert promise.epsilon(delta / 2) == math.inf


@given(small, st.floats(0, 4))
def test_gaussian_promise_converts_soundly(mu, eps):
    exact = GaussianLoss(mu).delta_bounds(eps)[0]
    promise = dp.GDP(mu)
    for form in ("simple", "improved"):
        assert promise.to(dp.ZCDP).delta(eps, form) >= exact
        assert promise.to(dp.RDP).delta(eps, form) >= exact
    assert promise.to(dp.ZCDP).delta(eps) <= promise.to(dp.ZCDP).delta(eps, "simple") + 1e-12


@given(small, deltas)
def test_delta_and_epsilon_of_renyi_fit(rho, delta):
    promise = dp.ZCDP(rho)
    for form in ("simple", "improved"):
        epsilon = promise.epsilon(delta, form)
        if epsilon > 0:
            assert promise.delta(epsilon, form) == pytest.approx(delta, rel=1e-5)


def test_zcdp_is_about_moments_not_tails():
    """Randomized response(1) is 1/2-zCDP, though its loss exceeds 1 more often than N(1/2, 1) does."""
    loss = randomized_response_loss(1.0)
    assert dp.ZCDP(0.5).share(loss) <= 1
    assert loss.tail(1 - 1e-9) == pytest.approx(0.731, abs=1e-3)
    assert GaussianLoss(1.0).tail(1.0) == pytest.approx(0.309, abs=1e-3)


def test_loss_at_most_epsilon_with_high_probability_is_sufficient_only():
    loss = GaussianLoss(1.0)
    assert loss.tail(1.0) == pytest.approx(0.3085, abs=5e-5)
    assert loss.delta(1.0) == pytest.approx(0.1269, abs=5e-5)


# Rounding: every number errs to the safe side, and by little -----------------------------------------


def is_just_above(value, truth, ulps=64, spare=0.0):
    """Whether a float is not below the truth, and above it by a few ulps at most."""
    return truth <= mpf(value) <= truth * (1 + mpf(ulps) * mpf(2) ** -52) + spare


rates = st.floats(1e-12, 0.4) | st.sampled_from([1e-300, 1e-30, 0.5, 0.999])
budgets = st.floats(1e-6, 30.0) | st.sampled_from([1e-9, 0.1, 0.3, 100.0])


@given(budgets, st.floats(-1.5, 1), rates)
def test_approximate_promises_are_rounded_up(eps, part, delta):
    at, own = part * eps, 1e-9 if delta > 1e-9 else 0.0
    with workdps(350):
        e, d, low = mpf(eps), mpf(delta), mpf(own)
        inner = (mp.exp(e) - mp.exp(mpf(at))) / (1 + mp.exp(e)) if at > -eps else 1 - mp.exp(mpf(at))
        for promise, leak in ((dp.ApproxDP(eps, delta), d), (dp.PureDP(eps), mpf(0))):
            truth = leak + ((1 - leak) * inner if at < eps else 0)
            assert is_just_above(promise.delta(at), truth) or promise.delta(at) == 1 > truth
        left = mp.exp(e) - (d - low) / (1 - low) * (1 + mp.exp(e))
        found, truth = mpf(dp.ApproxDP(eps, own).epsilon(delta)), mp.log(left) if left > 1 else mpf(0)
        assert truth <= found <= eps
        assert found - truth <= mpf(2) ** -46 * (e + mp.exp(e) / max(left, mpf(10) ** -20))


@given(budgets, st.floats(1.0001, 200.0))
def test_conversions_are_rounded_up(eps, order):
    with workdps(60):
        e, a = mpf(eps), mpf(order)
        assert is_just_above(dp.PureDP(eps).to(dp.ZCDP).rho, e * mp.tanh(e / 2))
        assert is_just_above(dp.PureDP(eps).to(dp.GDP).mu, 2 * mp.sqrt(2) * mp.erfinv(mp.tanh(e / 2)))
        t = 1 / (1 + mp.exp(-e))
        curve = mp.log(t**a * (1 - t) ** (1 - a) + (1 - t) ** a * t ** (1 - a)) / (a - 1)
        assert is_just_above(dp.PureDP(eps).to(dp.RDP).curve(order), curve, 128)
        printed = mpf(repr(eps))
        assert is_just_above(
            dp.PureDP(eps).to(dp.ZCDP, form="simple").rho, printed**2 / 2 * (1 - mpf(2) ** -52)
        )
        assert is_just_above(dp.GDP(eps).to(dp.ZCDP).rho, printed**2 / 2 * (1 - mpf(2) ** -52))
        assert is_just_above(dp.GDP(eps).to(dp.RDP).curve(order), a * e * e / 2 * (1 - mpf(2) ** -50))


@given(st.floats(1e-6, 20.0), st.floats(1e-12, 0.4), st.floats(0.0, 40.0), st.floats(1.0001, 1e5))
def test_moments_are_read_on_the_safe_side(rho, delta, eps, order):
    promise = dp.ZCDP(rho)
    with workdps(60):
        r, d, e, a = map(mpf, (rho, delta, eps, order))
        gain = mp.log(1 - 1 / a) - mp.log(a) / (a - 1)
        assert is_just_above(promise.epsilon(delta, "simple"), r + 2 * mp.sqrt(-r * mp.log(d)))
        tail = mp.exp(-((e - r) ** 2) / (4 * r)) if e > r else mpf(1)
        assert tail <= mpf(promise.delta(eps, "simple")) <= tail * (1 + mpf(10) ** -9) + mpf(10) ** -320
        for form, extra in (("simple", 0), ("improved", gain)):
            truth = r * a - mp.log(d) / (a - 1) + extra
            size = r * a - mp.log(d) / (a - 1) + abs(extra) + 1
            found = mpf(promise.as_rdp().epsilon_at(order, delta, form))
            assert truth <= found <= truth + size * mpf(2) ** -46

        def log_delta(b, form="improved"):
            return (b - 1) * (r * b + mp.log(1 - 1 / b) - mp.log(b) / (b - 1) - e)

        least = min(mpf(0), *(log_delta(1 + mp.exp(mpf(i) / 32)) for i in range(-280, 400)))
        # No order is better than the best one: the answer is not below it, and not far above.
        found = mp.log(mpf(promise.delta(eps)))
        assert found >= least * (1 + mpf(10) ** -3) - mpf(10) ** -3


@given(st.integers(1, 10**6), st.sampled_from([0.1, 0.15, 0.3, 1e-6, 0.7, 1 / 3, 2.5]))
def test_parameters_are_decimals_rounded_up(k, value):
    exact = Fraction(repr(value))
    for found in (
        (k * dp.PureDP(value)).epsilon(0),
        dp.PureDP(value).group(k).epsilon(0),
        (k * dp.ZCDP(value)).rho,
        dp.GDP(value).group(k).mu,
    ):
        assert k * exact <= Fraction(repr(found)) <= k * exact * (1 + Fraction(1, 2**51))
    mu = Fraction(repr((k * dp.GDP(value)).mu))
    assert k * exact**2 <= mu**2 <= k * exact**2 * (1 + Fraction(1, 2**50))


def test_ten_tenths_are_one():
    assert (10 * dp.PureDP(0.1)).epsilon(0) == 1.0
    assert (dp.PureDP(0.1) + dp.PureDP(0.2)).epsilon(0) == 0.3
    assert (6 * dp.PureDP(0.15)).epsilon(0) == 0.9  # in doubles 0.8999999999999999
    assert (dp.GDP(3) + dp.GDP(4)).mu == 5
    assert (2 * dp.PureDP(math.inf)).epsilon(0) == math.inf


@given(st.floats(1e-4, 3.0), st.floats(1e-15, 1e-3), st.integers(1, 300))
def test_groups_are_rounded_up(eps, delta, size):
    with workdps(60):
        e, d = mpf(eps), mpf(delta)
        truth = d * (mp.exp(size * e) - 1) / (mp.exp(e) - 1)
        assert truth <= mpf(float(group_delta(eps, delta, size))) * (1 + mpf(2) ** -52 * (size == 1))
    assert group_delta(1.0, 1e-310, 2000) == math.inf  # and not what fits into a double


# Composition ------------------------------------------------------------------------------------


@given(small, small, st.integers(1, 9))
def test_composition_adds_up(a, b, k):
    assert (dp.PureDP(a) + dp.PureDP(b)).epsilon(0) == pytest.approx(a + b)
    assert (k * dp.ZCDP(a)).rho == pytest.approx(k * a)
    assert (dp.GDP(a) + dp.GDP(b)).mu == pytest.approx(math.hypot(a, b))
    assert (k * dp.GDP(a)).mu == pytest.approx(math.sqrt(k) * a)
    both = dp.ApproxDP(a, 0.01) + dp.PureDP(b)
    assert (both.epsilon_0, both.delta_0) == pytest.approx((a + b, 0.01))
    curve = (dp.RDP(lambda order: a) + dp.ZCDP(b)).curve
    assert curve(3.0) == pytest.approx(a + 3 * b)


def test_kinds_meet_in_the_one_both_imply():
    assert type(dp.PureDP(1) + dp.ZCDP(1)) is dp.ZCDP
    assert type(dp.PureDP(1) + dp.GDP(1)) is dp.RDP
    assert type(dp.ZCDP(1) + dp.GDP(1)) is dp.ZCDP
    assert type(dp.PureDP(1) + dp.ApproxDP(1, 1e-6)) is dp.ApproxDP


def test_best_order_must_be_common():
    """Lap(1) + Gauss(1) at delta = 1e-5 is 6.17 at a common order, not the 1.07 of separate ones."""
    both = dp.RDP(LaplaceLoss(1.0).renyi) + dp.GDP(1.0)
    assert both.epsilon(1e-5, "simple") == pytest.approx(6.17, abs=5e-3)


# Groups -----------------------------------------------------------------------------------------


@given(st.floats(0.01, 1.0), st.floats(1e-9, 1e-3), st.integers(1, 6))
def test_group_privacy_is_the_chain_summed(eps, delta, size):
    p = 0.0
    for _ in range(size):
        p = math.exp(eps) * p + delta
    if p < 0.9:
        group = dp.ApproxDP(eps, delta).group(size)
        assert group.delta_0 == pytest.approx(p, rel=1e-9)
        assert group.epsilon_0 == pytest.approx(size * eps)
        assert group.delta_0 <= size * math.exp((size - 1) * eps) * delta * (1 + 1e-12)


def test_group_privacy_anchors():
    assert dp.ApproxDP(0.5, 0.01).group(2).delta_0 == pytest.approx(0.0264872, abs=5e-8)
    assert dp.ApproxDP(0.1, 1e-6).group(10).delta_0 == pytest.approx(1.63e-5, rel=1e-2)
    assert dp.ApproxDP(0.1, 1e-6).group(100).delta_0 == pytest.approx(0.209, abs=1e-3)
    assert dp.ApproxDP(0.0, 1e-6).group(5).delta_0 == pytest.approx(5e-6)
    assert dp.PureDP(0.5).group(4).epsilon(0) == 2.0
    assert dp.GDP(0.5).group(4).mu == 2.0


@given(st.floats(0.01, 2.0), st.integers(1, 5), st.floats(1.1, 30))
def test_renyi_group_of_a_line_is_the_zcdp_group(rho, size, order):
    line = dp.ZCDP(rho).to(dp.RDP).group(size).curve(order)
    assert line == pytest.approx(dp.ZCDP(rho).group(size).rho * order, rel=1e-9)


@given(st.floats(0.05, 1.0), st.integers(2, 4), st.floats(1.2, 10))
def test_renyi_group_covers_randomized_response_twice_as_far(eps, size, order):
    """A chain of Laplace answers: size steps of eps are one step of size * eps."""
    promised = dp.RDP(LaplaceLoss(eps).renyi).group(size).curve(order)
    assert promised >= LaplaceLoss(size * eps).renyi(order) - 1e-12


def test_far_datasets_are_still_close():
    """Any two datasets of size n are n eps apart: TV <= tanh(n eps/2)."""
    for n, expected in ((10, 0.050), (100, 0.462), (500, 0.987)):
        assert dp.PureDP(0.01).group(n).delta(0) == pytest.approx(expected, abs=6e-4)


# Reading a promise ------------------------------------------------------------------------------


def test_dominating_losses():
    for promise in (dp.PureDP(0.7), dp.ApproxDP(0.7, 0.01), dp.GDP(0.7)):
        loss = dominating_loss(promise)
        for eps in (0.0, 0.3, 1.0):
            assert loss.delta(eps) == pytest.approx(promise.delta(eps), abs=1e-12)


def test_curves_fall():
    for promise in (dp.PureDP(1), dp.ApproxDP(1, 0.01), dp.ZCDP(0.3), dp.GDP(1.0)):
        values = [promise.delta(e) for e in np.linspace(0, 5, 20)]
        assert all(b <= a + 1e-12 for a, b in pairwise(values))


def test_share_tells_broken_from_kept():
    tight, broken, kept = LaplaceLoss(1.0), LaplaceLoss(2.0), LaplaceLoss(0.5)
    assert [dp.PureDP(1).share(x) for x in (tight, broken, kept)] == pytest.approx([1, 2, 0.5])
    assert dp.ApproxDP(1, 0).share(tight) == 0
    assert dp.ApproxDP(1, 0).share(broken) == math.inf
    leak = FiniteLoss((0.1, 0.9), (0.0, 1.0))
    assert dp.ZCDP(5.0).share(leak) == math.inf  # an (eps, delta) promise is no zCDP promise
    assert dp.PureDP(0).share(FiniteLoss((0.5, 0.5), (0.5, 0.5))) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dp.PureDP(-1), "epsilon = -1 .*at least 0"),
        (lambda: dp.PureDP(float("nan")), "epsilon = nan"),
        (lambda: dp.ApproxDP(1, 1.0), r"delta = 1\.0 .*below 1\. Fix: .*1e-6"),
        (lambda: dp.ApproxDP(1, -0.1), "delta = -0.1"),
        (lambda: dp.ZCDP(-1), "rho = -1"),
        (lambda: dp.GDP(-1), "mu = -1"),
        (lambda: dp.PureDP(1) + dp.PureDP(1, adjacency=dp.REPLACE_ONE), "replace-one.*add/remove"),
        (lambda: dp.ApproxDP(1, 1e-6) + dp.ZCDP(1), "adds to ApproxDP.*convert|adds to ApproxDP.*kind first"),
        (lambda: dp.GDP(1).to(dp.ApproxDP), "delta = None .*delta=1e-6"),
        (lambda: dp.ZCDP(1).to(dp.PureDP), "implied by ZCDP.*choose from"),
        (lambda: dp.PureDP(1).to(dp.ZCDP, form="best"), "form = 'best' .*'tight', 'simple'"),
        (lambda: dp.ZCDP(1).epsilon(2), "delta = 2"),
        (lambda: 1.5 * dp.PureDP(1), "k = 1.5 .*whole"),
        (lambda: dp.PureDP(1).group(0), "size = 0 .*at least 1"),
        (lambda: dp.ApproxDP(1, 0.1).group(50), "size = 50 .*smaller group"),
        (lambda: dominating_loss(dp.ZCDP(1)), "one worst pair"),
    ],
)
def test_bad_input_is_explained(make, message):
    with pytest.raises(BadInput, match=message):
        make()
