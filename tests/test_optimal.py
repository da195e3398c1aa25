"""The best adversary: exact values, brute force over all trees, brackets, filters that hold or fail."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcourse.errors import BadInput
from dpcourse.game.moves import Challenge, Guess, Transcript
from dpcourse.game.optimal import best_fixed, optimal_adversary
from dpcourse.game.referee import Game, Refused
from dpcourse.game.solver.bellman import solve_on_grid
from dpcourse.game.solver.grid import Grid, Steps, spacing
from dpcourse.game.solver.ledger import open_ledger
from dpcourse.game.solver.menu import read_menu
from dpcourse.game.solver.tariff import tariff_of
from dpcourse.guarantees import ApproxDP, Guarantee, PureDP
from dpcourse.interactive.filters import ApproxFilter, Filter, PureFilter, RDPFilter, ZCDPFilter
from dpcourse.interactive.unsound import CheckAfterFilter, RealisedCompositionFilter
from dpcourse.laws import Finite
from dpcourse.mechanisms import Custom, LaplaceMechanism, RandomizedResponse, TwoCoins
from dpcourse.neighbours import REPLACE_ONE

RR = RandomizedResponse.with_odds
LOCAL = {"adjacency": REPLACE_ONE}
LN2 = math.log(2)


def challenge(p, q, claim=None):
    """A mechanism that answers 0, 1, ... with probabilities p if the bit is 0, q if it is 1."""
    laws = [Finite(tuple(range(len(p))), tuple(p)), Finite(tuple(range(len(q))), tuple(q))]
    claim = claim or PureDP(10.0, **LOCAL)
    return Challenge(Custom(lambda bit: laws[bit], claim, lambda *_: True), 0, 1)


def leak(probability):
    """Reveals the bit with this probability, and else says nothing."""
    laws = [Finite((side, None), (probability, 1 - probability)) for side in ("left", "right")]
    claim = ApproxDP(0.0, float(probability), **LOCAL)
    return Challenge(Custom(lambda bit: laws[bit], claim, lambda *_: True), 0, 1)


@dataclass(frozen=True)
class SquaresFilter(Filter):
    """Admits while the squares of the epsilons sum to at most the budget."""

    squares: float

    @property
    def guarantee(self) -> Guarantee:
        raise NotImplementedError

    def costs(self, guarantee):
        return (guarantee.to(PureDP).epsilon_0 ** 2,)

    def fits(self, spent):
        return spent[0] <= self.squares * (1 + 1e-12)


def trees(menu, rounds, admits, spent=()):
    """Every decision tree, as the list of its leaves' probabilities under both bits."""
    yield [(F(1), F(1))]
    if not rounds:
        return
    for a, item in enumerate(read_menu(menu)):
        if admits(spent, a):
            below = list(trees(menu, rounds - 1, admits, (*spent, a)))
            for choice in itertools.product(below, repeat=len(item.outcomes)):
                rows = zip(item.outcomes, choice, strict=True)
                yield [(p * u, q * v) for (_, p, q), leaves in rows for u, v in leaves]


def divergence(leaves, ratio):
    return sum((max(F(0), p - ratio * q) for p, q in leaves), F(0))


def attained(adversary, game, ratio):
    """H_eps of an adversary, by running it on every view."""

    def leaves(view, p, q):
        move = adversary(view)
        if not isinstance(move, Challenge):
            return [(p, q)]
        assert not game.refusal(move, view)
        ends = []
        for outcome, by_p, by_q in read_menu([move])[0].outcomes:
            loss = math.log(by_p / by_q) if by_p and by_q else math.inf if by_p else -math.inf
            ends += leaves(game.extended(view, move, outcome, (), loss), p * by_p, q * by_q)
        return ends

    return divergence(leaves(Transcript(left=game.rounds), F(1), F(1)), ratio)


REFERENCE = [
    ([RR(2), RR(3)], 3, PureFilter(math.log(8), **LOCAL), F(3, 2), F(89, 216), F(81, 216)),
    ([RR(2), RR(3)], 3, SquaresFilter(1.7, **LOCAL), F(3, 2), F(89, 216), F(81, 216)),
    ([RR(2), leak(F(1, 10))], 2, None, F(7, 5), F(29, 90), F(26, 90)),
    ([challenge((F(1, 2), F(1, 2)), (F(1, 4), F(3, 4))), challenge((F(3, 4), F(1, 4)), (F(1, 2), F(1, 2)))],
     3, None, F(5, 2), F(17, 128), F(1, 8)),
    ([RR(2), RR(4)], 5, SquaresFilter(5 * LN2**2, **LOCAL), 2, F(182, 405), F(2, 5)),
    ([RR(2), RR(4), RR(8)], 9, SquaresFilter(9 * LN2**2, **LOCAL), 8, F(62168, 164025), F(8, 25)),
]  # fmt: skip


@pytest.mark.parametrize(("menu", "rounds", "budget", "ratio", "adaptive", "fixed"), REFERENCE)
def test_reference_cases(menu, rounds, budget, ratio, adaptive, fixed):
    best = optimal_adversary(menu, rounds, filter=budget, ratio=ratio)
    plan = best_fixed(menu, rounds, filter=budget, ratio=ratio)
    assert (best.delta, plan.delta) == (adaptive, fixed)
    assert best.bounds == (adaptive, adaptive)
    assert "Fractions" in best.method
    game = Game(rounds, filter=budget)
    assert attained(best, game, ratio) == adaptive
    assert attained(plan, game, ratio) == fixed
    low, high = optimal_adversary(menu, rounds, math.log(ratio), budget).bounds
    assert low <= adaptive <= high < low + 1e-6
    assert best_fixed(menu, rounds, math.log(ratio), budget).delta == pytest.approx(float(fixed), abs=1e-12)


def test_the_policy_of_the_ln_8_example_and_its_tree():
    menu = {"RR(2)": RR(2), "RR(3)": RR(3)}
    best = optimal_adversary(menu, 3, filter=PureFilter(math.log(8), **LOCAL), ratio=F(3, 2))
    two, three = (item.challenge for item in read_menu(menu))
    first = Transcript(left=3)
    assert best.policy(first) == two
    charged = (two.mechanism.guarantee,)
    assert best.policy(Transcript(left=2, loss=LN2, charges=charged)) == three
    assert best.policy(Transcript(left=2, loss=-LN2, charges=charged)) == two
    assert best.policy(Transcript(left=1, loss=0.0, charges=charged * 2)) == two
    spent = (*charged, three.mechanism.guarantee)
    assert best(Transcript(left=1, loss=math.log(6), charges=spent)) == Guess(0)
    assert best(Transcript(left=1, loss=math.log(2 / 3), charges=spent)) == Guess(1)
    tree = best.tree()
    assert (tree.move, tree.value, len(tree.branches)) == ("RR(2)", F(89, 216), 2)
    assert [b.node.move for b in tree.branches] == ["RR(3)", "RR(2)"]
    assert str(tree).splitlines()[:3] == [
        "RR(2): 89/216",
        "├─ 0 (2/3 | 1/3) -> RR(3): 9/16",
        "│  ├─ 0 (3/4 | 1/4) -> guess 0: 3/4",
    ]
    assert str(best.tree(depth=1)).splitlines()[1] == "├─ 0 (2/3 | 1/3) -> RR(3) ...: 9/16"


def test_the_tree_of_a_leak_shows_what_only_one_bit_can_answer():
    best = optimal_adversary({"coin": RR(2), "leak": leak(F(1, 10))}, 2, ratio=F(7, 5))
    lines = str(best.tree()).splitlines()
    assert lines[0] == "coin: 29/90"
    assert "   ├─ 'left' (1/10 | 0) -> guess 0: 1" in lines
    assert "   └─ 'right' (0 | 1/10) -> guess 1: 0" in lines
    seen = Transcript(left=1, loss=math.inf)
    assert best.policy(seen) is None
    assert best(seen) == Guess(0)
    assert best(Transcript(left=1, loss=-math.inf)) == Guess(1)


def test_the_pure_filter_theorem_over_all_trees():
    cost = [LN2, math.log(3)]
    menu, budget = [RR(2), RR(3)], math.log(8) * (1 + 1e-12)
    every = list(trees(menu, 3, lambda spent, a: sum(cost[i] for i in (*spent, a)) <= budget))
    assert len(every) == 41
    assert max(p / q for leaves in every for p, q in leaves) == 8
    assert max(divergence(leaves, F(3, 2)) for leaves in every) == F(89, 216)
    solved = [
        optimal_adversary(menu, 3, filter=PureFilter(math.log(8), **LOCAL), ratio=r).delta
        for r in (8, F(799, 100))
    ]
    assert solved[0] == 0 < solved[1]


def random_menu(rng, size, outcomes):
    menu = []
    for _ in range(size):
        weights = [
            rng.integers(0, 6, outcomes) + (np.arange(outcomes) == rng.integers(outcomes)) for _ in "pq"
        ]
        menu.append(challenge(*([F(int(w), int(side.sum())) for w in side] for side in weights)))
    return menu


@pytest.mark.parametrize(("rounds", "size", "outcomes"), [(3, 2, 2), (2, 3, 3), (2, 2, 3), (1, 3, 4)])
def test_backward_induction_is_the_best_of_all_decision_trees(rng, rounds, size, outcomes):
    for _ in range(4):
        menu, ratio = random_menu(rng, size, outcomes), F(int(rng.integers(10, 30)), 10)
        brute = max(divergence(leaves, ratio) for leaves in trees(menu, rounds, lambda *_: True))
        best = optimal_adversary(menu, rounds, ratio=ratio)
        assert best.delta == brute
        assert attained(best, Game(rounds), ratio) == brute
        assert best_fixed(menu, rounds, ratio=ratio).delta <= brute


@settings(max_examples=25)
@given(st.data())
def test_the_bracket_of_the_grid_contains_the_exact_value(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    rounds, size = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    menu, ratio = random_menu(rng, size, 2 + size % 2), F(data.draw(st.integers(10, 40)), 10)
    exact = optimal_adversary(menu, rounds, ratio=ratio, exact=True)
    for cells in (10_000, 300_000):
        grid = optimal_adversary(menu, rounds, ratio=ratio, exact=False, cells=cells)
        assert grid.bounds[0] <= exact.delta <= grid.bounds[1] <= grid.bounds[0] + 0.05
    assert grid.bounds[1] - grid.bounds[0] < 1e-4
    assert attained(grid, Game(rounds), ratio) >= grid.bounds[0] - 1e-12


@pytest.mark.parametrize("odds", [2, F(5, 4)])
@pytest.mark.parametrize("rounds", [1, 4, 7])
def test_homogeneous_menus_gain_nothing(odds, rounds):
    """The dominating randomized response is best at every state, whatever else has the same epsilon."""
    weaker = challenge(
        (F(1, 2), F(1, 2)), (1 / (2 * F(odds)), 1 - 1 / (2 * F(odds))), PureDP(math.log(odds), **LOCAL)
    )
    best = optimal_adversary([weaker, RR(odds)], rounds, ratio=F(3, 2))
    assert (
        best.delta == binomial(odds, rounds, F(3, 2)) == best_fixed([RR(odds)], rounds, ratio=F(3, 2)).delta
    )


def binomial(odds, rounds, ratio):
    p, total = F(odds) / (odds + 1), F(0)
    for i in range(rounds + 1):
        up, down = p**i * (1 - p) ** (rounds - i), p ** (rounds - i) * (1 - p) ** i
        total += math.comb(rounds, i) * max(F(0), up - ratio * down)
    return total


def test_a_hundred_rounds_of_one_coin_are_the_binomial():
    truth = binomial(F(6, 5), 100, F(5, 2))
    low, high = optimal_adversary([RR(F(6, 5))], 100, ratio=F(5, 2), exact=False).bounds
    assert low <= truth <= high < low + 1e-11
    assert optimal_adversary([RR(F(6, 5))], 100, ratio=F(5, 2)).delta == truth


MENUS = st.lists(st.floats(0.05, 1.2), min_size=1, max_size=3, unique=True)


@settings(max_examples=20)
@given(MENUS, st.integers(1, 5), st.floats(0.3, 2.5))
def test_the_pure_filter_is_never_beaten(menu, rounds, budget):
    menu = [RandomizedResponse(e) for e in menu]
    keep = PureFilter(budget, **LOCAL)
    assert optimal_adversary(menu, rounds, keep.guarantee.epsilon(0), keep, cells=10**6).delta == 0
    for epsilon in (0.0, budget / 3, 0.8 * budget):
        never_beaten(menu, rounds, keep, epsilon)


@settings(max_examples=20)
@given(MENUS, st.integers(1, 5), st.floats(0.02, 1.0), st.sampled_from([0.0, 0.01]))
def test_other_sound_filters_are_never_beaten(menu, rounds, budget, leaked):
    menu = [RandomizedResponse(e) for e in menu]
    for epsilon in (0.1, 0.5, 1.5):
        never_beaten(menu, rounds, ZCDPFilter(budget, **LOCAL), epsilon)
        never_beaten(menu, rounds, RDPFilter(lambda a: budget * a, **LOCAL), epsilon)
    if leaked:
        menu.append(leak(F(1, 100)))
    for rule in ("advanced", "basic"):
        for epsilon in (budget, 3 * budget):
            never_beaten(menu, rounds, ApproxFilter(3 * budget, 0.03, rule, **LOCAL), epsilon)


def never_beaten(menu, rounds, keep, epsilon):
    low, high = optimal_adversary(menu, rounds, epsilon, keep, cells=10**6).bounds
    promised = keep.guarantee.delta(epsilon)
    assert low <= promised * (1 + 1e-9)
    assert high <= promised + 1e-5


def test_unsound_filters_are_beaten():
    menu = [RR(2), RR(4), RR(8)]
    after = CheckAfterFilter(3 * LN2, **LOCAL)
    assert optimal_adversary(menu, 3, filter=after, ratio=8).delta > 0  # it promises 0
    assert optimal_adversary(menu, 3, filter=after, ratio=F(319, 10)).delta > 0
    assert optimal_adversary(menu, 3, filter=after, ratio=32).delta == 0  # the loss reaches 5 ln 2, no more
    assert optimal_adversary(menu, 3, filter=PureFilter(3 * LN2, **LOCAL), ratio=8).delta == 0
    realised = RealisedCompositionFilter(math.log(3 / 2), 3 / 8, **LOCAL)
    best = optimal_adversary([RR(2), RR(3)], 3, filter=realised, ratio=F(3, 2))
    assert best.delta == F(89, 216) > realised.guarantee.delta(math.log(3 / 2))
    assert best_fixed([RR(2), RR(3)], 3, filter=realised, ratio=F(3, 2)).delta == F(3, 8)
    assert attained(best, Game(3, filter=realised), F(3, 2)) == F(89, 216)


HUNDRED = [RandomizedResponse(e) for e in (0.1, 0.2, 0.3, 0.4)]
ODD = [RandomizedResponse(e) for e in (0.1, 0.1 * math.sqrt(2), 0.1 * math.pi, 0.389)]


@pytest.mark.parametrize(("menu", "width"), [(HUNDRED, 1e-10), (ODD, 1.5e-4)])
def test_a_hundred_rounds_under_a_zcdp_filter(menu, width):
    keep = ZCDPFilter(0.5, **LOCAL)
    best = optimal_adversary(menu, 100, 1.0, keep)
    low, high = best.bounds
    assert low <= high <= low + width
    assert 0.139 < low < high < keep.guarantee.delta(1.0)
    for bit in (0, 1):
        played = Game(100, filter=keep).play(best, bit, np.random.default_rng(bit))
        assert not any(isinstance(r.answer, Refused) for r in played.transcript.rounds)
        assert played.guess is not None


def test_rounded_prices_give_a_wider_bracket_around_the_same_value():
    keep, menu = ZCDPFilter(0.4, **LOCAL), HUNDRED
    exact = optimal_adversary(menu, 40, 1.0, keep)
    assert "rounded" not in exact.method
    rounded = optimal_adversary(menu, 40, 1.0, keep, cells=400_000)
    assert "rounded" in rounded.method
    assert (
        rounded.bounds[0]
        <= exact.bounds[0]
        < exact.bounds[1]
        <= rounded.bounds[1]
        <= rounded.bounds[0] + 0.02
    )
    view = Game(40, filter=keep).play(rounded, 0, np.random.default_rng(3)).transcript
    assert not any(isinstance(r.answer, Refused) for r in view.rounds)


def test_rounded_prices_are_on_the_right_side_of_the_true_ones():
    guarantees = [m.guarantee for m in ODD]
    tariff = tariff_of(ZCDPFilter(2.0, **LOCAL), guarantees, 100)
    for size in (250, 1000, 4000):
        down, up = (tariff.rounded(size, side) for side in (False, True))
        costs = [tariff.filter.costs(g)[0] for g in guarantees]
        for cost, add in zip(costs, down.adds, strict=True):
            lower, upper = (t.flat + t.prices[0, 0] * add for t in (down, up))
            assert lower <= cost <= upper < lower + 2.0 / size


def test_a_budget_that_cannot_run_out_has_one_state_a_level():
    guarantees = [m.guarantee for m in HUNDRED]
    assert (
        open_ledger(tariff_of(ZCDPFilter(20.0, **LOCAL), guarantees, 100), guarantees, 100, 1000).size == 101
    )
    none = optimal_adversary(HUNDRED, 100, 1.0)
    loose = optimal_adversary(HUNDRED, 100, 1.0, ZCDPFilter(20.0, **LOCAL))
    only = optimal_adversary(HUNDRED[-1:], 100, 1.0)  # the strongest coin dominates
    assert none.bounds == loose.bounds
    assert none.delta == pytest.approx(only.delta, abs=1e-11)


def test_a_filter_that_admits_nothing_leaves_the_trivial_value():
    none = optimal_adversary(HUNDRED, 5, 0.3, PureFilter(0.05, **LOCAL))
    assert none.bounds == (0, 0)
    assert none(Transcript(left=5)) == Guess(1)
    assert optimal_adversary([leak(F(99, 100))], 3, 0.3).bounds == pytest.approx(
        (1 - 1e-6, 1 - 1e-6), abs=1e-6
    )


def test_a_tiny_loss_and_a_huge_one_share_a_grid():
    menu = [
        challenge((F(1, 2), F(1, 2)), (F(49, 100), F(51, 100))),
        challenge((F(1, 10**9), 1 - F(1, 10**9)), (F(1, 2), F(1, 2))),
    ]
    exact = optimal_adversary(menu, 3, ratio=F(11, 10))
    low, high = optimal_adversary(menu, 3, ratio=F(11, 10), exact=False, cells=200_000).bounds
    assert low <= exact.delta <= high <= low + 1e-3


def test_spacing_finds_common_units_and_near_misses():
    assert spacing(np.array([0.3, 0.45]), 10.0, 1000) == (pytest.approx(0.15), True)
    losses = np.array([0.1, 0.1 * math.sqrt(2)])
    step, lattice = spacing(losses, 10.0, 1000)
    assert not lattice
    assert 0.01 <= step <= 0.015
    assert np.abs(losses / step - np.round(losses / step)).max() < 0.1


def test_chords_keep_the_mean_of_g():
    item = read_menu([RandomizedResponse(0.37)])[0]
    grid = Grid(1.0, 0.1, 50, 100, False)
    taps = grid.taps(Steps.of(item))
    assert sum(taps.shifts.values()) == pytest.approx(1)
    assert sum(w * math.exp(0.1 * s) for s, w in taps.shifts.items()) == pytest.approx(1)  # E_P[Q/P]


def test_two_coins_and_names():
    assert optimal_adversary([TwoCoins()], 2, ratio=2).delta == binomial(3, 2, 2)
    assert [i.name for i in read_menu({"a": RR(2), "b": TwoCoins()})] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 3, 1.0), "menu = [] breaks a rule: it must be at least one challenge"),
        (([RR(2)] * 101, 3, 1.0), "menu = '101 entries' breaks a rule: it must be at most 100 long"),
        (([LaplaceMechanism(1.0)], 3, 1.0), r"must be a challenge, or a RandomizedResponse or TwoCoins"),
        (([Challenge(LaplaceMechanism(1.0), 0, 1)], 3, 1.0), "must be a mechanism with finite laws"),
        (([RR(2)], 0, 1.0), "rounds = 0 breaks a rule: it must be a whole number of at least 1"),
        (([RR(2)], 3, -1.0), "epsilon = -1.0 breaks a rule: it must be a number of at least 0"),
        (([RR(2)], 3), "threshold = 'epsilon None, ratio None' breaks a rule: it must be epsilon or ratio"),
        (([RR(2)], 3, 1.0, None, True), "exact = True breaks a rule: it must be False unless the ratio"),
        (([RR(2)], 3, 1.0, PureFilter(1.0)), "adjacency"),
        (([RR(2), leak(F(1, 2))], 3, 1.0, PureFilter(1.0, **LOCAL)), "implied by ApproxDP"),
    ],
)
def test_bad_input_is_refused_with_a_message(arguments, message):
    with pytest.raises(BadInput) as error:
        optimal_adversary(*arguments)
    assert message in str(error.value)


def test_bad_thresholds_views_and_sizes_are_refused_with_a_message():
    with pytest.raises(BadInput, match=r"ratio = 1.5 breaks a rule: .* Fix: write Fraction\(3, 2\)"):
        optimal_adversary([RR(2)], 3, ratio=1.5)
    with pytest.raises(BadInput, match=r"must be in Fractions to draw a tree. Fix: give exact laws"):
        optimal_adversary([RandomizedResponse(0.5)], 3, 1.0).tree()
    best = optimal_adversary([RR(2), RR(3)], 3, filter=PureFilter(2.0, **LOCAL), ratio=2)
    with pytest.raises(BadInput, match=r"view.left = 4 breaks a rule: it must be at most 3"):
        best(Transcript(left=4))
    with pytest.raises(BadInput, match=r"must be that of a query on the optimal adversary's menu"):
        best(Transcript(left=2, charges=(PureDP(0.123, **LOCAL),)))
    with pytest.raises(
        BadInput, match=r"must be a state of the solved game. Fix: play a game with the rounds"
    ):
        best(Transcript(left=2))
    with pytest.raises(BadInput, match=r"must be few enough to try all plans"):
        best_fixed(HUNDRED, 100, 1.0)
    many = [RandomizedResponse(0.1 + i * 0.013) for i in range(8)]
    with pytest.raises(BadInput, match=r"must be few enough for RDPFilter"):
        optimal_adversary(many, 100, 1.0, RDPFilter(lambda a: 0.5 * a, **LOCAL), cells=10**6)
    with pytest.raises(
        BadInput, match=r"kinds of charges in 100 rounds' breaks a rule: it must be of fewer kinds"
    ):
        solve_on_grid(
            read_menu([RandomizedResponse(0.1 + i / 7) for i in range(12)]),
            100,
            PureFilter(1.0, **LOCAL),
            1.0,
            10**6,
        )
