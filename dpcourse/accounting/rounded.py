"""A privacy-loss distribution on a grid: the textbook accountant, to see what rounding does to a promise.

The losses of one release are moved to the points of a grid, and k releases are composed by the fast Fourier
transform. Only some ways to move them give a bound:

    up        to the next point above: delta is never too small (Koskela, Jalko and Honkela, AISTATS 2020)
    dots      shared between both neighbours so that P and Q keep their masses: still never too small, and
              far closer (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, PETS 2022)
    nearest   a good approximation, and no promise
    down      never too large: a lower bound, and a false promise

The transform itself rounds by about 1e-16 on either side, which this module leaves as it is. The engine's own
composition (`k * loss`) does better: it tilts the law first, and brackets its answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, one_of, positive, whole
from dpcourse.loss import PrivacyLoss

ROUNDINGS: Final = ("up", "dots", "nearest", "down")
TAIL: Final = 1e-17
"""Losses beyond which there is less than this count as infinite, up or down."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """masses[i] at the loss (first + i) * width, and `infinite` at infinity.

    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> one = RandomizedResponse(0.1).worst_case()
    >>> for rounding in ROUNDINGS:
    ...     print(f"{rounding:8}{(1000 * Rounded.of(one, 0.03, rounding)).epsilon(1e-6):.4f}")
    up      35.3296
    dots    19.5916
    nearest 17.3736
    down    5.3296
    >>> f"exact   {(1000 * one).epsilon(1e-6):.4f}"
    'exact   19.3447'
    """

    width: float
    first: int
    masses: Floats
    infinite: float = 0.0

    @classmethod
    def of(cls, loss: PrivacyLoss, width: float, rounding: str = "up") -> Rounded:
        """One release, moved to the grid."""
        h = float(positive("width", width))
        one_of("rounding", rounding, ROUNDINGS)
        low, high = _ends(loss, h)
        if rounding == "dots":
            return cls(h, low, *_dots(loss, h, low, high))
        points = np.arange(low - 1, high + 1)
        edge = {"up": 1e-9, "nearest": 0.5, "down": -1e-9}[rounding]  # a loss on the grid stays where it is
        tails = np.asarray(loss.tail((points + edge) * h), dtype=float)
        masses = tails[:-1] - tails[1:]
        if rounding == "up":  # what is above the last point goes to infinity
            masses[0] += 1 - tails[0]
            return cls(h, low, masses, float(tails[-1]))
        top = max(0.0, float(tails[-1]) - loss.infinite)
        return cls(h, low - (rounding == "down"), np.append(masses, top), loss.infinite)

    @property
    def losses(self) -> Floats:
        """The points of the grid."""
        return np.asarray((self.first + np.arange(len(self.masses))) * self.width, dtype=float)

    def __mul__(self, k: int) -> Rounded:
        """k independent releases: a k-fold convolution, by a transform long enough not to wrap around."""
        k = whole("k", k)
        size = k * (len(self.masses) - 1) + 1
        total = np.fft.irfft(np.fft.rfft(self.masses, 2 * size) ** k, 2 * size)[:size]
        infinite = 1.0 if self.infinite == 1 else -math.expm1(k * math.log1p(-self.infinite))
        return Rounded(self.width, k * self.first, total, infinite)

    __rmul__ = __mul__

    def delta(self, epsilon: ArrayLike) -> Floats:
        """The sum of mass (1 - e^{eps - loss})+, as it comes out of floating-point numbers."""
        losses = self.losses
        found = [self._delta(float(e), losses) for e in np.ravel(np.asarray(epsilon, dtype=float))]
        return np.array(found).reshape(np.shape(epsilon))[()]

    def _delta(self, epsilon: float, losses: Floats) -> float:
        above = int(np.searchsorted(losses, epsilon, side="right"))
        return self.infinite + float(self.masses[above:] @ -np.expm1(epsilon - losses[above:]))

    def epsilon(self, delta: float) -> float:
        """Where `delta` is reached; infinite if the mass at infinity is larger."""
        if self.infinite > delta:
            return math.inf
        first = max(0, 1 - self.first)  # losses of 0 and less never count
        losses, masses = self.losses[first:], self.masses[first:]
        p = self.infinite + np.append(np.cumsum(masses[::-1])[::-1], 0.0)
        q = np.append(np.cumsum((masses * np.exp(-losses))[::-1])[::-1], 0.0)
        at = (
            p[1:] - np.exp(np.minimum(losses, 700.0)) * q[1:]
        )  # delta at each point: only larger losses count
        (good,) = np.nonzero(at <= delta)
        if not len(losses) or p[0] - q[0] <= delta:
            return 0.0
        here = int(good[0])  # between the point before and this one delta is p - e^eps q
        return math.log((p[here] - delta) / q[here]) if q[here] > 0 else float(losses[here])


def _ends(loss: PrivacyLoss, width: float) -> tuple[int, int]:
    """The first and the last point: the least and the largest loss, or where the tails end."""
    high, low = loss.max_divergence(), loss.reversed().max_divergence()
    if not math.isfinite(high):
        high = _reach(loss, width)
    if not math.isfinite(low):
        low = _reach(loss.reversed(), width)
    return -math.ceil(low / width - 1e-9), math.ceil(high / width - 1e-9)


def _reach(loss: PrivacyLoss, width: float) -> float:
    """A loss beyond which there is next to nothing but infinity."""
    x = width
    while float(loss.tail(x)) - loss.infinite > TAIL and x < 1e4:
        x *= 1.25
    return x


def _dots(loss: PrivacyLoss, width: float, low: int, high: int) -> tuple[Floats, float]:
    """The masses whose delta(eps) equals the exact one at grid points, and is linear in e^eps between them.

    The slope of delta in t = e^eps is -Q[L > eps], so second differences give Q's masses, and P's are e^eps
    times those. What is left over of P's mass is at infinity.
    """
    grid = np.arange(low, high + 1) * width
    deltas = np.asarray(loss.delta(grid), dtype=float)
    ratio = np.exp(grid)
    q_tail = -np.diff(deltas) / np.diff(ratio)  # between the points: Q[L > eps]
    q = -np.diff(np.concatenate([[1.0], q_tail, [0.0]]))
    masses = np.maximum(q, 0.0) * ratio
    return masses, float(deltas[-1])
