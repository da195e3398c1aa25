"""The pictures of unit 10: their numbers are those of the engine."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcourse.accounting import subsampled_gaussian_rdp
from dpcourse.mechanisms import GaussianMechanism, LaplaceMechanism, RandomizedResponse
from dpcourse.plots import concentrated as pictures
from dpcourse.plots import figure

LOSSES = {
    "randomized response": RandomizedResponse(1.0).worst_case(),
    "Laplace": LaplaceMechanism(1.0).worst_case(),
    "Gaussian": GaussianMechanism(1.0).worst_case(),
}


def test_curves_begin_at_the_mean_loss_and_the_top_of_each_is_its_rho() -> None:
    with figure(ncols=2) as (_, (left, right)):
        pictures.divergences(left, LOSSES)
        pictures.divergences_by_order(right, LOSSES)
        for ax in (left, right):
            curves = [line for line in ax.lines if len(line.get_xdata()) > 2]
            for line, loss in zip(curves, LOSSES.values(), strict=True):
                assert math.isclose(line.get_ydata()[0], loss.kl(), rel_tol=0.03)
        gaussian = [line for line in right.lines if len(line.get_xdata()) > 2][-1]
        assert np.allclose(gaussian.get_ydata(), 0.5)


def test_a_loss_may_lie_above_the_normal_tail_but_not_its_moments() -> None:
    with figure(ncols=2) as (_, axes):
        pictures.tails_and_moments(axes, LOSSES["randomized response"], rho=0.5)
        normal, tail = (np.asarray(line.get_ydata()) for line in axes[0].lines)
        assert (tail > normal).any()
        above, below = (np.asarray(line.get_ydata()) for line in axes[1].lines)
        assert (below <= above).all()


@pytest.mark.parametrize("order", [1.5, 2.5, 10.0])
def test_every_curve_of_the_conversion_lies_above_the_hockey_stick(order: float) -> None:
    with figure() as (_, ax):
        pictures.above_the_hockey_stick(ax, order)
        markov, step, improved, stick = (np.asarray(line.get_ydata(), dtype=float) for line in ax.lines[:4])
    assert (markov >= step).all()
    assert (step >= stick).all()
    assert (improved >= stick - 1e-12).all()
    assert (improved - stick).min() < 1e-4


def test_tests_stay_inside_the_region_of_their_order() -> None:
    loss = LOSSES["randomized response"]
    with figure() as (_, ax):
        pictures.tests_of(ax, {"response": loss}, loss.renyi(2))
        edge, _, best = (np.asarray(line.get_ydata()) for line in ax.lines)
    assert (best <= edge + 1e-9).all()
    assert (edge - best)[5:-5].min() < 1e-3  # the corner lies on the edge


def test_samples_hide_at_small_orders() -> None:
    with figure() as (_, ax):
        pictures.sampled_orders(ax, 2.0, (1, 0.1), high=16)
        whole, part = (np.asarray(line.get_ydata()) for line in ax.lines)
    assert math.isclose(part[0], subsampled_gaussian_rdp(0.1, 2.0, 2))
    assert whole[0] > 50 * part[0]


def test_means_of_runs_are_drawn_among_the_levels() -> None:
    with figure() as (_, ax):
        pictures.learned_under(ax, [0.1, 1.0], [[0.7, 0.6], [0.6, 0.5]], {"nothing": 0.69, "best": 0.5})
        means = next(line for line in ax.lines if line.get_marker() == "D")
        assert np.allclose(means.get_ydata(), [0.65, 0.55])
        assert {text.get_text() for text in ax.texts} == {"nothing", "best"}
