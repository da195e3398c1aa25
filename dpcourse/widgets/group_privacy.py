"""The group explorer: how a promise to one person wears out along a chain of neighbours."""

from __future__ import annotations

from typing import Any

from dpcourse.accounting import fastest_climb
from dpcourse.guarantees import group_delta
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Explorer, Slider, View

LARGEST = 20


def draw(epsilon: float, delta: float, size: int, start: float) -> View:
    """The climb of one event along the chain, next to what delta becomes for every group size."""
    from dpcourse.plots import climb as picture
    from dpcourse.plots import panels

    with panels(10, 4.1, columns=(1, 1)) as (fig, (left, right)):
        picture.climb(left, epsilon, delta, size, start, LARGEST)
        picture.worn_delta(right, epsilon, delta, size, LARGEST)
    total = group_delta(epsilon, delta, size)
    climb = fastest_climb(epsilon, delta, size, start)
    promise = f"({number(size * epsilon)}, {number(total)})-DP" if total < 1 else "nothing at all"
    people = "One person" if size == 1 else f"A group of {size}"
    words = (
        f"{people} is promised {promise}; kδ would say {number(size * delta)}.\n"
        f"An event of probability {number(start)} can climb to {number(climb[-1])}."
    )
    return View(fig, words)


def group_privacy(**start: Any) -> Explorer:
    """Drag epsilon, delta and the size of the group, and see the chain climb.

    >>> group_privacy(size=3)
    Explorer(group privacy: epsilon = 0.5, delta = 0.01, size = 3, start = 0.01)
    """
    controls = {
        "epsilon": Slider("ε of one person", 0.05, 1.5, 0.05, 0.5),
        "delta": Slider("δ of one person", -8, -1, 0.5, 0.01, log=True),
        "size": Slider("group size k", 1, LARGEST, 1, 5),
        "start": Slider("probability on D₀", 0.0, 0.5, 0.01, 0.01),
    }
    return Explorer("group privacy", draw, controls, **start)
