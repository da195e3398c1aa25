"""The game: rules, transcripts, exact laws, simulation, sessions, filters, executors."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcourse as dp
from dpcourse import laws
from dpcourse.game import Ask, Challenge, Game, GameError, Guess, Open, Refused
from dpcourse.game.exact import play_exactly
from dpcourse.interactive import LaplaceAnswerer, NoisyGate, Trapdoor
from dpcourse.interactive.filters import (
    ApproxFilter,
    Odometer,
    PureFilter,
    RDPFilter,
    ZCDPFilter,
    pure_reading,
)
from dpcourse.interactive.unsound import CheckAfterFilter, RealisedCompositionFilter

RR2, RR3 = dp.RandomizedResponse.with_odds(2), dp.RandomizedResponse.with_odds(3)
LOCAL = {"adjacency": dp.REPLACE_ONE}


def repeat(mechanism, left=0, right=1):
    def adversary(view):
        if view.left:
            return Challenge(mechanism, left, right)
        return Guess(int(view.loss < 0))

    return adversary


@dataclass(frozen=True)
class Chasing:
    """An adaptive adversary for numeric answers: shifts away from where the last answer fell."""

    mechanism: object

    def __call__(self, view):
        if not view.left:
            return Guess(int(view.loss < 0))
        return Challenge(self.mechanism, 0.0, -1.0 if view.last is not None and view.last < 0.5 else 1.0)

    def batch(self, view):
        if not view.left:
            return Guess((view.loss < 0).astype(int))
        if view.last is None:
            return Challenge(self.mechanism, 0.0, 1.0)
        return Challenge(self.mechanism, 0.0, np.where(view.last < 0.5, -1.0, 1.0))


@dataclass(frozen=True)
class Branching:
    """After a yes it asks with little noise, after a no with much: different mechanisms in a batch."""

    def __call__(self, view):
        if not view.left:
            return None
        return Challenge(RR3 if view.last == 0 else RR2, 0, 1)

    def batch(self, view):
        if not view.left:
            return None
        if view.last is None:
            return Challenge(RR2, 0, 1)
        said = view.last == 0
        return [(said, Challenge(RR3, 0, 1)), (~said, Challenge(RR2, 0, 1))]


def by_first_answer(view):
    """The best policy of the menu {RR(ln 2), RR(ln 3)} with budget ln 8, at e^eps = 3/2."""
    if not view.rounds:
        return Challenge(RR2, 0, 1)
    if view.answers[0] == 0:
        return Challenge(RR3, 0, 1) if len(view) == 1 else None
    return Challenge(RR2, 0, 1) if view.left else None


# Play -------------------------------------------------------------------------------------------


def test_the_transcript_is_the_view_and_replays(rng):
    game = Game(rounds=4)
    played = game.play(repeat(dp.LaplaceMechanism(0.5)), bit=1, rng=np.random.default_rng(5))
    again = game.play(repeat(dp.LaplaceMechanism(0.5)), bit=1, rng=np.random.default_rng(5))
    assert played == again
    view = played.transcript
    assert len(view) == 4
    assert view.left == 0
    assert len(view.answers) == 4
    assert view.last == view.answers[-1]
    assert view.loss == pytest.approx(sum(abs(y - 1) - abs(y) for y in view.answers) / 2)
    assert played.won == (view.loss < 0)
    assert "loss so far" in str(view)
    assert "LaplaceMechanism on 0 or 1" in str(view)


def test_the_walk_splits_into_drift_and_martingale(rng):
    game, mechanism = Game(rounds=50), dp.GaussianMechanism(2.0)
    for bit in (0, 1):
        played = game.play(repeat(mechanism), bit=bit, rng=rng)
        walk = played.walk
        assert walk.loss[-1] == pytest.approx(played.transcript.loss)
        sign = -1 if bit else 1
        assert walk.drift[-1] == pytest.approx(sign * 50 / 8)  # KL of N(0,4) against N(1,4) is 1/8 a round
        assert len(walk.martingale) == 51


def test_an_adversary_may_toss_coins_and_the_view_holds_them(rng):
    def tossing(view):
        if not view.left:
            return None
        return Challenge(RR2, 0, 1) if view.coins.flip() else Challenge(RR2, 1, 0)

    played = Game(rounds=3).play(tossing, bit=0, rng=rng)
    assert all(isinstance(r.coins[0], bool) for r in played.transcript.rounds)
    result = Game(rounds=1).exact(tossing)
    assert len(result.views) == 4  # two coins times two answers
    assert result.loss.max_ratio() == 2


# Exact ------------------------------------------------------------------------------------------


@given(st.integers(1, 5), st.fractions(min_value=Fraction(1, 4), max_value=6))
def test_exact_fixed_game_is_the_product_law(k, ratio):
    found = Game(rounds=k).exact(repeat(RR2)).loss.hockey_stick(ratio)
    p, q = (RR2.law(bit) for bit in (0, 1))
    expected = Fraction(0)
    for ys in itertools.product((0, 1), repeat=k):
        a = math.prod((p.prob(y) for y in ys), start=Fraction(1))
        b = math.prod((q.prob(y) for y in ys), start=Fraction(1))
        expected += max(a - ratio * b, Fraction(0))
    assert found == expected


def test_exact_adaptive_game_anchor():
    """RR(ln 2), then by the answer one RR(ln 3) or two RR(ln 2): 89/216 at e^eps = 3/2."""

    game = Game(rounds=3, filter=PureFilter(math.log(8), **LOCAL))
    result = game.exact(by_first_answer)
    assert result.loss.hockey_stick(Fraction(3, 2)) == Fraction(89, 216)
    assert result.loss.max_ratio() == 6
    assert result.loss.reversed().max_ratio() == 8  # no more than the filter's ln 8
    assert game.filter.guarantee.share(result.loss.reversed()) == pytest.approx(1)


def test_exact_laws_are_laws_and_the_advantage_is_total_variation():
    result = Game(rounds=4).exact(repeat(RR3))
    for bit in (0, 1):
        assert sum(result.law(bit).probs) == 1
    assert result.advantage == result.loss.total_variation()
    assert result.loss.hockey_stick(81) == 0
    assert result.delta(math.log(81)) <= 1e-14  # the logarithm is rounded, and perhaps down


def test_trapdoor_separates_adaptive_from_fixed_questions():
    door = Trapdoor(bits=3)

    def fixed(view):
        moves = [Open(door, "secret", "other"), Ask(0, None), Ask(0, 5)]
        return moves[len(view)] if view.left else None

    def adaptive(view):
        moves = [Open(door, "secret", "other"), Ask(0, None), Ask(0, view.last)]
        return moves[len(view)] if view.left else None

    assert Game(rounds=3).exact(fixed).loss.total_variation() == Fraction(1, 8)
    assert Game(rounds=3).exact(adaptive).loss.total_variation() == 1


def test_concurrent_sessions_are_independent(rng):
    """Two trapdoors, asked in turns; each has its own password."""
    door = Trapdoor(bits=1)

    def adversary(view):
        moves = [Open(door, 0, 1), Open(door, 0, 1), Ask(1, None), Ask(0, None), Ask(1, view.last), Ask(0, 0)]
        return moves[len(view)] if view.left else None

    result = Game(rounds=6).exact(adversary)
    assert result.loss.total_variation() == Fraction(3, 4)  # missed by both with chance 1/4
    assert len(Game(rounds=6).play(adversary, 0, rng).transcript) == 6


def test_interactive_opponents_play(rng):
    gate = NoisyGate(epsilon=1.0)

    def stream(view):
        if not view.rounds:
            return Open(gate, (1,), (1, 1))
        if not view.left or (view.last is True and len(view) > 1):
            return None
        return Ask(0, len)

    transcript = Game(rounds=30).play(stream, 0, rng).transcript
    assert all(answer in (True, False) for answer in transcript.answers[1:])
    answerer = LaplaceAnswerer(epsilon=1.0, queries=2)

    def curious(view):
        return (Ask(0, sum) if view.rounds else Open(answerer, (1,), (1, 1))) if view.left else None

    answers = Game(rounds=4).play(curious, 1, rng).transcript.answers
    assert isinstance(answers[1], float)
    assert answers[3] is None  # the third query is one too many


# Simulation ---------------------------------------------------------------------------------------


def test_simulated_agrees_with_exact_and_with_theory(rng):
    game = Game(rounds=6)
    exact = game.exact(Branching())
    simulated = game.simulate(Branching(), games=400_000, rng=rng)
    assert simulated.zero.losses.mean() == pytest.approx(exact.loss.kl(), abs=0.02)
    for eps in (0.0, 0.5, 1.5):
        low, high = simulated.hockey_stick(eps, confidence=0.999999)
        truth = exact.delta(eps)
        assert low <= truth
        assert high >= truth * (1 - 1e-9)
    bulk = game.simulate(Branching(), games=20_000, rng=rng)
    plain = game.simulate(Branching().__call__, games=4_000, rng=rng)
    assert plain.zero.losses.mean() == pytest.approx(bulk.zero.losses.mean(), abs=0.1)


@pytest.mark.parametrize("mechanism", [dp.LaplaceMechanism(0.5), dp.GaussianMechanism(2.0)])
def test_batched_games_follow_the_exact_loss(mechanism, rng):
    k = 20
    result = Game(rounds=k).simulate(Chasing(mechanism), games=100_000, rng=rng)
    loss = k * mechanism.worst_case()  # the gap is always 1, so adaptivity gains nothing
    assert result.zero.losses.mean() == pytest.approx(loss.kl(), rel=0.05)
    low, high = result.hockey_stick(1.0, confidence=0.999999)
    assert low <= loss.delta_bounds(1.0)[1]
    assert high >= loss.delta_bounds(1.0)[0]
    assert result.epsilon_lower_bound(1e-2).epsilon <= loss.epsilon(1e-2)
    low, high = result.advantage(0.999999)
    assert low <= loss.total_variation() + 1e-9
    fpr, tpr = result.roc()
    assert np.all(np.diff(fpr) >= 0)
    assert np.all(np.diff(tpr) >= 0)


def test_martingale_part_has_mean_zero(rng):
    result = Game(rounds=30).simulate(Chasing(dp.LaplaceMechanism(0.5)), games=4000, rng=rng)
    for world in (result.zero, result.one):
        assert world.walks.shape == (500, 31)
        part = world.martingale[:, -1]
        assert abs(part.mean()) < 5 * part.std() / math.sqrt(len(part))


@dataclass(frozen=True)
class Growing:
    """Asks about ever larger gaps in the games whose answers are large."""

    mechanism: object

    def batch(self, view):
        if not view.left:
            return None
        if view.last is None:
            return Challenge(self.mechanism, 0.0, 0.5)
        return Challenge(self.mechanism, 0.0, np.where(view.last > 0, 1.0, 0.25))


def test_the_drift_is_that_of_each_game(rng):
    mechanism = dp.GaussianMechanism(1.0)
    result = Game(rounds=3).simulate(Growing(mechanism), games=2000, rng=rng)
    allowed = {0.5**2 / 2 + (a**2 + b**2) / 2 for a in (0.25, 1) for b in (0.25, 1)}
    found = set(np.round(result.zero.drifts[:, -1], 12).tolist())
    assert found == {round(v, 12) for v in allowed}
    part = result.zero.martingale[:, -1]
    assert abs(part.mean()) < 5 * part.std() / math.sqrt(len(part))


def test_results_know_the_composition_bounds():
    game = Game(4, dp.PureDP(math.log(3), adjacency=dp.REPLACE_ONE))
    table = game.exact(repeat(RR3)).bounds(1e-3)
    assert table["basic"].epsilon == pytest.approx(4 * math.log(3))
    assert game.exact(repeat(RR3)).loss.epsilon(1e-3) <= table["exact"].epsilon + 1e-9
    with pytest.raises(dp.BadInput, match=r"family = None .*guarantee"):
        Game(4).bounds(1e-3)


def test_workers_do_not_change_the_result():
    game, adversary = Game(rounds=5), Chasing(dp.LaplaceMechanism(0.5))
    alone = game.simulate(adversary, games=100_000, rng=np.random.default_rng(3))
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2) as processes:
        for executor in (threads, processes):
            other = game.simulate(adversary, games=100_000, rng=np.random.default_rng(3), executor=executor)
            np.testing.assert_array_equal(alone.zero.losses, other.zero.losses)
            np.testing.assert_array_equal(alone.one.guesses, other.one.guesses)


def test_progress_is_shown_on_request(rng, capsys):
    Game(rounds=2).simulate(Chasing(dp.LaplaceMechanism(1.0)), games=1000, rng=rng, progress=True)
    assert "games" in capsys.readouterr().err


# Filters and odometers ------------------------------------------------------------------------------


def test_filters_charge_before_answering_and_refusals_are_free():
    budget = PureFilter(0.3)
    assert budget.refuses([dp.PureDP(0.1)] * 2, dp.PureDP(0.1)) == ""  # three times .1 fits into .3
    assert "does not fit" in budget.refuses([dp.PureDP(0.1)] * 3, dp.PureDP(0.1))
    agent = PureFilter(1.0)
    charges = [dp.PureDP(0.01), dp.PureDP(0.1)]
    assert agent.refuses(charges, dp.PureDP(1.0))
    assert agent.refuses(charges, dp.PureDP(0.89)) == ""


def test_a_refused_query_gets_no_answer_and_costs_a_round_only(rng):
    def greedy(view):
        return Challenge(dp.LaplaceMechanism(0.6), 0, 1) if view.left else None

    view = Game(rounds=3, filter=PureFilter(1.0)).play(greedy, 0, rng).transcript
    assert [isinstance(y, Refused) for y in view.answers] == [False, True, True]
    assert len(view.charges) == 1
    assert "spent" in view.answers[1].reason


def test_filters_of_every_kind():
    advanced = ApproxFilter(1.0, 1e-6)
    steps = [dp.PureDP(0.01)]
    many = 0
    while not advanced.refuses(steps * many, dp.PureDP(0.01)):
        many += 1
    assert 300 < many < 400  # 1/(.01 sqrt(2 ln(2e6))) squared, less the mean term
    assert ApproxFilter(1.0, 1e-6, rule="basic").refuses(steps * 100, dp.PureDP(0.01))
    assert ZCDPFilter(0.5).refuses([dp.ZCDP(0.25)], dp.ZCDP(0.25)) == ""
    assert ZCDPFilter(0.5).refuses([dp.ZCDP(0.25)], dp.ZCDP(0.3))
    curve = RDPFilter(lambda order: 0.5 * order)
    assert curve.refuses([dp.GDP(0.5)] * 3, dp.GDP(0.5)) == ""
    assert curve.refuses([dp.GDP(0.5)] * 4, dp.GDP(0.5))
    assert curve.guarantee.curve(2.5) == pytest.approx(1.5)
    assert curve.guarantee.curve(100.0) == math.inf
    assert advanced.refuses([dp.ApproxDP(0.01, 4e-7)], dp.ApproxDP(0.01, 4e-7))


def test_check_after_overdraws():
    """Costs 1, 2, 3 and a budget of 3: spend 2, then 3, and the loss reaches 5."""
    unsound = CheckAfterFilter(3.0, **LOCAL)
    menu = [dp.RandomizedResponse(float(e)) for e in (2, 3)]

    def overdraw(view):
        return Challenge(menu[len(view)], 0, 1) if view.left else None

    assert Game(rounds=2, filter=unsound).exact(overdraw).loss.max_divergence() == pytest.approx(5)
    sound = Game(rounds=2, filter=PureFilter(3.0, **LOCAL)).exact(overdraw)
    assert sound.loss.max_divergence() == pytest.approx(2)


def test_composition_of_the_realised_sequence_is_no_filter():
    unsound = RealisedCompositionFilter(math.log(1.5), 3 / 8, **LOCAL)

    result = Game(rounds=3, filter=unsound).exact(by_first_answer)
    assert not any(isinstance(y, Refused) for view in result.views for row in view for y in row)
    assert result.loss.hockey_stick(Fraction(3, 2)) == Fraction(89, 216)
    assert result.delta(math.log(1.5)) > 3 / 8


def test_odometers_hold_at_all_times(rng):
    """The share of games whose loss ever passes the reading is at most delta."""
    delta, k, n = 0.05, 200, 4000
    mechanism = dp.LaplaceMechanism(0.2)
    odometer = Odometer(delta, around=k / 2 * mechanism.guarantee.to(dp.ZCDP).rho)
    walks = mechanism.worst_case().sample(rng, (n, k)).cumsum(axis=1)
    readings = np.array([odometer.reading([mechanism.guarantee] * t) for t in range(1, k + 1)])
    assert np.mean(np.any(walks > readings, axis=1)) <= delta
    assert pure_reading([dp.PureDP(0.1), dp.PureDP(0.2)]) == pytest.approx(0.3)
    assert odometer.reading([]) == 0


# Fouls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "adversary", "message"),
    [
        (Game(2), repeat(dp.LaplaceMechanism(1.0), 0, 2), r"round 1: \(left, right\).*neighbours.*one row"),
        (Game(2), repeat(dp.LaplaceMechanism(1.0, query=len), 0, 1), "round 1: the inputs are no data"),
        (Game(2, dp.PureDP(0.5)), repeat(dp.LaplaceMechanism(1.0)), "round 1: mechanism = .*in the family"),
        (Game(2, [RR2]), repeat(RR3), "round 1: mechanism = .*family"),
        (Game(2, lambda m: False), repeat(RR3), "round 1: mechanism"),
        (Game(2), lambda view: Challenge(RR2, 0, 1), "round 3: move = .*guess or None after 2 rounds"),
        (Game(2), lambda view: "hello", "round 1: move = 'hello' .*Challenge"),
        (Game(2), lambda view: Guess(7), "round 1: guess = 7 .*0 or 1"),
        (Game(2), lambda view: 1 / 0, "round 1: the adversary raised ZeroDivisionError"),
        (Game(2), lambda view: Ask(0, None), "round 1: session = 0 .*Open"),
    ],
)
def test_fouls_name_the_round_and_keep_the_transcript(game, adversary, message, rng):
    with pytest.raises(GameError, match=message) as caught:
        game.play(adversary, 0, rng)
    assert caught.value.transcript.left <= game.rounds


def test_fouls_late_in_a_game_keep_what_happened(rng):
    def late(view):
        return Challenge(RR2, 0, 1) if len(view) < 3 else Challenge(RR2, 0, "x")

    with pytest.raises(GameError, match="round 4") as caught:
        Game(5).play(late, 0, rng)
    assert len(caught.value.transcript) == 3


def test_families_by_promise(rng):
    family = Game(1, dp.ApproxDP(1.0, 1e-5))
    assert family.play(repeat(dp.LaplaceMechanism(0.5)), 0, rng).transcript
    with pytest.raises(GameError, match="family"):
        family.play(repeat(dp.RandomizedResponse(0.5)), 0, rng)  # another adjacency


@dataclass(frozen=True)
class Batch:
    move: object

    def batch(self, view):
        return self.move


@pytest.mark.parametrize(
    ("game", "move", "message"),
    [
        (Game(2), Challenge(dp.LaplaceMechanism(1.0), 0.0, np.full(50, 1.5)), "round 1: .*neighbours"),
        (Game(2), Challenge(RR2, 0, 1), "round 3: the game has only 2 rounds"),
        (Game(2), [(np.ones(50, dtype=bool), 3)], "round 1: move = 3"),
        (
            Game(2, filter=PureFilter(1.0)),
            Challenge(dp.LaplaceMechanism(0.7), 0, 1),
            "round 2: PureFilter.*refuses",
        ),
    ],
)
def test_fouls_in_bulk(game, move, message, rng):
    with pytest.raises(GameError, match=message):
        game.simulate(Batch(move), games=100, rng=rng)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda rng: Game(0), "rounds = 0"),
        (lambda rng: Game(2).play(repeat(RR2), 2, rng), "bit = 2"),
        (lambda rng: Game(2).simulate(repeat(RR2), games=1, rng=rng), "games = 1"),
        (lambda rng: Game(2).exact(repeat(dp.LaplaceMechanism(1.0))), "finite.*simulate"),
        (lambda rng: play_exactly(Game(20), repeat(RR2), most_views=100), "views.*optimal_adversary"),
        (lambda rng: PureFilter(0), "epsilon = 0"),
        (lambda rng: ApproxFilter(1, 0), "delta = 0"),
        (lambda rng: ApproxFilter(1, 0.1, rule="best"), "rule = 'best'"),
        (lambda rng: ZCDPFilter(-1), "rho = -1"),
        (lambda rng: Odometer(0), "delta = 0"),
        (lambda rng: PureFilter(1).refuses([], RR2.guarantee), "replace-one"),
        (lambda rng: PureFilter(1).refuses([], dp.GDP(1)), "implied by GDP"),
        (
            lambda rng: Game(2, filter=CheckAfterFilter(1.0)).simulate(
                Chasing(dp.LaplaceMechanism(1.0)), games=100, rng=rng
            ),
            "costs add up",
        ),
        (lambda rng: LaplaceAnswerer(1.0, 0), "queries = 0"),
        (lambda rng: NoisyGate(0), "epsilon = 0"),
    ],
)
def test_bad_input_is_explained(make, message, rng):
    with pytest.raises(dp.BadInput, match=message):
        make(rng)


def test_laws_for_arrays_of_inputs():
    batch = RR3.laws(np.array([0, 1, 1]))
    np.testing.assert_allclose(batch.prob(np.array([0, 0, 1])), [0.75, 0.25, 0.75])
    with pytest.raises(dp.BadInput, match="without a query"):
        dp.LaplaceMechanism(1.0, query=len).laws(np.zeros(3))
    with pytest.raises(dp.BadInput, match="common outcomes"):
        dp.Custom(laws.Point, dp.PureDP(1)).laws(np.arange(2))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Dask's own shutdown, not of ours
def test_a_dask_cluster_plays_the_same_games():
    distributed = pytest.importorskip("distributed")
    game, adversary = Game(rounds=5), Chasing(dp.LaplaceMechanism(0.5))
    alone = game.simulate(adversary, games=200_000, rng=np.random.default_rng(3))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        other = game.simulate(adversary, games=200_000, rng=np.random.default_rng(3), executor=client)
    np.testing.assert_array_equal(alone.zero.losses, other.zero.losses)
    np.testing.assert_array_equal(alone.one.guesses, other.one.guesses)
