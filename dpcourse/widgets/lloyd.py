"""The k-means explorer: Lloyd's algorithm, one half step at a time, with the noise that each release gets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dpcourse.algorithms.kmeans import Ball, LloydRound, assign, cost, lloyd, noises, recentre
from dpcourse.errors import Floats
from dpcourse.guarantees import PureDP
from dpcourse.mechanisms import LaplaceMechanism
from dpcourse.widgets.controls import Control
from dpcourse.widgets.explorer import Choice, Explorer, Slider, View

POINTS, K, MOST = 600, 3, 6
CLOUD: Final = 60
START: Final = ((-0.08, -0.02), (0.08, 0.0), (0.0, -0.1))
"""Where the centres begin, without a look at the data."""

ROUND, DIAMOND, TRAP = "ℓ2 ball, noise for it", "ℓ1 ball, noise for it", "ℓ2 ball, noise for ℓ1 (a trap)"


@lru_cache(maxsize=1)
def points() -> Floats:
    """Three wide clusters inside the l1 ball, and so inside the l2 ball, too."""
    rng = np.random.default_rng(3)
    middles = np.array([[-0.42, 0.2], [0.38, 0.3], [0.05, -0.5]])[rng.integers(0, K, 4 * POINTS)]
    draws = middles + rng.normal(0, 0.17, (4 * POINTS, 2))
    return np.asarray(draws[np.abs(draws).sum(axis=1) <= 1][:POINTS])


@dataclass(frozen=True, eq=False)
class Run:
    """A whole run: where the centres were, whose point each was, and where noise could have put them."""

    path: Floats
    labels: tuple[Any, ...]
    clouds: tuple[Floats, ...]
    costs: tuple[float, ...]
    exact: tuple[float, ...]
    claimed: float
    true: float


@lru_cache(maxsize=1)
def without_noise() -> tuple[float, ...]:
    """The cost of the start and after each round of the exact algorithm."""
    path = [np.array(START)]
    for _ in range(MOST):
        path.append(lloyd(points(), K, 1, Ball(2), np.random.default_rng(0), path[-1]))
    return tuple(cost(points(), c, Ball(2)) / POINTS for c in path)


@lru_cache(maxsize=128)
def run(epsilon: float, rounds: int, region: str, seed: int) -> Run:
    """Private Lloyd, and the same steps without noise."""
    ball, rng = Ball(2, 1 if region == DIAMOND else 2), np.random.default_rng([seed, 11])
    made_for = Ball(2, 1) if region == TRAP else ball
    part = PureDP(epsilon / rounds)
    counts, sums = noises(part, made_for)
    unit = ball.project(points())
    centres = ball.project(START)
    path, labels, clouds = [centres], [assign(unit, centres)], []
    for _ in range(rounds):
        step = LloydRound(ball, centres, counts, sums)
        law = step.law_in_unit(unit)
        clouds.append(np.stack([_means(step, draw) for draw in law.sample(rng, CLOUD)], axis=1))
        centres, _ = recentre(step, *step.read(law.sample(rng)), "split", rng)
        path.append(centres)
        labels.append(assign(unit, centres))
    assert isinstance(counts, LaplaceMechanism)
    assert isinstance(sums, LaplaceMechanism)  # as the budget is pure
    each = 1 / counts.scale + ball.reach(1) / sums.scale
    return Run(
        np.stack(path),
        tuple(labels),
        tuple(clouds),
        tuple(cost(unit, c, Ball(2)) / POINTS for c in path),
        without_noise()[: rounds + 1],
        epsilon,
        rounds * each,
    )


def _means(step: LloydRound, released: Any) -> Floats:
    """Noisy sums over noisy counts."""
    counts, sums = step.read(released)
    return step.ball.project(sums / np.maximum(counts, 1.0)[:, None])


def draw(step: int, epsilon: float, rounds: int, region: str, seed: int) -> View:
    """The map after so many half steps: a release, then a move, and so on."""
    from dpcourse import plots

    now = run(epsilon, rounds, region, seed)
    step = min(step, 2 * rounds)
    done, releasing = divmod(step, 2)
    with plots.panels(10, 4.6, left=6.5, bottom=1.6) as (fig, (right,)):
        left = fig.add_axes(plots.Panel(fig, (0.01, 0.02, 0.57, 0.88)))
        clouds = now.clouds[done] if releasing else None
        worst = np.array([0.5**0.5, 0.5**0.5]) if region == TRAP else None
        norm = 1 if region == DIAMOND else 2
        plots.lloyd_map(left, points(), now.labels[done], now.path[: done + 1], clouds, norm, worst)
        plots.Sheet(fig, 10, 0, 0, 4.6 * 72).title(_stage(done, bool(releasing)), above=-22)
        plots.costs_by_round(right, now.costs[: done + 1], now.exact, rounds)
        released = done + releasing
        said = f"ε spent: {now.true * released / rounds:.3g} of {epsilon:.3g}"
        bar = plots.Sheet(fig, 6.5 * 72, 16, 3.25 * 72, 22)
        plots.gauge(bar, epsilon, [now.true / rounds] * released, None, said)
    return View(fig, _words(now, done, bool(releasing), rounds, region))


def _stage(done: int, releasing: bool) -> str:
    if releasing:
        return f"round {done + 1}: noisy counts and sums; ◆ where a centre may go"
    return f"round {done}: the centres have moved" if done else "the start, chosen without the data"


def _words(now: Run, done: int, releasing: bool, rounds: int, region: str) -> str:
    costs = f"the cost is {now.costs[done]:.4f}, without noise {now.exact[done]:.4f}"
    stage = f"After round {done} of {rounds} {costs}."
    if releasing:
        stage = "Each centre's points are counted and added up; the cloud shows where the noise may put it."
    true = f"{'the round costs' if rounds == 1 else f'all {rounds} rounds cost'} ε = {now.true:.4g} at worst"
    if region == TRAP:
        long = "a point of the circle is up to √2 long in ℓ1"
        return f"{stage} The noise claims ε = {now.claimed:.4g}, but {true}: {long}."
    return f"{stage} With this noise {true}."


def private_lloyd(**start: Any) -> Explorer:
    """Watch three centres look for their clusters through noise.

    >>> private_lloyd(rounds=3)
    Explorer(private Lloyd: step = 3, epsilon = 1, rounds = 3, region = ℓ2 ball, noise for it, seed = 0)
    """
    controls: dict[str, Control] = {
        "step": Slider("half steps", 0, 2 * MOST, 1, 3, play=True),
        "epsilon": Slider("ε of the whole run", 0.1, 3.0, 0.1, 1.0),
        "rounds": Slider("rounds", 1, MOST, 1, 5),
        "region": Choice("public region", (ROUND, DIAMOND, TRAP)),
        "seed": Slider("noise drawn", 0, 20, 1, 0),
    }
    return Explorer("private Lloyd", draw, controls, **start)
