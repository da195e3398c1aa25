"""LloydRound: the one release of a round, as a mechanism: noisy counts and noisy sums of the clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.algorithms.kmeans.ball import Ball
from dpcourse.algorithms.kmeans.exact import statistics
from dpcourse.errors import Floats, reject
from dpcourse.guarantees import GDP, ZCDP, ApproxDP, Guarantee, PureDP
from dpcourse.laws import Law, Product
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import GaussianMechanism, LaplaceMechanism, Mechanism, gaussian_sigma
from dpcourse.neighbours import REPLACE_ONE

Noise = LaplaceMechanism | GaussianMechanism


@dataclass(frozen=True, eq=False)
class LloydRound(Mechanism):
    """Given public centres: how many points each one has, and their sum (unit coordinates), with noise.

    An answer is the vector (k counts, k * dim sums). The counts are a histogram and the sums a stacked
    vector that one point moves by its own norm, so each part is an ordinary noise mechanism and the round
    promises their sum (Blum, Dwork, McSherry and Nissim, PODS 2005).
    """

    ball: Ball
    centres: Floats
    counts: Noise
    sums: Noise

    def law(self, data: Any) -> Law:
        """Independent noise on every count and every coordinate of every sum."""
        return self.law_in_unit(self.ball.project(data))

    def law_in_unit(self, unit: Floats) -> Law:
        """The same for points that are in the ball already."""
        counts, sums = statistics(unit, self.centres)
        return Product(self.counts.noise(counts), self.sums.noise(sums.ravel()))

    def read(self, released: ArrayLike) -> tuple[Floats, Floats]:
        """The noisy counts and the noisy sums of a released vector."""
        released = np.asarray(released, dtype=float)
        k = len(self.centres)
        return released[:k], released[k:].reshape(k, self.ball.dim)

    @property
    def guarantee(self) -> Guarantee:
        """The counts' promise and the sums' promise, composed."""
        return self.counts.guarantee + self.sums.guarantee

    def worst_case(self) -> PrivacyLoss:
        """The two parts' worst cases, composed."""
        return self.counts.worst_case() + self.sums.worst_case()


def noises(budget: Guarantee, ball: Ball, counts_share: float | None = None) -> tuple[Noise, Noise]:
    """The noise on the counts and on the sums that together spend the budget, which says which noise.

    PureDP: Laplace noise. GDP, ZCDP, ApproxDP: Gaussian noise, whose squares (sensitivity/sigma)^2 add up.
    One added point moves one count by 1 and one sum by its norm; a replaced one does so twice.

    >>> [m.scale for m in noises(PureDP(0.2), Ball(64), counts_share=0.5)]  # an l2 ball: sqrt(64)
    [10.0, 80.0]
    """
    part = best_share(budget, ball) if counts_share is None else counts_share
    both, adjacency = budget.adjacency is REPLACE_ONE, budget.adjacency
    if isinstance(budget, PureDP):
        times = 2 if both else 1
        return (
            LaplaceMechanism(budget.epsilon_0 * part, sensitivity=times, adjacency=adjacency),
            LaplaceMechanism(
                budget.epsilon_0 * (1 - part), sensitivity=times * ball.reach(1), adjacency=adjacency
            ),
        )
    mu = gaussian_mu(budget)
    # A replaced point leaves one cluster and enters another (two counts move by 1 each, sqrt 2 together),
    # or stays in its cluster and crosses it (one sum moves by the diameter).
    moves = (math.sqrt(2) if both else 1.0), (2 if both else 1) * ball.reach(2)
    shares = part, 1 - part
    counts, sums = (
        GaussianMechanism(move / (mu * math.sqrt(share)), sensitivity=move, adjacency=adjacency)
        for move, share in zip(moves, shares, strict=True)
    )
    return counts, sums


def gaussian_mu(budget: Guarantee) -> float:
    """The mu of Gaussian noise that spends a budget of another kind."""
    if isinstance(budget, GDP):
        return budget.mu
    if isinstance(budget, ZCDP):
        return math.sqrt(2 * budget.rho)
    if isinstance(budget, ApproxDP):
        return 1 / gaussian_sigma(budget.epsilon_0, budget.delta_0)
    reject("budget", budget, "PureDP, ApproxDP, ZCDP or GDP", "use PureDP(1.0) or ZCDP(0.1).")


def best_share(budget: Guarantee, ball: Ball) -> float:
    r"""The counts' part of a round's budget that gives the least error of a typical centre.

    A centre is off by about (noise of sum - c * noise of count)/n, so its squared error is proportional
    to \(d b_s^2 + |c|^2 b_n^2\); with \(b_s = S/\epsilon_s\), \(b_n = 1/\epsilon_n\) the best ratio is
    \(\epsilon_n/\epsilon_s = (|c|^2/(d S^2))^{1/3}\), and a square root in place of the cube root where
    squares add up. |c|^2 is taken as for a uniform point of the ball, so no data is involved. (The idea
    is that of Su, Cao, Li, Bertino and Jin, CODASPY 2016.)
    """
    d = ball.dim
    typical = {1: 2 * d / ((d + 1) * (d + 2)), 2: d / (d + 2), math.inf: d / 3}[ball.norm]
    pure = isinstance(budget, PureDP)
    ratio = (typical / (d * ball.reach(1 if pure else 2) ** 2)) ** (1 / 3 if pure else 1 / 2)
    return float(ratio / (1 + ratio))
