"""Scenes of composition as diagrams: a filter at work, who may ask what, and the best policy as a tree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from dpcourse.game.solver.tree import Node
from dpcourse.plots.sheet import Sheet, sheet
from dpcourse.plots.style import BLUE, GREEN, INK, VERMILION


def _card(on: Sheet, x: float, y: float, wide: float, tall: float, colour: str) -> None:
    """A box with round corners."""
    shape = FancyBboxPatch((x, y), wide, tall, boxstyle="round,pad=0,rounding_size=7")
    shape.set(facecolor="none", edgecolor=colour, linewidth=1.8)
    on.add(shape)


def _arrow(on: Sheet, start: tuple[float, float], end: tuple[float, float], colour: str = INK) -> None:
    """A straight arrow."""
    arrow = FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=12, shrinkA=0, shrinkB=0)
    arrow.set(color=colour, linewidth=1.5)
    on.add(arrow)


def filter_at_work(asked: Sequence[tuple[str, float, bool]], budget: float) -> Figure:
    """A filter between an adversary and the data: each question, its price, and what is left of the budget.

    `asked` has a name, a cost, and whether it was admitted, for each question.
    """
    row, top = 40.0, 44.0
    tall = top + row * len(asked) + 16
    fig, on = sheet(9.2, tall / 72)
    ask, gate, gate_end, data = 124.0, 184.0, 458.0, 518.0
    for x, wide, name, colour in (
        (8.0, ask - 8, "adversary", VERMILION),
        (gate, gate_end - gate, "filter: does it fit into what is left?", GREEN),
        (data, on.wide - data - 8, "the data", BLUE),
    ):
        _card(on, x, 8, wide, tall - 16, colour)
        on.text(x + wide / 2, tall - 24, name, "center", color=colour, weight="bold", fontsize=10.5)
    unit, spent = (gate_end - gate - 78) / budget, 0.0
    for i, (name, cost, admitted) in enumerate(asked):
        y = tall - top - row * (i + 0.5)
        on.text(20, y, f"{i + 1}. {name}", fontsize=9.5)
        _arrow(on, (ask, y + 5), (gate, y + 5))
        on.text((ask + gate) / 2, y + 8, f"{cost:g}", "center", "bottom", fontsize=9)
        x = gate + 12
        on.box(x, y - 7, spent * unit, 14, color=INK, alpha=0.45)
        if admitted:
            on.box(x + spent * unit, y - 7, cost * unit, 14, color=GREEN)
            spent += cost
            _arrow(on, (gate_end, y + 5), (data, y + 5), GREEN)
            _arrow(on, (data, y - 6), (gate_end, y - 6), BLUE)
            _arrow(on, (gate, y - 6), (ask, y - 6), BLUE)
            on.text(data + 14, y, "answers, with noise", fontsize=9.5)
        else:
            over = min(cost * unit, gate_end - 6 - x - spent * unit)
            on.box(
                x + spent * unit,
                y - 7,
                over,
                14,
                fill=False,
                edgecolor=VERMILION,
                linewidth=1.4,
                hatch="////",
            )
            _arrow(on, (gate, y - 6), (ask, y - 6), VERMILION)
            on.text((ask + gate) / 2, y - 9, "no", "center", "top", fontsize=9.5, color=VERMILION)
            on.text(data + 14, y, "are not asked", fontsize=9.5)
        on.box(x, y - 7, budget * unit, 14, fill=False, edgecolor=INK, linewidth=1.2)
        on.text(gate_end - 8, y, f"{budget - spent:.3g} left", "right", fontsize=9, zorder=9)
    return fig


def table_scenario(lines: Sequence[str], sources: Sequence[tuple[str, float, float]]) -> Figure:
    """Who may see what: an analyst's program, the layer that adds noise and keeps budgets, the tables.

    `lines` is the program; a source is a name, its budget and what is spent of it.
    """
    tall = 236.0
    fig, on = sheet(9.6, tall / 72)
    left, layer, layer_end, right = 262.0, 300.0, 440.0, 492.0
    _card(on, 8, 26, left - 8, tall - 40, VERMILION)
    on.text(20, tall - 32, "an analyst, trusted with nothing", color=VERMILION, weight="bold")
    for i, line in enumerate(lines):
        on.text(20, tall - 58 - 17 * i, line, fontsize=9, family="monospace")
    _card(on, layer, 26, layer_end - layer, tall - 40, GREEN)
    middle = (layer + layer_end) / 2
    on.text(middle, tall - 32, "the layer", "center", color=GREEN, weight="bold")
    for i, words in enumerate(("knows how far", "one row reaches,", "asks the agent,", "draws the noise")):
        on.text(middle, tall - 62 - 16 * i, words, "center", fontsize=9.5)
    _arrow(on, (left, 150), (layer, 150))
    _arrow(on, (layer, 66), (left, 66), GREEN)
    on.text(20, 44, "gets numbers with noise, or a refusal", fontsize=9, color=GREEN)
    room = (tall - 40) / len(sources)
    for i, (name, budget, spent) in enumerate(sources):
        low = 26 + room * (len(sources) - 1 - i) + 4
        high = room - 8
        wide = on.wide - right - 8
        _card(on, right, low, wide, high, BLUE)
        on.text(right + 12, low + high - 16, name, color=BLUE, weight="bold", fontsize=9.5)
        unit = (wide - 24) / budget
        on.box(right + 12, low + 12, spent * unit, 11, color=GREEN)
        on.box(right + 12, low + 12, budget * unit, 11, fill=False, edgecolor=INK, linewidth=1.2)
        on.text(right + 12, low + 34, f"agent: {spent:g} of {budget:g} spent", fontsize=9)
        _arrow(on, (layer_end, low + high / 2), (right, low + high / 2), BLUE)
        _arrow(on, (right, low + high / 2 - 10), (layer_end, low + high / 2 - 10), BLUE)
    wall = (left + layer) / 2
    on.line([wall, wall], [18, tall - 6], color=INK, linewidth=1.4, linestyle=(0, (3, 2)))
    on.text(wall, 6, "questions and noisy numbers pass here, rows never", "center", "bottom", fontsize=9)
    return fig


def policy_tree(on: Sheet, root: Node, ratio: Fraction, title: str, step: float = 150.0) -> Fraction:
    """A policy from left to right; each end wins max(0, P - e^eps Q) of its P and Q. Gives the sum."""
    row = (on.tall - 34) / _ends(root)
    on.text(0, on.tall - 8, title, fontsize=11, weight="bold")
    total = Fraction(0)
    for node, x, y, before, answer, p, q in _laid(root, 26.0, on.tall - 30, step, row):
        if before is not None:
            _arrow(on, (before[0] + 18, before[1]), (x - 20, y))
            where = (before[0] + 0.52 * (x - before[0]), before[1] + 0.52 * (y - before[1]))
            slope = abs(y - before[1]) / (x - before[0] - 38)
            rise = math.copysign(9 + 14 * slope, y - before[1])
            on.text(where[0], where[1] + rise, f"says {answer}", "center", fontsize=9)
        if node.branches:
            _card(on, x - 18, y - 13, 36, 26, GREEN)
            on.text(x, y, node.move, "center", weight="bold", color=GREEN, fontsize=12)
        else:
            won = max(Fraction(0), p - ratio * q)
            total += won
            ink = BLUE if won else INK
            on.line([x - 12], [y], marker="o" if won else "x", color=ink, markersize=8)
            words = f"{p} − {ratio}·{q} = {won}" if won else f"{p} < {ratio}·{q}"
            on.text(x, y, words, fontsize=9.5, color=ink, weight="bold" if won else "normal")
    return total


def _ends(node: Node) -> int:
    return sum(_ends(branch.node) for branch in node.branches) or 1


def _laid(
    node: Node,
    x: float,
    top: float,
    step: float,
    row: float,
    before: tuple[float, float] | None = None,
    answer: Any = "",
    p: Fraction = Fraction(1),
    q: Fraction = Fraction(1),
) -> Iterator[tuple[Node, float, float, tuple[float, float] | None, Any, Fraction, Fraction]]:
    """Every node with its place, the place before it, the answer that led here, and P and Q of the view."""
    y = top - row * _ends(node) / 2
    yield node, x, y, before, answer, p, q
    for b in node.branches:
        yield from _laid(b.node, x + step, top, step, row, (x, y), b.outcome, p * b.left, q * b.right)
        top -= row * _ends(b.node)


def two_policies(best: Node, fixed: Node, ratio: Fraction) -> Figure:
    """The best policy above the best fixed list, each with the sum of what its ends win."""
    fig, _ = sheet(9.2, 4.7)
    low = 96.0
    places = ((best, low + 4, 72 * 4.7 - low - 4, "listens"), (fixed, 0.0, low - 6, "does not listen"))
    for node, bottom, tall, words in places:
        on = Sheet(fig, 10, bottom, 640, tall)
        won = policy_tree(on, node, ratio, "")
        common = math.lcm(won.denominator, 216)
        shown = f"{won.numerator * common // won.denominator}/{common}"
        on.text(0, tall - 12, f"{words}: δ = {shown} = {float(won):.4f}", fontsize=11, weight="bold")
    return fig
