"""Selection and ranking: exact at any scale of scores, as good as proved, and leaking where it must."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcourse as dp
from dpcourse import data, laws
from dpcourse.algorithms.ranking import (
    LargestLaplace,
    Useful,
    Visitors,
    WinningValue,
    exponential_slack,
    first_k,
    most_visited,
    most_visited_unhalved,
    popular_names,
    shortfall,
    top_k_slack,
    useful,
    usefulness,
)
from dpcourse.contract import Case, faults
from dpcourse.errors import BadInput
from dpcourse.mechanisms.selection import log_laplace_winner

scores = st.lists(st.floats(-6, 6), min_size=2, max_size=5)
MONOTONE = {
    "exponential": dp.ExponentialMechanism(1.0, monotone=True),
    "noisy max": dp.NoisyMax(1.0, monotone=True),
    "Gumbel": dp.NoisyMax(1.0, monotone=True, noise="gumbel"),
}

# --- scores of any size -------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.0, 1.0, 5.0, 44.0, 46.0, 89.0, 91.0, 200.0, 745.5, 1e4, 1e6])
def test_the_loser_of_two_has_its_closed_form_at_any_distance(gap):
    """e^-t (1/2 + t/4), in logarithms: a probability of e^-10000 is as exact as one of e^-1."""
    found = log_laplace_winner(np.array([0.0, gap]))[0]
    assert found == pytest.approx(-gap + math.log(0.5 + gap / 4), abs=1e-12 * (1 + gap))


def winner_by_quadrature(values, i):
    with mpmath.workdps(40):
        centres = [mpmath.mpf(v) for v in values]

        behind = max(centres) - centres[i]  # lifts the integrand to order 1: quad's error is absolute

        def below(z):
            return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2

        def density(t):
            others = [below(t - c) for j, c in enumerate(centres) if j != i]
            return mpmath.exp(behind - abs(t - centres[i])) / 2 * mpmath.fprod(others)

        stops = sorted({min(centres) - 60, *centres, max(centres) + 60})
        pieces = [mpmath.linspace(a, b, int(b - a) // 2 + 2) for a, b in itertools.pairwise(stops)]
        edges = sorted({x for piece in pieces for x in piece})
        lifted = sum(mpmath.quad(density, pair) for pair in itertools.pairwise(edges))
        return float(mpmath.log(lifted) - behind)


@pytest.mark.parametrize("values", [(0.0, 20.0, 55.0), (0.0, 0.5, 110.0), (0.0, 95.0, 95.3, 1.0)])
def test_winner_probabilities_against_many_digits(values):
    found = log_laplace_winner(np.array(values))
    expected = [winner_by_quadrature(values, i) for i in range(len(values))]
    assert found == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("name", MONOTONE)
@pytest.mark.parametrize("gap", [10.0, 744.0, 745.5, 800.0, 1e4])
def test_losses_are_right_where_probabilities_underflow(name, gap):
    mechanism = MONOTONE[name]
    loss = mechanism.loss((1, gap), (0, gap))
    closed = 1 + math.log((0.5 + (gap - 1) / 4) / (0.5 + gap / 4)) if name == "noisy max" else None
    expected = closed or 1 + math.log1p(math.exp(-gap)) - math.log1p(math.exp(1 - gap))
    assert loss.max_divergence() == pytest.approx(expected, rel=1e-9)
    low, high = loss.delta_bounds(np.array([0.0, 0.5, 2.0]))
    assert np.all((low >= 0) & (low <= high) & (high < 1e-3))
    # From the laws alone (floats) there is no false alarm either.
    plain = dp.PrivacyLoss.between(mechanism.law((1, gap)), mechanism.law((0, gap)))
    assert plain.max_divergence() <= 1 + 1e-9


@given(values=scores, move=st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_losses_agree_with_those_of_the_laws(values, move):
    other = [v + m for v, m in zip(values, move, strict=False)]
    for mechanism in MONOTONE.values():
        loss = mechanism.loss(values, other)
        plain = dp.PrivacyLoss.between(mechanism.law(values), mechanism.law(other))
        assert loss.max_divergence() == pytest.approx(plain.max_divergence(), abs=1e-9)
        assert loss.max_divergence() <= 1 + 1e-9
        assert loss.delta(0.2) == pytest.approx(plain.delta(0.2), abs=1e-12)


def test_large_scores_choose_as_small_ones_do():
    for mechanism in MONOTONE.values():
        near, far = mechanism.law((0, 1, 3)), mechanism.law((1e4, 10_001, 10_003))
        assert near.weights == pytest.approx(far.weights, rel=1e-9)


@given(values=scores, weights=st.lists(st.floats(0, 5), min_size=5, max_size=5), shift=st.floats(-1e4, 1e4))
def test_a_base_measure_multiplies_the_softmax(values, weights, shift):
    base = (*weights[: len(values) - 1], 1.0)
    mechanism = dp.ExponentialMechanism(1.0, base=base)
    expected = np.array(base) * np.exp(np.array(values) / 2)
    law = mechanism.law(np.array(values) + shift)
    assert law.weights == pytest.approx(expected / expected.sum(), rel=1e-8, abs=1e-300)
    other = [v + 1 if i % 2 else v - 1 for i, v in enumerate(values)]
    assert mechanism.loss(values, other).max_divergence() <= 1 + 1e-9


def test_a_base_measure_must_be_finite_and_have_mass():
    for base in ((0.0, 0.0), (1.0, math.inf), (1.0, -1.0), (1.0,)):
        with pytest.raises(BadInput, match=r"base = .*measure with some mass.*without the data"):
            dp.ExponentialMechanism(1.0, base=base).law((0, 0))


# --- the winning value --------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3, 5, 10, 50])
def test_the_winning_value_leaks_m_epsilon(m):
    mechanism = WinningValue(1.0, monotone=True)
    nobody, everybody = mechanism.law((0,) * m), mechanism.law((1,) * m)
    assert nobody.log_prob(-5.0) - everybody.log_prob(-5.0) == pytest.approx(m)
    assert mechanism.loss((0,) * m, (1,) * m).max_divergence() == pytest.approx(m, rel=1e-9)
    # The event "the value is negative": all m are, which has chance 2^-m, or (e^-1/2)^m.
    assert nobody.cdf(0.0) == pytest.approx(2.0**-m)
    assert everybody.cdf(0.0) == pytest.approx((math.exp(-1) / 2) ** m)


def test_the_winning_value_in_numbers():
    chances = [WinningValue(1.0, monotone=True).law((1,) * m).cdf(0.0) for m in (3, 5)]
    assert chances == pytest.approx([0.00622, 2.1e-4], rel=0.01)


def test_the_index_alone_costs_epsilon_and_the_value_does_not(rng):
    pairs = (((0, 0, 0), (1, 1, 1)),)
    value = Case("value", WinningValue(1.0, monotone=True), pairs)
    assert {fault.rule for fault in faults(value, rng)} == {"promise"}
    assert faults(Case("index", dp.NoisyMax(1.0, monotone=True), pairs), rng) == []


@given(loc=st.lists(st.floats(-5, 5), min_size=1, max_size=6), scale=st.floats(0.2, 3))
def test_the_largest_of_laplace_variables(loc, scale):
    law = LargestLaplace(tuple(loc), scale)
    y = np.linspace(-20, 20, 41) * scale + 0.1234
    step = 1e-5 * scale
    slope = (law.cdf(y + step) - law.cdf(y - step)) / (2 * step)
    assert np.allclose(law.prob(y), slope, atol=1e-5 / scale)
    assert np.allclose(law.cdf(y) + law.sf(y), 1)
    if len(loc) == 1:
        one = laws.Laplace(loc[0], scale)
        assert np.allclose(law.log_prob(y), one.log_prob(y))
        assert (law.mean(), law.variance()) == pytest.approx((one.mean(), one.variance()), abs=1e-6)


def test_moments_of_the_largest(rng):
    law = LargestLaplace((0.0, 1.0, 3.0), 1.5)
    draws = law.sample(rng, 400_000)
    assert law.mean() == pytest.approx(draws.mean(), abs=0.02)
    assert law.variance() == pytest.approx(draws.var(), rel=0.02)


# --- how good -----------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(values=scores, k=st.integers(1, 4), sets=st.lists(st.sampled_from("+-0"), min_size=5, max_size=5))
def test_first_k_against_the_list_of_all_rankings(values, k, sets):
    k = min(k, len(values))
    marks = np.array(sets[: len(values)])
    wanted, unwanted = marks == "+", marks == "-"
    ranking = laws.Ranking(tuple(range(len(values))), tuple(values), k).to_finite()
    expected = math.fsum(
        p
        for order, p in ranking.items()
        if set(np.flatnonzero(wanted)) <= set(order) and not set(np.flatnonzero(unwanted)) & set(order)
    )
    assert first_k(np.array(values), k, wanted, unwanted) == pytest.approx(expected, abs=1e-11)


@settings(max_examples=40)
@given(values=scores, k=st.integers(1, 3), slack=st.floats(0, 6), epsilon=st.floats(0.1, 8))
def test_usefulness_against_the_list_of_all_rankings(values, k, slack, epsilon):
    mechanism = dp.TopK(epsilon, k=min(k, len(values)))
    verdicts = [(useful(order, values, slack), p) for order, p in mechanism.law(values).to_finite().items()]
    found = usefulness(mechanism, values, slack)
    for what in ("sound", "complete", "both"):
        expected = math.fsum(p for verdict, p in verdicts if getattr(verdict, what))
        assert getattr(found, what) == pytest.approx(expected, abs=1e-11), what


@given(
    values=st.lists(st.floats(0, 60), min_size=3, max_size=40),
    k=st.integers(1, 3),
    failure=st.floats(0.001, 0.5),
    monotone=st.booleans(),
)
def test_lists_are_useful_up_to_the_proved_slack(values, k, failure, monotone):
    mechanism = dp.TopK(2.0, k=k, monotone=monotone)
    slack = top_k_slack(mechanism, len(values), failure=failure)
    assert usefulness(mechanism, values, slack).both >= 1 - failure


def test_the_proved_slack_is_of_the_right_size():
    """k good items and many that are as bad as the slack allows: the chance is near the bound's."""
    k, n, failure = 3, 3000, 0.01
    mechanism = dp.TopK(1.0, k=k)
    slack = top_k_slack(mechanism, n, failure=failure)
    values = np.r_[np.zeros(k), np.full(n - k, -slack - 1e-9)]
    missed = 1 - usefulness(mechanism, values, slack).sound
    assert 0.5 * failure < missed <= failure


def test_usefulness_of_a_thousand_items_with_large_scores():
    rng = np.random.default_rng(0)
    values = np.sort(rng.integers(0, 20_000, 1000))[::-1].astype(float)
    found = usefulness(dp.TopK(1.0, k=10, monotone=True), values, 60.0)
    assert 0.5 < found.both <= min(found.sound, found.complete) <= 1


def test_the_order_of_a_list_has_its_plackett_luce_chance():
    mechanism = dp.TopK(2 * 2 * 0.7, k=2)  # scale 1/.7
    assert mechanism.law((0, 1, 2, 3)).prob((2, 3)) == pytest.approx(0.19442, abs=5e-6)


@given(
    size=st.integers(2, 500),
    optimal=st.integers(1, 20),
    t=st.floats(0.1, 8),
    epsilon=st.floats(0.1, 3),
)
def test_the_exponential_mechanism_misses_as_rarely_as_proved(size, optimal, t, epsilon):
    """Equal gaps are the worst case: all others sit exactly at the slack."""
    optimal = min(optimal, size - 1)
    mechanism = dp.ExponentialMechanism(epsilon)
    slack = exponential_slack(mechanism.scale, size, optimal, failure=math.exp(-t))
    values = np.r_[np.zeros(optimal), np.full(size - optimal, -slack)]
    assert shortfall(mechanism, values, slack * (1 - 1e-12)) <= math.exp(-t)


def test_that_bound_is_nearly_tight():
    slack = exponential_slack(2.0, 10_000, failure=math.exp(-5))
    values = np.r_[0.0, np.full(9999, -slack)]
    ratio = shortfall(dp.ExponentialMechanism(1.0), values, slack * (1 - 1e-12)) / math.exp(-5)
    assert 0.98 < ratio <= 1


def test_useful_says_what_is_wrong():
    assert useful(("a", "b"), (9, 8, 1), 0, names=("a", "b", "c")) == Useful(True, True, True)
    assert useful(("a", "c"), (9, 8, 1), 5, names=("a", "b", "c")) == Useful(False, True, False)
    assert useful(("b", "c"), (9, 5, 5), 1, names=("a", "b", "c")) == Useful(True, False, False)


# --- the examples -------------------------------------------------------------------------------------


def test_most_visited_site(rng):
    people, sites = data.visits(2000, rng, sites=10)
    counts = Visitors(sites)(people)
    assert counts.tolist() == [sum(site in row for row in people) for site in sites]
    assert most_visited(0.1, sites).law(people).prob(sites[0]) > 0.999
    assert faults(visiting(dp.ADD_REMOVE), rng) == []
    assert faults(visiting(dp.REPLACE_ONE), rng) == []


def visiting(adjacency):
    nobody, one, both = frozenset(), frozenset({"a"}), frozenset({"a", "b"})
    pairs = adjacency.pairs((nobody, one, both, frozenset({"b"})), 2)
    return Case(f"sites, {adjacency!r}", most_visited(1.0, ("a", "b"), adjacency), pairs)


def test_the_unhalved_exponent_fails_where_people_are_replaced(rng):
    before, after = 10 * (frozenset("b"),), (frozenset("a"), *9 * (frozenset("b"),))
    mechanism = most_visited_unhalved(1.0, ("a", "b"))
    assert mechanism.loss(after, before).max_divergence() == pytest.approx(1.9997, abs=5e-5)
    found = {fault.rule for fault in faults(Case("unhalved", mechanism, ((before, after),)), rng)}
    assert found == {"promise"}
    few = 4 * (frozenset("b"),), (frozenset("a"), *3 * (frozenset("b"),))
    assert [mechanism.law(rows).prob("a") for rows in few] == pytest.approx([0.01799, 0.11920], abs=1e-5)


def test_popular_names(rng):
    born, names = data.baby_names(20_000, rng, pool=60)
    mechanism = popular_names(1.0, names, k=5)
    chosen = mechanism(born, rng)
    counts = mechanism.scores(born)
    assert counts.sum() == 20_000
    slack = top_k_slack(mechanism, len(names), failure=1e-9)
    assert useful(chosen, counts, slack, names).both
    assert usefulness(mechanism, born, slack).both >= 1 - 1e-9


@pytest.mark.parametrize("adjacency", [dp.ADD_REMOVE, dp.REPLACE_ONE], ids=repr)
def test_popular_names_keep_the_contract(adjacency, rng):
    pairs = adjacency.pairs(("Ada", "Bo", "Cy"), 2)
    mechanism = popular_names(1.0, ("Ada", "Bo", "Cy"), 2, adjacency)
    assert faults(Case("names", mechanism, pairs, draws=4000), rng) == []


def test_the_price_of_k_is_k():
    """Noise for one choice on a list of k leaks up to k epsilon."""
    for k in (1, 2, 3):
        left, right = [40] * k + [0] * k, [39] * k + [1] * k
        cheap = dp.TopK(float(k), k=k)  # the scale of a single choice at epsilon = 1
        assert cheap.scale == 2.0
        assert cheap.loss(right, left).max_divergence() == pytest.approx(k, abs=1e-6)
        assert dp.TopK(1.0, k=k).loss(right, left).max_divergence() <= 1


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exponential_slack(1.0, 3, 4, failure=0.1), "optimal = 4 .*at most outcomes = 3"),
        (lambda: exponential_slack(1.0, 3, failure=0), "failure = 0"),
        (lambda: exponential_slack(-1.0, 3, failure=0.1), "scale = -1"),
        (lambda: top_k_slack(dp.TopK(1.0, k=2), 0, failure=0.1), "items = 0"),
        (lambda: top_k_slack(dp.TopK(1.0, k=2), 9, failure=2), "failure = 2"),
        (lambda: shortfall(dp.NoisyMax(1.0), (1, 2), -1), "slack = -1"),
        (lambda: useful((0, 0), (1, 2), 1), r"chosen = \(0, 0\) .*distinct"),
        (lambda: useful(("x",), (1, 2), 1), "items that have a score"),
        (lambda: useful((), (1, 2), 1), "chosen"),
        (lambda: popular_names(1.0, ("Ada", "Ada"), 1), "outcomes = .*distinct"),
        (lambda: most_visited(1.0, ("a", "b")).law(("ab",)), "people = .*sets of sites, not texts"),
        (lambda: usefulness(dp.TopK(1.0, k=3), (1, 2), 1), "k = 3 .*number of items, 2"),
        (lambda: first_k(np.zeros(2), 3, *np.zeros((2, 2), dtype=bool)), "k = 3"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(BadInput, match=message):
        call()
