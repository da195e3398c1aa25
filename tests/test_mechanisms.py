"""The textbook mechanisms: their laws, claims, anchors from the literature, and messages."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

import dpcourse as dp
from dpcourse import coins, laws
from dpcourse.errors import BadInput
from dpcourse.loss import LaplaceLoss, PrivacyLoss
from dpcourse.mechanisms.selection import laplace_winner

scores = st.lists(st.floats(-8, 8), min_size=2, max_size=5)


# Noise on an answer -----------------------------------------------------------------------------


def test_analytic_gaussian_reference(golden):
    for row in golden["analytic_gaussian_sigma"]["rows"]:
        eps, delta = float(row["eps"]), float(row["delta"])
        sigma = dp.gaussian_sigma(eps, delta, row["sensitivity"])
        assert sigma == pytest.approx(float(row["sigma"]), rel=1e-12)
        assert sigma >= float(row["sigma"]) * (1 - 1e-15)  # rounded up
        promise = dp.GaussianMechanism(sigma, sensitivity=row["sensitivity"]).guarantee
        assert promise.delta(eps) <= delta


def test_textbook_gaussian_fails_where_its_proof_stops():
    """sqrt(2 ln(1.25/delta)) is valid for epsilon < 1; at epsilon = 10, delta = .1 the truth is .4056."""
    loose = dp.GaussianMechanism(dp.classic_sigma(10, 0.1)).guarantee
    assert loose.delta(10) == pytest.approx(0.4056, abs=5e-5)
    for delta, first in ((0.1, 5.74), (0.01, 6.77), (1e-5, 8.42), (1e-6, 8.78)):
        below, above = (dp.GDP(1 / dp.classic_sigma(e, delta)).delta(e) for e in (first - 0.02, first + 0.02))
        assert below < delta < above
    for eps in (0.1, 0.5, 0.999):
        assert dp.GDP(1 / dp.classic_sigma(eps, 1e-5)).delta(eps) < 0.31e-5


@given(st.floats(0.05, 5), st.floats(0.5, 3), st.floats(-20, 20))
def test_laplace_loss_is_the_claim(epsilon, sensitivity, value):
    mechanism = dp.LaplaceMechanism(epsilon, sensitivity=sensitivity)
    loss = mechanism.loss(value, value + sensitivity)
    assert loss.max_divergence() == pytest.approx(epsilon)
    assert loss.delta(epsilon / 2) == pytest.approx(1 - math.exp(-epsilon / 4), rel=1e-9)


def test_vector_answers_have_one_joint_law(rng):
    mechanism = dp.LaplaceMechanism(0.5, query=lambda data: np.sum(data, axis=0), sensitivity=2)
    data = ((1.0, 0.0), (0.5, 0.5))
    assert isinstance(mechanism.law(data), laws.Product)
    assert mechanism(data, rng, 3).shape == (3, 2)
    gaussian = dp.GaussianMechanism(2.0, sensitivity=5)
    assert gaussian.loss((0, 0), (3, 4)).delta(1.0) == pytest.approx(dp.GDP(2.5).delta(1.0), rel=1e-12)


@given(st.floats(0.1, 2.0), st.floats(0.05, 0.95))
def test_one_coordinate_is_the_worst_l1_shift(total, part):
    """Splitting an l1 shift over two coordinates reveals no more than making it in one."""
    split = LaplaceLoss(total * part) + LaplaceLoss(total * (1 - part))
    for eps in (0.0, 0.2 * total, 0.7 * total):
        assert split.delta_bounds(eps)[0] <= LaplaceLoss(total).delta(eps) + 1e-12


def test_histograms_under_both_adjacencies():
    rows = ("a", "b", "a")
    assert dp.histogram(1.0, "ab").scale == 1
    assert dp.histogram(1.0, "ab", adjacency=dp.REPLACE_ONE).scale == 2
    assert dp.histogram(1.0, "a", adjacency=dp.REPLACE_ONE).scale == 1  # one bin: the count moves by 1
    np.testing.assert_array_equal(dp.histogram(1.0, "abc").law(rows).mean(), [2, 1, 0])
    by_length = dp.histogram(1.0, (1, 2), key=len)
    np.testing.assert_array_equal(by_length.law(("x", "yy", "zz", "www")).mean(), [1, 2])


def test_add_remove_noise_is_half_of_what_replacement_needs():
    """Lap(1/eps) per bin under replace-one: loss 2 at eps = 1, exact delta(1) = .2418."""
    loss = PrivacyLoss.between(*(laws.Product(laws.Laplace(v, 1.0)) for v in ([1, 0], [0, 1])))
    assert loss.max_divergence() == pytest.approx(2)
    assert loss.delta(1.0) == pytest.approx(0.2418, abs=5e-5)


def test_geometric_mechanism_counts_whole_people(rng):
    mechanism = dp.GeometricMechanism(0.5, query=len)
    draws = mechanism(("x",) * 7, rng, 1000)
    assert draws.dtype == np.int64
    assert mechanism.guarantee.share(mechanism.loss((1,), (1, 2))) == pytest.approx(1)


def test_sums_of_a_mean_depend_on_the_adjacency():
    """1/n is the sensitivity of a mean under replace-one only; adding a row moves {0} to 1/2."""
    assert not dp.LaplaceMechanism(1.0, sensitivity=0.25).are_neighbours(0.0, 0.5)


# A person's own answer --------------------------------------------------------------------------


def test_two_coins_is_ln_three(rng):
    mechanism = dp.TwoCoins()
    assert mechanism.law(True).prob(True) == Fraction(3, 4)
    assert mechanism.law(False).prob(True) == Fraction(1, 4)
    assert mechanism.guarantee.epsilon(0) == pytest.approx(math.log(3))
    program = coins.law(lambda coin, truth: truth if coin.flip() else coin.flip(), True)
    assert program.prob(True) == Fraction(3, 4)
    assert dp.TwoCoins(1, Fraction(1, 2)).guarantee.epsilon(0) == math.inf


@given(st.floats(0.1, 4), st.integers(2, 6))
def test_response_of_many_values(epsilon, m):
    mechanism = dp.RandomizedResponse(epsilon, tuple(range(m)))
    law = mechanism.law(0)
    assert law.prob(0) == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + m - 1))
    assert mechanism.loss(0, 1).max_divergence() == pytest.approx(epsilon)
    assert mechanism.loss(0, 1).delta(0) == pytest.approx(float(law.prob(0) - law.prob(1)), rel=1e-12)


def test_odds_stay_exact():
    loss = dp.RandomizedResponse.with_odds(Fraction(3)).loss(0, 1)
    assert loss.hockey_stick(Fraction(3, 2)) == Fraction(3, 8)
    assert loss.max_ratio() == 3


# Choices ----------------------------------------------------------------------------------------


@given(scores)
def test_winner_probabilities_against_quadrature(values):
    """Each winner by scipy's adaptive quadrature of the defining integral."""
    found = laplace_winner(np.array(values))
    assert found.sum() == pytest.approx(1, abs=1e-12)
    i = int(np.argmin(values))

    def integrand(t):
        others = np.prod([laws.Laplace(v, 1.0).cdf(t) for j, v in enumerate(values) if j != i])
        return float(laws.Laplace(values[i], 1.0).prob(t)) * others

    kinks = sorted(set(values))
    mass = sum(
        integrate.quad(integrand, a, b, epsabs=1e-13, epsrel=1e-10)[0]
        for a, b in zip([-60, *kinks], [*kinks, 60], strict=True)
    )
    assert found[i] == pytest.approx(mass, rel=1e-6, abs=1e-10)


def test_noisy_max_anchors():
    assert dp.NoisyMax(1.0, monotone=True).law([0, 5]).prob(0) == pytest.approx(
        math.exp(-5) * (0.5 + 5 / 4), rel=1e-12
    )
    swap = dp.NoisyMax(1.0, monotone=True)
    for t, expected in ((2, 1.307), (5, 1.664), (10, 1.818), (20, 1.905)):
        losses = PrivacyLoss.between(swap.law([1, t - 1]), swap.law([0, t]))
        assert losses.max_divergence() == pytest.approx(expected, abs=6e-4)
    assert laplace_winner(np.array([0.0, 300.0]))[1] == pytest.approx(1)


@given(scores, st.data())
def test_noisy_max_keeps_its_promise(values, data):
    moves = data.draw(st.lists(st.floats(-1, 1), min_size=len(values), max_size=len(values)))
    for noise in ("laplace", "gumbel"):
        mechanism = dp.NoisyMax(1.0, noise=noise)
        loss = mechanism.loss(values, [v + m for v, m in zip(values, moves, strict=True)])
        assert loss.max_divergence() <= 1 + 1e-9
    up = [v + abs(m) for v, m in zip(values, moves, strict=True)]
    for mechanism in (dp.NoisyMax(1.0, monotone=True), dp.ExponentialMechanism(1.0, monotone=True)):
        assert mechanism.loss(values, up).max_divergence() <= 1 + 1e-9
        assert mechanism.loss(up, values).max_divergence() <= 1 + 1e-9


def test_exponential_mechanism_anchors():
    swap = dp.ExponentialMechanism(1.0, monotone=True)
    loss = PrivacyLoss.between(swap.law([1, 9]), swap.law([0, 10]))
    assert loss.max_divergence() == pytest.approx(1.9997, abs=5e-5)
    assert dp.ExponentialMechanism(1.0).law([0, 1e6]).prob(1) == 1.0  # no overflow
    based = dp.ExponentialMechanism(2.0, ("a", "b"), base=(3.0, 1.0)).law([0, 0])
    assert based.prob("a") == pytest.approx(0.75)


def test_top_k_pays_for_k(rng):
    """Gumbel scale 2/eps for k choices leaks k eps; 2k/eps keeps the promise."""
    for k in (2, 3):
        left, right = (9.0,) * k + (0.0,) * 3, (8.0,) * k + (1.0,) * 3
        cheap = (
            laws.Ranking(range(k + 3), tuple(np.array(left) / 2), k),
            laws.Ranking(range(k + 3), tuple(np.array(right) / 2), k),
        )
        assert PrivacyLoss.between(*cheap[::-1]).max_divergence() > 1.5
        assert dp.TopK(1.0, k=k).loss(left, right).max_divergence() <= 1


# Wrappers ---------------------------------------------------------------------------------------


def test_post_processing_keeps_the_promise(rng):
    inner = dp.LaplaceMechanism(1.0)
    rounded = dp.PostProcessed(inner, np.round)
    assert rounded.guarantee == inner.guarantee
    draws = rounded(3, rng, 50)
    np.testing.assert_array_equal(draws, np.round(draws))
    assert rounded.worst_case() == inner.worst_case()
    finite = dp.PostProcessed(dp.RandomizedResponse(1.0, (0, 1, 2)), lambda y: y > 0)
    assert finite.loss(1, 2).max_divergence() == pytest.approx(0, abs=1e-12)  # both are "positive"
    assert finite.loss(0, 2).max_divergence() <= 1.0 + 1e-12


def test_composition_needs_fresh_coins():
    both = dp.Composed(dp.LaplaceMechanism(0.5), dp.LaplaceMechanism(0.25))
    assert both.guarantee.epsilon(0) == 0.75
    assert both.loss(0, 1).max_divergence() == pytest.approx(0.75)


def test_parallel_composition():
    """Blocks of a public partition: the largest epsilon under add/remove, twice that under replace-one."""
    parts = {v: dp.LaplaceMechanism(e, query=len) for v, e in ((0, 0.5), (1, 0.25), (2, 0.125))}
    assert dp.Parallel(lambda row: row, parts).guarantee == dp.PureDP(0.5)
    replaced = dp.Parallel(lambda row: row, parts, adjacency=dp.REPLACE_ONE)
    assert replaced.guarantee == dp.PureDP(1.0, adjacency=dp.REPLACE_ONE)
    assert replaced.loss((0, 2), (1, 2)).max_divergence() == pytest.approx(0.75)
    mixed = {
        0: dp.LaplaceMechanism(0.5, query=len),
        1: dp.Custom(lambda d: laws.Point(0), dp.ApproxDP(1, 0.1)),
    }
    assert dp.Parallel(lambda row: row, mixed).guarantee == dp.ApproxDP(1, 0.1)


def test_parallel_composition_counts_a_row_that_changes_within_its_block():
    """Two sums of values in [-1, 1]: the row stays in its block and moves the sum by 2."""
    total = {
        "a": dp.LaplaceMechanism(1.0, query=lambda rows: float(sum(v for _, v in rows))),
        "b": dp.LaplaceMechanism(0.1, query=len),
    }
    mechanism = dp.Parallel(lambda row: row[0], total, adjacency=dp.REPLACE_ONE)
    loss = mechanism.loss((("a", 1),), (("a", -1),))
    assert loss.max_divergence() == pytest.approx(2.0)
    assert mechanism.guarantee == dp.PureDP(2.0, adjacency=dp.REPLACE_ONE)


@pytest.mark.parametrize("promise", [dp.ApproxDP(0.5, 0.01), dp.ZCDP(0.1), dp.GDP(0.5)], ids=repr)
def test_parallel_composition_of_other_kinds_takes_the_group_of_two(promise):
    blocks = {v: dp.Custom(lambda d: laws.Point(0), promise) for v in "ab"}
    found = dp.Parallel(lambda row: row, blocks, adjacency=dp.REPLACE_ONE).guarantee
    assert found.delta(1.0) >= promise.group(2).delta(1.0)
    assert found.delta(1.0) >= (promise + promise).delta(1.0)


def test_subsampling_amplifies():
    mechanism = dp.Subsampled(dp.LaplaceMechanism(1.0, query=len), 0.1)
    expected = math.log(1 + 0.1 * math.expm1(1.0))
    assert mechanism.guarantee.epsilon(0) == pytest.approx(expected)
    for n in range(3):
        left, right = ("x",) * n, ("x",) * (n + 1)
        for loss in (mechanism.loss(left, right), mechanism.loss(right, left)):
            assert loss.max_divergence() <= expected + 1e-9
    approx = dp.Subsampled(dp.Custom(lambda d: laws.Point(0), dp.ApproxDP(1.0, 1e-3)), 0.1)
    assert approx.guarantee == dp.ApproxDP(expected, 1e-4)


def test_subsampled_gaussian_uses_its_exact_worst_pair(golden):
    for row in golden["rdp_poisson_subsampled_gaussian_integer"]["rows"][:12]:
        mechanism = dp.Subsampled(dp.GaussianMechanism(float(row["sigma"])), float(row["q"]))
        found = mechanism.worst_case().renyi(float(row["alpha"]))
        assert found == pytest.approx(float(row["rdp"]), rel=1e-8)
    loss = dp.Subsampled(dp.GaussianMechanism(1.0), 1.0).worst_case()
    assert loss.delta(1.0) == pytest.approx(dp.GDP(1.0).delta(1.0))


def test_deterministic_release_is_private_only_if_constant():
    """Under replace-one the size is public, so releasing it is 0-DP; under add/remove it is not."""
    size = dp.Custom(lambda data: laws.Point(len(data)), dp.PureDP(0, adjacency=dp.REPLACE_ONE))
    assert size.guarantee.share(size.loss((0, 1), (1, 1))) == 0
    assert size.guarantee.share(PrivacyLoss.between(size.law((0,)), size.law((0, 1)))) == math.inf


def test_random_row_is_zero_one_over_n():
    release = dp.Custom(
        lambda data: laws.Finite.from_pairs((row, Fraction(1, len(data))) for row in enumerate(data)),
        dp.ApproxDP(0, 0.25, adjacency=dp.REPLACE_ONE),
    )
    loss = release.loss((0, 0, 0, 0), (1, 0, 0, 0))
    assert loss.total_variation() == Fraction(1, 4)
    assert release.guarantee.share(loss) == pytest.approx(1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dp.LaplaceMechanism(0), "epsilon = 0 .*above 0"),
        (lambda: dp.LaplaceMechanism(1, sensitivity=-1), "sensitivity = -1 .*one person"),
        (lambda: dp.GeometricMechanism(1, sensitivity=0.5), "sensitivity = 0.5 .*whole"),
        (lambda: dp.GaussianMechanism(float("inf")), "sigma = inf"),
        (lambda: dp.gaussian_sigma(1, 0), "delta = 0 .*LaplaceMechanism"),
        (lambda: dp.gaussian_sigma(1, 1), "delta = 1 "),
        (lambda: dp.gaussian_sigma(1, 1e-5, rule="classic"), 'epsilon = 1 .*below 1.*rule="analytic"'),
        (lambda: dp.gaussian_sigma(1, 1e-5, rule="best"), "rule = 'best'"),
        (lambda: dp.LaplaceMechanism(1).law(float("nan")), "answer = nan .*finite"),
        (lambda: dp.LaplaceMechanism(1).law([[1.0]]), r"shape \(1, 1\).*vector"),
        (lambda: dp.LaplaceMechanism(1).loss(0, 2), "pair of neighbours"),
        (lambda: dp.LaplaceMechanism(1).loss((0, 1), 0), "pair of neighbours"),
        (lambda: dp.histogram(1, ()), "bins, at least one"),
        (lambda: dp.histogram(1, ("a", "a")), "distinct bins"),
        (lambda: dp.LaplaceMechanism(1).law("ab"), "answer = 'ab' .*a number or a vector"),
        (lambda: dp.LaplaceMechanism(1).law([[1], [1, 2]]), "a number or a vector"),
        (lambda: dp.RandomizedResponse(1000), "epsilon = 1000 .*at most 700"),
        (lambda: dp.ExponentialMechanism(1, 3), "outcomes = 3 .*distinct outcomes"),
        (lambda: dp.ExponentialMechanism(1, ("a", "a")), "distinct outcomes"),
        (lambda: dp.ExponentialMechanism(1, base=("a", "b")).law([1, 2]), "base = .*some mass"),
        (lambda: dp.NoisyMax(1).law([1e308, -1e308]), "within 10\\^307 of each other"),
        (lambda: dp.RandomizedResponse(1, (0,)), "at least two distinct"),
        (lambda: dp.RandomizedResponse(1).law(2), r"data = 2 .*one of \(0, 1\)"),
        (lambda: dp.RandomizedResponse.with_odds(1), "odds = 1 .*above 1"),
        (lambda: dp.TwoCoins(1.5), "truth = 1.5"),
        (lambda: dp.TwoCoins().law("maybe"), "data = 'maybe' .*True or False"),
        (lambda: dp.ExponentialMechanism(1, ()), "outcomes, at least one"),
        (lambda: dp.ExponentialMechanism(1, ("a", "b")).law([1]), "vector of 2 numbers"),
        (lambda: dp.ExponentialMechanism(1, base=(0.0, 0.0)).law([1, 2]), "some mass"),
        (lambda: dp.NoisyMax(1, monotone=True, adjacency=dp.REPLACE_ONE), "monotone = True .*both ways"),
        (lambda: dp.NoisyMax(1, noise="uniform"), "noise = 'uniform'"),
        (lambda: dp.TopK(1, k=3).law([1, 2]), "k = 3 .*number of items"),
        (dp.Composed, "at least one mechanism"),
        (lambda: dp.Composed(dp.LaplaceMechanism(1), dp.TwoCoins()).guarantee, "replace-one"),
        (lambda: dp.Parallel(len, {}), "at least one block"),
        (lambda: dp.Parallel(len, {0: dp.TwoCoins()}), "replace-one"),
        (lambda: dp.Subsampled(dp.LaplaceMechanism(1), 0), "rate = 0"),
        (lambda: dp.Subsampled(dp.LaplaceMechanism(1), 1.5), "rate = 1.5"),
        (lambda: dp.Subsampled(dp.LaplaceMechanism(1, query=len), 0.5).law((0,) * 13), "at most 12 rows"),
        (lambda: dp.histogram(1, bins=([1], [2])), "distinct bins, at least one"),
        (lambda: dp.histogram(1, bins=("a", "b")).law(5), "data = 5 .*the rows to count"),
        (lambda: dp.RandomizedResponse(1, values=([1], [2])), "two distinct values"),
    ],
)
def test_bad_input_is_explained(make, message):
    with pytest.raises(BadInput, match=message):
        make()


def test_noisy_max_of_large_scores_is_that_of_their_differences():
    near = dp.NoisyMax(1.0).law([0, 4]).weights
    assert np.allclose(dp.NoisyMax(1.0).law([1e16, 1e16 + 4]).weights, near, rtol=1e-12)


def test_subsampling_knows_an_epsilon_whose_exponential_overflows():
    smaller, larger = (dp.Subsampled(dp.LaplaceMechanism(e), 0.25).guarantee.epsilon(0) for e in (699, 701))
    assert larger - smaller == pytest.approx(2)
