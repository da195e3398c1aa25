"""Small pictures as SVG, drawn by hand: a title and words in each, for whoever cannot see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dpcourse.grading.pages.markup import Html, joined, tag
from dpcourse.grading.tables import number

VERDICT: Final = {
    "right": ("right", "✓", "right"),
    "wrong": ("wrong", "✗", "not right"),
    "error": ("error", "!", "stopped with an error"),
    "not answered": ("blank", "○", "not answered"),
    "needs a human": ("human", "?", "a person will look"),
}
"""For each verdict its colour, its mark and its words."""


def _svg(title: str, *drawn: str, box: tuple[float, float], **attributes: str) -> Html:
    size = f"0 0 {number(box[0])} {number(box[1])}"
    labelled = {"role": "img", "aria_label": title, "viewBox": size}
    return tag("svg", tag("title", title), *drawn, **labelled, **attributes)


def _rect(x: float, y: float, width: float, height: float, kind: str, **attributes: float) -> Html:
    places = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
    return tag("rect", class_=f"fill-{kind}", **places, **attributes)


def meter(share: float, title: str) -> Html:
    """How much of the way is done."""
    drawn = _rect(0, 0, 100, 10, "panel"), _rect(0, 0, 100 * share, 10, "right")
    return _svg(title, *drawn, box=(100, 10), class_="meter", preserveAspectRatio="none")


def shares(counts: Mapping[str, int], title: str) -> Html:
    """One bar, cut by verdict; the row that it stands in says the numbers."""
    total, x, drawn = sum(counts.values()), 0.0, []
    for verdict, (kind, _, _) in VERDICT.items():
        width = 100 * counts.get(verdict, 0) / max(total, 1)
        gap = 0.6 if x and width else 0.0
        drawn += [_rect(x + gap, 0, max(width - gap, 0), 10, kind)] if width else []
        x += width
    return _svg(title, *drawn, box=(100, 10), class_="bar", preserveAspectRatio="none")


def legend(verdicts: Sequence[str]) -> Html:
    """What the colours mean."""
    swatch = {
        verdict: tag("svg", _rect(0, 0, 10, 10, kind), viewBox="0 0 10 10", aria_hidden="true")
        for verdict, (kind, _, _) in VERDICT.items()
    }
    items = [
        tag("li", swatch[v], f"{mark} {words}") for v, (_, mark, words) in VERDICT.items() if v in verdicts
    ]
    return tag("ul", *items, class_="legend")


def chip(verdict: str) -> Html:
    """A verdict in a word, with a mark, so that colour is never alone."""
    kind, mark, words = VERDICT.get(verdict, ("human", "?", verdict))
    return tag("span", f"{mark} {words}", class_=f"chip {kind}")


def histogram(bins: Sequence[tuple[str, int]], median: float | None, title: str, words: str) -> Html:
    """How many had how much; `median` is a place on the axis, counted in bins."""
    width, height, left, top = 440.0, 190.0, 4.0, 20.0
    base, step = height - 24, (width - 2 * left) / max(len(bins), 1)
    most = max((count for _, count in bins), default=0) or 1
    every = 1 + (len(bins) - 1) // 12
    drawn = [tag("desc", words), tag("line", x1=left, x2=width - left, y1=base, y2=base, class_="axis")]
    if median is not None:
        at = number(left + median * step)
        drawn.append(tag("line", x1=at, x2=at, y1=2, y2=base, class_="median"))
    for place, (label, count) in enumerate(bins):
        x, tall = left + place * step, (base - top) * count / most
        middle = {"x": number(x + step / 2), "text_anchor": "middle"}
        if count:
            drawn.append(_rect(x + 1.5, base - tall, step - 3, tall, "human", rx=2))
            drawn.append(tag("text", str(count), y=number(base - tall - 5), class_="value", **middle))
        if place % every == 0:
            drawn.append(tag("text", label, y=height - 6, **middle))
    return tag("figure", _svg(title, joined(*drawn), box=(width, height)), class_="chart")
