"""Epsilon of few finite losses in closed form: against enumeration, other methods, and where it declines."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpcourse.loss import FiniteLoss
from dpcourse.loss.composed import Composed, compose
from dpcourse.loss.prefixes import epsilon_of_few, steps_and_sums, ways_to_choose
from tests.brackets import contains, overlap
from tests.test_finite_sums import enumerated

weights = st.lists(st.floats(1e-9, 1) | st.sampled_from([0.0, 0.25, 0.25 + 1e-12]), min_size=2, max_size=3)


@st.composite
def float_parts(draw: st.DrawFn) -> list[tuple[FiniteLoss, int]]:
    """A few pairs of laws in floats, some nearly the same, some with outcomes that only one of them gives."""
    parts: dict[FiniteLoss, int] = {}
    for _ in range(draw(st.integers(1, 2))):
        p = draw(weights.filter(any))
        q = draw(st.permutations(p) | st.just([w * (1 + 1e-9 * i) for i, w in enumerate(p)]))
        laws = (tuple(w / math.fsum(law) for w in law) for law in (p, q))
        parts[FiniteLoss(*laws)] = draw(st.integers(1, 6 if len(p) == 2 else 3))
    return list(parts.items())


@settings(max_examples=300)
@given(float_parts(), st.sampled_from([1e-12, 1e-6, 0.05, 0.3]))
def test_epsilon_against_enumeration(parts: list[tuple[FiniteLoss, int]], delta: float) -> None:
    """The floats are taken as they are, so that the truth can be enumerated."""
    low, high = compose(parts).epsilon_bounds(delta)
    assume(high < 600)
    exact = [
        (FiniteLoss(*(tuple(map(Fraction, law)) for law in (leaf.p, leaf.q)), missing=1e-9), k)
        for leaf, k in parts
    ]
    with mpmath.workdps(40):
        less, more = (enumerated(exact, Fraction(str(mpmath.exp(end)))) for end in (high, low))
    assert less <= Fraction(delta)
    assert low == 0 or more >= Fraction(delta)
    assert high - low < 1e-11 or more - less < 1e-11


def random_pair(rng: np.random.Generator, n: int) -> FiniteLoss:
    return FiniteLoss(*(tuple(law.tolist()) for law in rng.dirichlet(np.ones(n), size=2)))


@pytest.mark.parametrize(
    ("sizes", "delta"),
    [
        ([(2, 12)], 1e-6),
        ([(3, 10)], 1e-12),
        ([(17, 1)], 1e-3),
        ([(250, 2)], 1e-6),
        ([(12, 5)], 1e-30),
        ([(40, 2), (30, 1)], 1e-6),
        ([(3, 2)] * 4, 1e-9),
    ],
)
def test_delta_there_is_what_was_asked_for(sizes: list[tuple[int, int]], delta: float) -> None:
    """delta is computed by other methods, which sum over outcomes and know nothing of events."""
    rng = np.random.default_rng(7)
    loss = compose([(random_pair(rng, n), k) for n, k in sizes])
    low, high = loss.epsilon_bounds(delta)
    assert 0 < low < high < low + 1e-10
    assert loss.delta_bounds(low)[1] >= delta >= loss.delta_bounds(high)[0]
    if isinstance(loss, Composed):
        number = math.prod(math.comb(n + k - 1, k) for n, k in sizes)
        assert f"epsilon in closed form, from {number} sums" in loss.method


@pytest.mark.parametrize(("n", "k"), [(1, 4), (2, 1), (2, 12), (3, 4), (6, 5)])
def test_ways_to_choose(n: int, k: int) -> None:
    expected = list(combinations_with_replacement(range(n), k))
    ways, orders = ways_to_choose(n, k)
    assert list(map(tuple, ways.T.tolist())) == expected
    assert orders.tolist() == [
        math.factorial(k) // math.prod(map(math.factorial, Counter(way).values())) for way in expected
    ]


def test_where_it_declines() -> None:
    half = (0.5, 0.5), (0.4, 0.6)
    assert steps_and_sums([(*half, 12)]) == (12, 13)
    assert steps_and_sums([(*half, 13)]) == (0, 0)  # a long table
    assert steps_and_sums([(*half, 1)] * 16) == (0, 0)  # many sums
    rare = (1.0, 1e-200), (1e-200, 1.0)
    assert steps_and_sums([(*rare, 1)]) == (1, 2)
    assert steps_and_sums([(*rare, 2)]) == (0, 0)  # underflow
    same = (0.5, 0.5), (0.5 + 1e-16, 0.5 - 1e-16)
    assert epsilon_of_few([(*same, 1)], 0.0, 1e-17) is None  # rounding decides
    assert epsilon_of_few([(*half, 1)], 0.0, 0.2) == (0.0, 0.0)


@pytest.mark.parametrize("k", [1, 3])
def test_what_floats_do_not_say_is_left_to_others(k: int) -> None:
    fractions = FiniteLoss((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    stated = FiniteLoss((0.75, 0.25), (0.25, 0.75), losses=(math.log(3), -math.log(3)))
    cut = FiniteLoss((0.75, 0.25), (0.25, 0.75), missing=1e-9)
    floats = FiniteLoss((0.75, 0.25), (0.25, 0.75))
    assert floats.positive is not None
    for other in (fractions, stated, cut):
        assert other.positive is None
        assert overlap((k * other).epsilon_bounds(1e-3), (k * floats).epsilon_bounds(1e-3))


def test_infinite_losses_come_first() -> None:
    """P(infinite) = 0.1, and e^eps = (0.1 + 0.5 - delta)/0.2 above it."""
    loss = FiniteLoss((0.1, 0.5, 0.4, 0.0), (0.0, 0.2, 0.7, 0.1))
    low, high = loss.epsilon_bounds(0.2)
    assert contains((low, high), mpmath.log(2))
    assert high - low < 1e-13
    assert loss.epsilon_bounds(0.05) == (math.inf, math.inf)
    assert (2 * loss).epsilon_bounds(0.1) == (math.inf, math.inf)  # 1 - 0.9^2 = 0.19
