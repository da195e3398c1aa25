"""Randomized response: a person's own answer, lied about with known probability (Warner 1965)."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcourse.errors import distinct, positive, probability, reject
from dpcourse.guarantees import Guarantee, PureDP
from dpcourse.laws import Finite
from dpcourse.loss import FiniteLoss, PrivacyLoss
from dpcourse.mechanisms.base import Mechanism
from dpcourse.neighbours import REPLACE_ONE


@dataclass(frozen=True)
class Response(Mechanism):
    """One person's value is the data, so any two values are neighbours (replace-one, local model)."""

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Any two values that the mechanism knows."""
        return bool(self.law(left)) and bool(self.law(right))


@dataclass(frozen=True)
class RandomizedResponse(Response):
    """Tell the truth with probability odds/(odds + m - 1), else one of the m - 1 other values.

    The odds are e^epsilon; no epsilon-DP mechanism on two values reveals more. `with_odds` takes them
    as they are, so that a Fraction stays exact.

    >>> RandomizedResponse.with_odds(3).law(1)
    Finite(0: 1/4, 1: 3/4)
    """

    epsilon: float
    values: tuple[Hashable, ...] = (0, 1)
    odds: Any = None

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        object.__setattr__(self, "values", tuple(self.values))
        if len(self.values) < 2 or not distinct(self.values):
            reject("values", self.values, "at least two distinct values", "list the possible answers.")
        if self.odds is None and self.epsilon > 700:
            fix = "lies have a probability of e^-epsilon: choose a smaller epsilon, such as 5."
            reject("epsilon", self.epsilon, "at most 700, or lies are too rare for floats", fix)
        if self.odds is None:
            object.__setattr__(self, "odds", math.exp(self.epsilon))

    @classmethod
    def with_odds(cls, odds: Any, values: tuple[Hashable, ...] = (0, 1)) -> RandomizedResponse:
        """From e^epsilon, an int or a Fraction above 1: probabilities are then exact."""
        if not odds > 1:
            reject("odds", odds, "above 1", "give e^epsilon, such as 3 for epsilon = ln 3.")
        return cls(math.log(odds), values, Fraction(odds))

    def law(self, data: Any) -> Finite:
        """The true value with the largest probability, each other value with an equal share."""
        if data not in self.values:
            reject("data", data, f"one of {self.values}", "pass the person's own value.")
        lie = 1 / (self.odds + len(self.values) - 1)
        return Finite(self.values, tuple(lie * self.odds if v == data else lie for v in self.values))

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-DP for replacing the person's value."""
        return PureDP(self.epsilon, adjacency=REPLACE_ONE)

    def worst_case(self) -> PrivacyLoss:
        """Any two values: by symmetry all pairs are equally bad."""
        return FiniteLoss.of(self.law(self.values[0]), self.law(self.values[1]))


@dataclass(frozen=True)
class TwoCoins(Response):
    """Heads (probability `truth`): answer truthfully. Tails: answer yes with probability `yes`.

    With fair coins Pr[yes|yes] = 3/4 and Pr[yes|no] = 1/4, so it is (ln 3)-DP.

    >>> round(TwoCoins().guarantee.epsilon(0) - math.log(3), 12)
    0.0
    """

    truth: Any = Fraction(1, 2)
    yes: Any = Fraction(1, 2)

    def __post_init__(self) -> None:
        probability("truth", self.truth)
        probability("yes", self.yes)

    def law(self, data: Any) -> Finite:
        """The law of the answer True (yes) or False (no)."""
        if data not in (0, 1):
            reject("data", data, "True or False", "pass the person's own answer.")
        yes = self.truth * int(data) + (1 - self.truth) * self.yes
        return Finite((True, False), (yes, 1 - yes))

    @property
    def guarantee(self) -> Guarantee:
        """The larger of both outcomes' log-ratios: a biased second coin protects one answer less."""
        ratios = [FiniteLoss.of(self.law(a), self.law(not a)).max_divergence() for a in (True, False)]
        return PureDP(max(ratios), adjacency=REPLACE_ONE)

    def worst_case(self) -> PrivacyLoss:
        """The direction with the larger loss."""
        pairs = [FiniteLoss.of(self.law(a), self.law(not a)) for a in (True, False)]
        return max(pairs, key=lambda loss: loss.max_divergence())
