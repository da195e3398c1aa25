"""Reference numbers of the course that no other test states: one row each, by exact laws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpcourse as dp
from dpcourse import PrivacyLoss, laws
from dpcourse.accounting import Rounded
from dpcourse.algorithms.kmeans import Ball, PrivateKMeans
from dpcourse.algorithms.ranking import exponential_slack
from dpcourse.algorithms.smooth import NaiveSmoothLaplace, SmoothCauchy
from dpcourse.guarantees.pure_approx import group_delta
from dpcourse.interactive import sparse_vector as sv
from dpcourse.mechanisms import classic_failure
from dpcourse.mechanisms.selection import Single
from dpcourse.sensitivity import median


def both_ways(left: Any, right: Any) -> float:
    """The largest loss of a pair of laws, in either direction."""
    loss = PrivacyLoss.between(left, right)
    return float(max(loss.max_divergence(), loss.reversed().max_divergence()))


def answers(yes: float) -> laws.Finite:
    return laws.Finite(("yes", "no"), (yes, 1 - yes))


def worst_move(mechanism: Single, heights: Iterable[int], steps: tuple[int, ...]) -> float:
    """The largest loss over three scores at some heights, each of which moves by one of the steps."""
    bases = itertools.product(heights, repeat=3)
    pairs = ((b, np.add(b, s)) for b in bases for s in itertools.product(steps, repeat=3))
    return max(both_ways(mechanism.law(b), mechanism.law(other)) for b, other in pairs)


def swap(mechanism: Single, left: tuple[int, ...], right: tuple[int, ...]) -> float:
    return both_ways(mechanism.law(left), mechanism.law(right))


def misses(sigma: float) -> float:
    """The least chance to miss for 5% false alarms, of Gaussian noise on an answer that moves by 1."""
    return PrivacyLoss.between(laws.Gaussian(0, sigma), laws.Gaussian(1, sigma)).tradeoff(0.05)


def repeated(k: int, epsilon: float, total: float) -> float:
    return (k * dp.RandomizedResponse(epsilon).loss(0, 1)).delta(total)


def root_beats_line() -> int:
    return next(k for k in range(1, 999) if sv.slide_scale(1, 1e-6, k) < 4 * k)


def largest_group() -> int:
    return max(k for k in range(1, 200) if group_delta(0.1, 1e-6, k) <= 1e-3)


WHOLE_EXPONENT = dp.ExponentialMechanism(2.0)  # e^{eps q} at eps = 1
MONOTONE = dp.ExponentialMechanism(1.0, monotone=True)
NOISY_MAX = dp.NoisyMax(1.0, monotone=True)
NAIVE, WIDE = (
    NaiveSmoothLaplace(median(3, 0, 1), 1.0),
    SmoothCauchy(median(3, 0, 1), 1.0, 4.0, rule="classic"),
)
RESPONSE = dp.RandomizedResponse(1.0).loss(0, 1)
NUMBERS: list[tuple[str, Callable[[], float], float, float]] = [
    ("two coins, epsilon", lambda: both_ways(answers(0.75), answers(0.25)), math.log(3), 1e-12),
    ("look at both answers", lambda: both_ways(answers(0.75), answers(0.5)), 0.6931, 5e-5),
    ("an answer that only one truth gives", lambda: both_ways(answers(1.0), answers(0.5)), math.inf, 0),
    ("four answers", lambda: dp.RandomizedResponse(1.0, (0, 1, 2, 3)).law(0).prob(0), 0.47537, 5e-6),
    ("n people at epsilon .01: 10", lambda: math.tanh(10 * 0.01 / 2), 0.050, 5e-4),
    ("majority of two, slack", lambda: exponential_slack(2.0, 2, failure=math.exp(-5)), 11.386, 5e-4),
    ("whole exponent, any scores", lambda: worst_move(WHOLE_EXPONENT, (0, 6, 12), (-1, 1)), 2.0, 2e-5),
    ("whole exponent, monotone", lambda: worst_move(MONOTONE, (0, 6, 12), (0, 1)), 0.99999, 1e-5),
    ("whole exponent, swap", lambda: swap(MONOTONE, (0, 10), (1, 9)), 1.9997, 5e-5),
    ("the loser of two wins", lambda: NOISY_MAX.law((0, 5)).prob(0), 0.0117914, 5e-8),
    ("noisy max, swap", lambda: swap(NOISY_MAX, (0, 20), (1, 19)), 1.9047, 5e-5),
    ("noisy max, swap of ten", lambda: swap(NOISY_MAX, (0, *[20] * 9), (1, *[19] * 9)), 2.0, 5e-5),
    ("noisy max, monotone", lambda: worst_move(NOISY_MAX, (0, 4, 8), (0, 1)), 1.0, 1e-2),
    ("ln(2/delta), delta .01", lambda: classic_failure(0.01, 2), 7.91, 5e-3),
    ("ln(2/delta), delta 1e-5", lambda: classic_failure(1e-5, 2), 9.39, 5e-3),
    ("ln(2/delta), delta 1e-6", lambda: classic_failure(1e-6, 2), 9.73, 5e-3),
    ("ln(1.25/delta), delta .1", lambda: classic_failure(0.1), 5.74, 5e-3),
    ("ln(1.25/delta), delta .01", lambda: classic_failure(0.01), 6.77, 5e-3),
    ("ln(1.25/delta), delta 1e-5", lambda: classic_failure(1e-5), 8.4198, 5e-5),
    ("ln(1.25/delta), delta 1e-6", lambda: classic_failure(1e-6), 8.78, 5e-3),
    ("ln(1/delta), delta 1e-5", lambda: classic_failure(1e-5, 1), 7.97, 5e-3),
    ("a walk of 100 steps ends at 20 or above", lambda: stats.binom.sf(59, 100, 0.5), 0.028444, 5e-7),
    ("rho of randomized response", lambda: RESPONSE.renyi(1 + 1e-9) / (1 + 1e-9), 0.462117, 5e-7),
    ("sigma of .9 instead of 1: misses at .05", lambda: misses(0.9), 0.7032, 5e-5),
    ("as promised: misses at .05", lambda: misses(1.0), 0.7405, 5e-5),
    ("50 times randomized response", lambda: repeated(50, 0.3, 3.0), 0.219838, 5e-7),
    ("1000 times randomized response", lambda: repeated(1000, 0.1, 15.0), 3.48e-4, 5e-7),
    ("smooth Laplace claimed pure, |y| > 1.676", lambda: 2 * NAIVE.law((0, 0, 1)).sf(1.676), 0.1871, 5e-5),
    ("the same for its neighbour", lambda: 2 * NAIVE.law((0, 0, 0)).sf(1.676), 0.0105, 5e-5),
    ("beta of the control with gamma 4", lambda: WIDE.beta, 0.1, 1e-12),
    ("from here the root beats the line", root_beats_line, 468, 0),
    ("the largest group below 1e-3", largest_group, 46, 0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("found", "expected", "within"), [n[1:] for n in NUMBERS], ids=[n[0] for n in NUMBERS]
)
def test_the_number_is_what_the_course_says(
    found: Callable[[], float], expected: float, within: float
) -> None:
    assert found() == pytest.approx(expected, abs=within)


def test_the_control_of_the_smooth_laplace_event_is_private() -> None:
    """The event that breaks the claim of 2 epsilon shows nothing about generalized Cauchy noise."""
    broken, sound = ([2 * m.law(x).sf(1.676) for x in ((0, 0, 1), (0, 0, 0))] for m in (NAIVE, WIDE))
    assert math.log(broken[0] / broken[1]) > 2.0
    assert abs(math.log(sound[0] / sound[1])) <= 1.0


def test_a_coarse_grid_is_useless_upwards_and_false_downwards() -> None:
    """1000 times randomized response at .1, losses rounded to multiples of .03: delta at epsilon = 15."""
    one, exact = dp.RandomizedResponse(0.1).worst_case(), repeated(1000, 0.1, 15.0)
    up, down = ((1000 * Rounded.of(one, 0.03, way)).delta(15.0) for way in ("up", "down"))
    assert up == pytest.approx(0.8896, abs=5e-5)
    truth = math.exp(0.1) / (1 + math.exp(0.1))
    yes = np.arange(1001)
    excess = np.maximum(0.0, -np.expm1(15 - (0.09 * yes - 0.12 * (1000 - yes))))
    assert stats.binom.pmf(yes, 1000, truth) @ excess == pytest.approx(7.56e-15, rel=1e-3)
    assert abs(down) < 1e-12 < 1e-8 * exact  # by Fourier transforms, so only up to rounding


def test_four_constants_of_the_kl_lemma_are_in_order() -> None:
    """eps tanh(eps/2) <= eps^2/2 <= eps^2 <= eps (e^eps - 1) <= 2 eps^2, the last one up to 1.2564."""
    cross = 1.2564
    for epsilon in (0.1, 0.5, 1.0, cross - 1e-4):
        classic = epsilon * math.expm1(epsilon)
        found = [epsilon * math.tanh(epsilon / 2), epsilon**2 / 2, epsilon**2, classic, 2 * epsilon**2]
        assert found == sorted(found)
    assert math.expm1(cross + 1e-4) > 2 * (cross + 1e-4)
    half = 0.5
    assert [half * math.tanh(half / 2), half**2 / 2, half**2, half * math.expm1(half)] == pytest.approx(
        [0.1225, 0.125, 0.25, 0.3244], abs=5e-5
    )


def test_a_run_of_k_means_draws_each_noise_once() -> None:
    """T rounds, k counts and k d sums in each, and nothing else depends on the data."""
    k, d, rounds = 4, 3, 6
    trace = PrivateKMeans(k, Ball(d), dp.PureDP(1.0), rounds).run(np.zeros((5, d)), np.random.default_rng(0))
    drawn = sum(r.noisy_counts.size + r.noisy_sums.size for r in trace.rounds)
    assert drawn == k * (d + 1) * rounds


@pytest.mark.parametrize("row", [0, 1, 2])
def test_white_box_values_of_the_sparse_vector(row: int, golden: dict[str, Any]) -> None:
    """The largest log-ratio over all outputs of ten queries, computed elsewhere to 12 digits."""
    given = golden["svt_exact_white_box"]["rows"][row]
    variant = (
        sv.standard(0.1, 1, threshold=0.5),
        replace(sv.chen(0.1), threshold=1.0),
        sv.stoddard(0.1),
    )[row]
    left = given.get("a", [0.0] * 9 + [1.0])
    right = given.get("a_prime", [1.0] * 9 + [0.0])
    outputs = sv.strings(variant, 10)
    here, there = (sv.log_probs(variant, stream, outputs)[0] for stream in (left, right))
    possible = (here > -np.inf) | (there > -np.inf)
    with np.errstate(invalid="ignore"):
        found = np.abs(here - there)[possible].max()
    assert found == pytest.approx(float(given["max_abs_log_ratio"]), abs=1e-11)
