"""Which cell is what: exercises, their answers, checks and wrong answers, told by id and nbgrader's metadata.

An exercise called `group-delta` is four kinds of cells:

    ex-group-delta         the statement (markdown)
    group-delta            the answer: nbgrader's `solution`, with one region between the markers
    check-group-delta      the check: nbgrader's `grade`, with the points; hidden tests between theirs
    wrong-group-delta-1    an answer that people give and the misconception behind it (tag `wrong-answer`)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from dpcourse.workbook.notebook import BadNotebook, Cell, Notebook, by_id, tags

WRONG: Final = "wrong-answer"
EXPLAINS: Final = "solution"
"""Tags of markdown cells that only a master has: a wrong answer; words about the right one."""

BEGIN: Final = re.compile(r"^(?P<indent>[ \t]*)### BEGIN SOLUTION(?:: *(?P<guidance>.*\S))?[ \t]*$")
END: Final = re.compile(r"^[ \t]*### END SOLUTION[ \t]*$")
HIDDEN: Final = re.compile(
    r"^[ \t]*### BEGIN HIDDEN TESTS\n.*?^[ \t]*### END HIDDEN TESTS\n?", re.MULTILINE | re.DOTALL
)
FENCE: Final = re.compile(r"^```python\n(?P<code>.*?)^```\n?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class WrongAnswer:
    """An answer that people give, and why it is wrong."""

    id: str
    code: str
    misconception: str


@dataclass(frozen=True)
class Exercise:
    """What is asked, what it is worth, and the ids of its cells."""

    name: str
    title: str
    points: int
    wrong: tuple[WrongAnswer, ...] = ()

    @property
    def answer(self) -> str:
        """The id of the answer's cell."""
        return self.name

    @property
    def check(self) -> str:
        """The id of the check's cell."""
        return f"check-{self.name}"


def nbgrader(cell: Cell) -> dict[str, Any]:
    """What nbgrader knows of a cell; empty for a cell that is only read."""
    found = cell.get("metadata", {}).get("nbgrader", {})
    return found if isinstance(found, dict) else {}


def is_answer(cell: Cell) -> bool:
    """Whether a student writes here."""
    return bool(nbgrader(cell).get("solution"))


def is_check(cell: Cell) -> bool:
    """Whether points are given here."""
    return bool(nbgrader(cell).get("grade"))


def exercises(notebook: Notebook) -> list[Exercise]:
    """The exercises of a notebook, in order; a BadNotebook says which cell breaks the form, and how."""
    cells = by_id(notebook)
    found = []
    for cell in notebook["cells"]:
        if not is_answer(cell):
            continue
        name = cell["id"]
        statement, check = cells.get(f"ex-{name}"), cells.get(f"check-{name}")
        if statement is None or check is None or not is_check(check):
            raise BadNotebook(
                f"exercise {name!r} has no cell 'ex-{name}' (its statement) or 'check-{name}' (nbgrader's "
                "grade). Fix: give them these ids."
            )
        found.append(
            Exercise(name, _title(statement), nbgrader(check)["points"], tuple(_wrong(notebook, name)))
        )
    return found


def _title(statement: Cell) -> str:
    """The heading without its marks and its points: `### 1. A chain (3 points)` -> `A chain`."""
    heading = str(statement["source"].lstrip().splitlines()[0])
    return re.sub(r"^#+\s*(?:[\d.]+\s+)?|\s*\([^()]*points?\)\s*$", "", heading)


def _wrong(notebook: Notebook, name: str) -> Iterator[WrongAnswer]:
    for cell in notebook["cells"]:
        if WRONG in tags(cell) and re.fullmatch(rf"wrong-{re.escape(name)}-\d+", cell["id"]):
            fence = FENCE.search(cell["source"])
            words = FENCE.sub("", cell["source"]).strip()
            if fence is None or not words:
                raise BadNotebook(
                    f"cell {cell['id']!r} is not a wrong answer. Fix: write one fenced python block and one "
                    "sentence on the misconception."
                )
            yield WrongAnswer(cell["id"], fence["code"], words)


def stub(source: str, name: str) -> str:
    """The answer without its solution: one line that raises, with the guidance of the marker."""
    lines = source.splitlines()
    begins = [i for i, line in enumerate(lines) if BEGIN.match(line)]
    ends = [i for i, line in enumerate(lines) if END.match(line)]
    opening = BEGIN.match(lines[begins[0]]) if begins else None
    if len(begins) != 1 or len(ends) != 1 or begins > ends or opening is None or not opening["guidance"]:
        raise BadNotebook(
            f"cell {name!r} must have one region '### BEGIN SOLUTION: a line of guidance' to "
            "'### END SOLUTION'. Fix: mark all that a student is to write, once."
        )
    quoted = opening["guidance"].replace("\\", "\\\\").replace('"', '\\"')
    raising = f'{opening["indent"]}raise NotImplementedError("{quoted}")'
    return "\n".join([*lines[: begins[0]], raising, *lines[ends[0] + 1 :]])


def without_hidden(source: str) -> str:
    """A check as students see it."""
    return HIDDEN.sub("", source).rstrip("\n")
