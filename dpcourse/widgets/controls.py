"""Controls: what a reader can change in an explorer. Each knows its values and how they are written.

The browser only moves along a list of stops that is made here, so it shows and sends the very numbers that
the figure is drawn for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from dpcourse.errors import reject


class Control(Protocol):
    """What an explorer asks of a control. All are subclasses: mypy then knows what they have in common."""

    label: str
    start: Any

    def read(self, name: str, value: Any) -> Any:
        """The value as the figure takes it, or an error that says which are allowed."""

    def spec(self, value: Any) -> dict[str, Any]:
        """What the browser needs to know, besides the value."""


def number(value: float) -> str:
    """A number in few characters.

    >>> number(0.30000000000000004), number(1e-05), number(1000), number(-2.5), number(31622.8)
    ('0.3', '1e-5', '1000', '−2.5', '31623')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) < 1e-300:  # what is left of a number that is too small to be written
        return "0"
    whole = abs(value) < 1e6 and (abs(value) >= 1e4 or value == round(value))
    text = f"{round(value)}" if whole else f"{value:.4g}"
    mantissa, mark, power = text.partition("e")
    text = f"{mantissa}e{int(power)}" if mark else text
    return text.replace("-", "−") if value < 0 else text


@dataclass(frozen=True)
class Slider(Control):
    """A number to drag: from low to high by step; on a log scale low, high and step are powers of ten.

    On a log scale the values are whole if the start is. `play` gives it buttons to run by itself, for a
    parameter that is time.
    """

    label: str
    low: float
    high: float
    step: float
    start: float
    log: bool = False
    play: bool = False

    @cached_property
    def stops(self) -> tuple[float, ...]:
        """All values on the way, as short decimals."""
        count = round((self.high - self.low) / self.step)
        if self.log:
            powers = [10 ** (self.low + i * self.step) for i in range(count + 1)]
            if isinstance(self.start, int):
                return tuple(sorted({round(float(f"{power:.2g}")) for power in powers}))
            return tuple(float(f"{power:.3g}") for power in powers)
        digits = max(0, 3 - math.floor(math.log10(self.step)))
        stops = [round(self.low + i * self.step, digits) for i in range(count + 1)]
        whole = all(float(stop).is_integer() for stop in stops)
        return tuple(int(stop) for stop in stops) if whole else tuple(map(float, stops))

    def read(self, name: str, value: Any) -> float:
        """A value that is allowed, or an error that says which are."""
        inside = isinstance(value, int | float) and self.stops[0] <= value <= self.stops[-1]
        if not inside:
            reject(
                name, value, f"between {number(self.stops[0])} and {number(self.stops[-1])}", "choose one."
            )
        if all(isinstance(stop, int) for stop in self.stops) and float(value).is_integer():
            return int(value)
        return float(value)

    def spec(self, value: float) -> dict[str, Any]:
        """What the browser needs to know; a value between two stops becomes a stop of its own."""
        stops = sorted({*self.stops, value})
        return {
            "kind": "slider",
            "label": self.label,
            "stops": stops,
            "texts": [number(stop) for stop in stops],
            "play": self.play,
        }


@dataclass(frozen=True)
class Choice(Control):
    """One of a few words; it starts with the first."""

    label: str
    options: tuple[str, ...]
    start: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", self.options[0])

    def read(self, name: str, value: Any) -> str:
        """One of the options, or an error that lists them."""
        if value not in self.options:
            reject(name, value, f"one of {', '.join(self.options)}", "choose one of these.")
        return str(value)

    def spec(self, value: str) -> dict[str, Any]:
        """What the browser needs to know."""
        return {"kind": "choice", "label": self.label, "options": list(self.options)}


@dataclass(frozen=True)
class Switch(Control):
    """Yes or no."""

    label: str
    start: bool = False

    def read(self, name: str, value: Any) -> bool:
        """A truth value, or an error."""
        if not isinstance(value, bool):
            reject(name, value, "True or False", "give one of the two.")
        return bool(value)

    def spec(self, value: bool) -> dict[str, Any]:
        """What the browser needs to know."""
        return {"kind": "switch", "label": self.label}


@dataclass(frozen=True)
class Button(Control):
    """Something to press; the figure depends on how often it was pressed, say as a seed."""

    label: str
    start: int = 0

    def read(self, name: str, value: Any) -> int:
        """A count, or an error."""
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            reject(name, value, "how often the button was pressed", "give 0 or more.")
        return int(value)

    def spec(self, value: int) -> dict[str, Any]:
        """What the browser needs to know."""
        return {"kind": "button", "label": self.label}


@dataclass(frozen=True)
class Moves(Control):
    """A row of buttons; the figure depends on all that were pressed so far; undo takes one back."""

    label: str
    options: tuple[str, ...]
    start: tuple[str, ...] = ()
    most: int = 100

    def read(self, name: str, value: Any) -> tuple[str, ...]:
        """A sequence of options, or an error that lists them."""
        moves = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
        for move in moves:
            if move not in self.options:
                reject(name, move, f"one of {', '.join(self.options)}", "choose moves among these.")
        if len(moves) > self.most:
            reject(name, f"{len(moves)} moves", f"at most {self.most}", "take some back.")
        return moves

    def spec(self, value: tuple[str, ...]) -> dict[str, Any]:
        """What the browser needs to know."""
        return {"kind": "moves", "label": self.label, "options": list(self.options), "most": self.most}
