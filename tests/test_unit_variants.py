"""Constants that vary from student to student: whatever is drawn, right answers pass and wrong ones fail.

The masters are one of the variants, and tested in test_exercises.py; here are the others.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from dpcourse.workbook.exercises import Exercise, exercises
from dpcourse.workbook.notebook import Notebook, by_id, read
from dpcourse.workbook.variants import Choices, declared, varied

MASTERS = {
    path.stem: read(path)
    for path in sorted((Path(__file__).resolve().parent.parent / "solutions").glob("*.ipynb"))
}
CASES = [
    pytest.param(unit, one, value, id=f"{unit[:2]}-{one.name}-{value}")
    for unit, notebook in MASTERS.items()
    for one in declared(notebook)
    for value in map(one.__getitem__, range(len(one.options)))
]


def uses(notebook: Notebook, exercise: Exercise, name: str) -> bool:
    cells = by_id(notebook)
    return any(re.search(rf"\b{name}\b", cells[cell]["source"]) for cell in (exercise.answer, exercise.check))


def test_several_units_vary_and_what_varies_is_told_in_the_statement() -> None:
    assert len({case.values[0] for case in CASES}) >= 5
    for unit, notebook in MASTERS.items():
        for one in declared(notebook):
            found = [exercise for exercise in exercises(notebook) if uses(notebook, exercise, one.name)]
            assert found, (unit, one.name)
            for exercise in found:
                assert f"`{one.name}`" in by_id(notebook)[f"ex-{exercise.name}"]["source"]


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "one", "value"), CASES)
def test_the_solution_passes_and_wrong_answers_are_caught(unit: str, one: Choices, value: str) -> None:
    def draw(other: Choices) -> str:
        return value if other.name == one.name else other[0]

    notebook = varied(copy.deepcopy(MASTERS[unit]), draw)
    cells = by_id(notebook)
    space: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and not cell["id"].startswith("check-"):
            exec(cell["source"], space)
    for exercise in exercises(notebook):
        if not uses(notebook, exercise, one.name):
            continue
        exec(cells[exercise.check]["source"], dict(space))
        for wrong in exercise.wrong:
            inner = dict(space)
            exec(compile(wrong.code, wrong.id, "exec"), inner)
            with pytest.raises(AssertionError, match="not yet"):
                exec(cells[exercise.check]["source"], inner)
