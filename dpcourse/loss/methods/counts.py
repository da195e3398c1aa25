"""Every way to share k equal steps among the outcomes of a finite law, as far as it can matter.

The probability of counts c_1 + ... + c_n = k is proportional to the product of (k p_i)^{c_i}/c_i!, each
taken relative to its largest value by a running product of ratios: no logarithm loses digits to a large k.

Counts that hardly ever come may be left out, in two ways that say how much of the mass of P goes with them.
Outcome i alone comes Binomial(k, p_i) often, and by Chernoff's bound j times or more (above k p_i; or fewer,
below it) with probability at most e^{-k KL(j/k, p_i)}. The first counts c_1, ..., c_j together have a
multinomial probability, whatever the others are.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from dpcourse import special
from dpcourse.errors import Floats
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.methods.lattice import WIDE
from dpcourse.loss.prefixes import STEPS, ways_to_choose

_SMALL: Final = 2**13  # entries of a table that is kept for the next time
_ALONE: Final = 75.0  # e^-75: a count of one outcome that is given up
_TOGETHER: Final = 1e-28  # counts of several outcomes that are given up
_DEAR: Final = math.ceil(-math.log(_TOGETHER))
Law = tuple[Floats, Floats]
"""Values of a loss, and their masses."""


def possible(leaf: FiniteLoss) -> Law:
    """The finite losses, without those whose probability has underflowed."""
    losses, p = leaf.atoms
    return losses[p > 0], p[p > 0]


def plus(a: Law, b: Law) -> Law:
    """The sum of two independent losses."""
    return np.add.outer(a[0], b[0]).ravel(), np.multiply.outer(a[1], b[1]).ravel()


def multinomial(leaf: FiniteLoss, k: int) -> Law:
    """The sum of k equal losses, all of it.

    >>> losses, masses = multinomial(FiniteLoss((0.25, 0.75), (0.5, 0.5)), 2)
    >>> masses, np.exp(losses)
    (array([0.5625, 0.375 , 0.0625]), array([2.25, 0.75, 0.25]))
    """
    losses, p = possible(leaf)
    if k <= STEPS and k * math.comb(k + len(p) - 1, k) <= _SMALL:
        ways, number = ways_to_choose(len(p), k)
        loss, mass = losses[ways].sum(0), number * p[ways].prod(0)
        return (loss, mass) if mass.all() else (loss[mass > 0], mass[mass > 0])
    every = np.zeros(len(p) - 1, dtype=int), np.full(len(p) - 1, k)
    left, loss, mass = np.array([k]), np.zeros(1), np.ones(1)
    for value, mean, low, high in zip(losses[:-1], k * p[:-1], *every, strict=True):
        left, loss, mass = shared(left, loss, mass, value, (low, _poisson(mean, low, high)[0]))
    least = int(left.min())
    mass = mass * _poisson(k * p[-1], least, k)[0][left - least]  # the last outcome takes what is left
    loss, mass = (loss + left * losses[-1])[mass > 0], mass[mass > 0]
    return loss, mass * (math.fsum(p) ** k / float(mass.sum()))


class Window(NamedTuple):
    """Where the likely counts of some outcomes lie."""

    low: Any
    high: Any
    number: float
    """About how many there are together: up to twice as many as there are."""


def window(p: Floats, k: int) -> Window:
    """The least and the largest likely count of each outcome, by Chernoff's bound.

    Counts are unlikely together if the exponents of that bound add up to too much, or the counts to more
    than k.

    >>> low, high, number = window(np.array([0.5, 1e-9]), 1000)
    >>> low, high, round(number)
    (array([309,   0]), array([691,   5]), 1281)
    """
    reach = math.ceil(_ALONE + math.sqrt(2 * _ALONE * k * float((p * (1 - p)).max()))) + 1  # Bernstein
    least = np.clip(np.rint(k * p) - reach, 0, max(k - 2 * reach, 0))
    count: Floats = least + np.arange(min(2 * reach, k) + 1.0)[:, None]
    share = count / k
    with np.errstate(divide="ignore"):
        apart = special.xlogy(share, share / p) + special.xlogy(1 - share, (1 - share) / np.maximum(1 - p, 0))
    near = k * apart <= _ALONE
    low, high = np.where(near, count, k).min(0), np.where(near, count, 0).max(0)
    costs = np.rint(np.minimum(k * apart, _DEAR)).astype(int)
    ways = np.ones(1)  # entry i: about how many counts have exponents that add up to i
    for cost in costs.T:
        ways = np.convolve(ways, np.bincount(cost, minlength=_DEAR)[:_DEAR])[:_DEAR]
    every = math.lgamma(k + len(p) + 1) - math.lgamma(k + 1) - math.lgamma(len(p) + 1)
    return Window(low.astype(int), high.astype(int), min(float(ways.sum()), math.exp(min(every, 700.0))))


def likely(law: Law, k: int, within: Window, most: float) -> tuple[Any, Floats, Floats, float] | None:
    """Likely counts of some outcomes of a law, with k steps in all at most; None if they are too many.

    For each way: the steps that are left over, the loss, and the product of (k p_i)^{c_i}/c_i!, scaled.
    Last comes the probability of all that was left out.
    """
    low, high, _ = within
    lost = 2 * len(low) * math.exp(-_ALONE)
    log_scale, rest = math.lgamma(k + 1) - k * math.log(k), 1.0
    left, loss, mass = np.array([k]), np.zeros(1), np.ones(1)
    for value, p, a, b in zip(*law, low.tolist(), high.tolist(), strict=True):
        if float(np.maximum(np.minimum(left, b) - a + 1, 0).sum()) > 2 * most:
            return None
        table, log_top = _poisson(k * p, a, b)
        left, loss, mass = shared(left, loss, mass, value, (a, table))
        log_scale, rest = log_scale + log_top, max(rest - p, 1e-16)
        others, log_top = _poisson(k * rest, 0, k)
        chance = mass * others[left] * math.exp(log_scale + log_top)
        seen = chance > _TOGETHER
        lost += float(chance[~seen].sum())
        left, loss, mass = left[seen], loss[seen], mass[seen]
        if len(left) > most:
            return None
    return left, loss, mass, lost


def shared(
    left: Any, loss: Floats, mass: Floats, value: float, weights: tuple[int, Floats], room: Any = None
) -> Any:
    """One more outcome takes some of the steps that are left, or at most as many as there is room for."""
    low, table = weights
    number = np.maximum(np.minimum((left if room is None else room) - low + 1, len(table)), 0)
    before = np.repeat(np.arange(len(left), dtype=np.int32), number)
    extra = np.arange(len(before), dtype=np.int32) - np.repeat(np.cumsum(number) - number, number)
    count = low + extra
    return left[before] - count, loss[before] + count * value, mass[before] * table[extra]


def _poisson(mean: float, low: int, high: int) -> tuple[Floats, float]:
    """mean^c/c! for c = low, ..., high, relative to the largest, and ln of that one."""
    mode = min(max(int(mean), low), high)
    up = WIDE(mean) / np.arange(mode + 1, high + 1, dtype=WIDE)
    down = np.arange(mode, low, -1, dtype=WIDE) / WIDE(mean)
    table = np.concatenate([np.cumprod(down)[::-1], [WIDE(1)], np.cumprod(up)]).astype(float)
    return table, mode * math.log(mean) - math.lgamma(mode + 1)
