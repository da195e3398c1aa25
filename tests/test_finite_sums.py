"""Sums of finite losses: against exact enumeration, near their largest value, tiny losses, many steps."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpcourse.laws import DiscreteGaussian, DiscreteLaplace
from dpcourse.loss import FiniteLoss, GaussianLoss, LaplaceLoss, PrivacyLoss
from dpcourse.loss.composed import Composed, compose
from dpcourse.loss.methods.choose import smoothed
from dpcourse.loss.methods.counts import likely, multinomial, window
from dpcourse.loss.methods.crest import Crest, _log_number, crest
from dpcourse.loss.methods.knots import nodes_needed
from dpcourse.loss.methods.lattice import common_step
from tests.brackets import contains, direct_engines, overlap


@st.composite
def finite_parts(draw: st.DrawFn, most: int = 3) -> list[tuple[FiniteLoss, int]]:
    """A few finite pairs of laws in Fractions, some with outcomes that only one of the two gives."""
    parts: dict[FiniteLoss, int] = {}
    for _ in range(draw(st.integers(1, most))):
        n = draw(st.integers(2, 4))
        laws = []
        for _ in range(2):
            weights = draw(st.lists(st.integers(0, 12), min_size=n, max_size=n).filter(any))
            laws.append(tuple(Fraction(w, sum(weights)) for w in weights))
        parts[FiniteLoss(*laws)] = draw(st.integers(1, 3))
    return list(parts.items())


def enumerated(parts: Sequence[tuple[FiniteLoss, int]], ratio: Fraction) -> Fraction:
    """sup_S P(S) - ratio Q(S) of the product laws, by enumeration of all outcomes, exactly."""
    joint = {Fraction(1): (Fraction(1), Fraction(1))}
    for leaf, k in parts:
        for _ in range(k):
            after: dict[Any, tuple[Fraction, Fraction]] = {}
            for a, b in joint.values():
                for p, q in zip(leaf.p, leaf.q, strict=True):
                    key = a * p / (b * q) if b * q else None
                    x, y = after.get(key, (Fraction(0), Fraction(0)))
                    after[key] = x + a * p, y + b * q
            joint = after
    return sum((max(p - ratio * q, Fraction(0)) for p, q in joint.values()), Fraction(0))


ratios = st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(5), Fraction(40), Fraction(1, 3)])


@settings(max_examples=400)
@given(finite_parts(), ratios)
def test_finite_mixtures_against_enumeration(parts: list[tuple[FiniteLoss, int]], ratio: Fraction) -> None:
    truth = enumerated(parts, ratio)
    loss = compose(parts)
    low, high = loss.delta_bounds(math.log(ratio))
    assert contains((low, high), mpmath.mpf(truth.numerator) / truth.denominator)
    assert high - low < 1e-12


@settings(max_examples=100)
@given(finite_parts(), st.sampled_from([1e-9, 1e-3, 0.05, 0.3]))
def test_epsilon_of_finite_mixtures_is_certified(parts: list[tuple[FiniteLoss, int]], delta: float) -> None:
    low, high = compose(parts).epsilon_bounds(delta)
    assert 0 <= low <= high
    above = Fraction(math.nextafter(math.exp(high), math.inf)) if high < 700 else None
    if above is not None:
        assert enumerated(parts, above * (1 + Fraction(1, 10**13))) <= delta * (1 + 1e-12)
    if 0 < low < 700:
        assert enumerated(parts, Fraction(math.exp(low)) * (1 - Fraction(1, 10**13))) >= delta * (1 - 1e-12)


@pytest.mark.slow
@settings(max_examples=12)
@given(finite_parts(2), ratios.filter(lambda r: r >= 1))
def test_every_method_against_enumeration(parts: list[tuple[FiniteLoss, int]], ratio: Fraction) -> None:
    loss = compose(parts)
    one_value = [len(np.unique(np.round(leaf.atoms[0], 9))) < 2 for leaf, _ in parts]
    assume(isinstance(loss, Composed) and not any(one_value))
    eps = math.log(ratio)
    truth = enumerated(parts, ratio)
    assume(eps < loss.top)  # else there is nothing to sum
    for name, engine in direct_engines(loss.parts):
        low, high = (float(v[0]) + loss.infinite for v in engine.bounds(np.array([eps])))
        assert math.isnan(low) or contains((low, high), mpmath.mpf(truth.numerator) / truth.denominator), name


def from_the_top(leaf: FiniteLoss, k: int, eps: float) -> mpmath.mpf:
    """delta near the largest sum: every multiset of steps that fall short of it by little, in 60 digits."""
    with mpmath.workdps(60):
        p, q = ([mpmath.mpf(v) for v in law] for law in (leaf.p, leaf.q))
        losses = [mpmath.log(a / b) for a, b in zip(p, q, strict=True)]
        best = max(range(len(p)), key=losses.__getitem__)
        room = k * losses[best] - eps
        gaps = sorted((losses[best] - value, i) for i, value in enumerate(losses) if i != best)
        total = mpmath.mpf(0)
        open_ = [(total, 0, k, p[best] ** k)]  # short by, next gap, steps left, mass
        while open_:
            short, first, left, mass = open_.pop()
            total += mass * -mpmath.expm1(short - room)
            for j in range(first, len(gaps)):
                gap, i = gaps[j]
                ratio, times, more = p[i] / p[best], 1, mass
                while times <= left and short + times * gap < room:
                    more *= ratio * (left - times + 1) / times
                    open_.append((short + times * gap, j + 1, left - times, more))
                    times += 1
        return total


@pytest.mark.parametrize("delta", [1e-20, 1e-30])
@pytest.mark.parametrize("seed", [10, 19, 20, 21, 28, 30, 38, 46, 56])
def test_a_tiny_delta_near_the_largest_loss_is_sharp(seed: int, delta: float) -> None:
    """These were up to 0.85 wide before the largest sums were listed."""
    rng = np.random.default_rng(seed)
    n, spread = int(rng.integers(3, 13)), rng.choice([0.5, 1, 3])
    k = int(rng.choice([10, 30, 100, 300, 1000]))
    leaf = FiniteLoss(*(tuple(rng.dirichlet(np.full(n, spread)).tolist()) for _ in range(2)))
    loss = k * leaf
    low, high = loss.epsilon_bounds(delta)
    assert high - low < 1e-8
    if loss.ceiling() - low < 1:
        assert from_the_top(leaf, k, low) >= delta * (1 - mpmath.mpf(10) ** -14)
        assert high == loss.ceiling() or from_the_top(leaf, k, high) <= delta * (1 + mpmath.mpf(10) ** -14)


def largest(parts: list[tuple[FiniteLoss, int]]) -> Crest:
    smooth = smoothed([], parts)
    assert smooth is not None
    found = crest(parts, smooth.saddle)
    assert found is not None
    return found


def test_many_losses_near_the_largest_sum_are_left_to_a_line() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(300))
    q = p * np.exp(rng.normal(0, 0.01, 300))
    leaf = FiniteLoss(tuple((p / p.sum()).tolist()), tuple((q / q.sum()).tolist()))
    largest = crest([(leaf, 3)], smoothed([], [(leaf, 3)]).saddle)
    assert math.isnan(largest.root(1e-6)[0])  # some hundred losses are as near as that
    for delta in (1e-6, 1e-30):
        low, high = (3 * leaf).epsilon_bounds(delta)
        assert 0 < low < high < low + 1e-8
    assert not math.isnan(largest.root(1e-30)[0])


def test_the_largest_sums_of_a_billion_steps_take_no_memory_for_each_step() -> None:
    leaf = FiniteLoss((1 - 3e-10, 2e-10, 1e-10), (1 - 7e-10, 3e-10, 4e-10))
    tracemalloc.start()
    found = largest([(leaf, 10**9)])
    low, high = found.bounds(np.array([found.saddle.top - 10.0]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < low[0] <= high[0] < low[0] * (1 + 1e-5)
    assert peak < 50e6


def test_losses_that_nearly_agree_are_all_counted() -> None:
    """A gap of 2e-16 next to gaps of 1.5: every count of the small one fits below the others."""
    assert _log_number(np.array([5e-324, 1.0]), 1e3) > 600  # no warning
    p = (0.3, 0.3 * (1 - 2**-52), 0.2, 0.2)
    leaf = FiniteLoss(p, (0.1, 0.1, 0.3, 0.5))
    found = largest([(leaf, 60)])
    eps = 60 * math.log(3) - 4
    low, high = found.bounds(np.array([eps]))
    assert contains((float(low[0]), float(high[0])), from_the_top(leaf, 60, eps))


def test_merged_outcomes_keep_the_roundings_of_their_logarithms() -> None:
    a, b, n = 2.3494852504916916e-05, 9.838480828416418e-06, 30000
    loss = FiniteLoss((a,) * n + (b,) * n, (b,) * n + (a,) * n)
    with mpmath.workdps(40):
        truth = mpmath.log(mpmath.mpf(a) / mpmath.mpf(b))
        assert loss.epsilon_bounds(0.0)[1] >= truth
        assert (100 * loss).epsilon_bounds(0.0)[1] >= 100 * truth


def test_no_finite_loss_at_all_is_said() -> None:
    apart = 3 * FiniteLoss((1.0, 0.0), (0.0, 1.0))
    assert apart.method == "nothing to sum: no loss is finite, or hardly ever"
    assert apart.epsilon_bounds(0.5) == (math.inf, math.inf)


@pytest.mark.parametrize("k", [100, 1000])
@pytest.mark.parametrize("concentration", [0.3, 1.0, 3.0])
def test_arbitrary_finite_laws(concentration: float, k: int) -> None:
    rng = np.random.default_rng(0)  # at concentration 1 epsilon is 4598, of which rounding once took 4.5e-8
    leaf = FiniteLoss(*(tuple(rng.dirichlet(np.full(6, concentration)).tolist()) for _ in range(2)))
    low, high = (k * leaf).epsilon_bounds(1e-6)
    assert high - low <= 1e-8


def test_common_step() -> None:
    assert common_step(np.array([0.1, 0.2, 0.30000000000000004]), 1e-16) == pytest.approx(0.1)
    assert common_step(np.array([0.7, 0.4999999999999999, 1.1]), 1e-16) == pytest.approx(0.1)
    assert common_step(np.array([1.0, math.pi]), 1e-16) == 0
    assert common_step(np.array([0.0]), 1e-16) == 0
    assert nodes_needed(1, 0.1)[1] == 0.0  # a single step is exact


@pytest.mark.parametrize("k", [2, 10, 100, 1000])
def test_outcomes_of_equal_loss_are_one_atom(k: int) -> None:
    """Publish one record of a hundred: 99 outcomes of loss 0 and one that is infinite."""
    p = (0.01,) * 100
    publish = FiniteLoss((*p, 0.0), (0.0, *p))
    losses, masses = publish.atoms
    assert losses.tolist() == [0.0]
    assert math.isclose(masses.sum(), 0.99)
    low, high = (k * publish).delta_bounds(0.0)
    assert low <= 1 - 0.99**k <= high
    assert high - low < 1e-12


# Tiny losses ------------------------------------------------------------------------------------


def nearly_equal(weights: list[int], moved: list[int], apart: Fraction) -> FiniteLoss:
    """q in proportion to the weights, and p = q (1 + apart * (moved - their mean)): all losses are small."""
    q = [Fraction(w, sum(weights)) for w in weights]
    mean = sum(a * b for a, b in zip(q, moved, strict=True))
    p = [a * (1 + apart * (b - mean)) for a, b in zip(q, moved, strict=True)]
    return FiniteLoss(tuple(p), tuple(q))


@st.composite
def tiny_parts(draw: st.DrawFn) -> list[tuple[FiniteLoss, int]]:
    """One or two laws, each nearer to its neighbour than 10^-1, ..., 10^-30."""
    parts: dict[FiniteLoss, int] = {}
    for _ in range(draw(st.integers(1, 2))):
        n, apart = draw(st.integers(2, 4)), Fraction(1, 10 ** draw(st.integers(1, 30)))
        weights = draw(st.lists(st.integers(1, 12), min_size=n, max_size=n))
        moved = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n).filter(lambda v: len(set(v)) > 1))
        parts[nearly_equal(weights, moved, apart)] = draw(st.integers(1, 3))
    return list(parts.items())


@settings(max_examples=150)
@given(tiny_parts(), st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 2), Fraction(9, 10)]))
def test_losses_far_below_rounding_are_counted(parts: list[tuple[FiniteLoss, int]], share: Fraction) -> None:
    """In floats these laws agree; a bracket of (0, 0) would call them perfectly private."""
    loss = compose(parts)
    top = Fraction(loss.max_divergence())
    low, high = loss.epsilon_bounds(0.0)
    with mpmath.workdps(60):
        true = sum(
            k * max(mpmath.log(mpmath.mpf(v.numerator) / v.denominator) for v in ratios_of(leaf))
            for leaf, k in parts
        )
        assert low <= true <= high <= low * (1 + 1e-13)
        delta = enumerated(parts, exponential(share * top))
        assert contains(
            loss.delta_bounds(float(share * top)), mpmath.mpf(delta.numerator) / delta.denominator
        )


def ratios_of(leaf: FiniteLoss) -> list[Fraction]:
    """p/q of each outcome."""
    return [a / b for a, b in zip(leaf.p, leaf.q, strict=True)]


def exponential(x: Fraction) -> Fraction:
    """e^x of the double nearest to x, to 60 digits."""
    with mpmath.workdps(60):
        man, exp = mpmath.exp(float(x)).man_exp
    return Fraction(int(man)) * Fraction(2) ** int(exp)


@pytest.mark.parametrize("k", [10**3, 10**6, 10**9, 10**12])
def test_many_steps_of_a_loss_far_below_rounding(k: int) -> None:
    """A coin of 1/2 +- 1e-17; for k flips TV is 4e-17 E|heads - tails|/2, about 4e-17 sqrt(k/2 pi)."""
    half, apart = Fraction(1, 2), Fraction(1, 10**17)
    coin = FiniteLoss((half + apart, half - apart), (half - apart, half + apart))
    assert (k * coin).epsilon_bounds(0.0) == pytest.approx((k * 4e-17, k * 4e-17), rel=1e-13)
    low, high = (k * coin).delta_bounds(0.0)
    assert low <= 4e-17 * math.sqrt(k / (2 * math.pi)) <= high * (1 + 1 / k)
    assert high - low < 0.01 * high or k > 10**9  # a binomial of so many steps would not fit into memory


@pytest.mark.parametrize("k", [10**3, 10**6, 10**9])
@pytest.mark.parametrize("power", [3, 6, 12, 20])
@pytest.mark.parametrize(
    "other", [None, LaplaceLoss(0.1), GaussianLoss(0.1), FiniteLoss((0.6, 0.4), (0.4, 0.6))]
)
def test_any_scale_and_any_number_of_steps_has_an_answer(k: int, power: int, other: Any) -> None:
    """Sums of 1e-17 and of 1e6: no overflow, no warning, and nothing above the largest loss."""
    leaf = nearly_equal([5, 3, 2], [1, 0, -3], Fraction(1, 10**power))
    loss = k * leaf if other is None else k * leaf + other
    for delta in (1e-6, 1e-20):
        low, high = loss.epsilon_bounds(delta)
        assert 0 <= low <= high <= loss.ceiling()
    low, high = loss.delta_bounds(0.0)
    assert 0 <= low <= high <= 1
    assert high >= leaf.delta_bounds(0.0)[0]


def test_fractions_below_every_double_keep_their_losses() -> None:
    """10^-400 is 0 in floats; its odds of 10 to 1 are not."""
    rare = Fraction(1, 10**400)
    loss = FiniteLoss((10 * rare, 1 - 10 * rare), (rare, 1 - rare))
    assert loss.infinite == 0
    assert loss.epsilon_bounds(0.0) == pytest.approx((math.log(10), math.log(10)))
    assert loss.delta_bounds(1.0)[1] > 0
    assert (100 * loss).ceiling() == pytest.approx(100 * math.log(10))


def test_whole_numbers_among_fractions_are_exact_too() -> None:
    half, apart = Fraction(1, 2), Fraction(1, 10**17)
    loss = FiniteLoss((half + apart, half - apart, 0), (half - apart, half + apart, 0))
    assert loss.exact
    assert loss.epsilon(0.0) >= 4e-17
    assert FiniteLoss((1, 0), (1, 0)).max_ratio() == 1
    assert (5 * FiniteLoss((1, 0), (1, 0))).epsilon(0.0) == 0


def test_a_fraction_and_a_float_that_differ_are_not_equal() -> None:
    """Rounded, these are the same two laws; the difference is within the rounding of a loss."""
    apart = Fraction(1, 10**17)
    loss = FiniteLoss((Fraction(1, 2) + apart, 0.5), (0.5, 0.5))
    assert 2e-17 <= loss.ceiling() < 1e-15
    assert 2e-14 <= (1000 * loss).epsilon(0.0) < 1e-12


def test_memory_does_not_grow_with_the_number_of_steps() -> None:
    response = FiniteLoss((0.5000001, 0.4999999), (0.4999999, 0.5000001))
    tracemalloc.start()
    low, high = (10**12 * response).epsilon_bounds(1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert high - low < 1e-3 * high
    assert peak < 100e6


# Large and small losses together ----------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-6, 1e-12, 1e-25])
@pytest.mark.parametrize(("seed", "number"), [(0, 6), (0, 17), (0, 39), (1, 26), (1, 34), (3, 34), (5, 21)])
def test_few_large_and_many_small_losses_are_sharp(seed: int, number: int, delta: float) -> None:
    """Up to 0.27 wide, when a smoothed contour had to find a few narrow peaks, or ended below them."""
    loss = compose(mixed(seed, number))
    assert isinstance(loss, Composed)
    low, high = loss.epsilon_bounds(delta)
    assert high - low <= 1e-8
    for name, engine in direct_engines(loss.parts):
        other = engine.bounds(np.array([low, high]))
        if not np.isnan(other).any():
            assert overlap(loss.delta_bounds(np.array([low, high])), other), name


def mixed(seed: int, number: int) -> list[tuple[FiniteLoss, int]]:
    """The composition of that number from a row of random ones: two to four laws, up to 1000 steps each."""
    rng = np.random.default_rng(seed)
    for _ in range(number + 1):
        parts = []
        for _ in range(int(rng.integers(2, 5))):
            n, scale = int(rng.integers(2, 7)), 10 ** rng.uniform(-3, 0.3)
            q = rng.dirichlet(np.full(n, rng.choice([1, 5])))
            p = q * np.exp(scale * rng.uniform(-1, 1, n))
            leaf = FiniteLoss(tuple((p / p.sum()).tolist()), tuple(q.tolist()))
            parts.append((leaf, int(10 ** rng.uniform(0, 3))))
    return parts


# What an attack on the brackets found ------------------------------------------------------------


def test_stated_losses_count_where_the_masses_agree() -> None:
    """Discrete Laplace noise so wide that neighbouring masses are the same doubles: the loss is not 0."""
    leaf = PrivacyLoss.between(DiscreteLaplace(0, 1e17), DiscreteLaplace(1, 1e17))
    low, high = (10**9 * leaf).epsilon_bounds(0.0)
    assert low <= 1e-8 <= high


def test_a_fraction_below_every_double_next_to_floats() -> None:
    rare = Fraction(1, 10**400)
    loss = FiniteLoss((0.5, 0.5), (rare, 1 - rare))
    low, high = loss.epsilon_bounds(0.25)  # 0.5 - e^eps 1e-400 = 0.25
    assert low <= math.log(0.25) + 400 * math.log(10) <= high <= low + 1e-9
    assert (2 * loss).delta_bounds(3000.0)[0] == 0


def test_rounded_sums_count_at_negative_epsilon() -> None:
    """The floats as they are given add up to 1 - 5.6e-17, 151 times."""
    p = (0.3263501628835031, 0.2929243024605525, 0.38072553465594444)
    q = (0.3263501626001059, 0.29292430250337037, 0.3807255348965237)
    low, high = (151 * FiniteLoss(p, q)).delta_bounds(-1e-6)
    assert low <= 9.9999950838e-7 <= high


@pytest.mark.parametrize(
    "loss",
    [
        100 * FiniteLoss((0.999, 0.0009, 0.0001), (0.0, 0.0005, 0.9995)),
        60 * FiniteLoss((0.998, 0.0015, 0.0003, 0.0001, 0.0001), (0.0, 0.0005, 0.0001, 0.3, 0.6994)),
        100 * FiniteLoss((0.999, 0.0009, 0.0001), (0.0, 0.0005, 0.9995)) + LaplaceLoss(0.3),
    ],
)
def test_hardly_ever_finite(loss: PrivacyLoss) -> None:
    low, high = loss.delta_bounds(np.array([0.0, -1.0, 3.0]))
    assert (low > 1 - 1e-9).all()
    assert (high == 1).all()
    assert loss.tail(1.0) == 1
    assert "hardly ever" in loss.method


@pytest.mark.parametrize(
    ("sigma", "shift", "other"), [(0.5, 1, LaplaceLoss(0.1)), (2.3, 1, GaussianLoss(0.1)), (2.3, 3, None)]
)
def test_discrete_gaussian_losses_compose_with_others(sigma: float, shift: int, other: Any) -> None:
    leaf = PrivacyLoss.between(DiscreteGaussian(0, sigma), DiscreteGaussian(shift, sigma))
    loss = 10 * leaf if other is None else 10 * leaf + other
    low, high = loss.epsilon_bounds(1e-6)
    near = (10 * GaussianLoss(shift / sigma)).epsilon(1e-6)
    assert low <= high <= low + 1e-8
    assert low > 0.9 * near


def test_stretches_of_a_list_end_where_the_list_does() -> None:
    p = (0.6290445062224801, 0.1131336865198686, 0.2578218072576512)
    q = (0.24920505842969207, 0.1, 0.6507949415703079)
    low, high = (54 * FiniteLoss(p, q)).delta_bounds(1.0)
    assert 0.9974 < low <= high < low + 1e-12


def test_a_constant_loss_is_a_shift() -> None:
    """It once was a part of the small losses, whose contour then took 20 s and 5 GB."""
    large = FiniteLoss((0.05, 0.95), (0.86, 0.14))
    small = FiniteLoss((0.4, 0.2, 0.4), (0.4000000003, 0.1999999997, 0.4))
    always = FiniteLoss((0.0, 1.0), (0.175, 0.825))
    tracemalloc.start()
    low, high = (97 * large + 277 * small + 88 * always).epsilon_bounds(1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert high - low < 1e-8
    assert peak < 2e8


def test_every_epsilon_between_two_cells_has_a_narrow_bracket() -> None:
    """A cell may hold a single row of its table: its line must serve all epsilons since the cell below."""
    weights = (4, 1320, 2168, 308, 5300, 862, 37, 2), (0.24, 274, 731, 109, 1990, 865, 343, 5700)
    large = FiniteLoss(*(tuple(w / sum(law) for w in law) for law in weights))
    small = FiniteLoss((0.1, 0.3, 0.2, 0.4), (0.099, 0.3005, 0.2002, 0.4003))
    low, high = (30 * large + 10 * small).epsilon_bounds(1e-30)
    assert high - low < 1e-8
    assert low < 53.290023393 < high + 1e-9


@pytest.mark.parametrize("k", [30, 300, 3000])
@pytest.mark.parametrize("part", [1e-3, 1e-5, 1e-7])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-30])
def test_where_large_losses_have_ended_small_ones_decide(k: int, part: float, delta: float) -> None:
    """Given the large losses, the small ones are a binomial law; brackets were 0.2 wide here."""
    large = FiniteLoss((0.5, 0.4, 0.1), (0.1, 0.6, 0.3))
    small = FiniteLoss((0.5 + part, 0.5 - part), (0.5 - part, 0.5 + part))
    low, high = (5 * large + k * small).epsilon_bounds(delta)
    assert high - low < 1e-8
    values, masses = multinomial(large, 5)
    below, above = (
        tuple(float(masses @ end) for end in (k * small).delta_bounds(eps - values)) for eps in (low, high)
    )
    assert below[1] >= delta * (1 - 1e-12)
    assert above[0] <= delta * (1 + 1e-12)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5), st.sampled_from([10, 30, 100, 300]))
def test_how_many_counts_are_likely_is_known_before_they_are_listed(weights: list[float], k: int) -> None:
    p = np.array(weights) / (2 * sum(weights))
    within = window(p, k)
    assume(within.number < 1e5)
    found = likely((np.arange(len(p), dtype=float), p), k, within, 1e6)
    assert found is not None
    left, _, mass, lost = found
    assert len(left) <= 1.05 * within.number
    assert within.number <= math.comb(k + len(p), k) * (1 + 1e-9)
    assert (left >= 0).all()
    assert (mass > 0).all()
    assert 0 < lost < 1e-20


@given(st.lists(st.integers(1, 99), min_size=4, max_size=8), st.floats(-30, -0.1))
def test_one_finite_loss_is_inverted_to_a_few_ulps(weights: list[int], power: float) -> None:
    n, delta = len(weights) // 2, 10**power
    p, q = (tuple(Fraction(w, sum(some)) for w in some) for some in (weights[:n], weights[n : 2 * n]))
    low, high = FiniteLoss(tuple(map(float, p)), tuple(map(float, q))).epsilon_bounds(delta)
    assert high - low <= 1e-13 * (1 + high)
    with mpmath.workdps(40):
        for eps, sign in ((low, 1), (high, -1)):
            each = (a - mpmath.exp(eps) * b for a, b in zip(map(to_mp, p), map(to_mp, q), strict=True))
            excess = mpmath.fsum(max(x, 0) for x in each) - delta
            assert sign * excess >= -1e-15 or eps == 0


def to_mp(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def test_one_leaf_off_the_lattice_does_not_blur_the_others() -> None:
    half, apart = Fraction(1, 2), Fraction(1, 2 * 10**12)
    plain = 1000 * FiniteLoss((0.9, 0.1), (0.1, 0.9))
    both = plain + FiniteLoss((half + apart, half - apart), (half - apart, half + apart))
    width, wider = (high - low for low, high in (v.epsilon_bounds(1e-6) for v in (plain, both)))
    assert wider < 2 * width + 1e-11


@pytest.mark.parametrize("seed", [9, 19, 36, 39, 45, 46])
def test_small_losses_vary_until_delta_is_below_every_double(seed: int) -> None:
    """The table of saddle points ended before delta was 1e-30: a grid had brackets of some thousandths."""
    rng = np.random.default_rng(seed)
    low, high = (2 * random_law(3, 1.0, rng) + 30 * random_law(8, 1e-3, rng)).epsilon_bounds(1e-30)
    assert high - low < 1e-8


def random_law(outcomes: int, scale: float, rng: np.random.Generator | None = None) -> FiniteLoss:
    """P and Q apart by such a factor."""
    rng = rng or np.random.default_rng(outcomes)
    p = rng.dirichlet(np.ones(outcomes))
    q = p * np.exp(rng.normal(0, scale, outcomes))
    return FiniteLoss(tuple(p.tolist()), tuple((q / q.sum()).tolist()))


@pytest.mark.parametrize("scale", [1e-3, 0.1, 2.0])
@pytest.mark.parametrize(("outcomes", "k"), [(13, 4), (40, 3), (250, 2)])
def test_many_outcomes_against_the_law_of_all_their_pairs(outcomes: int, k: int, scale: float) -> None:
    leaf = random_law(outcomes, scale)
    p, q = (reduce(np.multiply.outer, [np.array(law)] * k).ravel() for law in (leaf.p, leaf.q))
    exact = FiniteLoss(tuple((p / p.sum()).tolist()), tuple((q / q.sum()).tolist()))
    engines = dict(direct_engines([(leaf, k)]))
    assert "smooth" in engines
    for delta in (1e-2, 1e-6, 1e-12):
        low, high = (k * leaf).epsilon_bounds(delta)
        below, above = exact.epsilon_bounds(delta)
        assert low <= above * (1 + 1e-12)
        assert below * (1 - 1e-12) <= high <= low + 1e-8
        truth = np.array([np.array(end) for end in exact.delta_bounds(np.array([above]))])
        for engine in engines.values():
            some = engine.bounds(np.array([above]))
            assert np.isnan(some[0][0]) or overlap(
                (some[0] * (1 - 1e-12), some[1] * (1 + 1e-12)), (truth[0] - 1e-16, truth[1] + 1e-16)
            )


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("scale", [0.01, 2.0])
@pytest.mark.parametrize("k", [10, 100, 1000])
def test_a_thousand_outcomes_have_narrow_brackets(k: int, scale: float, delta: float) -> None:
    """A grid had brackets of 1e-4 here."""
    low, high = (k * random_law(1000, scale)).epsilon_bounds(delta)
    assert high - low < 1e-8
