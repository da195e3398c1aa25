"""Global sensitivities in closed form, for both adjacencies; `size` is that of the larger dataset.

They depend on the query and on the domain, never on the data at hand.
"""

from __future__ import annotations

import math

from dpcourse.errors import number, one_of, reject, whole
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency


def count_sensitivity(adjacency: Adjacency = ADD_REMOVE) -> float:
    """1: one row is there or not, or satisfies the condition or not.

    >>> count_sensitivity()
    1.0
    """
    _known(adjacency)
    return 1.0


def histogram_sensitivity(adjacency: Adjacency = ADD_REMOVE, *, norm: int = 1) -> float:
    """1 under add/remove; 2^{1/norm} under replace-one, where one bin falls and another rises.

    >>> histogram_sensitivity(REPLACE_ONE), round(histogram_sensitivity(REPLACE_ONE, norm=2), 4)
    (2.0, 1.4142)
    """
    one_of("norm", norm, (1, 2))
    return 1.0 if _known(adjacency) is ADD_REMOVE else float(2 ** (1 / norm))


def sum_sensitivity(low: float, high: float, adjacency: Adjacency = ADD_REMOVE) -> float:
    """max(|low|, |high|) under add/remove, high - low under replace-one.

    >>> sum_sensitivity(2, 5), sum_sensitivity(2, 5, REPLACE_ONE)
    (5.0, 3.0)
    """
    low, high = span(low, high)
    return max(abs(low), abs(high)) if _known(adjacency) is ADD_REMOVE else high - low


def mean_sensitivity(low: float, high: float, size: int, adjacency: Adjacency = REPLACE_ONE) -> float:
    """(high - low)/size: also under add/remove, since a row moves the mean by (row - mean of the rest)/size.

    There the size itself is private, so it must hold for the smallest size that can occur.

    >>> mean_sensitivity(0, 1, 10)
    0.1
    """
    low, high = span(low, high)
    return (high - low) / whole("size", size, 1 + _known(adjacency).resizes)


def median_sensitivity(low: float, high: float, size: int, adjacency: Adjacency = REPLACE_ONE) -> float:
    """high - low if both medians are single values, half of that if one is a mean of two.

    >>> median_sensitivity(0, 1, 5), median_sensitivity(0, 1, 4), median_sensitivity(0, 1, 5, ADD_REMOVE)
    (1.0, 0.5, 0.5)
    """
    low, high = span(low, high)
    whole("size", size, 1 + _known(adjacency).resizes)
    single = adjacency is REPLACE_ONE and size % 2 == 1
    return high - low if single else (high - low) / 2


def span(low: float, high: float) -> tuple[float, float]:
    """Public bounds on a row, low <= high."""
    ends = number("low", low), number("high", high)
    if ends[0] > ends[1]:
        reject("low", low, f"at most high = {high}", "exchange the bounds.")
    if math.isinf(ends[1] - ends[0]):
        reject("high", high, f"within the range of floats of low = {low}", "rescale the rows first.")
    return ends


def _known(adjacency: Adjacency) -> Adjacency:
    known: Adjacency = one_of("adjacency", adjacency, (ADD_REMOVE, REPLACE_ONE))
    return known
