"""The best adversary of a hundred rounds with a menu of four, under a zCDP filter: seconds and bracket."""

from __future__ import annotations

import math
from functools import partial

from benchmarks.harness import Row, best_of
from dpcourse.game.optimal import optimal_adversary
from dpcourse.interactive.filters import ZCDPFilter
from dpcourse.mechanisms import RandomizedResponse
from dpcourse.neighbours import REPLACE_ONE

MENUS = {
    "losses on a lattice": (0.1, 0.2, 0.3, 0.4),
    "losses without a common unit": (0.1, 0.1 * math.sqrt(2), 0.1 * math.pi, 0.389),
}
BUDGETS = ((0.5, 1.0), (2.0, 2.0))  # rho of the filter, and epsilon
LIMIT = 2.0


def rows() -> list[Row]:
    """Two menus, each with a budget that is soon spent and with one that leaves far more to choose."""
    return [_row(name, menu, rho, epsilon) for name, menu in MENUS.items() for rho, epsilon in BUDGETS]


def _row(name: str, menu: tuple[float, ...], rho: float, epsilon: float) -> Row:
    coins = [RandomizedResponse(e) for e in menu]
    solve = partial(optimal_adversary, coins, 100, epsilon, ZCDPFilter(rho, adjacency=REPLACE_ONE))
    seconds = best_of(solve, repeat=3)
    low, high = solve().bounds
    note = f"delta in [{low:.6f}, {high:.6f}], width {high - low:.1g}"
    title = f"optimal adversary, 100 rounds x 4, rho {rho:g}, {name}"
    return Row(title, seconds, None, "s", f"< {LIMIT:g} s", seconds < LIMIT, note)
