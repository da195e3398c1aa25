"""Cost: what one edit of a table costs in privacy, in exact fractions."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple

from dpcourse.errors import reject
from dpcourse.neighbours import REPLACE_ONE, Adjacency


class Cost(NamedTuple):
    """The most privacy loss (epsilon) that an edit of a table causes in the answers about it.

    `add` is for one row more or less, `swap` for one row that changes its value. A swap is a removal and
    an addition, but often costs less than two of them: it leaves a count as it is.
    """

    add: Fraction
    swap: Fraction

    def plus(self, other: Cost) -> Cost:
        """Answers about the same table add up."""
        return Cost(self.add + other.add, self.swap + other.swap)

    @property
    def most(self) -> Fraction:
        """The dearer of the two edits."""
        return max(self.add, self.swap)

    def under(self, adjacency: Adjacency) -> Fraction:
        """The cost of the one edit that leads to a neighbour."""
        return self.swap if adjacency is REPLACE_ONE else self.add


NOTHING: Final = Cost(Fraction(0), Fraction(0))
MOST: Final = 10**12  # of a budget or an epsilon, and of 1/epsilon


def exact(name: str, value: Any) -> Fraction:
    """A number as it is written: 0.1 is one tenth, not the binary fraction next to it.

    >>> exact("epsilon", 0.1) * 3 == exact("budget", 0.3)
    True
    """
    fix = "give a number such as 0.1, Fraction(1, 3) or Decimal('0.1')."
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        reject(name, value, "a real number", fix)
    if isinstance(value, numbers.Rational):
        return Fraction(value)
    if not math.isfinite(value):
        reject(name, value, "finite", fix)
    if isinstance(value, Decimal):
        return Fraction(value)
    return Fraction(repr(float(value)))


def exact_positive(name: str, value: Any) -> Fraction:
    """A number above 0, as it is written; not so small or large that the noise would leave the floats."""
    number, fix = exact(name, value), "choose a value such as 0.1."
    if number <= 0:
        reject(name, value, "a number above 0", fix)
    if not Fraction(1, MOST) <= number <= MOST:
        reject(name, value, f"between 1/{MOST:g} and {MOST:g}", fix)
    return number


def shown(value: Fraction) -> str:
    """As a decimal where that is short and exact, else as a fraction.

    >>> shown(Fraction(89, 100)), shown(Fraction(1, 3))
    ('0.89', '1/3')
    """
    text = f"{float(value):.12g}"
    if Fraction(text) == value:
        return text
    return str(value) if value.denominator < 10**6 else f"about {float(value):.6g}"
