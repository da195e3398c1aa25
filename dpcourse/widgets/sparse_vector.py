"""The sparse-vector explorer: the sound technique and the zoo of broken ones, each with its exact epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.interactive import sparse_vector as svt
from dpcourse.interactive.sparse_vector.variants import AFTER_YES, EACH_QUERY, Variant
from dpcourse.laws import Laplace
from dpcourse.widgets.controls import Control
from dpcourse.widgets.explorer import Button, Choice, Explorer, Slider, View

CUTOFF, LONGEST = 3, 60
LENGTHS: Final = (1, 2, 4, 7, 12, 20, 35, LONGEST)
ZOO: Final[dict[str, Variant]] = {
    "sound": svt.standard(1.0, CUTOFF),
    "sound, threshold redrawn after a yes": svt.refreshed(1.0, CUTOFF),
    "broken: releases the tested value": svt.roth_2011(1.0, CUTOFF),
    "broken: noise not scaled to the yeses": svt.lee_clifton(1.0, CUTOFF),
    "broken: no noise on the queries": svt.stoddard(1.0),
    "broken: never halts": svt.chen(1.0),
    "broken: no noise on the threshold": svt.exact_threshold(1.0),
    "broken: threshold redrawn each time": svt.redrawn_threshold(1.0),
    "broken: a factor two is missing": svt.missing_factor_two(1.0),
    "broken: halts too late": svt.late_cutoff(1.0, CUTOFF),
}


@lru_cache(maxsize=1)
def stream() -> Floats:
    """Query values around a threshold of 0: mostly far below, now and then far above."""
    rng = np.random.default_rng(17)
    low = rng.normal(-28, 8, LONGEST)
    return np.where(np.arange(LONGEST) % 9 == 5, rng.normal(36, 6, LONGEST), low)


@lru_cache(maxsize=1024)
def epsilon(name: str, length: int) -> float:
    """The exact worst loss over all neighbouring streams of this length."""
    return svt.worst(ZOO[name], length).epsilon


@dataclass(frozen=True, eq=False)
class Run:
    """One run: the threshold and the query value that each test saw, and the answers until the halt."""

    thresholds: Floats
    noisy: Floats
    said: tuple[bool, ...]


def one_run(variant: Variant, values: Floats, rng: np.random.Generator) -> Run:
    """The algorithm as it is written, with its noise in the open.

    >>> run = one_run(svt.stoddard(1.0), np.array([-50.0, 50.0]), np.random.default_rng(0))
    >>> run.said, bool((run.noisy == [-50, 50]).all())
    ((False, True), True)
    """

    def lap(scale: float) -> float:
        return float(Laplace(0.0, scale).sample(rng)) if scale > 0 else 0.0

    threshold = variant.threshold + lap(variant.threshold_scale)
    thresholds, noisy, said = [], [], []
    for value in values.tolist():
        thresholds.append(threshold)
        noisy.append(value + lap(variant.query_scale))
        yes = noisy[-1] >= threshold
        said.append(yes)
        if variant.redraw == EACH_QUERY or (yes and variant.redraw == AFTER_YES):
            threshold = variant.threshold + lap(variant.threshold_scale)
        if variant.cutoff is not None and sum(said) == variant.cutoff:
            break
    return Run(np.array(thresholds), np.array(noisy), tuple(said))


def draw(variant: str, length: int, again: int) -> View:
    """One run on the left, the exact price of every variant on the right."""
    from dpcourse import plots

    chosen, values = ZOO[variant], stream()[:length]
    run = one_run(chosen, values, np.random.default_rng([again, length]))
    now = epsilon(variant, length)
    with plots.panels(10, 4.2, columns=(1.35, 1), across=0.9) as (fig, (left, right)):
        plots.threshold_run(left, values, run.noisy, run.thresholds, run.said, (LONGEST, 90.0))
        left.set_title("one run: yes where the noisy value passes")
        zoo = {name: [epsilon(name, m) for m in LENGTHS] for name in ZOO}
        plots.price_of_streams(right, LENGTHS, zoo, variant, 1.0, length, now)
    return View(fig, _words(variant, chosen, run, length, now))


def _words(name: str, variant: Variant, run: Run, length: int, now: float) -> str:
    scales = f"{variant.threshold_scale:g} on the threshold, {variant.query_scale:.4g} on the queries"
    ever = svt.epsilon_at_any_length(variant)
    exact = "∞" if math.isinf(now) else f"{now:.4g}"
    verdict = (
        "as claimed"
        if ever <= 1 + 1e-9
        else "more than the 1 that is claimed"
        if now > 1 + 1e-9
        else "so far"
    )
    limit = "without bound" if math.isinf(ever) else f"at most {ever:.4g}"
    return (
        f"{name}: noise of scale {scales}. It says yes {sum(run.said)} times to {len(run.said)} queries. "
        f"Streams of {length} cost ε = {exact} exactly, {verdict}; streams of any length {limit}."
    )


def sparse_vector(**start: Any) -> Explorer:
    """Choose a version of sparse vector, see it run, and see what it really costs.

    >>> sparse_vector(length=10)
    Explorer(sparse vector: variant = sound, length = 10, again = 0)
    """
    controls: dict[str, Control] = {
        "variant": Choice("version", tuple(ZOO)),
        "length": Slider("queries", 1, LONGEST, 1, 30),
        "again": Button("Run again"),
    }
    return Explorer("sparse vector", draw, controls, **start)
