"""Panels in fixed places: the margins never move, and the same values always give the same pixels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dpcourse.plots.panel import Panel
from dpcourse.plots.style import FIXED

MOST_SPARE = 40
_spare: dict[Any, list[Board]] = {}
"""Boards that wait to be used again, by their layout."""


class Board(Figure):
    """A figure that knows its panels, so that they can be used again."""

    layout: Any = None
    panels: list[Panel]


@contextmanager
def panels(
    width: float = 10.0,
    height: float = 3.9,
    columns: Sequence[float] = (1,),
    rows: Sequence[float] = (1,),
    left: float = 0.8,
    right: float = 0.25,
    top: float = 0.42,
    bottom: float = 0.62,
    across: float = 0.95,
    down: float = 0.85,
) -> Iterator[tuple[Figure, list[Panel]]]:
    """A figure with panels in fixed places, row by row: `with panels(columns=(2, 1)) as (fig, (a, b))`.

    Sizes are in inches, a hundred pixels each; `columns` and `rows` say how the panels share the room.
    """
    layout = (width, height, *columns, "by", *rows, left, right, top, bottom, across, down)
    with mpl.rc_context(FIXED):
        if _spare.get(layout):
            board = _spare[layout].pop()
        else:
            board = _made(width, height, columns, rows, (left, right, top, bottom), (across, down))
        board.layout = layout
        yield board, list(board.panels)


def _made(
    width: float,
    height: float,
    columns: Sequence[float],
    rows: Sequence[float],
    margins: tuple[float, ...],
    gaps: tuple[float, float],
) -> Board:
    fig = Board(figsize=(width, height), dpi=100)
    FigureCanvasAgg(fig)
    (left, right, top, bottom), (across, down) = margins, gaps
    wide = width - left - right - across * (len(columns) - 1)
    tall = height - top - bottom - down * (len(rows) - 1)
    made, y = [], height - top
    for row in rows:
        x, high = left, tall * row / sum(rows)
        for column in columns:
            broad = wide * column / sum(columns)
            made.append(Panel(fig, (x / width, (y - high) / height, broad / width, high / height)))
            fig.add_axes(made[-1])
            x += broad + across
        y -= high + down
    fig.panels = made
    return fig


def recycle(fig: Figure) -> None:
    """Give back a figure that nobody needs any more: panels take long to make, and these will do again.

    They are wiped now, while what was on them is young: garbage that has grown old is seldom collected.
    """
    if not isinstance(fig, Board) or sum(map(len, _spare.values())) >= MOST_SPARE:
        return
    for axes in set(fig.axes) - set(fig.panels):
        fig.delaxes(axes)
    for artists in (fig.artists, fig.lines, fig.patches, fig.texts, fig.images, fig.legends):
        artists.clear()
    with mpl.rc_context(FIXED):
        for panel in fig.panels:
            panel.wipe()
    _spare.setdefault(fig.layout, []).append(fig)
