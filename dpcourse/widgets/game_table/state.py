"""The game table as a value: each action makes a new one. No drawing, no widgets, no hidden generator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from dpcourse.coins import Random
from dpcourse.errors import one_of, reject, whole
from dpcourse.game import Transcript
from dpcourse.game.referee import draw
from dpcourse.widgets.game_table.rules import BEST, STRATEGIES, TABLES, Rules


@dataclass(frozen=True)
class Score:
    """Games won of games played."""

    won: int = 0
    played: int = 0

    def plus(self, won: int, played: int = 1) -> Score:
        """With more games."""
        return Score(self.won + won, self.played + played)


@dataclass(frozen=True)
class Table:
    """A game at one of the TABLES: what was asked and answered, the guess, and the scores so far.

    Every random number comes from (seed, game, round), so a table is determined by what was clicked.

    >>> table = new_game(Table())
    >>> after = ask(table, "coin 2 : 1")
    >>> after.view.answers, after.posterior
    ((1,), Fraction(1, 4))
    """

    name: str = next(iter(TABLES))
    strategy: str = BEST
    seed: int = 0
    number: int = 0
    view: Transcript = field(default_factory=Transcript)
    guess: int | None = None
    by_hand: Score = Score()
    by_strategy: Score = Score()
    note: str = ""

    def __post_init__(self) -> None:
        one_of("table", self.name, tuple(TABLES))
        one_of("strategy", self.strategy, STRATEGIES)
        whole("seed", self.seed, 0)
        if not self.view.rounds:
            object.__setattr__(self, "view", Transcript(left=self.rules.rounds))

    @property
    def rules(self) -> Rules:
        """What holds at this table."""
        return TABLES[self.name]

    @property
    def bit(self) -> int:
        """The secret, which the picture keeps until there is a guess."""
        return int(self._rng(0).random() >= self.rules.prior)

    def _rng(self, *place: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.number, *place])

    @property
    def over(self) -> bool:
        """Whether the guess has been made."""
        return self.guess is not None

    @property
    def posterior(self) -> Fraction:
        """The exact chance of bit 0 for one who saw the answers."""
        return self.rules.posterior(self.view)

    @property
    def won(self) -> bool | None:
        """Whether the guess was right; None before there is one."""
        return None if self.guess is None else self.guess == self.bit

    def reply(self, name: str) -> object:
        """What the mechanism answers to the next question."""
        return draw(self.rules.menu[name].law(self.bit), Random(self._rng(1 + len(self.view))))


def ask(table: Table, name: str) -> Table:
    """Put a question of the menu, and hear the answer."""
    _still_open(table)
    one_of("question", name, tuple(table.rules.menu))
    if name not in table.rules.admitted(table.view):
        left = table.view.left
        rule = "within the budget" if left else f"one of {table.rules.rounds} at most"
        reject("question", name, rule, "say 0 or 1.")
    return replace(table, view=table.rules.after(table.view, name, table.reply(name)))


def say(table: Table, bit: int) -> Table:
    """Name the bit; the game is over and counts."""
    _still_open(table)
    guess = one_of("bit", bit, (0, 1))
    return replace(table, guess=guess, by_hand=table.by_hand.plus(guess == table.bit))


def best_move(table: Table) -> Table:
    """What the best adversary does here: a question, or the likelier bit.

    >>> table = Table()
    >>> while not table.over:
    ...     table = best_move(table)
    >>> table.view.answers, table.guess, table.won
    ((1, 1), 1, True)
    """
    name = table.rules.advice(table.view)
    return ask(table, name) if name else say(table, int(table.posterior < Fraction(1, 2)))


def new_game(table: Table) -> Table:
    """Another secret at the same table; the scores stay."""
    return replace(table, number=table.number + 1, view=Transcript(), guess=None)


def play_many(table: Table, games: int = 200) -> Table:
    """Let the strategy play: so many games, drawn from the exact law of their transcripts."""
    whole("games", games)
    leaves = table.rules.leaves(table.rules.result(table.strategy))
    worlds = (float(table.rules.prior), 1 - float(table.rules.prior))
    chances = [worlds[bit] * float(pair[bit]) for bit in (0, 1) for pair, _ in leaves]
    right = np.array([guess == bit for bit in (0, 1) for _, guess in leaves])
    rng = np.random.default_rng([table.seed, 10**6, table.by_strategy.played])
    drawn = rng.multinomial(games, np.array(chances) / sum(chances))
    return replace(table, by_strategy=table.by_strategy.plus(int(drawn[right].sum()), games))


def _still_open(table: Table) -> None:
    if table.over:
        reject("game", f"number {table.number}", "still open", "start a new game.")


ASK_A, ASK_B, ADVICE, ZERO, ONE, AGAIN, MANY = (
    "Ask A",
    "Ask B",
    "Best move",
    "Say 0",
    "Say 1",
    "New game",
    "Play 200 games",
)
BUTTONS: Final = (ASK_A, ASK_B, ADVICE, ZERO, ONE, AGAIN, MANY)


def press(table: Table, button: str) -> Table:
    """The table after a button; what the rules forbid changes nothing but the note."""
    why = forbidden(table, one_of("button", button, BUTTONS))
    if why:
        return replace(table, note=f"Not possible: {why}.")
    if button in (ASK_A, ASK_B):
        after = ask(table, list(table.rules.menu)[(ASK_A, ASK_B).index(button)])
    elif button in (ZERO, ONE):
        after = say(table, (ZERO, ONE).index(button))
    else:
        after = {ADVICE: best_move, AGAIN: new_game, MANY: play_many}[button](table)
    return replace(after, note="")


def forbidden(table: Table, button: str) -> str:
    """Why a button can not be pressed now, in plain words; empty if it can."""
    if button in (AGAIN, MANY):
        return ""
    if table.over:
        return "this game is over, start a new one"
    if button not in (ASK_A, ASK_B):
        return ""
    place, rules = (ASK_A, ASK_B).index(button), table.rules
    if place >= len(rules.menu):
        return "this table has only question A"
    if not table.view.left:
        return f"all {rules.rounds} questions have been asked, say 0 or 1"
    fits = rules.admitted(table.view)
    return "" if list(rules.menu)[place] in fits else "that is more than the budget has left"


@lru_cache(maxsize=1024)
def replay(name: str, strategy: str, seed: int, pressed: tuple[str, ...]) -> Table:
    """The table after all these buttons; one more button is one more step, because the rest is kept."""
    if not pressed:
        return Table(name, strategy, seed)
    return press(replay(name, strategy, seed, pressed[:-1]), pressed[-1])
