"""Notebook files: read with clear errors, written the same way every time.

Every notebook of the course is nbformat 4.5, and each of its cells has an id of its own: answers, checks
and given cells are found by id, never by place.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dpcourse.errors import BadInput

Notebook = dict[str, Any]
Cell = dict[str, Any]

KERNEL: Final = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
KEPT: Final = ("dpcourse", "jupyter", "nbgrader", "tags")
"""What the course says about a cell; everything else describes a machine, a run or an editor."""


class BadNotebook(BadInput):
    """A file that is not a notebook of the course as it should be; the message says how to repair it."""


def read(path: Path, strict: bool = True) -> Notebook:
    """The notebook in a file, sources and texts as single strings; `strict` also wants format 4.5 and ids."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BadNotebook(f"{path}: there is no such file. Fix: check the name and the folder.") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise BadNotebook(
            f"{path} is not a notebook: {_reason(error)}. Fix: open an earlier copy (JupyterLab keeps one in "
            ".ipynb_checkpoints), or fetch a new one with `dpcourse lab`, which leaves this file alone."
        ) from None
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list):
        raise BadNotebook(f"{path} is not a notebook: it has no list of cells. Fix: check the file's name.")
    notebook: Notebook = joined(found)
    faults = malformed(notebook) or (format_faults(notebook) if strict else [])
    if faults:
        raise BadNotebook(f"{path}: " + "; ".join(faults) + ".")
    return notebook


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"it stops being JSON at line {error.lineno}, column {error.colno} ({error.msg})"
    return "it nests too deeply" if isinstance(error, RecursionError) else "it is not text in UTF-8"


def malformed(notebook: Notebook) -> list[str]:
    """What keeps even a patient reader from making sense of the cells."""
    found = []
    for place, cell in enumerate(notebook["cells"], 1):
        if not isinstance(cell, dict) or cell.get("cell_type") not in {"code", "markdown", "raw"}:
            found.append(f"cell {place} is not a code, markdown or raw cell. Fix: delete it from the file")
        elif not isinstance(cell.get("source"), str) or not isinstance(cell.get("metadata", {}), dict):
            found.append(f"cell {place} has no text. Fix: delete it from the file")
    return found


def format_faults(notebook: Notebook) -> list[str]:
    """Where a notebook is not nbformat 4.5 with an id on every cell, and what to do about it."""
    version = (notebook.get("nbformat"), notebook.get("nbformat_minor"))
    fix = "Fix: run `dpcourse repair` on it; every answer is kept"
    if version != (4, 5):
        return [f"it is in notebook format {'.'.join(map(str, version))}, and the course uses 4.5. {fix}"]
    cells = notebook["cells"]
    found = [
        f"cell {place} ({_opening(cell)}) has no id. {fix}"
        for place, cell in enumerate(cells, 1)
        if not cell.get("id")
    ]
    twice = [name for name, count in Counter(cell.get("id") for cell in cells).items() if name and count > 1]
    return found + [f"the id {name!r} is on {_places(cells, name)}. {fix}" for name in twice]


def _places(cells: list[Cell], name: str) -> str:
    places = [str(place) for place, cell in enumerate(cells, 1) if cell.get("id") == name]
    return f"cells {', '.join(places[:-1])} and {places[-1]}"


def _opening(cell: Cell) -> str:
    lines = cell["source"].strip().splitlines()
    return repr(lines[0][:40]) if lines else "empty"


def joined(value: Any) -> Any:
    """Lists of lines, as the file format stores text, joined to single strings wherever they occur."""
    if isinstance(value, list):
        return [joined(item) for item in value]
    if not isinstance(value, dict):
        return value
    mime = {key for key in value if "/" in key and not key.endswith("json")}
    text = {"source", "text"} | mime
    return {
        key: "".join(item) if key in text and _lines(item) else joined(item) for key, item in value.items()
    }


def _lines(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def text(notebook: Notebook) -> str:
    """The file as it is stored: sorted keys, one line of source a line."""
    return json.dumps(_split(notebook), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _split(value: Any, key: str = "") -> Any:
    if isinstance(value, str) and (key in {"source", "text"} or key.startswith("text/")):
        return value.splitlines(keepends=True)
    if isinstance(value, list):
        return [_split(item) for item in value]
    return {k: _split(item, k) for k, item in value.items()} if isinstance(value, dict) else value


def write(path: Path, notebook: Notebook) -> None:
    """Store a notebook; whoever reads at the same time sees the old file or the new one, never half."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text(notebook), "utf-8")
    beside.replace(path)


def tidy(notebook: Notebook) -> Notebook:
    """Without what describes this machine, this run or this editor; runs of printed text joined up."""
    known = {key: notebook["metadata"][key] for key in ("dpcourse",) if key in notebook["metadata"]}
    return {
        "cells": [_tidy_cell(cell) for cell in notebook["cells"]],
        "metadata": known | {"kernelspec": KERNEL, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _tidy_cell(cell: Cell) -> Cell:
    kept = {key: cell[key] for key in ("cell_type", "id", "source")}
    kept["metadata"] = {
        key: value for key, value in cell.get("metadata", {}).items() if key in KEPT and value
    }
    if cell["cell_type"] == "code":
        kept |= {
            "execution_count": cell.get("execution_count"),
            "outputs": _tidy_outputs(cell.get("outputs")),
        }
    return kept


def _tidy_outputs(outputs: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    tidy: list[dict[str, Any]] = []
    for output in outputs or []:
        last = tidy[-1] if tidy else {}
        if output["output_type"] == "stream" == last.get("output_type") and output["name"] == last["name"]:
            last["text"] += output["text"]
        elif "data" in output:  # a live widget ends with its kernel: the picture beside it stays
            data = {mime: item for mime, item in output["data"].items() if "widget-view" not in mime}
            tidy.append(output | {"data": data, "metadata": {}})
        else:
            tidy.append(dict(output))
    return tidy


def tags(cell: Cell) -> list[str]:
    """The tags of a cell, whatever somebody wrote there."""
    found = cell.get("metadata", {}).get("tags", [])
    return [tag for tag in found if isinstance(tag, str)] if isinstance(found, list) else []


def by_id(notebook: Notebook) -> Mapping[str, Cell]:
    """The cells by their ids."""
    return {cell["id"]: cell for cell in notebook["cells"]}
