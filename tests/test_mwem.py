"""MWEM: its steps keep their parts of the budget, exactly, and its data learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.errors import BadInput
from dpcourse.guarantees import ZCDP, Guarantee, PureDP
from dpcourse.interactive.weights import MWEM
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms.universe import marginals
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE

PURE, ZERO = PureDP(1.0, adjacency=REPLACE_ONE), ZCDP(0.1, adjacency=REPLACE_ONE)
ROWS = tuple(np.repeat([0, 3, 5, 7], [400, 300, 200, 100]).tolist())


@pytest.mark.parametrize("budget", [PURE, ZERO], ids=repr)
@given(moves=st.lists(st.floats(-1, 1), min_size=4, max_size=4), guess=st.floats(0, 1))
def test_a_choice_and_a_measurement_keep_their_parts(
    budget: Guarantee, moves: list[float], guess: float
) -> None:
    n, rounds = 10, 3
    mwem = MWEM(np.eye(4), n, budget, rounds)
    here = np.array([0.5, 0.2, 0.2, 0.1])
    there, guesses = here + np.array(moves) / n, np.full(4, guess)
    choice = PrivacyLoss.between(mwem.choice(here, guesses), mwem.choice(there, guesses))
    answer = PrivacyLoss.between(mwem.measurement(here[0]), mwem.measurement(here[0] + 1 / n))
    for loss in (choice, answer):
        if isinstance(budget, ZCDP):
            part = budget.rho / (2 * rounds)
            assert all(loss.renyi(a) <= a * part * (1 + 1e-9) for a in (1.1, 2.0, 5.0, 20.0))
        else:
            assert loss.max_divergence() <= 1 / (2 * rounds) + 1e-9


def test_the_parts_add_up_to_the_budget() -> None:
    mwem = MWEM(np.eye(4), 10, ZERO, 4)
    scale = math.sqrt(4 / 0.1) / 10
    assert float(mwem.measurement(0.3).std()) == pytest.approx(scale)
    one = mwem.choice_epsilon**2 / 8 + 1 / (2 * (10 * scale) ** 2)
    assert 4 * one == pytest.approx(0.1)
    assert 4 * 2 * MWEM(np.eye(4), 10, PURE, 4).choice_epsilon == pytest.approx(1.0)
    assert MWEM(np.eye(4), 10, ZERO, 4).guarantee is ZERO


@pytest.mark.parametrize("budget", [PURE, ZERO], ids=repr)
def test_it_answers_better_than_the_even_law(budget: Guarantee, rng: np.random.Generator) -> None:
    queries = marginals(3, 2)
    made = MWEM(queries, len(ROWS), budget, rounds=6).run(ROWS, rng)
    truth = queries @ np.bincount(ROWS, minlength=8) / len(ROWS)
    assert made.weights.sum() == pytest.approx(1)
    assert len({m.query for m in made.measured}) == 6
    assert np.abs(made.answers(queries) - truth).max() < 0.5 * np.abs(queries.mean(axis=1) - truth).max()


def test_marginals_are_histograms() -> None:
    cells = marginals(5, 3)
    assert cells.shape == (80, 32)
    assert (cells.reshape(10, 8, 32).sum(axis=1) == 1).all()
    with pytest.raises(BadInput, match="ways"):
        marginals(2, 3)


@pytest.mark.parametrize("budget", [ZCDP(0.1), PureDP(1.0, adjacency=ADD_REMOVE)], ids=repr)
def test_the_size_is_public(budget: Guarantee) -> None:
    with pytest.raises(BadInput, match="REPLACE_ONE"):
        MWEM(np.eye(4), 10, budget, rounds=2)


def test_a_query_is_measured_once() -> None:
    with pytest.raises(BadInput, match="fewer rounds"):
        MWEM(np.eye(4), 10, PURE, rounds=5)
