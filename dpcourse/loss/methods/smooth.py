"""The contour where nothing decays: losses with atoms, smoothed once instead of rounded at every step.

On a vertical line the moment generating function of atoms never dies out. A little Gaussian noise of
width w makes it decay, and both directions of the error are known:

- Upper: releasing one more Gaussian answer with mu = w can only increase delta.
- Lower: adding N(0, w^2) to the loss S before testing it is post-processing, so the test {S + noise >
  eps} gives delta >= P(S + noise > eps) - e^eps Q(S + noise > eps).

Both are off by about w^2/2 times the density of S, whatever k is: a grid rounds at every step and errs k
times as much. The two integrals share the values of M on the line Re z = c,

    e^{-eps z} M(z) e^{w^2 z(z+1)/2} / (z(z+1)),
    e^{-eps z} M(z) [e^{w^2 z^2/2}/z - e^{w^2 (z+1)^2/2}/(z+1)],

which are sums of a few exponentials: a matrix product evaluates millions of them, and only where |M| is
not small is more needed.

Proved: both inequalities; aliases as in `contour`; the truncation at T, at most 2.1 e^{w^2((c+1)^2 -
T^2)/2}/(pi T) of e^{K(c) - c eps}, since |1/z - e^{w^2 (z + 1/2)}/(z+1)| <= 1/t^2 + 1.1 w^2; the nodes
left out, by their size. Modelled: rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.factors import expm1
from dpcourse.loss.methods.saddle import Saddle, log_kappa
from dpcourse.loss.solve import ULP

_AIM = 2e-9  # w^2 (1 + c), about the width of the bracket on epsilon
_REACH = 6.0  # w T: the smoothing leaves e^-18 at the end of the line
_NEAR, _BLOCK, _WORK = 2**12, 2**12, 1e8
_CELLS = 2  # saddle-point cells that share the nodes
_SMALL = 1e-11


@dataclass(frozen=True)
class Waves:
    """M(z) = sum_j a_j e^{z l_j} + (1/(2w)) sum_j b_j e^{z l_j}, w = z + 1/2, taken `times` times."""

    losses: Floats
    plain: Floats
    over_w: Floats
    times: int


@dataclass(frozen=True)
class Nodes:
    """Weighted values of M for both bounds, as `contour.Plan` keeps them for one."""

    c: float
    centre: float
    log_scale: float
    t: Any
    upper: Any
    lower: Any
    aliases: tuple[tuple[float, float], ...]
    error: float

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """One sum each; the aliases of the upper one are on the safe side."""
        low, high = np.empty((2, len(epsilon)))
        for i in range(0, len(epsilon), 16):
            shift = epsilon[i : i + 16] - self.centre
            wave = np.exp(-1j * np.multiply.outer(shift, self.t))
            scale = np.exp(self.log_scale - self.c * shift)
            error = self.error + ULP * np.abs(self.c * shift)
            alias = sum(np.exp(at + slope * shift) for at, slope in self.aliases)
            low[i : i + 16] = scale * ((wave @ self.lower).real - error) - alias
            high[i : i + 16] = scale * ((wave @ self.upper).real + error)
        return np.maximum(low, 0.0), high + 5e-324

    def slope(self, epsilon: Floats) -> Any:
        """-d delta/d eps of the upper bound."""
        wave = np.exp(-1j * np.multiply.outer(epsilon - self.centre, self.t))
        return (
            np.exp(self.log_scale - self.c * (epsilon - self.centre))
            * (wave @ (self.upper * (self.c + 1j * self.t))).real
        )


@dataclass(frozen=True)
class Smooth:
    """Sums of finite and Laplace losses that share no lattice."""

    saddle: Saddle
    waves: Sequence[Waves]
    _nodes: dict[int, Nodes | None] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        return "smoothed contour: the losses share no lattice, so a little noise is added, for each side once"

    def _region(self, epsilon: Floats) -> Any:
        table = self.saddle.table()
        cell = np.append(table.cell // _CELLS, -1)
        return cell[np.searchsorted(table.eps, epsilon)]

    def _at(self, region: int) -> Nodes | None:
        if region not in self._nodes:
            self._nodes[region] = self._make(region, _AIM) if region >= 0 else None
        return self._nodes[region]

    def _make(self, region: int, aim: float) -> Nodes | None:
        """Choose the line, its step and its length for a region of epsilons."""
        table = self.saddle.table()
        members = table.members(region, _CELLS)
        middle = members[len(members) // 3]
        c, centre = float(table.c[middle]), float(table.eps[middle])
        shift, log_delta = table.eps[members[[0, -1]]] - centre, table.log_delta[members[[0, -1]]]
        h, aliases = self.saddle.step(c, centre, shift, log_delta)
        if h == 0:
            return None
        k_c = float(self.saddle.cumulant(np.array([c]))[0])
        small = _SMALL * math.exp(min(float((log_delta + c * shift).min()) - k_c + c * centre, 0.0))
        most = int(_WORK / sum(len(wave.losses) + 4 for wave in self.waves))
        count = min(int(_REACH / math.sqrt(aim / (1 + c)) / h) + 1, most)
        if h * count < 10 * _REACH**2:
            return None
        return self._nodes_on(c, centre, k_c, h, count, small, aliases)

    def _nodes_on(
        self, c: float, centre: float, k_c: float, h: float, count: int, small: float, aliases: Any
    ) -> Nodes:
        """The nodes of a line, their weights for both bounds, and what they may be off by."""
        last, w = h * count, _REACH / (h * count)
        t = h * np.arange(min(count, _NEAR))
        pieces = [(t, np.exp(self.saddle.cumulant(c + 1j * t) - k_c))]
        pieces += self._far(c, h, count, k_c, small)
        t, value = (np.concatenate(column) for column in zip(*pieces, strict=True))
        z = c + 1j * t
        value = value * np.exp(-1j * t * centre) * (h / math.pi)
        value[0] /= 2
        upper = value * np.exp(w * w / 2 * z * (z + 1)) / (z * (z + 1))
        # 1/z - e^{w^2 (z+1/2)}/(z+1), without the cancellation of its two terms
        bracket = 1 / (z * (z + 1)) - expm1(w * w * (z + 0.5)) / (z + 1)
        lower = value * np.exp(w * w / 2 * z * z) * bracket
        steps = sum(wave.times * float(np.abs(wave.losses).max()) for wave in self.waves)
        ulps = 16 + abs(k_c) + 2 * c * abs(centre) + sum(f.roundings(c) for f in self.saddle.factors)
        size = np.abs(upper) + np.abs(lower)
        error = ULP * (ulps * float(size.sum()) + (abs(centre) + steps) * float(size @ t)) + 12 * small
        error += 2.1 * math.exp(w * w * ((c + 1) ** 2 - last**2) / 2) / (math.pi * last)
        wider = tuple((at - float(log_kappa(-slope)) + (w * slope) ** 2 / 2, slope) for at, slope in aliases)
        return Nodes(c, centre, k_c - c * centre, t, upper, lower, wider, error)

    def _far(self, c: float, h: float, count: int, k_c: float, small: float) -> Iterator[tuple[Floats, Any]]:
        """The nodes beyond the first ones at which |M/M(c)|^k is above `small` times t."""
        inner = h * np.arange(_BLOCK)
        starts = h * np.arange(_NEAR, count, _BLOCK)
        tables = [(np.exp(1j * np.multiply.outer(wave.losses, inner)), wave) for wave in self.waves]
        for block in np.array_split(starts, math.ceil(len(starts) / 64)) if len(starts) else ():
            t = block[:, None] + inner
            least = k_c + np.log(small * block)[:, None]
            total: Any = 0.0
            for table, wave in tables:
                front = np.exp(c * wave.losses + 1j * np.multiply.outer(block, wave.losses))
                m = (front * wave.plain) @ table
                if wave.over_w.any():
                    m += ((front * wave.over_w) @ table) / (2 * (c + 0.5 + 1j * t))
                if len(tables) == 1:  # one look at the modulus discards nearly all
                    keep = np.square(m.real) + np.square(m.imag) > np.exp(2 * least / wave.times)
                    t, m, least = t[keep], m[keep], np.broadcast_to(least, t.shape)[keep]
                total = total + wave.times * np.log(m)
            keep = (total.real > least) & (t < h * count)
            if keep.any():
                yield t[keep], np.exp(total[keep] - k_c)

    def _each(self, what: str, epsilon: Floats, rows: int) -> Any:
        out = np.full((rows, len(epsilon)), np.nan)
        regions = self._region(epsilon)
        for region in np.unique(regions):
            if (nodes := self._at(int(region))) is not None:
                out[:, regions == region] = getattr(nodes, what)(epsilon[regions == region])
        return out

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Each epsilon by the nodes of its region."""
        low, high = self._each("bounds", epsilon, 2)
        return low, high

    def slope(self, epsilon: Floats) -> Any:
        """Each epsilon by the nodes of its region."""
        slope: Floats = self._each("slope", epsilon, 1)[0]
        return slope

    def root(self, target: float) -> tuple[float, float]:
        """Newton's method on ln delta; once more on a longer line, if the bracket is wide where it ends."""
        root, off = self.saddle.newton(self, target)
        if root > 0 and off > 2 * _AIM:  # atoms are few here: w counts, not only its square
            region = int(self._region(np.array([root]))[0])
            self._nodes[region] = self._make(region, _AIM / 16)
            root, off = self.saddle.newton(self, target)
        return root, off
