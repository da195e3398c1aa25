"""The privacy loss: closed forms against references, against quadrature, and against each other."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpcourse import laws, special
from dpcourse.errors import BadInput
from dpcourse.loss import DensityLoss, FiniteLoss, GaussianLoss, LaplaceLoss, PrivacyLoss
from dpcourse.loss.subsampled import SubsampledGaussianLoss

between = PrivacyLoss.between
positive = st.floats(0.05, 4.0)
weights = st.lists(st.integers(0, 9), min_size=2, max_size=6).filter(lambda w: sum(w) > 0)


def finite(w, size):
    w = (w + [0] * size)[:size]
    assume(sum(w) > 0)
    return laws.Finite(range(size), [Fraction(v, sum(w)) for v in w])


def encloses(bounds, truth, width=1e-12):
    """A bracket that holds the truth (given to 15 digits or so) and is narrow, relatively."""
    lower, upper = bounds
    return (
        lower <= truth * (1 + 1e-14)
        and upper >= truth * (1 - 1e-14)
        and upper - lower <= width * max(truth, 1e-3)
    )


# Reference values ---------------------------------------------------------------------------------


def test_gaussian_reference(golden):
    for row in golden["gaussian_delta"]["rows"]:
        loss = GaussianLoss(math.sqrt(row["k"]) / float(row["sigma"]))
        assert encloses(loss.delta_bounds(float(row["eps"])), float(row["delta"])), row
        if float(row["delta"]) > 1e-200:  # relative accuracy far into the tail
            assert loss.delta(float(row["eps"])) == pytest.approx(float(row["delta"]), rel=1e-9)
        assert loss.delta(float(row["eps"])) > 0
    for row in golden["gaussian_eps"]["rows"]:
        loss = GaussianLoss(math.sqrt(row["k"]) / float(row["sigma"]))
        assert encloses(loss.epsilon_bounds(float(row["delta"])), float(row["eps"])), row
    for row in golden["rdp_gaussian"]["rows"]:
        assert GaussianLoss(1 / float(row["sigma"])).renyi(float(row["alpha"])) == pytest.approx(
            float(row["rdp"]), rel=1e-12
        )


def test_laplace_and_response_reference(golden):
    for row in golden["rdp_laplace_rr"]["rows"]:
        order, eps = float(row["alpha"].split()[0]), float(row["eps0"])
        truth = math.exp(eps) / (1 + math.exp(eps))
        response = FiniteLoss((truth, 1 - truth), (1 - truth, truth))
        assert LaplaceLoss(eps).renyi(order) == pytest.approx(float(row["laplace"]), rel=1e-12)
        assert response.renyi(order) == pytest.approx(float(row["randomized_response"]), rel=1e-12)
    for row in golden["tv_and_single"]["rows"]:
        eps = float(row["eps0"])
        assert LaplaceLoss(eps).total_variation() == pytest.approx(float(row["laplace_tv"]), rel=1e-12)
        assert GaussianLoss(eps).total_variation() == pytest.approx(float(row["gaussian_tv_mu"]), rel=1e-12)


def test_discrete_gaussian_reference(golden):
    for row in golden["discrete_gaussian_delta"]["rows"]:
        sigma = float(row["sigma"])
        loss = between(laws.DiscreteGaussian(0, sigma), laws.DiscreteGaussian(row["sensitivity"], sigma))
        assert encloses(loss.delta_bounds(float(row["eps"])), float(row["delta"])), row


def test_discrete_laplace_has_the_loss_of_randomized_response():
    loss = between(laws.DiscreteLaplace(0, 10.0), laws.DiscreteLaplace(1, 10.0))
    truth = 1 / (1 + math.exp(-0.1))
    response = FiniteLoss((truth, 1 - truth), (1 - truth, truth))
    for eps in (0.0, 0.05, 0.09):
        assert loss.delta(eps) == pytest.approx(response.delta(eps), rel=1e-12)
    assert loss.max_divergence() == pytest.approx(0.1, rel=1e-14)


@pytest.mark.parametrize("order", [1.5, 2.0, 7.3, 60.0])
def test_discrete_gaussian_renyi_is_summed_where_its_mass_is(order):
    """The terms that matter at order a sit near -a * shift, far outside the bulk of either law."""
    with mpmath.workdps(60):
        exponents = [(order - 1) * (y - 3) ** 2 - order * y**2 for y in range(-2000, 2000)]
        terms = [mpmath.exp(x / mpmath.mpf(8)) for x in exponents]
        mass = mpmath.nsum(lambda y: mpmath.exp(-(y**2) / mpmath.mpf(8)), [-mpmath.inf, mpmath.inf])
        expected = float(mpmath.log(mpmath.fsum(terms) / mass) / (order - 1))
    loss = between(laws.DiscreteGaussian(0, 2.0), laws.DiscreteGaussian(3, 2.0))
    assert loss.renyi(order) == pytest.approx(expected, rel=1e-12)


# Closed forms against a second method -------------------------------------------------------------


@given(positive, st.floats(-3, 3))
def test_gaussian_closed_form_encloses_the_truth(mu, eps):
    with mpmath.workdps(40):
        a, b = mu / mpmath.mpf(2) - mpmath.mpf(eps) / mu, -mu / mpmath.mpf(2) - mpmath.mpf(eps) / mu
        truth = mpmath.ncdf(a) - mpmath.exp(mpmath.mpf(eps)) * mpmath.ncdf(b)
        lower, upper = GaussianLoss(mu).delta_bounds(eps)
        assert lower <= truth <= upper


@given(positive, st.floats(-5, 5))
def test_laplace_closed_form_encloses_the_truth(shift, eps):
    with mpmath.workdps(40):
        s, e = mpmath.mpf(shift), mpmath.mpf(eps)
        truth = 0 if e >= s else 1 - mpmath.exp((e - s) / 2) if e > -s else 1 - mpmath.exp(e)
        lower, upper = LaplaceLoss(shift).delta_bounds(eps)
        assert lower <= truth <= upper


@given(positive, st.floats(-2, 3))
def test_quadrature_agrees_with_closed_forms(shift, eps):
    for make, closed in ((laws.Laplace, LaplaceLoss), (laws.Gaussian, GaussianLoss)):
        general, exact = DensityLoss((make(0, 1), make(shift, 1))), closed(shift)
        low, high = general.delta_bounds(eps)
        lower, upper = exact.delta_bounds(eps)
        assert low <= upper
        assert high >= lower
        assert general.kl() == pytest.approx(exact.kl(), rel=1e-9, abs=1e-12)
        assert general.renyi(2.5) == pytest.approx(exact.renyi(2.5), rel=1e-9)
        assert general.tail(eps) == pytest.approx(exact.tail(eps), abs=1e-9) or abs(abs(eps) - shift) < 1e-9


@given(st.floats(30, 100), st.floats(-3, 5))
def test_gaussian_losses_beyond_every_double(mu, deviations):
    """Around a mean loss of mu^2/2, from 450 to 5000, where e^eps soon is no double."""
    eps = max(mu * mu / 2 + deviations * mu, 0.0)
    rate = 0.01
    with mpmath.workdps(60):
        m, e, q = mpmath.mpf(mu), mpmath.mpf(eps), mpmath.mpf(rate)

        def delta(at):
            return mpmath.ncdf(m / 2 - at / m) - mpmath.exp(at) * mpmath.ncdf(-m / 2 - at / m)

        plain, sampled = delta(e), q * delta(mpmath.log1p(mpmath.expm1(e) / q))
    assert encloses(GaussianLoss(mu).delta_bounds(eps), plain, 1e-9)
    assert encloses(SubsampledGaussianLoss(rate, 1 / mu).delta_bounds(eps), sampled, 1e-9)


def test_a_density_at_losses_beyond_every_double():
    """e^eps Q(S) with e^eps above and Q(S) below every double: only the upper end is known."""
    loss = DensityLoss((laws.Gaussian(0, 1), laws.Gaussian(60, 1.5)))
    for eps in (590.0, 750.0, 1200.0):
        with mpmath.workdps(30):
            a, b, c = 1 / mpmath.mpf(4.5) - 0.5, -120 / mpmath.mpf(4.5), 800 + mpmath.log(1.5) - eps
            root = mpmath.sqrt(b * b - 4 * a * c)
            left, right = sorted([(-b - root) / (2 * a), (-b + root) / (2 * a)])  # L > eps between them
            p = mpmath.ncdf(right) - mpmath.ncdf(left)
            q = mpmath.ncdf((right - 60) / 1.5) - mpmath.ncdf((left - 60) / 1.5)
            truth = p - mpmath.exp(eps) * q
        low, high = loss.delta_bounds(eps)
        assert low <= truth * (1 + 1e-15)
        assert truth <= high <= p * 1.001


def test_different_scales_smooth_sensitivity_counterexample():
    """f + Lap(S/eps) with an eps-smooth S is not 2 eps-DP: the tails amplify the change of scale."""
    for eps, expected in ((0.1, 0.00549), (0.5, 0.0390), (1.0, 0.1103)):
        loss = between(laws.Laplace(0, 1 / eps), laws.Laplace(0, math.exp(-eps) / eps))
        # closed form: |y| > y0 = (2 eps + eps)/(eps (e^eps - 1)); P - e^{2 eps} Q there
        y0 = 3 * eps / (eps * math.expm1(eps))
        closed = math.exp(-y0 * eps) - math.exp(2 * eps - y0 * eps * math.exp(eps))
        assert encloses(loss.delta_bounds(2 * eps), closed, width=1e-10)
        assert loss.delta(2 * eps) == pytest.approx(expected, abs=6e-5)
        assert loss.max_divergence() == math.inf
        assert loss.reversed().max_divergence() == pytest.approx(eps)


def test_generalized_cauchy_has_bounded_loss():
    shift = between(laws.GeneralizedCauchy(0, 1, p=2), laws.GeneralizedCauchy(1, 1, p=2))
    assert shift.max_divergence() == pytest.approx(2 * math.log((1 + math.sqrt(5)) / 2), rel=1e-12)
    stretch = between(laws.GeneralizedCauchy(0, 1, p=2), laws.GeneralizedCauchy(0, 2, p=2))
    assert stretch.max_divergence() == pytest.approx(math.log(2), rel=1e-9)
    assert stretch.reversed().max_divergence() == pytest.approx(math.log(2), rel=1e-6)


def test_noisy_mean_with_secret_size():
    """mean + Lap(1/n) under add/remove: {0} against {0, 1} has exact delta(1) = .1419."""
    loss = between(laws.Laplace(0, 1.0), laws.Laplace(0.5, 0.5))
    assert loss.delta(1.0) == pytest.approx(0.1419, abs=5e-5)
    assert loss.at(10.0) == pytest.approx(8.31, abs=5e-3)


# Finite laws: exact ----------------------------------------------------------------------------


@given(weights, weights, st.fractions(min_value=Fraction(1, 9), max_value=9))
def test_finite_loss_is_exact(a, b, ratio):
    size = max(len(a), len(b))
    p, q = finite(a, size), finite(b, size)
    loss = between(p, q)
    exact = sum((max(x - ratio * y, Fraction(0)) for x, y in zip(p.probs, q.probs, strict=True)), Fraction(0))
    assert loss.hockey_stick(ratio) == exact
    lower, upper = loss.delta_bounds(math.log(ratio))
    assert lower <= float(exact) * (1 + 1e-14)
    assert upper >= float(exact) * (1 - 1e-14)
    assert upper - lower < 1e-13
    assert (
        loss.total_variation()
        == sum((abs(x - y) for x, y in zip(p.probs, q.probs, strict=True)), Fraction(0)) / 2
    )
    leaked = sum((x for x, y in zip(p.probs, q.probs, strict=True) if y == 0), Fraction(0))
    assert loss.infinite == pytest.approx(float(leaked))
    assert (loss.max_divergence() == math.inf) == (leaked > 0)


@given(weights, weights, st.floats(0, 1))
def test_tradeoff_and_delta_are_conjugates(a, b, fpr):
    size = max(len(a), len(b))
    loss = between(finite(a, size), finite(b, size))
    polygon = float(loss.tradeoff(fpr))
    searched = float(PrivacyLoss.tradeoff(loss, fpr))
    assert searched <= polygon + 1e-9  # rounded down
    assert searched >= polygon - 1e-6 or fpr == 0
    for eps in (-1.0, 0.0, 0.7):
        assert polygon >= 1 - loss.delta(eps) - math.exp(eps) * fpr - 1e-9


def test_randomized_response_tradeoff():
    e = math.e
    loss = FiniteLoss((e / (1 + e), 1 / (1 + e)), (1 / (1 + e), e / (1 + e)))
    assert loss.tradeoff(0.1) == pytest.approx(0.728172, abs=1e-6)


def test_infinite_loss_is_handled():
    leak = between(laws.Finite("ab", (0.1, 0.9)), laws.Point("b"))
    assert leak.infinite == pytest.approx(0.1)
    assert leak.delta(50.0) == pytest.approx(0.1)
    assert leak.epsilon(0.05) == math.inf
    assert leak.epsilon(0.2) == 0.0
    assert leak.kl() == leak.renyi(2) == leak.max_divergence() == math.inf
    assert np.isinf(leak.at("a"))
    singular = between(laws.Laplace(0, 1), laws.Point(0))
    assert singular.delta(10.0) == 1.0


# Relations every loss obeys ----------------------------------------------------------------------

LOSSES = [
    GaussianLoss(0.8),
    LaplaceLoss(1.3),
    between(laws.Finite("abc", (0.5, 0.25, 0.25)), laws.Finite("abc", (0.2, 0.2, 0.6))),
    between(laws.DiscreteLaplace(0, 2.0), laws.DiscreteLaplace(3, 2.0)),
    between(laws.DiscreteLaplace(0, 2.0), laws.DiscreteLaplace(1, 3.0)),
    between(laws.DiscreteGaussian(0, 2.0), laws.DiscreteGaussian(3, 2.0)),
    between(laws.Laplace(0, 1), laws.Laplace(1, 2)),
    between(laws.Gaussian(0, 1), laws.Gaussian(1, 1.5)),
    between(laws.Gumbel(0, 1), laws.Gumbel(1, 1)),
    between(laws.GeneralizedCauchy(0, 1, p=4), laws.GeneralizedCauchy(1, 1.2, p=4)),
    between(laws.Mixture((0.9, 0.1), (laws.Gaussian(0, 1), laws.Gaussian(1, 1))), laws.Gaussian(0, 1)),
]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{type(loss).__name__}")
class TestEveryLoss:
    def test_delta_falls_and_is_convex_in_e_to_eps(self, loss):
        ratios = np.linspace(0.2, 6, 60)
        delta = loss.delta(np.log(ratios))
        assert np.all(np.diff(delta) <= 1e-12)
        assert np.all(np.diff(delta, 2) >= -1e-10)

    def test_epsilon_inverts_delta(self, loss):
        for delta in (0.2, 0.01, 1e-4):
            lower, upper = loss.epsilon_bounds(delta)
            assert lower <= upper
            assert loss.delta(upper) <= delta * (1 + 1e-12) or upper == loss.max_divergence()
            if 0 < lower < math.inf:
                assert loss.delta_bounds(lower)[1] >= delta * (1 - 1e-9)
        assert loss.epsilon(0.9) == 0.0

    def test_direction_and_its_reverse_fit(self, loss):
        """delta of (P, Q) at eps and of (Q, P) at -eps determine each other."""
        for eps in (0.0, 0.3, 1.1):
            there, back = loss.delta(eps), loss.reversed().delta(-eps)
            assert back == pytest.approx(1 - math.exp(-eps) + math.exp(-eps) * there, abs=1e-10)

    def test_renyi_grows_with_the_order_from_kl(self, loss):
        orders = [0.5, 1, 1.001, 1.5, 2.0]
        values = [loss.renyi(a) for a in orders]
        assert all(x <= y + 1e-9 for x, y in pairwise(values))
        if math.isfinite(loss.renyi(1.001)):
            assert loss.renyi(1.0) == pytest.approx(loss.renyi(1.001), rel=2e-2, abs=1e-3)
        assert loss.max_divergence() >= values[-1] - 1e-9

    def test_delta_is_the_integral_of_the_tail(self, loss):
        """delta(eps) = integral over l > eps of e^{eps-l} P[L > l] dl (integration by parts)."""
        t = (np.arange(20_000) + 0.5) / 1000  # midpoints: the tail of a finite law is a step function
        value = np.sum(np.exp(-t) * loss.tail(0.2 + t)) / 1000
        assert value == pytest.approx(loss.delta(0.2), abs=1e-3)

    def test_samples_have_the_stated_mean(self, loss, rng):
        if loss.pair is None or math.isfinite(loss.kl()):
            draws = loss.sample(rng, 100_000)
            spread = draws.std() / math.sqrt(len(draws))
            assert draws.mean() == pytest.approx(loss.kl(), abs=6 * spread + 1e-9)

    def test_tradeoff_is_a_tradeoff(self, loss):
        x = np.linspace(0, 1, 11)
        f = loss.tradeoff(x)
        assert np.all(np.diff(f) <= 1e-9)
        assert np.all(f <= 1 - x + 1e-9)
        assert f[-1] == pytest.approx(0, abs=1e-9)

    def test_says_how_it_computes(self, loss):
        assert len(loss.method) > 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: between(laws.Laplace([0, 1], 1), laws.Laplace(0, 1)), r"not an array of laws.*law\[i\]"),
        (lambda: between(3, laws.Laplace(0, 1)), "P = 3 .*a Law"),
        (lambda: LaplaceLoss(1.0).epsilon(1.0), r"delta = 1.0 .*at least 0 and below 1"),
        (lambda: LaplaceLoss(1.0).epsilon(float("nan")), "delta = nan"),
        (lambda: LaplaceLoss(1.0).renyi(0), "order = 0 .*above 0"),
        (lambda: LaplaceLoss(1.0).tradeoff(1.5), "fpr = 1.5 .*between 0 and 1"),
        (lambda: LaplaceLoss(-1.0), "shift = -1.0"),
        (lambda: GaussianLoss(float("nan")), "mu = nan"),
        (lambda: GaussianLoss(1.0).at(0), "two laws are known.*PrivacyLoss.between"),
        (lambda: 2.5 * LaplaceLoss(1.0), "k = 2.5 .*whole number"),
        (lambda: 0 * LaplaceLoss(1.0), "k = 0 .*whole number of at least 1"),
        (lambda: between(laws.DiscreteGaussian(0, 1e7), laws.DiscreteGaussian(1, 1e7)), "small enough"),
    ],
)
def test_bad_input_is_explained(make, message):
    with pytest.raises(BadInput, match=message):
        make()


# Trade-offs are rounded down ----------------------------------------------------------------------


@given(st.floats(1e-3, 20.0), st.floats(1e-15, 1 - 1e-12) | st.sampled_from([1e-300, 1e-30, 0.5]))
def test_closed_tradeoffs_lie_just_below_the_truth(size, fpr):
    with mpmath.workdps(350):
        x, s = mpmath.mpf(fpr), mpmath.mpf(size)
        odds = mpmath.exp(-s)
        laplace = 1 - x / odds if x < odds / 2 else odds / (4 * x) if x <= 0.5 else odds * (1 - x)
        found = mpmath.mpf(float(LaplaceLoss(size).tradeoff(fpr)))
        assert laplace * (1 - mpmath.mpf(10) ** -14) <= found <= laplace
        keep, lie = Fraction(3, 4), Fraction(1, 4)
        polygon = 1 - 3 * x if x < 0.25 else (1 - x) / 3
        found = mpmath.mpf(float(FiniteLoss((keep, lie), (lie, keep)).tradeoff(fpr)))
        assert polygon - mpmath.mpf(10) ** -14 <= found <= polygon
    with mpmath.workdps(40):
        level = mpmath.findroot(
            lambda t: mpmath.log(mpmath.ncdf(-t)) - mpmath.log(fpr), -mpmath.mpf(float(special.ndtri(fpr)))
        )
        gaussian = mpmath.ncdf(level - size)
        found = mpmath.mpf(float(GaussianLoss(size).tradeoff(fpr)))
        assert gaussian * (1 - mpmath.mpf(10) ** -11) <= found <= gaussian


def test_tradeoffs_at_the_ends():
    for loss in (
        LaplaceLoss(1.0),
        LaplaceLoss(800.0),
        GaussianLoss(1.0),
        FiniteLoss((0.75, 0.25), (0.25, 0.75)),
    ):
        assert loss.tradeoff(0.0) == 1
        assert loss.tradeoff(1.0) == pytest.approx(0, abs=1e-15)
