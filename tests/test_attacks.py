"""Differencing, averaging, auditing, membership inference, and the impossibility of Dalenius's wish."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import BadInput
from dpcourse.attacks import (
    REFUSED,
    Bounded,
    Exact,
    Private,
    ReleasedMeans,
    Rounding,
    average,
    converse,
    difference,
    disclosure,
    error_probability,
    guessing,
    queries_needed,
    recoverable,
    roc,
    tail_of_sum,
)
from dpcourse.guarantees import PureDP
from dpcourse.laws import DiscreteLaplace, Finite, Gaussian, Laplace, Point
from dpcourse.mechanisms import LaplaceMechanism, RandomizedResponse
from dpcourse.neighbours import REPLACE_ONE

# Differencing


@given(st.lists(st.integers(0, 1), min_size=2, max_size=40), st.data())
def test_two_large_sets_give_one_bit(secret: list[int], data) -> None:
    n = len(secret)
    target = data.draw(st.integers(0, n - 1))
    careful = Rounding(secret, multiple=1, smallest=n // 2)
    found = difference(careful, n, target)
    assert found.bit == found.estimate == secret[target]
    assert found.masks.sum(axis=1).min() >= n / 2
    assert np.flatnonzero(found.masks[0] != found.masks[1]).tolist() == [target]


def test_differencing_noisy_answers_is_right_as_often_as_computed() -> None:
    # 20 000 games: standard error .0035
    rng = np.random.default_rng(0)
    for secret in (0, 1):
        oracle = Private([0, 1, 0, secret], LaplaceMechanism(0.7, adjacency=REPLACE_ONE), 40_000, rng)
        right = [difference(oracle, 4, target=3).bit == secret for _ in range(20_000)]
        exact = 1 - tail_of_sum(Laplace(0, 1 / 0.7), 2, 0.5)
        assert np.mean(right) == pytest.approx(exact, abs=0.015)
        assert exact < recoverable(2 * 0.7)


# Averaging


@given(st.integers(1, 12), st.floats(0, 30), st.floats(0.2, 5))
def test_the_tail_of_a_sum_of_laplace_noises_is_exact(times: int, t: float, scale: float) -> None:
    # The sum of k is sqrt(2 G) times a normal, G gamma of shape k: an integral over G as the oracle.
    with mpmath.workdps(20):
        given_g = lambda g: mpmath.ncdf(-t / scale / mpmath.sqrt(2 * g)) * g ** (times - 1) * mpmath.exp(-g)  # noqa: E731
        oracle = mpmath.quad(given_g, [0, 0.5, 2, times, 2 * times + 5, 4 * times + 40, mpmath.inf])
        oracle /= mpmath.gamma(times)
    assert tail_of_sum(Laplace(3, scale), times, t) == pytest.approx(float(oracle), rel=1e-7, abs=1e-13)


@given(st.integers(1, 200), st.floats(0.1, 20))
def test_the_tail_of_a_sum_of_gaussian_noises_is_exact(times: int, sigma: float) -> None:
    exact = 2 * scipy.stats.norm.sf(times / 2, scale=sigma * math.sqrt(times))
    assert error_probability(Gaussian(0, sigma), times) == pytest.approx(exact, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("noise", [Laplace(0, 2), Gaussian(0, 2)], ids=repr)
def test_each_further_answer_helps(noise) -> None:
    errors = [error_probability(noise, k) for k in range(1, 300)]
    assert (np.diff(errors) < 0).all()


@pytest.mark.parametrize("noise", [Laplace(0, 0.05), Laplace(0, 3), Laplace(0, 10), Gaussian(0, 4)], ids=repr)
@pytest.mark.parametrize("confidence", [0.5, 0.99, 0.999999])
def test_the_number_of_queries_is_the_least_that_is_enough(noise, confidence: float) -> None:
    least = queries_needed(noise, confidence)
    assert error_probability(noise, least) <= 1 - confidence
    assert least == 1 or error_probability(noise, least - 1) > 1 - confidence


def test_simulated_averages_err_as_often_as_computed() -> None:
    rng = np.random.default_rng(1)
    times = 40
    wrong = 0
    for _ in range(3000):
        oracle = Private([1, 1, 0], LaplaceMechanism(0.5, adjacency=REPLACE_ONE), times, rng)
        wrong += average(oracle, [1, 1, 1], times).guess != 2
    assert wrong / 3000 == pytest.approx(error_probability(Laplace(0, 2), times), abs=0.035)  # 4 errors


def test_the_means_are_drawn_from_the_answers() -> None:
    found = average(Bounded([1, 1], 1, np.random.default_rng(0)), [1, 0], 100)
    assert found.means[0] == found.answers[0]
    assert found.means[-1] == pytest.approx(found.answers.mean())


# Auditing


def test_a_refusal_names_the_highest_salary() -> None:
    salaries = list(itertools.permutations(range(1, 10), 3))
    questions = [max, lambda data: max(data[:2])]
    naive = converse(questions, salaries)
    refused = [t for t in naive.transcripts if t.replies[1] == REFUSED]
    assert {t.replies[0]: t.disclosed for t in refused} == {m: {2: m} for m in range(3, 10)}
    assert naive.leak == Fraction(1, 3)
    careful = converse(questions, salaries, simulatable=True)
    assert careful.leak == 0
    assert all(t.replies[1] == REFUSED for t in careful.transcripts)


QUESTIONS = st.lists(st.sets(st.integers(0, 3), min_size=1).map(sorted), min_size=1, max_size=4)


@given(QUESTIONS, st.sampled_from([sum, max, min]))
def test_simulatable_refusals_say_nothing(people: list[list[int]], how) -> None:
    datasets = list(itertools.product(range(3), repeat=4))
    queries = [lambda data, who=who: how(data[i] for i in who) for who in people]
    careful = converse(queries, datasets, simulatable=True)
    assert careful.leak == 0
    for t in careful.transcripts:  # who knows the rule knows no more than the answers say
        assert t.datasets.tolist() == t.known.tolist()


@given(QUESTIONS, st.sampled_from([sum, max]))
def test_conversations_partition_the_datasets_and_answers_are_true(people: list[list[int]], how) -> None:
    datasets = list(itertools.product(range(3), repeat=4))
    queries = [lambda data, who=who: how(data[i] for i in who) for who in people]
    naive = converse(queries, datasets)
    seen = sorted(tuple(row) for t in naive.transcripts for row in t.datasets.tolist())
    assert seen == datasets
    for t in naive.transcripts:
        answered = [(q, r) for q, r in zip(queries, t.replies, strict=True) if r != REFUSED]
        fitting = [list(d) for d in datasets if all(q(d) == r for q, r in answered)]
        assert t.known.tolist() == fitting
        spread = [len({d[i] for d in fitting}) for i in range(4)]
        assert min(spread) > 1  # the answers alone never disclose: only the refusals do


# Membership inference


def test_the_power_is_exact_for_fair_attributes() -> None:
    study = ReleasedMeans(np.full(400, 0.5), people=50)
    fpr, tpr = study.exact_roc()
    assert np.array_equal(fpr[[0, -1]], [0, 1])
    assert np.array_equal(tpr[[0, -1]], [0, 1])
    middle = (fpr > 1e-4) & (fpr < 0.999)
    assert study.power(fpr[middle]) == pytest.approx(tpr[middle], abs=0.012)  # lattice steps of the exact law
    at_least = scipy.stats.binom.sf(10_100 - 1, 20_000, 0.5), scipy.stats.binom.sf(10_100 - 401, 19_600, 0.5)
    index = 20_001 - 10_100
    assert (fpr[index], tpr[index]) == pytest.approx(at_least, rel=1e-9)


@pytest.mark.parametrize("kind", ["exact", "laplace", "gaussian"])
def test_scores_have_the_moments_and_the_power_that_are_claimed(kind: str) -> None:
    rng = np.random.default_rng(2)
    p, n = rng.uniform(0.1, 0.9, 80), 8  # few people: one of them weighs something
    study = {
        "exact": lambda: ReleasedMeans(p, n),
        "laplace": lambda: ReleasedMeans.laplace(p, n, epsilon=30.0),
        "gaussian": lambda: ReleasedMeans.gaussian(p, n, epsilon=2.0, delta=1e-5),
    }[kind]()
    scores = {inside: study.scores(rng, 5000, inside) for inside in (True, False)}
    for inside, found in scores.items():
        mean, variance = study.moments(inside)
        assert found.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / 5000))
        assert found.var() == pytest.approx(variance, rel=5 * math.sqrt(2 / 5000))
    fpr, tpr = roc(scores[True], scores[False])
    for rate in (0.05, 0.2, 0.5):
        assert np.interp(rate, fpr, tpr) == pytest.approx(study.power(rate), abs=0.05)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_private_means_keep_the_attack_below_the_bound(epsilon: float) -> None:
    fpr = np.array([0.001, 0.01, 0.05, 0.2, 0.5, 0.9])
    p = np.full(1000, 0.5)
    pure, approximate = ReleasedMeans.laplace(p, 50, epsilon), ReleasedMeans.gaussian(p, 50, epsilon, 1e-5)
    e = math.exp(epsilon)
    for study, delta in ((pure, 0.0), (approximate, 1e-5)):
        assert (study.bound(fpr) <= np.minimum(1, e * fpr + delta) + 1e-12).all()
        assert (study.bound(fpr) <= 1 - (1 - fpr - delta) / e + 1e-12).all()
        assert (study.power(fpr) <= study.bound(fpr)).all()
        assert (study.power(fpr) >= fpr).all()
    assert ReleasedMeans(p, 50).power(0.01) > 0.95  # and without noise she is found
    assert ReleasedMeans(p, 50).bound(0.01) == 1


def test_the_lean_is_the_root_of_attributes_over_people() -> None:
    (_, variance), (lean, _) = (ReleasedMeans(np.full(900, 0.3), 100).moments(inside) for inside in (0, 1))
    assert lean / math.sqrt(variance) == pytest.approx(math.sqrt(900 / 100))


@given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(0, 9), min_size=1))
def test_the_roc_counts_scores_above_each_threshold(inside: list[int], outside: list[int]) -> None:
    fpr, tpr = roc(inside, outside)
    thresholds = [math.inf, *sorted(set(inside) | set(outside), reverse=True)]
    for t, f, p in zip(thresholds, fpr, tpr, strict=True):
        assert f == pytest.approx(np.mean(np.array(outside) >= t))
        assert p == pytest.approx(np.mean(np.array(inside) >= t))


# Dalenius


@given(st.integers(2, 6), st.fractions(Fraction(11, 10), 100))
def test_the_secret_is_learned_as_often_as_the_release_is_useful(levels: int, odds: Fraction) -> None:
    mechanism = RandomizedResponse.with_odds(odds, values=tuple(range(levels)))
    found = disclosure(mechanism.law, levels)
    assert found.nothing == found.hearsay == found.release == Fraction(1, levels)
    assert found.both == found.useful == odds / (odds + levels - 1)


def test_a_release_without_use_is_harmless_and_an_exact_one_tells_all() -> None:
    assert disclosure(lambda _: Point("nothing"), 5).both == Fraction(1, 5)
    exact = disclosure(Point, 5)
    assert (exact.release, exact.both) == (Fraction(1, 5), 1)
    parity = disclosure(lambda number: Finite((number % 2,), (1,)), 4)
    assert parity.both == parity.useful == Fraction(1, 2)


def test_guessing_takes_the_most_likely_secret_of_each_view() -> None:
    assert guessing({("a", 0): 0.2, ("b", 0): 0.3, ("a", 1): 0.4, ("b", 1): 0.1}) == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: difference(Exact([0, 1]), 2, 2), "one of the people 0 to 1"),
        (lambda: difference(Exact([0, 1]), 2, 0, smallest=2), "at most n - 1 = 1"),
        (lambda: difference(Rounding([0, 1, 1], 1, 3), 3, 0, smallest=1), "which refused"),
        (lambda: difference(Exact([0, 1]), 1, 0), "n = 1"),
        (lambda: tail_of_sum(DiscreteLaplace(0, 1), 3, 1.0), "Laplace or Gaussian"),
        (lambda: tail_of_sum(Laplace(0, 1), 0, 1.0), "times = 0"),
        (lambda: tail_of_sum(Laplace(0, 1), 1, -1.0), "t = -1.0"),
        (lambda: queries_needed(Laplace(0, 1), 1.0), "below 1"),
        (lambda: average(Rounding([1, 0], 1, 3), [1, 0], 3), "3 refusals"),
        (lambda: converse([], [(0, 1)]), "at least one question"),
        (lambda: converse([max], itertools.product(range(99), repeat=3)), "1 to 20000 rows"),
        (lambda: converse([max], []), "list the possible datasets"),
        (lambda: converse([max], [(1,), (1, 2)]), "all of one length"),
        (lambda: roc([], [1]), "at least one inside and one outside"),
        (lambda: ReleasedMeans([0.5, 1.0], 10), "between 0 and 1"),
        (lambda: ReleasedMeans([0.5], 1), "people = 1"),
        (lambda: ReleasedMeans([0.5] * 9, 9, LaplaceMechanism(1.0)), "replace-one"),
        (
            lambda: ReleasedMeans([0.5] * 9, 3, LaplaceMechanism(1.0, adjacency=REPLACE_ONE)),
            "sensitivity = 1 breaks a rule: it must be at least 3",
        ),
        (lambda: ReleasedMeans([0.3], 9).exact_roc(), "all 1/2, and the means exact"),
        (lambda: ReleasedMeans([0.3], 9).power(2.0), "fpr = 2.0"),
        (lambda: disclosure(Point, 1), "levels = 1"),
    ],
)
def test_bad_input_is_explained(call, message: str) -> None:
    with pytest.raises(BadInput, match="Fix:") as caught:
        call()
    assert message in str(caught.value)


def test_the_promise_of_private_means_is_what_was_asked() -> None:
    assert ReleasedMeans.laplace([0.5] * 4, 10, 2.0).mechanism.guarantee == PureDP(2.0, adjacency=REPLACE_ONE)
    gaussian = ReleasedMeans.gaussian([0.5] * 4, 10, 2.0, 1e-6).mechanism
    assert gaussian.guarantee.delta(2.0) == pytest.approx(1e-6, rel=1e-6)
