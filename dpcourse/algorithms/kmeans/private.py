"""PrivateKMeans: Lloyd's algorithm in which every round looks at the data through one mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcourse.algorithms.kmeans.ball import GRID, Ball
from dpcourse.algorithms.kmeans.exact import Labels, assign, spread
from dpcourse.algorithms.kmeans.release import LloydRound, Noise, gaussian_mu, noises
from dpcourse.algorithms.kmeans.update import recentre
from dpcourse.errors import Floats, number, one_of, positive, reject, whole
from dpcourse.guarantees import GDP, Guarantee, PureDP
from dpcourse.laws.base import generator
from dpcourse.loss import PrivacyLoss


@dataclass(frozen=True, eq=False)
class Round:
    """One round as the world sees it: everything here is released, and paid for."""

    centres: Floats
    """Where the centres were, in the coordinates of the data."""
    noisy_counts: Floats
    noisy_sums: Floats
    """Sums of unit coordinates, one row per centre."""
    moved_to: Floats
    """Where the centres are after the round."""
    revived: NDArray[np.bool_]
    """Which clusters looked empty and were started anew."""
    paid: Guarantee
    """What this round promises."""
    spent: Guarantee
    """What all rounds so far promise together."""


@dataclass(frozen=True, eq=False)
class Trace:
    """What a run released, round by round; its last centres are the answer."""

    description: PrivateKMeans
    rounds: tuple[Round, ...]
    not_private: tuple[Labels, ...] = ()
    """For a picture of your own data only: the exact assignment of every point in every round, kept if
    `run(..., reveal=True)` asked for it. No guarantee covers it."""

    @property
    def centres(self) -> Floats:
        """The released centres."""
        return self.rounds[-1].moved_to

    @property
    def path(self) -> Floats:
        """All centres from the start to the end: shape (rounds + 1, k, dim)."""
        return np.stack([self.rounds[0].centres, *(r.moved_to for r in self.rounds)])

    @property
    def note(self) -> str:
        """What was done to the points and to the centres, by rules that do not look at the data."""
        return self.description.note

    @property
    def guarantee(self) -> Guarantee:
        """What covers all fields of all rounds together."""
        return self.rounds[-1].spent


@dataclass(frozen=True)
class PrivateKMeans:
    """Lloyd's algorithm with noisy counts and sums: k centres under a privacy budget.

    `budget` is the promise to keep; its kind chooses the noise (PureDP: Laplace; ZCDP, GDP, ApproxDP:
    Gaussian) and its adjacency the sensitivities. The rounds share it, each one `growth` times the one
    before; within a round `counts_share` goes to the counts (by default the best share for the ball).
    A cluster that looks `empty` starts anew: "split" puts it next to the largest cluster, "uniform" is the
    textbook's draw from the ball.

    Start, ties, and what happens to empty clusters never look at the data, and between the rounds only
    what was released is used, so the rounds compose, though each depends on those before. (Blum, Dwork,
    McSherry and Nissim, PODS 2005; McSherry, SIGMOD 2009.)

    >>> kmeans = PrivateKMeans(k=3, ball=Ball(2), budget=PureDP(1.0), rounds=4)
    >>> round(kmeans.guarantee.epsilon(0), 12)
    1.0
    """

    k: int
    ball: Ball
    budget: Guarantee
    rounds: int = 5
    growth: float = field(default=1.0, kw_only=True)
    counts_share: float | None = field(default=None, kw_only=True)
    empty: str = field(default="split", kw_only=True)

    def __post_init__(self) -> None:
        whole("k", self.k)
        if not isinstance(self.ball, Ball):
            reject("ball", self.ball, "a Ball, the public region", "write Ball(2), or Ball.box(low, high).")
        whole("rounds", self.rounds)
        one_of("empty", self.empty, ("split", "uniform"))
        positive("growth", self.growth, "1 gives every round the same, 2 each round twice the last.")
        if self.counts_share is not None and not 0 < number("counts_share", self.counts_share) < 1:
            fix = "leave it out for the best share, or give one half."
            reject("counts_share", self.counts_share, "strictly between 0 and 1: both parts need noise", fix)
        pure = isinstance(self.budget, PureDP)
        amount = (
            self.budget.epsilon(0.0) if pure else gaussian_mu(self.budget)
        )  # refuses what it cannot spend
        if self.budget.delta(0.0) == 0 or not math.isfinite(amount):
            reject(
                "budget", self.budget, "above 0 (no noise hides everything) and finite", "use PureDP(1.0)."
            )
        if not min(self.shares) > 1e-12:
            fix = "1 gives every round the same, 2 each round twice the last."
            reject("growth", self.growth, f"such that each of {self.rounds} rounds gets some budget", fix)

    @property
    def note(self) -> str:
        """What is done to points and clusters; how many points are moved, `ball.outside` tells for a price.

        >>> for part in PrivateKMeans(k=3, ball=Ball(2), budget=PureDP(1.0)).note.split("; "):
        ...     print(part)
        points outside the l2 ball are moved to its border
        coordinates are rounded to 2^-20 of the radius
        clusters that look empty start anew (split)
        """
        shape = "box" if self.ball.norm == math.inf else f"l{self.ball.norm:g} ball"
        parts = (
            f"points outside the {shape} are moved to its border",
            f"coordinates are rounded to 2^-{math.log2(GRID):.0f} of the radius",
            f"clusters that look empty start anew ({self.empty})",
        )
        return "; ".join(parts)

    @property
    def shares(self) -> tuple[float, ...]:
        """Each round's part of the budget (of its square, for Gaussian noise); they sum to 1."""
        last = self.rounds - 1 if self.growth > 1 else 0  # the largest weight is 1, so that none overflows
        weights = self.growth ** (np.arange(self.rounds) - float(last))
        return tuple((weights / weights.sum()).tolist())

    def noises(self) -> Iterator[tuple[Noise, Noise]]:
        """The noise on counts and on sums, round by round."""
        for share in self.shares:
            if isinstance(self.budget, PureDP):
                part: Guarantee = PureDP(self.budget.epsilon_0 * share, adjacency=self.budget.adjacency)
            else:
                mu = gaussian_mu(self.budget) * math.sqrt(share)
                part = GDP(mu, adjacency=self.budget.adjacency)
            yield noises(part, self.ball, self.counts_share)

    def mechanism(self, centres: ArrayLike, index: int = 0) -> LloydRound:
        """The release of round `index`, given the centres (data coordinates) before it."""
        spots = self.ball.project(centres)
        if len(spots) != self.k:
            reject("centres", f"{len(spots)} rows", f"{self.k} rows", "give one row per centre.")
        if whole("index", index, 0) >= self.rounds:
            reject("index", index, f"below {self.rounds}, the number of rounds", "count from 0.")
        return LloydRound(self.ball, spots, *list(self.noises())[index])

    @property
    def guarantee(self) -> Guarantee:
        """The rounds' promises, composed: the budget (up to the last digits), or its Gaussian form."""
        first, *rest = (counts.guarantee + sums.guarantee for counts, sums in self.noises())
        return sum(rest, first)

    def worst_case(self) -> PrivacyLoss:
        """A loss that dominates the whole run's: its delta(epsilon) says more than the guarantee.

        >>> kmeans = PrivateKMeans(k=3, ball=Ball(2), budget=PureDP(1.0), rounds=20)
        >>> round(kmeans.worst_case().epsilon(1e-6), 2)  # pure epsilon 1, but a delta buys less
        0.65
        """
        first, *rest = (counts.worst_case() + sums.worst_case() for counts, sums in self.noises())
        return sum(rest, first)

    def run(self, points: ArrayLike, rng: np.random.Generator, *, reveal: bool = False) -> Trace:
        """Run on the points (one row each), which are first moved into the ball by its public rule."""
        unit, centres = self.ball.project(points), spread(self.ball, self.k, generator(rng))
        rounds: list[Round] = []
        labels: list[Labels] = []
        for counts, sums in self.noises():
            step = LloydRound(self.ball, centres, counts, sums)
            if reveal:
                labels.append(assign(unit, centres))
            noisy_counts, noisy_sums = step.read(step.law_in_unit(unit).sample(rng))
            after, revived = recentre(step, noisy_counts, noisy_sums, self.empty, rng)
            paid = step.guarantee
            spent = rounds[-1].spent + paid if rounds else paid
            before, moved_to = self.ball.restore(centres), self.ball.restore(after)
            rounds.append(Round(before, noisy_counts, noisy_sums, moved_to, revived, paid, spent))
            centres = after
        return Trace(self, tuple(rounds), tuple(labels))


def rounds_for(size: int, k: int, ball: Ball, budget: Guarantee) -> int:
    """How many rounds a budget can carry for about `size` points: 2 to 8.

    More rounds let the centres travel further, but each has more noise. The most rounds are taken for which
    the noise moves the mean of a cluster of size/k points by at most a tenth of the radius. `size` must be a
    rough public number: the true size is an answer about the data wherever rows are added or removed.

    >>> [rounds_for(20_000, 6, Ball(8), PureDP(epsilon)) for epsilon in (0.1, 0.2, 0.5, 1.0)]
    [2, 4, 8, 8]
    """
    for rounds in range(8, 2, -1):
        _, sums = next(PrivateKMeans(k, ball, budget, rounds).noises())
        if math.sqrt(ball.dim) * float(sums.noise(0.0).std()) * k <= 0.1 * whole("size", size):
            return rounds
    return 2
