"""Explorer: a picture that follows its controls, live in JupyterLab and still where nothing runs.

An explorer is a pure function from parameters to a figure and a sentence, with a labelled control for each
parameter. That function also makes the stored picture, so a reader without a kernel sees the same. Draw with
`plots.panels`, whose frames are kept: a picture then takes a few hundredths of a second.
"""

from __future__ import annotations

import base64
import gc
import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpcourse.errors import reject
from dpcourse.widgets.controls import Button, Choice, Control, Moves, Slider, Switch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpcourse.widgets.front import Front

__all__ = ["Button", "Choice", "Explorer", "Moves", "Slider", "Switch", "View"]

STILL = 2.0
"""Pixels of the stored picture for each pixel of the page: sharp on every screen."""


@dataclass(frozen=True)
class View:
    """What an explorer shows for one choice of parameters: a figure, and its exact numbers in a sentence.

    `alt` describes the figure to those who cannot see it; if it is not given, its titles and axes do.
    """

    figure: Figure
    words: str
    alt: str = ""

    def __post_init__(self) -> None:
        from dpcourse.plots import described

        object.__setattr__(self, "alt", self.alt or described(self.figure) or self.words)


class Explorer:
    """One explorer in a notebook. Nothing is shared between two of them."""

    def __init__(
        self, name: str, draw: Callable[..., View], controls: Mapping[str, Control], **start: Any
    ) -> None:
        for given in start:
            if given not in controls:
                reject("parameter", given, f"one of {', '.join(controls)}", "use these names.")
        self.name, self.draw, self.controls = name, draw, dict(controls)
        self.start = self.read({key: start.get(key, control.start) for key, control in controls.items()})
        self.values = dict(self.start)
        self.fronts: list[Front] = []

    def __repr__(self) -> str:
        return (
            f"Explorer({self.name}: " + ", ".join(f"{k} = {_plain(v)}" for k, v in self.values.items()) + ")"
        )

    def read(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all controls, each checked."""
        return {key: control.read(key, values[key]) for key, control in self.controls.items()}

    def view(self, **values: Any) -> View:
        """What it shows now, or with other values of some parameters."""
        return self.draw(**self.read(self.values | values))

    def picture(self, view: View, scale: float = 1.0, compress: int = 1) -> bytes:
        """The PNG of a view: what the browser shows, and what is stored."""
        from dpcourse.plots import png

        return png(view.figure, scale, compress)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Live controls where there are any, and beside them the picture for everywhere else."""
        from dpcourse.widgets.front import Front

        view = self.view()
        data = base64.b64encode(self.picture(view, STILL, compress=9)).decode("ascii")
        alt, words = html.escape(view.alt, quote=True), html.escape(view.words)
        image = f'<img alt="{alt}" width="{_pixels(view)[0]}" src="data:image/png;base64,{data}">'
        page = f'<div>{image}<p style="white-space: pre-line">{words}</p></div>'
        live = Front(self, view).bundle
        return live | {"text/plain": repr(self), "text/html": page}

    def answer(self, values: Mapping[str, Any], scale: float = 1.0) -> tuple[dict[str, Any], bytes]:
        """What the browser shows for these values: words and a picture, or the message of an error."""
        collecting = gc.isenabled()
        gc.disable()  # a figure is full of cycles: while it is young, a short collection frees it (see Front)
        try:
            from dpcourse.plots import recycle

            view = self.draw(**self.read(values))
            answer = facts(view), self.picture(view, scale)
            recycle(view.figure)
            return answer
        except Exception as error:  # shown in the explorer, because an error in a callback shows nowhere
            return {"error": f"{type(error).__name__}: {error}"}, b""
        finally:
            if collecting:
                gc.enable()

    def close(self) -> None:
        """Take it from the page and free what it holds."""
        for front in list(self.fronts):
            front.close()


def facts(view: View) -> dict[str, Any]:
    """All of a view but its pixels."""
    width, height = _pixels(view)
    return {"words": view.words, "alt": view.alt, "width": width, "height": height}


def _pixels(view: View) -> tuple[int, int]:
    width, height = view.figure.get_size_inches()
    return round(width * 100), round(height * 100)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
