"""Every law against scipy.stats, against itself, and against bad input: one table, every test."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from dpcourse import laws
from dpcourse.contract import total_mass
from dpcourse.errors import BadInput

# law, the scipy.stats oracle of the same law (None where scipy has none)
CONTINUOUS = [
    (laws.Laplace(1.5, 0.7), stats.laplace(1.5, 0.7)),
    (laws.Gaussian(-2.0, 3.0), stats.norm(-2.0, 3.0)),
    (laws.Gumbel(0.5, 2.0), stats.gumbel_r(0.5, 2.0)),
    (laws.GeneralizedCauchy(1.0, 0.5, p=2), stats.cauchy(1.0, 0.5)),
    (laws.GeneralizedCauchy(1.0, 2.0, p=4), None),
    (laws.Mixture((0.3, 0.7), (laws.Gaussian(0, 1), laws.Gaussian(3, 0.5))), None),
]
DISCRETE = [
    (laws.DiscreteLaplace(3, 2.5), stats.dlaplace(1 / 2.5, loc=3)),
    (laws.DiscreteGaussian(-1, 4.0), None),
    (laws.DiscreteGaussian(0, 0.3), None),
    (laws.Mixture((0.5, 0.5), (laws.DiscreteLaplace(0, 1), laws.DiscreteLaplace(4, 1))), None),
]
ALL = [law for law, _ in CONTINUOUS + DISCRETE]
NAMES = [f"{type(law).__name__}{i}" for i, law in enumerate(ALL)]


@pytest.mark.parametrize(("law", "oracle"), [pair for pair in CONTINUOUS + DISCRETE if pair[1]])
def test_agrees_with_scipy(law, oracle):
    y = np.arange(-12.0, 15.0) if law.discrete else np.linspace(-12, 15, 101)
    expected = oracle.logpmf(y) if law.discrete else oracle.logpdf(y)
    np.testing.assert_allclose(law.log_prob(y), expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(law.cdf(y), oracle.cdf(y), rtol=1e-11)
    np.testing.assert_allclose(law.sf(y), oracle.sf(y), rtol=1e-9, atol=1e-15)
    mean, variance = oracle.stats("mv")
    np.testing.assert_allclose([law.mean(), law.variance()], [mean, variance], rtol=1e-11)


@pytest.mark.parametrize("law", ALL, ids=NAMES)
def test_has_mass_one(law):
    assert abs(total_mass(law) - 1) < 1e-11


@pytest.mark.parametrize("law", ALL, ids=NAMES)
def test_the_cdf_is_the_sum_or_integral_of_the_density(law):
    if law.discrete:
        y = np.arange(-200.0, 10)
        np.testing.assert_allclose(law.cdf(9.0), law.prob(y).sum(), rtol=1e-11)
        assert law.prob(0.5) == 0
        assert law.cdf(3.9) == law.cdf(3.0)
    else:
        for low, high in [(-1.0, 0.5), (0.5, 2.0), (3.0, 4.0)]:
            mass, error = integrate.quad(law.prob, low, high, points=[1.0, 1.5], epsabs=1e-13)
            assert abs(law.cdf(high) - law.cdf(low) - mass) < 1e-10 + error


@pytest.mark.parametrize("law", ALL, ids=NAMES)
def test_samples_fit_the_law(law, rng):
    n = 100_000
    y = np.sort(law.sample(rng, n))
    top = law.cdf(y)
    bottom = top - law.prob(y) if law.discrete else top
    steps = np.arange(n) / n
    # Dvoretzky-Kiefer-Wolfowitz: a false alarm once in a million runs.
    gap = math.sqrt(math.log(2e6) / (2 * n))
    assert np.all(top >= steps - gap)
    assert np.all(bottom <= steps + 1 / n + gap)


@pytest.mark.parametrize("law", ALL, ids=NAMES)
def test_moments_fit_the_samples(law, rng):
    if getattr(law, "p", 9) <= 4:
        return  # no fourth moment: the average of squares settles too slowly
    y = law.sample(rng, 200_000)
    assert abs(y.mean() - law.mean()) < 6 * law.std() / math.sqrt(len(y))
    assert law.variance() == pytest.approx(y.var(), rel=0.1, abs=1e-3)


@pytest.mark.parametrize("law", ALL, ids=NAMES)
def test_draws_itself_for_a_notebook(law):
    html = law._repr_html_()
    assert "<svg" in html
    assert "currentColor" in html
    assert "$" in html
    assert law == replace(law)
    assert hash(law) == hash(law)
    assert law != laws.Point(0)


def test_generalized_cauchy_moments():
    assert math.isnan(laws.GeneralizedCauchy(0, 1, p=2).mean())
    assert laws.GeneralizedCauchy(0, 1, p=3).variance() == np.inf
    # p = 4: E z^2 = sin(pi/4)/sin(3 pi/4) = 1
    assert laws.GeneralizedCauchy(5, 2, p=4).variance() == pytest.approx(4)


def test_discrete_laws_match_the_reference(golden):
    for row in golden["discrete_laplace"]["rows"]:
        law = laws.DiscreteLaplace(0, float(row["scale"]))
        assert law.prob(0) == pytest.approx(float(row["p0"]), rel=1e-12)
        assert law.variance() == pytest.approx(float(row["variance"]), rel=1e-12)
    for row in golden["discrete_gaussian_delta"]["rows"]:
        law = laws.DiscreteGaussian(0, float(row["sigma"]))
        assert law.normaliser() == pytest.approx(float(row["normaliser"]), rel=1e-12)
        assert law.variance() == pytest.approx(float(row["variance"]), rel=1e-12)


@pytest.mark.parametrize("sigma", [99.9, 100.1, 1000.0])
def test_discrete_gaussian_cdf_is_seamless(sigma):
    law = laws.DiscreteGaussian(0, sigma)
    y, cuts = np.arange(-60 * sigma, 151), (-300, -10, 0, 150)
    sums = [law.prob(y[y <= cut]).sum() for cut in cuts]
    np.testing.assert_allclose(law.cdf(cuts), sums, rtol=1e-11)


def test_parameters_broadcast(rng):
    law = laws.Laplace(loc=np.arange(5.0), scale=[[1.0], [10.0]])
    assert law.batch_shape == (2, 5)
    assert law.sample(rng, (7, 3)).shape == (7, 3, 2, 5)
    assert law.log_prob(0.0).shape == (2, 5)
    assert law[1, 3] == laws.Laplace(3.0, 10.0)
    counts = laws.DiscreteLaplace(loc=[0, 100], scale=[1.0, 2.0])
    assert abs(counts.sample(rng, 4000).mean(0) - [0, 100]).max() < 1
    coin = laws.Finite((0, 1), np.array([[0.5, 0.5], [0.1, 0.9]]))
    assert coin.batch_shape == (2,)
    assert abs(coin.sample(rng, 20_000).mean(0) - [0.5, 0.9]).max() < 0.02
    assert coin[1].prob(1) == 0.9


def test_finite_is_exact_in_fractions():
    die = laws.Finite(range(1, 7), [Fraction(1, 6)] * 6)
    assert die.mean() == Fraction(7, 2)
    assert die.variance() == Fraction(35, 12)
    parity = die.map(lambda v: "even" if v % 2 == 0 else "odd")
    assert parity.prob("even") == Fraction(1, 2)
    two = die.product(die).map(sum)
    assert two.prob(7) == Fraction(1, 6)
    assert two.prob(13) == 0
    assert die.cdf(2.5) == pytest.approx(1 / 3)
    assert repr(laws.Point("x")) == "Finite('x': 1)"


@given(st.lists(st.fractions(min_value=0, max_value=5), min_size=1, max_size=8).filter(lambda w: sum(w) > 0))
def test_mapping_a_finite_law_keeps_its_mass(weights):
    law = laws.Finite(range(len(weights)), [w / sum(weights) for w in weights])
    assert sum(law.map(lambda v: v % 2).probs) == 1
    assert law.expect(lambda v: 1) == 1


def test_finite_takes_outcomes_of_any_kind(rng):
    law = laws.Finite((("a", 1), None, "b"), (0.5, 0.25, 0.25))
    assert law.prob(("a", 1)) == 0.5
    assert law.prob("zebra") == 0
    assert law.log_prob("zebra") == -np.inf
    assert set(law.sample(rng, 200)) == {("a", 1), None, "b"}
    assert law.sample(rng) in law.outcomes


def test_product_is_a_law_on_vectors(rng):
    law = laws.Product(laws.Laplace([1.0, 2.0], 1.0), laws.Gaussian(0, 2.0))
    y = law.sample(rng, 5)
    assert y.shape == (5, 3)
    expected = laws.Laplace([1.0, 2.0], 1.0).log_prob(y[:, :2]).sum(-1) + laws.Gaussian(0, 2).log_prob(
        y[:, 2]
    )
    np.testing.assert_allclose(law.log_prob(y), expected)
    np.testing.assert_allclose(law.mean(), [1, 2, 0])
    np.testing.assert_allclose(law.variance(), [2, 2, 4])
    assert law.cdf([1.0, 2.0, 0.0]) == pytest.approx(1 / 8)
    assert laws.Product(laws.Point(1), laws.Point("x")).to_finite().prob((1, "x")) == 1
    batch = laws.Product(laws.Laplace(np.zeros((4, 2)), 1.0), laws.Gaussian(0, 1))
    assert batch.batch_shape == (4,)
    assert batch.sample(rng, 6).shape == (6, 4, 3)
    assert batch[0].batch_shape == ()


def test_ranking_is_peeling_with_the_exponential_mechanism(rng):
    law = laws.Ranking((0, 1, 2, 3), tuple(0.7 * s for s in (0, 1, 2, 3)), 2)
    assert law.prob((2, 3)) == pytest.approx(0.19442, abs=5e-6)
    assert sum(law.to_finite().weights) == pytest.approx(1)
    draws = law.sample(rng, 50_000)
    share = np.mean((draws[:, 0] == 2) & (draws[:, 1] == 3))
    assert abs(share - 0.19442) < 0.01
    assert law.log_prob((2, 2)) == -math.inf


def test_image_samples_and_says_what_it_cannot_do(rng):
    law = laws.Image(laws.Laplace(0, 1), np.abs)
    assert np.all(law.sample(rng, 100) >= 0)
    with pytest.raises(BadInput, match=r"whose density is known.*inner law"):
        law.log_prob(1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: laws.Laplace(0, -1), r"scale = -1 breaks a rule: .*above 0\. Fix:"),
        (lambda: laws.Laplace(0, [1, 0]), r"scale = \[1, 0\] .*above 0"),
        (lambda: laws.Gaussian(float("nan"), 1), "loc = nan .*finite"),
        (lambda: laws.Gaussian("ten", 1), "loc = 'ten' .*real number"),
        (lambda: laws.GeneralizedCauchy(0, 1, p=1), "p = 1.* above 1"),
        (lambda: laws.DiscreteLaplace(0.5, 1), "loc = 0.5 .*whole.*round"),
        (lambda: laws.Finite((), ()), "outcomes = .*at least one"),
        (lambda: laws.Finite((1, 2), (0.5, 0.6)), "nonnegative with sum 1.*divide by the sum"),
        (lambda: laws.Finite((1, 2), (Fraction(1, 2), Fraction(1, 3))), "nonnegative with sum 1"),
        (lambda: laws.Finite((1, 1), (0.5, 0.5)), "distinct.*from_pairs"),
        (lambda: laws.Finite((1, 2), (1.0,)), "2 numbers, one for each outcome"),
        (lambda: laws.Finite((1, 2), (0.5, float("nan"))), "nonnegative with sum 1"),
        (lambda: laws.Finite(("a",), (1,)).cdf(0), "numbers for a cdf"),
        (lambda: laws.Finite(("a",), (1,)).prob({}), "hashable"),
        (lambda: laws.Mixture((0.5, 0.6), (laws.Gaussian(), laws.Laplace())), "sum 1"),
        (
            lambda: laws.Mixture((0.5, 0.5), (laws.Gaussian(), laws.Point(0))),
            "all continuous or all discrete",
        ),
        (laws.Product, "at least one law"),
        (lambda: laws.Product(laws.Gaussian([0, 1], 1)).log_prob([1, 2, 3]), "vectors of 2 numbers"),
        (lambda: laws.Ranking(("a", "b"), (0.0, 1.0), 3), "k = 3 .*number of items, 2"),
        (lambda: laws.Laplace().sample(np.random), "numpy.random.Generator.*default_rng"),
        (lambda: laws.Finite((0,), (1,)).sample(7), "rng = 7 .*default_rng"),
        (lambda: laws.Finite(([0], [1]), (0.5, 0.5)), "distinct.*write lists as tuples"),
        (lambda: laws.Laplace().sample(np.random.default_rng(0), -3), "size = -3 .*no less than 0 draws"),
    ],
)
def test_bad_input_is_explained(make, message):
    with pytest.raises(BadInput, match=message):
        make()
