"""Private k-means: its time next to the same Lloyd without noise, and its cost next to diffprivlib's.

The cost is the k-means objective of the released centres, averaged over seeds, on the same data in the same
box; each side chooses its number of rounds. Ours keeps its epsilon for replaced rows, the stronger promise:
for added rows it would have half the noise. diffprivlib 0.6.6 mixes the two (sums have the noise for
replaced rows, counts that for added ones), leaves empty clusters without noise, and exchanges the shares of
counts and sums on the way out of `_split_epsilon`, so that from 5 dimensions on it spends more than its
epsilon; the note says how much.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Row, best_of
from dpcourse import REPLACE_ONE, PureDP, data
from dpcourse.algorithms.kmeans import Ball, PrivateKMeans, cost, lloyd, rounds_for

POINTS, ROUNDS, SEEDS = 1_000_000, 5, 12


def rows() -> Iterator[Row]:
    """Time at 10^6 points, then the cost on three sets of points at two budgets, and the peer's time."""
    for k, dim in ((8, 2), (16, 16)):
        yield _time(k, dim)
    peer = _diffprivlib()
    for name, points, ball, k in _problems():
        for epsilon in (1.0, 0.2):
            yield _cost(name, points, ball, k, epsilon, peer)
    yield _peer_time(peer)


def _time(k: int, dim: int) -> Row:
    points = data.clusters(POINTS, k, dim, np.random.default_rng(0)).points
    ball = Ball(dim)
    private = PrivateKMeans(k, ball, PureDP(1.0), ROUNDS)
    ours = best_of(lambda: private.run(points, np.random.default_rng(1)))
    plain = best_of(lambda: lloyd(points, k, ROUNDS, ball, np.random.default_rng(1)))
    name = f"k-means, 10^6 points, k = {k}, dim = {dim}, against Lloyd without noise"
    note = f"{ROUNDS} rounds, clipping included in both"
    return Row(name, ours, plain, "s", "<= 2 x peer", ours <= 2 * plain, note)


def _problems() -> Iterator[tuple[str, Any, Ball, int]]:
    rng = np.random.default_rng(5)
    for dim in (2, 8):
        made = data.clusters(20_000, 6, dim, rng)
        yield f"6 clusters, dim = {dim}", made.points, Ball.box([-1.0] * dim, [1.0] * dim), 6
    table = data.rand_health()
    columns = [table[name].astype(float) for name in ("age", "income", "family")]
    yield "RAND health", np.stack(columns, axis=1), Ball.box((0, 0, 0), (70, 30_000, 15)), 5


def _cost(name: str, points: Any, ball: Ball, k: int, epsilon: float, peer: Peer | None) -> Row:
    def average(centres: Callable[[int], Any]) -> float:
        return float(np.mean([cost(points, centres(seed), ball) for seed in range(SEEDS)]))

    budget = PureDP(epsilon, adjacency=REPLACE_ONE)  # which makes the number of points public
    private = PrivateKMeans(k, ball, budget, rounds_for(len(points), k, ball, budget))
    ours = average(lambda seed: private.run(points, np.random.default_rng(seed)).centres)
    plain = min(_from_random_points(points, k, ball, seed) for seed in range(SEEDS))
    label, unit, goal = f"k-means cost, {name}, epsilon = {epsilon:g}", "x best Lloyd", "<= peer"
    if peer is None:
        return Row(label, ours / plain, None, unit, goal, None, MISSING)
    theirs = average(lambda seed: peer(points, k, ball, epsilon, seed))
    note = f"peer spends {overspend(ball.dim):.2f} epsilon by its own shares"
    return Row(label, ours / plain, theirs / plain, unit, goal, ours <= theirs, note)


def _from_random_points(points: Any, k: int, ball: Ball, seed: int) -> float:
    """The cost of Lloyd's algorithm without privacy, from k of the points: the best of some runs."""
    rng = np.random.default_rng(seed)
    start = rng.choice(points, k, replace=False)
    return cost(points, lloyd(points, k, 30, ball, rng, start), ball)


def _peer_time(peer: Peer | None) -> Row:
    points, ball = data.clusters(100_000, 8, 2, np.random.default_rng(0)).points, Ball.box((-1, -1), (1, 1))
    private = PrivateKMeans(8, ball, PureDP(1.0), 7)  # as many rounds as the peer makes here
    ours = best_of(lambda: private.run(points, np.random.default_rng(1)))
    name, goal = "k-means, 10^5 points, k = 8, dim = 2, against diffprivlib", "<= peer"
    if peer is None:
        return Row(name, ours, None, "s", goal, None, MISSING)
    theirs = best_of(lambda: peer(points, 8, ball, 1.0, 1), repeat=2)
    return Row(name, ours, theirs, "s", goal, ours <= theirs, f"{theirs / ours:.0f} times as fast")


MISSING = "diffprivlib is not installed: pip install 'dpcourse[bench]'"
Peer = Callable[[Any, int, Ball, float, int], Any]


def _diffprivlib() -> Peer | None:
    """diffprivlib's centres, from the unit coordinates that ours work in; None if it is not installed."""
    try:
        from diffprivlib.models import KMeans  # 0.6.6 does not load with scikit-learn 1.9
    except ModuleNotFoundError:
        return None

    def centres(points: Any, k: int, ball: Ball, epsilon: float, seed: int) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn's, about its own changes
            model = KMeans(k, epsilon=epsilon, bounds=(-1, 1), random_state=seed)
            return ball.restore(model.fit(ball.project(points)).cluster_centers_)

    return centres


def overspend(dim: int) -> float:
    """What diffprivlib's rounds sum to, in epsilons, with its shares c for a coordinate and 1 for a count.

    >>> round(overspend(2), 2), round(overspend(8), 2)
    (0.91, 1.13)
    """
    c = math.cbrt(4 * dim * 0.225**2)
    return (1 + dim * c) / (dim + c)
