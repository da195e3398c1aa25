"""A vertical line on which delta is summed: for the epsilons of one cell, through their saddle point."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcourse.loss.methods.saddle import AIM, Saddle


@dataclass(frozen=True)
class Line:
    """Re z = c in steps of h, for epsilons around `centre`; k_c is K(c)."""

    c: float
    centre: float
    k_c: float
    h: float
    aliases: tuple[tuple[float, float], ...]
    """(ln of a bound at the centre, its slope in eps) for each side."""
    log_least: float
    """ln of the least delta of the cell, in units of e^{K(c) - c eps}."""
    curve: float
    """The curvature of the exponent at the saddle point."""


def line_of(saddle: Saddle, cell: int, place: float, part: float = 1.0, width: float = 0.0) -> Line | None:
    """A line for a cell of epsilons, for the saddle point at such a place of the cell, or at a part of its c.

    Aliases may be 1e-15 of delta, or as much as moves epsilon by a hundredth of `width`. None if there is
    no such cell, or no step is small enough.
    """
    table, members = saddle.rows(cell)
    if not len(members):
        return None
    middle = members[int(len(members) * place)]
    c, centre = part * float(table.c[middle]), float(table.eps[middle])
    ends = table.ends(members)
    shift, log_delta = table.eps[ends] - centre, table.log_delta[ends]
    aim = min(AIM, -math.log(width / 100 * c)) if width else AIM
    h, aliases = saddle.step(c, centre, shift, log_delta, aim)
    if h == 0:
        return None
    k_c = float(saddle.cumulant(np.array([c]))[0])
    log_least = float((log_delta + c * shift).min()) - (k_c - c * centre)
    return Line(c, centre, k_c, h, aliases, log_least, float(table.curve[middle]))
