r"""Means of sorted values (order statistics, medians, trimmed means, the mean) and their smooth sensitivity.

With x_1 <= ... <= x_n, x_i = low for i < 1 and x_i = high for i > n, let q be the mean of x_p, ..., x_r and
w = r - p + 1. One replaced row moves the window by one place at most, and t rows in between can be moved to
the ends before, so the local sensitivity at distance t is

    A(t) = max { x_j - x_i : i <= p, j >= r, j - i = w + t } / w,

and the smooth sensitivity is the maximum over all such pairs of (x_j - x_i) e^{-beta (j-i-w)} / w. (For the
median, w = 1: Nissim, Raskhodnikova and Smith, STOC 2007.) For growing j the best i does not decrease, so a
divide and conquer needs O(n log n); a pair that is too far apart to matter is never looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.errors import Floats, number, positive, reject, whole
from dpcourse.neighbours import REPLACE_ONE, Adjacency
from dpcourse.sensitivity.closed_forms import span
from dpcourse.sensitivity.gaps import largest_gap


@dataclass(frozen=True)
class RankMean:
    """The mean of the values with ranks `first` to `last` among `size` numbers in [low, high].

    The size is public, so rows are replaced: under add/remove the ranks themselves would move.

    >>> q = median(5, low=0, high=10)
    >>> [q.local_at((0, 1, 5, 9, 10), t) for t in range(5)]
    [4.0, 8.0, 9.0, 10.0, 10.0]
    >>> round(q.smooth((0, 1, 5, 9, 10), beta=0.5), 5)
    4.85225
    """

    size: int
    first: int
    last: int
    low: float
    high: float
    adjacency: Adjacency = field(default=REPLACE_ONE, kw_only=True)

    def __post_init__(self) -> None:
        whole("size", self.size)
        span(self.low, self.high)
        if not 1 <= whole("first", self.first) <= whole("last", self.last) <= self.size:
            rule = f"ranks with 1 <= first <= last <= {self.size}"
            reject("(first, last)", (self.first, self.last), rule, "count from 1, the smallest value.")
        if self.adjacency is not REPLACE_ONE:
            fix = "use REPLACE_ONE, or release a noisy sum and a noisy count under add/remove."
            reject("adjacency", self.adjacency, "replace-one: the ranks need a public size", fix)

    @property
    def width(self) -> int:
        """How many values are averaged."""
        return self.last - self.first + 1

    def __call__(self, data: Any) -> float:
        """The mean of the window."""
        return float(self._sorted(data)[self.first : self.last + 1].mean())

    @property
    def global_sensitivity(self) -> float:
        """(high - low)/width."""
        return (float(self.high) - float(self.low)) / self.width

    def local(self, data: Any) -> float:
        """max(x_{r+1} - x_p, x_r - x_{p-1})/w."""
        return self.local_at(data, 0)

    def local_at(self, data: Any, distance: int) -> float:
        """A(t), the largest local sensitivity after t replacements."""
        return _at(self._sorted(data), whole("distance", distance, 0), self.first, self.width)

    def smooth(self, data: Any, beta: float) -> float:
        """The smooth sensitivity, in O(n log n).

        It never falls below the least normal number, so that it is a scale (and it stays beta-smooth: a
        maximum with a constant does).
        """
        positive("beta", number("beta", beta))
        found = largest_gap(self._sorted(data), float(beta), self.first, self.last) / self.width
        return max(found, float(np.finfo(float).tiny)) if self.high > self.low else 0.0

    def smooth_by_definition(self, data: Any, beta: float) -> float:
        """max over t of e^{-beta t} A(t), in O(n^2): slow, and plainly right."""
        positive("beta", number("beta", beta))
        x = self._sorted(data)
        return max(math.exp(-beta * t) * _at(x, t, self.first, self.width) for t in range(self.size + 1))

    def _sorted(self, data: Any) -> Floats:
        """low, the sorted values, high; checked and never clipped."""
        try:
            values = np.asarray(data, dtype=float)
        except (TypeError, ValueError):
            reject("data", data, f"{self.size} numbers", "give one number for each row.")
        if values.shape != (self.size,):
            reject(
                "data", f"an array of shape {values.shape}", f"{self.size} numbers", "state the right size."
            )
        if not np.all((values >= self.low) & (values <= self.high)):
            fix = "clip the rows to public bounds first, as a step of its own."
            reject("data", data, f"within [{self.low}, {self.high}]", fix)
        x = np.empty(self.size + 2)
        x[0], x[-1] = self.low, self.high
        x[1:-1] = values
        x[1:-1].sort()
        return x


def _at(x: Floats, t: int, first: int, width: int) -> float:
    i = np.arange(first - 1 - t, first + 1)
    return float((x[np.minimum(i + width + t, len(x) - 1)] - x[np.maximum(i, 0)]).max()) / width


def order_statistic(size: int, rank: int, low: float, high: float) -> RankMean:
    """The value of this rank, counted from the smallest.

    >>> order_statistic(3, 3, low=0, high=1)((0.2, 0.9, 0.4))
    0.9
    """
    return RankMean(size, rank, rank, low, high)


def median(size: int, low: float, high: float) -> RankMean:
    """The middle value, or the mean of the two middle values.

    >>> median(4, low=0, high=20)((0, 4, 10, 20))
    7.0
    """
    return RankMean(size, (whole("size", size) + 1) // 2, size // 2 + 1, low, high)


def trimmed_mean(size: int, trim: int, low: float, high: float) -> RankMean:
    """The mean without the `trim` smallest and the `trim` largest values.

    >>> trimmed_mean(5, 1, low=0, high=100).global_sensitivity  # a third of the range
    33.333333
    """
    return RankMean(size, whole("trim", trim, 0) + 1, size - trim, low, high)


def mean(size: int, low: float, high: float) -> RankMean:
    """The mean of all values: its smooth sensitivity is max(LS, e^{-beta} GS), hardly ever a gain.

    >>> mean(4, low=0, high=1).local((0, 0, 0, 0))
    0.25
    """
    return trimmed_mean(size, 0, low, high)
