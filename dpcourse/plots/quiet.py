"""Quiet axes: an axis of a picture that moves makes no tick before somebody asks for one, and few then."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axis import Axis, XAxis, YAxis
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator


class Quiet(Axis):
    """An axis without ticks until somebody asks for one: they are costly, and a panel draws its own."""

    def reset_ticks(self) -> None:
        """No ticks."""
        self.majorTicks: list[Any] = []
        self.minorTicks: list[Any] = []


class QuietX(Quiet, XAxis):
    """The lower one."""


class QuietY(Quiet, YAxis):
    """The left one."""


def fix_ticks(axis: Axis, places: Any, words: Any) -> None:
    """Ticks at these places, with these words if there are any."""
    axis.set_major_locator(FixedLocator(list(places)))
    if words is not None:
        axis.set_major_formatter(FixedFormatter(list(words)))


def plain_powers(axis: Axis) -> None:
    """No small ticks, and powers of ten without mathematics, which is slow to set."""
    axis.set_minor_locator(NullLocator())
    if axis.get_scale() == "log":
        axis.set_major_formatter(FuncFormatter(lambda x, _: power_of_ten(x)))


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(x: float) -> str:
    """A tick of a log axis.

    >>> [power_of_ten(x) for x in (1e-6, 0.1, 1, 10, 50, 1e4)]
    ['10⁻⁶', '0.1', '1', '10', '50', '10⁴']
    """
    exponent = math.log10(x) if x > 0 else math.nan
    if not exponent.is_integer() or -3 < exponent < 4:
        return f"{x:g}"
    return "10" + str(int(exponent)).translate(RAISED)
