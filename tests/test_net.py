"""The net mechanism: exact laws against fractions, privacy over all neighbours, accuracy as promised."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import contract
from dpcourse.algorithms.net import NetMechanism, best_design, net_size
from dpcourse.contract import Case
from dpcourse.errors import BadInput
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms.universe import linear_queries
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency

ONES = [[0, 1]]
BOTH = pytest.mark.parametrize("adjacency", [ADD_REMOVE, REPLACE_ONE], ids=repr)


def ones(c: int, n: int = 20) -> tuple[int, ...]:
    return (1,) * c + (0,) * (n - c)


def test_the_law_is_the_exponential_mechanism_in_fractions() -> None:
    """At epsilon = 2 ln 2 the weight of y is 2^-w."""
    queries = [[0, 1, 1], [1, 0, 1], [0, 0, 1]]
    mechanism = NetMechanism(2 * math.log(2), queries, n=6, size=2)
    data = (0, 0, 1, 2, 2, 1)
    weights = {}
    for y in ADD_REMOVE.datasets(range(3), 2):
        gaps = [abs(sum(q[i] for i in data) - 3 * sum(q[i] for i in y)) for q in queries]
        weights[y] = Fraction(1, 2 ** max(gaps))
    total = sum(weights.values())
    law = mechanism.law(data)
    assert set(law.outcomes) == set(weights)
    for y, weight in weights.items():
        assert law.prob(y) == pytest.approx(float(weight / total), rel=1e-12)


@BOTH
@given(
    queries=st.lists(
        st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=3, max_size=3), min_size=1, max_size=4
    ),
    epsilon=st.sampled_from([0.1, 1.0, 3.0]),
    n=st.integers(1, 4),
    size=st.integers(1, 3),
)
def test_no_neighbours_exceed_epsilon(
    adjacency: Adjacency, queries: list[list[float]], epsilon: float, n: int, size: int
) -> None:
    mechanism = NetMechanism(epsilon, queries, n=n, size=size, adjacency=adjacency)
    for x, y in adjacency.pairs(range(3), n):
        loss = PrivacyLoss.between(mechanism.law(x), mechanism.law(y))
        assert loss.max_divergence() <= epsilon * (1 + 1e-9)


def test_the_exponent_without_the_half_loses_twice_epsilon() -> None:
    """e^{eps w} is the law at 2 epsilon: its loss reaches 2 epsilon, not epsilon."""
    two = NetMechanism(2 * 1.0, ONES, n=20, net=[(0,), (1,)])
    found = PrivacyLoss.between(two.law(ones(1)), two.law(ones(0))).max_divergence()
    assert found == pytest.approx(2.0, abs=1e-6)
    for epsilon, expected in ((0.1, 0.180), (1.0, 1.209)):
        full = NetMechanism(2 * epsilon, ONES, n=20, size=20)
        found = PrivacyLoss.between(full.law(ones(0)), full.law(ones(1))).max_divergence()
        assert found == pytest.approx(expected, abs=5e-4)
    q = math.exp(-1)
    assert found == pytest.approx(1 + math.log(1 + q - q * q), abs=1e-6)


@given(
    data=st.lists(st.integers(0, 3), min_size=8, max_size=8),
    size=st.integers(1, 4),
    epsilon=st.sampled_from([0.5, 2.0, 8.0]),
    beta=st.sampled_from([0.5, 0.05, 1e-3]),
)
def test_accuracy_fails_at_most_as_often_as_promised(
    data: list[int], size: int, epsilon: float, beta: float
) -> None:
    mechanism = NetMechanism(epsilon, np.eye(4)[:3], n=8, size=size)
    promised = mechanism.promised_error(data, beta)
    exact = sum(p for y, p in mechanism.law(data).items() if worst(mechanism, data, y) > promised)
    assert mechanism.failure(data, promised) == pytest.approx(exact, abs=1e-15)
    assert exact <= beta
    assert mechanism.failure(data, -1) == pytest.approx(1)


def worst(mechanism: NetMechanism, data: Any, database: Any) -> float:
    """The largest difference of a query's averages, row by row."""
    pairs = [
        [np.mean([q[i] for i in rows]) for rows in (data, database)] for q in np.asarray(mechanism.queries)
    ]
    return float(max(abs(a - b) for a, b in pairs))


@given(st.integers(1, 10**6), st.floats(0.01, 0.9))
def test_net_size_leaves_a_chance(queries: int, alpha: float) -> None:
    m = net_size(queries, alpha)
    assert m >= 1
    assert 2 * queries * math.exp(-2 * m * alpha**2) <= 1 + 1e-12
    assert m == 1 or 2 * queries * math.exp(-2 * (m - 1) * alpha**2) > 1 - 1e-12


@given(
    st.lists(st.floats(0, 1), min_size=12, max_size=12), st.lists(st.integers(0, 3), min_size=9, max_size=9)
)
def test_a_net_of_that_size_covers(entries: list[float], data: list[int]) -> None:
    queries, alpha = np.array(entries).reshape(3, 4), 0.4
    mechanism = NetMechanism(1.0, queries, n=9, size=net_size(3, alpha))
    assert mechanism.errors(data).min() <= alpha


def test_anchors() -> None:
    assert net_size(100, 0.1) == 265
    assert net_size(1, 0.9) == 1  # log|C|/alpha^2, as it is sometimes printed, would be 0 rows


def test_the_error_grows_like_n_to_two_thirds() -> None:
    counts = [n * best_design(n, 1000, 1024, 1.0).error for n in (10**6, 10**9)]
    assert math.log(counts[1] / counts[0]) / math.log(1000) == pytest.approx(2 / 3, abs=0.01)
    few, many = (best_design(10**9, c, 2**20, 1.0).error for c in (1000, 2000**3 // 2))
    assert many / few == pytest.approx(3 ** (1 / 3), rel=0.01)  # ln(2C) triples


@given(st.integers(100, 10**7), st.integers(1, 10**4), st.sampled_from([0.1, 1.0]))
def test_best_design_is_the_best(n: int, queries: int, epsilon: float) -> None:
    best = best_design(n, queries, 64, epsilon)
    assert net_size(queries, best.alpha * (1 + 1e-12)) == best.size
    for m in {1, 2, best.size - 1, best.size + 1, 2 * best.size} - {0}:
        alpha = math.sqrt(math.log(2 * queries) / (2 * m))
        other = alpha + 2 * (m * math.log(64) + math.log(20)) / (epsilon * n)
        assert best.error <= other * (1 + 1e-12)


def test_synthetic_data_answer_the_queries(rng: np.random.Generator) -> None:
    queries = linear_queries([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    data = tuple(rng.choice(4, 400, p=[0.5, 0.25, 0.25, 0]).tolist())
    mechanism = NetMechanism(1.0, queries, n=400, size=8)
    databases = mechanism(data, rng, 200)
    assert all(len(y) == 8 and set(y) <= {0, 1, 2, 3} for y in databases)
    errors = [worst(mechanism, data, y) for y in databases]
    assert np.mean(np.array(errors) > mechanism.promised_error(data, 0.05)) < 0.15


@BOTH
def test_it_passes_the_contract(adjacency: Adjacency, rng: np.random.Generator) -> None:
    mechanism = NetMechanism(1.0, [[0, 1], [1, 0.5]], n=3, size=2, adjacency=adjacency)
    assert contract.faults(Case("net", mechanism, adjacency.pairs((0, 1), 3)), rng) == []


def test_bad_input_is_refused() -> None:
    good = NetMechanism(1.0, ONES, n=2)
    calls: dict[str, Any] = {
        r"epsilon = 0 .* above 0": lambda: NetMechanism(0, ONES, n=2),
        r"query = .* between 0 and 1": lambda: NetMechanism(1.0, [[0, 2]], n=2),
        r"query = .* one for each row of the universe": lambda: NetMechanism(1.0, [], n=2),
        r"query = \[\['a'\]\] .* between 0 and 1": lambda: NetMechanism(1.0, [["a"]], n=2),
        r"net = \[\(\)\] .* at least one row": lambda: NetMechanism(1.0, ONES, n=2, net=[()]).law((0, 1)),
        r"data = 5 .* rows between 0 and 1": lambda: good.law(5),
        r"n = 0 .* at least 1": lambda: NetMechanism(1.0, ONES, n=0),
        r"data = \(0, 7\) .* rows between 0 and 1": lambda: good.law((0, 7)),
        r"data = '3 rows' .* 2 rows, the public size.*n=3": lambda: good.law((0, 1, 1)),
        r"size = 60 .* datasets": lambda: NetMechanism(1.0, np.eye(9), n=1, size=60).law((0,)),
        r"beta = 0.0 .* above 0": lambda: good.price(0),
        r"alpha = 0 .* above 0": lambda: net_size(3, 0),
        r"universe = 1 .* at least 2": lambda: best_design(10, 3, 1, 1.0),
    }
    for message, call in calls.items():
        with pytest.raises(BadInput, match=message):
            call()
