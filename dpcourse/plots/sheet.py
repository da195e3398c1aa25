"""Sheet: a figure without axes, drawn on in points, for trees, gauges and other pictures without a scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection, LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.transforms import Affine2D
from numpy.typing import ArrayLike

from dpcourse.plots.describe import TITLE
from dpcourse.plots.style import FIXED, INK
from dpcourse.plots.words import Words


class Sheet:
    """A region of a figure, `left`, `low`, `wide` and `tall` in points (1/72 inch), with its own origin.

    Each method adds one artist and returns it.
    """

    def __init__(self, fig: Figure, left: float, low: float, wide: float, tall: float) -> None:
        self.figure, self.wide, self.tall = fig, wide, tall
        self._place = Affine2D().translate(left, low).scale(1 / 72) + fig.dpi_scale_trans

    def add(self, artist: Any) -> Any:
        """An artist in points."""
        artist.set_transform(self._place)
        return self.figure.add_artist(artist)

    def text(
        self, x: float, y: float, words: str, ha: str = "left", va: str = "center", **look: Any
    ) -> Artist:
        """Words at a point."""
        found: Artist = self.add(Words(x, y, words, ha=ha, va=va, **({"color": INK} | look)))
        return found

    def title(self, words: str, x: float = 0.0, above: float = 7.0) -> Artist:
        """What to see here, above the sheet."""
        look: Any = {"fontsize": 11.5, "weight": "bold", "gid": TITLE}
        return self.text(x, self.tall + above, words, "left", "bottom", **look)

    def line(self, x: ArrayLike, y: ArrayLike, **look: Any) -> Artist:
        """A line through points, or marks at them."""
        found: Artist = self.add(Line2D(np.asarray(x), np.asarray(y), **({"color": INK} | look)))
        return found

    def box(self, x: float, y: float, wide: float, tall: float, **look: Any) -> Artist:
        """A rectangle from its lower left corner."""
        found: Artist = self.add(Rectangle((x, y), wide, tall, **({"linewidth": 0} | look)))
        return found

    def lines(self, ways: Sequence[Any], **look: Any) -> Collection:
        """Many lines at once."""
        found: Collection = self.add(LineCollection(ways, **look))
        return found

    def shapes(self, patches: Sequence[Patch], **look: Any) -> Collection:
        """Many shapes at once."""
        found: Collection = self.add(PatchCollection(patches, **look))
        return found


def sheet(width: float, height: float) -> tuple[Figure, Sheet]:
    """A figure of that size in inches, and the sheet that covers it."""
    with mpl.rc_context(FIXED):
        fig = Figure(figsize=(width, height), dpi=100)
        FigureCanvasAgg(fig)
    return fig, Sheet(fig, 0, 0, 72 * width, 72 * height)
