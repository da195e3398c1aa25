"""Queries about a column of numbers: sum, mean and quantiles, with public bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats, numeric, reject
from dpcourse.guarantees import PureDP
from dpcourse.interactive.table.costs import Cost, exact, shown
from dpcourse.interactive.table.expressions import Columns, look_up
from dpcourse.interactive.table.queries import Query
from dpcourse.laws import Laplace, Law
from dpcourse.mechanisms import Custom, ExponentialMechanism, LaplaceMechanism, Mechanism, PostProcessed
from dpcourse.neighbours import REPLACE_ONE

Bounds = tuple[Fraction, Fraction]
LARGEST: Final = 1e200  # of a bound: sums of so many rows as fit into a memory are finite


@dataclass(frozen=True)
class Bounded(Query):
    """A query about a numeric column whose values are moved into public bounds."""

    column: str
    bounds: Bounds

    @property
    def label(self) -> str:
        """The name, the column and the bounds."""
        lower, upper = map(shown, self.bounds)
        return f"noisy_{type(self).__name__.lower()} of {self.column} in [{lower}, {upper}]"

    @property
    def note(self) -> str:
        """The clipping."""
        lower, upper = map(shown, self.bounds)
        return f"values outside [{lower}, {upper}] count as its nearer end, missing ones (NaN) as {lower}"

    def values(self, columns: Columns) -> Floats:
        """The column, clipped."""
        lower, upper = map(float, self.bounds)
        given = look_up(columns, self.column).astype(float)
        return np.where(np.isnan(given), lower, np.clip(given, lower, upper))


@dataclass(frozen=True)
class Sum(Bounded):
    """The sum of the clipped values, with Laplace noise."""

    @property
    def moves(self) -> Cost:
        """The largest size of a value; the width of the bounds for a swap."""
        lower, upper = self.bounds
        return Cost(max(abs(lower), abs(upper)), upper - lower)

    def noisy(self, epsilon: float, sensitivity: float) -> Mechanism:
        """The sum, correctly rounded whatever the order of the rows, plus noise."""
        return LaplaceMechanism(
            epsilon, sensitivity=sensitivity, query=lambda columns: math.fsum(self.values(columns).tolist())
        )


@dataclass(frozen=True)
class Mean(Bounded):
    """The mean of the clipped values: a noisy total over a noisy size, without splitting the budget.

    Write each value as a mixture of the two ends, u of the upper and 1-u of the lower. The vector (sum of
    1-u, sum of u) moves by exactly 1 in the l1 norm with a row more or less, and holds both the size and
    the total: half the variance of a sum and a count with epsilon/2 each. Where rows are swapped, the
    `turned` vector, their difference and their sum, moves by 2 at most with either edit.
    """

    turned: bool

    @property
    def note(self) -> str:
        """The clipping, of the values and of the answer."""
        return f"{super().note}; so does the answer, and a noisy size below 1 counts as 1"

    @property
    def moves(self) -> Cost:
        """How far an edit moves the vector, in the l1 norm."""
        return Cost(Fraction(2), Fraction(2)) if self.turned else Cost(Fraction(1), Fraction(2))

    def noisy(self, epsilon: float, sensitivity: float) -> Mechanism:
        """The mean from two noisy weights, moved into the bounds."""
        lower, upper = map(float, self.bounds)
        turn = np.array([[-1.0, 1.0], [1.0, 1.0]]) if self.turned else np.eye(2)
        back = np.linalg.inv(turn)

        def weights(columns: Columns) -> Floats:
            u = (self.values(columns) - lower) / (upper - lower)
            high = math.fsum(u.tolist())
            return np.asarray(turn @ [len(u) - high, high])

        def mean(noisy: Any) -> Any:
            low, high = np.moveaxis(np.asarray(noisy) @ back.T, -1, 0)
            return lower + (upper - lower) * np.clip(high / np.maximum(low + high, 1.0), 0.0, 1.0)

        return PostProcessed(LaplaceMechanism(epsilon, sensitivity=sensitivity, query=weights), mean)


@dataclass(frozen=True)
class MeanOfKnownSize(Bounded):
    """The mean of a table whose size n is public: one row moves it by (upper - lower)/n."""

    @property
    def moves(self) -> Cost:
        """The width of the bounds, n times the move; no row comes or goes."""
        lower, upper = self.bounds
        return Cost(upper - lower, upper - lower)

    @property
    def label(self) -> str:
        """As that of any mean."""
        return super().label.replace("meanofknownsize", "mean")

    def noisy(self, epsilon: float, sensitivity: float) -> Mechanism:
        """The mean plus Laplace((upper - lower)/(n epsilon)); the lower bound stands for no rows at all."""

        def law(columns: Columns) -> Law:
            values = self.values(columns)
            size = max(len(values), 1)
            total = math.fsum(values.tolist()) if len(values) else float(self.bounds[0])
            return Laplace(total / size, sensitivity / (size * epsilon))

        return Custom(law, PureDP(epsilon, adjacency=REPLACE_ONE))


@dataclass(frozen=True)
class Quantile(Query):
    """A public candidate with about the share `rank` of the values below it.

    The exponential mechanism with the score -|(1 - rank) #below - rank #above|, which a row more or less
    moves by max(rank, 1 - rank) and a swap by 1 (for the median: Smith, STOC 2011).
    """

    column: str
    rank: Fraction
    candidates: tuple[float, ...]

    @property
    def label(self) -> str:
        """The rank and the column."""
        name = "noisy_median" if self.rank == Fraction(1, 2) else f"noisy_quantile {shown(self.rank)}"
        return f"{name} of {self.column} among {len(self.candidates)} candidates"

    @property
    def note(self) -> str:
        """Where the answer can lie."""
        low, high = min(self.candidates), max(self.candidates)
        listed = f"one of {len(self.candidates)} public candidates in [{low:g}, {high:g}]"
        return f"{listed}; missing values (NaN) are left out"

    @property
    def moves(self) -> Cost:
        """How far an edit moves a score."""
        return Cost(max(self.rank, 1 - self.rank), Fraction(1))

    def noisy(self, epsilon: float, sensitivity: float) -> Mechanism:
        """The exponential mechanism over the candidates."""
        rank, candidates = float(self.rank), np.array(self.candidates)

        def scores(columns: Columns) -> Floats:
            values = look_up(columns, self.column).astype(float)
            values = np.sort(values[~np.isnan(values)])
            below = np.searchsorted(values, candidates, side="left")
            above = len(values) - np.searchsorted(values, candidates, side="right")
            return np.asarray(-np.abs((1 - rank) * below - rank * above))

        return ExponentialMechanism(epsilon, self.candidates, score=scores, sensitivity=sensitivity)


def public_bounds(bounds: Any) -> Bounds:
    """(lower, upper) as exact numbers; they are asked for, because a range read off the data leaks."""
    fix = "say what values are possible, without looking at the data: bounds=(0, 100)."
    if bounds is None or np.shape(bounds) != (2,):
        reject("bounds", bounds, "a public pair (lower, upper)", fix)
    lower, upper = exact("lower bound", bounds[0]), exact("upper bound", bounds[1])
    if max(abs(lower), abs(upper)) > LARGEST:
        reject("bounds", bounds, f"within {LARGEST:g} of 0, so that no sum overflows", fix)
    if not float(lower) < float(upper):
        reject("bounds", bounds, "a pair (lower, upper) with lower < upper, also as floats", fix)
    return lower, upper


def public_candidates(candidates: Any) -> tuple[float, ...]:
    """Distinct numbers to choose from."""
    fix = "list them without looking at the data: candidates=range(0, 101)."
    if not isinstance(candidates, Iterable) or isinstance(candidates, str):
        reject("candidates", candidates, "a public list of possible answers", fix)
    listed = numeric("candidates", list(candidates))
    if listed.ndim != 1 or not len(listed):
        reject("candidates", candidates, "a public list of possible answers, at least one", fix)
    found = tuple(listed.tolist())
    if len(set(found)) < len(found):
        reject("candidates", candidates, "distinct", fix)
    return found
