"""Pictures of sensitivity: how far one person moves the median, and what noise of that size hides."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse.errors import Floats
from dpcourse.plots.sheet import Sheet
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

UPPER, LOWER = 44.0, 4.0  # the heights of the two lines, in points


def number_line(
    on: Sheet, data: Any, other: Any, low: float, high: float, local: float, middle: float
) -> None:
    """The data on a line with its median, how far a neighbour's median can be, and the neighbour shown."""
    unit = on.wide / (high - low)

    def x(value: Any) -> Any:
        return (np.asarray(value, dtype=float) - low) * unit

    for y, name in ((UPPER, "data"), (LOWER, "neighbour")):
        on.line([0, on.wide], [y, y], linewidth=1)
        on.text(-8, y, name, "right")
    start, end = x(max(low, middle - local)), x(min(high, middle + local))
    on.box(start, UPPER - 4, end - start, 8, color=BLUE, alpha=0.35)
    look: dict[str, Any] = {"linestyle": "none", "zorder": 3}
    for values, y, colour in ((data, UPPER, BLUE), (other, LOWER, PURPLE)):
        places = np.sort(np.asarray(values, dtype=float))
        lift = [sum(places[:i] == p) * 6 for i, p in enumerate(places)]  # equal values stand on each other
        on.line(x(places), y + np.array(lift), marker="o", markersize=8, color=colour, **look)
        on.line([x(np.median(places))], [y - 9], marker="^", markersize=8, color=colour, **look)
    for value in (low, high):
        on.text(x(value), -17, f"{value:g}", "center", fontsize=9)
    on.title("the data, ▲ their median, and how far one change moves it", above=UPPER + 32 - on.tall)


def discounted(
    ax: Axes, distances: Floats, beta: float | None, smooth: float | None, most: float
) -> list[Artist]:
    """The local sensitivity at each distance, and times e^{-beta t}: the largest is the smooth one."""
    t = np.arange(len(distances))
    artists: list[Artist] = [
        *ax.bar(t, distances, color="none", edgecolor=INK, linewidth=1, label="local, t changes away")
    ]
    if beta is not None and smooth is not None:
        shown = distances * np.exp(-beta * t)
        artists += list(ax.bar(t, shown, color=BLUE, width=0.55, label="times $e^{-βt}$"))
        best = int(np.argmax(shown))
        artists += list(ax.bar([best], [shown[best]], color=GREEN, width=0.55))
        artists.append(ax.axhline(smooth, color=GREEN, linewidth=2, label="smooth sensitivity"))
    else:
        artists += list(ax.bar([0], [distances[0]], color=VERMILION, width=0.55, label="local sensitivity"))
    ax.set(xlabel="changes t", ylabel="sensitivity", xlim=(-0.7, t[-1] + 0.7), ylim=(0, most * 1.3))
    ax.set_xticks(t)
    ax.legend(frameon=False, labelcolor=INK, loc="upper left", fontsize=9, ncols=2, columnspacing=1.0)
    return artists


def ratio_strip(ax: Axes, y: Floats, ratio: Floats, claim: float) -> list[Artist]:
    """ln of the density on the data over that on the neighbour; in the band the claim holds."""
    share, top = ratio / claim, 2.2
    inside = np.where(np.abs(share) <= 1 + 1e-9, share, np.nan)
    artists: list[Artist] = [ax.axhspan(-1, 1, color=GREEN, alpha=0.14, linewidth=0)]
    artists += [ax.axhline(s, color=GREEN, linestyle="--", linewidth=1) for s in (-1, 1)]
    artists += ax.plot(y, np.clip(share, -top, top), color=VERMILION, linewidth=3, linestyle=":")
    artists += ax.plot(y, inside, color=BLUE, linewidth=2.5)
    ax.set(xlim=(y[0], y[-1]), ylim=(-top, top), xlabel="released value", ylabel="log-ratio / claim")
    ax.set_yticks([-2, -1, 0, 1, 2], ["−2", "−1", "0", "1", "2"])
    ax.grid()
    return artists
