"""The best adaptive adversary against a menu of mechanisms, found by backward induction."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpcourse.errors import nonnegative, reject, whole
from dpcourse.game.moves import Challenge, Guess, Transcript
from dpcourse.game.solver.bellman import CELLS, GridSolution, solve_on_grid
from dpcourse.game.solver.induction import STATES, STOP, ExactSolution, best_plan, solve_exactly
from dpcourse.game.solver.menu import Item, Menu, read_menu
from dpcourse.game.solver.tree import Node, grow
from dpcourse.interactive.filters import Filter


@dataclass(frozen=True)
class OptimalAdversary:
    """The adversary with the largest H_eps(V^0 || V^1); itself a move for every view.

    `delta` is that largest divergence (a Fraction, or the upper end of `bounds`): no adversary with this
    menu and filter breaks (epsilon, delta)-DP, and this one comes as close as the lower end says.
    """

    rounds: int
    epsilon: float
    filter: Filter | None
    items: tuple[Item, ...] = field(repr=False)
    solution: ExactSolution | GridSolution = field(repr=False)

    @property
    def bounds(self) -> tuple[Any, Any]:
        """A lower and an upper bound of the best divergence."""
        return self.solution.bounds

    @property
    def delta(self) -> Any:
        """The upper bound."""
        return self.bounds[1]

    @property
    def method(self) -> str:
        """How it was found."""
        return self.solution.method

    def policy(self, view: Transcript) -> Challenge | None:
        """What to ask, given `view.left`, `view.charges` and `view.loss`; None if nothing is worth asking."""
        choice = self.solution.choice(view.left, view.charges, view.loss)
        return None if choice == STOP else self.items[choice].challenge

    def __call__(self, view: Transcript) -> Challenge | Guess:
        """Asks by the policy, then guesses 0 if the loss reaches epsilon: the event that attains delta."""
        return self.policy(view) or _guess(view, self.epsilon)

    def tree(self, depth: int = 4) -> Node:
        """The first questions as a tree, for games solved in Fractions."""
        if not isinstance(self.solution, ExactSolution):
            fix = "give exact laws (RandomizedResponse.with_odds) and ratio = e^epsilon as a Fraction."
            reject("method", self.method, "in Fractions to draw a tree", fix)
        return grow(self.solution, self.items, whole("depth", depth))


def optimal_adversary(
    menu: Menu,
    rounds: int,
    epsilon: float | None = None,
    filter: Filter | None = None,  # noqa: A002
    exact: bool | None = None,
    *,
    ratio: Fraction | int | None = None,
    cells: int = CELLS,
) -> OptimalAdversary:
    """The best adversary for the target max over A of H_eps(V^0 || V^1), which is delta at this epsilon.

    The menu has challenges, or mechanisms with an obvious worst pair; add `challenge.swapped()` where the
    other direction is worse. With exact laws and `ratio` = e^epsilon small games are solved in Fractions;
    others on a grid of about `cells` states, with a bracket. `exact` insists on one or the other.

    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> coins = [RandomizedResponse.with_odds(odds) for odds in (2, 3)]
    >>> optimal_adversary(coins, rounds=2, ratio=Fraction(3, 2)).delta
    Fraction(15, 32)
    """
    items, rounds = read_menu(menu), whole("rounds", rounds)
    epsilon, ratio = _threshold(epsilon, ratio)
    possible = ratio is not None and all(item.exact for item in items)
    if exact and not possible:
        fix = "give ratio = e^epsilon as a Fraction, and laws such as RandomizedResponse.with_odds(3)."
        reject("exact", exact, "False unless the ratio and all laws are Fractions", fix)
    solution: ExactSolution | GridSolution | None = None
    if ratio is not None and possible and exact is not False:
        solution = solve_exactly(items, rounds, filter, ratio, 100 * STATES if exact else STATES)
    solution = solution or solve_on_grid(items, rounds, filter, epsilon, whole("cells", cells, 10_000))
    return OptimalAdversary(rounds, epsilon, filter, items, solution)


@dataclass(frozen=True)
class FixedPlan:
    """The best list of challenges that is fixed in advance, and its divergence."""

    delta: Any
    challenges: tuple[Challenge, ...]
    epsilon: float

    def __call__(self, view: Transcript) -> Challenge | Guess:
        """The next of the list, whatever the answers."""
        asked = len(view)
        return self.challenges[asked] if asked < len(self.challenges) else _guess(view, self.epsilon)


def best_fixed(
    menu: Menu,
    rounds: int,
    epsilon: float | None = None,
    filter: Filter | None = None,  # noqa: A002
    *,
    ratio: Fraction | int | None = None,
) -> FixedPlan:
    """The best adversary that does not look at the answers, by trying all that the filter admits.

    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> best_fixed([RandomizedResponse.with_odds(2)], rounds=2, ratio=3).delta  # 4/9 - 3/9 if twice +
    Fraction(1, 9)
    """
    items, rounds = read_menu(menu), whole("rounds", rounds)
    epsilon, ratio = _threshold(epsilon, ratio)
    delta, counts = best_plan(items, rounds, filter, epsilon, ratio)
    chosen = [item.challenge for item, count in zip(items, counts, strict=True) for _ in range(count)]
    return FixedPlan(delta, tuple(chosen), epsilon)


def _threshold(epsilon: float | None, ratio: Fraction | int | None) -> tuple[float, Fraction | None]:
    if (epsilon is None) == (ratio is None):
        given = f"epsilon {epsilon}, ratio {ratio}"
        reject("threshold", given, "epsilon or ratio = e^epsilon, one of them", "leave the other out.")
    if ratio is None:
        return float(nonnegative("epsilon", epsilon or 0.0)), None
    if not isinstance(ratio, Fraction | int) or ratio < 1:
        fix = "write Fraction(3, 2), or give epsilon = math.log(1.5)."
        reject("ratio", ratio, "a Fraction (or an int) of at least 1", fix)
    return math.log(ratio), Fraction(ratio)


def _guess(view: Transcript, epsilon: float) -> Guess:
    return Guess(0 if view.loss >= epsilon else 1)
