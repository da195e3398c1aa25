"""Private multiplicative weights: the update and its potential, exact epochs, settings, conversations."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import contract
from dpcourse.contract import Case
from dpcourse.errors import BadInput
from dpcourse.game import Ask, Game, Open
from dpcourse.guarantees import PureDP, dominating_loss
from dpcourse.interactive.weights import (
    Conversation,
    Epoch,
    PrivateWeights,
    SameNoiseEpoch,
    Settings,
    choose_settings,
    drop,
    least_drop,
    log_lazy,
    potential,
    reweighted,
    updates_bound,
    worst_drop,
)
from dpcourse.interactive.weights.settings import epochs_loss, exact_noise
from dpcourse.laws import Finite, Laplace, Point
from dpcourse.loss import PrivacyLoss
from dpcourse.neighbours import REPLACE_ONE

WEIGHTS = st.lists(st.floats(1e-6, 1), min_size=5, max_size=5)
UNIT = st.lists(st.floats(0, 1), min_size=5, max_size=5)


def share(values: list[float]) -> np.ndarray[Any, Any]:
    return np.array(values) / np.sum(values)


# The update ---------------------------------------------------------------------------------------


@given(WEIGHTS, UNIT, st.floats(-50, 50))
def test_an_update_is_normalised_and_moves_the_answer_its_way(
    weights: list[float], query: list[float], step: float
) -> None:
    before, q = share(weights), np.array(query)
    after = reweighted(before, q, step)
    assert after.sum() == pytest.approx(1, abs=1e-12)
    assert np.all(after >= 0)
    assert step * (q @ after - q @ before) >= -1e-12
    assert np.allclose(reweighted(after, q, -step), before, atol=1e-9) or abs(step) > 20


@given(WEIGHTS, WEIGHTS, UNIT, st.floats(0.001, 3), st.sampled_from([-1, 1]))
def test_the_drop_is_at_least_what_hoeffding_says(
    data: list[float], weights: list[float], query: list[float], eta: float, sign: int
) -> None:
    x, d, q = share(data), share(weights), np.array(query)
    found = drop(x, d, q, sign * eta)
    assert found == pytest.approx(potential(x, d) - potential(x, reweighted(d, q, sign * eta)), abs=1e-9)
    assert found >= least_drop(sign * (q @ x - q @ d), eta) - 1e-12


def test_the_bound_is_sharp_and_a_long_step_can_do_harm() -> None:
    """Two rows, hypothesis (1/2 - h, 1/2 + h), query (0, 1): Hoeffding's lemma is nearly an equality."""
    gap, d = 0.05, np.array([0.5, 0.5])
    x = np.array([0.5 - gap, 0.5 + gap])
    assert drop(x, d, [0, 1], 4 * gap) == pytest.approx(least_drop(gap, 4 * gap), rel=0.01)
    threshold = 2 * gap
    assert drop(x, d, [0, 1], threshold / 4) >= 15 * threshold**2 / 128
    assert drop(x, d, [0, 1], 5 * threshold) < 0  # the gap is T/2, the step 5T
    ratios = [least_drop(0.5, step) for step in (0.25, 0.5, 4.0, 5.0)]
    assert np.allclose(ratios, [15 / 128, 7 / 32, 0, -0.625])


def test_updates_bound_follows_from_the_potential() -> None:
    for universe, threshold in ((2, 1.0), (1024, 0.5), (2**20, 0.07)):
        exact = math.log(universe) / least_drop(threshold / 2, threshold / 4)
        assert updates_bound(universe, threshold) == math.ceil(exact)
    assert potential([0.2, 0.8], [0.2, 0.8]) == 0
    assert potential([1, 0, 0, 0], [0.25] * 4) == pytest.approx(math.log(4))
    assert potential([1, 0], [0, 1]) == math.inf


# One epoch ----------------------------------------------------------------------------------------


@given(st.floats(-20, 20), st.floats(-5, 30), st.sampled_from([0.3, 3.0]))
def test_log_lazy_is_the_laplace_mass_within_the_threshold(
    gap: float, threshold: float, noise: float
) -> None:
    law = Laplace(gap, noise)
    mass = max(0.0, float(law.cdf(threshold) - law.cdf(-threshold))) if threshold > 0 else 0.0
    assert np.exp(log_lazy(gap, threshold, noise)) == pytest.approx(mass, abs=1e-14)


def oracle(
    answers: list[float], d: list[float], threshold: float, mu: float, index: int | None, value: float | None
) -> Any:
    """The density of (first update at `index`, value) with the same noise, or Pr[all lazy], by mpmath."""

    def lazy(k: int, z: Any) -> Any:
        a, t = abs(answers[k] - d[k]), threshold + z
        if t <= 0:
            return mpmath.mpf(0)
        if t <= a:
            return mpmath.exp(-a / mu) * mpmath.sinh(t / mu)
        return 1 - mpmath.exp(-t / mu) * mpmath.cosh(a / mu)

    until = len(answers) if index is None else index
    end = mpmath.inf if value is None or index is None else abs(value - d[index]) - threshold
    corners = sorted({-threshold, 0.0, *(abs(a - b) - threshold for a, b in zip(answers, d, strict=True))})
    points = [p for p in corners if p < end] + [end]
    if until == 0:
        points = [-mpmath.inf, *points]

    def integrand(z: Any) -> Any:
        lazies = reduce(lambda p, k: p * lazy(k, z), range(until), mpmath.mpf(1))
        return mpmath.exp(-abs(z) / mu) / (2 * mu) * lazies

    total = mpmath.quad(integrand, points)
    return (
        total
        if index is None or value is None
        else total * mpmath.exp(-abs(value - answers[index]) / mu) / (2 * mu)
    )


@pytest.mark.parametrize(("answers", "value"), [([1.0, -2.0, 3.0], 4.5), ([0.5, 6.0], -3.0), ([2.0], 2.5)])
def test_densities_agree_with_mpmath(answers: list[float], value: float) -> None:
    d = [0.0, 0.5, -1.0][: len(answers)]
    epoch = SameNoiseEpoch(d, threshold=2.0, noise=1.5)
    expected = oracle(answers, d, 2.0, 1.5, len(answers) - 1, value)
    assert epoch.log_density(answers, value) == pytest.approx(float(mpmath.log(expected)), abs=1e-10)
    never = oracle(answers, d, 2.0, 1.5, None, None)
    assert epoch.law(answers).prob(None) == pytest.approx(float(never), rel=1e-10)


def test_a_long_epoch_agrees_with_mpmath() -> None:
    answers, d = [0.5 * k for k in range(24)], [0.0] * 24
    expected = oracle(answers, d, 5.0, 2.0, None, None)
    assert Epoch(d, threshold=5.0, noise=2.0).law(answers).prob(None) == pytest.approx(
        float(expected), rel=1e-9
    )


def test_the_laws_of_both_versions_are_those_of_a_simulation(rng: np.random.Generator) -> None:
    answers, d, cuts = np.array([1.0, 3.0]), np.array([0.0, 0.0]), (-1.0, 2.0)
    size, mu, top = 200_000, 1.5, 2.0
    tested = answers + rng.laplace(0, mu, (size, 2))
    update = np.abs(tested - d) >= top + rng.laplace(0, mu, (size, 1))
    first = np.where(update.any(1), update.argmax(1), 2)
    fresh = answers + rng.laplace(0, mu, (size, 2))
    for kind, values in ((SameNoiseEpoch, tested), (Epoch, fresh)):
        law = kind(d, top, mu, cuts).law(answers)
        released = values[np.arange(size), np.minimum(first, 1)]
        bins = np.searchsorted(cuts, released)
        for i in (0, 1):
            for j in (0, 1, 2):
                assert np.mean((first == i) & (bins == j)) == pytest.approx(law.prob((i, j)), abs=0.005)
        assert np.mean(first == 2) == pytest.approx(law.prob(None), abs=0.005)


@pytest.mark.parametrize(("queries", "expected"), [(10, 3.0), (100, 33.0), (1000, 333.0)])
def test_the_tested_value_makes_lazy_answers_leak(queries: int, expected: float) -> None:
    """(m - 1)/mu for Lyu, Su and Li's pair; with the last query moved away, (m + 1)/mu."""
    w, mu = 5.0, 3.0
    pair = ([w] * queries + [w - 1], [w + 1] * queries + [w])
    worse = [w + 1] * queries + [w - 2]
    broken, sound = (kind([0.0] * (queries + 1), threshold=4.0, noise=mu) for kind in (SameNoiseEpoch, Epoch))
    assert broken.are_neighbours(*pair)
    ratio = broken.log_density(pair[0], w) - broken.log_density(pair[1], w)
    assert ratio == pytest.approx(expected, rel=1e-9)
    assert broken.log_density(pair[0], w) - broken.log_density(worse, w) == pytest.approx(
        (queries + 1) / mu, rel=1e-9
    )
    for other in (pair[1], worse):
        assert abs(sound.log_density(pair[0], w) - sound.log_density(other, w)) <= 4 / mu


@given(
    moves=st.lists(st.tuples(st.floats(-12, 12), st.floats(-1, 1)), min_size=1, max_size=6),
    threshold=st.floats(0.5, 9),
)
def test_an_epoch_with_fresh_noise_keeps_its_promise(
    moves: list[tuple[float, float]], threshold: float
) -> None:
    epoch = Epoch([0.0] * len(moves), threshold, 3.0, (-4.0, 0.0, 4.0))
    left, right = [a for a, _ in moves], [a + b for a, b in moves]
    loss = PrivacyLoss.between(epoch.law(left), epoch.law(right))
    assert max(loss.max_divergence(), loss.reversed().max_divergence()) <= 4 / 3 + 1e-9


def test_the_promise_of_an_epoch_is_reached(rng: np.random.Generator) -> None:
    """Far gaps, so that all shifts count: 1 for the threshold, 2 for the last test, 1 for the value."""
    epoch = Epoch([0.0] * 31, 60.0, 3.0, (51.0,))
    pair = ([70.0] * 30 + [51.0], [71.0] * 30 + [50.0])
    assert epoch.loss(*pair).max_divergence() == pytest.approx(4 / 3, rel=1e-9)
    assert epochs_loss(1 / 3, 1).max_divergence() == pytest.approx(4 / 3, rel=1e-9)
    bits = Epoch([0.0] * 31, 60.0, 3.0)  # one interval: the value says nothing
    assert bits.loss(*pair).max_divergence() == pytest.approx(1.0, rel=1e-9)


@given(st.floats(0, 2), st.floats(3, 60), st.floats(0, 12))
def test_the_loss_of_the_settings_dominates_an_epoch(epsilon: float, threshold: float, gap: float) -> None:
    epoch = Epoch([0.0] * 4, threshold, 3.0, (-3.0, gap, gap + 3))
    pair = ([gap] * 3 + [gap - 1], [gap + 1] * 3 + [gap - 2])
    for left, right in (pair, pair[::-1]):
        assert (
            epoch.loss(left, right).delta_bounds(epsilon)[0] <= epochs_loss(1 / 3, 1).delta(epsilon) + 1e-12
        )


def test_the_broken_epoch_fails_even_with_a_delta(rng: np.random.Generator) -> None:
    m, cuts = 10, tuple(np.arange(-8.0, 9.0, 2.0))
    pair = ([5.0] * (m + 1), [6.0] * m + [4.0])
    broken, sound = (kind([0.0] * (m + 1), 4.0, 3.0, cuts) for kind in (SameNoiseEpoch, Epoch))
    loss = broken.loss(*pair)
    assert loss.delta_bounds(4 / 3)[0] == pytest.approx(8.1e-4, abs=1e-5)
    assert sound.loss(*pair).delta(4 / 3) == 0
    assert contract.faults(Case("fresh noise", sound, (pair,), draws=4000), rng) == []
    faults = contract.faults(Case("same noise", broken, (pair,), draws=4000), rng)
    assert {fault.rule for fault in faults} == {"promise"}


# Settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "universe", "queries", "epsilon", "delta"),
    [(20_000, 64, 100, 1.0, 1e-6), (10**5, 1024, 1000, 0.5, 1e-9), (10**6, 16, 10**6, 1.0, 0.0)],
)
def test_settings_keep_privacy_and_accuracy(
    n: int, universe: int, queries: int, epsilon: float, delta: float
) -> None:
    best = choose_settings(n, universe, queries, epsilon, delta)
    assert best.guarantee(delta).epsilon(delta) <= epsilon
    assert best.loss.delta(epsilon) <= delta * (1 + 1e-9)
    assert best.updates >= updates_bound(universe, best.threshold)
    bound = best.noise * math.log((queries + 2 * best.updates) / 0.05)
    assert best.threshold >= 4 * bound
    assert best.accuracy(queries, 0.05) == pytest.approx(best.threshold + 2 * bound)
    # Nothing is given away: with less noise the promise breaks, and fewer updates allow no less threshold.
    assert (
        Settings(n, universe, best.threshold, best.noise * 0.999, best.updates).loss.epsilon(delta) > epsilon
    )
    assert (
        Settings(n, universe, best.threshold, best.noise, best.updates - 1).accuracy(queries, 0.05)
        == math.inf
    )
    assert best.threshold <= 1.01 * max(4 * bound, math.sqrt(128 * math.log(universe) / (15 * best.updates)))


def test_exact_composition_needs_less_noise_than_four_shifts_at_once() -> None:
    noise = exact_noise(100, 1.0, 1e-6)
    assert (100 * dominating_loss(PureDP(4 / noise))).epsilon(1e-6) > 1.2
    assert noise < math.sqrt(5 * 100 / (math.sqrt(1 + math.log(1e6)) - math.sqrt(math.log(1e6))) ** 2)


def test_thresholds_without_epsilon_promise_nothing() -> None:
    """T = 2 n^{-1/2} (ln N)^{1/4}, as is sometimes printed, with noise T/(6 ln(t/beta)): no privacy."""
    n, universe, queries = 10**4, 1024, 1000
    threshold = 2 * n**-0.5 * math.log(universe) ** 0.25
    noise = threshold / (6 * math.log(queries / 0.05))
    printed = Settings(n, universe, threshold, noise, updates_bound(universe, threshold))
    assert printed.loss.max_divergence() > 1000
    assert choose_settings(n, universe, queries, 1.0, 1e-6).threshold == pytest.approx(0.644, abs=0.001)


# Conversations ------------------------------------------------------------------------------------

QUIET = Settings(n=5000, universe=32, threshold=0.1, noise=0.001, updates=updates_bound(32, 0.1))


def skewed(rng: np.random.Generator) -> Any:
    return np.minimum(rng.geometric(0.2, QUIET.n) - 1, 31)


def test_a_conversation_is_accurate_and_learns(rng: np.random.Generator) -> None:
    data, queries = skewed(rng), rng.integers(0, 2, (3000, 32)).astype(float)
    talk = PrivateWeights(QUIET, 1e-6).open(data, rng)
    answers = np.array([r.value for r in talk.ask_all(queries)])
    truth = queries @ (np.bincount(data, minlength=32) / QUIET.n)
    assert np.abs(answers - truth).max() <= QUIET.accuracy(3000, 1e-3) < 0.15
    assert 0 < talk.updates < QUIET.updates
    assert len(talk.potentials) == talk.updates + 1 == len(talk.update_rounds) + 1
    assert talk.potentials[0] <= math.log(32)
    assert np.all(-np.diff(talk.potentials) >= 15 * QUIET.threshold**2 / 128)
    assert [i for i, r in enumerate(talk.releases) if r.updated] == talk.update_rounds
    assert talk.hypothesis.sum() == pytest.approx(1)


def test_one_by_one_and_all_at_once_are_the_same_mechanism(rng: np.random.Generator) -> None:
    """Without noise both are deterministic, so they must agree exactly."""
    still = Settings(5000, 32, 0.1, 1e-12, QUIET.updates)
    data, queries = skewed(rng), rng.integers(0, 2, (400, 32)).astype(float)
    alone, together = (PrivateWeights(still, 1e-6).open(data, rng) for _ in range(2))
    one = [alone.ask(q) for q in queries]
    many = together.ask_all(queries, block=7)
    assert [r.updated for r in one] == [r.updated for r in many]
    assert np.allclose([r.value for r in one], [r.value for r in many], atol=1e-8)
    assert np.allclose(alone.hypothesis, together.hypothesis, atol=1e-8)


def test_it_stops_after_the_last_update(rng: np.random.Generator) -> None:
    short = Settings(5000, 32, 0.1, 1e-6, updates=2)
    talk = PrivateWeights(short, 1e-6).open(np.zeros(5000, dtype=int), rng)
    query = np.eye(32)[0]
    assert [talk.ask(query).updated for _ in range(2)] == [True, True]
    with pytest.raises(BadInput, match=r"updates = 2 .* below 2, .* the run is over"):
        talk.ask(query)
    assert "data" not in repr(talk)


def test_the_mechanism_can_be_played(rng: np.random.Generator) -> None:
    mechanism = PrivateWeights(Settings(4, 2, 0.3, 0.2, updates=1), 1e-6)
    left, right = (0, 0, 0, 0), (0, 0, 0, 1)
    query = np.array([1.0, 0.0])

    def adversary(view: Any) -> Any:
        return Open(mechanism, left, right) if not view.rounds else Ask(0, query) if view.left else None

    for bit in (0, 1):
        answers = [r.answer for r in Game(rounds=12).play(adversary, bit, rng).transcript.rounds][1:]
        bits = [a for a in answers if isinstance(a, bool)]
        assert bits == [False] * (len(bits) - 1) + [True] or not any(bits)
        if True in bits:  # then the value, then silence
            assert isinstance(answers[len(bits)], float)
            assert set(answers[len(bits) + 1 :]) <= {None}
    assert mechanism.guarantee.adjacency is REPLACE_ONE


def test_the_states_follow_the_definition() -> None:
    mechanism = PrivateWeights(Settings(4, 2, 0.3, 0.2, updates=2), 1e-6)
    query = np.array([1.0, 0.0])
    start = mechanism.state(np.array([0.05, -0.1]))
    law = mechanism.answer((0, 0, 0, 1), start, query)
    assert isinstance(law, Finite)
    assert law.prob(False) == pytest.approx(math.exp(log_lazy(0.25, 0.35, 0.2)))
    assert mechanism.after(start, query, False) is start
    asked = mechanism.after(start, query, True)
    assert mechanism.answer((0, 0, 0, 1), asked, query) == Laplace(0.75, 0.2)
    for value, sign in ((0.7, 1), (0.0, -1)):  # 0.0 is an answer, not a no
        after = mechanism.after(asked, query, value)
        assert np.allclose(after.hypothesis, reweighted([0.5, 0.5], query, sign * 0.3 / 4))
        law = mechanism.answer((0, 0, 0, 1), after, query)  # a new epoch has a new threshold
        gap = 0.75 - after.hypothesis[0]
        assert law.prob(False) == pytest.approx(math.exp(log_lazy(gap, 0.3 - 0.1, 0.2)))
        over = mechanism.after(mechanism.after(after, query, True), query, value)
        assert mechanism.answer((0, 0, 0, 1), over, query) == Point(None)


def test_bad_input_is_refused(rng: np.random.Generator) -> None:
    mechanism = PrivateWeights(QUIET, 1e-6)
    talk = mechanism.open(np.zeros(5000, dtype=int), rng)
    calls: dict[str, Any] = {
        r"query .* 32 numbers between 0 and 1": lambda: talk.ask(np.full(32, 2.0)),
        r"query .* one for each row of the universe": lambda: talk.ask([1.0, 0.0]),
        r"data = '3 rows' .* 5000 rows: the size is public": lambda: mechanism.open([0, 1, 2], rng),
        r"data .* rows between 0 and 31": lambda: mechanism.open([77] * 5000, rng),
        r"rng = 1 .*Generator": lambda: Conversation(mechanism, [0] * 5000, 1),  # type: ignore[arg-type]
        r"n = 100 .* the threshold would be": lambda: choose_settings(100, 64, 100, 1.0, 1e-6),
        r"universe = 1 .* at least 2": lambda: choose_settings(100, 1, 100, 1.0, 1e-6),
        r"beta = 0.0 .* accuracy may fail": lambda: QUIET.accuracy(10, 0),
        r"threshold = 0 .* above 0": lambda: Settings(10, 4, 0, 1.0, 3),
        r"query = 'ab' .* between 0 and 1": lambda: talk.ask("ab"),
        r"data = None .* rows between 0 and 31": lambda: mechanism.open(None, rng),
        r"data = \[1.e\+300\] .* of the hypothesis": lambda: Epoch([0.0], 1.0, 1.0).law([1e300]),
        r"cuts .* rising": lambda: Epoch([0.0], 1.0, 1.0, (2.0, 1.0)),
        r"data .* 2 answers": lambda: Epoch([0.0, 1.0], 1.0, 1.0).law([1.0]),
        r"query .* 2 numbers, one for each weight": lambda: reweighted([0.5, 0.5], [1, 0, 1], 0.1),
        r"data .* add up to 1": lambda: potential([0.5, 0.6], [0.5, 0.5]),
        r"weights .* as many as the data's": lambda: potential([0.5, 0.5], [0.5, 0.25, 0.25]),
    }
    for message, call in calls.items():
        with pytest.raises(BadInput, match=message):
            call()


@given(gap=st.floats(0.01, 0.9), step=st.floats(0.01, 4), p=st.floats(0, 1))
def test_no_update_is_worth_less_than_the_worst_one(gap: float, step: float, p: float) -> None:
    p *= 1 - gap
    least = float(worst_drop(gap, step))
    assert least_drop(gap, step) <= least + 1e-12
    assert least <= drop([1 - p - gap, p + gap], [1 - p, p], [0, 1], step) + 1e-12
