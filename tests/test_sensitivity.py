"""Sensitivities: every formula against its definition, over all small data and random larger data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import sensitivity
from dpcourse.errors import BadInput
from dpcourse.mechanisms import BinCounts
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE
from dpcourse.sensitivity import RankMean, mean, median, order_statistic, trimmed_mean
from dpcourse.sensitivity.gaps import largest_gap

BOTH = (ADD_REMOVE, REPLACE_ONE)
GRID = (0, 1, 3, 4)


@st.composite
def queries(draw, most=5):
    """A window of ranks, and data for it on a small grid."""
    size = draw(st.integers(1, most))
    first = draw(st.integers(1, size))
    last = draw(st.integers(first, size))
    data = tuple(draw(st.lists(st.sampled_from(GRID), min_size=size, max_size=size)))
    return RankMean(size, first, last, GRID[0], GRID[-1]), data


# Closed forms against all pairs of neighbours --------------------------------------------------------------


@pytest.mark.parametrize("adjacency", BOTH, ids=repr)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("domain", [(0, 1), (-2, 0, 1), (2, 3, 5)])
def test_closed_forms_are_the_definition(adjacency, size, domain):
    low, high = min(domain), max(domain)

    def brute(query, norm=1):
        return sensitivity.global_sensitivity(query, domain, size, adjacency, norm=norm)

    assert brute(sum) == sensitivity.sum_sensitivity(low, high, adjacency)
    assert brute(np.mean) == pytest.approx(sensitivity.mean_sensitivity(low, high, size, adjacency))
    assert brute(np.median) == sensitivity.median_sensitivity(low, high, size, adjacency)
    assert brute(lambda d: d.count(high)) == sensitivity.count_sensitivity(adjacency)
    for norm in (1, 2):
        expected = sensitivity.histogram_sensitivity(adjacency, norm=norm)
        assert brute(BinCounts(domain), norm) == pytest.approx(expected)


def test_global_is_the_largest_local():
    q, domain = median(3, 0, 4), GRID
    every = REPLACE_ONE.datasets(domain, 3)
    assert max(q.local(d) for d in every) == q.global_sensitivity == 4
    assert sensitivity.global_sensitivity(q, domain, 3) == 4


# Windows of ranks ------------------------------------------------------------------------------------------


@given(queries(), st.integers(0, 4))
def test_local_at_distance_is_the_definition(case, distance):
    q, data = case
    expected = sensitivity.local_at_distance(q, data, distance, GRID)
    assert q.local_at(data, distance) == pytest.approx(expected)


@given(queries(), st.floats(0.01, 3.0))
def test_smooth_is_the_definition(case, beta):
    q, data = case
    assert q.smooth(data, beta) == pytest.approx(sensitivity.smooth_sensitivity(q, data, beta, GRID))


@given(queries(), st.floats(0.01, 3.0))
def test_smooth_is_smooth_and_above_local(case, beta):
    q, data = case
    here = q.smooth(data, beta)
    assert q.local(data) <= here * (1 + 1e-15)
    assert here <= q.global_sensitivity
    for near in REPLACE_ONE.enumerate(data, GRID):
        assert here <= math.exp(beta) * q.smooth(near, beta) * (1 + 1e-12)


@given(st.integers(1, 300), st.floats(1e-4, 2.0), st.integers(0, 2**32), st.data())
def test_the_quick_way_is_the_slow_way(size, beta, seed, data):
    first = data.draw(st.integers(1, size))
    q = RankMean(size, first, data.draw(st.integers(first, size)), -1, 2)
    rng = np.random.default_rng(seed)
    x = data.draw(st.sampled_from([rng.random(size), rng.integers(-1, 3, size), rng.random(size) ** 9]))
    assert q.smooth(x, beta) == pytest.approx(q.smooth_by_definition(x, beta), rel=1e-13)


@pytest.mark.parametrize("beta", [1e-5, 1e-4, 1e-3, 1e-2, 1.0])
@pytest.mark.parametrize("kind", ["uniform", "steps", "constant", "two values", "outliers"])
def test_the_quick_way_on_larger_data(beta, kind, rng):
    n = 2001
    x = {
        "uniform": rng.random(n),
        "steps": np.floor(rng.random(n) * 7) / 7,
        "constant": np.full(n, 0.25),
        "two values": (rng.random(n) < 0.5).astype(float),
        "outliers": np.clip(0.5 + 1e-3 * rng.standard_cauchy(n), 0, 1),
    }[kind]
    for q in (median(n, 0, 1), order_statistic(n, 3, 0, 1), trimmed_mean(n, 200, 0, 1)):
        assert q.smooth(x, beta) == pytest.approx(q.smooth_by_definition(x, beta), rel=1e-13)


def test_reference_values():
    q, x = median(5, 0, 10), (0, 1, 5, 9, 10)
    assert [q.local_at(x, t) for t in range(5)] == [4, 8, 9, 10, 10]
    for beta, value in ((0.1, 7.40818), (0.5, 4.85225), (1.0, 4.0)):
        assert q.smooth(x, beta) == pytest.approx(value, abs=5e-6)
    # One-sided windows only would give 5 at distance 1.
    assert q.local_at(x, 1) == 8 > max(9 - 5 + 1, 5)
    for epsilon in (0.1, 0.5, 1.0):
        assert median(3, 0, 1).smooth((0, 0, 0), epsilon) == pytest.approx(math.exp(-epsilon))
        assert median(3, 0, 1).smooth((0, 0, 1), epsilon) == 1


def test_even_sizes_average_two_values():
    q = median(4, 0, 20)
    assert q((0, 4, 10, 20)) == 7
    assert q.local((0, 4, 10, 20)) == 8  # not max(4, 6), the formula of odd sizes
    assert q.local((0, 4, 10, 20)) == sensitivity.local_sensitivity(q, (0, 4, 10, 20), range(21))


def test_local_sensitivity_jumps_where_smooth_does_not():
    q, calm, moved = median(5, 0, 10), (0, 0, 0, 0, 10), (0, 0, 0, 10, 10)
    assert (q.local(calm), q.local(moved)) == (0, 10)
    assert q.smooth(calm, 0.1) == pytest.approx(10 * math.exp(-0.1))


@given(st.integers(1, 8), st.floats(0.05, 2.0), st.data())
def test_the_mean_has_hardly_a_local_sensitivity(size, beta, data):
    q = mean(size, 0, 1)
    x = data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size))
    assert q(x) == pytest.approx(np.mean(x))
    local = max(*x, 1 - min(x)) / size
    assert q.local(x) == pytest.approx(local)
    assert q.smooth(x, beta) == pytest.approx(max(local, math.exp(-beta) / size))


def test_trimmed_mean_and_order_statistics_are_what_they_say():
    x = (3, 9, 1, 7, 5)
    assert trimmed_mean(5, 1, 0, 10)(x) == 5
    assert [order_statistic(5, r, 0, 10)(x) for r in range(1, 6)] == [1, 3, 5, 7, 9]
    assert median(5, 0, 10) == order_statistic(5, 3, 0, 10) == trimmed_mean(5, 2, 0, 10)


def test_a_smooth_bound_never_underflows_to_no_noise():
    assert median(4001, 0, 1).smooth(np.zeros(4001), 5.0) == np.finfo(float).tiny
    assert median(3, 1, 1).smooth((1, 1, 1), 1.0) == 0


def test_the_search_never_misses_a_gap_it_prunes():
    """All places of a window in random steps, where many gaps nearly tie."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(1, 30))
        x = np.concatenate([[0.0], np.sort(np.round(rng.random(n), 1)), [1.0]])
        first = int(rng.integers(1, n + 1))
        last = int(rng.integers(first, n + 1))
        beta, w = float(rng.exponential(0.1)) + 1e-9, last - first + 1
        every = [
            (x[j] - x[i]) * math.exp(-beta * (j - i - w))
            for i in range(first + 1)
            for j in range(last, n + 2)
            if j - i >= w
        ]
        assert largest_gap(x, beta, first, last) == pytest.approx(max(every), rel=1e-14)


# Definitions under add/remove ------------------------------------------------------------------------------


def test_definitions_work_for_both_adjacencies():
    for query in (sum, len):
        assert sensitivity.local_sensitivity(query, (0, 1), (0, 1), ADD_REMOVE) == 1
    # The averaged median of [0, 4, 10]: 3, not 6, when rows come and go.
    assert sensitivity.local_sensitivity(np.median, (0, 4, 10), range(11), ADD_REMOVE) == 3
    assert sensitivity.local_sensitivity(median(3, 0, 10), (0, 4, 10), range(11), REPLACE_ONE) == 6
    found = sensitivity.smooth_sensitivity(np.median, (0, 0), 0.5, (0, 1), ADD_REMOVE, reach=3, smallest=1)
    assert found == pytest.approx(0.5 * math.exp(-0.5))
    assert sensitivity.local_at_distance(np.median, (0, 0), 1, (0, 1), ADD_REMOVE, smallest=1) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: median(3, 0, 1)((0, 1)), "3 numbers"),
        (lambda: median(3, 0, 1)("abc"), "one number for each row"),
        (lambda: median(3, 0, 1)((0, 1, 2)), "within [0, 1]"),
        (lambda: median(3, 0, 1)((0, 1, math.nan)), "within [0, 1]"),
        (lambda: median(0, 0, 1), "size = 0"),
        (lambda: median(3, 1, 0), "low = 1 breaks a rule: it must be at most high = 0"),
        (lambda: order_statistic(3, 4, 0, 1), "1 <= first <= last <= 3"),
        (lambda: trimmed_mean(4, 2, 0, 1), "1 <= first <= last <= 4"),
        (lambda: RankMean(3, 2, 2, 0, 1, adjacency=ADD_REMOVE), "the ranks need a public size"),
        (lambda: median(3, 0, 1).smooth((0, 1, 1), 0.0), "beta = 0.0"),
        (lambda: median(3, 0, 1).smooth((0, 1, 1), [0.1, 0.2]), "a single number, not an array"),
        (lambda: median(3, 0, 1).local_at((0, 1, 1), -1), "distance = -1"),
        (lambda: sensitivity.mean_sensitivity(0, 1, 1, ADD_REMOVE), "size = 1"),
        (lambda: sensitivity.histogram_sensitivity(norm=3), "norm = 3"),
        (lambda: sensitivity.sum_sensitivity(0, math.inf), "high = inf"),
        (lambda: sensitivity.count_sensitivity("swap"), "adjacency = 'swap'"),
        (lambda: sensitivity.smooth_sensitivity(sum, (0,), 1.0, (0, 1), ADD_REMOVE), "reach = None"),
        (lambda: sensitivity.local_sensitivity(sum, (7,), (0, 1)), "row = 7"),
        (lambda: sensitivity.smooth_sensitivity(sum, (7,), 1.0, (0, 1)), "row = 7"),
        (lambda: sensitivity.global_sensitivity(sum, (0, 1), 2, "swap"), "adjacency = 'swap'"),
        (lambda: sensitivity.global_sensitivity(sum, (0, 1), 2, norm=3), "norm = 3"),
        (lambda: sensitivity.global_sensitivity(lambda data: math.nan, (0, 1), 2), "answers = [nan, nan]"),
        (lambda: median(3, -1.7e308, 1.7e308), "within the range of floats"),
        (lambda: median(3, [0, 0], 1), "low = [0, 0] breaks a rule: it must be one number"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(BadInput, match="breaks a rule") as caught:
        call()
    assert message in str(caught.value)
