"""The contour where nothing decays: losses with atoms, and the kink of delta smoothed from both sides.

On a vertical line the moment generating function of atoms never dies out, and neither does the transform of
phi(x) = e^{-cx} (1 - e^{-x})+ fast enough, because of its kink at 0. With a function of frequencies up to T
only in place of phi, above it or below it (`kink`), the integral along the line ends at T:

    delta(eps)  <=  e^{K(c) - c eps}/(2 pi) * integral over |t| < T of  psi^(t) M(c + it)/M(c) e^{-it eps} dt

for the transform psi^ of the one above, and >= for the one below. The two differ by pi^2/(2T^2) times the
density of S, whatever k is (no functions of these frequencies are nearer): a grid rounds at every step and
errs k times as much. They share the values of M, and need them only where |M| is not small (`search`): at
some thousands of 10^7 nodes.

Proved: both inequalities; aliases: those of the upper sum are positive, those of the lower one at most what
they are in `contour`; the nodes left out, at most LARGEST h/pi |M/M(c)|/t^2 each. Modelled: rounding. LARGEST
was computed on a mesh.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.factors import Factor, FiniteFactor
from dpcourse.loss.methods.kink import GAP, LARGEST
from dpcourse.loss.methods.line import Line, line_of
from dpcourse.loss.methods.nodes import Nodes, Values
from dpcourse.loss.methods.saddle import Saddle
from dpcourse.loss.methods.search import NEAR, Search
from dpcourse.loss.methods.waves import Waves
from dpcourse.loss.solve import ULP

_WIDTH: Final = 5e-9  # of the bracket on epsilon, about, where there are many atoms
_OFF: Final = 4e-9  # the widest half of a bracket
_LONGER: Final = 20.0  # how many times as long a line may become where atoms are few
_POINT, _CURVE, _ROUGH = 1e-11, 1e-7, 1e30  # brackets on delta, in units of delta, that are narrow enough
_FEW: Final = 32  # epsilons; more of them are a curve
_NOTHING: Final = 1e-300  # a delta that needs no more than Chernoff's bound
_SPARE: Final = 2e-10  # times c: the part of delta that nodes may have which are left out


@dataclass(frozen=True)
class Smooth:
    """Sums of finite and Laplace losses that share no lattice."""

    saddle: Saddle
    waves: Sequence[Waves]
    _nodes: dict[int, Nodes | None] = field(default_factory=dict, repr=False)
    _lines: dict[int, Line | None] = field(default_factory=dict, repr=False)
    _searches: dict[tuple[Line, int, int], Search] = field(default_factory=dict, repr=False)
    _last: dict[tuple[bytes, float], Any] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        why = "the losses share no lattice, or too long a one"
        return f"smoothed contour: {why}, so the kink of delta is smoothed, from above and from below"

    def _line(self, cell: int) -> Line | None:
        """The line for a cell of epsilons; None where sums are so small that nothing can be told apart."""
        if cell not in self._lines:
            line = line_of(self.saddle, cell, 1 / 3, width=_WIDTH)
            self._lines[cell] = line if line and line.c * _WIDTH < 1 else None
        return self._lines[cell]

    @property
    def work(self) -> float:
        """About how many nanoseconds a line takes, at a delta of 1e-6."""
        table = self.saddle.table()
        at = min(int(np.searchsorted(-table.log_delta, 14)), len(table.cell) - 1)
        line = self._line(int(table.cell[at]))
        return math.inf if line is None else self._search(line, NEAR, _count(line)).work

    def _search(self, line: Line, first: int, count: int) -> Search:
        if (which := (line, first, count)) not in self._searches:
            each = line.centre / sum(wave.times for wave in self.waves)
            turned = [replace(wave, losses=wave.losses - each) for wave in self.waves]
            spare = _SPARE * line.c * math.exp(min(line.log_least, 0.0)) / line.h
            self._searches[which] = Search(turned, line.c, line.h, first, count, spare)
        return self._searches[which]

    def _near(self, line: Line) -> Values:
        """The first nodes, where rounding would count most."""
        t: Floats = line.h * np.arange(float(NEAR))
        atoms = sum(wave.log_share(line.c, line.h, NEAR) for wave in self.waves if wave.atomic)
        z, c = line.c + 1j * t, np.array([line.c + 0j])
        others = sum(factor.cumulant(z) - factor.cumulant(c) for factor in self._others)
        value = np.exp(atoms + others - 1j * line.centre * t)
        value[0] /= 2
        return Values(t, value, 0.0, NEAR, NEAR)

    @property
    def _others(self) -> list[Factor]:
        return [factor for factor in self.saddle.factors if not isinstance(factor, FiniteFactor)]

    def _longer(self, nodes: Nodes, count: int) -> Nodes | None:
        """The nodes of a longer line, or as many as there is time for; None if that is much too few."""
        line, before = nodes.line, nodes.values
        found = [(before.end, before.t, before.value, before.left_out)]
        found += self._search(line, before.end, count).pieces()
        t, value = (np.concatenate([piece[i] for piece in found]) for i in (1, 2))
        values = Values(t, value, sum(piece[3] for piece in found), found[-1][0], count)
        too_few = values.end < count and line.h * values.end < 3 * line.c + 600
        return None if too_few else self._weighted(line, values)

    def _weighted(self, line: Line, values: Values) -> Nodes:
        """What the nodes count for, and how far their sums may be off."""
        size, bend = values.sizes(line)
        turning = float((size * values.t).sum())
        error = self._rounding(line, size, turning) + LARGEST * line.h / math.pi * values.left_out
        ulps = 16 + abs(line.k_c) + 2 * line.c * abs(line.centre)
        ulps += sum(factor.roundings(line.c) for factor in self.saddle.factors)
        return Nodes(line, values, error, ULP * ulps, 2 * ULP * turning, bend)

    def _rounding(self, line: Line, size: Floats, turning: float) -> float:
        """The rounding of the sums, apart from what all terms have in common.

        For each unit of t a phase may be off by ulps of k times the loss, and ln M^k by ulps of k times the
        standard deviation, as it comes from e^{it(L - mean)} - 1; far out, M^k by ulps of k, and a transform,
        which is the difference of larger numbers near T, by some dozens.
        """
        c = line.c
        turn = 2 * ULP * abs(line.centre) + sum(wave.drift(c) for wave in self.waves)
        turn += 8 * ULP * sum(wave.times * wave.spread(c) for wave in self.waves if wave.atomic)
        ulps = 32 + sum(factor.roundings(c) for factor in self._others)
        far = 64 + ulps + sum(factor.roundings(c) for factor in self.saddle.factors)
        far += sum(wave.times * wave.off for wave in self.waves) / ULP
        near, rest = float(size[:NEAR].sum()), float(size[NEAR:].sum())
        return ULP * (ulps * near + far * rest) + turn * turning

    def _at(self, epsilon: Floats, share: float = 0.0) -> Any:
        """Both bounds and the slope, to such a share of delta at least; the last answer is kept."""
        asked = epsilon.tobytes(), share
        if asked not in self._last:
            self._last.clear()
            self._last[asked] = self._found(epsilon, share)
        return self._last[asked]

    def _found(self, epsilon: Floats, share: float) -> Any:
        """What `_at` gives, each epsilon by the nodes of its cell; NaN where there are none."""
        found = np.full((3, len(epsilon)), np.nan)
        cells = self.saddle.cells(epsilon)
        for cell in set(cells.tolist()):
            mine = cells == cell
            if cell not in self._nodes:
                line = self._line(cell)
                self._nodes[cell] = None if line is None else self._weighted(line, self._near(line))
            while (nodes := self._nodes[cell]) is not None:
                low, high, slope = found[:, mine] = nodes.at(epsilon[mine])
                wide = (high - low) / np.maximum(np.maximum(2 * _OFF * slope, share * high), 1e-300)
                count = _enough(nodes, float(wide.max()), share)
                if count <= nodes.values.wanted:
                    break
                self._nodes[cell] = self._longer(nodes, count)
            if nodes is None:
                most = self.saddle.chernoff(epsilon[mine])
                found[:, mine] = np.where(most < _NOTHING, [0 * most, most, 0 * most], np.nan)
        return found

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The two sums."""
        low, high, _ = self._at(epsilon, _POINT if len(epsilon) <= _FEW else _CURVE)
        return np.maximum(low, 0.0), np.minimum(high + 5e-324, self.saddle.under_top(epsilon))

    def slope(self, epsilon: Floats) -> Any:
        """-d delta/d eps of the upper bound."""
        return self._at(epsilon, _CURVE)[2]

    def root(self, target: float) -> tuple[float, float]:
        """Newton's method on ln delta, from where the first nodes alone have it."""
        about, _ = self.saddle.newton(lambda epsilon: self._at(epsilon, _ROUGH), target)
        return self.saddle.newton(self._at, target, start=about)


def _count(line: Line, share: float = 0.0) -> int:
    """How many nodes do where there are many atoms: the gap between the two functions, times 1 + c."""
    unit = math.sqrt(max(_WIDTH, share / line.c) / (GAP * (1 + line.c)))
    return max(int(2 * math.pi / unit / line.h) + 1, NEAR)


def _enough(nodes: Nodes, wide: float, share: float) -> int:
    """How many nodes do, if the bracket of those that there are is so many times as wide as it should be.

    The gap between the two functions falls with the square of the number, or faster where atoms are few; it
    may also never fall as far as that.
    """
    values, usual = nodes.values, _count(nodes.line, share)
    if values.wanted == NEAR:
        guess = NEAR * math.sqrt(wide / 0.7)
        return math.ceil(max(min(guess, 2 * usual), usual / 2, NEAR))
    if wide <= 1 or share >= _CURVE or values.end < values.wanted or values.wanted > _LONGER * usual:
        return values.wanted
    return int(values.wanted * min(max(math.sqrt(wide / 0.8), 1.25), 4.0)) + 1
