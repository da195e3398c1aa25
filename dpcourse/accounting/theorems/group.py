"""Groups: how far one event's probability can climb along a chain of neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcourse.errors import delta as small
from dpcourse.errors import nonnegative, probability, whole


def fastest_climb(epsilon: float, delta: float, size: int, start: float) -> np.ndarray[Any, Any]:
    """The largest Pr[A(D_i) in S] for i = 0, ..., size that the promise allows, if Pr[A(D_0) in S] = start.

    The promise holds for S and for its complement, so one step leads at most to

        min{ e^eps p + delta,  1 - e^{-eps} (1 - delta - p) },

    and some mechanism takes every such step (Dong, Roth and Su, 2022, for trade-off curves of groups).

    >>> fastest_climb(0.5, 0.01, size=5, start=0.0).round(4)
    array([0.    , 0.01  , 0.0265, 0.0537, 0.0985, 0.1724])
    """
    ratio, delta = math.exp(nonnegative("epsilon", epsilon)), small("delta", delta)
    climb = [probability("start", start)]
    for _ in range(whole("size", size)):
        p = climb[-1]
        climb.append(min(ratio * p + delta, 1 - (1 - delta - p) / ratio, 1.0))
    return np.array(climb)
