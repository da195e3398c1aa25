"""Settings: threshold, noise and number of updates, from the privacy and the accuracy asked for.

An epoch, from one update to the next, tests its queries against one noisy threshold. With noise of scale
mu everywhere and queries that one row moves by 1/n, its bits cost 3/(n mu) (the threshold moves by 1/n,
the last query's noise by 2/n) and its fresh answer 1/(n mu), however many queries it lasts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from dpcourse.errors import delta as check_delta
from dpcourse.errors import positive, probability, reject, whole
from dpcourse.guarantees import ApproxDP, Guarantee, PureDP, dominating_loss
from dpcourse.interactive.weights.updates import updates_bound
from dpcourse.loss import LaplaceLoss, PrivacyLoss
from dpcourse.loss.solve import solve_decreasing
from dpcourse.neighbours import REPLACE_ONE


@dataclass(frozen=True)
class Settings:
    """What a run is made of. `threshold` and `noise` are on the scale of fractions; n is public."""

    n: int
    universe: int
    threshold: float
    noise: float
    updates: int

    def __post_init__(self) -> None:
        whole("n", self.n)
        whole("universe", self.universe, at_least=2)
        positive("threshold", self.threshold)
        positive("noise", self.noise)
        whole("updates", self.updates)

    @property
    def step(self) -> float:
        """eta = T/4."""
        return self.threshold / 4

    @cached_property
    def loss(self) -> PrivacyLoss:
        """A loss that dominates the whole conversation: the exact composition of all epochs."""
        return epochs_loss(1 / (self.n * self.noise), self.updates)

    def guarantee(self, delta: float) -> Guarantee:
        """(epsilon, delta)-DP by exact composition; epsilon-DP if delta is 0."""
        epsilon = float(self.loss.epsilon(delta))
        if delta == 0:
            return PureDP(epsilon, adjacency=REPLACE_ONE)
        return ApproxDP(epsilon, delta, adjacency=REPLACE_ONE)

    def noise_bound(self, queries: int, beta: float) -> float:
        """B with Pr[some draw is above B] <= beta: one draw for each query, two for each update."""
        draws = whole("queries", queries) + 2 * self.updates
        return self.noise * math.log(draws / _chance(beta))

    def accuracy(self, queries: int, beta: float) -> float:
        """The error of every answer, with probability 1 - beta: T + 2 B.

        A hypothesis that passes the test errs by less than T plus the noise of threshold and query. It
        holds if T >= 4 B, so that updates happen at gaps of at least T/2 and there is room for all of them.
        """
        bound = self.noise_bound(queries, beta)
        room = updates_bound(self.universe, self.threshold) <= self.updates
        if self.threshold < 4 * bound or not room:
            return math.inf
        return self.threshold + 2 * bound


def epochs_loss(shift: float, epochs: int) -> PrivacyLoss:
    """The worst loss of so many epochs, where one row moves a query by `shift` times the noise scale."""
    return epochs * dominating_loss(PureDP(3 * shift)) + epochs * LaplaceLoss(shift)


def choose_settings(
    n: int, universe: int, queries: int, epsilon: float, delta: float, beta: float = 0.05
) -> Settings:
    """The smallest threshold for (epsilon, delta)-DP and accuracy with probability 1 - beta.

    For L updates the noise mu follows from the exact composition of L epochs, and the threshold must be
    at least 4 mu ln((t + 2L)/beta), t the number of queries, and at least sqrt(128 ln N/(15 L)). The first
    grows with L and the second falls; the best L is where they meet.

    >>> best = choose_settings(n=10**6, universe=1024, queries=1000, epsilon=1, delta=1e-6)
    >>> best.updates, round(best.threshold, 3)
    (11036, 0.073)
    """
    whole("n", n)
    whole("queries", queries)
    positive("epsilon", epsilon)
    check_delta("delta", delta)
    logs = 128 * math.log(whole("universe", universe, at_least=2)) / 15

    def needed(updates: int, noise: float) -> float:
        return 4 * noise * math.log((queries + 2 * updates) / _chance(beta))

    # The shape of mu(L) is known; one exact value sets its height, and a second one is the answer's.
    updates, height = 1, 1.0
    for _ in range(2):
        low, high = 1, 2**40
        while high - low > 1:
            middle = (low + high) // 2
            fits = needed(middle, height * _rough_noise(n, middle, epsilon, delta)) <= math.sqrt(
                logs / middle
            )
            low, high = (middle, high) if fits else (low, middle)
        updates = low
        noise = exact_noise(updates, epsilon, delta) / n
        height = noise / _rough_noise(n, updates, epsilon, delta)
    threshold = max(needed(updates, noise), math.sqrt(logs / updates)) * (1 + 1e-12)
    if threshold > 1:
        fix = "collect more rows, ask fewer queries, or allow a larger epsilon."
        reject(
            "n", n, f"large enough: the threshold would be {threshold:.3g}, and answers lie in [0, 1]", fix
        )
    return Settings(n, universe, threshold, noise, updates)


def exact_noise(epochs: int, epsilon: float, delta: float) -> float:
    """The least noise, as a multiple of the sensitivity, for which so many epochs are (epsilon, delta)-DP."""
    noise = _rough_noise(1, epochs, epsilon, delta)
    if delta > 0:

        def failure(scale: float) -> float:
            return float(epochs_loss(1 / (noise * scale), epochs).delta(epsilon)) if scale > 0.01 else 1.0

        noise *= solve_decreasing(failure, delta)
    widen = 1e-12
    while epochs_loss(1 / noise, epochs).epsilon(delta) > epsilon:  # the search may end a few ulps short
        noise, widen = noise * (1 + widen), 16 * widen
    return noise


def _rough_noise(n: int, epochs: int, epsilon: float, delta: float) -> float:
    """The noise by concentrated privacy, rho = 5 L/(n mu)^2: a start for the exact search, no promise."""
    if delta == 0:
        return 4 * epochs / (n * epsilon)
    log = -math.log(delta)
    rho = (math.sqrt(epsilon + log) - math.sqrt(log)) ** 2
    return math.sqrt(5 * epochs / rho) / n


def _chance(beta: float) -> float:
    return float(positive("beta", probability("beta", beta), "give the chance that accuracy may fail."))
