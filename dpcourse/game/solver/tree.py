"""The decision tree of a solved game, to read and to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcourse.game.solver.induction import STOP, ExactSolution
from dpcourse.game.solver.menu import Item


@dataclass(frozen=True)
class Branch:
    """An answer, its probabilities if the bit is 0 and if it is 1, and what follows."""

    outcome: Any
    left: Fraction
    right: Fraction
    node: Node


@dataclass(frozen=True)
class Node:
    """What is asked (or guessed), and the value: the part of this view's P that the adversary keeps.

    Printed, each line has the answer, its probabilities under both bits, the move and the value.
    """

    move: str
    value: Fraction
    branches: tuple[Branch, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.move}: {self.value}", *_lines(self.branches, "")])


def grow(solution: ExactSolution, items: Sequence[Item], depth: int) -> Node:
    """The first `depth` questions of the tree, by the solution's policy."""
    return _node(solution, items, depth, 0, 0, solution.ratio)


def _node(
    solution: ExactSolution, items: Sequence[Item], depth: int, level: int, row: int, g: Fraction
) -> Node:
    value, choice = solution.levels[level][row, g]
    if choice == STOP:
        return Node(f"guess {int(g > 1)}", value)
    item = items[choice]
    if not depth:
        return Node(f"{item.name} ...", value)
    to = int(solution.ledger.moves[level][choice, row])
    branches = []
    for outcome, p, q in item.outcomes:
        never = Node("guess 1", Fraction(0))  # bit 0 never gives this answer
        node = _node(solution, items, depth - 1, level + 1, to, g * q / p) if p else never
        branches.append(Branch(outcome, p, q, node))
    return Node(item.name, value, tuple(branches))


def _lines(branches: Sequence[Branch], indent: str) -> list[str]:
    lines = []
    for branch in branches:
        last = branch is branches[-1]
        here = f"{branch.outcome!r} ({branch.left} | {branch.right})"
        lines.append(f"{indent}{'└' if last else '├'}─ {here} -> {branch.node.move}: {branch.node.value}")
        lines += _lines(branch.node.branches, indent + ("   " if last else "│  "))
    return lines
