"""From a master to what students get: no solutions, no hidden tests, no wrong answers, no outputs."""

from __future__ import annotations

from dpcourse.workbook.exercises import EXPLAINS, WRONG, is_answer, is_check, stub, without_hidden
from dpcourse.workbook.notebook import Cell, Notebook, tags, tidy

RAISES = "raises-exception"
"""A cell that fails until it is answered: Jupyter runs on after it, and nbval expects it."""


def release(master: Notebook) -> Notebook:
    """The exercises of a unit, one stub each, made from its master."""
    hidden = {WRONG, EXPLAINS}
    cells = [_released(cell) for cell in master["cells"] if not hidden & set(tags(cell))]
    return tidy(master | {"cells": cells})


def _released(cell: Cell) -> Cell:
    if cell["cell_type"] != "code":
        return cell
    cell = cell | {"outputs": [], "execution_count": None}
    if is_answer(cell):
        source = stub(cell["source"], cell["id"])
        # A stub inside a function raises when it is called; one at the margin raises right here.
        raises = any(line.startswith("raise NotImplementedError") for line in source.splitlines())
        return _tagged(cell | {"source": source}, raises)
    if is_check(cell):  # folded, so that the page is the student's, and the hints come one by one
        folded = cell["metadata"] | {"jupyter": {"source_hidden": True}}
        return _tagged(cell | {"source": without_hidden(cell["source"]), "metadata": folded}, raises=True)
    return cell


def _tagged(cell: Cell, raises: bool) -> Cell:
    added = sorted({*tags(cell), RAISES}) if raises else tags(cell)
    return cell | {"metadata": cell["metadata"] | {"tags": added}}
