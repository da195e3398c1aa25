"""Panel: axes for pictures that move. What stays is kept as pixels; only what changes is drawn again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import AutoLocator, NullLocator, ScalarFormatter
from matplotlib.transforms import Bbox, ScaledTranslation

from dpcourse.plots.kept import KEPT, look_of
from dpcourse.plots.lean import Lean
from dpcourse.plots.quiet import QuietX, QuietY, fix_ticks, plain_powers
from dpcourse.plots.style import INK
from dpcourse.plots.words import Words

TICK, GAP = 3.5 / 72, 7.0 / 72
"""The length of a tick, and how far from the axis its label stands, in inches."""


class Panel(Lean):
    """Axes that keep their frame: each axis with its ticks, grid and label, and the title with the legend.

    The frame goes below everything else. A piece is drawn again when a limit, a tick, a word or a size
    changes. Ticks are major ones with upright labels; powers of ten are written with Unicode's digits.
    """

    name = "panel"

    def _init_axis(self) -> None:
        self.xaxis, self.yaxis = QuietX(self, clear=False), QuietY(self, clear=False)
        for side, spine in self.spines.items():
            spine.register_axis(self.xaxis if side in {"bottom", "top"} else self.yaxis)

    def clear(self) -> None:
        """Empty, with labels at a fixed distance and no small ticks."""
        self._still: list[Text] = []
        self._gridded: set[str] = set()
        super().clear()
        self._gridded.clear()
        figure = self.get_figure(root=True)
        assert figure is not None
        inches = figure.dpi_scale_trans
        self.xaxis.set_label_coords(0.5, 0, self.transAxes + ScaledTranslation(0, -0.4, inches))
        self.yaxis.set_label_coords(0, 0.5, self.transAxes + ScaledTranslation(-0.56, 0, inches))
        for axis in (self.xaxis, self.yaxis):
            axis.set_minor_locator(NullLocator())

    def wipe(self) -> None:
        """As if it were new, in a tenth of the time of `clear`: only what a picture may have changed."""
        self._children: list[Any]
        for held in (self._children, self.containers):
            held.clear()  # the list itself is old: what it holds would be taken for alive
        self.set_prop_cycle(None)
        self._still, self._gridded, self.legend_, self.axison = [], set(), None, True
        self.dataLim.set(Bbox.null())
        self.ignore_existing_data_limits = True
        for words in (*self._titles, self.xaxis.label, self.yaxis.label):
            words.set_text("")
        if self.get_aspect() != "auto":
            self.set_aspect("auto")
        for side in ("left", "bottom"):
            self.spines[side].set_visible(True)
        axes: list[Any] = [self.xaxis, self.yaxis]
        for axis in axes:
            if axis.get_scale() != "linear":
                axis._set_axes_scale("linear")
            axis.set_major_locator(AutoLocator())
            axis.set_major_formatter(ScalarFormatter())
            axis.set_minor_locator(NullLocator())
            axis._reset_major_tick_kw()
        self.set_xlim(0, 1, auto=True)
        self.set_ylim(0, 1, auto=True)

    def still(self, x: float, y: float, words: str, **look: Any) -> Text:
        """Words in parts of the panel that seldom change: kept with the title and the legend."""
        text = self.text(x, y, words, transform=self.transAxes, **look)
        self._still.append(text)
        return text

    def grid(
        self, visible: bool | None = True, which: str = "major", axis: str = "both", **look: Any
    ) -> None:
        """Grid lines at the ticks of "x", "y" or "both"; noted here, because ticks are costly to make."""
        names = {"x", "y"} if axis == "both" else {axis}
        self._gridded = self._gridded - names if visible is False else self._gridded | names

    def set_xscale(self, value: Any, **options: Any) -> None:
        """As always, without small ticks."""
        super().set_xscale(value, **options)
        plain_powers(self.xaxis)

    def set_yscale(self, value: Any, **options: Any) -> None:
        """As always, without small ticks."""
        super().set_yscale(value, **options)
        plain_powers(self.yaxis)

    def set_xticks(self, ticks: Any, labels: Any = None, **options: Any) -> None:  # type: ignore[override]
        """Ticks at these places, made only when they are drawn; the limits stay."""
        fix_ticks(self.xaxis, ticks, labels)

    def set_yticks(self, ticks: Any, labels: Any = None, **options: Any) -> None:  # type: ignore[override]
        """Ticks at these places, made only when they are drawn; the limits stay."""
        fix_ticks(self.yaxis, ticks, labels)

    def draw(self, renderer: RendererBase) -> None:
        """The kept frame, then the rest from back to front."""
        if not isinstance(renderer, RendererAgg):  # for a file in another format
            super().draw(renderer)
            return
        self.apply_aspect()
        size = (renderer.width, renderer.height, renderer.dpi, self.bbox.bounds)
        pieces: list[tuple[Any, Callable[[RendererAgg], None]]] = []
        if self.axison:
            pieces += [self._axis(axis) for axis in (self.xaxis, self.yaxis) if axis.get_visible()]
        pieces.append(self._words())
        for key, draw in pieces:
            left, lower, pixels = KEPT.piece(repr((size, key)), draw, renderer)
            brush = renderer.new_gc()
            renderer.draw_image(brush, left, lower, pixels)
            brush.restore()
        frame = [self.xaxis, self.yaxis, *self.spines.values(), self.patch, self.get_legend()]
        framed = {id(artist) for artist in (*frame, *self._titles, *self._still)}
        rest = [child for child in self.get_children() if id(child) not in framed]
        for artist in sorted(rest, key=lambda one: one.get_zorder()):
            artist.draw(renderer)
        self.stale = False

    @property
    def _titles(self) -> list[Text]:
        return [self.title, self._left_title, self._right_title]  # type: ignore[attr-defined]

    def _axis(self, axis: Axis) -> tuple[Any, Callable[[RendererAgg], None]]:
        """One axis: what it depends on, and how to draw it."""
        places = [float(x) for x in axis.get_majorticklocs()]
        low, high = sorted(axis.get_view_interval())
        room = 1e-9 * (high - low)
        seen = [low - room <= place <= high + room for place in places]
        words = [
            w if here else ""
            for w, here in zip(axis.get_major_formatter().format_ticks(places), seen, strict=True)
        ]
        look = axis.get_tick_params() | {"gridOn": ("x" if axis is self.xaxis else "y") in self._gridded}
        side = self.spines["bottom" if axis is self.xaxis else "left"].get_visible()
        key = (
            axis is self.xaxis, low, high, axis.get_inverted(), axis.get_scale(), places, words, look, side,
        )  # fmt: skip
        shown = [(place, word) for place, word, here in zip(places, words, seen, strict=True) if here]
        return key, lambda renderer: self._draw_axis(axis, shown, look, side, renderer)

    def _draw_axis(
        self, axis: Axis, ticks: list[tuple[float, str]], look: dict[str, Any], side: bool, to: RendererAgg
    ) -> None:
        across = axis is self.xaxis
        figure = self.get_figure(root=True)
        assert figure is not None

        def place(along: float, beside: float, inches: float) -> tuple[float, float]:
            """Pixels of a point: along the axis in data, beside it in parts of the panel and inches."""
            data = self.transData.transform((along, 0.5) if across else (0.5, along))
            panel = self.transAxes.transform((0, beside) if across else (beside, 0))
            away = -inches * figure.dpi
            return (data[0], panel[1] + away) if across else (panel[0] + away, data[1])

        lines: list[tuple[Any, float, float]] = []
        if look.get("gridOn"):
            lines += [([place(t, 0, 0), place(t, 1, 0)], 0.25, 0.8) for t, _ in ticks]
        if look.get("length", 1) and side:
            lines += [([place(t, 0, 0), place(t, 0, TICK)], 1, 0.8) for t, _ in ticks]
        if side:
            ends = [(0, 0), (1, 0)] if across else [(0, 0), (0, 1)]
            lines.append((self.transAxes.transform(ends), 1, 0.9))
        if lines:
            ways, alphas, widths = zip(*lines, strict=True)
            mpl_lines = LineCollection(
                ways, colors=[(*mpl.colors.to_rgb(INK), a) for a in alphas], linewidths=widths
            )
            _draw(mpl_lines, figure, to)
        if look.get("labelbottom" if across else "labelleft", True):
            align = {"ha": "center", "va": "top"} if across else {"ha": "right", "va": "center"}
            style = {"color": look.get("labelcolor", INK), "fontsize": look.get("labelsize", 10)} | align
            for t, word in ticks:
                if word:
                    _draw(Words(*place(t, 0, GAP), word, **style), figure, to)

    def _words(self) -> tuple[Any, Callable[[RendererAgg], None]]:
        """The title, the labels, the legend, and other words that seldom change, though the axes may."""
        legend = self.get_legend()
        axes = [axis for axis in (self.xaxis, self.yaxis) if self.axison and axis.get_visible()]
        said = [*self._titles, *(axis.label for axis in axes), *self._still]
        key: list[Any] = [_look_of_words(text) for text in said]
        if legend is not None:
            handles = [*legend.get_lines(), *legend.get_patches()]
            key += [[look_of(handle) for handle in handles], repr(legend._loc)]  # type: ignore[attr-defined]
            key += [(t.get_text(), t.get_fontsize(), t.get_color()) for t in legend.get_texts()]

        def draw(renderer: RendererAgg) -> None:
            for artist in [*said, *filter(None, [legend])]:
                artist.draw(renderer)

        return key, draw


def _look_of_words(text: Text) -> Any:
    place = text.get_position(), text.get_horizontalalignment(), text.get_verticalalignment()
    return text.get_text(), text.get_fontsize(), text.get_fontweight(), text.get_color(), place


def _draw(artist: Any, figure: Figure, renderer: RendererAgg) -> None:
    artist.set_figure(figure)
    artist.draw(renderer)
