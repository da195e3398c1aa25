"""The tables at which the game is played: a menu, rounds, a budget, and how likely the bit is 0.

With prior chance p of bit 0, a guesser who says 0 where the view is at least g = (1 - p)/p times as likely
under bit 0 is right with probability (1 - p) + p H(V0 || V1), where H is the hockey stick at e^epsilon = g.
So the adversary with the largest delta at epsilon = ln g is the one that wins most often.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Final

from dpcourse.adversaries import Greedy, RandomChoice
from dpcourse.game import Challenge, ExactResult, Game, Guess, Transcript, best_fixed, optimal_adversary
from dpcourse.game.moves import Adversary, Move
from dpcourse.game.optimal import OptimalAdversary
from dpcourse.guarantees import ApproxDP, PureDP
from dpcourse.interactive.filters import PureFilter
from dpcourse.laws import Finite
from dpcourse.mechanisms import Custom, RandomizedResponse
from dpcourse.neighbours import REPLACE_ONE

BEST, FIXED, GREEDY, RANDOM, AT_ONCE = (
    "best play",
    "best fixed list",
    "greedy",
    "random questions",
    "guess at once",
)
STRATEGIES: Final = (BEST, FIXED, GREEDY, RANDOM, AT_ONCE)


@dataclass(frozen=True)
class Deciding:
    """Another adversary's questions, and then the likelier bit, given the prior."""

    questions: Adversary
    threshold: float

    def __call__(self, view: Transcript) -> Move:
        """Its question; where it has none, 0 if the loss reaches the threshold."""
        move = self.questions(view) if view.left else None
        return Guess(0 if view.loss >= self.threshold - 1e-12 else 1) if move is None else move


@dataclass(frozen=True, eq=False)
class Rules:
    """One table. `budget` is e^B where the epsilons asked for may sum to at most B."""

    menu: Mapping[str, Challenge]
    rounds: int
    prior: Fraction
    budget: Fraction | None = None

    @cached_property
    def game(self) -> Game:
        """The referee."""
        limit = None if self.budget is None else PureFilter(math.log(self.budget), adjacency=REPLACE_ONE)
        return Game(self.rounds, filter=limit)

    @property
    def ratio(self) -> Fraction:
        """How many times likelier bit 0 must make a view before it is the better guess."""
        return (1 - self.prior) / self.prior

    @cached_property
    def best(self) -> OptimalAdversary:
        """The adversary that wins most often."""
        return optimal_adversary(self.menu, self.rounds, filter=self.game.filter, ratio=self.ratio)

    @cached_property
    def strategies(self) -> dict[str, Adversary]:
        """Those that can sit at the table."""
        menu, threshold = list(self.menu.values()), math.log(self.ratio)
        fixed = best_fixed(self.menu, self.rounds, filter=self.game.filter, ratio=self.ratio)
        greedy, random = Greedy(menu, threshold, filter=self.game.filter), RandomChoice(menu)
        asking: tuple[Adversary, ...] = (self.best, fixed, greedy, random, _nothing)
        named = zip(STRATEGIES, asking, strict=True)
        return {name: Deciding(questions, threshold) for name, questions in named}

    @cached_property
    def _results(self) -> dict[str, ExactResult]:
        return {}

    def result(self, strategy: str) -> ExactResult:
        """All its games at once, with their exact probabilities."""
        if strategy not in self._results:
            self._results[strategy] = self.game.exact(self.strategies[strategy])
        return self._results[strategy]

    def chance(self, strategy: str) -> Fraction:
        """The exact probability that a strategy names the right bit."""
        result = self.result(strategy)
        worlds = (self.prior, 1 - self.prior)
        return sum((worlds[g] * pair[g] for pair, g in self.leaves(result)), Fraction(0))

    @staticmethod
    def leaves(result: ExactResult) -> list[tuple[tuple[Fraction, Fraction], int]]:
        """The probabilities of each view under both bits, and the guess there."""
        return [(pair, int(result.guesses[view] or 0)) for view, pair in result.views.items()]

    def posterior(self, view: Transcript) -> Fraction:
        """The exact chance of bit 0, given the answers."""
        zero, one = self.prior, 1 - self.prior
        for r in view.rounds:
            if isinstance(r.move, Challenge):
                zero *= chance_of(r.move, 0, r.answer)
                one *= chance_of(r.move, 1, r.answer)
        return zero / (zero + one)

    def admitted(self, view: Transcript) -> list[str]:
        """What may be asked now."""
        if not view.left:
            return []
        return [name for name, challenge in self.menu.items() if not self.game.refusal(challenge, view)]

    def advice(self, view: Transcript) -> str | None:
        """The best question by name, or None where guessing at once is as good as anything."""
        move = self.best.policy(view) if view.left and 0 < self.posterior(view) < 1 else None
        return None if move is None else next(name for name, c in self.menu.items() if c is move)

    def after(self, view: Transcript, name: str, answer: Any) -> Transcript:
        """The view with one more answer."""
        challenge = self.menu[name]
        return self.game.extended(view, challenge, answer, (), challenge.loss_at(answer))

    def answers(self, view: Transcript, name: str) -> list[tuple[Any, Fraction]]:
        """What the question may bring, with probabilities given the view."""
        p, challenge = self.posterior(view), self.menu[name]
        outcomes = dict.fromkeys(y for bit in (0, 1) for y, _ in _law(challenge, bit).items())
        return [(y, p * chance_of(challenge, 0, y) + (1 - p) * chance_of(challenge, 1, y)) for y in outcomes]

    def value(self, view: Transcript) -> Fraction:
        """The chance to win from here, by best play."""
        name, p = self.advice(view), self.posterior(view)
        if name is None:
            return max(p, 1 - p)
        return sum(
            (w * self.value(self.after(view, name, y)) for y, w in self.answers(view, name)), Fraction(0)
        )


def _nothing(view: Transcript) -> Move:
    return None


def chance_of(challenge: Challenge, bit: int, answer: Any) -> Fraction:
    """The probability of an answer in the world of the bit."""
    return Fraction(_law(challenge, bit).prob(answer))


@lru_cache(maxsize=64)
def _law(challenge: Challenge, bit: int) -> Finite:
    law = challenge.law(bit)
    assert isinstance(law, Finite)  # every menu below is finite and exact
    return law


def coin(odds: int) -> Challenge:
    """Randomized response about the bit: the truth `odds` times as often as a lie."""
    return Challenge(RandomizedResponse.with_odds(odds), 0, 1)


@dataclass(frozen=True)
class _Table:
    """A law for each bit, as a rule for `Custom`."""

    zero: tuple[Fraction, ...]
    one: tuple[Fraction, ...]
    outcomes: tuple[Any, ...]

    def __call__(self, bit: int) -> Finite:
        return Finite(self.outcomes, self.one if bit else self.zero)


def _any(left: Any, right: Any) -> bool:
    return True


def leak(denominator: int) -> Challenge:
    """Says the bit once in so many times, and else nothing: (0, 1/denominator)-DP."""
    d = Fraction(1, denominator)
    law = _Table((d, Fraction(0), 1 - d), (Fraction(0), d, 1 - d), (0, 1, "nothing"))
    return Challenge(Custom(law, ApproxDP(0.0, float(d), adjacency=REPLACE_ONE), _any), 0, 1)


def hint(zero: Fraction, one: Fraction) -> Challenge:
    """Says 0 with these probabilities under bit 0 and under bit 1."""
    law = _Table((zero, 1 - zero), (one, 1 - one), (0, 1))
    worst = max(zero / one, one / zero, (1 - zero) / (1 - one), (1 - one) / (1 - zero))
    return Challenge(Custom(law, PureDP(math.log(worst), adjacency=REPLACE_ONE), _any), 0, 1)


TABLES: Final[dict[str, Rules]] = {
    "two coins, one budget": Rules(
        {"coin 2 : 1": coin(2), "coin 3 : 1": coin(3)}, 3, Fraction(2, 5), Fraction(8)
    ),
    "a coin or a leak": Rules({"coin 2 : 1": coin(2), "leak 1 in 10": leak(10)}, 2, Fraction(5, 12)),
    "two one-sided hints": Rules(
        {"hint A": hint(Fraction(1, 2), Fraction(1, 4)), "hint B": hint(Fraction(3, 4), Fraction(1, 2))},
        3,
        Fraction(2, 7),
    ),
    "one coin, four times": Rules({"coin 2 : 1": coin(2)}, 4, Fraction(1, 2)),
}
"""The first three reward an adversary that listens; at the last a fixed list is as good."""

ABOUT: Final = {
    "coin 2 : 1": "true twice as often as false",
    "coin 3 : 1": "true three times as often as false",
    "leak 1 in 10": "the bit once in ten times, else nothing",
    "hint A": "“0” with chance 1/2 if the bit is 0, 1/4 if it is 1",
    "hint B": "“0” with chance 3/4 if the bit is 0, 1/2 if it is 1",
}
"""The questions in plain words."""
