"""Explorers of the algorithms, without a browser: their numbers against the engine's and closed forms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpcourse import explore, plots
from dpcourse.algorithms.kmeans import Ball, LloydRound, PrivateKMeans, noises
from dpcourse.algorithms.net import NetMechanism
from dpcourse.attacks import PICTURE, expected_recovery
from dpcourse.audit import clopper_pearson
from dpcourse.guarantees import PureDP
from dpcourse.interactive import sparse_vector as svt
from dpcourse.interactive.weights import drop
from dpcourse.loss import PrivacyLoss
from dpcourse.widgets import lloyd, net, weights
from dpcourse.widgets.median import GRID, NOISES, QUERY, log_ratio, neighbours
from dpcourse.widgets.median import worst as worst_neighbour
from dpcourse.widgets.private_table import QUESTIONS, ask_all, truth
from dpcourse.widgets.reconstruction import LEVELS, PROGRAM, SQUARES, curve, fitted, questions
from dpcourse.widgets.sparse_vector import LENGTHS, ZOO, epsilon, one_run

SYM, HAM = "one row more or less", "one row changed"


# ---- reconstruction -------------------------------------------------------------------------------


@pytest.mark.parametrize(("noise", "attack", "least"), [(0.1, SQUARES, 0.99), (0.25, PROGRAM, 0.95)])
def test_little_noise_gives_the_picture_away(noise: float, attack: str, least: float) -> None:
    right = [np.mean((fitted(noise, 256, attack, draw) > 0.5) == PICTURE.ravel()) for draw in range(5)]
    assert np.mean(right) >= least


def test_runs_scatter_around_what_least_squares_expects() -> None:
    found = [curve(192, draw) for draw in range(40)]
    expected = np.mean([e for e, _ in found], axis=0)
    runs = np.array([r for _, r in found])
    standard_error = runs.std(axis=0) / math.sqrt(len(runs)) + 1e-3
    assert np.all(np.abs(runs.mean(axis=0) - expected) < 5 * standard_error)
    assert np.all(np.diff(expected) < 1e-12)
    assert expected[0] == 1
    masks = questions(192, 0)[0]
    for level in (4, 15, 40):
        engine = expected_recovery(masks, LEVELS[level] * math.sqrt(64 / 3))
        assert curve(192, 0)[0][level] == pytest.approx(engine)


def test_the_picture_is_the_run_at_its_level_and_small_sets_of_questions_work() -> None:
    for queries in (32, 256):
        expected, runs = curve(queries, 3)
        assert np.isnan(expected).all() == (queries < 64)
        for level in (4, 20, 40):
            fit = fitted(float(LEVELS[level]), queries, SQUARES, 3)
            assert np.mean((fit > 0.5) == PICTURE.ravel()) == runs[level]
    masks, inverse, error = questions(128, 0)
    assert inverse @ masks == pytest.approx(np.eye(64), abs=1e-9)
    assert np.abs(error).max() <= 1


# ---- the private table ----------------------------------------------------------------------------


def test_parts_are_paid_once_and_a_swap_pays_for_two() -> None:
    asked = ("Days in the north", "Days in the south", "Count each ward")
    records, plan = ask_all(asked, 0.2, 2.0, SYM, 0)
    assert [r.charged for r in records] == [Fraction(1, 5), 0, Fraction(1, 5)]
    _, swapped = ask_all(asked[:2], 0.2, 2.0, HAM, 0)
    assert plan.spent == Fraction(2, 5)
    assert swapped.spent == Fraction(2, 5)  # a row may leave the north for the south


def test_a_refusal_is_free_and_the_budget_is_exact() -> None:
    records, plan = ask_all(("Count all",) * 7, 0.1, 0.5, SYM, 0)  # five tenths: no more, no less
    assert [bool(r.refusal) for r in records] == [False] * 5 + [True] * 2
    assert plan.spent == plan.budget == Fraction(1, 2)
    later = explore.private_table().view(asked=("Count all",) * 6, budget=0.5, epsilon=0.1)
    assert later.words.startswith("Refused: Count all")
    assert "0 is left of 0.5, 1 refused" in later.words


def test_answers_are_the_truth_with_the_noise_that_was_paid_for() -> None:
    for name in QUESTIONS:
        errors = [
            np.subtract(ask_all((name,), 0.5, 2.0, SYM, seed)[0][0].answers, truth(name))
            for seed in range(60)
        ]
        assert np.median(np.abs(errors)) > 0
        scale = {"Days": 60.0, "Mean": 0.5}.get(name[:4], 2.0)  # 30/0.5, about 2(95-18)/(600 0.5), 1/0.5
        assert np.median(np.abs(errors)) < 2 * scale


# ---- k-means --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("region", "excess"), [(lloyd.ROUND, 1.0), (lloyd.DIAMOND, 1.0), (lloyd.TRAP, None)])
def test_the_price_of_a_run_is_exact(region: str, excess: float | None) -> None:
    run = lloyd.run(1.0, 4, region, 0)
    assert run.path.shape == (5, 3, 2)
    assert len(run.clouds) == 4
    if excess is not None:
        assert run.true == pytest.approx(excess * run.claimed)
        ball = Ball(2, 1 if region == lloyd.DIAMOND else 2)
        assert run.true == pytest.approx(PrivateKMeans(3, ball, PureDP(1.0), 4).guarantee.epsilon(0))
        return
    counts, sums = noises(PureDP(0.25), Ball(2, 1))
    trapped = LloydRound(Ball(2), np.zeros((1, 2)), counts, sums)
    point = (0.5**0.5, 0.5**0.5)
    loss = PrivacyLoss.between(trapped.law(()), trapped.law((point,)))
    assert run.true == pytest.approx(4 * loss.max_divergence(), rel=1e-5)
    assert run.true > 1.25


def test_a_cloud_is_around_the_exact_means_and_shrinks_with_epsilon() -> None:
    spreads = [np.std(lloyd.run(e, 1, lloyd.ROUND, 0).clouds[0], axis=1).mean() for e in (0.5, 1.0, 3.0)]
    assert spreads[0] > spreads[1] > spreads[2]
    run, unit = lloyd.run(3.0, 1, lloyd.ROUND, 0), lloyd.points()
    for j in range(3):
        exact = unit[run.labels[0] == j].mean(axis=0)
        assert np.median(run.clouds[0][j], axis=0) == pytest.approx(exact, abs=0.05)


# ---- sparse vector --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ZOO)
def test_the_zoo_is_labelled_right(name: str) -> None:
    ever = svt.epsilon_at_any_length(ZOO[name])
    assert name.startswith("sound") == (ever <= 1 + 1e-9)
    found = [epsilon(name, m) for m in LENGTHS]
    assert found == sorted(found)
    assert found[-1] <= ever
    words = explore.sparse_vector().view(variant=name, length=60).words
    assert ("more than the 1 that is claimed" in words) == (found[-1] > 1 + 1e-9)


@pytest.mark.parametrize("name", ["sound", "broken: never halts", "sound, threshold redrawn after a yes"])
def test_a_run_follows_the_exact_law(name: str) -> None:
    values = np.array([-3.0, 2.0, 0.0])
    law = svt.law_of(ZOO[name], values)
    runs = [one_run(ZOO[name], values, np.random.default_rng(seed)).said for seed in range(3000)]
    for outcome in {(False, False, False), (False, True, False), (True, True, True)}:
        low, high = clopper_pearson(runs.count(outcome), len(runs), 0.9999)
        assert low < float(law.prob(outcome)) < high


def test_reference_prices_of_broken_versions() -> None:
    assert epsilon("broken: noise not scaled to the yeses", 60) == pytest.approx((1 + 6 * 3) / 4)
    assert epsilon("broken: halts too late", 60) == pytest.approx(1.5)
    assert epsilon("broken: no noise on the threshold", 10) == pytest.approx(2.5)
    assert math.isinf(epsilon("broken: no noise on the queries", 2))


# ---- median ---------------------------------------------------------------------------------------


def test_the_median_shows_the_reference_numbers() -> None:
    words = explore.median().view(noise="Laplace, smooth, claimed 2ε: broken", epsilon=0.5).words
    assert "local 4, smooth 4.8522 at β = 0.5" in words
    words = explore.median().view(noise="Laplace, smooth, claimed 2ε: broken", epsilon=1.0).words
    assert "local 4, smooth 4 at β = 1" in words


@pytest.mark.parametrize("data", [(0.0, 1.0, 5.0, 9.0, 10.0), (0.0, 0.0, 0.0, 1.0, 1.0), (5.0,) * 5])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
def test_only_what_is_labelled_broken_leaves_its_band(data: tuple[float, ...], epsilon: float) -> None:
    for name in NOISES:
        _, ratio = worst_neighbour(data, name, epsilon)
        largest = float(np.abs(ratio).max())
        if name.endswith(": ε-DP"):
            assert largest <= epsilon * (1 + 1e-9)
        view = explore.median(**dict(zip("abcde", data, strict=True))).view(noise=name, epsilon=epsilon)
        if "broken" not in name:
            assert "infinite" not in view.words
    naive = "Laplace, smooth, claimed 2ε: broken"
    assert np.abs(worst_neighbour((0.0, 0.0, 0.0, 0.0, 1.0), naive, 0.5)[1]).max() > 1.0


def test_the_worst_neighbour_is_a_neighbour_and_the_worst_of_those_tried() -> None:
    data = (0.0, 1.0, 5.0, 9.0, 10.0)
    for name in NOISES:
        other, ratio = worst_neighbour(data, name, 1.0)
        assert QUERY.adjacency.are_neighbours(data, other)
        mechanism = NOISES[name](1.0)
        tried = [log_ratio(mechanism.law(data), mechanism.law(y), GRID) for y in neighbours(data)]
        assert np.abs(ratio).max() == max(np.abs(r).max() for r in tried)
    local = "Laplace, local, claimed ε: broken"
    words = explore.median(a=5.0, b=5.0, d=5.0, e=5.0).view(noise=local).words
    assert "log-ratio reaches 0," in words  # nothing near moves this median, so nothing is to be seen
    words = explore.median(a=5.0, b=5.0, d=5.0, e=6.0).view(noise=local).words
    assert "local 0" in words


# ---- net and weights ------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "n", "eps"), [(1, 20, 0.1), (4, 100, 1.0), (16, 400, 3.0)])
def test_errors_of_the_net_are_exact(size: int, n: int, eps: float) -> None:
    mechanism = NetMechanism(eps, np.eye(3), n, size=size)
    data = net.dataset(n)
    law, off = mechanism.law(data), mechanism.errors(data)
    found = {name: values[size - 1] for name, values in net.curves(n, eps).items()}
    assert found[net.EXPECTED] == pytest.approx(float(law.weights @ off))
    assert found[net.NEAREST] == off.min()
    assert mechanism.failure(data, found[net.LIKELY]) <= net.BETA + 1e-12
    below = max((e for e in set(off.tolist()) if e < found[net.LIKELY] - 1e-12), default=-1.0)
    assert mechanism.failure(data, below) > net.BETA  # no smaller error is met that often
    assert found[net.PROMISED] == pytest.approx(mechanism.promised_error(data, net.BETA))
    assert found[net.NEAREST] <= found[net.EXPECTED]
    assert found[net.LIKELY] <= found[net.PROMISED]


@pytest.mark.parametrize("threshold", [0.1, 0.3])
def test_the_staircase_goes_down_and_errors_stay_small(threshold: float) -> None:
    run = weights.run(threshold, 400, 0)
    drops = -np.diff(run.potentials)
    assert (drops > 0).all()
    data = np.bincount(weights.rows(400_000), minlength=weights.UNIVERSE) / 400_000
    for i, at in enumerate(run.rounds):
        query, before, after = weights.queries(0)[at], run.hypotheses[i], run.hypotheses[i + 1]
        way = 1 if query @ after > query @ before else -1
        assert drops[i] == pytest.approx(drop(data, before, query, way * run.settings.step), abs=1e-9)
    assert np.abs(run.errors).max() <= run.settings.accuracy(weights.QUERIES, weights.BETA)
    assert len(run.rounds) == run.updated.sum() < run.settings.updates
    assert run.epsilon == pytest.approx(float(run.settings.loss.epsilon(weights.DELTA)))


# ---- pictures -------------------------------------------------------------------------------------


def test_kept_words_are_the_words_that_matplotlib_draws() -> None:
    """A sheet's text, drawn once and kept, is within a pixel of the plain text at the same place."""
    from matplotlib.text import Text

    looks = itertools.product(("left", "center", "right"), ("top", "center", "bottom"), (9, 12))
    for ha, va, size in looks:
        images = []
        for kind in ("kept", "plain"):
            fig, on = plots.sheet(3, 1)
            if kind == "kept":
                on.text(108, 36, "chance 4/7", ha, va, fontsize=size)
            else:
                on.add(Text(108, 36, "chance 4/7", ha=ha, va=va, fontsize=size, color=plots.INK))
            canvas: Any = fig.canvas
            canvas.draw()
            images.append(np.asarray(canvas.buffer_rgba())[..., 3].astype(float))
        inks = [image.sum() for image in images]
        assert inks[0] == pytest.approx(inks[1], rel=0.02)
        centres = [np.array(np.nonzero(image > 60)).mean(axis=1) for image in images]
        assert np.abs(centres[0] - centres[1]).max() < 1.01


def test_discs_show_the_posterior_and_edges_the_chance() -> None:
    from matplotlib.collections import LineCollection, PatchCollection

    leaves = tuple(
        plots.Spot(str(i), p, q, "", "say", "plan") for i, (p, q) in enumerate([(0.25, 1.0), (0.75, 0.2)])
    )
    fig, on = plots.sheet(6, 3)
    plots.decision_tree(on, plots.Spot("", 1.0, 0.4, "2/5", "ask A", "now", leaves), rounds=1)
    pies = next(a for a in fig.get_children() if isinstance(a, PatchCollection))
    assert len(pies.get_paths()) == 2 * 3
    edges = next(a for a in fig.get_children() if isinstance(a, LineCollection))
    assert edges.get_linewidths()[1] > edges.get_linewidths()[0]
    said = {t.get_text() for t in fig.get_children() if hasattr(t, "get_text")}
    assert {"ask A", "2/5", "say", "0", "1"} <= said
