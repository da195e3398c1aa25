"""Step: one line of a proof, two sides that can be computed and the relation that must hold between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np

from dpcourse.errors import one_of, reject
from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.functions import is_exact

SIGNS: Final = {"<=": r"\le", "<": "<", "=": "=", ">=": r"\ge", ">": ">"}
NARROW: Final = 1e-9
"""Brackets that meet count as equal if they are no wider than this part of the value (or than 1e-13)."""


class Outcome(Enum):
    """What the brackets say about a relation."""

    HELD = "held"
    UNDECIDED = "undecided"
    VIOLATED = "violated"


@dataclass(frozen=True)
class Term:
    """A side: a formula in LaTeX, and the function that computes it from the parameters of many points."""

    latex: str
    value: Callable[[Any], Any]

    def __call__(self, seen: Any) -> Any:
        """One row for each point; further axes are "for all"."""
        return self.value(seen)


@dataclass(frozen=True)
class Step:
    """left `relation` right, because of a reason.

    `left` and `right` are Terms, or functions of the parameters if `latex` gives the line. A lemma is not a
    link of the chain from the left to the right side of the statement: later steps name it in `uses`.

    >>> Step("twice", Term("a", lambda v: v.a), "<=", Term("2a", lambda v: 2 * v.a), "a >= 0").latex
    'a \\\\le 2a'
    """

    name: str
    left: Callable[[Any], Any]
    relation: str
    right: Callable[[Any], Any]
    because: str
    latex: str = ""
    lemma: bool = False
    uses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        one_of("relation", self.relation, SIGNS)
        if self.latex:
            return
        if not (isinstance(self.left, Term) and isinstance(self.right, Term)):
            fix = "give latex=..., or make both sides a Term(latex, value)."
            reject(f"latex of step {self.name}", "", "a formula", fix)
        line = f"{self.left.latex} {SIGNS[self.relation]} {self.right.latex}"
        object.__setattr__(self, "latex", line)

    def sides(self, seen: Any) -> tuple[Any, Any]:
        """Both sides, of one shape."""
        with np.errstate(all="ignore"):
            return _same_shape(_side(self.left(seen)), _side(self.right(seen)))

    def outcomes(self, seen: Any) -> tuple[Any, Any]:
        """For each point, whether the relation certainly holds, and whether it certainly fails."""
        left, right = self.sides(seen)
        held, failed = compare(left, self.relation, right)
        return _all_but_first(held, np.all), _all_but_first(failed, np.any)


def _side(value: Any) -> Any:
    """A bracket, or an array of exact numbers; floats have been rounded, so they are neither."""
    if isinstance(value, Bracket):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "f" or (array.dtype == object and any(isinstance(x, float) for x in array.flat)):
        raise TypeError("a side must be a Bracket or exact (ints and Fractions), not rounded floats")
    return array


def _same_shape(left: Any, right: Any) -> tuple[Any, Any]:
    shape = np.broadcast_shapes(left.shape, right.shape)
    return _spread(left, shape), _spread(right, shape)


def _spread(value: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(value, Bracket):
        return Bracket(np.broadcast_to(value.lower, shape), np.broadcast_to(value.upper, shape))
    return np.broadcast_to(value, shape)


def _all_but_first(flags: Any, reduce: Any) -> Any:
    return reduce(flags.reshape(len(flags), -1), axis=1)


def compare(left: Any, relation: str, right: Any) -> tuple[Any, Any]:
    """(certainly true, certainly false), entry by entry.

    Exact numbers are compared exactly. Brackets decide an inequality only if they are apart; an equality of
    brackets counts as true if they meet and are narrow, since no rounded arithmetic can say more.
    """
    if relation in (">=", ">"):
        return compare(right, {">=": "<=", ">": "<"}[relation], left)
    if is_exact(left) and is_exact(right):
        test = {"<=": np.less_equal, "<": np.less, "=": np.equal}[relation]
        truth = test(left, right).astype(bool)
        return truth, ~truth
    a, b = Bracket.of(left), Bracket.of(right)
    with np.errstate(all="ignore"):
        if relation == "=":
            apart = (a.lower > b.upper) | (b.lower > a.upper)
            size = np.maximum(np.maximum(np.abs(a.upper), np.abs(b.upper)), 1e-300)
            widest = np.maximum(a.upper - a.lower, b.upper - b.lower)
            return ~apart & (widest <= NARROW * size + 1e-13), apart
        strict = relation == "<"
        held = a.upper < b.lower if strict else a.upper <= b.lower
        failed = a.lower >= b.upper if strict else a.lower > b.upper
    return held, failed


def slack(left: Any, relation: str, right: Any) -> Any:
    """How much room the relation leaves: right - left for <=; -|left - right| for =; below 0 if it fails."""
    if is_exact(left) and is_exact(right):
        gap = (right - left).astype(float)
    else:
        a, b = Bracket.of(left), Bracket.of(right)
        with np.errstate(invalid="ignore"):
            gap = (b.lower + b.upper) / 2 - (a.lower + a.upper) / 2
        gap = np.where(np.isnan(gap), 0.0, gap)
    if relation == "=":
        return -np.abs(gap)
    return gap if relation in ("<=", "<") else -gap
