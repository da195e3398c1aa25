"""Strategies for the composition game: what to ask next, given what was answered.

An adversary is a function of the transcript. Those with a `batch` method also play many games side by
side, on arrays; an adversary whose moves do not allow that has no such attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.game import Challenge, Guess, Transcript
from dpcourse.game.moves import Adversary, Move

Batch = Callable[[Any], Any]  # a view of many games -> their moves


@dataclass(frozen=True)
class Fixed:
    """A sequence of moves that is fixed in advance; with `repeat`, from the start again when it ends.

    >>> from dpcourse.game import Game
    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> coin = Challenge(RandomizedResponse.with_odds(3), 0, 1)
    >>> Game(rounds=2).exact(Fixed([coin, coin])).loss.max_ratio()
    Fraction(9, 1)
    """

    moves: Sequence[Any]
    repeat: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "moves", tuple(self.moves))
        check_menu("moves", self.moves)

    def _at(self, i: int, left: int) -> Move:
        if not left or (i >= len(self.moves) and not self.repeat):
            return None
        move: Move = self.moves[i % len(self.moves)]
        return move

    def __call__(self, view: Transcript) -> Move:
        """The next of the moves."""
        return self._at(len(view), view.left)

    @property
    def batch(self) -> Batch:
        """The same in all games, if every move is a challenge."""
        if not all(isinstance(move, Challenge) for move in self.moves):
            raise AttributeError("conversations are played one by one")
        return lambda view: self._at(len(view.answers), view.left)


@dataclass(frozen=True)
class RandomChoice:
    """A challenge drawn from the menu by the adversary's own coins, which the view records."""

    menu: Sequence[Challenge]

    def __post_init__(self) -> None:
        object.__setattr__(self, "menu", tuple(self.menu))
        check_menu("menu", self.menu)

    def __call__(self, view: Transcript) -> Move:
        """Every challenge is as likely as the others."""
        if not view.left or view.coins is None:
            return None
        return self.menu[view.coins.integer(len(self.menu))]

    def batch(self, view: Any) -> Any:
        """One draw for each game."""
        if not view.left:
            return None
        return by_index(self.menu, view.rng.integers(len(self.menu), size=view.games))


@dataclass(frozen=True)
class LastAnswer:
    """Chooses the next challenge by the last answer alone: `then` maps answers, or events, to challenges.

    A key that is a function is asked about the answer, any other key is compared with it; the first that
    fits decides, and an answer that fits none ends the game.

    >>> from dpcourse.game import Game
    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> two, three = (Challenge(RandomizedResponse.with_odds(n), 0, 1) for n in (2, 3))
    >>> Game(rounds=2).exact(LastAnswer(two, {0: three, 1: two})).loss.max_ratio()
    Fraction(6, 1)
    """

    first: Challenge
    then: Mapping[Any, Challenge | None]

    def __call__(self, view: Transcript) -> Move:
        """The challenge for the last answer."""
        if not view.left:
            return None
        if not len(view):
            return self.first
        fits = (move for key, move in self.then.items() if _matches(key, view.last))
        return next(fits, None)

    def batch(self, view: Any) -> Any:
        """The same, by masks."""
        if not view.left or view.last is None:
            return self.first if view.left else None
        open_games, parts = np.ones(view.games, dtype=bool), []
        for key, move in self.then.items():
            here = open_games & np.asarray(_matches(key, view.last), dtype=bool)
            open_games = open_games & ~here
            if move is not None and here.any():
                parts.append((here, move))
        return parts or None


@dataclass(frozen=True)
class Guessing:
    """Another adversary that, when it has finished, guesses the likelier bit: 0 if the loss is >= 0.

    No guess has a larger advantage on the same view: it is the Neyman-Pearson test at ratio 1.
    """

    adversary: Adversary

    def __call__(self, view: Transcript) -> Move:
        """The other's move, or the guess."""
        move = self.adversary(view) if view.left else None
        return Guess(int(view.loss < 0)) if move is None else move

    @property
    def batch(self) -> Batch:
        """The same for many games, if the other can."""
        inner: Batch = self.adversary.batch  # type: ignore[attr-defined]  # AttributeError if it cannot

        def moves(view: Any) -> Any:
            move = inner(view) if view.left else None
            return Guess((view.loss < 0).astype(np.int8)) if move is None else move

        return moves


def guessing(adversary: Adversary) -> Guessing:
    """The adversary, with the likelihood-ratio guess at the end.

    >>> from dpcourse.game import Game
    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> coin = Challenge(RandomizedResponse.with_odds(3), 0, 1)
    >>> Game(rounds=1).exact(guessing(Fixed([coin]))).advantage
    Fraction(1, 2)
    """
    return Guessing(adversary)


def check_menu(name: str, moves: Sequence[Any]) -> None:
    """A menu has something on it."""
    if not moves:
        reject(name, moves, "at least one move", "list challenges, such as Challenge(mechanism, 0, 1).")


def _matches(key: Any, answer: Any) -> Any:
    return key(answer) if callable(key) else answer == key


def by_index(menu: Sequence[Challenge], index: Any) -> list[tuple[Any, Challenge]]:
    """The moves of many games as (mask, challenge) pairs."""
    masks = [(index == i, challenge) for i, challenge in enumerate(menu)]
    return [(mask, challenge) for mask, challenge in masks if mask.any()]
