"""The largest sums of finite losses: all that a very small delta depends on.

A step falls short of its largest loss by d_i >= 0. The sums within some depth of the largest of all are the
counts with c_1 d_1 + c_2 d_2 + ... <= depth, however many other sums there are. With m = c_1 + c_2 + ..., a
loss that is taken k times contributes to their probability

    p_top^k * k!/((k - m)! k^m) * product of (k p_i/p_top)^{c_i}/c_i!.

Nothing is left out above the depth, so this is a listing, proved up to rounding; below it another method
answers.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.counts import Law, possible, shared
from dpcourse.loss.methods.lattice import WIDE
from dpcourse.loss.methods.listing import Listing, Parts, drift, falling, roundings
from dpcourse.loss.solve import ULP

_MOST: Final = 2**12
_RAREST: Final = 1e-250  # the least probability of the largest sum: far from underflow


def crest(parts: Parts) -> Listing | None:
    """The largest sums, as deep as some thousands of them go; None if the largest one hardly ever comes.

    >>> from dpcourse.loss import FiniteLoss
    >>> three = FiniteLoss((0.5, 0.3, 0.2), (0.3, 0.3, 0.4))
    >>> low, high = crest([(three, 500)]).bounds(np.array([255.0, 100.0]))
    >>> f"{low[0]:.6e} {high[0]:.6e} {low[1]}"
    '1.033220e-151 1.033220e-151 nan'
    """
    laws = [(possible(leaf), k) for leaf, k in parts]
    if any(len(p) == 0 for (_, p), _ in laws):
        return None
    likeliest = math.prod((WIDE(p[0]) ** k for (_, p), k in laws), start=WIDE(1))
    gaps = [(gap, k) for (losses, _), k in laws for gap in (losses[0] - losses[1:]).tolist()]
    if likeliest < _RAREST or not gaps:
        return None
    least, whole = min(gaps)[0], sum(gap * k for gap, k in gaps)
    found, fits, too_many = None, -1, math.ceil(math.log2(whole) - math.log2(least)) + 2
    guess, stride = round(math.log2(max(_depth([gap for gap, _ in gaps]) / least, 1.0))), 1
    while too_many - fits > 1 and (found is None or len(found[0]) < _MOST / 4):
        doubled = min(max(guess, fits + 1), too_many - 1)  # the depth is the least gap, doubled so often
        if deeper := _within(laws, math.ldexp(least, doubled)):
            found, fits, guess, stride = deeper, doubled, doubled + stride, 2 * stride
        else:
            too_many, guess = doubled, (fits + doubled) // 2
    if found is None:
        return None
    short, mass = found
    top = math.fsum(k * float(losses[0]) for (losses, _), k in laws)
    tails = falling(top - short, (mass * likeliest).astype(float))
    why = f"crest: the largest {len(short)} sums of finite losses, listed; no other is above such an epsilon"
    depth = math.ldexp(least, fits)
    slack = drift(parts) + ULP * (abs(top) + (len(gaps) + 4) * depth)  # a gap, its multiples, their sums
    return Listing(why, tails, slack, roundings(parts, len(short)), top - depth * (1 - 1e-9))


def _depth(gaps: list[float]) -> float:
    """About how deep half as many sums as are allowed go: a simplex with a cell of its volume for each."""
    log_volume = math.log(_MOST / 2) + math.lgamma(len(gaps) + 1) + sum(map(math.log, gaps))
    return math.exp(log_volume / len(gaps)) - sum(gaps) / 2


def _within(laws: list[tuple[Law, int]], depth: float) -> tuple[Floats, Any] | None:
    """How far the sums within a depth fall short, and their masses in units of the largest one's."""
    short: Any
    mass: Any
    short, mass = np.zeros(1), np.ones(1, dtype=WIDE)
    for (losses, p), k in laws:
        left = np.full(len(short), k)
        gap = losses[0] - losses
        for i in range(len(p) - 1, 0, -1):  # the largest gap first: it leaves the fewest choices
            counts = np.arange(1, int(min(k, depth / gap[i])) + 1, dtype=WIDE)
            table = np.append(WIDE(1), np.cumprod(k * WIDE(p[i]) / WIDE(p[0]) / counts))
            room = np.minimum(left, (depth - short) / gap[i]).astype(int)
            if int(room.sum()) + len(room) > _MOST or not np.isfinite(table).all():
                return None
            left, short, mass = shared(left, short, mass, gap[i], (0, table), room)
        taken = k - left  # few, however many steps there are
        apart = np.append(WIDE(1), np.cumprod(1 - np.arange(taken.max(), dtype=WIDE) / k))
        mass = mass * apart[taken]
    return (short, mass) if np.isfinite(mass).all() else None
