"""Tests between two laws: the least rate of one error for a given rate of the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.solve import ULP


def least_fnr(delta: Callable[[Floats], Any], infinite: float, fpr: Floats) -> Floats:
    """sup over eps of 1 - delta(eps) - fpr e^eps; concave in e^eps: one search for all."""
    found = np.full(len(fpr), max(0.0, 1 - infinite))
    (places,) = np.nonzero(fpr > 0)
    x = fpr[places]
    if not len(x):
        return found

    def fnr(epsilon: Floats) -> Floats:
        rates = x.reshape(x.shape + (1,) * (epsilon.ndim - 1))
        return np.asarray(1 - np.asarray(delta(epsilon)) - rates * np.exp(epsilon))

    # A coarse look finds the hill; golden section climbs it.
    grid = np.linspace(np.full(len(x), -40.0), np.minimum(-np.log(x), 700.0), 129, axis=-1)
    best = np.argmax(fnr(grid), axis=-1)
    rows = np.arange(len(x))
    low, high = grid[rows, np.maximum(best - 1, 0)], grid[rows, np.minimum(best + 1, 128)]
    golden = (math.sqrt(5) - 1) / 2
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = fnr(a), fnr(b)
    while np.max(high - low) > 1e-9:
        left = at_a >= at_b
        low, high = np.where(left, low, a), np.where(left, b, high)
        new = np.where(left, high - golden * (high - low), low + golden * (high - low))
        at_new = fnr(new)
        a, at_a, b, at_b = (
            np.where(left, new, b),
            np.where(left, at_new, at_b),
            np.where(left, a, new),
            np.where(left, at_a, at_new),
        )
    found[places] = np.maximum(0.0, np.maximum(at_a, at_b) - 4 * ULP)
    return found
