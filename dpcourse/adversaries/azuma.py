"""The adversary behind a gap in a proof of advanced composition, and its exact numbers.

The proof applies Azuma's inequality to f = C_1 + ... + C_k, the sum of the rounds' privacy losses, as if
each round moved the mean of f by at most 2 epsilon. In the adaptive game the first answer may also decide
how much is asked later: then Pr[f >= E[f] + t] is far above the claimed bound. (The theorem is true: apply
the inequality to C_i - E[C_i | past], whose sum is a martingale.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import special
from dpcourse.errors import delta as check_delta
from dpcourse.errors import positive, reject, whole
from dpcourse.game import Challenge, Transcript
from dpcourse.game.moves import Move
from dpcourse.guarantees import PureDP
from dpcourse.laws import Finite, Point
from dpcourse.mechanisms import Custom, RandomizedResponse
from dpcourse.neighbours import REPLACE_ONE


def _silence(data: Any) -> Finite:
    return Point(0)


def _any(left: Any, right: Any) -> bool:
    return True


SILENT = Challenge(Custom(_silence, PureDP(0.0, adjacency=REPLACE_ONE), _any), 0, 1)
"""A question whose answer is 0 in both worlds."""


@dataclass(frozen=True)
class StopOrSpend:
    """Randomized response first; if it favours bit 0, the same for ever, else questions without content."""

    epsilon: float

    @property
    def challenge(self) -> Challenge:
        """The question with content."""
        return Challenge(RandomizedResponse(self.epsilon), 0, 1)

    def __call__(self, view: Transcript) -> Move:
        """By the first answer."""
        if not view.left:
            return None
        return self.challenge if not len(view) or view.answers[0] == 0 else SILENT

    def batch(self, view: Any) -> Any:
        """The same on arrays."""
        if not view.left or not view.answers:
            return self.challenge if view.left else None
        spends = np.asarray(view.answers[0]) == 0
        return [(mask, move) for mask, move in ((spends, self.challenge), (~spends, SILENT)) if mask.any()]


@dataclass(frozen=True)
class AzumaGap:
    """The exact law of f under bit 0 for `StopOrSpend`, next to what the flawed step claims.

    With h = e^eps/(1+e^eps): f = -eps with probability 1 - h, else eps (2B + 2 - k), B ~ Bin(k-1, h).

    >>> gap = AzumaGap(epsilon=0.1, k=10_000, delta=0.01)
    >>> round(gap.mean, 1), round(gap.radius, 2), round(gap.probability(), 3)
    (26.2, 30.35, 0.136)
    >>> gap.closed
    False
    """

    epsilon: float
    k: int
    delta: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        positive("delta", check_delta("delta", self.delta))
        whole("k", self.k)

    @property
    def mean(self) -> float:
        """E[f] = KL (1 + h (k-1)), where KL = eps tanh(eps/2) is the mean loss of one round."""
        return self.drift * (1 + self.heads * (self.k - 1))

    @property
    def radius(self) -> float:
        """t = eps sqrt(2 k ln(1/delta)): the flawed step claims Pr[f >= E[f] + t] <= delta."""
        return self.epsilon * math.sqrt(-2 * self.k * math.log(self.delta))

    @property
    def effect(self) -> float:
        """How far the first answer moves the mean of f: 2 eps + (k-1) KL, where the step needs 2 eps."""
        return 2 * self.epsilon + (self.k - 1) * self.drift

    @property
    def heads(self) -> float:
        """h, the chance that an answer favours the true bit."""
        return float(special.expit(self.epsilon))

    @property
    def drift(self) -> float:
        """KL of randomized response: eps tanh(eps/2)."""
        return self.epsilon * math.tanh(self.epsilon / 2)

    def probability(self, centre: float | None = None) -> float:
        """Pr[f >= centre + t] exactly, by a binomial sum; the centre is E[f] unless given.

        With centre = k KL, the mean of the adversary that never stops, it is below delta.
        """
        level = (self.mean if centre is None else centre) + self.radius
        return float(_tail(self.epsilon, self.k, level))

    @property
    def closed(self) -> bool:
        """Whether the claim of the flawed step happens to hold for this adversary."""
        return self.probability() <= self.delta


def smallest_gap(epsilon: float, delta: float, most: int = 10**7) -> int:
    """The fewest rounds k for which Pr[f >= E[f] + t] > delta.

    f lives on a lattice, so for a while larger k may close the gap again: for epsilon = 1, delta = 0.05 it
    is open at 67, 71 and 75, and for good from 94 on.

    >>> smallest_gap(1.0, 0.05), smallest_gap(1.0, 0.1)
    (67, 77)
    """
    first = AzumaGap(epsilon, 1, delta)
    start = 1
    while start <= most:
        k = np.arange(start, min(2 * start + 1022, most) + 1)
        mean = first.drift * (1 + first.heads * (k - 1))
        found = np.flatnonzero(_tail(epsilon, k, mean + first.radius * np.sqrt(k)) > delta)
        if len(found):
            return int(k[found[0]])
        start += len(k)
    reject("most", most, "large enough to meet a gap", "allow more rounds, or take a larger epsilon.")


def _tail(epsilon: float, k: Any, level: Any) -> Any:
    """Pr[f >= level] under bit 0, for one k or an array of them."""
    heads = special.expit(epsilon)
    # eps (2B + 2 - k) >= level; the shift keeps a level on the lattice in spite of rounding.
    least = np.ceil((level / epsilon + k - 2) / 2 - 1e-9)
    spent = np.where(least <= 0, 1.0, special.bdtrc(np.maximum(least, 1) - 1, k - 1, heads))
    spent = np.where(least > k - 1, 0.0, spent)
    return heads * spent + (1 - heads) * (level <= -epsilon)
