"""Value iteration for the best adversary on a grid of losses, with a rigorous bracket.

The value V(s, g) of a state s at g = e^{eps - L} is convex and falling in g, with V(s, 0) = 1, so it moves
by at most t if ln g moves by t. Two passes enclose V at the start:

- backwards, an upper bound: between nodes V lies below the chord, at every step;
- forwards, a lower bound: the first pass's policy, played by an adversary who remembers the loss only to
  the nearest node, is one adversary of many, and its H_eps is a sum over its final states.

On a lattice that contains all losses both are exact. Otherwise both errors are of second order in the
step. Where the budget has too many states, the passes run on rounded prices: down for the upper bound,
up for the lower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpcourse.errors import reject
from dpcourse.game.solver.grid import SNAP, Grid, Steps
from dpcourse.game.solver.ledger import Ledger, open_ledger
from dpcourse.game.solver.menu import Item
from dpcourse.game.solver.tariff import ByCost, tariff_of
from dpcourse.guarantees import Guarantee
from dpcourse.interactive.filters import Filter

Choices = list[NDArray[np.int8]]
STOP: Final = -1
CELLS: Final = 30_000_000
"""How many pairs of a state and a node there may be: about a second's work."""
FEWEST, FAIR, FINE, FINEST = 100, 400, 700, 20_000
"""Nodes: the least, enough with rounded prices, enough not to round prices, and the most."""


@dataclass(frozen=True)
class GridSolution:
    """A bracket of the value at the start, and a policy that attains the lower end."""

    bounds: tuple[float, float]
    ledger: Ledger
    grid: Grid
    choices: Choices
    rounded: bool

    @property
    def method(self) -> str:
        """What was computed."""
        kind = "a lattice" if self.grid.lattice else "a grid"
        states = f"{self.ledger.size} {'rounded ' * self.rounded}budget states"
        return f"{states} x {self.grid.size} losses on {kind} of step {self.grid.step:.4g}, in floats"

    def choice(self, left: int, charges: Sequence[Guarantee], loss: float) -> int:
        """The item to ask for, or STOP."""
        row = self.ledger.find(left, charges)
        if not math.isfinite(loss):
            return STOP
        return int(self.choices[self.ledger.rounds - left][row, self.grid.near(loss)])


def solve_on_grid(
    items: Sequence[Item], rounds: int, budget: Filter | None, epsilon: float, cells: int
) -> GridSolution:
    """The bracket and the policy, on as fine a grid as so many cells allow."""
    guarantees, steps = [item.guarantee for item in items], [Steps.of(item) for item in items]
    tariff = tariff_of(budget, guarantees, rounds)
    ledger = open_ledger(tariff, guarantees, rounds, cells // FEWEST)
    grid = ledger and _grid(ledger, steps, epsilon, cells, FINE)
    if ledger and grid:
        value, choices = backward(ledger, steps, grid)
        return _solution(value, ledger, steps, grid, choices, False)
    if not isinstance(tariff, ByCost) or len(tariff.currencies) > 1:
        fix = "play fewer rounds, or use a shorter menu, or a filter with one budget such as ZCDPFilter."
        reject("rounds", rounds, f"few enough for {budget!r} and this menu", fix)
    for size in (4000, 2800, 2000, 1400, 1000, 700, 500, 350, 250, 120, 60):
        larger, smaller = (
            open_ledger(tariff.rounded(size, up), guarantees, rounds, cells // FEWEST) for up in (False, True)
        )
        grid = larger and _grid(larger, steps, epsilon, cells // 2, FAIR)
        if larger and smaller and grid:
            value, _ = backward(larger, steps, grid)
            return _solution(value, smaller, steps, grid, backward(smaller, steps, grid)[1], True)
    reject("cells", cells, "enough for so many rounds", "give a larger number, or play fewer rounds.")


def _grid(ledger: Ledger, steps: Sequence[Steps], epsilon: float, cells: int, fine: int) -> Grid | None:
    """As fine as the cells allow; None if that is not fine enough."""
    most = min(FINEST, cells // ledger.size)
    if most < FEWEST:
        return None
    grid = Grid.over(ledger, steps, epsilon, most)
    return grid if most >= fine or grid.lattice else None


def _solution(
    value: float, ledger: Ledger, steps: Sequence[Steps], grid: Grid, choices: Choices, rounded: bool
) -> GridSolution:
    """With all that rounding may have done: to a sum at every node, and to every loss."""
    taps = [grid.taps(s) for s in steps]
    most = max(len(t.shifts) for t in taps) + 8
    largest = max(float(np.abs(s.losses).max(initial=0.0)) for s in steps)
    error = ledger.rounds * (most * (2 + largest) * 2.0**-52 + max(t.missed for t in taps)) + SNAP
    trivial = max(0.0, -math.expm1(grid.epsilon))
    lower = max(trivial, forward(ledger, steps, grid, choices) - error)
    upper = min(1.0, value + error) if value > 0 else 0.0
    return GridSolution((lower, upper), ledger, grid, choices, rounded)


def backward(ledger: Ledger, steps: Sequence[Steps], grid: Grid) -> tuple[float, Choices]:
    """An upper bound of the value at the start, and the best item at every state and node."""
    stop, taps = np.maximum(0.0, -np.expm1(grid.nodes)), [grid.taps(s) for s in steps]
    pad = max(abs(shift) for tap in taps for shift in (0, *tap.shifts))
    beyond = np.exp(-grid.step * np.arange(pad, 0, -1))  # g below the lowest node, as a part of its g
    rise = np.exp(grid.step * np.arange(grid.size))
    reach = ledger.most(np.array([math.inf if s.infinite else s.losses.max(initial=0.0) for s in steps]))
    value = np.tile(stop, (len(ledger.codes[-1]), 1))
    choices = [np.full(value.shape, STOP, dtype=np.int8)]
    block = max(1, 40_000 // grid.size)  # a few rows at a time, which stay in the processor's cache
    for level in range(ledger.rounds - 1, -1, -1):
        below = 1 - beyond * (1 - value[:, :1])  # the chord to V = 1 at g = 0
        above = np.repeat(value[:, -1:], pad, axis=1)  # V falls
        ahead, moves = np.concatenate([below, value, above], axis=1), ledger.moves[level]
        value = np.tile(stop, (moves.shape[1], 1))
        choice = np.full(value.shape, STOP, dtype=np.int8)
        for first in range(0, len(value), block):
            for a, tap in enumerate(taps):
                to = moves[a, first : first + block]
                may = np.flatnonzero(to >= 0)
                source, rows = ahead[to[may]], first + may
                found = np.full((len(may), grid.size), tap.sure)
                for shift, weight in tap.shifts.items():
                    found += weight * source[:, pad + shift : pad + shift + grid.size]
                if tap.far:
                    found -= tap.far * rise * (1 - source[:, pad : pad + 1])
                better = found > value[rows] * (1 + 1e-14)
                value[rows] = np.maximum(value[rows], found)
                choice[rows] = np.where(better, np.int8(a), choice[rows])
        hopeless = grid.nodes >= reach[level][:, None] - SNAP  # no loss can reach the threshold any more
        value[hopeless], choice[hopeless] = 0.0, STOP
        choices.append(choice)
    return float(value[0, grid.start]), choices[::-1]


def forward(ledger: Ledger, steps: Sequence[Steps], grid: Grid, choices: Choices) -> float:
    """H_eps of the adversary who follows the choices and rounds its loss to the nodes: a lower bound."""
    ratio, gain = math.exp(grid.epsilon), 0.0
    cells, p, q = np.array([grid.start]), np.ones(1), np.ones(1)
    for level, choice in enumerate(choices):
        chosen = choice.ravel()[cells]
        gain += float(np.maximum(0.0, p - ratio * q)[chosen == STOP].sum())
        parts = []
        for a in np.unique(chosen[chosen != STOP]).tolist():
            at = chosen == a
            gain += steps[a].infinite * float(p[at].sum())
            row, node = np.divmod(cells[at], grid.size)
            first = ledger.moves[level][a, row] * grid.size
            for loss, by_p, by_q in zip(steps[a].losses, steps[a].p, steps[a].q, strict=True):
                to = np.clip(node + round(-loss / grid.step), 0, grid.size - 1)
                parts.append((first + to, by_p * p[at], by_q * q[at]))
        if not parts:
            break
        into, to_p, to_q = (np.concatenate(column) for column in zip(*parts, strict=True))
        p, q = (np.bincount(into, mass).astype(float) for mass in (to_p, to_q))
        cells = np.flatnonzero(p > 1e-18)  # to forget an outcome only lowers the gain
        p, q = p[cells], q[cells]
    return gain
