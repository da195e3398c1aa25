"""Private k-means as it is often got wrong: each mistake as a mechanism, with a pair that shows it.

Every trap is one round (or one release of it) that claims less than it loses; the loss is exact, by
`PrivacyLoss.between` on the two laws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpcourse.algorithms.kmeans.ball import Ball
from dpcourse.algorithms.kmeans.exact import statistics
from dpcourse.algorithms.kmeans.release import LloydRound
from dpcourse.errors import Floats
from dpcourse.guarantees import PureDP
from dpcourse.laws import Law, Product
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import Custom, LaplaceMechanism, Mechanism
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency

Data = tuple[tuple[float, ...], ...]
STEP: Final = 0.1
"""The epsilon of one release in the traps: epsilon/(2T), so that an honest round has 2 STEP."""


@dataclass(frozen=True)
class Trap:
    """A mechanism that breaks its promise, and two neighbours on which it does."""

    name: str
    mechanism: Mechanism
    left: Data
    right: Data

    def loss(self) -> PrivacyLoss:
        """The privacy loss on the pair."""
        return self.mechanism.loss(self.left, self.right)

    @property
    def leak(self) -> float:
        """The largest loss on the pair as a multiple of the promise: above 1 it is broken."""
        return self.mechanism.guarantee.share(self.loss())


def _round(ball: Ball, centres: Any, epsilon: float, sensitivity: float, adjacency: Adjacency) -> LloydRound:
    noise = LaplaceMechanism(epsilon, sensitivity=sensitivity, adjacency=adjacency)
    return LloydRound(ball, ball.project(centres), noise, noise)


def wrong_ball(dim: int = 4) -> Trap:
    """Points in the l2 ball, noise for the l1 ball: a point (1, ..., 1)/sqrt(d) has l1 norm sqrt(d).

    >>> round(wrong_ball(4).loss().max_divergence(), 4)  # the round claims .2
    0.3
    """
    claimed = _round(Ball(dim), np.zeros((1, dim)), STEP, 1.0, ADD_REMOVE)
    return Trap("l2 ball with l1 noise", claimed, (), ((dim**-0.5,) * dim,))


def rescaled_by_the_data(others: int = 100, outlier: float = 50.0) -> Trap:
    """Sums of points divided by the largest norm among them: one outlier moves every term.

    >>> round(rescaled_by_the_data().loss().max_divergence() / STEP, 9)
    98.0
    """

    def law(data: Any) -> Law:
        points = np.asarray(data, dtype=float)
        return Product(LaplaceMechanism(STEP).noise((points / np.linalg.norm(points, axis=1).max()).sum(0)))

    crowd: Data = ((0.5, 0.0),) * others
    return Trap("rescaled by the data's maximum", Custom(law, PureDP(STEP)), crowd, (*crowd, (outlier, 0.0)))


def replaced_row() -> Trap:
    """Noise for add/remove, promise for replace-one: a row leaves one cluster and enters another.

    >>> round(replaced_row().leak, 9)
    2.0
    """
    both = _round(Ball(1), [[-1.0], [1.0]], STEP, 1.0, REPLACE_ONE)
    return Trap("add/remove noise for replaced rows", both, ((-1.0,),), ((1.0,),))


def undivided_round(rounds: int = 5, epsilon: float = 1.0) -> Trap:
    """epsilon/m for each of m rounds, and then all of it on the counts and again on the sums.

    >>> round(undivided_round().leak, 9)
    2.0
    """
    honest = _round(Ball(1, norm=1), [[0.0]], epsilon / rounds, 1.0, ADD_REMOVE)
    claim = Custom(honest.law, PureDP(epsilon / rounds))
    return Trap("epsilon/m on counts and again on sums", claim, (), ((1.0,),))


def skips_empty_clusters() -> Trap:
    """No noise where a cluster has no point: the first point that arrives there is seen for certain.

    >>> skips_empty_clusters().loss().max_divergence()
    inf
    """
    ball = Ball(1, norm=1)
    centres: Floats = ball.project([[-1.0], [1.0]])

    def law(data: Any) -> Law:
        counts, sums = statistics(ball.project(data), centres)
        noise, some = LaplaceMechanism(STEP), counts > 0
        return Product(noise.noise(counts[some]), noise.noise(sums[some].ravel()))

    return Trap("empty clusters skipped", Custom(law, PureDP(2 * STEP)), ((-1.0,),), ((-1.0,), (1.0,)))


def traps() -> tuple[Trap, ...]:
    """All of them."""
    return (
        wrong_ball(4),
        wrong_ball(16),
        wrong_ball(64),
        rescaled_by_the_data(),
        replaced_row(),
        undivided_round(),
        skips_empty_clusters(),
    )
