"""The saddle-point contour: delta(eps) as a short sum, with a two-sided error bound.

With K(z) = sum of k_i ln E[e^{z L_i}], for any c > 0

    delta(eps) = 1/(2 pi i) * integral over Re z = c of  e^{K(z) - eps z} / (z (z+1)) dz.

The trapezoid rule with step h gives S_h = sum over all whole m of delta(eps + 2 pi m/h) e^{2 pi m c/h}.
Every term is >= 0, so S_h is an upper bound, and Chernoff's bound at any real x > 0

    delta(e) <= e^{K(x) - x e} x^x/(1+x)^{1+x}    (and delta <= e^{K(0)}, the case x = 0)

with one x on each side of c bounds the excess by two geometric series. The sum is cut at T = N h; what
is left out is at most e^{K(c) - c eps + decay(T)} / (pi T), where `decay` is the factors' proved bound.
Any c gives a true bracket, the saddle point a narrow one. So c, h and the nodes are chosen once for a
cell of epsilons and used again. (Alghamdi, Gomez, Asoodeh, Calmon, Kosut, Sankar: The saddle-point
method in differential privacy, ICML 2023; they estimate the error, here it is enclosed.)

Proved: alias and truncation bounds. Modelled: rounding, by counting ulps.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.line import Line, line_of
from dpcourse.loss.methods.saddle import AIM, Saddle, log_kappa
from dpcourse.loss.solve import ULP

_MANY, _FEW = 2**13, 32  # nodes of a line that are too many for more than a few epsilons
_CHUNK = 2**19
_LENGTHS = 1.2 ** np.arange(90.0)
_PATIENCE = np.minimum(2.0 * np.arange(90), 9.2)


@dataclass(frozen=True)
class Plan:
    """A line with its nodes, t = 0, h, 2h, ..."""

    line: Line
    log_cut: float
    """ln of (what is left out beyond the last node) / e^{K(c) - c eps}."""
    t: Floats
    real: Floats
    imag: Floats
    """(h/pi) e^{K(z) - K(c) - i t centre} / (z(z+1)), the term at t = 0 halved."""
    rounding: float
    turning: float
    """What rounding may do besides, for each unit of eps - centre: a phase is off by ulps of itself."""

    def _sums(self, shift: Floats, real: Floats, imag: Floats) -> Any:
        """The sums over the nodes, a few epsilons at a time, times e^{K(c) - c eps}; and that factor."""
        line, total = self.line, np.empty(len(shift))
        for i in range(0, len(shift), step := max(1, _CHUNK // len(self.t))):
            turn = np.multiply.outer(shift[i : i + step], self.t)
            total[i : i + step] = np.cos(turn) @ real + np.sin(turn) @ imag
        scale = np.exp(line.k_c - line.c * (line.centre + shift))
        return scale * total, scale

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The sum -+ truncation and rounding, less the aliases on the lower side."""
        line, shift = self.line, epsilon - self.line.centre
        total, scale = self._sums(shift, self.real, self.imag)
        away = (ULP * line.c + self.turning) * np.abs(shift)
        error = scale * (math.exp(self.log_cut) + self.rounding + away)
        alias = sum(np.exp(at + slope * shift) for at, slope in line.aliases)
        return np.maximum(total - error - alias, 0.0), total + error + 5e-324

    def slope(self, epsilon: Floats) -> Any:
        """-d delta/d eps: the same sum with another factor z."""
        c, t = self.line.c, self.t
        real, imag = c * self.real - t * self.imag, c * self.imag + t * self.real
        return self._sums(epsilon - self.line.centre, real, imag)[0]


@dataclass(frozen=True)
class _Cut:
    """A line, how many steps it is long, and ln of what is left out beyond."""

    line: Line
    count: float
    log_cut: float


@dataclass(frozen=True)
class Contour:
    """The sum of smooth losses; declines (NaN) where the bound on the truncation is not small enough.

    >>> from dpcourse.loss.methods.factors import GaussianFactor
    >>> from dpcourse.loss.shifts import GaussianLoss
    >>> contour = Contour(Saddle([GaussianFactor(GaussianLoss(0.5), 4)], 0.5), "where the Gaussian decays")
    >>> low, high = contour.bounds(np.array([1.0]))
    >>> f"{low[0]:.12f} {high[0]:.12f}"
    '0.126936737507 0.126936737507'
    """

    saddle: Saddle
    why: str
    _plans: dict[int, Plan | None] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        return f"contour: the moment generating function on a line through the saddle point, {self.why}"

    def _make(self, cell: int) -> Plan | None:
        """The line for one cell of epsilons: through the saddle point, or if that is long, the best of some.

        A heavy tail (a small sampling rate) bends K so sharply that lines left of the saddle point, where
        e^{K(c) - c eps} is hardly larger, allow for much longer steps.
        """
        plans = [plan] if (plan := self._cut(cell, 1.0)) else []
        if not plans or plans[0].count > _MANY:
            plans += [plan for part in (0.5, 0.25, 0.1) if (plan := self._cut(cell, part))]
        return self._plan(min(plans, key=lambda plan: plan.count)) if plans else None

    def _cut(self, cell: int, part: float) -> _Cut | None:
        """A line at a part of the saddle point as c, and where it may end."""
        # Rather below the middle of the saddle points: large c amplify the far tail.
        line = line_of(self.saddle, cell, 1 / 4, part)
        if line is None:
            return None
        factors = self.saddle.factors
        lasts = 7.0 / math.sqrt(line.curve) * _LENGTHS
        lasts = lasts[lasts < line.h * min(factor.worth for factor in factors)]
        # The longer the line, the larger a remainder is accepted, up to 1e-11 of delta.
        accepted = line.log_least - AIM + _PATIENCE[: len(lasts)]

        def cut(i: int) -> float:
            """ln of what is left out beyond the i-th length."""
            return sum(f.decay(line.c, float(lasts[i])) for f in factors) - math.log(math.pi * lasts[i])

        enough = bisect_left(range(len(lasts)), x=True, key=lambda i: cut(i) <= accepted[i])
        return _Cut(line, lasts[enough] / line.h, cut(enough)) if enough < len(lasts) else None

    def _plan(self, cut: _Cut) -> Plan:
        """The nodes of a line, and what rounding may do to them."""
        line = cut.line
        c, centre, h = line.c, line.centre, line.h
        t: Floats = h * np.arange(math.ceil(cut.count) + 1.0)
        z = c + 1j * t
        term = np.exp(self.saddle.cumulant(z) - line.k_c - 1j * (t * centre)) / (z * (z + 1)) * (h / math.pi)
        term[0] /= 2
        size = np.abs(term)
        ulps = 16 + abs(line.k_c) + 2 * c * abs(centre) + sum(f.roundings(c) for f in self.saddle.factors)
        turning = ULP * float(size @ t)
        rounding = ULP * ulps * float(size.sum()) + turning * abs(centre)
        return Plan(line, cut.log_cut, t, term.real, term.imag, rounding, turning)

    def _apply(self, what: str, epsilon: Floats, rows: int) -> Any:
        """One method of the plan of each epsilon's cell, which is made when first needed."""
        out, cells = np.full((rows, len(epsilon)), np.nan), self.saddle.cells(epsilon)
        for cell in set(cells.tolist()) - {-1}:
            if cell not in self._plans:
                self._plans[cell] = self._make(cell)
            plan = self._plans[cell]
            if plan is not None and (len(plan.t) <= _MANY or len(epsilon) <= _FEW):
                mine = cells == cell
                out[:, mine] = getattr(plan, what)(epsilon[mine])
        return out

    def _vanished(self, epsilon: Floats) -> Any:
        """Whether Chernoff's bound at the last c says that delta is below e^-700."""
        c = self.saddle.table(wide=True).c[-1:]
        return self.saddle.cumulant(c) - c * epsilon + log_kappa(c) < -700

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Each epsilon by the plan of its cell."""
        low, high = self._apply("bounds", epsilon, 2)
        if np.isnan(low).any():
            gone = np.isnan(low) & self._vanished(epsilon)
            low[gone], high[gone] = 0.0, math.exp(-700)
        return low, high

    def slope(self, epsilon: Floats) -> Floats:
        """Each epsilon by the plan of its cell."""
        slope: Floats = self._apply("slope", epsilon, 1)[0]
        return slope

    def root(self, target: float) -> tuple[float, float]:
        """Newton's method on ln delta, from the saddle-point estimate."""
        return self.saddle.newton(lambda e: (*self.bounds(e), self.slope(e)), target)
