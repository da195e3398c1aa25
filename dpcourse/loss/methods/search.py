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
from dpcourse.loss.methods.waves import Waves

NEAR: Final = 2**9  # nodes that are all computed, well beyond the first peak, before the search begins
_SAMPLE: Final = 2**10
_KEPT: Final = 80.0  # nanoseconds for a node that is kept
_MOST_WORK, _MOST_NODES, _PIECE = 3e9, 2**22, 2**19  # a piece and what came before it must fit into memory
_GROUPS: Final = 2**16  # looks at a time
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
        apart = self.h * (self.count - self.first) / _SAMPLE
        shares = [wave.even(self.c, self.h * self.first, apart, _SAMPLE) for wave in self.waves]
        t = self.h * self.first + apart * np.arange(float(_SAMPLE))
        look, terms = sum(wave.cost for wave in self.waves), sum(len(wave.losses) for wave in self.waves)
        plans = []
        for size in [2**i for i in range(9) if 2**i * self.h * max(self._spread) <= 1] or [1]:
            bound = self._bound(shares, t, size)
            tau = self._threshold(bound)
            rest = float(np.mean(bound > tau))
            if size == 1:  # then a group has been seen
                single, kept = tau, _KEPT * rest
                plans.append((kept + look, 1, tau, tau))
            else:
                again = (3 + 25 / size) * terms * rest
                plans.append((kept + look / size + again, size, tau, single))
        return min(plans)

    def _threshold(self, bounds: Floats) -> float:
        """Bounds below it add up to half of what may be left out, as far as a sample of them says."""
        rising, even = np.sort(bounds), self.spare / 2 / (self.count - self.first)
        enough = int(np.searchsorted(np.cumsum(rising), even * _SAMPLE))
        last = float(rising[enough - 1]) if enough else 0.0
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
            cos = np.sqrt(np.square(share.real) + np.square(share.imag)) + wave.off
            cos = np.minimum(cos, 1.0)
            if angle:
                turned = math.cos(angle) * cos + math.sin(angle) * np.sqrt(1 - cos * cos)
                cos = np.where(cos < math.cos(angle), turned, 1.0)
            log_size = log_size + wave.times * np.log(cos)
        return np.exp(log_size) / np.square(t - self.h * (size // 2))

    def pieces(self) -> Iterator[Found]:
        """Piece by piece, until the end of the line or of patience."""
        (cost, group, above, tau), h, found = self._plan, self.h, 0
        for first in range(self.first, min(self.count, self.first + int(_MOST_WORK / cost)), group * _GROUPS):
            end = min(first + group * _GROUPS, self.count)
            even = h * (first + group // 2), h * group, math.ceil((end - first) / group)
            middle = even[0] + even[1] * np.arange(float(even[2]))
            looks = [wave.even(self.c, *even) for wave in self.waves]
            bound = self._bound(looks, middle, group)
            seen = bound > above
            left_out, kept = group * float(bound[~seen].sum()), []
            for t, shares in self._around(middle[seen], group, [look[seen] for look in looks]):
                value = math.prod(map(raised, shares, (wave.times for wave in self.waves)))
                size = np.abs(value) / np.square(t)
                inside = t < h * (end - 0.5)  # the last group may reach beyond the line
                keep = inside & (size > tau)
                kept.append((t[keep], value[keep]))
                left_out += float(size[inside & ~keep].sum())
            t, value = (np.concatenate(each) for each in zip(*kept, strict=True))
            found += len(t)
            yield end, t, value, left_out
            if found > _MOST_NODES:
                return

    def _around(self, middle: Floats, group: int, looks: list[Any]) -> Iterator[tuple[Floats, list[Any]]]:
        """All nodes of the groups around some t, and their shares, as many at a time as fit into memory."""
        if group == 1:
            yield middle, looks
            return
        fine: Floats = self.h * (np.arange(float(group)) - group // 2)
        near = [wave.turns(fine) for wave in self.waves]
        some = max(1, _PIECE // max(group, *(len(wave.losses) for wave in self.waves)))
        for i in range(0, max(len(middle), 1), some):
            t = middle[i : i + some]
            shares = [
                wave.shares(self.c, at, wave.turns(t)) for wave, at in zip(self.waves, near, strict=True)
            ]
            yield np.add.outer(fine, t).ravel(), [share.ravel() for share in shares]
