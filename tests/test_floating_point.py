"""The low bits of Laplace noise: the attack really works, and the discrete law really stops it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import BadInput
from dpcourse.attacks import TextbookLaplace, addable, decide, rounding_rate
from dpcourse.laws import DiscreteLaplace
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import GeometricMechanism, LaplaceMechanism

DRAWS = 20_000


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("centre", [0.0, 1.0, 100.0])
def test_the_textbook_sampler_is_numpys_bit_for_bit(scale: float, centre: float) -> None:
    ours = TextbookLaplace(scale).sample(centre, np.random.default_rng(1), DRAWS)
    assert np.array_equal(ours, np.random.default_rng(1).laplace(centre, scale, DRAWS))


@pytest.mark.parametrize("bits", [3, 8, 14])
@pytest.mark.parametrize("scale", [0.3, 1.0, 37.0])
@pytest.mark.parametrize("centre", [0.0, 1.0, -2.5, 2.0**30, 2.0**38, 1e12])
def test_reachable_is_exactly_the_support_of_the_law(bits: int, scale: float, centre: float) -> None:
    # With few bits all coins can be tried. At a large centre doubles are coarse: many coins, one output.
    sampler = TextbookLaplace(scale, bits)
    support = np.array(sampler.law(centre).outcomes)
    beside = np.concatenate([np.nextafter(support, np.inf), np.nextafter(support, -np.inf)])
    tried = np.concatenate([support, beside, sampler.law(centre + 1).outcomes])
    assert np.array_equal(sampler.reachable(tried, centre), np.isin(tried, support))


@given(st.sampled_from([2.0**e for e in range(-6, 7)]), st.floats(-1e6, 1e6), st.integers(0, 2**32))
def test_an_output_is_always_reachable_from_its_own_centre(scale: float, centre: float, seed: int) -> None:
    outputs = np.random.default_rng(seed).laplace(centre, scale, 200)
    assert TextbookLaplace(scale).reachable(outputs, centre).all()


@given(st.floats(0.01, 100), st.floats(-1e6, 1e6), st.integers(0, 2**32))
def test_the_same_for_scales_that_are_rounded(scale: float, centre: float, seed: int) -> None:
    sampler = TextbookLaplace(scale)
    outputs = sampler.sample(centre, np.random.default_rng(seed), 200)
    assert sampler.reachable(outputs, centre).all()


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 16.0])
@pytest.mark.parametrize("secret", [0, 1])
def test_one_numpy_answer_gives_the_bit_away_four_times_in_five(scale: float, secret: int) -> None:
    outputs = np.random.default_rng(2).laplace(secret, scale, DRAWS)
    found = decide(outputs, TextbookLaplace(scale))
    # measured .80 to .85 with 10^5 draws; the standard error here is .003
    assert 0.78 < found.rate < 0.87
    assert (found.bits[found.certain] == secret).all()  # certain means certain
    assert (found.bits[~found.certain] == -1).all()


def test_large_counts_hide_most_holes_but_not_those_of_the_tail() -> None:
    outputs = np.random.default_rng(2).laplace(1000.0, 1.0, DRAWS)
    found = decide(outputs, TextbookLaplace(), 1000.0, 1001.0)
    assert 0.0005 < found.rate < 0.004  # .0017 with 10^5 draws; the standard error here is .0003
    assert (found.bits[found.certain] == 0).all()
    assert np.abs(outputs[found.certain] - 1000).min() > 4


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0, 64.0])
def test_rounding_alone_betrays_a_zero_as_often_as_computed(scale: float) -> None:
    # No knowledge of the sampler: the engine's own float Laplace law, which draws exponentials by ziggurat.
    outputs = LaplaceMechanism(1 / scale)(0, np.random.default_rng(3), 5 * DRAWS)
    found = decide(outputs)
    assert found.from_left.all()
    assert found.rate == pytest.approx(rounding_rate(scale), abs=0.008)  # five standard errors
    other = decide(LaplaceMechanism(1 / scale)(1, np.random.default_rng(3), DRAWS))
    assert other.from_right.all()


@given(st.integers(1, 2**20), st.integers(0, 60))
def test_what_one_plus_noise_can_be_near_zero(numerator: int, power: int) -> None:
    y = numerator * 2.0**-power * 2.0**-25  # below 1/2 for the first power on; up to 85 binary places
    if y < 0.5:
        assert addable(y, 1.0)[0] == (y * 2.0**53 == round(y * 2.0**53))
        assert addable(-y, 1.0)[0] == (y * 2.0**52 == round(y * 2.0**52))
    assert addable([y, -y], 0.0).all()


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_every_sum_is_addable(centre: float, noise: float) -> None:
    assert addable(centre + noise, centre)[0]


def test_no_epsilon_covers_the_holes() -> None:
    sampler = TextbookLaplace(bits=10)
    zero, one = sampler.law(0.0), sampler.law(1.0)
    sure = sum(p for y, p in zip(zero.outcomes, zero.probs, strict=True) if y not in one.outcomes)
    loss = PrivacyLoss.between(zero, one)
    assert sure == 1  # at ten bits the two supports have nothing in common
    assert loss.delta(50.0) == pytest.approx(1)
    assert math.isinf(loss.epsilon(0.5))


def test_the_law_is_the_sampler() -> None:
    sampler = TextbookLaplace(bits=3)
    draws = sampler.sample(1.0, np.random.default_rng(0), 100_000)
    law = sampler.law(1.0)
    assert set(draws.tolist()) == set(law.outcomes)
    counts = np.array([np.sum(draws == y) for y in law.outcomes])
    expected = law.weights * len(draws)
    chi_square = np.sum((counts - expected) ** 2 / expected)
    assert chi_square < 50  # 14 degrees of freedom: probability 6e-6


def test_the_comb_shows_the_holes() -> None:
    near_three = TextbookLaplace().comb(0.0, around=3.0)
    # teeth e^3 2^-52 apart, on doubles that are 2^-51 apart: about one in ten
    assert 4 <= near_three.size <= 12
    assert TextbookLaplace().reachable(near_three, 0.0).all()
    from_one = TextbookLaplace().comb(1.0, around=3.0)
    assert not np.array_equal(near_three, from_one)


@pytest.mark.parametrize("scale", [0.5, 1.0, 10.0])
def test_the_fix_has_the_same_support_for_both_answers(scale: float) -> None:
    mechanism = GeometricMechanism(1 / scale)
    for secret in (0, 1):
        outputs = mechanism(secret, np.random.default_rng(4), DRAWS)
        assert decide(outputs).rate == 0
        each = np.unique(outputs)
        ratio = DiscreteLaplace(0, scale).log_prob(each) - DiscreteLaplace(1, scale).log_prob(each)
        assert (np.abs(ratio) <= 1 / scale + 1e-12).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TextbookLaplace(0.0), "scale = 0.0"),
        (lambda: TextbookLaplace(bits=53), "bits = 53 breaks a rule: it must be at most 52"),
        (lambda: TextbookLaplace(bits=0), "bits = 0"),
        (lambda: TextbookLaplace().law(0.0), "few enough to list all outputs"),
        (lambda: TextbookLaplace().sample(0.0, None, 3), "a numpy.random.Generator"),
        (lambda: decide([math.nan]), "finite"),
        (lambda: decide([]), "at least one noisy answer"),
        (lambda: TextbookLaplace().reachable([1.0], math.nan), "centre = nan"),
        (lambda: rounding_rate(-1.0), "scale = -1.0"),
    ],
)
def test_bad_input_is_explained(call, message: str) -> None:
    with pytest.raises(BadInput, match="Fix:") as caught:
        call()
    assert message in str(caught.value)
