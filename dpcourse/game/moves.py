"""What an adversary can do, and what it sees: moves and the transcript."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpcourse.coins import Coins
from dpcourse.guarantees import Guarantee
from dpcourse.interactive import Interactive
from dpcourse.laws import Law
from dpcourse.mechanisms import Mechanism


@dataclass(frozen=True)
class Challenge:
    """Run the mechanism on `left` if the secret bit is 0, on `right` if it is 1."""

    mechanism: Mechanism
    left: Any
    right: Any

    def data(self, bit: int) -> Any:
        """The input that the bit chooses."""
        return self.right if bit else self.left

    def law(self, bit: int) -> Law:
        """The law of the answer in the world of the bit."""
        return self.mechanism.law(self.data(bit))

    def loss_at(self, answer: Any) -> float:
        """ln of the answer's likelihood under bit 0 over that under bit 1."""
        return float(self.mechanism.losses(answer, self.left, self.right))

    @property
    def batched(self) -> bool:
        """Whether the inputs are arrays, one entry a game (a tuple is one dataset)."""
        return any(isinstance(side, np.ndarray) and side.ndim > 0 for side in (self.left, self.right))

    def swapped(self) -> Challenge:
        """The same question with the two worlds exchanged."""
        return replace(self, left=self.right, right=self.left)


@dataclass(frozen=True)
class Open:
    """Start a conversation with an interactive mechanism; it gets the next session number."""

    mechanism: Interactive
    left: Any
    right: Any


@dataclass(frozen=True)
class Ask:
    """Put a query to a session opened before; several sessions may be asked in any order."""

    session: int
    query: Any


@dataclass(frozen=True)
class Guess:
    """Say which bit it is; the game ends."""

    bit: int


@dataclass(frozen=True)
class Refused:
    """The filter's answer to a query that does not fit; it costs a round and no privacy."""

    reason: str


Move = Challenge | Open | Ask | Guess | None
Adversary = Callable[["Transcript"], Move]


@dataclass(frozen=True)
class Round:
    """A move, the adversary's own coins that led to it, and the answer."""

    move: Challenge | Open | Ask
    answer: Any
    coins: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Transcript:
    """The adversary's view: its coins, its moves and the answers, and nothing else.

    `coins` is where an adversary draws its own randomness (`transcript.coins.flip()`), so that the
    view contains it. `loss` is the accumulated ln(V0/V1) of the answers to challenges, which the
    adversary can compute for itself.
    """

    rounds: tuple[Round, ...] = ()
    loss: float = 0.0
    left: int = 0
    charges: tuple[Guarantee, ...] = ()
    coins: Coins | None = field(default=None, compare=False, repr=False)

    @property
    def answers(self) -> tuple[Any, ...]:
        """The answers so far."""
        return tuple(r.answer for r in self.rounds)

    @property
    def last(self) -> Any:
        """The last answer; None before the first."""
        return self.rounds[-1].answer if self.rounds else None

    @property
    def view(self) -> tuple[Any, ...]:
        """Coins and answers, round by round: what privacy is about."""
        return tuple((*r.coins, r.answer) for r in self.rounds)

    def __len__(self) -> int:
        return len(self.rounds)

    def __str__(self) -> str:
        if not self.rounds:
            return "(nothing asked yet)"
        lines = [f"{i:>3}. {_shown(r.move)} -> {r.answer!r}" for i, r in enumerate(self.rounds, 1)]
        return "\n".join([*lines, f"     loss so far {self.loss:+.4f}"])


def _shown(move: Challenge | Open | Ask) -> str:
    if isinstance(move, Ask):
        return f"session {move.session}: {move.query!r}"
    return f"{type(move.mechanism).__name__} on {move.left!r} or {move.right!r}"
