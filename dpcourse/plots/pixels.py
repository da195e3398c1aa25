"""A figure as a PNG file, quickly: for pictures that are drawn while somebody drags a slider."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dpcourse.plots.style import FIXED

UP = 2
"""PNG's name for the filter that stores a row as its difference from the row above."""


def png(fig: Figure, scale: float = 1.0, compress: int = 1) -> bytes:
    """The picture as a PNG file on a transparent ground, `scale` pixels for each pixel of the page."""
    with mpl.rc_context(FIXED):
        # The old canvas is drawn over: new pixels for every picture would leave memory in pieces.
        canvas: Any = fig.canvas if type(fig.canvas) is FigureCanvasAgg else FigureCanvasAgg(fig)
        before = fig.dpi
        fig.set_dpi(100 * scale)
        try:
            canvas.draw()
            pixels = np.asarray(canvas.buffer_rgba())
        finally:
            fig.set_dpi(before)
    return _file(pixels, compress)


def _file(pixels: Any, compress: int) -> bytes:
    """A PNG file (W3C, 2003) of RGBA pixels: each row as its difference from the one above, then deflated.

    One filter for all rows is twice as quick as choosing the best for each, and no larger for a figure.
    """
    height, width = pixels.shape[:2]
    rows = pixels.reshape(height, 4 * width)
    lines = np.empty((height, 1 + 4 * width), dtype=np.uint8)
    lines[:, 0] = UP
    lines[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=lines[1:, 1:])
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.data, compress)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
