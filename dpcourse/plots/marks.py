"""Small marks that many pictures share, made without the cost of matplotlib's autoscaling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle, StepPatch


def brief(x: float, digits: int = 3) -> str:
    """A number in few characters.

    >>> brief(1e-05), brief(0.30000000000000004), brief(4.1149e-8), brief(1.671e13), brief(29863.2)
    ('1e-5', '0.3', '4.11e-8', '1.67e13', '29863')
    """
    if 1e3 <= abs(x) < 1e6:
        return f"{x:.0f}"
    return re.sub(r"e([-+]?)0*", lambda power: "e" + power[1].strip("+"), f"{x:.{digits}g}")


def block(ax: Axes, x: float, y: float, wide: float, tall: float, **look: Any) -> Artist:
    """A filled rectangle from its lower left corner; the limits of the axes stay as they are."""
    return ax.add_artist(Rectangle((x, y), wide, tall, **({"linewidth": 0} | look)))


def steps(ax: Axes, heights: Any, edges: Any, floor: float = 0.0, **look: Any) -> Artist:
    """A filled histogram as one shape; the limits of the axes stay as they are."""
    return ax.add_artist(StepPatch(heights, edges, baseline=floor, fill=True, **({"linewidth": 0} | look)))


def bars(
    ax: Axes, places: Sequence[float], heights: Sequence[float], wide: float, **look: Any
) -> list[Artist]:
    """Upright bars around their places."""
    pairs = zip(places, heights, strict=True)
    return [block(ax, x - wide / 2, 0, wide, height, **look) for x, height in pairs]
