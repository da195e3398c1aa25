"""The game table without a browser: its rules, exact numbers and actions, and that it keeps the secret."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import BadInput, explore
from dpcourse.audit import clopper_pearson
from dpcourse.game import Transcript
from dpcourse.widgets.game_table import picture, rules, state
from dpcourse.widgets.game_table.rules import BEST, FIXED, STRATEGIES, TABLES
from dpcourse.widgets.game_table.state import ADVICE, AGAIN, ASK_A, ASK_B, BUTTONS, MANY, ONE, ZERO, Table

presses = st.lists(st.sampled_from(BUTTONS), max_size=14).map(tuple)
names = st.sampled_from(list(TABLES))


def start(name: str) -> Transcript:
    return Transcript(left=TABLES[name].rounds)


@pytest.mark.parametrize(
    ("name", "best", "fixed"),
    [  # prior (1-p) + p delta, with delta = 89/216, 81/216; 29/90, 26/90; 17/128, 1/8
        ("two coins, one budget", Fraction(413, 540), Fraction(3, 4)),
        ("a coin or a leak", Fraction(155, 216), Fraction(19, 27)),
        ("two one-sided hints", Fraction(337, 448), Fraction(3, 4)),
        ("one coin, four times", Fraction(20, 27), Fraction(20, 27)),
    ],
)
def test_chances_to_win_are_those_of_the_solved_games(name: str, best: Fraction, fixed: Fraction) -> None:
    table = TABLES[name]
    assert table.chance(BEST) == table.value(start(name)) == best
    assert table.chance(FIXED) == fixed
    assert table.chance(BEST) == (1 - table.prior) + table.prior * table.best.delta
    assert all(table.chance(rules.AT_ONCE) <= table.chance(other) <= best for other in STRATEGIES)


def by_hand(table: rules.Rules, view: Transcript) -> Fraction:
    """The best chance to win by trying every question in every state: no solver, no advice."""
    p = table.posterior(view)
    chances = [max(p, 1 - p)]
    for name in table.admitted(view):
        after = [(w, table.after(view, name, y)) for y, w in table.answers(view, name) if w]
        chances.append(sum((w * by_hand(table, v) for w, v in after), Fraction(0)))
    return max(chances)


@pytest.mark.parametrize("name", TABLES)
def test_no_adversary_beats_best_play(name: str) -> None:
    assert by_hand(TABLES[name], start(name)) == TABLES[name].chance(BEST)


@given(names, presses)
def test_the_posterior_is_bayes_rule_and_a_martingale(name: str, pressed: tuple[str, ...]) -> None:
    table = state.replay(name, BEST, 0, pressed)
    law, view, p = table.rules, table.view, table.posterior
    assert isinstance(p, Fraction)
    if 0 < p < 1:
        odds = p / (1 - p) / (law.prior / (1 - law.prior))
        assert float(np.log(float(odds))) == pytest.approx(view.loss, abs=1e-12)
    for question in law.admitted(view):
        answers = law.answers(view, question)
        assert sum(w for _, w in answers) == 1
        later = [(w, law.posterior(law.after(view, question, y))) for y, w in answers if w]
        assert sum((w * q for w, q in later), Fraction(0)) == p  # what is expected to be known is known


@given(names, st.sampled_from(STRATEGIES), presses, st.integers(0, 5))
def test_any_clicks_make_a_table_that_obeys_the_rules(
    name: str, strategy: str, pressed: tuple[str, ...], seed: int
) -> None:
    table = Table(name, strategy, seed)
    for button in pressed:
        before, table = table, state.press(table, button)
        assert len(table.view) <= table.rules.rounds
        assert not table.rules.game.filter or table.rules.game.filter.fits(
            table.rules.game.filter.spent(table.view.charges) or (0.0,)
        )
        if table.note:
            assert dataclasses.replace(table, note=before.note) == before  # nothing else has changed
        if button in {ZERO, ONE} and not table.note:
            assert table.over
            assert table.won == (int(button == ONE) == table.bit)
            assert table.by_hand == before.by_hand.plus(bool(table.won))
        if button == MANY:
            assert table.by_strategy.played == before.by_strategy.played + 200
    assert table == state.replay(name, strategy, seed, pressed)  # a table is what was clicked


def test_the_secret_and_the_answers_have_the_laws_of_the_game() -> None:
    tables = [Table("two coins, one budget", seed=seed) for seed in range(2000)]
    zeros = [t for t in tables if t.bit == 0]
    low, high = clopper_pearson(len(zeros), 2000, 0.9999)
    assert low < 2 / 5 < high
    truths = sum(state.ask(t, "coin 3 : 1").view.last == 0 for t in zeros)
    low, high = clopper_pearson(truths, len(zeros), 0.9999)
    assert low < 3 / 4 < high
    first = [(t.reply("coin 2 : 1"), state.ask(t, "coin 2 : 1").reply("coin 2 : 1")) for t in zeros]
    both = sum(a == b == 0 for a, b in first)  # two answers are independent, given the bit
    low, high = clopper_pearson(both, len(zeros), 0.9999)
    assert low < 4 / 9 < high


@pytest.mark.parametrize("name", TABLES)
def test_playing_by_the_advice_wins_as_often_as_it_should(name: str) -> None:
    table, games = Table(name), 250
    for _ in range(games):
        while not table.over:
            table = state.best_move(table)
        table = state.new_game(table)
    low, high = clopper_pearson(table.by_hand.won, games, 0.9999)
    assert low < TABLES[name].chance(BEST) < high


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_many_games_are_counted_as_the_referee_would(strategy: str) -> None:
    table = state.play_many(Table(strategy=strategy), 20_000)
    low, high = clopper_pearson(table.by_strategy.won, 20_000, 0.9999)
    exact = table.rules.chance(strategy)
    assert low < exact < high
    rng, won = np.random.default_rng(5), 0
    for _ in range(400):  # the same strategy, game by game
        bit = int(rng.random() >= table.rules.prior)
        won += bool(table.rules.game.play(table.rules.strategies[strategy], bit, rng).won)
    low, high = clopper_pearson(won, 400, 0.9999)
    assert low < exact < high


def test_what_is_forbidden_is_said_and_changes_nothing() -> None:
    over = state.say(Table(), 1)
    for action in (state.best_move, lambda t: state.say(t, 0), lambda t: state.ask(t, "coin 2 : 1")):
        with pytest.raises(BadInput, match=r"it must be still open. Fix: start a new game"):
            action(over)
    spent = state.ask(Table(), "coin 3 : 1")
    with pytest.raises(BadInput, match=r"it must be within the budget. Fix: say 0 or 1"):
        state.ask(spent, "coin 3 : 1")
    done = state.replay("one coin, four times", BEST, 0, (ASK_A,) * 5)
    assert len(done.view) == 4
    assert done.note == "Not possible: all 4 questions have been asked, say 0 or 1."
    assert "only question A" in state.press(done, ASK_B).note  # there is no B at that table
    assert not state.press(done, AGAIN).note
    assert "more than the budget has left" in state.press(spent, ASK_B).note
    assert not state.press(spent, ASK_A).note
    for button in (ASK_A, ASK_B, ADVICE, ZERO, ONE):
        assert "this game is over" in state.press(over, button).note
    with pytest.raises(BadInput, match="it must be one of"):
        state.press(over, "Cheat")


def spots(root: Any) -> list[Any]:
    return [root, *(spot for branch in root.branches for spot in spots(branch))]


@given(names, presses, st.booleans())
def test_the_tree_shows_the_way_taken_and_probabilities_that_add_up(
    name: str, pressed: tuple[str, ...], plan: bool
) -> None:
    table = state.replay(name, BEST, 1, pressed)
    shown = spots(picture.tree_of(table, plan and not table.over))
    assert sum(spot.kind == "now" for spot in shown) == 1
    assert sum(spot.kind == "past" for spot in shown) == len(table.view)
    now = next(spot for spot in shown if spot.kind == "now")
    assert now.shown == str(table.posterior)
    for spot in shown:
        if spot.branches:
            assert sum(b.chance for b in spot.branches) == pytest.approx(1)
            mean = sum(b.chance * b.posterior for b in spot.branches)
            assert mean == pytest.approx(spot.posterior)
    assert (not plan or table.over) == all(spot.kind != "plan" for spot in shown) or not now.branches


@pytest.mark.parametrize("name", TABLES)
def test_the_picture_keeps_the_secret_until_the_guess(name: str) -> None:
    """Two tables that differ in the bit alone have the same words and the same pixels."""
    explorer = explore.game_table()
    seen: dict[Any, set[Any]] = {}
    for seed in range(16):
        table = state.ask(Table(name, seed=seed), next(iter(TABLES[name].menu)))
        view = picture.show(table)
        seen.setdefault(table.view.answers, set()).add((table.bit, view.words, explorer.picture(view)))
    assert any({bit for bit, _, _ in looks} == {0, 1} for looks in seen.values())
    for looks in seen.values():
        assert len({(words, pixels) for _, words, pixels in looks}) == 1
    ends = {seed: picture.show(state.say(Table(name, seed=seed), 0)).words for seed in range(6)}
    for seed, words in ends.items():
        bit = Table(name, seed=seed).bit
        assert f"The bit was {bit}: you {'win' if bit == 0 else 'lose'}." in words


def test_words_give_exact_numbers() -> None:
    explorer = explore.game_table()
    assert "2/5 = 0.4" in explorer.view().words
    assert "best play wins 413/540 = 0.7648" in explorer.view().words
    assert "best" not in explorer.view(plan=False).words.lower()
    hired = explorer.view(strategy="greedy", moves=(MANY,)).words
    assert "“greedy” won" in hired
    assert "its exact chance is 3/4 = 0.75" in hired
    assert len({explorer.view(moves=(ADVICE,), seed=seed).words for seed in range(10)}) == 2  # by the answer
