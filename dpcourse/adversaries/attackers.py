"""Attackers that people know from the news, and the person at the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.errors import whole
from dpcourse.game import Ask, Challenge, Guess, Open, Transcript
from dpcourse.game.moves import Move
from dpcourse.interactive import Interactive
from dpcourse.interactive.sessions import Trapdoor
from dpcourse.mechanisms import Mechanism


@dataclass(frozen=True)
class Differencing:
    """Counts everybody, then everybody but the target, and subtracts.

    In the world of bit 0 the target counts, in that of bit 1 not; the `others` are the same in both. With
    exact counts the difference is the secret. (Denning and Denning, "The tracker", 1979.)

    >>> from dpcourse.game import Game
    >>> from dpcourse.mechanisms import LaplaceMechanism
    >>> spy = Differencing(LaplaceMechanism(20.0))
    >>> Game(rounds=2).play(spy, bit=1, rng=np.random.default_rng(0)).won
    True
    """

    mechanism: Mechanism
    others: int = 100

    def __post_init__(self) -> None:
        whole("others", self.others, at_least=0)

    def __call__(self, view: Any) -> Any:
        """Two counts, then the guess."""
        if len(view.answers) == 2:
            return Guess(_bit(np.subtract(*view.answers) < 0.5))
        everybody = self.others if len(view.answers) else self.others + 1
        return Challenge(self.mechanism, everybody, self.others) if view.left else None

    batch = __call__  # arrays of answers work the same way


@dataclass(frozen=True)
class Averaging:
    """Repeats one numeric question and averages: the guess is the side that the mean is closer to.

    The noise of the mean falls like 1/sqrt(rounds), which is what composition has to pay for.
    """

    challenge: Challenge

    def __call__(self, view: Any) -> Any:
        """The same challenge, then the guess."""
        if view.left:
            return self.challenge
        mean = np.mean(np.asarray(view.answers, dtype=float), axis=0)
        to_left, to_right = (np.abs(mean - side) for side in (self.challenge.left, self.challenge.right))
        return Guess(_bit(to_right < to_left))

    batch = __call__  # arrays of answers work the same way


@dataclass(frozen=True)
class Password:
    """Opens a session, asks, and asks again with the answer: it walks through the trapdoor.

    Fixed questions tell the worlds apart with probability 2^-bits, this one always.

    >>> from dpcourse.game import Game
    >>> Game(rounds=3).exact(Password()).advantage
    Fraction(1, 1)
    """

    mechanism: Interactive = field(default_factory=Trapdoor)
    left: Any = 0
    right: Any = 1

    def __call__(self, view: Transcript) -> Move:
        """Open, ask anything, repeat what was said, and believe the last answer."""
        if len(view) == 3 or not view.left:
            return Guess(0 if view.last == self.left else 1)
        if not len(view):
            return Open(self.mechanism, self.left, self.right)
        return Ask(view.answers[0], None if len(view) == 1 else view.last)


@dataclass(frozen=True)
class Person:
    """A person plays: moves come from a function of the transcript, or from a queue (`get()` waits).

    `show` is called with the transcript before every move: a widget draws it there.

    >>> from queue import SimpleQueue
    >>> from dpcourse.game import Game
    >>> clicks = SimpleQueue()
    >>> clicks.put(Guess(1))
    >>> Game(rounds=1).play(Person(clicks), bit=1, rng=np.random.default_rng(0)).won
    True
    """

    source: Any
    show: Callable[[Transcript], None] | None = None

    def __call__(self, view: Transcript) -> Move:
        """What the person does next."""
        if self.show is not None:
            self.show(view)
        move: Move = self.source.get() if hasattr(self.source, "get") else self.source(view)
        return move


def _bit(one: Any) -> Any:
    """The bit 1 where true: an int for one game, an array for many."""
    return np.asarray(one).astype(np.int8) if np.ndim(one) else int(one)
