"""A checked proof and the chain of its steps, as text, as a table, and as data for pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from html import escape
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dpcourse.errors import one_of, reject
from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.domain import Point
from dpcourse.proofs.functions import is_exact
from dpcourse.proofs.steps import SIGNS, Outcome, Step, compare, slack

if TYPE_CHECKING:
    from dpcourse.proofs.proof import Proof

LONG = 110
MARK = {Outcome.HELD: "✓", Outcome.UNDECIDED: "?", Outcome.VIOLATED: "✗"}


@dataclass(frozen=True)
class Row:
    """One line at one point; of a line "for all", one entry."""

    step: Step
    left: tuple[float, float]
    right: tuple[float, float]
    left_text: str
    right_text: str
    outcome: Outcome
    slack: float
    is_statement: bool

    @property
    def name(self) -> str:
        """The name of the step."""
        return self.step.name

    @property
    def relation(self) -> str:
        """The relation of the step."""
        return self.step.relation

    def data(self) -> dict[str, Any]:
        """In plain numbers and strings."""
        return {
            "name": self.name,
            "left": self.left,
            "relation": self.relation,
            "right": self.right,
            "outcome": self.outcome.value,
            "slack": self.slack,
            "because": self.step.because,
            "latex": self.step.latex,
            "lemma": self.step.lemma,
            "uses": list(self.step.uses),
            "statement": self.is_statement,
        }


def rows(lines: Sequence[Step], seen: Any) -> Iterator[Row]:
    """The lines at the first point of a batch; the last line is the statement.

    Of a line "for all", links show the entry of the statement, so that each begins where another ended.
    """
    sides = [line.sides(seen) for line in lines]
    pairs = [(left[:1], right[:1]) for left, right in sides]  # keeps an array of Fractions an array
    shape, shared = pairs[-1][0].shape, _row(lines[-1], *pairs[-1], None)[1]
    for line, (left, right) in zip(lines, pairs, strict=True):
        follows = not line.lemma and left.shape == shape
        row, _ = _row(line, left, right, shared if follows else None)
        yield replace(row, is_statement=line is lines[-1])


def _row(line: Step, left: Any, right: Any, wanted: int | None) -> tuple[Row, int]:
    """The line and the entry shown: one that fails, else an undecided one, else `wanted` or the tightest."""
    held, failed = (np.ravel(flags) for flags in compare(left, line.relation, right))
    room = np.ravel(slack(left, line.relation, right))
    rank = np.where(failed, 0, np.where(held, 2, 1))
    worst = int(np.lexsort((room, rank))[0])
    entry = worst if wanted is None or rank[wanted] > rank[worst] else wanted
    outcome = Outcome.VIOLATED if failed.any() else Outcome.HELD if held.all() else Outcome.UNDECIDED
    (a, a_text), (b, b_text) = _number(left, entry), _number(right, entry)
    return Row(line, a, b, a_text, b_text, outcome, float(room[entry]), False), entry


def _number(side: Any, place: int) -> tuple[tuple[float, float], str]:
    if is_exact(side):
        value = np.ravel(side)[place]
        exact, text = float(value), str(value)
        return (exact, exact), text if len(text) <= 9 else f"{exact:.6g}"
    lower, upper = (float(np.ravel(end)[place]) for end in (Bracket.of(side).lower, Bracket.of(side).upper))
    middle = lower if lower == upper else (lower + upper) / 2
    if lower == upper or upper - lower <= 1e-7 * abs(middle):
        return (lower, upper), f"{middle:.6g}"
    # Rounding around 0 differs between machines, and a notebook should not.
    noise = max(abs(lower), abs(upper)) < 1e-12
    return (lower, upper), "0" if noise else f"[{lower:.6g}, {upper:.6g}]"


@dataclass(frozen=True, repr=False)
class Checked:
    """A proof at one point: every line with both values, the verdict and the reason."""

    proof: Proof
    point: Point
    rows: tuple[Row, ...]

    @property
    def holds(self) -> bool:
        """Whether every line is certain."""
        return all(row.outcome is Outcome.HELD for row in self.rows)

    @property
    def statement(self) -> Row:
        """The line of the statement."""
        return self.rows[-1]

    def __getitem__(self, name: str) -> Row:
        """The line of a step."""
        found = {row.name: row for row in self.rows}
        return found[one_of("step", name, found)]

    @property
    def loses_most(self) -> Row | None:
        """The link of the chain with the largest slack: where a better argument could gain."""
        links = [row for row in self.rows[:-1] if not row.step.lemma]
        return max(links, key=lambda row: row.slack, default=None)

    @property
    def head(self) -> str:
        """The proof and the point, cut where a long list would fill the line."""
        text = f"{self.proof.name} at {self.proof.domain.show(self.point)}"
        return text if len(text) <= LONG else f"{text[: LONG - 4]} ..."

    def __str__(self) -> str:
        width = max(len(row.name) for row in self.rows)
        lines = [
            f"{MARK[row.outcome]} {row.name:<{width}}  {row.left_text} {row.relation} {row.right_text}"
            for row in self.rows
        ]
        return "\n".join([self.head, *lines])

    __repr__ = __str__

    def _cells(self) -> Iterator[tuple[str, ...]]:
        for row in self.rows:
            values = _powers(f"{row.left_text} {SIGNS[row.relation]} {row.right_text}")
            yield (f"{MARK[row.outcome]} {row.name}", row.step.latex, values, row.step.because)

    def _repr_markdown_(self) -> str:
        head = f"**{self.proof.name}**{self.head.removeprefix(self.proof.name)}"
        body = [(name, f"${latex}$", f"${values}$", why) for name, latex, values, why in self._cells()]
        return f"{head}\n\n{table(('step', 'line', 'values', 'because'), body)}"

    def _repr_html_(self) -> str:
        left = "style='text-align:left;vertical-align:top'"
        fixed = "style='text-align:left;vertical-align:top;white-space:nowrap'"
        body = "".join(
            f"<tr><td {fixed}>{escape(name)}</td>"
            f"<td {left}>${escape(latex)}$<br>{_spoken(because)}</td>"
            f"<td {fixed}>${escape(values)}$</td></tr>"
            for name, latex, values, because in self._cells()
        )
        head = "".join(
            f"<th scope='col' {left}>{name}</th>" for name in ("step", "line and reason", "values")
        )
        caption = f"<caption {left}>{escape(self.head)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _powers(numbers: str) -> str:
    """Numbers as mathematics writes them.

    >>> print(_powers("4.1e-08 < 2e+20"))
    4.1\\cdot10^{-8} < 2\\cdot10^{20}
    """
    return re.sub(r"e([+-]\d+)", lambda found: rf"\cdot10^{{{int(found[1])}}}", numbers)


GREEK = {"eps": "ε", "epsilon": "ε", "delta": "δ", "lambda": "λ", "alpha": "α", "beta": "β", "rho": "ρ"}
GREEK |= {"eta": "η", "gamma": "γ", "mu": "μ", "phi": "φ", "sigma": "σ"}


def greek(text: str) -> str:
    """A reason with the letters and signs of mathematics.

    >>> greek("eps_1 <= 2 beta")
    'ε_1 ≤ 2 β'
    """
    names = rf"(?<![A-Za-z])({'|'.join(GREEK)})(?![A-Za-z])"
    return re.sub(names, lambda found: GREEK[found[1]], text).replace("<=", "≤").replace(">=", "≥")


def _spoken(text: str) -> str:
    """A reason for the page: Greek letters, and letters with an index as mathematics."""
    letter, index, power = r"(?<![\w$])([A-Za-zα-ω])", r"_(\{[^{}]*\}|\w+)", r"(\^(?:\{[^{}]*\}|\w+))?"
    return re.sub(letter + index + power, r"$\1_{\2}\3$", escape(greek(text)))


def unknown(what: str, name: Any, names: Iterable[str]) -> NoReturn:
    """The error for a name that a list of proofs does not have, with names like it."""
    near = get_close_matches(str(name), names, 3, 0.5)
    fix = f"use {' or '.join(map(repr, near))}." if near else "print the list to see its names."
    reject(what, name, "a name in the list", fix)


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table; a bar would end the cell, so in a formula and in text it is written otherwise."""
    lines = [head, ["---"] * len(head), *([_bars(cell) for cell in row] for row in body)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _bars(cell: str) -> str:
    parts = cell.split("$")  # formulas at the odd places
    parts[::2] = [text.replace("|", "&#124;") for text in parts[::2]]
    parts[1::2] = [math.replace(r"\|", r"\Vert ").replace("|", r"\vert ") for math in parts[1::2]]
    return "$".join(parts)
