"""Reconstruction of secret bits from noisy counts: the bound 4E, the linear program, the private control."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import BadInput
from dpcourse.attacks import (
    PICTURE,
    Bounded,
    Exact,
    Private,
    Rounding,
    Survivors,
    ask,
    confusing,
    consistent,
    exhaust,
    expected_recovery,
    interrogate,
    phase_curve,
    random_subsets,
    reconstruct,
    recoverable,
    subsets,
)
from dpcourse.guarantees import GDP
from dpcourse.mechanisms import GeometricMechanism, LaplaceMechanism, RandomizedResponse
from dpcourse.neighbours import REPLACE_ONE

NORMS = (1, 2, math.inf)


def flip(secret: np.ndarray, ones: int, zeros: int) -> np.ndarray:
    """The secret with some of its ones turned off and some of its zeros turned on."""
    twin = secret.copy()
    twin[np.flatnonzero(secret)[:ones]] = 0
    twin[np.flatnonzero(secret == 0)[:zeros]] = 1
    return twin


# The exhaustive adversary


@given(st.integers(1, 6), st.integers(0, 5), st.randoms(use_true_random=False))
def test_the_pruned_search_finds_exactly_what_the_definition_asks(n: int, halves: int, random) -> None:
    error = halves / 2
    secret = [random.randint(0, 1) for _ in range(n)]
    answers = Exact(secret).answers(subsets(n)) + [random.uniform(-error, error) for _ in range(2**n)]
    everybody = subsets(n).astype(float)
    fits = (np.abs(everybody @ everybody.T - answers) <= error).all(axis=1)  # candidate x, subset S: x(S)
    assert consistent(answers, error).tolist() == np.flatnonzero(fits).tolist()


@pytest.mark.parametrize("error", [0, 0.5, 1, 1.5, 2])
def test_all_candidates_are_within_4e_bits_and_the_bound_is_tight(error: float) -> None:
    secret = np.arange(8) % 2
    answers, needed = confusing(secret, flip(secret, int(2 * error), int(2 * error)))
    found = Survivors(consistent(answers, error), n=8, error=error)
    assert needed == error
    assert found.distances(secret).max() == found.diameter == found.bound == 4 * error


@given(st.integers(2, 9), st.floats(0, 3), st.integers(0, 2**32))
def test_the_survivors_hold_the_secret_and_are_near_each_other(n: int, error: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    secret = rng.integers(0, 2, n)
    found = exhaust(Bounded(secret, error, rng), n, error)
    assert found.distances(secret).min() == 0
    assert found.diameter <= found.bound <= 4 * error + 1e-8


def test_answers_that_fit_nobody_leave_nobody() -> None:
    answers = np.zeros(16)
    answers[0] = 5  # nobody is five people
    assert not consistent(answers, 1).size


def test_sixteen_people_are_searched_quickly_and_exactly() -> None:
    rng = np.random.default_rng(1)
    secret = rng.integers(0, 2, 16)
    assert exhaust(Bounded(secret, 0.49, rng), 16, 0.49).bits.tolist() == [secret.astype(bool).tolist()]


# The linear program


@pytest.mark.parametrize(("noise", "least"), [(0.25, 0.95), (0.1, 0.99)])
@pytest.mark.parametrize("norm", NORMS)
def test_64_bits_from_256_answers(norm: float, noise: float, least: float) -> None:
    # The weakest norm, 1, has mean .983 (standard deviation .015 a run) and 1.000: 7 standard errors away.
    fractions = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        secret = rng.integers(0, 2, 64)
        found = interrogate(Bounded(secret, noise * 8, rng), 64, 256, rng, norm)
        fractions.append(found.recovered(secret))
    assert np.mean(fractions) >= least


def test_recovery_fades_with_the_noise_as_measured_before() -> None:
    # 40 repetitions gave these means, with a standard deviation of at most .047 each: the margin is 3 errors.
    curve = phase_curve([0.1, 0.25, 0.5, 1, 2], np.random.default_rng(3), n=128, repeat=6, norm=1)
    assert curve.mean == pytest.approx([1.0, 0.982, 0.849, 0.692, 0.599], abs=0.06)
    assert (np.diff(curve.mean) <= 0).all()
    assert curve.noise[2] == pytest.approx(0.5 * math.sqrt(128))


def test_least_squares_recovers_what_it_expects() -> None:
    # Uniform noise, but a bit's estimate adds 256 of them. 20 x 64 bits: standard error below .014; the box
    # constraint, which the prediction leaves out, helps by .01 to .04.
    curve = phase_curve([0.25, 0.5, 1.0], np.random.default_rng(4), repeat=20, norm=2)
    assert (curve.mean >= curve.expected - 0.03).all()
    assert (curve.mean <= curve.expected + 0.06).all()


@pytest.mark.parametrize("norm", NORMS)
def test_each_fit_has_the_least_error_in_its_norm(norm: float) -> None:
    rng = np.random.default_rng(0)
    masks = random_subsets(rng, 40, 10)
    answers = Bounded(rng.integers(0, 2, 10), 3, rng).answers(masks)
    found = reconstruct(masks, answers, norm)
    assert found.residuals == pytest.approx(answers - masks @ found.fractional)
    least = np.linalg.norm(found.residuals, norm)
    others = rng.uniform(0, 1, (2000, 10))
    near = np.clip(found.fractional + rng.normal(0, 0.02, (2000, 10)), 0, 1)
    for x in itertools.chain(others, near):
        assert np.linalg.norm(answers - masks @ x, norm) >= least - 1e-7


def test_wild_answers_spoil_the_largest_error_but_not_the_total() -> None:
    rng = np.random.default_rng(5)
    secret = PICTURE.ravel()
    masks = random_subsets(rng, 512, 64)
    answers = Bounded(secret, 1, rng).answers(masks)
    answers[rng.random(512) < 0.1] = 1000
    assert reconstruct(masks, answers, norm=1).recovered(secret) == 1
    assert reconstruct(masks, answers).recovered(secret) < 0.8


@pytest.mark.parametrize("queries", [256, 512])
@pytest.mark.parametrize("norm", NORMS)
def test_rounding_to_fours_and_refusing_small_sets_does_not_help(queries: int, norm: float) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        secret = rng.integers(0, 2, 64)
        assert interrogate(Rounding(secret), 64, queries, rng, norm).recovered(secret) >= 0.9


@pytest.mark.parametrize("norm", NORMS)
def test_the_private_answerer_leaves_coin_flipping(norm: float) -> None:
    # 16 x 64 bits: a fair coin has standard error .0156, so .08 is 5 of them.
    fractions = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        secret = rng.integers(0, 2, 64)
        oracle = Private.split(secret, epsilon=1.0, limit=256, rng=rng)
        fractions.append(interrogate(oracle, 64, 256, rng, norm).recovered(secret))
    assert abs(np.mean(fractions) - 0.5) < 0.08
    assert np.mean(fractions) < recoverable(1.0)


# What no attack can exceed


@given(st.floats(0.05, 6))
def test_randomized_response_reaches_the_bound_on_recovery(epsilon: float) -> None:
    truth = RandomizedResponse(epsilon).law(1).prob(1)
    assert recoverable(epsilon) == pytest.approx(truth, rel=1e-12)


@given(st.floats(0, 5), st.floats(0, 0.9))
def test_the_bound_on_recovery_is_the_best_of_all_tests(epsilon: float, delta: float) -> None:
    # max (tpr + 1 - fpr)/2 subject to tpr <= e^eps fpr + delta and 1 - fpr <= e^eps (1 - tpr) + delta
    fpr = np.linspace(0, 1, 20_001)
    e = math.exp(epsilon)
    tpr = np.minimum(1, np.minimum(e * fpr + delta, 1 - (1 - fpr - delta) / e))
    assert recoverable(epsilon, delta) == pytest.approx(((tpr + 1 - fpr) / 2).max(), abs=1e-4)


def test_expected_recovery_of_random_questions() -> None:
    # The diagonal of (Q^T Q)^-1 is about 4/(m - n) for random subsets: Phi(sqrt(m - n)/(4 sigma)).
    masks = random_subsets(np.random.default_rng(0), 4000, 50)
    assert expected_recovery(masks, 15.0) == pytest.approx(0.8526, abs=0.005)


@pytest.mark.parametrize("norm", NORMS)
def test_too_few_questions_still_give_the_best_fit(norm: float) -> None:
    curve = phase_curve([0.0], np.random.default_rng(0), n=20, queries=10, repeat=2, norm=norm)
    assert (curve.fractions > 0.3).all()
    assert np.isnan(curve.expected).all()


# The oracles


def test_the_private_oracle_stops_at_its_limit_and_adds_up_its_promise() -> None:
    rng = np.random.default_rng(0)
    oracle = Private(np.ones(8), LaplaceMechanism(0.25, adjacency=REPLACE_ONE), limit=4, rng=rng)
    masks = random_subsets(rng, 3, 8)
    assert not np.isnan(oracle.answers(masks)).any()
    assert np.isnan(oracle.answers(masks)).tolist() == [False, True, True]
    assert math.isnan(oracle(masks[0]))
    assert oracle.given == 4
    assert oracle.guarantee.epsilon(0) == 1


def test_gaussian_noise_for_k_answers_grows_like_the_root_of_k() -> None:
    # sigma = 4.22 sqrt(k) at (1, 1e-6): below T queries, noise of order sqrt(T) is enough for privacy.
    for limit in (1, 100, 10_000):
        oracle = Private.split([0, 1], 1.0, limit, np.random.default_rng(0), delta=1e-6)
        assert oracle.mechanism.sigma / math.sqrt(limit) == pytest.approx(4.22, abs=0.01)
        assert isinstance(oracle.guarantee, GDP)
        assert oracle.guarantee.delta(1.0) == pytest.approx(1e-6, rel=1e-6)


def test_a_private_oracle_can_use_whole_noise() -> None:
    mechanism = GeometricMechanism(0.5, adjacency=REPLACE_ONE)
    answers = Private(np.ones(8), mechanism, 10, np.random.default_rng(0)).answers(np.ones((10, 8), bool))
    assert (answers == np.round(answers)).all()


def test_any_function_is_an_oracle() -> None:
    secret = PICTURE.ravel()
    seen = []
    masks = random_subsets(np.random.default_rng(0), 5, 64)

    def answer(mask):
        return None if mask[0] else int(secret[mask].sum())

    found = ask(answer, masks, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 5) for i in range(1, 6)]
    assert np.isnan(found).tolist() == masks[:, 0].tolist()
    assert (found == Exact(secret).answers(masks))[~masks[:, 0]].all()
    rng = np.random.default_rng(1)
    guess = interrogate(answer, 64, 400, rng)
    assert (guess.bits[1:] == secret[1:]).all()
    assert 100 < guess.refused < 300


def test_the_same_seed_gives_the_same_attack() -> None:
    curves = [phase_curve([0.5], np.random.default_rng(7), n=16, repeat=2).fractions for _ in range(2)]
    assert np.array_equal(*curves)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: subsets(17), "n = 17 breaks a rule: it must be at most 16"),
        (lambda: consistent([0, 1, 2], 1), "2^n numbers"),
        (lambda: consistent([0, math.nan], 1), "finite"),
        (lambda: consistent([0, 1], -1), "error = -1 breaks a rule"),
        (lambda: confusing([0, 1], [0, 1, 1]), "as many as the secret"),
        (lambda: Exact([0, 2]), "a vector of bits"),
        (lambda: Exact([0, 1])([True]), "masks over 2 people"),
        (lambda: Bounded([0, 1], -1, np.random.default_rng(0)), "error = -1"),
        (lambda: Bounded([0, 1], 1, None), "a numpy.random.Generator"),
        (lambda: Bounded([0, 1], math.inf, np.random.default_rng(0)), "error = inf"),
        (lambda: Exact([0, 1])([5, 0]), "True or False for each person"),
        (lambda: ask(lambda mask: "a", np.eye(2)), "answer = 'a'"),
        (lambda: reconstruct(np.eye(2), ["a", "b"]), "numbers, or NaN for a refusal"),
        (lambda: Rounding([0, 1], multiple=0), "multiple = 0"),
        (lambda: Private([0, 1], LaplaceMechanism(1.0), 5, np.random.default_rng(0)), "replace-one"),
        (
            lambda: reconstruct(np.eye(2), [1, 0], norm=3),
            "norm = 3 breaks a rule: it must be one of 1, 2, inf",
        ),
        (lambda: reconstruct(np.eye(2), [1, 0, 1]), "one number for each row of masks"),
        (lambda: reconstruct(np.eye(2), [math.nan] * 2), "answered at least once"),
        (lambda: reconstruct(np.eye(2), [math.inf, 0]), "finite"),
        (lambda: expected_recovery(np.ones((3, 2)), 1.0), "as many independent questions as people"),
        (lambda: recoverable(-1), "epsilon = -1"),
        (lambda: phase_curve([-1], np.random.default_rng(0)), "levels = "),
        (lambda: ask(type("Odd", (), {"answers": lambda self, masks: 1.0})(), np.eye(2)), "2 numbers"),
    ],
)
def test_bad_input_is_explained(call, message: str) -> None:
    with pytest.raises(BadInput, match="Fix:") as caught:
        call()
    assert message in str(caught.value)
