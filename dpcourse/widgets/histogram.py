"""A histogram and its neighbours: one row added, removed or replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcourse.mechanisms import LaplaceMechanism
from dpcourse.mechanisms.histograms import BinCounts
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE
from dpcourse.widgets.explorer import Choice, Explorer, Slider, View

BINS = ("north", "east", "south", "west")
ROWS = 5 * ("north",) + 3 * ("east",) + 6 * ("south",) + 2 * ("west",)
ADD, REMOVE, REPLACE = "add a row", "remove a row", "replace a row"


def draw(change: str, bin: str, to: str, epsilon: float) -> View:  # noqa: A002 (the parameter's name on the page)
    """The counts before and after, how far they moved, and what that costs under both sizes of noise."""
    from dpcourse.plots import panels
    from dpcourse.plots import people as picture

    counts = BinCounts(BINS)
    before = counts(ROWS)
    out = None if change == ADD else BINS.index(bin)
    into = BINS.index(bin) if change == ADD else BINS.index(to) if change == REPLACE else None
    after = before.copy()
    for place, step in ((out, -1), (into, +1)):
        if place is not None:
            after[place] += step
    distance = round(float(np.abs(after - before).sum()))
    adjacency = REPLACE_ONE if change == REPLACE else ADD_REMOVE
    needed = counts.sensitivity(adjacency)
    losses = [
        (f"loss with noise {size}/ε", LaplaceMechanism(epsilon, sensitivity=size).epsilon * distance / size)
        for size in (1, 2)
    ]
    with panels(10, 4.4, columns=(1.25, 1)) as (fig, (left, right)):
        picture.dot_histogram(left, BINS, [round(x) for x in before], out, into)
        picture.distance_meter(right, distance, epsilon, losses)
    rule = "add/remove" if adjacency is ADD_REMOVE else "replace-one"
    words = (
        f"The counts move by {distance} in all. Under {rule} no neighbour moves them by more than {needed}, "
        f"so noise of scale {needed}/ε = {needed / epsilon:.4g} in every bin keeps the promise.\n"
        f"With noise 1/ε this pair loses {losses[0][1]:.4g}, with 2/ε {losses[1][1]:.4g}; "
        f"promised is ε = {epsilon:.3g}."
    )
    return View(fig, words)


def histogram(**start: Any) -> Explorer:
    """Add, remove or replace one row of a histogram and read the meter.

    >>> histogram().view().words.split(".")[0]
    'The counts move by 2 in all'
    """
    controls = {
        "change": Choice("neighbour", (REPLACE, ADD, REMOVE)),
        "bin": Choice("in bin", BINS),
        "to": Choice("replaced by a row in", BINS[1:] + BINS[:1]),
        "epsilon": Slider("ε", 0.1, 2, 0.1, 0.5),
    }
    return Explorer("histogram", draw, controls, **start)
