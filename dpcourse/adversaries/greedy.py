"""The greedy adversary: the best next step, without a thought for the one after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse.adversaries.strategies import Batch, by_index, check_menu
from dpcourse.game import Challenge, Transcript
from dpcourse.game.moves import Move
from dpcourse.interactive.filters import Filter
from dpcourse.loss import PrivacyLoss


@dataclass(frozen=True)
class Greedy:
    """Takes from the menu what gains most in one step, given the loss L so far.

    With a target epsilon the gain is the hockey stick if this were the last round, delta_a(epsilon - L);
    without one it is the mean growth of |L| in the world that L points to, KL(P_a||Q_a) or its reverse.
    Challenges that `filter` would refuse are left out. Greedy is not optimal: a step that gains less may
    prepare a better one.

    >>> import math
    >>> from fractions import Fraction
    >>> from dpcourse.game import Game
    >>> from dpcourse.interactive.filters import PureFilter
    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> from dpcourse.neighbours import REPLACE_ONE
    >>> menu = [Challenge(RandomizedResponse.with_odds(n), 0, 1) for n in (2, 3)]
    >>> budget = PureFilter(math.log(8), adjacency=REPLACE_ONE)
    >>> greedy = Greedy(menu, math.log(3 / 2), filter=budget)
    >>> result = Game(rounds=3, filter=budget).exact(greedy)
    >>> float(result.loss.hockey_stick(Fraction(3, 2)))  # the optimal adversary reaches 89/216 = 0.412
    0.375
    """

    menu: Sequence[Challenge]
    epsilon: float | None = None
    filter: Filter | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "menu", tuple(self.menu))
        check_menu("menu", self.menu)

    @cached_property
    def _losses(self) -> list[PrivacyLoss]:
        return [PrivacyLoss.between(c.law(0), c.law(1)) for c in self.menu]

    @cached_property
    def _drifts(self) -> list[tuple[float, float]]:
        return [(loss.kl(), loss.reversed().kl()) for loss in self._losses]

    def gains(self, loss: Any) -> Any:
        """The gain of each challenge (first axis) at each accumulated loss."""
        loss = np.asarray(loss, dtype=float)
        if self.epsilon is None:
            return np.stack([np.where(loss >= 0, up, down) for up, down in self._drifts])
        target = np.clip(self.epsilon - loss, -700.0, 700.0)
        return np.stack([np.asarray(each.delta(target)) for each in self._losses])

    def __call__(self, view: Transcript) -> Move:
        """The best challenge that the filter admits; none if it admits none."""
        gains = self.gains(view.loss)
        for i in np.argsort(-gains, kind="stable") if view.left else ():
            choice = self.menu[int(i)]
            if self.filter is None or not self.filter.refuses(view.charges, choice.mechanism.guarantee):
                return choice
        return None

    @property
    def batch(self) -> Batch:
        """One choice for each game, where no filter has to be asked."""
        if self.filter is not None:
            raise AttributeError("a filter is asked game by game")
        return self._batch

    def _batch(self, view: Any) -> Any:
        if not view.left:
            return None
        return by_index(self.menu, np.argmax(self.gains(view.loss), axis=0))
