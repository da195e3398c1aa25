"""What the theorems share: their answer, how steps are listed, rounding up, and one monotone search."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dpcourse.errors import delta as check_delta
from dpcourse.errors import nonnegative, number, reject, whole
from dpcourse.guarantees.rounding import decimal_sum, up
from dpcourse.loss.solve import TINIEST


class Total(NamedTuple):
    """What a whole sequence of releases costs: it is (epsilon, delta)-DP. Prints ten digits."""

    epsilon: float
    delta: float

    def __repr__(self) -> str:
        return f"Total(epsilon={self.epsilon:.10g}, delta={self.delta:.10g})"


@dataclass(frozen=True)
class Steps:
    """The distinct (epsilon, delta) of a sequence of steps, and how often each occurs."""

    epsilon: tuple[float, ...]
    delta: tuple[float, ...]
    count: tuple[int, ...]

    def total(self, term: Callable[[float], float]) -> float:
        """The sum of term(epsilon_i) over all steps, rounded up."""
        terms = (max(term(e), TINIEST) if e else 0.0 for e in self.epsilon)  # a square may underflow
        return up(math.fsum(n * value for value, n in zip(terms, self.count, strict=True)))

    @property
    def epsilon_sum(self) -> float:
        """The sum of the epsilons, as they are printed: ten times 0.1 is 1, and 0.1 + 0.2 is 0.3."""
        return decimal_sum(self.epsilon, self.count)

    @property
    def delta_sum(self) -> float:
        """The sum of the deltas, as they are printed."""
        return decimal_sum(self.delta, self.count)

    @property
    def log_kept(self) -> float:
        """ln prod (1 - delta_i): the chance that no step fails."""
        return math.fsum(n * math.log1p(-d) for d, n in zip(self.delta, self.count, strict=True))


Deltas = float | Sequence[float]
Numbers = float | Sequence[float] | Steps
"""One number for all steps, one number per step, or steps that are counted already."""


def steps(epsilon: Numbers, k: int = 1, delta: Deltas = 0.0, name: str = "epsilon") -> Steps:
    """k rounds of the listed steps, equal ones counted together; a bad list is an error that says why.

    The numbers may be those of another promise, mu or rho: `name` is what an error calls them.

    >>> steps([0.1, 0.2, 0.1], k=5)
    Steps(epsilon=(0.1, 0.2), delta=(0.0, 0.0), count=(10, 5))
    """
    rounds = whole("k", k)
    if isinstance(epsilon, Steps):
        if np.any(delta):
            reject("delta", delta, "left out: the steps have their own", "give it when you make the Steps.")
        return replace(epsilon, count=tuple(rounds * n for n in epsilon.count))
    nonnegative(name, epsilon)
    check_delta("delta", delta)
    epsilons, deltas = (np.atleast_1d(np.asarray(v, dtype=float)) for v in (epsilon, delta))
    if epsilons.size == 0 or epsilons.ndim > 1:
        reject(name, epsilon, "one number, or a list with one per step", "list at least one step.")
    if deltas.size not in {1, epsilons.size}:
        fix = "give one delta for all steps, or as many as there are epsilons."
        reject("delta", delta, f"one number, or a list of {epsilons.size}", fix)
    counts: dict[tuple[float, float], int] = {}
    for pair in zip(epsilons.tolist(), np.broadcast_to(deltas, epsilons.shape).tolist(), strict=True):
        counts[pair] = counts.get(pair, 0) + rounds
    return Steps(tuple(e for e, _ in counts), tuple(d for _, d in counts), tuple(counts.values()))


def check_slack(slack: float) -> float:
    """The part of delta that pays for composition: advanced composition needs some."""
    if check_delta("slack", number("slack", slack)) == 0:
        fix = "spend a little, such as 1e-6, or use basic_composition."
        reject("slack", slack, "above 0: without slack nothing beats adding the epsilons", fix)
    return float(slack)


def boundary(
    cost: Callable[[float], float], target: float, good: float, bad: float, tolerance: float = 1e-15
) -> float:
    """The end of the range where cost(x) <= target: a point that obeys it, next to points that do not.

    `good` obeys it, `bad` does not, and the cost is monotone between them. Secant steps on ln cost, in the
    Illinois variant, and bisection if these are slow. Only points where the cost was evaluated and found
    to be at most the target are returned, so an imperfect search loses tightness and never soundness.

    >>> round(boundary(lambda x: x * x, 2.0, good=0.0, bad=9.0), 12)
    1.414213562373
    """

    def gap(x: float) -> float:
        value = cost(x)
        return min(math.log(max(value / target, 1e-300)), 1e3) if value < math.inf else 1e3

    at_good, at_bad, last = gap(good), gap(bad), 0
    for turn in range(200):
        if abs(bad - good) <= tolerance * max(abs(good), abs(bad)):
            break
        middle = (good + bad) / 2
        x = good + (bad - good) * (at_good / (at_good - at_bad)) if at_bad > at_good else middle
        if turn % 4 == 3 or not min(good, bad) < x < max(good, bad):
            x = middle
        value = gap(x)
        side = 1 if value > 0 else -1
        if side < 0:
            good, at_good = x, value
        else:
            bad, at_bad = x, value
        if side == last:  # an end that stays put counts half, so that the next secant passes it
            at_good, at_bad = (at_good / 2, at_bad) if side > 0 else (at_good, at_bad / 2)
        last = side
    short = float(f"{good:.12g}")  # 0.1 rather than 0.09999999999999999, if it obeys as well
    return short if (short - good) * (bad - good) > 0 and cost(short) <= target else good
