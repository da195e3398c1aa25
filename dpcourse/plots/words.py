"""Words that are drawn once and kept as pixels, because letters take most of the time of a picture."""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from typing import Any

import numpy as np
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.text import Text

MOST_WORDS = 2000
EDGE = 2
"""Pixels around the letters, into which they may lean."""

_drawn: OrderedDict[Any, Any] = OrderedDict()
"""The pixels of words with their place, by all that they depend on."""


def kept(key: Any, draw: Any) -> Any:
    """What was drawn under this key, or is drawn now."""
    if key not in _drawn:
        _drawn[key] = draw()
        if len(_drawn) > MOST_WORDS:
            _drawn.popitem(last=False)
    return _drawn[key]


@cache
def parser() -> Any:
    """One for all formulas, because it keeps those that it has parsed, which takes long."""
    return RendererAgg(1, 1, 100).mathtext_parser  # type: ignore[no-untyped-call]


class Words(Text):
    """Upright text whose pixels stand on the grid of the picture, so that they serve everywhere."""

    def draw(self, renderer: RendererBase) -> None:
        """The kept pixels at the place."""
        if not isinstance(renderer, RendererAgg):  # for a file in another format
            super().draw(renderer)
            return
        if not self.get_visible() or not self.get_text():
            return
        key = (self.get_text(), self._look(renderer), self._alignment)
        x, y = self.get_transform().transform(self.get_position())
        right, up, pixels = kept(key, lambda: self._pixels(renderer, x, y))
        brush = renderer.new_gc()
        renderer.draw_image(brush, round(x + right), round(y + up), pixels)
        brush.restore()

    def _look(self, renderer: RendererAgg) -> Any:
        font = self.get_fontsize(), self.get_fontweight(), self.get_fontstyle()
        return self.get_color(), self.get_alpha(), font, renderer.dpi

    @property
    def _alignment(self) -> tuple[str, str]:
        return self.get_horizontalalignment(), self.get_verticalalignment()

    def _pixels(self, renderer: RendererAgg, x: float, y: float) -> tuple[float, float, Any]:
        """How far right and up they begin, and the pixels from below."""
        text = self.get_text()
        if "$" in text or "\n" in text:
            return self._laid_out(renderer, x, y)
        wide, tall, below, pixels = self._line(text, renderer)
        across, up = self._alignment
        right = {"left": 0.0, "center": -wide / 2, "right": -wide}[across]
        lift = {"bottom": 0.0, "center": -tall / 2, "top": -tall, "baseline": -below}[up]
        return right - EDGE, lift - EDGE, pixels

    def _line(self, text: str, renderer: RendererAgg) -> tuple[float, float, float, Any]:
        """Width, height, what is below the line, and the pixels: of one line, as high as any of its size."""
        font, look = self.get_fontproperties(), self._look(renderer)
        measure: Any = renderer.get_text_width_height_descent
        (wide, *line), (_, *usual) = (
            measure(text, font, False),
            kept(look, lambda: measure("lp", font, False)),
        )
        tall, below = map(max, zip(line, usual, strict=True))
        alone: Any = RendererAgg(int(wide) + 2 * EDGE + 1, int(tall) + 2 * EDGE + 1, renderer.dpi)  # type: ignore[no-untyped-call]
        brush = alone.new_gc()
        brush.set_foreground(self.get_color())
        brush.set_alpha(self.get_alpha())
        alone.draw_text(brush, EDGE, int(tall) + EDGE + 1 - below, text, font, 0)
        return wide, tall, below, np.asarray(alone.buffer_rgba())[::-1].copy()

    def _laid_out(self, renderer: RendererAgg, x: float, y: float) -> tuple[float, float, Any]:
        """Mathematics and several lines: as matplotlib lays them out."""
        parsing: Any = renderer
        parsing.mathtext_parser = parser()
        box = self.get_window_extent(renderer)
        right, up = box.x0 - x - EDGE, box.y0 - y - EDGE
        size = int(box.width) + 2 * EDGE + 1, int(box.height) + 2 * EDGE + 1
        alone: Any = RendererAgg(*size, renderer.dpi)  # type: ignore[no-untyped-call]
        ha, va = self._alignment
        look: Any = {"ha": ha, "va": va, "color": self.get_color(), "alpha": self.get_alpha()}
        alone.mathtext_parser = parser()
        twin: Any = Text(-right, -up, self.get_text(), **look)
        twin.set_fontproperties(self.get_fontproperties())
        twin.set_figure(self.get_figure())
        twin.draw(alone)
        return right, up, np.asarray(alone.buffer_rgba())[::-1].copy()
