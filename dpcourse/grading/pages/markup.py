"""HTML in which everything is escaped that was not made here, and pages that ask nobody for anything."""

from __future__ import annotations

import html
import re
from functools import cache
from importlib.resources import files
from typing import Final

from dpcourse.grading.files import plain

LONGEST: Final = 2000
"""Characters of somebody else's text on a page."""
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""No script, no picture, no font, no request, whatever the text of a page may hold."""


class Html(str):
    """Markup that was made here; every other text is escaped when it goes into a page."""

    __slots__ = ()


def shown(text: str) -> Html:
    """Somebody's text as text: nothing in it is markup, invisible or endless."""
    if isinstance(text, Html):
        return text
    visible = plain(text[:LONGEST], keep="\n\t")
    more = f" … ({len(text) - LONGEST} more characters)" if len(text) > LONGEST else ""
    return Html(html.escape(visible + more))


def tag(name: str, /, *content: str, **attributes: str | float) -> Html:
    """An element; content is escaped unless it is markup, attributes always.

    >>> tag("b", "1 < 2", tag("br"), class_="a'b")
    '<b class="a&#x27;b">1 &lt; 2<br></b>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(plain(str(value)))}"'
        for key, value in attributes.items()
        if value != ""
    )
    inside = "".join(map(shown, content))
    return Html(f"<{name}{written}>" if name in VOID else f"<{name}{written}>{inside}</{name}>")


VOID: Final = {"br", "meta"}


def joined(*parts: str) -> Html:
    """Several pieces in a row."""
    return Html("".join(map(shown, parts)))


def words(text: str) -> Html:
    """An author's sentence: `code` and $mathematics$ set apart, everything else as it is.

    >>> words("$p_0$ < `p`")
    '<i>p_0</i> &lt; <code>p</code>'
    """
    pieces = re.split(r"(`[^`\n]+`|\$[^$\n]+\$)", text)
    kinds = {"`": "code", "$": "i"}
    return joined(
        *(tag(kinds[piece[0]], piece[1:-1]) if n % 2 else shown(piece) for n, piece in enumerate(pieces))
    )


def table(heads: list[str], rows: list[list[str]], caption: str, numbers: int = 0) -> Html:
    """A table with a caption; its last `numbers` columns are set as numbers."""
    first = len(heads) - numbers
    kinds = ["num" if place >= first else "" for place in range(len(heads))]
    top = [tag("th", head, scope="col", class_=kind) for head, kind in zip(heads, kinds, strict=True)]
    lines = [
        tag("tr", *(tag("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)))
        for row in rows
    ]
    parts = tag("caption", caption), tag("thead", tag("tr", *top)), tag("tbody", *lines)
    return tag("div", tag("table", *parts), class_="scroll")


@cache
def style() -> Html:
    """The one style sheet, for screen and paper, light and dark."""
    return Html(files(__package__).joinpath("style.css").read_text("utf-8"))


def page(title: str, *body: str, sandboxed: bool) -> str:
    """A whole page, which says so itself if the answers ran without a sandbox."""
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", style()),
    ]
    warning = tag("p", tag("strong", "Graded without a sandbox. "), UNSAFE, class_="note bad", role="note")
    body = (*(() if sandboxed else (warning,)), *body)
    return (
        "<!DOCTYPE html>\n"
        + tag("html", tag("head", *head), tag("body", tag("main", *body)), lang="en")
        + "\n"
    )


UNSAFE: Final = (
    "The answers could reach this machine's files and the network, so these grades are not certified."
)
