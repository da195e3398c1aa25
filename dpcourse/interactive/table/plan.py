"""Plan: where the budget went, as a tree of tables and queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from dpcourse.interactive.table.agents import Agent
from dpcourse.interactive.table.costs import Cost, shown
from dpcourse.interactive.table.stages import Stage
from dpcourse.neighbours import REPLACE_ONE


@dataclass(frozen=True)
class Node:
    """A table or a query, and what an edit of that table costs in it and in all that follows from it."""

    label: str
    cost: Fraction
    kind: str  # "table", "query" or "refused"
    children: tuple[Node, ...] = ()

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Node]]:
        """The node and all below it, with their depths: the data of a drawing."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


@dataclass(frozen=True)
class Plan:
    """The budget, what is spent, and the tree of where it went."""

    budget: Fraction
    spent: Fraction
    adjacency: str
    roots: tuple[Node, ...]
    refused: tuple[Node, ...]

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.budget - self.spent

    @property
    def headline(self) -> str:
        """The totals in a line."""
        amounts = f"budget {shown(self.budget)}, spent {shown(self.spent)}, left {shown(self.remaining)}"
        return f"{amounts} ({self.adjacency})"

    def __repr__(self) -> str:
        nodes = (*self.roots, *self.refused)
        return "\n".join(
            [self.headline, *(line for i, n in enumerate(nodes, 1) for line in _lines(n, i == len(nodes)))]
        )

    def _repr_html_(self) -> str:
        """Nested lists with a bar for each cost; ink in the page's own colour reads on any theme."""
        items = "".join(self._item(node) for node in (*self.roots, *self.refused))
        title = escape(self.headline)
        return f'<div role="group" aria-label="{title}"><b>{title}</b><ul>{items}</ul></div>'

    def _item(self, node: Node) -> str:
        width = min(100.0, 100 * float(node.cost / self.budget))
        colour = "#d55e00" if node.kind == "refused" else "#0072b2"
        bar = (
            '<span style="display:inline-block;width:8em;height:.7em;border:1px solid currentColor">'
            f'<span style="display:block;height:100%;width:{width:.1f}%;background:{colour}"></span></span>'
        )
        name = f"<i>{escape(node.label)}</i>" if node.kind == "table" else escape(node.label)
        inner = "".join(self._item(child) for child in node.children)
        return f"<li>{bar} {shown(node.cost)} &nbsp; {name}{f'<ul>{inner}</ul>' if inner else ''}</li>"


def plan_of(agent: Agent) -> Plan:
    """The tree of everything that was charged or refused."""
    ledger = agent.ledger

    def price(stage: Stage, cost: Cost) -> Fraction:
        """The dearest edit that can happen to the table."""
        if agent.adjacency is not REPLACE_ONE:
            return cost.add
        return cost.most if stage.resizes else cost.swap

    def node(stage: Stage) -> Node:
        answers = [r for r in agent.granted if r.stage is stage]
        leaves = [Node(r.label, price(stage, r.cost), "query") for r in answers]
        branches = [
            node(child) for child in dict.fromkeys(ledger.children[stage]) if any(ledger.total[child])
        ]
        return Node(stage.label, price(stage, ledger.total[stage]), "table", (*leaves, *branches))

    roots = tuple(node(stage) for stage in ledger.own if not stage.parents)
    refused = tuple(Node(f"refused: {r.label}", price(r.stage, r.cost), "refused") for r in agent.refused)
    return Plan(agent.budget, agent.spent, repr(agent.adjacency), roots, refused)


def _lines(node: Node, last: bool, indent: str = "") -> Iterator[str]:
    yield f"{indent}{'└─' if last else '├─'} {node.label}: {shown(node.cost)}"
    for i, child in enumerate(node.children, 1):
        yield from _lines(child, i == len(node.children), indent + ("   " if last else "│  "))
