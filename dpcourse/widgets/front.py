"""Front: the part of an explorer that lives in the browser (explorer.js), and how the two talk.

The browser asks for the picture of some values and gets it with its words in one message. It asks a slow
kernel one thing at a time, and next always for its newest values, so a slow picture never makes a queue.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import ref

import anywidget
import traitlets

if TYPE_CHECKING:
    from dpcourse.widgets.explorer import Explorer, View

HERE = Path(__file__).parent

_shown: dict[str, tuple[int, list[ref[Front]]]] = {}
"""By cell: in which run it was shown, and what. A cell that runs again closes what it showed before."""


class Front(anywidget.AnyWidget):
    """Controls, picture and words in the page."""

    _esm = (HERE / "explorer.js").read_text("utf-8")
    _css = (HERE / "explorer.css").read_text("utf-8")

    name = traitlets.Unicode().tag(sync=True)
    controls = traitlets.Dict().tag(sync=True)
    start = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    first = traitlets.Dict().tag(sync=True)
    picture = traitlets.Bytes().tag(sync=True)

    def __init__(self, explorer: Explorer, view: View) -> None:
        from dpcourse.widgets.explorer import facts

        self._explorer = explorer
        now = explorer.values
        super().__init__(
            name=explorer.name,
            controls={key: control.spec(now[key]) for key, control in explorer.controls.items()},
            start=explorer.start,
            values=now,
            first=facts(view) | {"values": now},
            picture=explorer.picture(view),
        )
        explorer.fronts.append(self)
        self.on_msg(self._asked)
        _replace(self)

    @property
    def bundle(self) -> dict[str, Any]:
        """What makes the page show it."""
        shown = self._repr_mimebundle_()
        assert shown is not None
        return shown[0]

    def _asked(self, _: Any, content: dict[str, Any], buffers: Any) -> None:
        """Draw what the browser wants to see, or thinks that it will want next (`ahead`)."""
        said: dict[str, Any] = {"error": "interrupted: move a control to draw again"}
        picture = b""
        try:
            said, picture = self._explorer.answer(content["ask"], float(content.get("scale", 1)))
        finally:  # also after an interrupt, or the browser would wait for ever
            self.send({"key": content["key"], **said}, [picture])
            gc.collect(1)  # the figure, before it grows old and only a long collection finds it

    @traitlets.observe("values")
    def _chosen(self, change: dict[str, Any]) -> None:
        """The values whose picture the page shows, foreseen or not, are the explorer's."""
        self._explorer.values = self._explorer.read(change["new"])

    def close(self) -> None:
        """Free it, here and in the page."""
        if self in self._explorer.fronts:
            self._explorer.fronts.remove(self)
        self.layout.close()  # a widget of its own, which the front alone would leave behind
        super().close()


def _replace(front: Front) -> None:
    """Close what this cell showed when it ran before."""
    from IPython import get_ipython

    shell = get_ipython()
    kernel = getattr(shell, "kernel", None)
    cell = kernel.get_parent("shell").get("metadata", {}).get("cellId") if kernel else None
    if cell is None:
        return
    run, fronts = _shown.get(cell, (-1, []))
    if run != shell.execution_count:
        for old in filter(None, (one() for one in fronts)):
            old.close()
        fronts = []
    _shown[cell] = (shell.execution_count, [*fronts, ref(front)])
