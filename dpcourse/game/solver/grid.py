"""Grid: nodes of ln g = eps - L on which the best adversary's value is computed.

Between two nodes a convex function of g lies below its chord, so a step that ends between nodes is
replaced by a mean over both, weighted as their mean of g demands. If all losses are multiples of the
step, nothing is replaced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.game.solver.ledger import Ledger
from dpcourse.game.solver.menu import Item

SNAP: Final = 1e-12
"""A loss this close to a node counts as on it; the error goes into the bracket."""


@dataclass(frozen=True)
class Steps:
    """What one answer does: its finite losses, their probabilities under both bits, and P[Q = 0]."""

    losses: Floats
    p: Floats
    q: Floats
    infinite: float

    @classmethod
    def of(cls, item: Item) -> Steps:
        """From the privacy loss of the item."""
        losses, p = item.loss.atoms
        return cls(losses, p, p * np.exp(-losses), item.loss.infinite)

    @property
    def square(self) -> float:
        """E[L^2] under P, of the finite losses."""
        return float((self.p * self.losses**2).sum())


@dataclass(frozen=True)
class Taps:
    """The mean over the next values V: sure + sum of weight V[node + shift] - far e^{step node} (1 - V[0]).

    The last term is for losses that lead below the grid from everywhere, where V is bounded by the chord
    from the lowest node to V = 1 at g = 0. `missed` is by how much losses were moved onto nodes.
    """

    sure: float
    far: float
    shifts: dict[int, float]
    missed: float


@dataclass(frozen=True)
class Grid:
    """Nodes ln g = epsilon + step (i - start), i = 0, ..., size - 1."""

    epsilon: float
    step: float
    start: int
    size: int
    lattice: bool

    @classmethod
    def over(cls, ledger: Ledger, steps: Sequence[Steps], epsilon: float, most: int) -> Grid:
        """As fine as `most` nodes allow, where the game can be and its value is still open."""
        square = ledger.most(np.array([s.square for s in steps]))[0][0]
        up = ledger.most(np.array([s.losses.max(initial=0.0) for s in steps]))[0][0]
        down = ledger.most(np.array([-s.losses.min(initial=0.0) for s in steps]))[0][0]
        losses = np.unique(np.abs(np.concatenate([s.losses for s in steps])))
        for deviations in (8.0, 5.0):  # what is further out is left to the bounds at the grid's ends
            reach = deviations * math.sqrt(square) + square / 2
            rise, fall = min(up, reach), min(down, reach)
            low, high = min(0.0, max(-rise, -fall - epsilon)), max(0.0, min(fall, rise - epsilon))
            step, lattice = spacing(losses, max(high - low, 1e-6), most)
            if lattice:
                break
        start = math.ceil(-low / step - 1e-9) + 1
        return cls(epsilon, step, start, start + math.ceil(high / step - 1e-9) + 2, lattice)

    @property
    def nodes(self) -> Floats:
        """ln g at each node."""
        return np.asarray(self.epsilon + self.step * (np.arange(self.size) - self.start), dtype=float)

    def near(self, loss: float) -> int:
        """The node nearest to an accumulated loss."""
        return min(max(self.start + round(-loss / self.step), 0), self.size - 1)

    def taps(self, steps: Steps) -> Taps:
        """The two nodes, counted from here, between which each loss leads, with the weights of the chord."""
        sure, far, missed, shifts = steps.infinite, 0.0, 0.0, dict[int, float]()
        for place, p in zip((-steps.losses / self.step).tolist(), steps.p.tolist(), strict=True):
            whole, miss = round(place), abs(place - round(place)) * self.step
            part = 0.0
            if miss < SNAP:
                missed = max(missed, miss)
            else:
                whole = math.floor(place)
                part = math.expm1((place - whole) * self.step) / math.expm1(self.step)
            for shift, weight in ((whole, p * (1 - part)), (whole + 1, p * part)):
                if shift < -self.size:
                    sure, far = sure + weight, far + weight * math.exp(shift * self.step)
                elif weight:
                    to = min(shift, self.size)  # above the grid V is bounded by the last node's
                    shifts[to] = shifts.get(to, 0.0) + weight
        return Taps(sure, far, shifts, missed)


def spacing(losses: Floats, width: float, most: int) -> tuple[float, bool]:
    """A step of which all losses are multiples, or nearly so, with at most `most` of it in the width.

    >>> spacing(np.array([0.2, 0.3, 0.5]), 10.0, 1000)
    (0.1, True)
    """
    unit = 0.0
    for loss in losses.tolist():  # Euclid's algorithm, for numbers that are rounded
        a, b = loss, unit
        while b > 1e-9 * loss:
            a, b = b, abs(a - b * round(a / b))
        unit = a
    if unit > 0 and width / unit <= most and (np.abs(losses - unit * np.round(losses / unit)) < SNAP).all():
        return unit, True
    tries = width / most * np.linspace(1.0, 1.5, 5001)[:, None]
    parts = losses / tries % 1.0
    costs = (tries**2 * parts * (1 - parts)).max(axis=1, initial=0.0)
    return float(tries[np.argmin(costs), 0]), False
