"""What peeking costs: bounds that hold at each fixed time, read at a time that depends on the answers.

The loss of randomized response, asked again and again, walks up by epsilon with probability
h = e^eps/(1 + e^eps) and down by epsilon otherwise. Its law at a time, and the chance that it ever rises
above a curve, are sums over a lattice: exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import Floats, positive, probability, whole

SLACK = 1e-9
"""A walk on a level is not above it, in spite of rounding; in steps of epsilon."""


def fixed_time_levels(epsilon: float, rounds: int, delta: float) -> Floats:
    """For each time t = 1, ..., rounds the lowest level with Pr[L_t > level] <= delta under bit 0.

    Each is the best bound for somebody who fixed t in advance.

    >>> fixed_time_levels(1.0, 3, 0.5)
    array([1., 2., 1.])
    """
    probability("delta", delta)
    levels = []
    for places, mass in _walk(positive("epsilon", epsilon), whole("rounds", rounds), None):
        above = np.cumsum(mass[::-1])[::-1] - mass  # Pr[L_t > place]
        levels.append(places[np.argmax((above <= delta) & (mass > 0))] * epsilon)
    return np.array(levels)


def ever_above(epsilon: float, levels: ArrayLike) -> float:
    """Pr[L_t > levels[t - 1] for some t] under bit 0: the chance to see it for one who may stop any time.

    >>> round(ever_above(0.1, fixed_time_levels(0.1, 100, delta=0.01)), 4)
    0.0502
    """
    limits = np.asarray(levels, dtype=float) / positive("epsilon", epsilon)
    kept = 1.0
    for _, mass in _walk(epsilon, len(limits), limits):
        kept = float(mass.sum())
    return 1 - kept


def _walk(epsilon: float, rounds: int, limits: Any) -> Iterator[tuple[Any, Floats]]:
    """Places of the walk, in steps of epsilon, and their probabilities; what rose above a limit is gone."""
    heads = float(special.expit(epsilon))
    places = np.arange(-rounds, rounds + 1)
    mass = np.zeros(len(places))
    mass[rounds] = 1.0
    for t in range(rounds):
        after = np.zeros(len(places))
        after[1:] += heads * mass[:-1]
        after[:-1] += (1 - heads) * mass[1:]
        mass = after if limits is None else np.where(places > limits[t] + SLACK, 0.0, after)
        yield places, mass
