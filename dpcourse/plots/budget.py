"""Pictures of a privacy budget: the gauge of what is spent, and the tree of where it went."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from matplotlib.patches import Rectangle

from dpcourse.plots.sheet import Sheet
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION


def gauge(on: Sheet, budget: float, pieces: Sequence[float], refused: float | None, shown: str) -> None:
    """What was paid, piece by piece, in the bar of the budget; a refused piece sticks out, crossed out."""
    unit = on.wide * 0.8 / budget
    full = budget * unit
    x, inks = 0.0, itertools.cycle((BLUE, PURPLE))
    for i, piece in enumerate(pieces, 1):
        wide = piece * unit
        if piece:
            on.box(x, 0, wide, on.tall, color=next(inks), alpha=0.9)
        if wide > 12:
            on.text(x + wide / 2, on.tall / 2 - 0.5, str(i), "center", color="white", weight="bold")
        x += wide
    frame: dict[str, Any] = {"fill": False, "edgecolor": INK, "linewidth": 1.2}
    if math.fsum(pieces) > budget * (1 + 1e-9):
        frame |= {"edgecolor": VERMILION, "linewidth": 3}
    if refused is not None:
        over = min(refused * unit, on.wide - x)
        on.add(
            Rectangle((x, 3), over, on.tall - 6, fill=False, edgecolor=VERMILION, linewidth=1.5, hatch="////")
        )
        on.line([full, full], [-8, on.tall + 8], color=VERMILION, linewidth=3)
        frame |= {"edgecolor": VERMILION, "linewidth": 3}
    on.add(Rectangle((0, 0), full, on.tall, **frame))
    on.title(shown)
    if refused is not None:
        on.text(
            full + 8, on.tall + 8, "refused", "left", "bottom", fontsize=11, color=VERMILION, weight="bold"
        )


def plan_tree(on: Sheet, rows: Sequence[tuple[int, str, float, str, str]], budget: float, title: str) -> None:
    """Tables and questions, each with a bar of what it costs; a row is (depth, label, cost, shown, kind)."""
    on.title(title)
    height = min(19.0, on.tall / max(len(rows), 1))
    size = 9.5 if height > 12 else 7.5
    bar = 110.0
    for i, (depth, label, cost, shown, kind) in enumerate(rows):
        y = on.tall - height * (i + 0.5)
        ink = {"table": INK, "query": BLUE, "refused": VERMILION}[kind]
        x = 14.0 * depth
        on.box(0, y - 4, bar, 8, facecolor="none", edgecolor=INK, linewidth=0.5, alpha=0.6)
        on.box(0, y - 4, bar * min(cost / budget, 1), 8, color=GREEN if kind == "table" else ink, alpha=0.9)
        on.text(bar + 8, y, shown, fontsize=size)
        if depth:
            on.line([bar + 50 + x - 9] * 2 + [bar + 50 + x - 2], [y + height * 0.8, y, y], linewidth=0.8)
        weight = "bold" if kind == "table" else "normal"
        on.text(bar + 50 + x, y, label, fontsize=size, color=ink, weight=weight)


def answers_list(on: Sheet, lines: Sequence[tuple[str, str, str]], title: str) -> None:
    """What was asked, answered and true, newest last; old ones go when there is no room."""
    on.title(title)
    room = int(on.tall // 16)
    first = max(0, len(lines) - room)
    for i, (asked, answered, truth) in enumerate(lines[first:]):
        y = on.tall - 16 * (i + 0.5)
        on.text(0, y, f"{first + i + 1}  {asked}", fontsize=9.5)
        on.text(on.wide - 92, y, answered, "right", fontsize=9.5, color=BLUE, weight="bold")
        on.text(on.wide, y, truth, "right", fontsize=9.5)
