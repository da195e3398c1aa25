"""The median explorer: local and smooth sensitivity, and what noise of that size gives away."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dpcourse.algorithms.smooth import (
    LocalLaplace,
    NaiveSmoothLaplace,
    SmoothCauchy,
    SmoothLaplace,
    SmoothMechanism,
    SmoothStudentT,
)
from dpcourse.errors import Floats
from dpcourse.laws import Finite, Law
from dpcourse.sensitivity import median as median_query
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Choice, Explorer, Slider, View

LOW, HIGH, SIZE = 0.0, 10.0, 5
QUERY: Final = median_query(SIZE, LOW, HIGH)
GRID: Final = np.linspace(-60, 70, 521)
DELTA: Final = 1e-3
NOISES: Final[dict[str, Callable[[float], SmoothMechanism]]] = {
    "Cauchy, smooth: ε-DP": lambda e: SmoothCauchy(QUERY, e, gamma=4),
    "Student t, smooth: ε-DP": lambda e: SmoothStudentT(QUERY, e, degrees=3),
    "Laplace, smooth: (ε, 0.001)-DP": lambda e: SmoothLaplace(QUERY, e, DELTA),
    "Laplace, smooth, claimed 2ε: broken": lambda e: NaiveSmoothLaplace(QUERY, e),
    "Laplace, local, claimed ε: broken": lambda e: LocalLaplace(QUERY, e),
}
Data = tuple[float, ...]


def neighbours(data: Data) -> list[Data]:
    """One value replaced by an end of the range, or by one of the others."""
    found = {
        tuple(sorted((*data[:i], new, *data[i + 1 :]))) for i in range(SIZE) for new in {LOW, HIGH, *data}
    }
    return sorted(found - {data})


def log_ratio(left: Law, right: Law, y: Floats) -> Floats:
    """ln of the two densities' ratio; infinite where the answer itself is certain on one side only."""
    certain = [isinstance(law, Finite) for law in (left, right)]
    if any(certain):
        same = all(certain) and left.mean() == right.mean()
        return np.full(len(y), 0.0 if same else math.inf if certain[0] else -math.inf)
    return np.asarray(left.log_prob(y) - right.log_prob(y))


@lru_cache(maxsize=256)
def worst(data: Data, noise: str, epsilon: float) -> tuple[Data, Floats]:
    """The neighbour with the largest log-ratio within the window, and that ratio along it."""
    mechanism = NOISES[noise](epsilon)
    here = mechanism.law(data)
    ratios = [(other, log_ratio(here, mechanism.law(other), GRID)) for other in neighbours(data)]
    return max(ratios, key=lambda pair: float(np.abs(pair[1]).max()))


def draw(a: float, b: float, c: float, d: float, e: float, epsilon: float, noise: str) -> View:
    """The number line, the bars of sensitivity, and the log-ratio against the worst neighbour."""
    from dpcourse import plots

    data = tuple(sorted((a, b, c, d, e)))
    mechanism: SmoothMechanism = NOISES[noise](epsilon)
    local = isinstance(mechanism, LocalLaplace)
    beta = None if local else mechanism.beta
    smooth = None if beta is None else QUERY.smooth(data, beta)
    distances = np.array([QUERY.local_at(data, t) for t in range(SIZE + 1)])
    other, ratio = worst(data, noise, epsilon)
    claim = 2 * epsilon if isinstance(mechanism, NaiveSmoothLaplace) else epsilon
    with plots.panels(10, 4.9, columns=(1, 1), top=1.95, across=0.9) as (fig, (left, right)):
        line = plots.Sheet(fig, 80, 254, 10 * 72 - 110, 80)
        plots.number_line(line, data, other, LOW, HIGH, QUERY.local(data), QUERY(data))
        plots.discounted(left, distances, beta, smooth, HIGH)
        left.set_title("smooth sensitivity: the tallest shrunk bar")
        plots.ratio_strip(right, GRID, ratio, claim)
        right.set_title("does the log-ratio stay in its band?")
    return View(fig, _words(data, distances[0], beta, smooth, claim, ratio, noise))


def _words(
    data: Data,
    local: float,
    beta: float | None,
    smooth: float | None,
    claim: float,
    ratio: Floats,
    noise: str,
) -> str:
    largest = float(np.abs(ratio).max())
    size = f"local {local:g}" + ("" if smooth is None else f", smooth {smooth:.5g} at β = {beta:.4g}")
    if math.isinf(largest):
        found = "one side has no noise at all: the ratio is infinite"
    else:
        found = f"between {number(GRID[0])} and {number(GRID[-1])} the log-ratio reaches {largest:.4g}"
    verdict = "within" if largest <= claim * (1 + 1e-9) else "outside of"
    if "0.001" in noise:
        verdict += " (outside has probability at most δ)" if largest > claim else ""
    tails = (
        "; for smooth Laplace noise it grows with the value, without bound"
        if "2ε" in noise and largest > 0
        else ""
    )
    return (
        f"Median {QUERY(data):g}; sensitivity: global {QUERY.global_sensitivity:g}, {size}. "
        f"On the worst neighbour found {found}, {verdict} the claim of {claim:.4g}{tails}."
    )


def median(**start: Any) -> Explorer:
    """Move five values, and see how much noise their median needs.

    >>> median(epsilon=0.5)
    Explorer(median: a = 0, b = 1, c = 5, d = 9, e = 10, epsilon = 0.5, noise = Cauchy, smooth: ε-DP)
    """
    values = {"a": 0.0, "b": 1.0, "c": 5.0, "d": 9.0, "e": 10.0}
    controls: dict[str, Any] = {
        key: Slider(f"value {i}", LOW, HIGH, 0.5, value) for i, (key, value) in enumerate(values.items(), 1)
    }
    controls["epsilon"] = Slider("ε", 0.1, 2.0, 0.1, 1.0)
    controls["noise"] = Choice("noise", tuple(NOISES))
    return Explorer("median", draw, controls, **start)
