"""Lean axes: the usual methods without units, colour cycles and automatic limits, which take their time.

A picture that moves has limits of its own, so that nothing jumps. What these methods do not know goes to
matplotlib's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle
from matplotlib.text import Text

from dpcourse.plots.words import Words

STYLES = ("--", "-.", "-", ":")


def parsed(mark: str) -> dict[str, str]:
    """The line style and the marker of a short format.

    >>> parsed("--o"), parsed(":"), parsed("D")
    ({'linestyle': '--', 'marker': 'o'}, {'linestyle': ':'}, {'linestyle': 'none', 'marker': 'D'})
    """
    style = next((style for style in STYLES if mark.startswith(style)), "")
    marker = mark.removeprefix(style)
    return {"linestyle": style or "none"} | ({"marker": marker} if marker else {})


class Lean(Axes):
    """Axes on which a line costs a tenth of a millisecond."""

    def put(self, artist: Any) -> Any:
        """Add an artist, clipped to the axes."""
        artist.axes = self
        self._children.append(artist)  # type: ignore[attr-defined]
        self._set_artist_props(artist)  # type: ignore[attr-defined]
        artist._remove_method = self._children.remove  # type: ignore[attr-defined]
        if artist.get_clip_box() is None:
            artist.set_clip_box(self.bbox)
        self.stale = True
        return artist

    def add_artist(self, a: Artist) -> Artist:
        """Any artist."""
        found: Artist = self.put(a)
        return found

    def plot(self, *args: Any, **look: Any) -> list[Line2D]:
        """A line or marks through points: x, y and perhaps a short format."""
        mark = parsed(args[-1]) if isinstance(args[-1], str) else {}
        points = args[:-1] if mark else args
        if look.pop("data", None) is not None or len(points) != 2 or "color" not in look:
            return super().plot(*args, **look)
        x, y = (np.asarray(side, dtype=float) for side in points)
        return [self.put(Line2D(x, y, **(mark | look)))]

    def fill_between(self, x: Any, y1: Any, y2: Any = 0, **look: Any) -> Any:  # type: ignore[override]
        """The ground between two curves."""
        if not np.size(x):  # for a legend
            return self.put(Polygon(np.empty((0, 2)), **look))
        low, high = (np.broadcast_to(np.asarray(y, dtype=float), np.shape(x)) for y in (y1, y2))
        if {"where", "step"} & set(look) or not np.isfinite(low + high).all():
            return super().fill_between(x, y1, y2, **look)
        x = np.asarray(x, dtype=float)
        way = np.column_stack([np.r_[x, x[::-1]], np.r_[low, high[::-1]]])
        return self.put(Polygon(way, **look))

    def axhline(self, y: float = 0, xmin: float = 0, xmax: float = 1, **look: Any) -> Line2D:
        """A level line."""
        across = self.get_yaxis_transform(which="grid")
        line: Line2D = self.put(Line2D([xmin, xmax], [y, y], transform=across, **look))
        return line

    def axvline(self, x: float = 0, ymin: float = 0, ymax: float = 1, **look: Any) -> Line2D:
        """An upright line."""
        along = self.get_xaxis_transform(which="grid")
        line: Line2D = self.put(Line2D([x, x], [ymin, ymax], transform=along, **look))
        return line

    def axhspan(self, ymin: float, ymax: float, xmin: float = 0, xmax: float = 1, **look: Any) -> Rectangle:
        """A level band."""
        across = self.get_yaxis_transform(which="grid")
        band: Rectangle = self.put(
            Rectangle((xmin, ymin), xmax - xmin, ymax - ymin, transform=across, **look)
        )
        return band

    def axvspan(self, xmin: float, xmax: float, ymin: float = 0, ymax: float = 1, **look: Any) -> Rectangle:
        """An upright band."""
        along = self.get_xaxis_transform(which="grid")
        band: Rectangle = self.put(Rectangle((xmin, ymin), xmax - xmin, ymax - ymin, transform=along, **look))
        return band

    def text(self, x: float, y: float, s: str, fontdict: Any = None, **look: Any) -> Text:
        """Words, kept as pixels where they are plain."""
        if fontdict or {"bbox", "rotation"} & set(look):
            return super().text(x, y, s, fontdict, **look)
        placed: dict[str, Any] = {"transform": self.transData, "clip_on": False}
        words = Words(x, y, s, **(placed | look))
        self.put(words)
        return words
