"""The picture of the proof walker: one line of a proof in large, and all lines with both sides as bars."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from dpcourse.plots.marks import block
from dpcourse.plots.panel import Panel
from dpcourse.plots.proofs import COLOURS, MARKS, SIGN, middle
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE
from dpcourse.plots.words import parser
from dpcourse.proofs.show import Row, greek
from dpcourse.proofs.steps import Outcome, Term

ATOM = r"(\d|[A-Za-z]|\\[a-zA-Z]+)"  # what is an argument also without braces
REWRITTEN = (
    (r"\\(?:big|Big|bigl|bigr|textstyle|displaystyle|left|right)(?![a-zA-Z])", ""),
    (r"\\le(?![a-zA-Z])", r"\\leq "), (r"\\ge(?![a-zA-Z])", r"\\geq "), (r"\\ne(?![a-zA-Z])", r"\\neq "),
    (r"\\[td](frac|binom)(?![a-zA-Z])", r"\\\1"), (r"\\mathbb ?\{?E\}?", r"\\mathrm{E}"),
    (r"\\lVert|\\rVert|\\Vert", r"\\|"),
    (rf"\\(frac|binom) *{ATOM} *{ATOM}", r"\\\1{\2}{\3}"),
    (rf"\\(frac|binom) *{ATOM} *(\{{)", r"\\\1{\2}\3"),
    (rf"\\(frac|binom)(\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}}) *{ATOM}", r"\\\1\2{\3}"),
    (r"\\sqrt *([A-Za-z0-9])(?![a-zA-Z])", r"\\sqrt{\1}"),
    (r"\\(?:text|operatorname)\{([^{}]*)\}", lambda m: r"\mathrm{" + m.group(1).replace(" ", r"\ ") + "}"),
    (r"\\Pr\{\}'", r"\\Pr\\!'"), (r"\\[lr]vert(?![a-zA-Z])", "|"), (r"\\lvert|\\rvert", "|"),
    (r"\\ldots|\\dots", r"\\ldots "),
)  # fmt: skip
"""What matplotlib's mathematics does not know, in terms of what it knows."""


@lru_cache(maxsize=2048)
def mathtext(latex: str) -> str:
    """A formula that matplotlib can set; as it stands, in plain type, if there is none.

    >>> mathtext(r"\\tfrac12 \\le e^{\\varepsilon}")
    '$\\\\frac{1}{2} \\\\leq  e^{\\\\varepsilon}$'
    """
    text = latex
    for pattern, new in REWRITTEN:
        text = re.sub(pattern, new, text)
    try:
        parser().parse(f"${text}$", 100, FontProperties(size=LARGE))  # as it will be set
    except ValueError:
        return latex.replace("$", r"\$")
    return f"${text}$"


LARGE = 17.0
LOWERED = dict(zip("0123456789+-=()aeijkmnprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₘₙₚᵣₛₜᵤᵥₓ", strict=True))
HEAD: dict[str, Any] = {"color": INK, "fontsize": 11.5, "fontweight": "bold"}


def readable(words: str) -> str:
    """Indices and Greek letters in a sentence as one reads them.

    >>> readable("D_i and D_{i-1} differ by eps_1, as do x_T and y")
    'Dᵢ and Dᵢ₋₁ differ by ε₁, as do x_T and y'
    """

    def lowered(found: re.Match[str]) -> str:
        inside = found.group(1).strip("{}")
        known = all(letter in LOWERED for letter in inside)
        return "".join(LOWERED[letter] for letter in inside) if known else found.group(0)

    return re.sub(r"_(\{[^{}]*\}|\w)(?!\w)", lowered, greek(words))


def line_in_large(ax: Panel, row: Row, place: int, count: int) -> None:
    """The formula, both its values, the verdict and the reason."""
    step = row.step
    if isinstance(step.left, Term) and isinstance(step.right, Term):
        formulas = [mathtext(step.left.latex), mathtext(f"{SIGN_LATEX[step.relation]}\\ {step.right.latex}")]
    else:
        formulas = [mathtext(step.latex)]
    longest = max(len(re.sub(r"\\[a-zA-Z]+", "x", f)) for f in formulas)
    size = LARGE if longest < 62 else 13 if longest < 90 else 10.5
    kind = "the statement" if row.is_statement else "a lemma" if step.lemma else "a link of the chain"
    ax.still(0.0, 1.0, f"line {place + 1} of {count}: {row.name}, {kind}", va="top", **HEAD)
    for i, formula in enumerate(formulas):
        ax.still(0.012 if not i else 0.045, 0.63 - 0.36 * i, formula, color=INK, va="center", fontsize=size)
    colour = COLOURS[row.outcome]
    verdict = {Outcome.HELD: "holds", Outcome.UNDECIDED: "is undecided", Outcome.VIOLATED: "fails"}[
        row.outcome
    ]
    ax.still(
        1.0,
        1.0,
        f"{MARKS[row.outcome]} {verdict}",
        color=colour,
        ha="right",
        va="top",
        fontsize=15,
        fontweight="bold",
    )
    ax.still(
        1.0,
        0.52,
        f"{row.left_text} {SIGN[row.relation]} {row.right_text}",
        color=colour,
        ha="right",
        va="center",
        fontsize=13,
    )
    reason = "\n".join(textwrap.wrap(f"because {readable(step.because)}", 110))
    ax.still(0.0, -0.02, reason, color=INK, va="bottom", fontsize=10, style="italic")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set_axis_off()


SIGN_LATEX = {"<=": r"\le", "<": "<", "=": "=", ">=": r"\ge", ">": ">"}


def all_lines(ax: Axes, rows: Sequence[Row], place: int) -> None:
    """Left side above right side for each line; the line of the walk stands out, later lines wait faintly."""
    sides = [middle(side) for row in rows for side in (row.left, row.right)]
    shown = [x for x in sides if math.isfinite(x)] or [1.0]
    far = min(shown) > 0 and max(shown) / min(shown) > 50
    low, high = (min(shown) / 3, max(shown) * 1.05) if far else (min(0.0, *shown), max(0.0, *shown))
    span = (high - low) or 1.0
    ax.axhspan(
        len(rows) - 1.5 - place, len(rows) - 0.5 - place, color=GREEN, alpha=0.14, linewidth=0, zorder=0.5
    )
    for i, row in enumerate(rows):
        y = len(rows) - 1 - i
        alpha = 1.0 if i == place else 0.5 if i < place else 0.16
        bad = row.outcome is Outcome.VIOLATED
        for side, shift, colour in ((row.left, 0.2, BLUE), (row.right, -0.2, PURPLE)):
            value = min(max(middle(side), low), high) if math.isfinite(middle(side)) else high
            start = low if far else 0.0
            ink = COLOURS[row.outcome] if bad and shift > 0 else colour
            block(
                ax,
                min(start, value),
                y + shift - 0.17,
                max(abs(value - start), 0.003 * span if not far else 0),
                0.34,
                color=ink,
                alpha=alpha,
                hatch="//" if bad else None,
            )
    names = [
        f"{MARKS[row.outcome]} {'' if row.step.lemma or row.is_statement else '→ '}{row.name}"
        for row in reversed(rows)
    ]
    ax.set_yticks(range(len(rows)), names)
    ax.tick_params(axis="y", length=0)
    if far:
        ax.set_xscale("log")
        ax.set_xlim(low, high)
    else:
        ax.set_xlim(low - 0.01 * span, high + 0.04 * span)
    ax.set(
        ylim=(-0.6, len(rows) - 0.4), xlabel="left side (upper bar) and right side (lower bar) of each line"
    )
    ax.grid(axis="x")
