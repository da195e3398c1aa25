"""Pictures of one game: the tree of decisions, the walk of the loss, what is known now, and the score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.patches import Circle, Wedge

from dpcourse.audit import clopper_pearson
from dpcourse.plots.sheet import Sheet
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

RADIUS = 9.0  # of a disc, in points


@dataclass(frozen=True)
class Spot:
    """A place in the game: the answer that led here and its chance, the chance of bit 0, and what is done.

    `kind` is "past", "now", "plan" (ahead) or "missed" (an answer that did not come).
    """

    answer: str
    chance: float
    posterior: float
    shown: str
    act: str
    kind: str
    branches: tuple[Spot, ...] = ()

    @property
    def leaves(self) -> int:
        """How many ends there are below."""
        return sum(b.leaves for b in self.branches) or 1


def decision_tree(on: Sheet, root: Spot, rounds: int) -> None:
    """The game from left to right: each place is a disc whose blue part is the chance of bit 0.

    An edge is as wide as its answer is probable; the way that was taken is drawn through, the plan dashed.
    """
    left, right = 40.0, 70.0
    step, row = (on.wide - left - right) / rounds, on.tall / max(root.leaves, 3)
    edges: list[tuple[Any, float, str, Any]] = []
    discs, fills = [], []
    for spot, x, y, before in _placed(root, left, (on.tall + row * root.leaves) / 2, step, row):
        missed, taken, now = spot.kind == "missed", spot.kind in {"past", "now"}, spot.kind == "now"
        size = RADIUS * (0.55 if missed else 1)
        if before is not None:
            style = "-" if taken else (0, (1, 1.5)) if missed else (0, (4, 1.5))
            wide = 3.4 if taken else 0.8 + 2.6 * spot.chance
            edges.append((_bend(before, (x, y)), wide, GREEN if taken else INK, style))
        turn = 90 + 360 * spot.posterior
        discs += [Wedge((x, y), size, turn, 450), Wedge((x, y), size, 90, turn)]
        fills += [VERMILION, BLUE]
        if now:
            on.add(Circle((x, y), RADIUS + 4, fill=False, edgecolor=GREEN, linewidth=2))
        beside = RADIUS + (8 if now else 4)
        if spot.answer:
            on.text(x - beside - (10 if missed else 4), y - 4, spot.answer, "right", "top")
        if spot.branches:
            on.text(x + RADIUS, y + beside, spot.act, "right", "bottom", weight="bold", fontsize=9)
        elif spot.act:
            on.text(x + beside + 2, y, spot.act, weight="bold")
        on.text(x, y - size - (7 if now else 3), spot.shown, "center", "top", fontsize=8.5)
    if edges:
        ways, widths, inks, styles = map(list, zip(*edges, strict=True))
        on.lines(ways, colors=inks, linewidths=widths, linestyles=styles, zorder=1)
    on.shapes(discs, facecolors=fills, edgecolors="none", zorder=2)


def _bend(start: tuple[float, float], end: tuple[float, float]) -> Any:
    """A way that leaves and arrives level."""
    t = np.linspace(0, 1, 24)
    along = np.minimum(t / 0.62, 1)
    rise = along * along * (3 - 2 * along)
    return np.column_stack([start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * rise])


Placed = tuple[Spot, float, float, tuple[float, float] | None]


def _placed(
    spot: Spot, x: float, top: float, step: float, row: float, before: tuple[float, float] | None = None
) -> Iterator[Placed]:
    """Every spot with its place, and the place before it; a spot stands in the middle of its branches."""
    y = top - row * spot.leaves / 2
    yield spot, x, y, before
    for branch in spot.branches:
        yield from _placed(branch, x + step, top, step, row, (x, y))
        top -= row * branch.leaves


def loss_walk(on: Sheet, losses: Sequence[float], rounds: int, threshold: float, reach: float) -> None:
    """The loss after each answer, over the field that says 0 and the field that says 1."""
    high = max(reach, threshold + 0.3)
    middle, unit, step = on.tall / 2, on.tall / 2 / high, on.wide / rounds
    even = middle + unit * threshold
    on.box(0, even, on.wide, on.tall - even, color=BLUE, alpha=0.16)
    on.box(0, 0, on.wide, even, color=VERMILION, alpha=0.16)
    on.line([0, on.wide], [even, even], linewidth=1, linestyle="--")
    on.text(6, on.tall - 10, "say 0", color=BLUE, weight="bold")
    on.text(6, 10, "say 1", color=VERMILION, weight="bold")
    on.text(on.wide, even + 2, "even chances", "right", "bottom", fontsize=8.5)
    shown = [middle + unit * float(np.clip(loss, -high, high)) for loss in losses]
    on.line(
        [i * step for i in range(len(shown))], shown, color=GREEN, linewidth=2.5, marker="o", markersize=7
    )
    now = "−∞ " if losses[-1] == -math.inf else "∞" if losses[-1] == math.inf else f"{losses[-1]:+.2f}"
    on.text(on.wide, on.tall + 6, f"loss {now.replace('-', '−')} nats", "right", "bottom")
    on.title("the loss walk")


def knowledge(on: Sheet, posterior: float, shown: str, truth: int | None = None) -> None:
    """The chance of bit 0 as a bar; once it is known, a diamond at the side of the truth."""
    split = on.wide * posterior
    on.box(0, 0, split, on.tall, color=BLUE)
    on.box(split, 0, on.wide - split, on.tall, color=VERMILION)
    on.line([on.wide / 2] * 2, [-4, on.tall + 4], linewidth=1.2)
    for x, said, share in ((6.0, "0", posterior), (on.wide - 13, "1", 1 - posterior)):
        if share > 0.08:
            on.text(x, on.tall / 2 - 0.5, said, color="white", weight="bold")
    if truth is not None:
        x = 28.0 if truth == 0 else on.wide - 28
        on.line([x], [on.tall / 2], marker="D", markersize=13, color=GREEN, markeredgecolor="white", zorder=5)
        on.text(on.wide, -4, f"◆ the bit was {truth}", "right", "top", fontsize=9, color=GREEN)
    on.title(shown)


def score(
    on: Sheet, exact: Mapping[str, float], played: Mapping[str, tuple[int, int]], confidence: float = 0.99
) -> None:
    """A line for each player: a diamond for the exact chance to win, a dot with an interval for the games."""
    names = list(dict.fromkeys([*exact, *played]))
    row = on.tall / len(names)
    for x, mark in ((0.0, "0"), (0.5, "½"), (1.0, "1")):
        on.line([x * on.wide] * 2, [0, on.tall], linewidth=0.8, alpha=0.5)
        on.text(x * on.wide, -4, mark, "center", "top", fontsize=9)
    for i, name in enumerate(names):
        y = on.tall - row * (i + 0.5)
        on.text(-8, y, name, "right")
        if name in exact:
            on.line([exact[name] * on.wide], [y + 5], marker="D", color=GREEN, markersize=8)
        won, games = played.get(name, (0, 0))
        if games:
            low, high = clopper_pearson(won, games, confidence)
            on.line([low * on.wide, high * on.wide], [y - 6] * 2, marker="|", color=PURPLE, linewidth=2)
            on.line([won / games * on.wide], [y - 6], marker="o", color=PURPLE, markersize=6)
    on.title("won: ● so far, ◆ exactly", -62)
