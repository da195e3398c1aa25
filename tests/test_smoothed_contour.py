"""The smoothed contour: against the exact law on a lattice that it is not told of, its width, its parts."""

from __future__ import annotations

import cmath
import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpcourse.errors import Floats
from dpcourse.loss import FiniteLoss
from dpcourse.loss.logs import expm1, turned
from dpcourse.loss.methods.choose import smoothed
from dpcourse.loss.methods.even import OFF, even_sums
from dpcourse.loss.methods.factors import FiniteFactor
from dpcourse.loss.methods.fourier import raised
from dpcourse.loss.methods.lattice import lattice
from dpcourse.loss.methods.saddle import Saddle
from dpcourse.loss.methods.search import Search
from dpcourse.loss.methods.waves import Waves
from dpcourse.loss.solve import ULP
from tests.brackets import overlap


@st.composite
def on_a_lattice(draw: st.DrawFn) -> list[tuple[FiniteLoss, int]]:
    """One or two laws whose losses are whole numbers of one step, but for a shift."""
    parts: dict[FiniteLoss, int] = {}
    step = draw(st.sampled_from([0.001, 0.01, 0.1, 0.5, math.log(2)]))
    for _ in range(draw(st.integers(1, 2))):
        places = draw(st.lists(st.integers(-20, 20), min_size=2, max_size=7, unique=True))
        weights = draw(st.lists(st.integers(1, 1000), min_size=len(places), max_size=len(places)))
        q = np.array(weights) / sum(weights)
        p = q * np.exp(step * np.array(places))
        parts[FiniteLoss(tuple((p / p.sum()).tolist()), tuple(q.tolist()))] = draw(
            st.sampled_from([3, 10, 30, 100, 300, 1000])
        )
    return list(parts.items())


@given(on_a_lattice(), st.sampled_from([1e-2, 1e-6, 1e-12, 1e-30]), st.floats(0, 1e-3))
def test_it_agrees_with_the_exact_law(
    parts: list[tuple[FiniteLoss, int]], delta: float, apart: float
) -> None:
    exact, smooth = lattice(parts), smoothed([], parts)
    assume(exact is not None and smooth is not None)
    assert exact is not None
    assert smooth is not None
    root, _ = exact.root(delta)
    assume(0 < root < math.inf)
    eps = np.array([root, root + apart])
    low, high = smooth.bounds(eps)
    known = ~np.isnan(low)  # it declines where sums are so few that noise would drown them
    assert overlap((low[known], high[known]), tuple(v[known] for v in exact.bounds(eps)))


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-30])
@pytest.mark.parametrize("scale", [1e-3, 1e-2, 0.1])
def test_laws_near_each_other_have_narrow_brackets(scale: float, delta: float) -> None:
    """Lines far out, c in the hundreds: the lower bound feels aliases many times as much."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        p = rng.dirichlet(np.full(9, 0.5))
        q = p * np.exp(rng.normal(0, scale, len(p)))
        loss = int(rng.choice([30, 300])) * FiniteLoss(tuple(p.tolist()), tuple((q / q.sum()).tolist()))
        low, high = loss.epsilon_bounds(delta)
        assert high - low <= 1e-8


def test_beyond_every_double_a_bound_is_enough() -> None:
    """Near its largest value a sum has a probability of e^-1600; a grid would take a fifth of a second."""
    loss = FiniteLoss((0.2, 0.5, 0.3), (0.15, 0.51, 0.34))
    smooth = smoothed([], [(loss, 1000)])
    assert smooth is not None
    top = 1000 * math.log(0.2 / 0.15)
    low, high = smooth.bounds(np.array([0.999 * top]))
    assert low[0] == 0 < high[0] < 1e-300
    assert smooth.slope(np.array([0.999 * top]))[0] == 0


def test_newton_goes_on_from_where_delta_is_flat() -> None:
    """Where the slope is 1e-300, a step is 1e301 and its square is no double: that was an error once."""
    leaf = FiniteLoss((0.6, 0.4), (0.4, 0.6))
    saddle = Saddle([FiniteFactor(leaf, 10)], 10 * leaf.kl())

    def look(epsilon: Floats) -> tuple[Floats, Floats, Floats]:
        flat = epsilon < 3
        value = np.where(flat, 0.5, 0.5 * np.exp(3 - epsilon))
        return value, value, np.where(flat, 1e-300, value)

    root, _ = saddle.newton(look, 1e-6, last=100.0, start=0.0)
    assert root == pytest.approx(3 + math.log(0.5e6))


@pytest.mark.parametrize("angle", [0.0, 1e-300, 3e-9, -1e-3, 1.0, -3.0, 700.0])
def test_turned_keeps_its_digits(angle: float) -> None:
    with mpmath.workdps(40):
        truth = mpmath.expm1(1j * mpmath.mpf(angle))
    found = complex(turned(np.array(angle)))
    assert found.real == pytest.approx(float(truth.real), rel=1e-15)
    assert found.imag == pytest.approx(float(truth.imag), rel=1e-14 * max(1, abs(angle)))
    grown = complex(expm1(np.array(complex(-2e-5, angle))))
    assert grown == pytest.approx(cmath.exp(complex(-2e-5, angle)) - 1, abs=1e-15)


@pytest.mark.parametrize("k", [1, 2, 7, 100, 1000])
def test_raised_is_a_power_without_what_is_too_small(k: int) -> None:
    base = np.array([1.0, 0.9j, 0.5 - 0.5j, 1e-30, 0.0])
    found = raised(base, k)
    exact = np.array([complex(mpmath.mpc(b) ** k) for b in base.tolist()])
    small = np.abs(exact) < 1e-100
    assert np.allclose(found, np.where(small, 0, exact), rtol=1e-13 * k, atol=0)
    assert base[3] == 1e-30  # the argument is as it was


def test_shares_are_the_characteristic_function_at_any_sum_of_row_and_column() -> None:
    waves = Waves(np.array([-0.7, 0.2, 1.1]), np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.0, -0.1]), 3)
    c, rows, columns = 0.8, np.array([0.0, 3.0]), np.array([0.5, 10.0, 250.0])

    def moment(z: complex) -> complex:
        rise = np.exp(z * waves.losses)
        return complex(rise @ waves.plain + rise @ waves.over_w / (2 * z + 1))

    shares = waves.shares(c, waves.turns(rows), waves.turns(columns))
    expected = [[moment(c + 1j * (s + t)) / moment(c + 0j) for t in columns] for s in rows]
    assert np.allclose(shares, expected, rtol=1e-13)
    even = waves.even(c, 3.0, 0.5, 700)
    assert np.allclose(
        even, [moment(c + 1j * (3 + 0.5 * i)) / moment(c + 0j) for i in range(700)], rtol=1e-12
    )


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
    st.integers(1, 3000),
    st.floats(-6, 2).map(lambda x: 10**x),
    st.floats(-1e4, 1e4),
)
def test_even_sums_are_those_of_every_wave(
    seed: int, waves: int, count: int, step: float, start: float
) -> None:
    rng = np.random.default_rng(seed)
    losses, weights = rng.normal(0, 1, waves), rng.dirichlet(np.full(waves, 0.3), 2)
    number = np.unique(rng.integers(0, count, 50))
    number = np.append(number, count - 1)
    t = start + step * number
    truth = weights @ np.exp(1j * np.multiply.outer(losses, t))
    found = even_sums(losses, weights, start, step, count)
    assert found.shape == (2, count)
    turning = 4 * ULP * float(np.abs(losses).max()) * (abs(start) + 2 * step * count)
    assert np.abs(found[:, number] - truth).max() <= OFF * ULP + turning


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 30, 1000]),
    st.floats(-3, 1).map(lambda x: 10**x),
    st.integers(100, 1000),
    st.floats(0, 4).map(lambda x: int(10**x)),
    st.floats(-18, -6).map(lambda x: 10**x),
    st.sampled_from([4, 40]),
)
def test_a_search_keeps_a_node_once_or_counts_it_as_left_out(
    seed: int, k: int, h: float, first: int, more: int, spare: float, atoms: int
) -> None:
    """Also the last node, whose t is rounded, and where the line ends in the middle of a block."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(atoms))
    wave, c, count = Waves(rng.normal(0, 1 / math.sqrt(k), atoms), p, 0 * p, k), 0.7, first + more
    found = list(Search([wave], c, h, first, count, spare).pieces())
    assert found[-1][0] == count
    number = np.concatenate([np.rint(t / h).astype(int) for _, t, _, _ in found])
    value = np.concatenate([value for _, _, value, _ in found])
    t = h * np.arange(count)
    truth = np.ravel(wave.shares(c, wave.turns(t), wave.turns(np.zeros(1)))) ** k
    assert len(number) == len(np.unique(number))
    assert (number < count).all()
    assert np.allclose(value, truth[number], rtol=0, atol=1e-11)
    absent = np.ones(count, dtype=bool)
    absent[:first], absent[number] = False, False
    left_out = sum(piece[3] for piece in found)
    missed = float((np.abs(truth[absent]) / t[absent] ** 2).sum())
    assert missed <= left_out * (1 + 1e-9) + 1e-12 * float((1 / t[first:] ** 2).sum())
    assert len(number) == more or left_out <= 100 * spare
