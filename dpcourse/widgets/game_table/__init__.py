"""The game table: play the adversary against a hidden bit, by hand or with a strategy."""

from __future__ import annotations

from typing import Any

from dpcourse.widgets.controls import Control
from dpcourse.widgets.explorer import Choice, Explorer, Moves, Slider, Switch, View
from dpcourse.widgets.game_table.picture import show
from dpcourse.widgets.game_table.rules import STRATEGIES, TABLES
from dpcourse.widgets.game_table.state import BUTTONS, replay


def draw(table: str, moves: tuple[str, ...], strategy: str, plan: bool, seed: int) -> View:
    """The table after these moves."""
    return show(replay(table, strategy, seed, tuple(moves)), plan)


def game_table(**start: Any) -> Explorer:
    """Ask, listen, and say which bit it is; a strategy may play many games for you.

    >>> game_table(moves=("Ask A",)).values["moves"]
    ('Ask A',)
    """
    controls: dict[str, Control] = {
        "table": Choice("table", tuple(TABLES)),
        "moves": Moves("your move", BUTTONS, most=400),
        "strategy": Choice("who plays the 200 games", STRATEGIES),
        "plan": Switch("show the best plan", True),
        "seed": Slider("series of games", 0, 20, 1, 0),
    }
    return Explorer("game table", draw, controls, **start)
