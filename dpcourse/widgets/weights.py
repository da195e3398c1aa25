"""The multiplicative-weights explorer: a public hypothesis learns the data from the few queries it fails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.interactive.weights import PrivateWeights, Settings, least_drop, reweighted, updates_bound
from dpcourse.widgets.explorer import Explorer, Slider, View

UNIVERSE, QUERIES, STEP = 32, 480, 6
BETA, DELTA = 0.05, 1e-6


@lru_cache(maxsize=1)
def shape() -> Floats:
    """Two bells over 32 kinds of row."""
    i = np.arange(UNIVERSE)
    bells = np.exp(-(((i - 8) / 2.6) ** 2)) + 0.7 * np.exp(-(((i - 22) / 1.8) ** 2)) + 0.01
    return np.asarray(bells / bells.sum())


def rows(n: int) -> Any:
    """n rows in that shape."""
    counts = np.floor(shape() * n).astype(int)
    counts[8] += n - counts.sum()
    return np.repeat(np.arange(UNIVERSE), counts)


@lru_cache(maxsize=32)
def queries(seed: int) -> Floats:
    """Intervals, and now and then a random set."""
    rng = np.random.default_rng([seed, 23])
    sets = (rng.random((QUERIES, UNIVERSE)) < 0.5).astype(float)
    kind = np.arange(UNIVERSE)
    for i in range(QUERIES):
        if i % 5:
            low, high = np.sort(rng.choice(UNIVERSE + 1, 2, replace=False))
            sets[i] = (kind >= low) & (kind < high)
    return sets


@dataclass(frozen=True, eq=False)
class Run:
    """A whole conversation: what was answered, when the hypothesis was corrected, and to what."""

    settings: Settings
    epsilon: float
    hypotheses: tuple[Floats, ...]
    rounds: tuple[int, ...]
    potentials: tuple[float, ...]
    errors: Floats
    updated: Any


@lru_cache(maxsize=64)
def bought(settings: Settings) -> float:
    """The exact epsilon of the whole conversation, which does not depend on what was drawn."""
    return float(settings.guarantee(DELTA).epsilon(DELTA))


@lru_cache(maxsize=64)
def run(threshold: float, thousands: int, seed: int) -> Run:
    """Noise as large as accuracy with probability 95 % allows, and the exact epsilon that it buys."""
    n, most = 1000 * thousands, updates_bound(UNIVERSE, threshold)
    noise = threshold / (4 * math.log((QUERIES + 2 * most) / BETA))
    settings = Settings(n, UNIVERSE, threshold, noise, most)
    data = rows(n)
    talk = PrivateWeights(settings, DELTA).open(data, np.random.default_rng([seed, 29]))
    hypotheses, releases = [talk.hypothesis], talk.ask_all(queries(seed))
    for at in talk.update_rounds:  # what everybody can compute from the answers
        query, before = queries(seed)[at], hypotheses[-1]
        way = 1 if releases[at].value > query @ before else -1
        hypotheses.append(reweighted(before, query, way * settings.step))
    truth = queries(seed) @ (np.bincount(data, minlength=UNIVERSE) / n)
    return Run(
        settings,
        bought(settings),
        tuple(hypotheses),
        tuple(talk.update_rounds),
        tuple(talk.potentials),
        np.array([release.value for release in talk.releases]) - truth,
        np.array([release.updated for release in talk.releases]),
    )


def draw(asked: int, threshold: float, thousands: int, seed: int) -> View:
    """The hypothesis after so many queries, the staircase of the potential, and the errors of the answers."""
    from dpcourse import plots

    now = run(threshold, thousands, seed)
    done = int(np.searchsorted(now.rounds, asked))
    drop = float(least_drop(threshold / 2, now.settings.step))
    with plots.panels(10, 4.6, left=6.1, rows=(1.15, 1), down=0.55) as (fig, (high, low)):
        left = fig.add_axes(plots.Panel(fig, (0.075, 0.62 / 4.6, 0.44, 1 - 1.04 / 4.6)))
        last = queries(seed)[asked - 1] if asked else None
        plots.learned(left, shape(), now.hypotheses[done], last, float(shape().max()) * 1.15)
        note = plots.Sheet(fig, 0.075 * 720, 0, 0, 4.6 * 72)
        note.title(f"learned from {asked} queries, by {done} updates", above=-22)
        plots.staircase(high, now.potentials, now.rounds, drop, asked, QUERIES)
        high.set_title("each update takes a step down")
        plots.answer_errors(low, now.errors[:asked], now.updated[:asked], now.settings.threshold, QUERIES)
        low.set_title("errors stay within the threshold")
    fallen = now.potentials[0] - now.potentials[done]
    words = (
        f"{asked} queries: {asked - done} answered by the hypothesis for free, {done} with an update. "
        f"The potential fell from {now.potentials[0]:.4f} to {now.potentials[done]:.4f}, by {fallen:.4f}; "
        f"{done} updates are sure of {done * drop:.4f} (unless the noise leaves its bound), "
        f"so there are at most {now.settings.updates}. "
        f"All of it is ({now.epsilon:.3g}, 10⁻⁶)-DP."
    )
    return View(fig, words)


def multiplicative_weights(**start: Any) -> Explorer:
    """Play the queries, and see the hypothesis learn and the potential step down.

    >>> multiplicative_weights(asked=60)
    Explorer(multiplicative weights: asked = 60, threshold = 0.15, thousands = 200, seed = 0)
    """
    controls = {
        "asked": Slider("queries", 0, QUERIES, STEP, 300, play=True),
        "threshold": Slider("threshold", 0.1, 0.3, 0.05, 0.15),
        "thousands": Slider("rows, in thousands", 50, 400, 50, 200),
        "seed": Slider("queries and noise drawn", 0, 20, 1, 0),
    }
    return Explorer("multiplicative weights", draw, controls, **start)
