"""A student's answers, read as data from a notebook that may have been through anything.

An answer is found by its cell's id; by nbgrader's name for it, where an editor dropped the ids; or by the
function that it defines, where both are gone. Given cells are always the course's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from dpcourse.workbook.exercises import is_answer, is_check, nbgrader
from dpcourse.workbook.names import definitions
from dpcourse.workbook.notebook import Cell, Notebook, tidy
from dpcourse.workbook.release import RAISES

REPAIR = "`dpcourse repair` restores it and keeps every answer"


@dataclass
class Found:
    """The answers by exercise, what was odd about the notebook, and which of its cells were used."""

    answers: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    used: set[int] = field(default_factory=set)


def find(student: Notebook, pristine: Notebook) -> Found:
    """The answers to the exercises of `pristine` in a student's notebook, with remarks for the student."""
    found = Found()
    cells = student["cells"]
    defined = cache(lambda place: definitions(cells[place]["source"]))
    for given in pristine["cells"]:
        if not is_answer(given):
            continue
        name = given["id"]
        places = _places(cells, given, defined)
        if not places:
            found.remarks.append(
                f"cell {name!r} is missing, so that exercise counts as not answered; {REPAIR}"
            )
            continue
        empty = {"", given["source"].strip()}
        answered = [place for place in places if cells[place]["source"].strip() not in empty]
        chosen = (answered or places)[0]
        found.answers[name] = cells[chosen]["source"]
        found.used.add(chosen)
        if len(places) > 1:
            numbers = " and ".join(str(place + 1) for place in places)
            found.remarks.append(f"cell {name!r} occurs twice (cells {numbers}): cell {chosen + 1} counts")
        if cells[chosen]["cell_type"] != "code":
            found.remarks.append(f"cell {name!r} is not a code cell any more; {REPAIR}")
    found.remarks += _changed(student, pristine)
    return found


def _places(cells: list[Cell], given: Cell, defined: Callable[[int], set[str]]) -> list[int]:
    """Where the answer to a given stub is, by the first rule that finds any."""
    name, asked = given["id"], definitions(given["source"])
    rules: tuple[Callable[[int, Cell], bool], ...] = (
        lambda place, cell: cell.get("id") == name,
        lambda place, cell: nbgrader(cell).get("grade_id") == name,
        lambda place, cell: cell["cell_type"] == "code" and bool(asked & defined(place)),
    )
    for rule in rules:
        places = [place for place, cell in enumerate(cells) if rule(place, cell)]
        if places:
            return places
    return []


def _changed(student: Notebook, pristine: Notebook) -> Iterator[str]:
    """Checks and given code that are not as the course gave them."""
    mine = {cell.get("id"): cell for cell in student["cells"]}
    for given in pristine["cells"]:
        if given["cell_type"] != "code" or is_answer(given):
            continue
        cell = mine.get(given["id"])
        what = "check" if is_check(given) else "cell"
        if cell is None:
            yield f"{what} {given['id']!r} is missing: the course's own was used; {REPAIR}"
        elif cell["source"].strip() != given["source"].strip():
            yield f"{what} {given['id']!r} was changed: the course's own was used; {REPAIR}"


def spliced(pristine: Notebook, answers: dict[str, str]) -> Notebook:
    """The course's own notebook with a student's answers in it; a failing check is then a failure."""
    cells = []
    for cell in pristine["cells"]:
        kept = [tag for tag in cell["metadata"].get("tags", []) if tag != RAISES]
        cells.append(
            cell
            | {"source": answers.get(cell["id"], cell["source"])}
            | {"metadata": cell["metadata"] | {"tags": kept}}
        )
    return tidy(pristine | {"cells": cells})


def repaired(student: Notebook, pristine: Notebook) -> tuple[Notebook, Found]:
    """Given cells as the course has them, every answer kept, a student's own cells kept where they stood."""
    found = find(student, pristine)
    known = {cell["id"]: place for place, cell in enumerate(pristine["cells"])}
    sources = {cell["source"].strip(): cell["id"] for cell in pristine["cells"]}
    own: dict[int, list[Cell]] = {}
    after, taken = -1, set(known)
    for place, cell in enumerate(student["cells"]):
        name = cell.get("id") if cell.get("id") in known else nbgrader(cell).get("grade_id")
        name = name if name in known else sources.get(cell["source"].strip())
        answer = name is not None and is_answer(pristine["cells"][known[name]])
        if name is not None:
            after = known[name]
        if place in found.used or (name is not None and not answer) or not cell["source"].strip():
            continue  # an answer that is already in place, a given cell, or an empty one
        fresh = next(f"own-{n}" for n in range(1, len(taken) + 2) if f"own-{n}" not in taken)
        taken.add(fresh)
        keep = {"cell_type": cell["cell_type"], "source": cell["source"], "metadata": {}, "id": fresh}
        own.setdefault(after, []).append(keep | ({"outputs": []} if cell["cell_type"] == "code" else {}))
    cells = list(own.get(-1, []))
    for place, cell in enumerate(pristine["cells"]):
        cells += [cell | {"source": found.answers.get(cell["id"], cell["source"])}, *own.get(place, [])]
    return tidy(pristine | {"cells": cells}), found
