"""coins: the law found by walking all branches is the law computed by hand."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcourse import coins
from dpcourse.coins import UNFINISHED, Coins, distribution
from dpcourse.errors import BadInput

untimed = settings(deadline=None)  # a busy machine is no failure
HALF = Fraction(1, 2)
unit = st.fractions(0, 1, max_denominator=12)


# Random programs: a tree is an outcome, or (how it draws, probabilities, the trees that follow).
def weighted(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def fork(trees: list[Any]) -> st.SearchStrategy[Any]:
        n = len(trees)
        parts = st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any)
        shares = parts.map(lambda w: [Fraction(v, sum(w)) for v in w])
        return st.tuples(st.just("choice"), shares, st.just(trees))

    coin = unit.map(lambda p: [1 - p, p])
    two = st.lists(children, min_size=2, max_size=2)
    return st.one_of(
        st.tuples(st.just("flip"), coin, two),
        st.lists(children, min_size=1, max_size=4).flatmap(fork),
        st.lists(children, min_size=1, max_size=4).map(
            lambda trees: ("integer", [Fraction(1, len(trees))] * len(trees), trees)
        ),
    )


trees = st.recursive(st.integers(0, 3), weighted, max_leaves=20)


def walk(source: Coins, tree: Any, nested: bool = False, number: Any = Fraction) -> Any:
    """The program that a tree describes; `nested` makes each subtree one draw."""
    if isinstance(tree, int):
        return tree
    how, probs, below = tree
    if how == "flip":
        index = int(source.flip(number(probs[1])))
    elif how == "integer":
        index = source.integer(len(below))
    else:
        index = source.choice([number(p) for p in probs])
    if nested:
        return source.draw(walk, below[index], True, number)
    return walk(source, below[index], False, number)


def by_hand(tree: Any) -> Counter[int]:
    if isinstance(tree, int):
        return Counter({tree: Fraction(1)})
    total: Counter[int] = Counter()
    for p, below in zip(tree[1], tree[2], strict=True):
        for y, q in by_hand(below).items():
            total[y] += p * q
    return Counter({y: p for y, p in total.items() if p})


@untimed
@given(trees, st.booleans())
def test_random_programs_have_the_law_computed_by_hand(tree: Any, nested: bool) -> None:
    found = distribution(walk, tree, nested)
    assert found == dict(by_hand(tree))
    assert all(isinstance(p, Fraction) for p in found.values())


@untimed
@given(trees)
def test_floats_give_floats_close_to_the_fractions(tree: Any) -> None:
    found = distribution(walk, tree, False, float)
    exact = by_hand(tree)
    assert found.keys() == exact.keys()
    assert all(math.isclose(p, exact[y], rel_tol=1e-12) for y, p in found.items())


@untimed
@given(trees, unit)
def test_what_a_tail_cuts_off_is_accounted_for(tree: Any, tail: Fraction) -> None:
    found, exact = distribution(walk, tree, tail=tail), by_hand(tree)
    assert sum(found.values()) == 1
    assert found.pop(UNFINISHED, 0) <= tail
    assert all(0 < p <= exact[y] for y, p in found.items())


@untimed
@given(trees, st.integers(0, 2**32))
def test_a_sampled_outcome_is_a_possible_outcome(tree: Any, seed: int) -> None:
    assert walk(coins.Random(np.random.default_rng(seed)), tree) in by_hand(tree)


def two_coins(source: Coins, truth: bool) -> bool:
    return truth if source.flip() else source.flip()


def reused_coin(source: Coins, truth: bool) -> bool:
    heads = source.flip()
    return heads or truth  # on heads the second coin is the first one: always yes


def test_randomized_response_with_two_coins() -> None:
    assert distribution(two_coins, True) == {True: Fraction(3, 4), False: Fraction(1, 4)}
    assert distribution(two_coins, False) == {True: Fraction(1, 4), False: Fraction(3, 4)}


def test_randomized_response_that_reuses_its_coin_gives_the_truth_away() -> None:
    assert distribution(reused_coin, True) == {True: 1}
    assert distribution(reused_coin, False) == {True: HALF, False: HALF}


def test_the_debiased_count_is_unbiased_over_all_coins() -> None:
    def estimate(source: Coins, truths: tuple[bool, ...]) -> Fraction:
        yes = sum(two_coins(source, truth) for truth in truths)
        return 2 * yes - Fraction(len(truths), 2)

    found = distribution(estimate, (True, True, False, True))
    assert sum(y * p for y, p in found.items()) == 3


@untimed
@given(unit.filter(lambda p: 0 < p < 1), st.integers(1, 12))
def test_geometric(p: Fraction, bits: int) -> None:
    def geometric(source: Coins) -> int:
        return next(k for k in itertools.count() if source.flip(p))

    tail = max(Fraction(1, 2**bits), (1 - p) ** 40)
    found = distribution(geometric, tail=tail)
    left = found.pop(UNFINISHED)
    assert left <= tail
    assert found == {k: (1 - p) ** k * p for k in range(len(found))}
    assert left == (1 - p) ** len(found)  # the closed form of the mass cut off, to the last digit


def pair(source: Coins, p: Fraction) -> bool | None:
    first, second = source.flip(p), source.flip(p)
    return None if first == second else first


def fair_from_unfair(source: Coins, p: Fraction) -> bool:
    """Von Neumann 1951; each round is one draw, so that equal pairs are one branch."""
    while (bit := source.draw(pair, p)) is None:
        pass
    return bool(bit)


@pytest.mark.parametrize("p", [HALF, Fraction(1, 3), Fraction(9, 10)])
def test_von_neumann_makes_an_unfair_coin_fair(p: Fraction) -> None:
    tail = Fraction(1, 2**20)
    found = distribution(fair_from_unfair, p, tail=tail)
    again = p**2 + (1 - p) ** 2
    rounds = next(k for k in itertools.count() if again**k <= tail)
    assert found[UNFINISHED] == again**rounds
    assert found[True] == found[False] == (1 - again**rounds) / 2


def test_von_neumann_flip_by_flip_has_many_branches_and_the_same_law() -> None:
    def flip_by_flip(source: Coins) -> bool:
        while (bit := pair(source, HALF)) is None:
            pass
        return bool(bit)

    assert distribution(flip_by_flip, tail=Fraction(1, 64))[UNFINISHED] == Fraction(1, 64)


def test_one_float_makes_the_law_float_and_tails_still_count() -> None:
    def program(source: Coins) -> int:
        return source.integer(2) if source.flip(0.25) else 5 + source.integer(2)

    assert distribution(program) == {5: 0.375, 6: 0.375, 0: 0.125, 1: 0.125}
    cut = distribution(program, tail=0.25)
    assert cut == {5: 0.375, 6: 0.375, UNFINISHED: 0.25}
    assert all(isinstance(p, float) for p in cut.values())


def test_whole_and_numpy_probabilities() -> None:
    assert distribution(lambda c: c.flip(np.int64(1))) == {True: Fraction(1)}
    assert distribution(lambda c: c.flip(np.float64(0.5))) == {False: 0.5, True: 0.5}
    assert distribution(lambda c: c.choice(np.array([0.25, 0.75]), "ab")) == {"b": 0.75, "a": 0.25}
    assert distribution(lambda c: c.integer(np.int8(100)) < 50) == {True: HALF, False: HALF}
    assert distribution(lambda c: 7) == {7: 1}


def test_impossible_branches_are_not_explored() -> None:
    def program(source: Coins) -> int:
        if source.flip(0) or source.choice([1, 0], ["possible", "never"]) == "never":
            raise AssertionError("unreachable")
        return 1

    assert distribution(program) == {1: 1}


def test_an_error_of_the_program_is_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        distribution(lambda c: 1 / c.flip())


def test_a_program_may_catch_its_own_exceptions() -> None:
    def program(source: Coins) -> str:
        try:
            return "heads" if source.flip() else str(1 / 0)
        except Exception:
            return "caught"

    assert distribution(program) == {"heads": HALF, "caught": HALF}


def test_unfinished_is_one_object_with_a_name() -> None:
    assert repr(UNFINISHED) == "UNFINISHED"
    assert pickle.loads(pickle.dumps(UNFINISHED)) is UNFINISHED
    assert copy.deepcopy(UNFINISHED) is UNFINISHED


def test_law_is_the_finite_law() -> None:
    law = coins.law(two_coins, True)
    assert law.exact
    assert law.prob(True) == Fraction(3, 4)
    cut = coins.law(fair_from_unfair, HALF, tail=Fraction(1, 8))
    assert cut.prob(UNFINISHED) == Fraction(1, 8)


# Real coins.


def test_frequencies_of_real_coins_fit_the_law() -> None:
    def program(source: Coins) -> tuple[Any, ...]:
        third, big = Fraction(1, 3), 3 * 2**70  # more than 64 bits in one draw
        return source.flip(third), source.choice([0.2, 0.8], "ab"), source.integer(big) >= big // 3

    shares: dict[Any, Any] = {True: Fraction(1, 3), False: Fraction(2, 3), "a": 0.2, "b": 0.8}
    source, n = coins.Random(np.random.default_rng(5)), 20_000
    counts = Counter(program(source) for _ in range(n))
    slack = math.sqrt(math.log(2 * 8 * 10**6) / (2 * n))  # Hoeffding: one false alarm in a million
    for flip, letter, high in itertools.product((True, False), "ab", (True, False)):
        expected = shares[flip] * shares[letter] * (shares[False] if high else shares[True])
        assert abs(counts[flip, letter, high] / n - expected) < slack


def test_real_coins_never_give_the_impossible() -> None:
    source = coins.Random(np.random.default_rng(0))
    draws = {(source.flip(0), source.flip(1.0), source.choice([0, 1, 0])) for _ in range(200)}
    assert draws == {(False, True, 1)}
    assert {source.integer(1) for _ in range(9)} == {0}
    assert {source.integer(3) for _ in range(99)} == {0, 1, 2}


class Ones(np.random.Generator):
    """A generator whose bits are all 1, to reach the end of a list that sums to 1 - 1e-13."""

    def bytes(self, length: int) -> bytes:
        return b"\xff" * length


def test_a_sum_below_one_by_rounding_still_gives_a_possible_value() -> None:
    source = coins.Random(Ones(np.random.PCG64(0)))
    assert source.choice([0, 0.5, 0.5 - 1e-13, 0]) in {1, 2}


# Messages.


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda c: c.flip(1.5), r"p = 1.5 breaks a rule: it must be a probability from 0 to 1"),
        (lambda c: c.flip(Fraction(-1, 10**30)), r"p = -1/10+ breaks a rule"),
        (lambda c: c.flip(1 + Fraction(1, 10**30)), r"p = 10+1/10+ breaks a rule"),
        (lambda c: c.flip(math.nan), r"p = nan .* Fix: give a number such as Fraction\(1, 4\)"),
        (lambda c: c.flip("heads"), r"p = 'heads' breaks a rule"),
        (lambda c: c.flip([0.5]), r"p = \[0.5\] breaks a rule"),
        (lambda c: c.choice([HALF, Fraction(1, 3)]), r"Fraction\(1, 3\)\) .* of sum 1, not 5/6"),
        (lambda c: c.choice([0.5, 0.6]), r"of sum 1, not 1.1\. Fix: divide each by their sum"),
        (lambda c: c.choice([]), r"probs = \(\) .* of sum 1, not 0"),
        (lambda c: c.choice([2, -1]), r"probs = 2 breaks a rule: it must be a probability"),
        (lambda c: c.choice([HALF, HALF], "abc"), r"values = 'abc' .* as long as probs, 2"),
        (lambda c: c.integer(0), r"n = 0 breaks a rule: it must be a whole number of at least 1"),
        (lambda c: c.integer(2.0), r"n = 2.0 breaks a rule"),
        (lambda c: c.integer(10**9), r"n = 1000000000 .* at most 1000000 to try every value"),
        (lambda c: [c.flip()], r"outcome = \[False\] .* hashable.* Fix: return a tuple instead of"),
        (lambda c: np.arange(2), r"outcome = \[0 1\] .* tuple\(y.tolist\(\)\) instead of an array"),
        (lambda c: math.nan, r"outcome = nan .* equal to itself"),
        (lambda c: c.draw(lambda own: not c.flip()), r"Fix: draw from the first argument of the"),
    ],
)
def test_bad_programs_are_told_what_is_wrong(program: Callable[..., Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        distribution(program)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tail": -0.1}, r"tail = -0.1 breaks a rule"),
        ({"tail": math.nan}, r"tail = nan breaks a rule"),
        ({"limit": 0}, r"limit = 0 breaks a rule: it must be a whole number"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        distribution(two_coins, True, **arguments)


def test_random_wants_a_generator() -> None:
    with pytest.raises(BadInput, match=r"rng = 7 .* pass numpy.random.default_rng\(seed\)"):
        coins.Random(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [Fraction, float])
def test_a_branch_that_never_ends_needs_a_tail(number: Callable[[Fraction], Any]) -> None:
    def geometric(source: Coins) -> int:
        return next(k for k in itertools.count() if source.flip(number(HALF)))

    message = r"limit = 100 .* enough draws to end all branches \(8 ended, 3 of mass 0.00391 are open"
    with pytest.raises(BadInput, match=message + r"\)\. Fix: give a tail such as 1e-6"):
        distribution(geometric, limit=100)


def test_a_mass_that_underflows_to_zero_is_still_an_open_branch() -> None:
    def geometric(source: Coins) -> int:
        return next(k for k in itertools.count() if source.flip(1 - 1e-9))

    with pytest.raises(BadInput, match=r"of mass 0 are open"):
        distribution(geometric, limit=10_000)


def test_a_loop_on_a_sure_coin_is_found_out() -> None:
    def forever(source: Coins) -> None:
        while source.flip(1):
            pass

    with pytest.raises(BadInput, match=r"\(0 ended, 1 of mass 1 are open\)"):
        distribution(forever, tail=HALF, limit=1000)


def test_randomness_from_elsewhere_is_found_out() -> None:
    rng = np.random.default_rng(3)
    calls = itertools.count(1)

    def other_bias(source: Coins) -> bool:
        return source.flip(Fraction(1, 1 + next(calls))) and source.flip()

    def other_length(source: Coins) -> int:
        return sum(source.flip() for _ in range(3 if next(calls) % 2 else 2))

    def noisy(source: Coins) -> float:
        return source.flip() + rng.laplace()

    def no_coins(source: Coins) -> bool:
        return bool(rng.random() < 0.75)

    rule = "program = '[a-z_]+' .* a function of its coins and arguments, but "
    fix = "changed in a replay. Fix: draw all randomness from `coins`"
    for program, what in [
        (other_bias, "draw 1 of a branch "),
        (other_length, "draw . of a branch "),
        (noisy, "the outcome of a branch "),
        (no_coins, "the outcome of a branch "),
    ]:
        with pytest.raises(BadInput, match=rule + what + fix):
            distribution(program)
