"""Pictures of accounting: all the bounds on one workload, and over the number of releases."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis

from dpcourse.accounting import BOUNDS, Comparison
from dpcourse.accounting.comparison import shown
from dpcourse.errors import reject
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label

KINDS = {
    "bound": (BLUE, "o"),
    "exact": (GREEN, "D"),
    "approximation": (PURPLE, "^"),
    "misprint": (VERMILION, "X"),
}
"""The colour and the marker of each kind of answer."""

CURVES: dict[str, tuple[str, str, str]] = {
    "basic": (INK, "-", ""),
    "classic": (PURPLE, "--", "v"),
    "tanh": (BLUE, "-", "o"),
    "optimal": (VERMILION, "-.", "s"),
    "zcdp": (BLUE, "--", "^"),
    "rdp": (VERMILION, "-", "X"),
    "moments": (BLUE, ":", "P"),
    "clt": (PURPLE, ":", "*"),
    "exact": (GREEN, "-", "D"),
}
"""The curves of `comparison_over_k`: colour, line style and marker; near relatives are left out."""

GREEK = (("e^eps-1", "e$^ε$−1"), ("eps^2", "ε²"), ("eps", "ε"), ("delta", "δ"), ("Renyi", "Rényi"))


def comparison(ax: Axes, table: Comparison) -> list[Artist]:
    """One dot per bound on a logarithmic axis, its epsilon next to it, the exact value as a line."""
    rows = [row for row in table.rows if 0 < row.epsilon < math.inf]
    if not rows:
        fix = "choose a delta above 0, for which some bound is finite and positive."
        reject("comparison", table.workload, "one with a finite, positive epsilon", fix)
    artists: list[Artist] = []
    if table.exact is not None and 0 < table.exact[1] < math.inf:
        artists.append(ax.axvline(table.exact[1], color=GREEN, linewidth=1.2, zorder=1))
    for place, row in enumerate(reversed(rows)):
        colour, marker = KINDS[row.kind]
        face = colour if row.valid else "none"  # a hollow mark promises nothing
        artists += ax.plot(
            [row.epsilon], [place], marker, markersize=8, color=colour, markerfacecolor=face, clip_on=False
        )
        artists.append(label(ax, row.epsilon, place, shown(row.epsilon, 4)))
    names = [_written(row.name) + ("" if row.valid else f" ({row.kind})") for row in reversed(rows)]
    ax.set_yticks(range(len(rows)), names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    _log_axis(ax, [row.epsilon for row in rows])
    ax.grid(axis="x")
    ax.set_xlabel(f"privacy loss ε at δ = {table.delta:g} (nats)")
    _title(ax, table.workload)
    return artists


def comparison_over_k(
    ax: Axes, tables: Sequence[Comparison], keys: Iterable[str] | None = None, relative: bool = False
) -> list[Artist]:
    """Every bound against the number of releases, on logarithmic axes, each curve labelled at its end.

    `keys` chooses the curves from BOUNDS; `relative` divides each by the exact epsilon.
    """
    if len({table.delta for table in tables}) != 1 or len({table.k for table in tables}) < 2:
        fix = "make them with compare_over_k(mechanism, ks, delta)."
        reject("tables", [table.k for table in tables], "comparisons at one delta and two or more k", fix)
    present = {row.key for table in tables for row in table.rows}
    artists: list[Artist] = []
    ends: list[tuple[float, str, str]] = []
    for turn, key in enumerate(key for key in (CURVES if keys is None else keys) if key in present):
        points = sorted(_points(tables, key, relative))
        if points:
            x, y = zip(*points, strict=True)
            colour, style, marker = CURVES.get(key, (PURPLE, "-.", "h"))
            marks: dict[str, Any] = {
                "marker": marker,
                "markersize": 5,
                "markevery": (turn % 3, max(1, len(x) // 4)),
            }
            above = 3 if key == "exact" else 2
            artists += ax.plot(x, y, style, color=colour, linewidth=1.6, zorder=above, clip_on=False, **marks)
            ends.append((y[-1], _written(BOUNDS[key].name), colour))
    ylabel = "ε as a multiple of the exact one" if relative else "privacy loss ε (nats)"
    ax.set(xscale="log", yscale="log", xlabel="number of releases k", ylabel=ylabel)
    _title(ax, f"{_one(tables)}, δ = {tables[0].delta:g}")
    if relative:
        _plain_ticks(ax.yaxis, *ax.get_ylim())
    ax.grid(alpha=0.25)
    return artists + _end_labels(ax, max(t.k for t in tables), ends)


def _points(tables: Sequence[Comparison], key: str, relative: bool) -> Iterator[tuple[int, float]]:
    for table in tables:
        unit = table.exact[1] if relative and table.exact else 1.0
        yield from (
            (table.k, row.epsilon / unit)
            for row in table.rows
            if row.key == key and 0 < row.epsilon < math.inf and unit > 0
        )


def _one(tables: Sequence[Comparison]) -> str:
    """What is repeated: the workload without its count."""
    return tables[0].workload.partition(" x ")[2] if " + " not in tables[0].workload else "a workload"


def _written(name: str) -> str:
    """The name of a bound as a figure writes it: Greek letters, and powers where they belong."""
    for plain, written in GREEK:
        name = name.replace(plain, written)
    return name


def _title(ax: Axes, text: str) -> None:
    ax.set_title("\n".join(textwrap.wrap(text, 50)), fontsize="medium")


def _log_axis(ax: Axes, values: Sequence[float]) -> None:
    """Plain numbers as ticks, with room for a label at the right."""
    low, high = min(values), max(values)
    span = max(high / low, 1.3)
    ax.set_xscale("log")
    ax.set_xlim(low / span**0.06, high * span**0.22)
    _plain_ticks(ax.xaxis, *ax.get_xlim())


def _plain_ticks(axis: Axis, low: float, high: float) -> None:
    choices = {8: (1, 1.2, 1.5, 2, 3, 5, 7), 40: (1, 2, 3, 5, 7), 300: (1, 3), math.inf: (1,)}
    steps = next(steps for limit, steps in choices.items() if high / low < limit)
    seen = [t for e in range(-8, 9) for m in steps if low <= (t := m * 10.0**e) <= high]
    axis.set_ticks(seen, labels=[f"{t:g}" for t in seen])
    axis.set_ticks([], minor=True)


def _end_labels(ax: Axes, x: float, ends: list[tuple[float, str, str]]) -> list[Artist]:
    """Names at the ends of the curves, pushed apart where they would overlap."""
    ends = sorted(ends)
    ax.set_xlim(right=x)
    low, high = (math.log(v) for v in ax.get_ylim())
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    wanted = [(math.log(y) - low) / (high - low) for y, _, _ in ends]
    leader = {"arrowstyle": "-", "linewidth": 0.6, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 4}
    return [
        ax.annotate(
            name,
            (x, y),
            xytext=(1.06, place),
            textcoords="axes fraction",
            va="center",
            color=colour,
            annotation_clip=False,
            arrowprops=leader | {"color": colour},
        )
        for (y, name, colour), place in zip(ends, _apart(wanted, 12.5 / height), strict=True)
    ]


def _apart(wanted: Sequence[float], gap: float) -> list[float]:
    """Rising places at least `gap` apart, as near to the wanted ones as least squares can."""
    shifted = np.array(wanted) - gap * np.arange(len(wanted))
    blocks: list[list[float]] = []  # pool adjacent violators: the blocks' means must rise
    for value in shifted:
        blocks.append([float(value)])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    level = [float(np.mean(block)) for block in blocks for _ in block]
    return [place + gap * i for i, place in enumerate(level)]
