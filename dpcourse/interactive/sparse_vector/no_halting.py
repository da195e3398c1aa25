r"""Sparse vector without a halt, as it is told in lecture notes that circulate, and its exact delta.

Each query f is compared with T + Lap(s), and one above it is answered with f + Lap(s), all noise fresh:

    s = 8 sqrt(2 ln(2/delta) (4k + ln(2/delta))) / epsilon,

claimed (epsilon, delta)-DP for k significant queries. But nothing stops after k answers, so m queries at the
threshold are m independent releases, and delta(epsilon) grows to 1 with m.
"""

from __future__ import annotations

import math

import numpy as np

from dpcourse.errors import delta as check_delta
from dpcourse.errors import number, positive, reject, whole
from dpcourse.guarantees import ApproxDP
from dpcourse.interactive.sparse_vector.variants import FRESH, Variant
from dpcourse.laws import Laplace
from dpcourse.loss import FiniteLoss


def slide_scale(epsilon: float, delta: float, significant: int = 1) -> float:
    """8 sqrt(2 ln(2/delta) (4k + ln(2/delta)))/epsilon: it grows like sqrt(k), not linearly.

    >>> round(slide_scale(1.0, 1e-6), 1)
    185.4
    """
    log = math.log(2 / positive("delta", check_delta("delta", delta)))
    k = whole("significant", significant)
    return 8 * math.sqrt(2 * log * (4 * k + log)) / float(positive("epsilon", epsilon))


def without_halting(epsilon: float, delta: float, significant: int = 1) -> Variant:
    """The version of the notes. Fresh noise on the threshold for each query is fresh noise on the query."""
    scale, claim = slide_scale(epsilon, delta, significant), ApproxDP(epsilon, delta)
    return Variant("no halting", claim, 0.0, scale, cutoff=None, releases=FRESH, answer_scale=scale)


def delta_without_halting(
    variant: Variant, queries: int, epsilon: float, gaps: tuple[float, float] = (0.0, -1.0), cells: int = 64
) -> tuple[float, float]:
    """Bounds on delta(epsilon) of a stream of equal queries at `gaps` from the threshold in the two worlds.

    Without threshold noise and halt the answers are independent, so the loss is that of one answer, `queries`
    times. A yes with its value has a loss with a density; rounded into `cells` cells it leaks less (data
    processing), and with the mass of each cell split between its ends, P and Q both kept, it leaks more.
    Both are finite, and their compositions bracket the truth.

    >>> low, high = delta_without_halting(without_halting(1.0, 1e-6), 10_000, 1.0)
    >>> round(low, 5), round(high, 5)
    (0.02967, 0.02967)
    """
    if variant.threshold_scale > 0 or variant.cutoff is not None or variant.releases != FRESH:
        fix = "use without_halting(...), or SparseVector.loss for a variant that halts."
        reject("variant", variant.name, "one with independent answers: no threshold noise, no halt", fix)
    m, shift = whole("queries", queries), abs(number("gap", gaps[0]) - number("gap", gaps[1]))
    if whole("cells", cells) and not shift > 0:
        reject("gaps", gaps, "two different gaps: equal ones leak nothing", "use (0.0, -1.0).")
    lower, upper = (m * _one_answer(variant, gaps, cells, above) for above in (False, True))
    return float(lower.delta_bounds(epsilon)[0]), float(upper.delta_bounds(epsilon)[1])


def _one_answer(variant: Variant, gaps: tuple[float, float], cells: int, above: bool) -> FiniteLoss:
    """The loss of one answer: the no is one outcome, the value of a yes is cut into cells of equal loss."""
    shift = abs(gaps[0] - gaps[1]) / variant.answer_scale
    edges = np.linspace(-shift, shift, cells + 1)
    p, q = np.diff(np.exp((edges - shift) / 2) / 2), np.diff(-np.exp((-edges - shift) / 2) / 2)
    ends_p, ends_q = np.array([math.exp(-shift), 1]) / 2, np.array([1, math.exp(-shift)]) / 2  # atoms
    if above:
        at_left = (q * np.exp(edges[1:]) - p) / (np.exp(edges[1:]) - np.exp(edges[:-1]))
        q = np.append(at_left, 0) + np.append(0, q - at_left)
        p = q * np.exp(edges)
        p[[0, -1]] += ends_p
        q[[0, -1]] += ends_q
    else:
        p, q = np.concatenate([p, ends_p]), np.concatenate([q, ends_q])
    yes = [float(Laplace(gap, variant.query_scale).sf(0.0)) for gap in gaps]
    return FiniteLoss((1 - yes[0], *(yes[0] * p)), (1 - yes[1], *(yes[1] * q)))
