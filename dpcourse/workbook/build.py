"""Run a notebook in a clean kernel and store it so that a second build changes no byte."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any, Final

from dpcourse.workbook.notebook import BadNotebook, Cell, Notebook, read, text, tidy

TIMEOUT: Final = 120
"""Seconds that one cell may take."""


def build(notebook: Notebook, folder: Path) -> Notebook:
    """The notebook with fresh outputs, run from its first cell to its last in `folder`."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    options: dict[str, Any] = {"timeout": TIMEOUT, "kernel_name": "python3"}
    options |= {"extra_arguments": ["--IPKernelApp.log_level=ERROR"]}  # the terminal is ours
    options |= {"store_widget_state": False, "record_timing": False}  # both differ from run to run
    node = nbformat.from_dict(copy.deepcopy(notebook))  # type: ignore[no-untyped-call]
    client = NotebookClient(node, resources={"metadata": {"path": str(folder)}}, **options)
    try:
        client.execute()
    except CellTimeoutError:
        raise _stopped(node, f"took over {TIMEOUT} s") from None
    except CellExecutionError as error:
        raise _stopped(node, f"failed: {error.ename}: {error.evalue}") from None
    return tidy(node)


def _stopped(notebook: Notebook, what: str) -> BadNotebook:
    """The error that names the cell in which a run ended: the first that did not end well."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    ended = (cell for cell in code if not cell["execution_count"] or "error" in _kinds(cell))
    return BadNotebook(f"cell {next(ended, code[-1])['id']!r} {what}. Fix: mend the cell and build again.")


def _kinds(cell: Cell) -> set[str]:
    return {output["output_type"] for output in cell["outputs"]}


def faults(path: Path) -> list[str]:
    """Why a stored notebook is not as a build leaves it; nbval then compares the outputs themselves."""
    notebook = read(path)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    counts = [cell.get("execution_count") for cell in code]
    found = []
    if counts != list(range(1, len(code) + 1)):
        found.append(f"its execution counts are {counts}, not 1 to {len(code)} from one clean run")
    found += [
        f"cell {cell['id']!r} writes to stderr"
        for cell in code
        if any(output.get("name") == "stderr" for output in cell["outputs"])
    ]
    marked, named = notebook["metadata"].get("dpcourse", {}).get("unit"), re.match(r"\d\d(?=_)", path.name)
    if marked and named and marked != named[0]:  # a copied notebook would be judged as the one it came from
        found.append(f"its metadata say unit {marked}, its name says {named[0]}")
    if path.read_text("utf-8") != text(tidy(notebook)):
        found.append("the file holds more than the course's own data, or in another order")
    return found
