"""Few Laplace losses on their own knots: against other exact methods, and against an oracle."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.loss import LaplaceLoss

shifts = st.lists(st.floats(0.05, 1.5), min_size=2, max_size=4)


def by_powers(parts, eps):
    """delta by inclusion and exclusion over the truncated powers of the spline, in 50 digits.

    In e^{-l/2} P one Laplace loss is a (D_{-s} + D_{+s}) + b (H_{-s} - H_{+s}), D an atom and H a step. A
    product of m steps is (l - t)+^{m-1}/(m-1)!, which is integrated against e^{l/2} - e^{eps - l/2} > 0.
    """
    with mpmath.workdps(50):
        top = mpmath.fsum(mpmath.mpf(s) for s in parts)
        total = mpmath.mpf(0)
        # Each factor contributes: an atom at -+s (weight a), or a step at -+s (weight +-b).
        choices = [
            [(sign * mpmath.mpf(s), kind) for sign in (-1, 1) for kind in ("atom", "step")] for s in parts
        ]
        for row in itertools.product(*choices):
            place = mpmath.fsum(t for t, _ in row)
            weight = mpmath.mpf(1)
            for (t, kind), s in zip(row, parts, strict=True):
                a = mpmath.exp(-mpmath.mpf(s) / 2) / 2
                weight *= a if kind == "atom" else a / 2 * (-1 if t > 0 else 1)
            m = sum(kind == "step" for _, kind in row)
            if m == 0:
                if place > eps:
                    total += weight * (mpmath.exp(place / 2) - mpmath.exp(eps - place / 2))
                continue
            low = max(place, mpmath.mpf(eps))
            if low < top:
                power = mpmath.quad(
                    lambda x, t=place, n=m: (
                        (x - t) ** (n - 1)
                        / mpmath.factorial(n - 1)
                        * (mpmath.exp(x / 2) - mpmath.exp(eps - x / 2))
                    ),
                    [low, top],
                )
                total += weight * power
        return total


@given(shifts, st.floats(0, 0.95))
def test_the_bracket_holds_the_truth(parts, part):
    loss = LaplaceLoss(parts[0])
    for s in parts[1:]:
        loss = loss + LaplaceLoss(s)
    if len(parts) > 3:
        parts, loss = parts[:3], LaplaceLoss(parts[0]) + LaplaceLoss(parts[1]) + LaplaceLoss(parts[2])
    eps = part * math.fsum(parts)
    low, high = loss.delta_bounds(eps)
    truth = by_powers(parts, eps)
    assert low <= truth * (1 + mpmath.mpf(10) ** -15)
    assert high >= truth * (1 - mpmath.mpf(10) ** -15)
    assert high - low <= 1e-11


@pytest.mark.parametrize("parts", [(0.1, 0.3), (0.2, 0.2, 0.5), (0.1, 0.1, 0.4, 0.7), (0.3,) * 6])
def test_agrees_with_the_spline_on_a_lattice(parts):
    from dpcourse.loss.methods.few import Few
    from dpcourse.loss.methods.knots import knots

    own = Few([(LaplaceLoss(s), 1) for s in parts])
    shared = knots([(LaplaceLoss(s), 1) for s in parts], [])
    eps = np.linspace(0.013, 0.99 * sum(parts), 23)  # off the atoms, where the slope jumps
    (low, high), (other_low, other_high) = own.bounds(eps), shared.bounds(eps)
    assert np.all(low <= other_high)
    assert np.all(high >= other_low)
    np.testing.assert_allclose(own.slope(eps), shared.slope(eps), rtol=1e-9)


def test_a_vector_answer_is_exact_and_quick():
    loss = LaplaceLoss(0.123456789) + LaplaceLoss(0.7654321) + LaplaceLoss(math.sqrt(2))
    assert "knots of 3 Laplace losses" in loss.method
    for delta in (0.1, 1e-3, 1e-9):
        low, high = loss.epsilon_bounds(delta)
        assert 0 < high - low < 1e-11
    assert loss.delta(loss.max_divergence()) < 1e-13
    assert loss.delta(loss.ceiling()) == 0
    assert loss.epsilon(0.9) == 0
