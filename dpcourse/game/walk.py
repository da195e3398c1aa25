"""The privacy-loss walk of a game, split into what could be foreseen and a martingale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.game.moves import Challenge, Refused, Transcript
from dpcourse.loss import PrivacyLoss


@dataclass(frozen=True)
class Walk:
    """The accumulated loss ln V0/V1 from 0, round by round, and its drift; both start with a 0.

    loss = drift + martingale: the drift adds each round's mean given the past (Doob's decomposition).
    """

    loss: Floats
    drift: Floats

    @property
    def martingale(self) -> Floats:
        """What is left: each step has mean zero given the past."""
        return np.asarray(self.loss - self.drift)


class Drift:
    """The mean loss of a round given the past: KL under bit 0, minus the reverse KL under bit 1."""

    def __init__(self) -> None:
        self._known: dict[Any, float] = {}

    def __call__(self, challenge: Challenge, bit: int) -> float:
        """For one game."""
        key = (challenge, bit)
        if key not in self._known:
            loss = PrivacyLoss.between(challenge.law(0), challenge.law(1))
            self._known[key] = -loss.reversed().kl() if bit else loss.kl()
        return self._known[key]

    def each(self, challenge: Challenge, bit: int, games: int) -> Floats:
        """For the first games of a batch, each with inputs of its own."""
        if not challenge.batched:
            return np.full(games, self(challenge, bit))
        both = (np.asarray(challenge.left) + 1j * np.asarray(challenge.right))[:games]  # a pair as one number
        pairs, which = np.unique(both, return_inverse=True)
        means = [self(Challenge(challenge.mechanism, z.real, z.imag), bit) for z in pairs.tolist()]
        return np.array(means)[which]


def walk_of(view: Transcript, bit: int, drift: Drift | None = None) -> Walk:
    """The walk of one transcript, in the world of the bit."""
    drift = drift or Drift()
    steps, means = [0.0], [0.0]
    for r in view.rounds:
        # Nothing is learned by a refusal; a session's loss is that of its whole conversation.
        counts = isinstance(r.move, Challenge) and not isinstance(r.answer, Refused)
        steps.append(r.move.loss_at(r.answer) if counts else 0.0)  # type: ignore[union-attr]
        means.append(drift(r.move, bit) if counts else 0.0)  # type: ignore[arg-type]
    return Walk(np.cumsum(steps), np.cumsum(means))
