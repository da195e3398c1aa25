"""The moment generating function of a loss with atoms on a vertical line: a sum of waves.

On Re z = c, M(c + it)/M(c) is the characteristic function of the loss tilted by e^{cl}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.logs import log1p, turned
from dpcourse.loss.methods.even import OFF, even_sums
from dpcourse.loss.solve import ULP

Turns = tuple[Floats, Any]
"""Some t, and e^{itl} for each of them and each loss."""
_MANY: Final = 12  # atoms
_NEAR, _SIDE = 2**5, 2**8
_SINGLE: Final = 2**12 - 1  # entries of a matrix for which the BLAS wakes no second thread: that takes longer


@dataclass(frozen=True)
class Waves:
    """M(z) = sum_j a_j e^{z l_j} + (1/(2w)) sum_j b_j e^{z l_j}, w = z + 1/2, taken `times` times."""

    losses: Floats
    plain: Floats
    over_w: Floats
    times: int

    @property
    def atomic(self) -> bool:
        """Whether there is nothing but atoms."""
        return not self.over_w.any()

    def _tilt(self, c: float) -> Any:
        """e^{c l_j}/M(c)."""
        tilt = np.exp(c * (self.losses - self.losses.max()))
        return tilt / (tilt @ (self.plain + self.over_w / (2 * c + 1)))

    def spread(self, c: float) -> float:
        """The standard deviation of the tilted loss, at most: half its range where it is not just atoms."""
        if not self.atomic:
            return float(np.ptp(self.losses)) / 2
        share = self._tilt(c) * self.plain
        return math.sqrt(share @ np.square(self.losses - share @ self.losses))

    def drift(self, c: float) -> float:
        """How far the loss may be off on average in the tilted law: its logarithms, products and sums."""
        share = self._tilt(c) * self.plain
        return self.times * ULP * float(share @ (1.5 + 2 * np.abs(self.losses) - np.log(self.plain)))

    def log_share(self, c: float, step: float, count: int) -> Any:
        """ln of M(c + it)/M(c) for atoms at t = 0, step, ..., so many.

        From the distances x to the mean, so that k ln M keeps its digits: with a = e^{isx} - 1 and
        b = e^{itx} - 1, e^{i(s + t)x} - 1 is a + b + ab.
        """
        share = self._tilt(c) * self.plain
        mean = float(share @ self.losses)
        t: Floats = step * np.arange(float(count))
        down, across = (turned(np.multiply.outer(s, self.losses - mean)) for s in (t[::_NEAR], t[:_NEAR]))
        apart = np.add.outer(down @ share, across @ share) + (down * share) @ across.T
        return self.times * (log1p(apart.ravel()[:count]) + 1j * (t * mean))

    @property
    def _many(self) -> bool:
        """Whether there are so many atoms that one Fourier transform is faster than a sum for each t."""
        return len(self.losses) > _MANY

    @property
    def off(self) -> float:
        """How far values at even points may be off, apart from the rounding of t times the losses."""
        return ULP * (OFF if self._many else 4)

    @property
    def cost(self) -> float:
        """About how many nanoseconds one of many even points takes."""
        return 30.0 if self._many else 15 + 3.0 * len(self.losses)

    def even(self, c: float, start: float, step: float, count: int) -> Any:
        """M(c + it)/M(c) at t = start, start + step, ..., so many."""
        if not self._many:
            side = min(count, _SIDE)
            first: Floats = start + step * side * np.arange(float(math.ceil(count / side)))
            each = self.shares(c, self.turns(first), self.turns(step * np.arange(float(side))))
            return each.ravel()[:count]
        weights = self._tilt(c) * (self.plain if self.atomic else np.array([self.plain, self.over_w]))
        plain, *others = even_sums(self.losses, np.atleast_2d(weights), start, step, count)
        w = c + 0.5 + 1j * (start + step * np.arange(float(count))) if others else 0
        return sum((other / (2 * w) for other in others), start=plain)

    def turns(self, t: Floats) -> Turns:
        """e^{itl} for each t, a row each, and each loss l."""
        return t, np.exp(1j * np.multiply.outer(t, self.losses))

    def shares(self, c: float, rows: Turns, columns: Turns) -> Any:
        """M(c + it)/M(c) at every t = row + column."""
        (down, first), (across, second) = rows, columns
        front = self._tilt(c) * first
        share = _product(front * self.plain, second.T)
        if not self.atomic:
            w = c + 0.5 + 1j * np.add.outer(down, across)
            share += _product(front * self.over_w, second.T) / (2 * w)
        return share


def _product(a: Any, b: Any) -> Any:
    """a @ b, row by row and in pieces."""
    width = max(1, _SINGLE // len(b))
    product = np.empty((len(a), b.shape[1]), dtype=complex)
    for i in range(0, b.shape[1], width):
        product[:, i : i + width] = (a[:, None, :] @ b[:, i : i + width])[:, 0, :]
    return product
