"""The best adversary and the best fixed plan in exact Fractions, for small games.

An adaptive adversary's value by backward induction over all (queries asked, budget spent, g = e^{eps-L}):

    V(s, g) = max( max(0, 1 - g), max over admitted items a of sum_y P_a(y) V(s + a, g Q_a(y)/P_a(y)) ),

with V = 1 at g = 0 (Q never gives the view), because H_eps(V^0 || V^1) = E_P[max(0, 1 - g)] at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from dpcourse.errors import reject
from dpcourse.game.solver.ledger import Ledger, open_ledger
from dpcourse.game.solver.menu import Item
from dpcourse.game.solver.tariff import tariff_of
from dpcourse.guarantees import Guarantee
from dpcourse.interactive.filters import Filter

STOP: Final = -1
STATES: Final = 20_000
"""Up to so many states an exact solution is found in a second or two."""
State = tuple[int, Fraction]
Level = dict[State, tuple[Fraction, int]]


@dataclass(frozen=True)
class ExactSolution:
    """levels[n][row, g]: the value after n queries in a state of the ledger, and the item to ask for."""

    ledger: Ledger
    ratio: Fraction
    levels: tuple[Level, ...]

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The value at the start, twice."""
        value = self.levels[0][0, self.ratio][0]
        return value, value

    @property
    def method(self) -> str:
        """What was computed."""
        return f"{sum(map(len, self.levels))} states, in Fractions"

    def choice(self, left: int, charges: Sequence[Guarantee], loss: float) -> int:
        """The item to ask for in the state whose loss is nearest, or STOP."""
        level, row = self.ledger.rounds - left, self.ledger.find(left, charges)
        if not math.isfinite(loss):
            return STOP
        target = math.log(self.ratio) - loss
        g = min(self._reached[level, row], key=lambda g: abs(math.log(g) - target) if g else math.inf)
        return self.levels[level][row, g][1]

    @cached_property
    def _reached(self) -> dict[tuple[int, int], list[Fraction]]:
        reached: dict[tuple[int, int], list[Fraction]] = {}
        for n, level in enumerate(self.levels):
            for row, g in level:
                reached.setdefault((n, row), []).append(g)
        return reached


def solve_exactly(
    items: Sequence[Item], rounds: int, budget: Filter | None, ratio: Fraction, limit: int
) -> ExactSolution | None:
    """By backward induction over the states that can be reached; None if there are more than `limit`."""
    guarantees = [item.guarantee for item in items]
    ledger = open_ledger(tariff_of(budget, guarantees, rounds), guarantees, rounds, limit)
    if ledger is None:
        return None
    factors, moves = [item.factors for item in items], [move.tolist() for move in ledger.moves]
    reached: list[set[State]] = [{(0, ratio)}]
    for move in moves:
        ahead: set[State] = set()
        for row, g in reached[-1]:
            for a, law in enumerate(factors):
                if g and (to := move[a][row]) >= 0:
                    ahead.update((to, g * factor) for factor in law)
        reached.append(ahead)
        if sum(map(len, reached)) > limit:
            return None
    levels: list[Level] = [{state: (max(Fraction(0), 1 - state[1]), STOP) for state in reached[-1]}]
    for move, states in zip(reversed(moves), reversed(reached[:-1]), strict=True):
        levels.append({state: _best(state, move, factors, levels[-1]) for state in states})
    return ExactSolution(ledger, ratio, tuple(reversed(levels)))


def _best(
    state: State, move: list[list[int]], factors: Sequence[dict[Fraction, Fraction]], ahead: Level
) -> tuple[Fraction, int]:
    row, g = state
    best, choice = max(Fraction(0), 1 - g), STOP
    for a, law in enumerate(factors):
        if g and (to := move[a][row]) >= 0:
            value = sum((p * ahead[to, g * factor][0] for factor, p in law.items()), Fraction(0))
            if value > best:
                best, choice = value, a
    return best, choice


Law = dict[Any, Any]
PLANS: Final = 20_000


def best_plan(
    items: Sequence[Item], rounds: int, budget: Filter | None, epsilon: float, ratio: Fraction | None
) -> tuple[Any, tuple[int, ...]]:
    """The largest H_eps of a list of items that is fixed in advance, and how often each is in it.

    All lists that the filter admits in some order are tried; the order does not matter for H_eps. In
    Fractions if all laws and the ratio are, else in floats with losses merged to 12 digits.
    """
    guarantees = [item.guarantee for item in items]
    ledger = open_ledger(tariff_of(budget, guarantees, rounds), guarantees, rounds, PLANS)
    exact = ratio is not None and all(item.exact for item in items)
    steps = [dict(item.factors) if exact else _by_loss(item) for item in items]
    join: Callable[[Any, Any], Any] = (lambda a, b: a * b) if exact else (lambda a, b: round(a + b, 12))

    def gain(law: Law) -> Any:
        if exact:
            return sum((p * max(Fraction(0), 1 - ratio * g) for g, p in law.items()), Fraction(0))
        return math.fsum(p * max(0.0, -math.expm1(epsilon - loss)) for loss, p in law.items())

    none = (0,) * len(items)
    plans: dict[tuple[int, ...], tuple[int, Law]] = {
        none: (0, {Fraction(1): Fraction(1)} if exact else {0.0: 1.0})
    }
    best, tried = (gain(plans[none][1]), none), 1
    for level in range(rounds):
        longer: dict[tuple[int, ...], tuple[int, Law]] = {}
        for counts, (row, law) in plans.items():
            for a, step in enumerate(steps):
                plan = (*counts[:a], counts[a] + 1, *counts[a + 1 :])
                if ledger and plan not in longer and (to := int(ledger.moves[level][a, row])) >= 0:
                    longer[plan] = to, _convolved(law, step, join)
                    best = max(best, (gain(longer[plan][1]), plan), key=lambda pair: pair[0])
        plans, tried = longer, tried + len(longer)
        if ledger is None or tried > PLANS:
            fix = "play fewer rounds, or compose one sequence: PrivacyLoss.between(P, Q) + ..."
            reject("rounds", rounds, f"few enough to try all plans (at most {PLANS})", fix)
    return best


def _by_loss(item: Item) -> Law:
    losses, p = item.loss.atoms
    law = dict(zip(losses.tolist(), p.tolist(), strict=True))
    return law | ({math.inf: item.loss.infinite} if item.loss.infinite else {})


def _convolved(law: Law, step: Law, join: Callable[[Any, Any], Any]) -> Law:
    joint: Law = {}
    for a, p in law.items():
        for b, q in step.items():
            key = join(a, b)
            joint[key] = joint.get(key, 0) + p * q
    return joint
