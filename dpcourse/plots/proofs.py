"""Pictures of a proof at one point: both sides of every step, and where the slack is lost."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse.errors import reject
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label
from dpcourse.proofs.show import Checked, Row
from dpcourse.proofs.steps import Outcome

MARKS = {Outcome.HELD: "✓", Outcome.UNDECIDED: "?", Outcome.VIOLATED: "✗"}
COLOURS = {Outcome.HELD: GREEN, Outcome.UNDECIDED: PURPLE, Outcome.VIOLATED: VERMILION}


def proof_bars(ax: Axes, checked: Checked) -> list[Artist]:
    """Two bars for each line, left above right; lines that fail are drawn in another colour and hatched.

    The axis is logarithmic if all values are positive and far apart.
    """
    rows = list(reversed(checked.rows))
    values = [v for row in rows for v in (middle(row.left), middle(row.right))]
    if not all(map(math.isfinite, values)):
        reject("proof", checked.proof.name, "one with finite sides at this point", "choose another point.")
    far = min(values) > 0 and max(values) / min(values) > 50
    start = 10 ** math.floor(math.log10(min(values))) if far else 0.0
    artists: list[Artist] = []
    for place, row in enumerate(rows):
        failed = row.outcome is Outcome.VIOLATED
        for side, shift, colour in ((row.left, 0.2, BLUE), (row.right, -0.2, INK)):
            artists += ax.barh(
                place + shift,
                middle(side) - start,
                height=0.36,
                left=start,
                color=VERMILION if failed and colour == BLUE else colour,
                hatch="//" if failed else "",
            )
        text = f"{row.left_text} {SIGN[row.relation]} {row.right_text}"
        artists.append(label(ax, max(middle(row.left), middle(row.right), start), place, text))
    ax.set_yticks(range(len(rows)), [f"{MARKS[row.outcome]} {row.name}" for row in rows])
    ax.tick_params(axis="y", length=0)
    if far:
        ax.set_xscale("log")
    ax.margins(x=0.3)
    ax.set_xlabel("left side (upper bar) and right side (lower bar)")
    ax.set_title(checked.proof.name)
    return artists


SIGN = {"<=": "≤", "<": "<", "=": "=", ">=": "≥", ">": ">"}


def proof_slack(ax: Axes, checked: Checked) -> list[Artist]:
    """The way from the left to the right side of the statement: a stair for each link, with its share."""
    links = [row for row in checked.rows[:-1] if not row.step.lemma]
    if not links:
        fix = "draw a proof with steps; an assertion has none."
        reject("proof", checked.proof.name, "one whose steps form a chain", fix)
    total = sum(abs(_way(row)) for row in links)
    worst = checked.loses_most
    artists: list[Artist] = []
    for place, row in enumerate(reversed(links)):
        colour = VERMILION if row is worst and total > 0 else COLOURS[row.outcome]
        artists += ax.barh(place, _way(row), left=middle(row.left), height=0.6, color=colour)
        share = abs(_way(row)) / total if total else 0.0
        text = f"{share:.0%} of the slack" + (" (most)" if row is worst and total > 0 else "")
        artists.append(label(ax, max(middle(row.left), middle(row.right)), place, text))
    ax.set_yticks(range(len(links)), [row.name for row in reversed(links)])
    ax.tick_params(axis="y", length=0)
    ax.margins(x=0.35)
    ax.set_xlabel("from the left side of the statement to its right side")
    ax.set_title(f"{checked.proof.name}: where the slack is")
    return artists


def middle(side: tuple[float, float]) -> float:
    """The middle of a bracket."""
    low, high = side
    return low if low == high else float(np.mean(side))


def _way(row: Row) -> float:
    return middle(row.right) - middle(row.left)
