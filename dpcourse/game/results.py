"""What many simulated games tell, with honest confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcourse import audit
from dpcourse.errors import Floats

if TYPE_CHECKING:
    from dpcourse.game.referee import Game


@dataclass(frozen=True)
class World:
    """The games with one bit: final losses ln V0/V1, guesses (None if there were none), and some walks.

    `walks` and `drifts` hold the loss of the first few hundred games round by round, and its
    predictable part: the sum of each round's mean given the past.
    """

    losses: Floats
    guesses: Any
    walks: Floats
    drifts: Floats

    @property
    def martingale(self) -> Floats:
        """The walks less their drifts (Doob): each step has mean zero given the past."""
        return np.asarray(self.walks - self.drifts)


@dataclass(frozen=True)
class Simulation:
    """Many games in the world of bit 0 and in that of bit 1."""

    zero: World
    one: World
    game: Game

    @property
    def games(self) -> int:
        """How many games were played."""
        return len(self.zero.losses) + len(self.one.losses)

    def roc(self) -> tuple[Floats, Floats]:
        """False- and true-positive rates of all tests {loss > t} for bit 0."""
        return audit.roc(self.zero.losses, self.one.losses)

    def advantage(self, confidence: float = 0.99) -> tuple[float, float]:
        """An interval for Pr[says 0 | bit 0] - Pr[says 0 | bit 1], of the guesses or of {loss > 0}."""
        zero, one = self.zero, self.one
        if zero.guesses is None or one.guesses is None:
            return audit.advantage_interval(zero.losses, one.losses, confidence=confidence)
        return audit.advantage_interval(1 - zero.guesses, 1 - one.guesses, 0.5, confidence)

    def hockey_stick(self, epsilon: float, confidence: float = 0.99) -> tuple[float, float]:
        """An interval for Pr[L > eps | bit 0] - e^eps Pr[L > eps | bit 1]: delta(eps) of the view."""
        return audit.hockey_stick_interval(self.zero.losses, self.one.losses, epsilon, confidence)

    def epsilon_lower_bound(self, delta: float = 0.0, confidence: float = 0.99) -> audit.LowerBound:
        """An epsilon that the view certainly exceeds, up to the stated confidence."""
        return audit.epsilon_lower_bound(self.zero.losses, self.one.losses, delta, confidence)

    def bounds(self, delta: float) -> Any:
        """Every composition theorem's promise for this game, against the exact one."""
        return self.game.bounds(delta)

    def __repr__(self) -> str:
        return f"Simulation({self.games} games of up to {self.game.rounds} rounds)"
