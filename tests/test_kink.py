"""The two functions that enclose the kink: they do, their transforms are theirs, their sums can be moved."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.errors import Floats
from dpcourse.loss import FiniteLoss
from dpcourse.loss.methods.choose import smoothed
from dpcourse.loss.methods.kink import GAP, LARGEST, _point, transforms
from dpcourse.loss.solve import ULP
from tests.brackets import overlap

LINES = st.floats(-6, 3).map(lambda x: 10.0**x)
UNITS = st.floats(-6, -1).map(lambda x: 10.0**x)


def kink(c: float, x: Floats) -> Floats:
    """e^{-cx} (1 - e^{-x})+."""
    return np.where(x > 0, np.exp(-c * np.abs(x)) * -np.expm1(-np.abs(x)), 0.0)


def quadrature(c: float, last: float) -> tuple[Floats, Floats]:
    """Nodes and weights for integrals from 0 to there of what bends within c of 0, and turns 15 times."""
    ends = np.union1d(np.linspace(0, last, 33), np.geomspace(min(c, last) / 4, last, 60))
    node, weight = np.polynomial.legendre.leggauss(24)
    half = np.diff(ends) / 2
    return (ends[:-1] + half + np.multiply.outer(node, half)).ravel(), np.multiply.outer(weight, half).ravel()


def by_definition(c: float, unit: float, t: float, above: bool) -> complex:
    """The transform as a sum over the points where the function touches the kink, term by term."""
    with mpmath.workdps(60):
        v, d, angle = (mpmath.mpf(c) * unit, mpmath.mpf(unit), mpmath.mpf(t) * unit)
        log_mean = lambda x: mpmath.log(-mpmath.expm1(-x) / x)  # noqa: E731
        a = -(log_mean(v + d) - log_mean(v)) / d if above else mpmath.mpf(0)
        ratio = lambda x: x / mpmath.expm1(x)  # noqa: E731
        values = slopes = mpmath.mpc(0)
        for rate, sign in ((v, 1), (v + d, -1)):
            turn = mpmath.exp(-(rate + 1j * angle))
            first = mpmath.exp(-(rate + 1j * angle) * a)
            values += sign * first / (1 - turn)
            slopes -= sign * rate * first / (1 - turn)
        if not above:
            slopes += ratio(v) - ratio(v + d) - d  # the slope at the kink itself is a choice
        share = angle / (2 * mpmath.pi)
        return complex(unit * ((1 - share) * values - 1j / (2 * mpmath.pi) * slopes))


@given(LINES, UNITS, st.floats(0, 1))
def test_transforms_are_those_of_the_definition(c: float, unit: float, share: float) -> None:
    c = min(c, 3 / unit)
    t = share * 2 * math.pi / unit
    for above, found in enumerate(transforms(c, unit, np.array([t]))):
        truth = by_definition(c, unit, t, bool(above))
        end = 2 * math.pi / unit - t  # near T, it is what is left of values as large as those near 0
        assert abs(found[0] - truth) <= 64 * ULP * (1 / (c * c + t * t) + 1 / (c * c + end * end))


@given(LINES, UNITS)
def test_one_is_above_the_kink_and_one_below(c: float, unit: float) -> None:
    c = min(c, 3 / unit)
    t, weight = quadrature(c, 2 * math.pi / unit)
    x = unit * np.linspace(-15, 30, 901)
    wave = np.exp(1j * np.multiply.outer(x, t))
    low, high = ((wave @ (weight * transform)).real / math.pi for transform in transforms(c, unit, t))
    truth = kink(c, x)
    rounding = 1e-9 * min(unit, 1 / (1 + c))
    assert (low <= truth + rounding).all()
    assert (truth <= high + rounding).all()
    touched = np.arange(1, 30) * unit
    at = np.searchsorted(x, touched - unit / 100)
    assert np.allclose(low[at], truth[at], rtol=0, atol=rounding)


@given(LINES, UNITS)
def test_transforms_fall_as_the_square_and_the_gap_is_as_narrow_as_it_says(c: float, unit: float) -> None:
    unit, c = max(unit, 1e-4), min(max(c, 1e-2), 3 / unit)  # so that rounding near T is small next to it
    t = np.append(0.0, np.geomspace(1e-3 * c, 2 * math.pi / unit, 400))
    below, above = transforms(c, unit, t)
    assert max(np.max(np.abs(each) * (c * c + t * t)) for each in (below, above)) <= LARGEST
    whole = 1 / (c * (c + 1))
    gap = float((above - below)[0].real)
    assert -64 * ULP * whole <= gap <= GAP * unit**2 + 64 * ULP * whole


@given(LINES, UNITS)
def test_the_first_point_keeps_its_digits(c: float, unit: float) -> None:
    v, d = c * unit, unit
    with mpmath.workdps(60):
        first, second = (mpmath.log(-mpmath.expm1(-x) / x) for x in (mpmath.mpf(v), mpmath.mpf(v) + d))
        truth = float((first - second) / d)
    assert _point(v, d) == pytest.approx(truth, abs=1e-14)


@given(st.floats(-1, 1), st.sampled_from([10, 100, 1000]))
def test_sums_moved_from_a_near_epsilon_still_enclose(step: float, k: int) -> None:
    """Both brackets at the second epsilon contain delta, and the moved one is hardly wider."""
    leaf = FiniteLoss((0.5, 0.3, 0.15, 0.05), (0.31, 0.3, 0.19, 0.2))
    centre = k * leaf.kl() + 1.0
    moved, fresh = smoothed([], [(leaf, k)]), smoothed([], [(leaf, k)])
    assert moved is not None
    assert fresh is not None
    moved.bounds(np.array([centre]))
    near = np.array([centre + step * 1e-7])
    (low, high), (below, above) = moved.bounds(near), fresh.bounds(near)
    assert low[0] <= below[0] * (1 + 1e-13)
    assert above[0] * (1 - 1e-13) <= high[0]
    assert high[0] - low[0] <= 1.1 * (above[0] - below[0])


@pytest.mark.parametrize(("outcomes", "k"), [(5, 100), (4, 1000), (60, 10), (600, 100)])
def test_a_curve_agrees_with_its_points(outcomes: int, k: int) -> None:
    """Even epsilons are summed by one Fourier transform, others one by one; both hold the truth."""
    rng = np.random.default_rng(outcomes)
    p, q = rng.dirichlet(np.full(outcomes, 2.0), 2)
    leaf = FiniteLoss(tuple((p / p.sum()).tolist()), tuple((q / q.sum()).tolist()))
    even = np.linspace(0.2, 1.5, 200) * k * leaf.kl()
    uneven = np.sort(rng.uniform(even[0], even[-1], 40))
    curve = smoothed([], [(leaf, k)])
    assert curve is not None
    low, high = curve.bounds(even)
    assert (high - low <= 1e-5 * high).all()
    assert overlap((low[9::19], high[9::19]), smoothed_alone(leaf, k, even[9::19]))
    low, high = curve.bounds(uneven)
    assert overlap((low[::5], high[::5]), smoothed_alone(leaf, k, uneven[::5]))


def smoothed_alone(leaf: FiniteLoss, k: int, epsilon: Floats) -> tuple[Floats, Floats]:
    """Bounds at each epsilon by itself, none helped by the one before."""
    ends = []
    for one in epsilon:
        method = smoothed([], [(leaf, k)])
        assert method is not None
        ends.append(method.bounds(np.array([one])))
    low, high = (np.concatenate(end) for end in zip(*ends, strict=True))
    return low, high
