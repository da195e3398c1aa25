"""Private logistic regression: its gradients, its clipping, its guarantee, and what it learns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcourse.algorithms.regression import (
    PrivateLogistic,
    clipped,
    gradients,
    log_loss,
    not_private,
)
from dpcourse.errors import BadInput
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import Subsampled


def example(size: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(size), rng.uniform(-1, 1, (size, 2))])
    y = rng.random(size) < 1 / (1 + np.exp(-(x @ [-0.5, 2.0, -1.0])))
    return x, y


def test_gradients_are_the_slopes_of_the_loss() -> None:
    x, y = example(40)
    w, step = np.array([0.3, -0.2, 0.7]), 1e-6
    for i, row in enumerate(np.eye(3)):
        slope = (log_loss(w + step * row, x, y) - log_loss(w - step * row, x, y)) / (2 * step)
        assert math.isclose(slope, gradients(w, x, y)[:, i].mean(), abs_tol=1e-8)


def test_clipping_shortens_long_rows_only_and_keeps_their_direction() -> None:
    rows = np.random.default_rng(1).normal(size=(200, 5)) * np.geomspace(1e-9, 1e9, 200)[:, None]
    short = clipped(rows, 0.7)
    norms = np.linalg.norm(rows, axis=1)
    assert np.linalg.norm(short, axis=1).max() <= 0.7 * (1 + 1e-12)
    assert np.array_equal(short[norms <= 0.7], rows[norms <= 0.7])
    cosine = (short * rows).sum(1) / (norms * np.linalg.norm(short, axis=1))
    assert np.allclose(cosine, 1)
    assert clipped(np.zeros((2, 3)), 1).sum() == 0


def test_newton_finds_where_the_gradient_vanishes() -> None:
    x, y = example()
    assert np.abs(gradients(not_private(x, y), x, y).mean(0)).max() < 1e-7


def test_a_step_keeps_its_promise_on_every_pair_of_small_data() -> None:
    """The law of a step over all samples: one feature, people with gradients of any length."""
    model = PrivateLogistic(size=3, sigma=1.3, steps=1, rate=0.4, clip=0.5)
    people = [(4.0, 0), (-2.0, 1), (0.1, 1)]
    for weight in (0.0, -1.5):
        step = model.mechanism([weight])
        assert isinstance(step, Subsampled)
        for left, right in ((people[:1], []), (people[:2], people[:1]), (people, people[:2])):
            for a, b in ((left, right), (right, left)):
                loss = PrivacyLoss.between(*(_number(step.law(tuple(data))) for data in (a, b)))
                for delta in (1e-3, 0.05):
                    assert loss.epsilon(delta) <= model.epsilon(delta) * (1 + 1e-6)


def _number(law: object) -> object:
    """A mixture of one-dimensional products as a mixture of numbers."""
    from dpcourse.laws import Gaussian, Mixture

    assert isinstance(law, Mixture)
    flat = [Gaussian(float(part.parts[0].loc[0]), float(part.parts[0].scale)) for part in law.parts]  # type: ignore[attr-defined]
    return Mixture(law.weights, tuple(flat))


def test_the_worst_person_uses_the_whole_promise() -> None:
    """Alone in the data, with a gradient longer than the clip: one step is exactly the worst case."""
    model = PrivateLogistic(size=1, sigma=1.3, steps=1, rate=0.4, clip=0.5)
    step = model.mechanism([0.0])
    loss = PrivacyLoss.between(*(_number(step.law(data)) for data in (((4.0, 0),), ())))
    assert math.isclose(loss.delta(0.5), model.worst_case().delta(0.5), rel_tol=1e-9)


def test_epsilon_is_exact_and_below_the_accountants() -> None:
    from dpcourse.accounting import moments_accountant

    model = PrivateLogistic(size=1000, sigma=1.0, steps=1000, rate=0.01)
    assert math.isclose(model.epsilon(1e-5), 1.8282367, rel_tol=1e-7)
    assert model.epsilon(1e-5) < model.guarantee.epsilon(1e-5) < moments_accountant(0.01, 1.0, 1000, 1e-5)


def test_noise_and_samples_are_as_described() -> None:
    """With nobody in the data every step is pure noise of sigma clips, scaled by pace/(rate size)."""
    model = PrivateLogistic(size=50, sigma=3.0, steps=4000, rate=0.2, clip=0.5, pace=2.0)
    path = model.fit(np.zeros((0, 4)), np.zeros(0), np.random.default_rng(2)).path
    moves = np.diff(path, axis=0) * (0.2 * 50) / 2.0
    assert abs(moves.std() / 1.5 - 1) < 0.03


def test_what_it_learns_comes_near_to_the_best_weights() -> None:
    x, y = example()
    best = log_loss(not_private(x, y), x, y)
    fit = PrivateLogistic(size=3000, sigma=2.0, steps=200).fit(x, y, np.random.default_rng(3))
    assert best <= log_loss(fit.weights, x, y) < best + 0.02
    assert fit.path.shape == (201, 3)
    again = PrivateLogistic(size=3000, sigma=2.0, steps=200).fit(x, y, np.random.default_rng(3))
    assert np.array_equal(fit.path, again.path)


def test_messages_teach() -> None:
    with pytest.raises(BadInput, match="one label for each person"):
        PrivateLogistic(size=3, sigma=1.0).fit(np.zeros((3, 2)), np.zeros(2), np.random.default_rng(0))
    one = PrivateLogistic(size=3, sigma=1.0, clip=0.5)
    with pytest.raises(BadInput, match=r"features = .* finite"):
        one.fit([[np.nan]], [1], np.random.default_rng(0))
    with pytest.raises(BadInput, match=r"labels = .* 0 or 1 for each person"):
        one.fit([[1.0], [2.0]], [-1, 1], np.random.default_rng(0))
    assert one.fit([[9.0]], [1], np.random.default_rng(0)).note == (
        "gradients longer than 0.5 were shortened to that length"
    )
    with pytest.raises(BadInput, match="chance to be in a sample"):
        PrivateLogistic(size=3, sigma=1.0, rate=0.0)


def test_nobody_can_make_the_answer_undefined() -> None:
    """Features whose products overflow to inf - inf: one such row must not be seen as NaN in the weights."""
    model = PrivateLogistic(size=10, sigma=1.0, steps=20, rate=1.0)
    for row in ([1e308, 1e308], [1e200, -1e200], [1e308, -1e-308]):
        fit = model.fit([row] * 3, [0, 1, 1], np.random.default_rng(2))
        assert np.isfinite(fit.path).all()
    long = clipped([[1e308, -1e308], [3e200, 4e200]], 2.0)
    assert np.allclose(long, [[2**0.5, -(2**0.5)], [1.2, 1.6]])
