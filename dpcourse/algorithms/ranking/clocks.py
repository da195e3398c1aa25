"""Exact chances about the first k places of a Plackett-Luce ranking, for any number of items.

Give item i a clock that rings at rate e^{score_i}: the order of the rings is the ranking. So a question
about the first k places is one about the clocks that have rung by the time t of the k-th ring, and given t
the clocks are independent: a polynomial for how many have rung, and one integral over t.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcourse.errors import Floats, reject, whole

Mask = NDArray[np.bool_]
_PANELS_AT_ONCE = 200


def first_k(scores: Floats, k: int, all_of: Mask, none_of: Mask) -> float:
    r"""Pr[the first k places hold all items of one set and none of another].

    With A(t) = Pr[all wanted have rung], G_m(t) = Pr[at least m of the indifferent ones have], m = k minus
    the number wanted, and W the total rate of the unwanted:
    \(\int e^{-Wt} (A'(t)(G_m(t) - G_{m+1}(t)) + A(t)G_m'(t))\,dt\), by Gauss-Legendre in ln t.

    >>> chance = first_k(np.zeros(4), 2, np.array([True, False, False, False]), np.zeros(4, dtype=bool))
    >>> round(chance, 12)
    0.5
    """
    scores = np.asarray(scores, dtype=float)
    if whole("k", k) > len(scores):
        reject("k", k, f"at most the number of items, {len(scores)}", "ask for fewer.")
    others = k - int(all_of.sum())
    middle = ~(all_of | none_of)
    if others < 0 or others > middle.sum():
        return 0.0
    rates = scores - scores.max()  # logarithms of rates; a common factor only changes the unit of time
    x, w = np.polynomial.legendre.leggauss(12)
    total = 0.0
    edges = _edges(rates, k)
    for i in range(0, len(edges) - 1, _PANELS_AT_ONCE):
        part = edges[i : i + _PANELS_AT_ONCE + 1]
        half = np.diff(part)[:, None] / 2
        log_t = (part[:-1, None] + half * (1 + x)).ravel()
        total += float((half * w).ravel() @ _density(rates, log_t, all_of, none_of, middle, others))
    return min(1.0, total)


def _edges(rates: Floats, k: int) -> Floats:
    """Panels of ln t from where no clock has rung to where the k quickest have, up to e^-40."""
    quickest = np.sort(rates)[::-1]
    low, high = -np.log(np.exp(quickest).sum()) - 42, 4 - quickest[k - 1]
    return np.linspace(low, high, 2 * int(np.ceil(high - low)) + 1)


def _density(rates: Floats, log_t: Floats, all_of: Mask, none_of: Mask, middle: Mask, m: int) -> Any:
    """The density of ln T, T the time of the k-th ring, on the event in question."""
    # d/d ln t of the chance 1 - e^{-rate t} is rate t e^{-rate t}, and 0 to all digits beyond 600.
    moves = np.exp(np.minimum(rates[:, None] + log_t, 6.5))
    silent = np.exp(-moves)
    rung, rising = -np.expm1(-moves), moves * silent
    alone = np.exp(-moves[none_of].sum(0))
    every = np.prod(rung[all_of], axis=0)
    # A'/A is the sum of p_i'/p_i = x/(e^x - 1), x = rate t, which is 1 where x is too small for a float.
    x = moves[all_of]
    every_rising = every * np.divide(x, np.expm1(x), np.ones(x.shape), where=x > 0).sum(0)
    exactly = _exactly(rung[middle], silent[middle], rising[middle], m)
    return alone * (every_rising * exactly[0] + every * exactly[1])


def _exactly(rung: Floats, silent: Floats, rising: Floats, m: int) -> tuple[Any, Any]:
    """Pr[exactly m clocks have rung], and the rate at which the m-th ring comes, at each time.

    Row j of `some` is Pr[exactly j of the clocks so far]; row j of `ring` is the rate of one more clock
    ringing just now, j others having rung before.
    """
    nodes = rung.shape[-1]
    some, ring = np.zeros((m + 1, nodes)), np.zeros((m + 1, nodes))
    some[0] = 1.0
    for p, q, r in zip(rung, silent, rising, strict=True):
        ring = ring * q + some * r + _shifted(ring) * p
        some = some * q + _shifted(some) * p
    return some[m], ring[m - 1] if m else np.zeros(nodes)


def _shifted(rows: Floats) -> Floats:
    moved = np.zeros_like(rows)
    moved[1:] = rows[:-1]
    return moved
