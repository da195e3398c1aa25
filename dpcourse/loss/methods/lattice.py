"""Losses on a lattice: exact sums of positive terms.

The loss of randomized response is +-eps_0, that of the discrete Laplace law a multiple of 1/scale: the
sum of k such losses lives on start + step * {0, 1, ..., n}. Its masses P_j are products of polynomials
with positive coefficients, so nothing cancels and even 1e-300 keeps its digits. With

    B_j = sum_{i>=j} P_i e^{l_j - l_i},
    D_j = sum_{i>=j} P_i (1 - e^{l_j - l_i}) = D_{j+1} + (1 - e^-step) B_{j+1},

delta(eps) = D_j + (1 - e^{eps - l_j}) B_j for l_j the first lattice point above eps, and its inverse is a
logarithm. Two values and k equal steps are the binomial law (Kairouz, Oh and Viswanath, ICML 2015).

Proved: every sum has positive terms, so n operations cost at most n relative roundings; the input
probabilities may be off by one ulp each (k ulps for k steps) and the losses by `slack` (a shift of eps).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.solve import ULP

WIDE = np.longdouble  # 80 bits on most machines; where it is 64, the bounds below still hold
WIDE_ULP = float(np.finfo(WIDE).eps)
_FLOOR = 1e-300  # masses below this are given up and counted in `lost`
_MOST_POINTS, _MOST_WORK = 2**20, 4e7


def common_step(values: Floats, off: float, most: float = _MOST_POINTS) -> float:
    """The largest step of which all values >= 0 are whole multiples, up to rounding; 0 if none is.

    Each value may be off by `off`.

    >>> round(common_step(np.array([0.05, 0.0707, 0.0866]), 1e-16), 9)
    0.0001
    """
    top = float(values.max(initial=0.0))
    rounding = _nearest(top, off)
    values = values[values > rounding]
    if len(values) < 2:
        return top if len(values) else 0.0
    values = np.unique(values)
    step = 0.0
    for value in values:
        a, b = float(value), step
        while 4 * most * b > top:  # anything smaller is rounding, or no step at all
            a, b = b, abs(a - b * round(a / b))
        step = a
        if step * most < top:
            return 0.0
    if step == 0:
        return 0.0
    whole = np.round(values / step)
    step = float(whole @ values / (whole @ whole))  # least squares: the average of the evidence
    return step if np.all(np.abs(values - whole * step) <= rounding) else 0.0


def _nearest(span: float, off: float) -> float:
    """How near two losses may be before their distance is rounding."""
    return 1e-12 * span + 64 * off


def discounted(mass: Floats, step: float) -> Floats:
    """B_j = sum over i >= j of mass_i e^{-(i-j) step}; each pass doubles the number of terms."""
    total, shift = mass.copy(), 1
    while shift < len(mass) and shift * step < 50:
        total[:-shift] += math.exp(-shift * step) * total[shift:]
        shift *= 2
    return total


@dataclass(frozen=True)
class Lattice:
    """Masses P_j at start + step * j, ready for delta(eps) and its inverse."""

    method: str
    start: float
    step: float
    mass: Floats
    slack: float
    """How far any true loss may lie from its lattice point."""
    relative: float
    """The relative error of every mass."""
    lost: float
    """What was cut off above, at most."""

    def __post_init__(self) -> None:
        n = len(self.mass)
        below, above = np.zeros((2, n + 1))
        below[:n] = discounted(self.mass, self.step)
        above[: n - 1] = -math.expm1(-self.step) * below[n - 1 : 0 : -1].cumsum(dtype=WIDE)[::-1]
        object.__setattr__(self, "_below", below)
        object.__setattr__(self, "_above", above)
        object.__setattr__(self, "_points", self.start + self.step * np.arange(n + 1))

    def _parts(self, eps: Floats) -> tuple[Any, Any, Any]:
        """D_j, B_j and e^{eps - l_j} - 1 at the first lattice point above eps."""
        j = self._points[:-1].searchsorted(eps, side="right")  # type: ignore[attr-defined]
        gap = np.minimum(eps - self._points[j], 0.0)  # type: ignore[attr-defined]
        return self._above[j], self._below[j], np.expm1(gap)  # type: ignore[attr-defined]

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """delta at eps -+ slack, widened by the relative error."""
        far, near, gain = self._parts(np.array([epsilon + self.slack, epsilon - self.slack]))
        low, high = far - gain * near
        return low * (1 - self.relative), high * (1 + self.relative) + self.lost

    def slope(self, epsilon: Floats) -> Any:
        """e^{eps - l_j} B_j."""
        _, near, gain = self._parts(epsilon)
        return (1 + gain) * near

    def root(self, target: float) -> tuple[float, float]:
        """ln of a ratio, between the two lattice points where delta passes the target."""
        above, below = self._above[:-1], self._below  # type: ignore[attr-defined]
        j = len(above) - int(np.searchsorted(above[::-1], target, side="right"))  # D_j <= target first
        share = (target - above[j]) / below[j]
        root = self.start + self.step * j + (math.log1p(-share) if share < 1 else -math.inf)
        slope = (1 - share) * below[j]
        return root, self.slack + (self.relative * target + self.lost) / max(slope, 1e-300)


def binomial(k: int, p: float, q: float) -> tuple[int, Any]:
    """The first index and the terms C(k, j) p^j q^{k-j} that matter, by ratios from the largest one."""
    mode = min(int((k + 1) * p / (p + q)), k)
    low, high = max(0, mode - _reach(k)), min(k, mode + _reach(k))
    j = np.arange(low, high, dtype=WIDE)
    ratios = (k - j) / (j + 1) * (WIDE(p) / WIDE(q))
    split, terms = mode - low, np.ones(high - low + 1, dtype=WIDE)
    np.multiply.accumulate(ratios[split:], out=terms[split + 1 :])
    np.multiply.accumulate(1 / ratios[:split][::-1], out=terms[:split][::-1])
    return low, terms * (np.exp(k * np.log(WIDE(p) + WIDE(q))) / terms.sum())


def _reach(k: int) -> int:
    """How far from the mode a binomial term matters: beyond, it is below e^-720 of the sum (Hoeffding)."""
    return int(math.sqrt(360.0 * k)) + 40


def lattice(parts: Sequence[tuple[FiniteLoss, int]]) -> Lattice | None:
    """The sum on its lattice, or None if there is no lattice or too long a one.

    >>> coin = FiniteLoss((0.75, 0.25), (0.25, 0.75))
    >>> two = lattice([(coin, 2)])
    >>> two.mass, round(two.start / math.log(3)), round(two.step / math.log(3))
    (array([0.0625, 0.375 , 0.5625]), -2, 2)
    """
    if len(parts) == 1 and len(parts[0][0].atoms[0]) == 2:
        return _two_values(*parts[0])
    atoms: list[tuple[Any, Any, int]] = [(leaf.atoms[0][::-1], leaf.atoms[1][::-1], k) for leaf, k in parts]
    if any(len(losses) == 0 for losses, _, _ in atoms):
        return None
    spans = [losses - losses[0] for losses, _, _ in atoms]
    step = common_step(np.concatenate(spans), max(leaf.slip for leaf, _ in parts))
    if step == 0:
        return None
    where = [np.rint(span / step).astype(int) for span in spans]
    found = _product([(w, p, k) for w, (_, p, k) in zip(where, atoms, strict=True)])
    if found is None:
        return None
    why = f"lattice: every loss is a multiple of {step:.6g} from its smallest, so the law is summed exactly"
    last = sum(k * int(w[-1]) for w, (*_, k) in zip(where, atoms, strict=True))
    least = float(sum(k * losses[0] for losses, _, k in atoms))
    errors = [float(np.abs(span - step * w).max()) for span, w in zip(spans, where, strict=True)]
    slack = sum(k * (error + leaf.slip) for error, (leaf, k) in zip(errors, parts, strict=True))
    return _lattice(why, (least, step, last), found, slack, sum(k for *_, k in atoms))


def _two_values(leaf: FiniteLoss, k: int) -> Lattice | None:
    """k losses of two values each: the binomial law, wherever the two lie."""
    (high, low), (p, q) = (values.tolist() for values in leaf.atoms)
    step = high - low
    if step <= _nearest(step, leaf.slip) or _reach(k) > _MOST_POINTS:
        return None
    first, law = binomial(k, p, q)
    why = f"lattice: two loss values and {k} equal steps are a binomial law, summed exactly"
    return _lattice(why, (k * low, step, k), (first, law, 8.0 + 5 * len(law)), k * leaf.slip, k)


def _lattice(
    why: str, points: tuple[float, float, int], found: tuple[int, Any, float], slack: float, steps: int
) -> Lattice:
    """Masses that a double can hold, with their errors; points are the first, the step and the last index."""
    (least, step, last), (first, law, roundings) = points, found
    if min(law[0], law[-1]) < _FLOOR:
        kept = np.flatnonzero(law >= _FLOOR)
        law, first = law[kept[0] : kept[-1] + 1], first + int(kept[0])
    start = least + step * first
    relative = ULP * steps + roundings * WIDE_ULP + 32 * ULP
    lost = 0.0 if first + len(law) > last else 1e-290
    return Lattice(why, start, step, law.astype(float), slack + 4 * ULP * abs(start), relative, lost)


def _product(parts: Sequence[tuple[Any, Any, int]]) -> tuple[int, Any, float] | None:
    """The product of powers of sparse polynomials: first index, terms, roundings; None if too long."""
    law: Any = np.ones(1, dtype=WIDE)
    first, work, roundings = 0, 0.0, 8.0
    for where, p, k in parts:
        places, mass, times = where, p, k
        if len(p) == 2 and k > 1:
            if _reach(k) > _MOST_POINTS:
                return None
            begin, mass = binomial(k, p[1], p[0])
            first += begin * int(where[1])
            places, times = where[1] * np.arange(len(mass)), 1
            roundings += 4 * len(mass)
        if len(law) > 1 or times > 1:
            work += times * len(mass) * (len(law) + times * float(places[-1]) / 2)
        if work > _MOST_WORK:
            return None
        for _ in range(times):
            law = _times(law, places, mass)
        roundings += times * len(mass)
    return first, law, roundings


def _times(law: Any, where: Any, mass: Any) -> Any:
    """A polynomial times a sparse one: shift and add."""
    if len(law) == 1:
        if (where[1:] - where[:-1] == 1).all():
            return law[0] * mass
        product = np.zeros(int(where[-1]) + 1, dtype=WIDE)
        np.add.at(product, where, mass * law[0])  # different outcomes may have the same loss
        return product
    product = np.zeros(len(law) + int(where[-1]), dtype=WIDE)
    for shift, weight in zip(where, mass, strict=True):
        product[shift : shift + len(law)] += weight * law
    return product
