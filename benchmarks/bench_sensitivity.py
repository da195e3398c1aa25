"""Smooth sensitivity of the median: of a million points, and against its definition, in one run."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.harness import Row, best_of
from dpcourse.sensitivity import median

LIMIT, RATIO = 1.0, 100
BETAS = (1e-7, 1e-5, 1e-3, 0.1)  # from "every pair matters" to "only near ones do"


def rows() -> list[Row]:
    """The slowest of several betas for a million points; the ratio at ten thousand."""
    rng = np.random.default_rng(1)
    return [_million(rng.random(10**6 - 1)), *(_ratio(rng.random(10**4 - 1), beta) for beta in (1e-3, 0.1))]


def _million(x: np.ndarray) -> Row:
    query = median(len(x), low=0, high=1)
    times = {beta: best_of(partial(query.smooth, x, beta), repeat=3) for beta in BETAS}
    slowest = max(times, key=times.__getitem__)
    note = f"the slowest of {len(BETAS)} betas, {slowest:g}"
    title = "smooth sensitivity of the median, 10^6 points"
    return Row(title, times[slowest], None, "s", f"< {LIMIT:g} s", times[slowest] < LIMIT, note)


def _ratio(x: np.ndarray, beta: float) -> Row:
    query = median(len(x), low=0, high=1)
    ours = best_of(lambda: query.smooth(x, beta))
    slow = best_of(lambda: query.smooth_by_definition(x, beta), repeat=1)
    same = abs(query.smooth(x, beta) / query.smooth_by_definition(x, beta) - 1) < 1e-12
    title = f"the same, 10^4 points, beta {beta:g}, against the definition (peer)"
    goal, holds = f">= {RATIO} times faster", same and slow >= RATIO * ours
    return Row(title, ours, slow, "s", goal, holds, f"{slow / ours:.0f} times")
