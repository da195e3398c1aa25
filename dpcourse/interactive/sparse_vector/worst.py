r"""The exact worst epsilon of a sparse-vector variant over all neighbouring streams of a given length.

Upper bound, proved. Take an output with n noes and k yeses under one threshold noise. The worst move raises
each query with a no and lowers each query with a yes, by the sensitivity D. Replace z by z + sD in the
denominator's integral. With A = D/threshold_scale and B = D/query_scale,

    f(z) <= e^{|s|A} f(z + sD),   F(z - q) <= e^{(1-s)B} F(z + sD - q - D),   S likewise with (1+s)B,

so the loss is at most |s|A + n(1-s)B + k(1+s)B for every s in [-1, 1], which is least at s = 1, 0 or -1:

    loss <= min(A + 2kB, (n + k)B, A + 2nB).

It is reached: put the noes at height H and the yeses at -H. As H grows, all mass gathers where these slopes
say so, and the ratio tends to the minimum; `worst` computes such a pair by exact integration. So the supremum
is exact, for adaptive queries too, since the bound holds output by output. Monotone queries move one way only
(`_up`, `_down`). A fresh value adds D/answer_scale for each yes. A tested value bounds z and so forbids the
shift: (n + k)B remains. (The shift is the standard proof: Dwork et al., STOC 2009; Lyu, Su and Li 2017.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from dpcourse.errors import whole
from dpcourse.interactive.sparse_vector.outputs import Output, log_ratio_bounds
from dpcourse.interactive.sparse_vector.variants import AFTER_YES, EACH_QUERY, FRESH, NEVER, TESTED, Variant

_HEIGHTS: Final = (50.0, 1e3, 1e5)  # of the witness, in noise scales
_CLOSE: Final = 1e-9

Epochs = tuple[tuple[int, int], ...]  # (noes, yeses) under one threshold noise
Ceiling = Callable[[Variant, float, int], float]


@dataclass(frozen=True)
class Worst:
    """The supremum of the loss, and a pair of streams with an output that comes close.

    `epsilon` is the least number that bounds every loss (for monotone queries with values: a proved bound,
    which may be larger); `reached` is what the witness has for certain, by exact integration.
    """

    epsilon: float
    reached: float
    left: tuple[float, ...]
    right: tuple[float, ...]
    output: Output


def worst(variant: Variant, length: int) -> Worst:
    """The exact worst case over streams of `length` queries, with its witness.

    >>> from dpcourse.interactive.sparse_vector import above_threshold
    >>> found = worst(above_threshold(1.0), 10)
    >>> found.epsilon, round(found.reached, 6)
    (1.0, 1.0)
    """
    length = whole("length", length)
    found = [(*_best(variant, length, way), way) for way in _ways(variant)]
    epsilon, epochs, way = max(found, key=lambda item: item[0])
    best = _witness(variant, epsilon, epochs, way, _HEIGHTS[0])
    for height in _HEIGHTS[1:]:  # closer by e^{-height}, or by 1/height where two slopes are equal
        if best.reached >= epsilon - _CLOSE * max(1.0, epsilon):
            break
        best = max(best, _witness(variant, epsilon, epochs, way, height), key=lambda found: found.reached)
    return best


def _witness(variant: Variant, epsilon: float, epochs: Epochs, way: Ceiling, height: float) -> Worst:
    pair = _pair(variant, epochs, way, height)
    return Worst(epsilon, log_ratio_bounds(variant, *pair)[0], *pair)


def epsilon_at_any_length(variant: Variant) -> float:
    """The supremum over streams of every length: what a claim of pure privacy must cover.

    >>> from dpcourse.interactive.sparse_vector import chen, standard
    >>> epsilon_at_any_length(standard(1.0, cutoff=5)), epsilon_at_any_length(chen(1.0))
    (1.0, inf)
    """
    if variant.cutoff is None or variant.redraw == EACH_QUERY:
        return math.inf
    epochs = [(math.inf, 1)] * variant.cutoff if variant.redraw == AFTER_YES else [(math.inf, variant.cutoff)]
    return max(sum(way(variant, n, k) for n, k in epochs) for way in _ways(variant))


def _ways(variant: Variant) -> tuple[Ceiling, ...]:
    return (_up, _down) if variant.monotone and variant.releases != TESTED else (_any,)


def _rates(variant: Variant) -> tuple[float, float, float]:
    """Sensitivity over each scale: the loss of a unit shift of threshold, query and fresh value."""
    scales = (variant.threshold_scale, variant.query_scale)
    threshold, query = (variant.sensitivity / s if s > 0 else math.inf for s in scales)
    return threshold, query, variant.sensitivity / variant.answer_scale if variant.releases == FRESH else 0.0


def _times(count: float, rate: float) -> float:
    return count * rate if count else 0.0  # none of an infinite cost is no cost


def _any(variant: Variant, n: float, k: int) -> float:
    """Queries move both ways."""
    shift, test, value = _rates(variant)
    if variant.releases == TESTED and k:
        return _times(n + k, test)
    least = min(shift + _times(2 * k, test), _times(n + k, test), shift + _times(2 * n, test))
    return least + _times(k, value)


def _up(variant: Variant, n: float, k: int) -> float:
    """All queries may rise: those with a no do; those with a yes stay, or rise to show it in their value."""
    return _rising(variant, n, k)[0]


def _rising(variant: Variant, n: float, k: int) -> tuple[float, float]:
    """The ceiling and how many of the yeses rise, r in [0, k]: max over r of the shifts s = 0 and s = 1."""
    shift, test, value = _rates(variant)
    balance = (shift - _times(n - k, test)) / test if math.isfinite(shift + test) else 0.0
    found = []
    for r in {0.0, float(k), min(max(balance, 0.0), k)}:
        moved, still = _times(r, value), _times(k - r, test)
        found.append((min(shift + still + moved, _times(n, test) + moved), r))
    return max(found)


def _down(variant: Variant, n: float, k: int) -> float:
    """All queries may fall: those with a yes do."""
    shift, test, value = _rates(variant)
    return min(_times(k, test), shift + _times(n, test)) + _times(k, value)


def _best(variant: Variant, length: int, way: Ceiling) -> tuple[float, Epochs]:
    """The largest ceiling over all outputs of a stream of this length: only their counts matter."""
    most = length if variant.cutoff is None else min(variant.cutoff, length)
    candidates = {NEVER: _one_epoch, AFTER_YES: _restarted, EACH_QUERY: _each_query}[variant.redraw]
    found = ((sum(way(variant, n, k) for n, k in e), e) for e in candidates(variant, length, most))
    return max(found, key=lambda pair: (pair[0], -sum(k for _, k in pair[1])))


def _one_epoch(variant: Variant, length: int, most: int) -> Iterator[Epochs]:
    for k in range(most + 1):
        yield ((length - k, k),)


def _restarted(variant: Variant, length: int, most: int) -> Iterator[Epochs]:
    """Ceilings are concave in the noes: spread them evenly over the yeses, but for a last run without one."""
    shift, test, _ = _rates(variant)
    useful = math.ceil(shift / test) if math.isfinite(shift + test) else 1
    for k in range(1, most + 1):
        longest = min(useful, length - k) if k != variant.cutoff else 0
        for last in range(longest + 1):
            each, extra = divmod(length - k - last, k)
            yield tuple((each + (i < extra), 1) for i in range(k)) + (((last, 0),) if last else ())
    yield ((length, 0),)


def _each_query(variant: Variant, length: int, most: int) -> Iterator[Epochs]:
    for k in (0, most):
        yield ((1, 0),) * (length - k) + ((0, 1),) * k


def _pair(
    variant: Variant, epochs: Epochs, way: Ceiling, height: float
) -> tuple[tuple[float, ...], tuple[float, ...], Output]:
    """Noes at +height, yeses at -height (so that the tails decide), moved the worst way."""
    d, high = variant.sensitivity, height * (variant.threshold_scale + variant.query_scale)
    no, yes, risen = (high, high + d), (-high, -high - d), (3 * high, 3 * high + d)
    if way is _up:
        yes = (-high, -high)
    elif way is _down:
        no = (high, high)
    if variant.query_scale == 0:
        no, yes = (0.0, d), (d, 0.0)  # without query noise the order of the two decides
    if variant.releases == TESTED:
        yes = no
    values: list[tuple[float, float]] = []
    output: list[object] = []
    for n, k in epochs:
        rising = round(_rising(variant, n, k)[1]) if way is _up else 0
        yeses = [risen] * rising + [yes] * (k - rising)
        values += [no] * n + yeses
        output += [False] * n + [_answer(variant, moved) for moved in yeses]
    left, right = zip(*((variant.threshold + a, variant.threshold + b) for a, b in values), strict=True)
    return left, right, tuple(output)


def _answer(variant: Variant, moved: tuple[float, float]) -> object:
    """A yes, with the released value that tells the two sides apart best."""
    a, b = moved
    if variant.releases == TESTED:
        return variant.threshold + min(a, b)
    return variant.threshold + a + (a - b) if variant.releases == FRESH else True
