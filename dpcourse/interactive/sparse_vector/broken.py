"""The published and the tempting broken versions, each with a pair of streams and an output that shows it.

Numbers of algorithms are those of Lyu, Su and Li, "Understanding the sparse vector technique for differential
privacy" (PVLDB 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from dpcourse.errors import positive, whole
from dpcourse.guarantees import PureDP
from dpcourse.interactive.sparse_vector.outputs import Output, log_ratio_bounds
from dpcourse.interactive.sparse_vector.variants import EACH_QUERY, TESTED, Variant, standard


@dataclass(frozen=True)
class Exhibit:
    """A variant, neighbouring streams, and an output whose privacy loss is more than was claimed."""

    variant: Variant
    left: tuple[float, ...]
    right: tuple[float, ...]
    output: Output

    def log_ratio(self) -> float:
        """The privacy loss at the output, from below: what the variant's epsilon exceeds for certain."""
        return log_ratio_bounds(self.variant, self.left, self.right, self.output)[0]


def roth_2011(epsilon: float, cutoff: int = 1) -> Variant:
    """Algorithm 3: releases the noisy value that passed the test, and so a bound on the threshold's noise."""
    scale = 2 / positive("epsilon", epsilon)
    return Variant("tested value", PureDP(epsilon), scale, cutoff * scale, cutoff, releases=TESTED)


def lee_clifton(epsilon: float, cutoff: int = 1, *, monotone: bool = False) -> Variant:
    """Algorithm 4: the query noise does not grow with the number of yeses. Lee and Clifton 2014."""
    positive("epsilon", epsilon)
    return Variant(
        "unscaled noise", PureDP(epsilon), 4 / epsilon, 4 / (3 * epsilon), cutoff, monotone=monotone
    )


def stoddard(epsilon: float) -> Variant:
    """Algorithm 5: no noise on the queries, and no halt. Stoddard, Chen and Machanavajjhala 2014."""
    return Variant("no query noise", PureDP(epsilon), 2 / positive("epsilon", epsilon), 0.0, cutoff=None)


def chen(epsilon: float) -> Variant:
    """Algorithm 6: any number of yeses. Chen, Xiao, Zhang and Xu 2015."""
    scale = 2 / positive("epsilon", epsilon)
    return Variant("no cutoff", PureDP(epsilon), scale, scale, cutoff=None)


def exact_threshold(epsilon: float) -> Variant:
    """No noise on the threshold: every no then costs as much as an answer."""
    return replace(standard(epsilon), name="exact threshold", threshold_scale=0.0)


def redrawn_threshold(epsilon: float) -> Variant:
    """New threshold noise for each query: the shift that pays for all noes at once no longer exists."""
    return replace(standard(epsilon), name="redrawn threshold", redraw=EACH_QUERY)


def missing_factor_two(epsilon: float) -> Variant:
    """Query noise Lap(1/e2) where a yes needs Lap(2/e2): threshold and query move in opposite ways."""
    return replace(standard(epsilon), name="missing factor two", query_scale=2 / epsilon)


def late_cutoff(epsilon: float, cutoff: int = 1) -> Variant:
    """Noise for `cutoff` yeses and a halt after twice as many."""
    return replace(standard(epsilon, cutoff), name="cutoff off by two", cutoff=2 * whole("cutoff", cutoff))


def _line(variant: Variant, noes: int, yeses: int, values: Any, moved: Any) -> Exhibit:
    """`noes` noes, then `yeses` yeses; one value for all noes and one for all yeses, on each side."""
    left, right = ((v[0],) * noes + (v[1],) * yeses for v in (values, moved))
    return Exhibit(variant, left, right, (False,) * noes + (True,) * yeses)


def _tested_value(m: int) -> Exhibit:
    line = _line(roth_2011(1.0), m, 1, (0.0, 1.0), (1.0, 0.0))
    return replace(line, output=(*line.output[:-1], 0.0))


EXHIBITS: Final[dict[str, Callable[[int], Exhibit]]] = {
    "tested value": _tested_value,
    "unscaled noise": lambda m: _line(lee_clifton(1.0, 2), m, 2, (0.0, -39.0), (1.0, -40.0)),
    "no query noise": lambda m: _line(stoddard(1.0), m, 1, (0.0, 1.0), (1.0, 0.0)),
    "no cutoff": lambda m: _line(chen(1.0), m, m, (0.0, 0.0), (1.0, -1.0)),
    "exact threshold": lambda m: _line(exact_threshold(1.0), m, 0, (0.0, 0.0), (1.0, 1.0)),
    "redrawn threshold": lambda m: _line(redrawn_threshold(1.0), m, 0, (0.0, 0.0), (1.0, 1.0)),
    "missing factor two": lambda m: _line(missing_factor_two(1.0), m, 1, (0.0, -39.0), (1.0, -40.0)),
    "cutoff off by two": lambda m: _line(late_cutoff(1.0, 1), m, 2, (0.0, -39.0), (1.0, -40.0)),
}
"""By name of the variant: its exhibit at epsilon = 1 with a stream of about m queries."""
