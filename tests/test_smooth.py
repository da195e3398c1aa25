"""Noise scaled to smooth sensitivity: sound versions by exact divergence, the false theorem by numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from dpcourse.algorithms.smooth import (
    LocalLaplace,
    NaiveSmoothLaplace,
    SmoothCauchy,
    SmoothLaplace,
    SmoothStudentT,
    StudentT,
)
from dpcourse.contract import Case, faults, total_mass
from dpcourse.errors import BadInput
from dpcourse.guarantees import ApproxDP, PureDP
from dpcourse.laws import Laplace
from dpcourse.loss import DensityLoss, PrivacyLoss
from dpcourse.neighbours import REPLACE_ONE
from dpcourse.sensitivity import median, trimmed_mean

MEDIAN = median(3, low=0, high=1)
CONSTANT, MOVED = (0, 0, 0), (0, 0, 1)
PAIRS = (
    ((0, 0, 0), (0, 0, 1)),
    ((0, 0, 1), (0, 1, 1)),
    ((0, 0.5, 1), (0, 0, 1)),
    ((0.5, 0.5, 0.5), (0.5, 0.5, 1)),
)
SOUND = [
    Case("smooth Laplace", SmoothLaplace(MEDIAN, 1.0, 1e-3), PAIRS),
    Case("smooth Cauchy", SmoothCauchy(MEDIAN, 1.0, 2.0), PAIRS),
    Case("smooth Cauchy, 4", SmoothCauchy(MEDIAN, 1.0, 4.0), PAIRS),
    Case("smooth Cauchy, classic", SmoothCauchy(MEDIAN, 1.0, 2.0, rule="classic"), PAIRS),
    Case("smooth Student", SmoothStudentT(MEDIAN, 1.0, 3.0), PAIRS),
    Case("smooth trimmed mean", SmoothStudentT(trimmed_mean(3, 0, 0, 1), 0.5), PAIRS),
]
BROKEN = [
    Case("smooth Laplace, claimed pure", NaiveSmoothLaplace(MEDIAN, 0.5), ((CONSTANT, MOVED),)),
    Case(
        "noise of local sensitivity",
        LocalLaplace(median(5, 0, 10), 1.0),
        (((0,) * 4 + (10,), (0,) * 3 + (10,) * 2),),
    ),
]


@pytest.mark.parametrize("case", SOUND, ids=lambda case: case.name)
def test_sound_versions_pass_the_contract(case, rng):
    assert faults(case, rng) == []


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_broken_versions_are_caught_for_their_promise(case, rng):
    assert {fault.rule for fault in faults(case, rng)} == {"promise"}


@pytest.mark.parametrize(
    ("epsilon", "delta", "shifted"), [(0.1, 0.00549, 0.0082), (0.5, 0.0390, 0.0511), (1.0, 0.1103, 0.1295)]
)
def test_the_two_epsilon_theorem_is_false(epsilon, delta, shifted):
    m = NaiveSmoothLaplace(MEDIAN, epsilon)
    loss = m.loss(MOVED, CONSTANT)
    low, high = loss.delta_bounds(2 * epsilon)
    assert low == pytest.approx(delta, abs=6e-5)
    assert high - low < 1e-12
    assert m.guarantee == PureDP(2 * epsilon, adjacency=REPLACE_ONE)
    assert loss.max_divergence() == math.inf
    # The medians are equal here; where they differ, by at most the smaller bound, it is worse still.
    wide, narrow = (m.law(data) for data in (MOVED, CONSTANT))
    moved = max(
        PrivacyLoss.between(wide, Laplace(shift, narrow.scale)).delta(2 * epsilon)
        for shift in np.linspace(0, math.exp(-epsilon), 9)
    )
    assert moved == pytest.approx(shifted, abs=6e-5)


def test_the_log_ratio_of_the_false_theorem_grows_with_the_answer():
    loss = NaiveSmoothLaplace(MEDIAN, 0.5).loss(MOVED, CONSTANT)
    assert loss.at(10.0) == pytest.approx(2.74, abs=0.01)
    assert loss.at(100.0) == pytest.approx(31.9, abs=0.05)
    slope = 0.5 * math.expm1(0.5)
    assert loss.at(1001.0) - loss.at(1000.0) == pytest.approx(slope)
    wide, narrow = loss.pair
    assert 2 * wide.sf(4.32) == pytest.approx(0.1152, abs=2e-4)
    assert 2 * narrow.sf(4.32) == pytest.approx(0.0284, abs=1e-4)


def test_reference_values_of_the_corrected_versions():
    laplace = SmoothLaplace(MEDIAN, 1.0, 1e-3)
    wide, narrow = Laplace(0, 2 * math.exp(laplace.beta)), Laplace(1, 2)  # the worst shift and stretch
    assert PrivacyLoss.between(wide, narrow).delta(1.0) == pytest.approx(7.7e-6, abs=5e-8)
    pairs = REPLACE_ONE.pairs((0, 0.3, 1), 3)
    assert 1e-6 < max(laplace.loss(x, y).delta(1.0) for x, y in pairs) < 7.7e-6
    cauchy = SmoothCauchy(MEDIAN, 1.0, 2.0, rule="classic")
    wide, narrow = cauchy.noise(0, 6 * math.exp(cauchy.beta)), cauchy.noise(1, 6)
    assert PrivacyLoss.between(wide, narrow).max_divergence() == pytest.approx(0.226, abs=5e-4)


@given(
    st.integers(1, 5),
    st.floats(0.05, 3.0),
    st.floats(1.2, 8.0),
    st.sampled_from([SmoothCauchy, SmoothStudentT]),
    st.data(),
)
def test_pure_versions_keep_their_word_everywhere(size, epsilon, shape, kind, data):
    """The exact largest loss, of every neighbour of random data over a few values."""
    m = kind(median(size, low=0, high=1), epsilon, shape)
    x = tuple(data.draw(st.lists(st.sampled_from((0, 0.25, 1)), min_size=size, max_size=size)))
    y = data.draw(st.sampled_from(REPLACE_ONE.enumerate(x, (0, 0.25, 1))))
    points = np.concatenate([s * np.logspace(-3, 6, 400) * m.law(x).scale for s in (-1, 1)])
    losses = m.law(x).log_prob(points) - m.law(y).log_prob(points)
    assert np.abs(losses).max() <= epsilon * (1 + 1e-9)


@given(st.floats(1.1, 8.0), st.floats(-3, 3), st.floats(-30, 30))
def test_shift_and_stretch_constants(gamma, stretch, z):
    """|(ln h)'| and the stretch of both heavy-tailed densities stay within the constants that are used."""
    for law, slope, rate in (
        (SmoothCauchy(MEDIAN, 2.0, gamma).noise(0, 1), (gamma - 1) ** (1 - 1 / gamma), max(1, gamma - 1)),
        (StudentT(0, 1, gamma), (gamma + 1) / (2 * math.sqrt(gamma)), max(1, gamma)),
    ):
        step = 1e-4
        assert abs(law.log_prob(z + step) - law.log_prob(z)) <= slope * step * (1 + 1e-6)
        change = law.log_prob(z) - stretch - law.log_prob(math.exp(stretch) * z)
        assert abs(change) <= rate * abs(stretch) + 1e-9


def test_sharp_constants_give_less_noise_than_the_papers():
    for gamma in (1.5, 2.0, 4.0):
        sharp, classic = (SmoothCauchy(MEDIAN, 1.0, gamma, rule=rule) for rule in ("sharp", "classic"))
        assert sharp.law((0, 0.5, 1)).scale < 0.51 * classic.law((0, 0.5, 1)).scale
        assert sharp.beta > classic.beta


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.05])
def test_laplace_keeps_epsilon_and_delta(epsilon, delta):
    m = SmoothLaplace(median(3, 0, 1), epsilon, delta)
    pairs = REPLACE_ONE.pairs((0, 0.3, 1), 3)
    worst = max(m.loss(x, y).delta(epsilon) for x, y in pairs)
    assert worst <= delta
    assert m.guarantee == ApproxDP(epsilon, delta, adjacency=REPLACE_ONE)


# Student's t as the laws of the package are tested ---------------------------------------------------------

STUDENTS = [StudentT(1.5, 0.7, 3.0), StudentT(-2.0, 3.0, 1.0), StudentT(0.0, 1.0, 12.5)]


@pytest.mark.parametrize("law", STUDENTS, ids=repr)
def test_student_agrees_with_scipy(law):
    oracle = stats.t(law.degrees, law.loc, law.scale)
    y = np.linspace(-40, 40, 101)
    np.testing.assert_allclose(law.log_prob(y), oracle.logpdf(y), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(law.cdf(y), oracle.cdf(y), rtol=1e-11)
    np.testing.assert_allclose(law.sf(y), oracle.sf(y), rtol=1e-11)
    assert abs(total_mass(law) - 1) < 1e-11
    mean, variance = (law.mean(), law.variance())
    if law.degrees > 2:
        assert [mean, variance] == pytest.approx([law.loc, oracle.var()])
    else:
        assert math.isnan(mean)
        assert math.isnan(variance)
    assert StudentT(0, 1, 2).variance() == math.inf
    mass, _ = integrate.quad(law.prob, -1, 2, epsabs=1e-13)
    assert law.cdf(2.0) - law.cdf(-1.0) == pytest.approx(mass, abs=1e-10)


@pytest.mark.parametrize("law", STUDENTS, ids=repr)
def test_student_samples_fit(law, rng):
    n = 100_000
    top = law.cdf(np.sort(law.sample(rng, n)))
    gap = math.sqrt(math.log(2e6) / (2 * n))
    assert np.all(np.abs(top - (np.arange(n) + 0.5) / n) < gap + 1 / n)
    assert "<svg" in law._repr_html_()
    assert law.batch_shape == ()
    assert StudentT([0, 1], 1.0, 3.0)[1] == StudentT(1, 1.0, 3.0)


def test_a_mechanism_without_spread_is_exact():
    m = SmoothLaplace(median(3, low=2, high=2), 1.0, 1e-3)
    assert m.law((2, 2, 2)).prob(2.0) == 1


def test_sampling_and_losses_come_with_the_law(rng):
    m = SmoothStudentT(median(1001, 0, 1), 1.0)
    data = tuple(rng.random(1001).tolist())
    draws = m(data, rng, 20_000)
    assert abs(np.median(draws) - m.query(data)) < 0.01
    assert isinstance(m.loss(data, (0.0, *data[1:])), DensityLoss)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SmoothLaplace(MEDIAN, 0.0, 1e-3), "epsilon = 0.0"),
        (lambda: SmoothLaplace(MEDIAN, 1.0, 0.0), "delta = 0.0"),
        (lambda: SmoothLaplace(MEDIAN, 10.0, 1e-3), "small enough for the theorem at delta = 0.001"),
        (lambda: SmoothLaplace(MEDIAN, 1.0, 0.9), "small enough for the theorem"),
        (lambda: SmoothCauchy(MEDIAN, 1.0, 1.0), "p = 1.0 breaks a rule: it must be above 1"),
        (lambda: SmoothCauchy(MEDIAN, 1.0, rule="new"), "one of 'sharp', 'classic'"),
        (lambda: SmoothStudentT(MEDIAN, 1.0, -1.0), "degrees = -1.0"),
        (lambda: StudentT(0, 1, 0), "degrees = 0"),
        (lambda: SmoothCauchy(3, 1.0), "query = 3 breaks a rule: it must be a query that knows its smooth"),
        (lambda: SmoothStudentT(MEDIAN, 1.0).law((0, 1)), "3 numbers"),
        (
            lambda: SmoothStudentT(MEDIAN, 1.0).loss((0, 0, 0), (1, 1, 1)),
            "a pair of neighbours (replace-one)",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(BadInput, match="breaks a rule") as caught:
        call()
    assert message in str(caught.value)
