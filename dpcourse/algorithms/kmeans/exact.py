"""Lloyd's algorithm without privacy, and the statistics of one round that the private one also uses.

Points and centres are in unit coordinates on the grid of `Ball.project`: scalar products have no rounding
error, so which centre is nearest depends on the point alone, never on its place in the array.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcourse.algorithms.kmeans.ball import GRID, Ball
from dpcourse.errors import Floats, reject, whole

Labels = NDArray[np.intp]
_CHUNK = 4096  # rows at a time: their scores stay in the cache
_START_POINTS, _START_ROUNDS = 250, 12


def _closeness(unit: Floats, centres: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Chunks of points with <c, x> - |c|^2/2 for each centre (rows): largest for the nearest centre."""
    half = (centres * centres).sum(1)[:, None] / 2
    for i in range(0, len(unit), _CHUNK):
        chunk = unit[i : i + _CHUNK]
        scores = centres @ chunk.T
        scores -= half
        yield chunk, scores


def assign(unit: Floats, centres: Floats) -> Labels:
    """The index of each point's nearest centre; a tie goes to the lowest index, whatever the data."""
    labels = [scores.argmax(0) for _, scores in _closeness(unit, centres)]
    return np.concatenate(labels) if labels else np.zeros(0, dtype=np.intp)


def statistics(unit: Floats, centres: Floats) -> tuple[Floats, Floats]:
    """How many points are nearest to each centre, and the sum of them.

    >>> counts, sums = statistics(np.array([[0.5], [0.25], [-1.0]]), np.array([[1.0], [-1.0]]))
    >>> counts, sums.ravel()
    (array([2., 1.]), array([ 0.75, -1. ]))
    """
    counts, sums = np.zeros(len(centres)), np.zeros(centres.shape)
    index = np.arange(len(centres))[:, None]
    for chunk, scores in _closeness(unit, centres):
        nearest = (scores == scores.max(0)).astype(float)
        sizes = nearest.sum(1)
        if sizes.sum() != len(chunk):  # a tie: each point counts once, or its weight would be doubled
            nearest = (scores.argmax(0) == index).astype(float)
            sizes = nearest.sum(1)
        counts += sizes
        sums += nearest @ chunk
    return counts, sums


def cost(points: ArrayLike, centres: ArrayLike, ball: Ball) -> float:
    r"""\(\sum_i \min_j \|x_i - c_j\|^2\) in unit coordinates: what k-means minimises. Not private."""
    unit, spots = ball.project(points), ball.unit(centres)
    best = [scores.max(0).sum() for _, scores in _closeness(unit, spots)]
    return max(0.0, float((unit * unit).sum() - 2 * np.sum(best)))


def spread(ball: Ball, k: int, rng: np.random.Generator) -> Floats:
    """k starting centres, spread evenly over the ball without a look at the data.

    Lloyd's algorithm on uniform draws from the ball: no two centres are close and none is at the border,
    which serves the noisy rounds better than independent draws do.
    """
    draws = ball.sample(rng, _START_POINTS * whole("k", k))
    return _iterate(draws, draws[:k], _START_ROUNDS)


def lloyd(
    points: ArrayLike,
    k: int,
    rounds: int,
    ball: Ball,
    rng: np.random.Generator,
    start: ArrayLike | None = None,
) -> Floats:
    """Lloyd's algorithm with exact counts and sums: the same steps as the private one. Not private.

    It starts from `start`, or as the private one does. A centre without points stays where it is.
    (Lloyd 1957, published 1982.)

    >>> rng = np.random.default_rng(0)
    >>> lloyd([[0.5], [0.75], [-0.5]], k=2, rounds=5, ball=Ball(1), rng=rng, start=[[0], [1]])
    array([[-0.5  ],
           [ 0.625]])
    """
    unit = ball.project(points)
    centres = spread(ball, k, rng) if start is None else ball.project(start)
    if len(centres) != k:
        reject("start", f"{len(centres)} rows", f"{k} rows", "give one row per centre.")
    return ball.restore(_iterate(unit, centres, whole("rounds", rounds)))


def _iterate(unit: Floats, centres: Floats, rounds: int) -> Floats:
    for _ in range(rounds):
        counts, sums = statistics(unit, centres)
        means = sums / np.maximum(counts, 1)[:, None]
        centres = np.where(counts[:, None] > 0, np.trunc(means * GRID) / GRID, centres)
    return centres
