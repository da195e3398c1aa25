"""The style of every picture, and how a notebook shows one.

Colours are Okabe and Ito's that reach a contrast of 3:1 on white and on black alike, never without a
line style or a marker; ink is a middle grey and the background transparent, so that a figure reads in
light and dark themes.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpcourse.errors import reject

if TYPE_CHECKING:
    from IPython.display import HTML

INK = "#767676"
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
STYLE: dict[Any, Any] = {
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "axes.titlecolor": INK,
    "xtick.color": INK, "ytick.color": INK, "grid.color": INK, "grid.alpha": 0.25,
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left",
    "font.size": 10, "svg.hashsalt": "dpcourse",
}  # fmt: skip
FIXED = STYLE | {
    "axes.titley": 1.0, "axes.titlesize": 11.5, "axes.titleweight": "bold", "axes.titlepad": 8,
    "hatch.color": "white", "hatch.linewidth": 0.8,
    "font.family": "DejaVu Sans",  # the default of defaults, and matplotlib need not try a dozen others
    "text.hinting": "no_hinting",  # half the time for words, and no worse at this size
}  # fmt: skip
"""The style of pictures that move: titles stay where they are."""


@contextmanager
def figure(width: float = 7.0, height: float = 4.0, **options: Any) -> Iterator[tuple[Figure, Any]]:
    """A figure in the style of the course: `with figure() as (fig, ax): ...`; closed at the end."""
    with mpl.rc_context(STYLE):
        fig, axes = plt.subplots(figsize=(width, height), layout="constrained", **options)
        try:
            yield fig, axes
        finally:
            plt.close(fig)


def show(fig: Figure, alt: str, dpi: int = 144) -> HTML:
    """The figure as an HTML image with alt text, which JupyterLab keeps only in this form."""
    from IPython.display import HTML

    if not alt.strip():
        fix = "describe what the figure shows in a sentence, for those who cannot see it."
        reject("alt", alt, "a text", fix)
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        fig.savefig(buffer, format="png", dpi=dpi, transparent=True, metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    width = round(fig.get_figwidth() * 100)
    text = html.escape(alt, quote=True)
    image = f'<img alt="{text}" width="{width}" src="data:image/png;base64,{data}">'
    return HTML(image)  # type: ignore[no-untyped-call]


def label(ax: Axes, x: float, y: float, text: str, colour: str = INK, dx: float = 9, dy: float = 0) -> Artist:
    """Words next to a point, so many points (1/72 inch) to the right and up."""
    return ax.annotate(
        text,
        (x, y),
        xytext=(dx, dy),
        textcoords="offset points",
        va="center",
        color=colour,
        annotation_clip=False,
    )
