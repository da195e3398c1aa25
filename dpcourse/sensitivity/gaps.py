"""The largest discounted gap of sorted numbers, the kernel of smooth sensitivity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpcourse.errors import Floats

Places = NDArray[np.intp]


def largest_gap(x: Floats, beta: float, first: int, last: int) -> float:
    """max of (x_j - x_i) e^{-beta (j-i-w)} over i <= first, j >= last, j - i >= w = last - first + 1.

    For fixed j, the gap is e^{beta i}(x_j - x_i) up to a factor: lines in x_j whose slope grows with i. So
    the best i never falls as j grows, and solving for the middle j splits the rest in two. All middles of
    one depth are solved together; halves whose every pair is bounded by the best gap so far are dropped.

    >>> round(largest_gap(np.array([0.0, 0, 1, 5, 9, 10, 10]), 0.1, 3, 3), 5)
    7.40818
    """
    w = last - first + 1
    reach = min(64, len(x))
    i, j = np.arange(max(0, first - reach), first + 1), np.arange(last, min(last + reach, len(x) - 1) + 1)
    near = _gaps(x, beta, w, i[:, None], j)
    best = float(np.where(j - i[:, None] >= w, near, 0).max())  # an honest value to prune by
    span = x[-1] - x[0]
    if not best > 0:
        return _search(x, beta, w, first, last, 0, len(x) - 1, best)
    far = min(len(x), int(math.log(max(span / best, 1.0)) / beta) + w + 1)  # farther apart: below best
    return _search(x, beta, w, first, last, max(0, last - far), min(len(x) - 1, first + far), best)


def _search(
    x: Floats, beta: float, w: int, first: int, last: int, lowest: int, highest: int, best: float
) -> float:
    """Divide and conquer over j in [last + 1, highest] with i in [lowest, first]; row j = last by itself."""
    below = np.arange(lowest, first)
    best = max(best, float(_gaps(x, beta, w, below, np.asarray(last)).max(initial=0.0)))
    ends = [np.array([v], dtype=np.intp) for v in (last + 1, highest, lowest, first)]
    while len(ends[0]):
        j_low, j_high, i_low, i_high = ends
        bound = (x[j_high] - x[i_low]) * np.exp(-beta * np.maximum(j_low - i_high - w, 0))
        keep = (j_low <= j_high) & (bound > best)
        j_low, j_high, i_low, i_high = (v[keep] for v in ends)
        if not len(j_low):
            break
        middle = (j_low + j_high) // 2
        top, place = _best_partner(x, beta, w, middle, i_low, i_high)
        best = max(best, float(top.max()))
        ends = [
            np.concatenate(pair)
            for pair in ((j_low, middle + 1), (middle - 1, j_high), (i_low, place), (place, i_high))
        ]
    return best


def _best_partner(
    x: Floats, beta: float, w: int, j: Places, i_low: Places, i_high: Places
) -> tuple[Floats, Places]:
    """For each j the largest gap over i in [i_low, i_high], and where it is."""
    counts = i_high - i_low + 1
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    i = np.arange(counts.sum()) + np.repeat(i_low - starts, counts)
    gaps = _gaps(x, beta, w, i, np.repeat(j, counts))
    top = np.maximum.reduceat(gaps, starts)
    hits = np.flatnonzero(gaps == np.repeat(top, counts))
    return top, i[hits[np.searchsorted(hits, starts)]]


def _gaps(x: Floats, beta: float, w: int, i: Places, j: Places) -> Floats:
    found: Floats = (x[j] - x[i]) * np.exp(-beta * np.maximum(j - i - w, 0))
    return found
