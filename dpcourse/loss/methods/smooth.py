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

and need them only where |M| is not small (`waves`): some ten thousand of 10^8 nodes.

Proved: both inequalities; aliases as in `contour`; the truncation at T, at most 2.1 e^{w^2((c+1)^2 -
T^2)/2}/(pi T) of e^{K(c) - c eps}, since |1/z - e^{w^2 (z + 1/2)}/(z+1)| <= 1/t^2 + 1.1 w^2; the nodes
left out, at most 1.9 h/pi |M/M(c)|/t^2 each. Modelled: rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.factors import Factor, FiniteFactor
from dpcourse.loss.methods.line import Line, Nodes, weighted
from dpcourse.loss.methods.saddle import AIM, Saddle, log_kappa
from dpcourse.loss.methods.search import NEAR, Search
from dpcourse.loss.methods.waves import Waves
from dpcourse.loss.solve import ULP

_AIM: Final = 4e-9  # w^2 (1 + c), about the width of the bracket on epsilon where there are many atoms
_OFF: Final = 3e-9  # the widest half of a bracket
_FEW: Final = 32  # epsilons that are worth a longer line
_NOTHING: Final = 1e-300  # a delta that needs no more than Chernoff's bound
_REACH: Final = 6.0  # w T, at most: the smoothing leaves e^-18 at the end of the line
_SPARE: Final = 2e-10  # times c: the part of delta that nodes may have which are left out


@dataclass(frozen=True)
class Smooth:
    """Sums of finite and Laplace losses that share no lattice."""

    saddle: Saddle
    waves: Sequence[Waves]
    _nodes: dict[int, Nodes | None] = field(default_factory=dict, repr=False)
    _searches: dict[Line, Search] = field(default_factory=dict, repr=False)
    _last: dict[tuple[bytes, int | None], Any] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        why = "the losses share no lattice, or too long a one"
        return f"smoothed contour: {why}, so a little noise is added, for each side once"

    def _line(self, cell: int, aim: float) -> Line | None:
        """The line for a cell of epsilons, its step and its length; None if there is no such cell."""
        table, members = self.saddle.rows(cell)
        if not len(members):
            return None
        middle = members[len(members) // 3]
        c, centre = float(table.c[middle]), float(table.eps[middle])
        ends = table.ends(members)
        shift, log_delta = table.eps[ends] - centre, table.log_delta[ends]
        # Aliases of a hundredth of the width of the bracket; those of the lower bound have no kappa.
        small = min(AIM, -math.log(_AIM / 100 * c) - float(log_kappa(4 * c)))
        h, aliases = self.saddle.step(c, centre, shift, log_delta, small)
        if h == 0 or aim * c > 1:  # sums so small that the noise would drown them
            return None
        k_c = float(self.saddle.cumulant(np.array([c]))[0])
        least = math.exp(min(float((log_delta + c * shift).min()) - k_c + c * centre, 0.0))
        wide = math.sqrt(aim / (1 + c))
        enough = max(_REACH / wide * aim * c * least, 1e-15)  # a truncation of some hundredths of the aim
        reach = min(max(math.sqrt(2 * math.log1p(10 / enough)), 3.0), _REACH)
        count = int(reach / wide / h) + 1
        return Line(c, centre, k_c, h, reach, count, _SPARE * c * least / h, aliases, aim)

    @property
    def work(self) -> float:
        """About how many nanoseconds a line takes, at a delta of 1e-6."""
        table = self.saddle.table()
        at = min(int(np.searchsorted(-table.log_delta, 14)), len(table.cell) - 1)
        line = self._line(int(table.cell[at]), _AIM)
        return math.inf if line is None else self._search(line).work

    def _search(self, line: Line) -> Search:
        if line not in self._searches:
            each = line.shift / sum(wave.times for wave in self.waves)
            turned = [replace(wave, losses=wave.losses - each) for wave in self.waves]
            self._searches[line] = Search(turned, line.c, line.h, line.count, line.spare)
        return self._searches[line]

    def _near(self, c: float, t: Floats) -> Any:
        """M(c + it)/M(c) at the first nodes, where rounding would count most."""
        atoms = sum(wave.log_share(c, t) for wave in self.waves if wave.atomic)
        others = (f.cumulant(c + 1j * t) - f.cumulant(np.array([c + 0j])) for f in self._others)
        return np.exp(atoms + sum(others))

    @property
    def _others(self) -> list[Factor]:
        return [factor for factor in self.saddle.factors if not isinstance(factor, FiniteFactor)]

    def _make(self, line: Line | None) -> Nodes | None:
        """The nodes of a line, their weights for both bounds, and what they may be off by."""
        if line is None:
            return None
        c, h, planned = line.c, line.h, line.h * line.count
        t: Floats = h * np.arange(float(min(line.count, NEAR)))
        near = self._near(c, t) * np.exp(-1j * line.shift * t)
        found = [(h * len(t), t, near, 0.0), *self._search(line).pieces()]
        last = found[-1][0]
        if last < 10 * line.reach**2:
            return None
        t, value = (np.concatenate([piece[i] for piece in found]) for i in (1, 2))
        ww = (line.reach / last) ** 2
        value[0] /= 2
        if last < planned:  # the noise is wider than the phases took it to be
            value *= np.exp(1j * (ww - (line.reach / planned) ** 2) * c * t)
        cos, sin, size = weighted(c, t, (h / math.pi) * value, ww)
        error = self._rounding(line, t, size)
        error += 1.9 * h / math.pi * sum(piece[3] for piece in found)
        error += 2.1 * math.exp(ww * ((c + 1) ** 2 - last**2) / 2) / (math.pi * last)
        aliases = [(at - float(log_kappa(-slope)) + ww * slope**2 / 2, slope) for at, slope in line.aliases]
        ulps = 16 + abs(line.k_c) + 2 * c * abs(line.centre)
        ulps += sum(factor.roundings(c) for factor in self.saddle.factors)
        return Nodes(line, t, cos, sin, aliases, error, ULP * ulps, cut=last < planned)

    def _rounding(self, line: Line, t: Floats, size: Floats) -> float:
        """The rounding of the sums, apart from what all terms have in common.

        For each unit of t a phase may be off by ulps of k times the loss, and ln M^k by ulps of k times the
        standard deviation, as it comes from e^{it(L - mean)} - 1; far out, M^k by ulps of k.
        """
        c, first = line.c, min(line.count, NEAR)
        turn = 2 * ULP * abs(line.shift) + sum(wave.drift(c) for wave in self.waves)
        turn += 8 * ULP * sum(wave.times * wave.spread(c) for wave in self.waves if wave.atomic)
        ulps = 16 + sum(factor.roundings(c) for factor in self._others)
        far = ulps + sum(factor.roundings(c) for factor in self.saddle.factors)
        far += sum(wave.times for wave in self.waves)  # e^{itl} is a product of two
        near, rest = float(size[:first].sum()), float(size[first:].sum())
        return ULP * (ulps * near + far * rest) + turn * float((size * t).sum())

    def _at(self, epsilon: Floats, first: int | None = None) -> Any:
        """Both bounds and the slope, by the (first) nodes; the last answer is kept."""
        asked = epsilon.tobytes(), first
        if asked not in self._last:
            self._last.clear()
            self._last[asked] = self._found(epsilon, first)
        return self._last[asked]

    def _found(self, epsilon: Floats, first: int | None) -> Any:
        """What `_at` gives, each epsilon by the nodes of its cell; NaN where there are none."""
        found = np.full((3, len(epsilon)), np.nan)
        cells = self.saddle.cells(epsilon)
        for cell in set(cells.tolist()):
            if cell not in self._nodes:
                self._nodes[cell] = self._make(self._line(cell, _AIM))
            mine = cells == cell
            if (nodes := self._nodes[cell]) is None:
                most = self.saddle.chernoff(epsilon[mine])
                found[:, mine] = np.where(most < _NOTHING, [0 * most, most, 0 * most], np.nan)
                continue
            while True:
                low, high, slope = found[:, mine] = nodes.at(epsilon[mine], first)
                off = float(np.max((high - low) / np.maximum(slope, 1e-300))) / 2
                if off <= _OFF or nodes.line.aim < _AIM / 20 or nodes.cut or first or len(epsilon) > _FEW:
                    break
                # Atoms are few here: the width of the noise counts, not only its square.
                longer = self._make(self._line(cell, nodes.line.aim * max((0.8 * _OFF / off) ** 2, 1 / 16)))
                if longer is None:
                    break
                self._nodes[cell] = nodes = longer
        return found

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The two sums."""
        low, high, _ = self._at(epsilon)
        return np.maximum(low, 0.0), np.minimum(high + 5e-324, self.saddle.under_top(epsilon))

    def slope(self, epsilon: Floats) -> Any:
        """-d delta/d eps of the upper bound."""
        return self._at(epsilon)[2]

    def root(self, target: float) -> tuple[float, float]:
        """Newton's method on ln delta, from where the first nodes alone have it."""
        about, _ = self.saddle.newton(lambda epsilon: self._at(epsilon, NEAR), target)
        return self.saddle.newton(self._at, target, start=about)
