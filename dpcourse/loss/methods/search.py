"""Which nodes of a long vertical line matter, where hardly one does.

|M(c+it)|/M(c) is the cosine of an angle A(t), that between e^{itL} and 1 in the L^2 of the tilted law. Angles
obey the triangle inequality, and multiplying both vectors by e^{isL} changes none, so

    A(t + s) >= A(t) - A(s) >= A(t) - |s| sigma,

sigma the standard deviation of the tilted loss. One look at the middle of a group of nodes therefore bounds
|M| on all of it. Groups and nodes are left out where |M/M(c)| < tau t^2, and what is left out is added up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.fourier import raised
from dpcourse.loss.methods.waves import Waves, chosen

NEAR: Final = 2**9  # nodes that are all computed, well beyond the first peak, before the search begins
_BLOCK, _ROWS, _SIDE = 2**8, 2**8, 2**5
_SAMPLE: Final = _SIDE**2
_KEPT: Final = 80.0  # nanoseconds for a node that is kept; a look at one takes about 3 for each e^{itl}
_MOST_WORK, _MOST_NODES, _PIECE = 3e9, 2**22, 2**19  # a piece and what came before it must fit into memory
Found = tuple[int, Floats, Any, float]
"""Which node comes next; t and M/M(c) where they matter; the sum of |M/M(c)|/t^2 over the others, at most."""


@dataclass(frozen=True)
class Search:
    """The nodes c + iht, t = first, ..., count, but for some with sum |M/M(c)|/(ht)^2 of about `spare`."""

    waves: Sequence[Waves]
    c: float
    h: float
    first: int
    count: int
    spare: float

    @cached_property
    def _spread(self) -> list[float]:
        return [wave.spread(self.c) for wave in self.waves]

    @cached_property
    def _plan(self) -> tuple[float, int, float, float]:
        """About how many nanoseconds a node takes, with groups of which size, and both tau; by a sample."""
        nodes = self.count - self.first
        rows = self.h * (self.first + nodes * (np.arange(float(_SIDE)) / _SIDE))
        columns = self.h * nodes / _SIDE * (0.6180339887498949 * np.arange(1.0, _SIDE + 1) % 1)
        t = np.add.outer(rows, columns).ravel()
        shares = [wave.shares(self.c, wave.turns(rows), wave.turns(columns)).ravel() for wave in self.waves]
        terms = sum(len(wave.losses) for wave in self.waves)
        look = 3 * terms + 15 * len(self.waves)
        plans = []
        for size in [2**i for i in range(9) if 2**i * self.h * max(self._spread) <= 1] or [1]:
            bound = self._bound(shares, t, size)
            tau = self._threshold(bound)
            rest = float(np.mean(bound > tau))
            if size == 1:  # then a group has been seen
                single, kept = tau, _KEPT * rest
                plans.append((kept + look, 1, tau, tau))
            else:
                again = (look + 8 * terms / size) * rest
                plans.append((kept + look / size + again, size, tau, single))
        return min(plans)

    def _threshold(self, bounds: Floats) -> float:
        """Bounds below it add up to half of what may be left out, as far as a sample of them says."""
        rising, even = np.sort(bounds), self.spare / 2 / (self.count - self.first)
        enough = int(np.searchsorted(np.cumsum(rising), even * _SAMPLE))
        last = float(rising[min(enough, _SAMPLE - 1)])
        return min(max(last, even), _SAMPLE * even)  # rare nodes are not in the sample

    @property
    def work(self) -> float:
        """About how many nanoseconds the whole line takes."""
        return (self.count - self.first) * self._plan[0] if self.count > self.first else 0.0

    def _bound(self, shares: Iterable[Any], t: Any, size: int) -> Any:
        """The largest |M/M(c)|/t^2 in a group around t, at most."""
        log_size: Any = 0.0
        for wave, share, spread in zip(self.waves, shares, self._spread, strict=True):
            angle = self.h * (size // 2) * spread
            square = np.minimum(np.square(share.real) + np.square(share.imag), 1.0)
            if angle:
                cos = np.sqrt(square)
                turned = math.cos(angle) * cos + math.sin(angle) * np.sqrt(1 - square)
                square = np.square(np.where(cos < math.cos(angle), turned, 1.0))
            log_size = log_size + wave.times / 2 * np.log(square + 1e-300)
        return np.exp(log_size) / np.square(t - self.h * (size // 2))

    def pieces(self) -> Iterator[Found]:
        """Piece by piece, until the end of the line or of patience."""
        (cost, group, above, tau), h, found = self._plan, self.h, 0
        fine: Floats = h * (np.arange(float(group)) - group // 2)
        coarse: Floats = h * group * np.arange(float(_BLOCK))
        near, far = ([wave.turns(t) for wave in self.waves] for t in (fine, coarse))
        wanted = math.ceil((self.count - self.first) / group / _BLOCK)
        rows = min(_ROWS, wanted, max(1, _PIECE // (group * _BLOCK)))
        last = min(self.count, self.first + int(_MOST_WORK / cost))
        for first in range(self.first, last, group * _BLOCK * rows):
            starts: Floats = h * (first + group // 2 + group * _BLOCK * np.arange(float(rows)))
            middle = np.add.outer(starts, coarse)
            begin = [wave.turns(starts) for wave in self.waves]
            looks = [wave.shares(self.c, *both) for wave, *both in zip(self.waves, begin, far, strict=True)]
            bound = self._bound(looks, middle, group)
            ahead = middle < h * (self.count + group // 2 - 0.5)  # the last block may reach beyond the line
            seen = ahead & (bound > above)
            where = np.nonzero(seen)
            value: Any = 1.0
            for i, wave in enumerate(self.waves):
                if group == 1:
                    share = looks[i][seen]
                else:
                    share = wave.shares(self.c, near[i], chosen(begin[i], far[i], *where))
                value = value * raised(share, wave.times)
            t = middle[seen] if group == 1 else np.add.outer(fine, middle[seen])
            inside = t < h * (self.count - 0.5)  # t is rounded, and the node at count is another piece's
            size = bound[seen] if group == 1 else np.abs(value) / np.square(t)
            keep = inside & (size > tau)
            left_out = group * float(bound[ahead & ~seen].sum()) + float(size[inside & ~keep].sum())
            found += int(keep.sum())
            yield min(first + group * _BLOCK * rows, self.count), t[keep], value[keep], left_out
            if found > _MOST_NODES:
                return
