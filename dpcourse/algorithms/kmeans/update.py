"""New centres from noisy counts and sums: post-processing, so it costs no privacy and may be clever."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpcourse.algorithms.kmeans.ball import Ball
from dpcourse.algorithms.kmeans.release import LloydRound
from dpcourse.errors import Floats

_ASIDE = 0.1  # how far from the largest cluster's centre a revived one starts, in radii


def recentre(
    step: LloydRound, counts: Floats, sums: Floats, empty: str, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """The centres after a round (unit coordinates), and which of them were started anew.

    A cluster's mean is its noisy sum over its noisy count, moved into the ball. A cluster looks empty if
    the noise would move its mean by half a radius: then the quotient says nothing about the data.
    """
    ball = Ball(step.ball.dim, step.ball.norm)
    least = max(1.0, 2 * math.sqrt(ball.dim) * float(step.sums.noise(0.0).std()))
    revived = counts < (least if empty == "split" else 1.0)
    means = ball.project(sums / np.maximum(counts, 1.0)[:, None])
    if empty == "uniform" or revived.all():
        fresh = ball.sample(rng, len(counts))
    else:
        fresh = _beside_the_largest(ball, means, np.where(revived, 0.0, counts), revived, rng)
    return np.where(revived[:, None], fresh, means), revived


def _beside_the_largest(
    ball: Ball, means: Floats, sizes: Floats, revived: NDArray[np.bool_], rng: np.random.Generator
) -> Floats:
    """For each revived cluster a spot beside the largest one, which it then shares half and half."""
    fresh = _ASIDE * ball.sample(rng, len(means))
    for j in np.flatnonzero(revived):
        largest = int(sizes.argmax())
        sizes[largest] /= 2
        fresh[j] += means[largest]
    return ball.project(fresh)
