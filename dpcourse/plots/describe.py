"""What a figure shows, in words for those who cannot see it: its titles, axes and legends."""

from __future__ import annotations

import re

from matplotlib.axes import Axes
from matplotlib.figure import Figure

TITLE = "title"
"""The mark of words that are the title of a sheet."""

SIGNS = {"\\ln": "ln ", "\\,": " ", "\\geq": "≥", "\\leq": "≤", "\\": ""}


def plain(text: str) -> str:
    """Words without the marks of mathematical typesetting.

    >>> plain("$e^{iε}p_0+iδ$, no ceiling"), plain("$D_α+\\\\ln(1/δ)/(α−1)$")
    ('e^iεp_0+iδ, no ceiling', 'D_α+ln (1/δ)/(α−1)')
    """
    for sign, said in SIGNS.items():
        text = text.replace(sign, said)
    return re.sub(r"[${}]", "", text).strip()


def described(fig: Figure) -> str:
    """The titles of all parts, with what their axes and legends say; empty if nothing has a title."""
    titles = [artist.get_text() for artist in fig.get_children() if artist.get_gid() == TITLE]  # type: ignore[attr-defined]
    parts = [plain(title) for title in titles]
    parts += [part for axes in fig.axes if (part := _panel(axes))]
    return " ".join(f"{part[0].upper() if part[0].isascii() else part[0]}{part[1:]}." for part in parts)


def _panel(axes: Axes) -> str:
    title = " ".join(filter(None, (axes.get_title(place) for place in ("left", "center", "right"))))
    if not title:
        return ""
    said = [plain(title)]
    for way, name in (("across", axes.get_xlabel()), ("upwards", axes.get_ylabel())):
        said += [f"{way}: {plain(name)}"] * bool(name)
    legend = axes.get_legend()
    if legend is not None:
        said.append("shown: " + ", ".join(plain(text.get_text()) for text in legend.get_texts()))
    return "; ".join(said)
