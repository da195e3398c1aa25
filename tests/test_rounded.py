"""Rounded privacy-loss distributions: which roundings are bounds, how close they are, and where they end."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dpcourse as dp
from dpcourse import BadInput, PrivacyLoss, laws
from dpcourse.accounting import ROUNDINGS, Rounded

LOSSES = {
    "response": dp.RandomizedResponse(0.3).worst_case(),
    "laplace": dp.LaplaceMechanism(0.4).worst_case(),
    "gaussian": dp.GaussianMechanism(3.0).worst_case(),
    "leak": PrivacyLoss.between(
        laws.Finite((0, 1, 2), (0.01, 0.59, 0.4)), laws.Finite((0, 1, 2), (0.0, 0.4, 0.6))
    ),
}
NOISE = 1e-12


@given(st.sampled_from(list(LOSSES)), st.integers(1, 30), st.sampled_from([0.013, 0.05, 0.1, 0.27]))
def test_up_and_dots_are_upper_bounds_and_down_is_a_lower_one(name: str, k: int, width: float) -> None:
    one = LOSSES[name]
    epsilons = np.linspace(0, 3, 13)
    low, high = (k * one).delta_bounds(epsilons)
    found = {rounding: (k * Rounded.of(one, width, rounding)).delta(epsilons) for rounding in ROUNDINGS}
    assert (found["up"] >= low - NOISE).all()
    assert (found["dots"] >= low - NOISE).all()
    assert (found["down"] <= high + NOISE).all()
    assert (found["dots"] <= found["up"] + NOISE).all()
    # All of the error is a shift of at most k grid steps.
    assert (found["up"] <= (k * one).delta(epsilons - k * width) + NOISE).all()
    assert (found["down"] >= (k * one).delta_bounds(epsilons + k * width)[0] - NOISE).all()


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_all_mass_is_somewhere_on_the_grid(name: str, rounding: str) -> None:
    grid = Rounded.of(LOSSES[name], 0.07, rounding)
    assert grid.masses.sum() + grid.infinite == pytest.approx(1, abs=1e-9)
    assert (grid.masses >= 0).all()
    assert grid.infinite == pytest.approx(LOSSES[name].infinite, abs=1e-12)


def test_a_loss_on_the_grid_stays_where_it_is() -> None:
    one = dp.RandomizedResponse(0.1).worst_case()
    exact = 50 * one
    for rounding in ROUNDINGS:
        grid = 50 * Rounded.of(one, 0.02, rounding)
        assert grid.delta(1.3) == pytest.approx(exact.delta(1.3), rel=1e-9)
        assert grid.epsilon(1e-3) == pytest.approx(exact.epsilon(1e-3), rel=1e-6)


def test_rounding_down_matches_the_binomial_law() -> None:
    """Losses of +-0.1 rounded down to 0.09 and -0.12: a binomial law again."""
    h, j = 1 / (1 + math.exp(-0.1)), np.arange(1001)
    losses = 0.21 * j - 120
    truth = (stats.binom.pmf(j, 1000, h) * np.maximum(-np.expm1(5.0 - losses), 0)).sum()
    down = 1000 * Rounded.of(dp.RandomizedResponse(0.1).worst_case(), 0.03, "down")
    assert down.delta(5.0) == pytest.approx(truth, rel=1e-6)
    assert abs(down.delta(15.0)) < 1e-12  # truly 7.6e-15, below the rounding of the transform


def test_exact_laws_and_infinite_mass() -> None:
    third = Fraction(1, 3)
    pair = laws.Finite((0, 1), (third, 1 - third)), laws.Finite((1, 2), (third, 1 - third))
    grid = 3 * Rounded.of(PrivacyLoss.between(*pair), 0.1)
    assert grid.infinite == pytest.approx(1 - (2 / 3) ** 3)
    assert grid.epsilon(0.5) == math.inf
    apart = PrivacyLoss.between(laws.Finite((0,), (1,)), laws.Finite((1,), (1,)))
    assert (4 * Rounded.of(apart, 0.1)).delta(3.0) == 1


def test_bad_arguments_name_the_rule() -> None:
    with pytest.raises(BadInput, match=r"rounding = 'floor' .* 'up', 'dots', 'nearest', 'down'"):
        Rounded.of(LOSSES["response"], 0.1, "floor")
    with pytest.raises(BadInput, match="width = 0"):
        Rounded.of(LOSSES["response"], 0)
    with pytest.raises(BadInput, match="k = 0"):
        0 * Rounded.of(LOSSES["response"], 0.1)
