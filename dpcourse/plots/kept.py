"""Kept pixels: a part of a picture that did not change is put down again, not drawn again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg

MOST_KEPT = 32_000_000
"""Bytes: the frames of a dozen panels on a sharp screen."""


class Kept:
    """The latest pieces of frames, as pixels with their place, by all that they depend on."""

    def __init__(self) -> None:
        self.pieces: OrderedDict[Any, tuple[int, int, Any]] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(pixels.nbytes for _, _, pixels in self.pieces.values())

    def piece(self, key: Any, draw: Callable[[RendererAgg], None], like: RendererAgg) -> tuple[int, int, Any]:
        """The left and the lower edge in pixels, and the pixels."""
        if key in self.pieces:
            self.pieces.move_to_end(key)
            return self.pieces[key]
        alone = _alone(int(like.width), int(like.height), like.dpi)
        alone.clear()
        draw(alone)
        pixels = np.asarray(alone.buffer_rgba())
        inked = pixels.view(np.uint32)[..., 0].astype(bool)
        rows, columns = (np.flatnonzero(inked.any(axis=axis)) for axis in (1, 0))
        if not len(rows):
            rows = columns = np.array([0])
        cut = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1][::-1].copy()
        made = self.pieces[key] = int(columns[0]), int(like.height) - int(rows[-1]) - 1, cut
        while self.size > MOST_KEPT:
            self.pieces.popitem(last=False)
        return made


@lru_cache(maxsize=4)
def _alone(width: int, height: int, dpi: float) -> Any:
    """A place to draw a piece alone."""
    return RendererAgg(width, height, dpi)  # type: ignore[no-untyped-call]


KEPT = Kept()


def look_of(artist: Any) -> Any:
    """All that the pixels of a line or a patch depend on, its place aside."""
    marks = [artist.get_marker(), artist.get_markerfacecolor()] if hasattr(artist, "get_marker") else []
    fill = [artist.get_facecolor(), artist.get_hatch()] if hasattr(artist, "get_facecolor") else []
    ink = artist.get_edgecolor() if hasattr(artist, "get_edgecolor") else artist.get_color()
    return ink, artist.get_linestyle(), artist.get_linewidth(), marks, fill
