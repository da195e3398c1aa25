"""The library of adversaries: each does what it says, alone and in bulk, and reaches its known numbers."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction
from queue import SimpleQueue

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcourse import BadInput
from dpcourse.adversaries import (
    SILENT,
    Averaging,
    AzumaGap,
    Differencing,
    Fixed,
    Greedy,
    LastAnswer,
    Password,
    Person,
    RandomChoice,
    StopOrSpend,
    guessing,
    smallest_gap,
)
from dpcourse.audit import Above, Below
from dpcourse.game import Ask, Challenge, Game, GameError, Guess, Open
from dpcourse.guarantees import PureDP
from dpcourse.interactive.filters import PureFilter
from dpcourse.interactive.sessions import Trapdoor
from dpcourse.laws import Point
from dpcourse.mechanisms import Custom, GaussianMechanism, LaplaceMechanism, RandomizedResponse
from dpcourse.neighbours import REPLACE_ONE

TWO, THREE = (Challenge(RandomizedResponse.with_odds(n), 0, 1) for n in (2, 3))
MENU = (TWO, THREE)
LIBRARY = {
    "fixed": Fixed(MENU),
    "repeated": Fixed(MENU, repeat=True),
    "random": RandomChoice(MENU),
    "last answer": LastAnswer(TWO, {0: THREE, 1: TWO}),
    "last answer, stops": LastAnswer(TWO, {0: THREE, 1: None}),
    "last answer, events": LastAnswer(TWO, {Above(0.5): TWO, Below(0.5): THREE}),
    "greedy": Greedy(MENU),
    "greedy, target": Greedy(MENU, math.log(3 / 2)),
    "stop or spend": StopOrSpend(0.7),
    "averaging": Averaging(TWO),
    "differencing": Differencing(RandomizedResponse(1.0, values=(0, 1, 2)), others=1),
}


def rates(result):
    """How often bit 0 is said in each world."""
    return [np.mean(np.asarray(world.guesses) == 0) for world in (result.zero, result.one)]


@pytest.mark.parametrize("name", LIBRARY)
def test_one_game_many_games_and_all_games_agree(name):
    adversary, game = guessing(LIBRARY[name]), Game(rounds=3)
    exact = game.exact(adversary)
    bulk = game.simulate(adversary, 40_000, rng=np.random.default_rng(1))
    said = [
        sum(pair[bit] for view, pair in exact.views.items() if exact.guesses[view] == 0) for bit in (0, 1)
    ]
    assert rates(bulk) == pytest.approx([float(s) for s in said], abs=0.02)
    kl = exact.loss.kl()
    assert np.mean(bulk.zero.losses) == pytest.approx(kl, abs=0.05)
    rng = np.random.default_rng(2)
    singly = [game.play(adversary, 0, rng) for _ in range(1500)]
    assert np.mean([p.guess == 0 for p in singly]) == pytest.approx(float(said[0]), abs=0.06)
    assert all(p.won is not None for p in singly)


@pytest.mark.parametrize("name", LIBRARY)
def test_adversaries_travel_to_other_processes(name):
    adversary = LIBRARY[name]
    if "events" not in name:
        again = pickle.loads(pickle.dumps(adversary))
        assert Game(rounds=2).exact(again).loss.kl() == Game(rounds=2).exact(adversary).loss.kl()


@given(st.sampled_from(sorted(LIBRARY)), st.integers(1, 4))
@settings(max_examples=30)
def test_the_guess_at_the_end_is_the_best_one(name, rounds):
    exact = Game(rounds=rounds).exact(guessing(LIBRARY[name]))
    own = type(LIBRARY[name]) in (Averaging, Differencing) and rounds > 1  # these guess for themselves
    assert exact.advantage <= exact.loss.total_variation() + 1e-12
    if not own:
        assert float(exact.advantage) == pytest.approx(float(exact.loss.total_variation()), abs=1e-12)


def test_fixed_asks_in_order_and_ends():
    played = Game(rounds=5).play(Fixed([TWO, THREE]), 0, np.random.default_rng(0)).transcript
    assert [r.move for r in played.rounds] == [TWO, THREE]
    again = Game(rounds=5).play(Fixed([TWO, THREE], repeat=True), 0, np.random.default_rng(0)).transcript
    assert [r.move for r in again.rounds] == [TWO, THREE, TWO, THREE, TWO]
    with pytest.raises(BadInput, match=r"moves = \(\) breaks a rule: it must be at least one move"):
        Fixed([])
    with pytest.raises(BadInput, match=r"menu = \(\) breaks a rule"):
        RandomChoice([])


def test_last_answer_follows_the_last_answer():
    adversary = LastAnswer(TWO, {0: THREE, 1: TWO})
    for seed in range(20):
        rounds = Game(rounds=4).play(adversary, 0, np.random.default_rng(seed)).transcript.rounds
        assert rounds[0].move == TWO
        for before, after in itertools.pairwise(rounds):
            assert after.move == (THREE if before.answer == 0 else TWO)


def test_random_choice_puts_its_coins_into_the_view():
    exact = Game(rounds=1).exact(RandomChoice(MENU))
    assert len(exact.views) == 4  # two coins, two answers
    assert exact.loss.total_variation() == Fraction(1, 2) * (Fraction(1, 3) + Fraction(1, 2))


@given(st.lists(st.integers(2, 9), min_size=1, max_size=4), st.floats(-3, 3), st.floats(0.0, 2.0))
def test_greedy_takes_the_largest_gain_of_one_step(odds, loss, epsilon):
    menu = [Challenge(RandomizedResponse.with_odds(n), 0, 1) for n in odds]
    for greedy in (Greedy(menu, epsilon), Greedy(menu)):
        gains = greedy.gains(np.array([loss, -loss]))
        assert gains.shape == (len(menu), 2)
        assert gains.max(0) == pytest.approx(
            greedy.gains(np.array([loss, -loss]))[odds.index(max(odds))], abs=1e-12
        )


def test_greedy_stays_within_the_filter_and_below_the_optimum():
    budget = PureFilter(math.log(8), adjacency=REPLACE_ONE)
    game = Game(rounds=3, filter=budget)
    exact = game.exact(Greedy(MENU, math.log(3 / 2), filter=budget))
    assert exact.loss.max_ratio() <= 8
    best_fixed, best = Fraction(81, 216), Fraction(89, 216)
    assert exact.loss.hockey_stick(Fraction(3, 2)) <= best
    assert exact.loss.hockey_stick(Fraction(3, 2)) == best_fixed
    assert not hasattr(Greedy(MENU, filter=budget), "batch")


def test_differencing_needs_counts_without_noise():
    exactly = Custom(Point, PureDP(1.0), lambda a, b: abs(a - b) <= 1)
    assert Game(rounds=2).exact(Differencing(exactly)).advantage == 1
    noisy = Game(rounds=2).simulate(
        Differencing(LaplaceMechanism(0.1)), 100_000, rng=np.random.default_rng(0)
    )
    said = rates(noisy)
    assert 0 < said[0] - said[1] < math.tanh(0.05) + 0.02  # no test of an epsilon-DP answer does better


def test_averaging_beats_noise_like_the_square_root_of_the_rounds():
    rng = np.random.default_rng(4)
    for rounds in (1, 4, 16):
        challenge = Challenge(GaussianMechanism(2.0), 0, 1)
        said = rates(Game(rounds=rounds).simulate(Averaging(challenge), 100_000, rng=rng))
        exact = math.erf(math.sqrt(rounds) / (4 * math.sqrt(2)))  # the mean is sufficient for Gaussians
        assert said[0] - said[1] == pytest.approx(exact, abs=0.012)


# The trapdoor: fixed questions against adaptive ones ----------------------------------------------


@pytest.mark.parametrize("bits", [1, 3, 5])
def test_the_trapdoor_opens_to_whoever_repeats_the_password(bits):
    door = Trapdoor(bits)
    for question in {0, 2**bits - 1}:
        fixed = Fixed([Open(door, 0, 1), Ask(0, None), Ask(0, question)])
        assert Game(rounds=3).exact(fixed).loss.total_variation() == Fraction(1, 2**bits)
    adaptive = Game(rounds=3).exact(Password(door))
    assert adaptive.loss.total_variation() == 1
    assert adaptive.advantage == 1
    for bit in (0, 1):
        assert Game(rounds=3).play(Password(door), bit, np.random.default_rng(bit)).won
    assert not hasattr(Password(door), "batch")
    assert not hasattr(guessing(Fixed([Open(door, 0, 1)])), "batch")


def test_a_trapdoor_that_stays_shut_teaches_the_password_nothing():
    class Shut(Trapdoor):
        def answer(self, data, state, query):
            return super().answer(None, state, query)

    assert Game(rounds=3).exact(Password(Shut(3))).loss.total_variation() == 0


# The person ---------------------------------------------------------------------------------------


def test_a_person_plays_by_function_or_by_queue():
    seen = []
    by_function = Person(
        lambda view: TWO if view.left else Guess(1), show=lambda view: seen.append(len(view))
    )
    assert Game(rounds=2).play(by_function, 1, np.random.default_rng(0)).won
    assert seen == [0, 1, 2]
    clicks: SimpleQueue = SimpleQueue()
    for move in (TWO, Guess(0)):
        clicks.put(move)
    assert Game(rounds=2).play(Person(clicks), 0, np.random.default_rng(0)).won
    clicks.put("what now?")
    with pytest.raises(GameError, match="round 1: move = 'what now\\?' breaks a rule: it must be a move"):
        Game(rounds=2).play(Person(clicks), 0, np.random.default_rng(0))


# The gap in a proof -------------------------------------------------------------------------------


def test_the_gap_has_the_catalogues_numbers():
    gap = AzumaGap(0.1, 10_000, 0.01)
    assert gap.mean == pytest.approx(26.2, abs=0.05)
    assert gap.radius == pytest.approx(30.35, abs=0.005)
    assert gap.probability() == pytest.approx(0.136, abs=5e-4)
    assert gap.effect == pytest.approx(50.15, abs=0.005)
    assert not gap.closed
    assert gap.probability(10_000 * gap.drift) == pytest.approx(6.4e-4, rel=0.01)
    assert gap.probability(10_000 * 0.1 * math.expm1(0.1)) == pytest.approx(2.7e-18, rel=0.03)
    assert AzumaGap(0.5, 1000, 1e-3).probability() == pytest.approx(0.127, abs=5e-4)
    assert (smallest_gap(1.0, 0.05), smallest_gap(1.0, 0.1)) == (67, 77)
    for delta, k in ((0.05, 67), (0.1, 77)):
        assert not AzumaGap(1.0, k, delta).closed
        assert all(AzumaGap(1.0, n, delta).closed for n in range(1, k))


@given(st.floats(0.05, 3), st.integers(1, 9), st.floats(0.01, 0.9))
@settings(max_examples=40)
def test_the_binomial_sum_is_the_game(epsilon, k, delta):
    gap = AzumaGap(epsilon, k, delta)
    views = Game(rounds=k).exact(StopOrSpend(epsilon)).views
    losses = np.array([math.log(p / q) for p, q in views.values()])
    chances = np.array([p for p, _ in views.values()])
    assert chances @ losses == pytest.approx(gap.mean, abs=1e-9)
    for level in (gap.mean + gap.radius, *(epsilon * n - 1e-7 for n in range(-k, k + 1))):
        exact = chances[losses >= level - 1e-12].sum()
        assert gap.probability(level - gap.radius) == pytest.approx(exact, abs=1e-9)


def test_the_gap_is_seen_in_simulated_games():
    gap = AzumaGap(1.0, 200, 0.05)
    losses = Game(rounds=200).simulate(StopOrSpend(1.0), 40_000, rng=np.random.default_rng(3)).zero.losses
    share = np.mean(losses >= gap.mean + gap.radius)
    assert share == pytest.approx(gap.probability(), abs=0.01)
    assert share > 2 * gap.delta
    assert np.mean(losses) == pytest.approx(gap.mean, rel=0.02)


def test_bad_parameters_of_the_gap_are_refused():
    with pytest.raises(BadInput, match="epsilon = -1 breaks a rule"):
        AzumaGap(-1, 10, 0.1)
    with pytest.raises(BadInput, match=r"delta = 0\.0 breaks a rule"):
        AzumaGap(1, 10, 0)
    with pytest.raises(BadInput, match="most = 10 breaks a rule: it must be large enough to meet a gap"):
        smallest_gap(1.0, 0.05, most=10)
    assert SILENT.law(0) == SILENT.law(1)
