"""Agent: the keeper of a budget, in exact arithmetic; a refused request costs nothing.

It is to tables what a `PureFilter` is to games. A filter adds up a list; an agent knows that tables come
from one another, and charges what one person's row can reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dpcourse.errors import BadInput, one_of
from dpcourse.guarantees import Guarantee, PureDP
from dpcourse.interactive.table.costs import NOTHING, Cost, exact_positive, shown
from dpcourse.interactive.table.stages import Stage
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency


class BudgetExceeded(BadInput):
    """A request that does not fit into what is left; nothing was charged and no noise was drawn."""


class Request(NamedTuple):
    """A query about a table, and what an edit of that table would cost in its answer."""

    stage: Stage
    cost: Cost
    label: str


class Ledger:
    """What an edit of each table costs: its own answers', and what its descendants pass on to it."""

    def __init__(self) -> None:
        self.own: dict[Stage, Cost] = {}
        self.total: dict[Stage, Cost] = {}
        self.children: dict[Stage, list[Stage]] = {}

    def adopt(self, stage: Stage) -> None:
        """Enter a table with its ancestors; so far it costs nothing."""
        if stage in self.own:
            return
        for parent in stage.parents:  # twice, if a table is joined with itself: it is reached twice
            self.adopt(parent)
            self.children[parent].append(stage)
        self.own[stage] = self.total[stage] = NOTHING
        self.children[stage] = []

    def priced(self, requests: Iterable[Request]) -> tuple[dict[Stage, Cost], dict[Stage, Cost]]:
        """The changed entries of `own` and of `total`, if these requests were granted."""
        own: dict[Stage, Cost] = {}
        for request in requests:
            own[request.stage] = own.get(request.stage, self.own[request.stage]).plus(request.cost)
        total: dict[Stage, Cost] = {}
        for stage in sorted(_with_ancestors(own), key=lambda s: s.serial, reverse=True):
            children = self.children[stage]
            below = stage.gathered(child.passed(total.get(child, self.total[child])) for child in children)
            total[stage] = own.get(stage, self.own[stage]).plus(below)
        return own, total

    def spent(self, adjacency: Adjacency, total: dict[Stage, Cost] | None = None) -> Fraction:
        """The sum over the sources: the same person may have a row in each of them."""
        now = self.total | (total or {})
        return sum((now[s].under(adjacency) for s in now if not s.parents), Fraction(0))


class Agent:
    """Grants or refuses each query, so that all answers together are budget-DP (pure).

    The promise covers every adaptive choice of queries and of their epsilons. Several tables may share an
    agent; then it covers a person with one row in each. Floats count as the decimals they are written as.

    >>> agent = Agent(0.3)
    >>> agent.budget, agent.remaining
    (Fraction(3, 10), Fraction(3, 10))
    """

    def __init__(self, budget: Any, *, adjacency: Adjacency = ADD_REMOVE) -> None:
        self.budget = exact_positive("budget", budget)
        self.adjacency = one_of("adjacency", adjacency, (ADD_REMOVE, REPLACE_ONE))
        self.ledger = Ledger()
        self.granted: list[Request] = []
        self.refused: list[Request] = []

    @property
    def spent(self) -> Fraction:
        """What the answers so far cost together."""
        return self.ledger.spent(self.adjacency)

    @property
    def remaining(self) -> Fraction:
        """What is left of the budget."""
        return self.budget - self.spent

    @property
    def guarantee(self) -> Guarantee:
        """The promise about all answers, given and still to come."""
        return PureDP(float(self.budget), adjacency=self.adjacency)

    def charge(self, requests: Sequence[Request]) -> Fraction:
        """Charge all requests or, if they do not fit together, none; the price of granting them."""
        own, total = self.ledger.priced(requests)
        before, after = self.spent, self.ledger.spent(self.adjacency, total)
        if after > self.budget:
            self.refused += requests
            left = self.budget - before
            raise BudgetExceeded(
                f"{requests[0].label} breaks a rule: it must fit into the budget {shown(self.budget)}, and "
                f"would bring the total to {shown(after)}. Nothing was charged. Fix: "
                + (f"ask for less; {shown(left)} is left." if left else "nothing is left, so stop here.")
            )
        self.ledger.own |= own
        self.ledger.total |= total
        self.granted += requests
        return after - before

    def __repr__(self) -> str:
        return f"Agent(budget={shown(self.budget)}, spent={shown(self.spent)}, {self.adjacency})"


def alone(stage: Stage, cost: Cost, adjacency: Adjacency) -> Fraction:
    """What a query would cost if it were the only one."""
    ledger = Ledger()
    ledger.adopt(stage)
    return ledger.spent(adjacency, ledger.priced([Request(stage, cost, "")])[1])


def _with_ancestors(stages: Iterable[Stage]) -> set[Stage]:
    found: set[Stage] = set()
    waiting = list(stages)
    while waiting:
        stage = waiting.pop()
        if stage not in found:
            found.add(stage)
            waiting += stage.parents
    return found
