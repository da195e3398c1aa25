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
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.errors import Floats
from dpcourse.loss.methods.saddle import AIM, Saddle, Table, log_kappa
from dpcourse.loss.solve import ULP

_MOST_NODES = 2**13
_LENGTHS = np.geomspace(1, 200, 30)
_PATIENCE = np.minimum(2.0 * np.arange(30), 9.2)


@dataclass(frozen=True)
class Plan:
    """A line Re z = c with its nodes, good for epsilons around `centre`."""

    c: float
    centre: float
    log_scale: float
    """K(c) - c * centre."""
    t: Floats
    real: Floats
    imag: Floats
    """(h/pi) e^{K(z) - K(c) - i t centre} / (z(z+1)), the term at t = 0 halved."""
    aliases: tuple[tuple[float, float], ...]
    """(ln of a bound at the centre, its slope in eps) for each side."""
    log_cut: float
    """ln of (what is left out beyond the last node) / e^{K(c) - c eps}."""
    rounding: float

    def bounds(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The sum -+ truncation and rounding, less the aliases on the lower side."""
        shift = epsilon - self.centre
        turn = np.multiply.outer(shift, self.t)
        total = np.cos(turn) @ self.real + np.sin(turn) @ self.imag
        scale = np.exp(self.log_scale - self.c * shift)
        error = math.exp(self.log_cut) + self.rounding + ULP * np.abs(self.c * shift)
        alias = sum(np.exp(at + slope * shift) for at, slope in self.aliases)
        return np.maximum(scale * (total - error) - alias, 0.0), scale * (total + error) + 5e-324

    def slope(self, epsilon: Floats) -> Floats:
        """-d delta/d eps: the same sum with another factor z."""
        shift = epsilon - self.centre
        turn = np.multiply.outer(shift, self.t)
        real, imag = (
            self.c * self.real - self.t * self.imag,
            self.c * self.imag + self.t * self.real,
        )
        return np.exp(self.log_scale - self.c * shift) * (np.cos(turn) @ real + np.sin(turn) @ imag)


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
    _plans: dict[tuple[bool, int], Plan | None] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """What it does, and why it was chosen."""
        return f"contour: the moment generating function on a line through the saddle point, {self.why}"

    def _make(self, table: Table, cell: int) -> Plan | None:
        """Choose c, the step and the last node for one cell of epsilons."""
        members = table.members(cell)
        middle = members[len(members) // 4]  # rather below the saddle points: large c amplify the far tail
        c, centre = float(table.c[middle]), float(table.eps[middle])
        ends = table.ends(members)
        shift, log_delta = table.eps[ends] - centre, table.log_delta[ends]
        h, log_bounds = self.saddle.step(c, centre, shift, log_delta)
        if h == 0:
            return None
        k_c = float(self.saddle.cumulant(np.array([c]))[0])
        scale = k_c - c * centre
        # The longer the line, the larger a remainder is accepted, up to 1e-11 of delta.
        lasts = 7.0 / math.sqrt(table.curve[middle]) * _LENGTHS
        cuts = sum(f.decay(c, lasts) for f in self.saddle.factors) - np.log(math.pi * lasts)
        enough = np.flatnonzero(cuts <= (log_delta + c * shift).min() - scale - AIM + _PATIENCE)
        if not len(enough) or lasts[enough[0]] > h * _MOST_NODES:
            return None
        last, cut = float(lasts[enough[0]]), float(cuts[enough[0]])
        t: Floats = h * np.arange(math.ceil(last / h) + 1.0)
        z = c + 1j * t
        term = np.exp(self.saddle.cumulant(z) - k_c - 1j * (t * centre)) / (z * (z + 1)) * (h / math.pi)
        term[0] /= 2
        ulps = 16 + abs(k_c) + (2 * c + last) * abs(centre) + sum(f.roundings(c) for f in self.saddle.factors)
        rounding = ULP * ulps * float(np.abs(term).sum())
        return Plan(c, centre, scale, t, term.real, term.imag, log_bounds, cut, rounding)

    def _find(self, epsilon: float) -> Plan | None:
        """The plan of the cell of an epsilon, made when first needed; None where the table ends."""
        wide = bool(epsilon > self.saddle.table().eps[-1])
        table = self.saddle.table(wide)
        at = int(np.searchsorted(table.eps, epsilon))
        if at == len(table.eps):
            return None
        key = wide, int(table.cell[at])
        if key not in self._plans:
            self._plans[key] = self._make(table, key[1])
        return self._plans[key]

    def _apply(self, what: str, epsilon: Floats, rows: int) -> Any:
        """One method of the plan of each epsilon."""
        out = np.full((rows, len(epsilon)), np.nan)
        plans = [self._find(float(e)) for e in epsilon]
        for plan in {id(plan): plan for plan in plans if plan is not None}.values():
            mine = np.array([p is plan for p in plans])
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
