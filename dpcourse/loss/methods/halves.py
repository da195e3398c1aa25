"""More finite losses than can be listed: two lists, and every pair of their entries.

Split the outcomes of a finite law in two halves. If m of the k steps fall into the first half, the sum of
the losses is a + b, with a from a list for m steps and b from one for k - m steps, and

    delta(eps) = sum over m and b of  mass(b) * sum over a of mass(a) (1 - e^{eps - b - a})+,

where the inner sum is read off running sums (`listing.Tails`). Two lists of some hundred thousand entries
stand for 10^10 sums. Different losses, and the two halves of a few steps, are shared out between the two
lists as they are. Proved, like the listing, up to rounding; counts that hardly ever come (`counts`) are left
out, and their probability is added to the upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.counts import Law, likely, multinomial, plus, possible, window
from dpcourse.loss.methods.listing import Parts, Tails, drift, falling, roundings
from dpcourse.loss.methods.saddle import Saddle

_CHUNK: Final = 2**18
_CURVE: Final = 2**5  # epsilons; for more of them a line that has been made is faster
_MOST_OUTCOMES: Final = 40
_FEW: Final = 9000  # entries of two lists that are about as quick as a line
_PAIR: Final = 200  # what a pair of lists costs more, in entries


@dataclass(frozen=True)
class Halves:
    """Pairs of lists: one with its running sums, the other as losses and masses."""

    pairs: list[tuple[Tails, Floats, Floats]]
    saddle: Saddle
    slack: float
    relative: float
    lost: float

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        sums = sum(len(tails.p) * len(mass) for tails, _, mass in self.pairs)
        return f"halves: {sums:.1g} sums of finite losses as pairs from two lists, all of them counted"

    @property
    def _length(self) -> int:
        return sum(len(losses) for _, losses, _ in self.pairs)

    def _above(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """P and e^eps Q of {S > eps}."""
        p, q = np.zeros((2, len(epsilon)))
        for tails, losses, mass in self.pairs:
            together = max(1, _CHUNK // len(losses))
            for i in range(0, len(epsilon), together):
                above, near = tails.above(np.subtract.outer(epsilon[i : i + together], losses))
                p[i : i + together] += (above * mass).sum(-1)  # faster than BLAS, whose threads wait
                q[i : i + together] += (near * mass).sum(-1)
        return p, q

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The difference, at eps -+ slack, widened by the rounding of both terms; NaN for a long curve."""
        if len(epsilon) > _CURVE and len(epsilon) * self._length > _CHUNK:
            return epsilon * math.nan, epsilon * math.nan
        p, q = self._above(np.concatenate([epsilon + self.slack, epsilon - self.slack]))
        (low, high), (less, more) = np.split(p - q, 2), np.split(self.relative * (p + q), 2)
        unclear = self.lost > 1e-11 * low  # the counts that were left out would matter here
        return np.where(unclear, np.nan, np.maximum(low - less, 0.0)), high + more + self.lost

    def slope(self, epsilon: Floats) -> Floats:
        """e^eps Q[S > eps]."""
        return self._above(epsilon)[1]

    def root(self, target: float) -> tuple[float, float]:
        """Newton's method on ln delta; NaN where the counts that were left out would matter."""
        if self.lost > 1e-11 * target:
            return math.nan, math.nan

        def look(epsilon: Floats) -> tuple[Floats, Floats, Floats]:
            p, q = self._above(epsilon)
            error = self.relative * (p + q) + self.lost + self.slack * q
            return p - q - error, p - q + error, q

        top = max(float(tails.losses[0] + losses.max()) for tails, losses, _ in self.pairs)
        return self.saddle.newton(look, target, max(top, 0.0) + 1)


def halves(parts: Parts, most: Callable[[], float], saddle: Saddle) -> Halves | None:
    """Pairs of lists, or None if they have more than so many entries.

    >>> from dpcourse.loss.methods.factors import FiniteFactor
    >>> three = FiniteLoss((0.5, 0.3, 0.2), (0.3, 0.3, 0.4))
    >>> saddle = Saddle([FiniteFactor(three, 500)], mean=500 * three.kl())
    >>> low, high = halves([(three, 500)], lambda: 1e6, saddle).bounds(np.array([100.0]))
    >>> f"{low[0]:.6e} {high[0]:.6e}"
    '1.227306e-05 1.227306e-05'
    """
    (leaf, k), *others = parts
    steps = parts if others or k == 1 else [(leaf, k // 2), (leaf, k - k // 2)]
    found = _of_parts(steps, _FEW)
    if found is None:
        found = _of_parts(parts, most()) if others else _of_outcomes(leaf, k, most)
    if found is None:
        return None
    pairs, lost = found
    made = [(falling(*one), *other) for one, other in pairs]
    total = math.fsum(float(tails.p.sum() * mass.sum()) for tails, _, mass in made)
    scale = math.prod(math.fsum(possible(leaf)[1]) ** k for leaf, k in parts) / total
    made = [(tails, losses, scale * mass) for tails, losses, mass in made]
    relative = roundings(parts, sum(len(tails.p) + len(mass) for tails, _, mass in made))
    return Halves(made, saddle, drift(parts), relative + lost, lost)


def _of_outcomes(
    leaf: FiniteLoss, k: int, limit: Callable[[], float]
) -> tuple[list[tuple[Law, Law]], float] | None:
    """Two lists for each number of steps that may fall into the first half of the outcomes."""
    losses, p = possible(leaf)
    order = np.argsort(-p * (1 - p), kind="stable")  # dealt out by how much their counts vary
    sides = [(losses[some], p[some]) for some in (order[::2], order[1::2])]
    if (
        len(p) > _MOST_OUTCOMES
        or not all(len(side[1]) for side in sides)
        or (most := limit() - _PAIR * k) < 0
    ):
        return None
    windows = [window(p, k) for _, p in sides]
    if sum(each.number for each in windows) > most:
        return None
    lists, missed = [], 0.0
    for law, within in zip(sides, windows, strict=True):
        found = likely(law, k, within, 2 * most)
        if found is None:
            return None
        left, loss, mass, lost = found
        by_steps = np.argsort(left.astype(np.int16 if k < 2**15 else np.int64), kind="stable")  # short: radix
        ends = np.searchsorted(left[by_steps], np.arange(k + 2))
        loss, mass, missed = loss[by_steps], mass[by_steps], missed + lost
        lists.append([(loss[a:b], mass[a:b]) for a, b in pairwise(ends)])
    both = zip(lists[0], lists[1][::-1], strict=True)
    return [(a, b) for a, b in both if len(a[0]) and len(b[0])], missed


def _of_parts(parts: Parts, most: float) -> tuple[list[tuple[Law, Law]], float] | None:
    """One pair: the losses shared out so that both lists are about as long."""
    sizes = [math.comb(k + len(leaf.atoms[0]) - 1, k) for leaf, k in parts]
    sides: tuple[list[int], list[int]] = [], []
    for i in sorted(range(len(parts)), key=sizes.__getitem__, reverse=True):
        min(sides, key=lambda side: math.prod(sizes[j] for j in side)).append(i)
    if sum(math.prod(sizes[j] for j in side) for side in sides) > most:
        return None
    first, second = (reduce(plus, (multinomial(*parts[j]) for j in side)) for side in sides)
    return [(first, second)], 0.0
