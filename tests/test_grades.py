"""Every unit through the real grader: the solution earns all, the release and every wrong answer nothing."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcourse.grading.limits import Limits
from dpcourse.grading.one import Job, grade_one
from dpcourse.grading.records import Result
from dpcourse.workbook.exercises import exercises
from dpcourse.workbook.notebook import Notebook, by_id, read, text
from dpcourse.workbook.release import release

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap"),
]
MASTERS = {
    path.stem: read(path)
    for path in sorted((Path(__file__).resolve().parent.parent / "solutions").glob("*.ipynb"))
}
SEED = "a seed of this test"


def graded(unit: str, notebook: Notebook) -> Result:
    data = json.dumps(notebook).encode()
    return grade_one(Job("ada", data, text(MASTERS[unit]), SEED, Limits(cell_seconds=60))).result


@pytest.mark.parametrize("unit", MASTERS)
def test_the_solution_earns_all_and_the_release_nothing(
    unit: str, record_property: Callable[[str, int], None]
) -> None:
    best, empty = graded(unit, MASTERS[unit]), graded(unit, release(MASTERS[unit]))
    assert {mark.exercise: mark.verdict for mark in best.marks} == dict.fromkeys(
        (exercise.name for exercise in exercises(MASTERS[unit])), "right"
    )
    assert best.points == best.possible == 20
    assert {mark.verdict for mark in empty.marks} == {"not answered"}
    assert empty.points == 0
    record_property("solutions at full points", len(best.marks))
    record_property("released exercises at zero", len(empty.marks))


@pytest.mark.parametrize("unit", MASTERS)
def test_no_wrong_answer_earns_a_point(unit: str, record_property: Callable[[str, int], None]) -> None:
    """One wrong answer to every exercise at a time, until all have been tried."""
    found = exercises(MASTERS[unit])
    for turn in range(max(len(exercise.wrong) for exercise in found)):
        notebook = copy.deepcopy(MASTERS[unit])
        chosen = {e.name: e.wrong[turn] for e in found if turn < len(e.wrong)}
        for name, wrong in chosen.items():
            by_id(notebook)[name]["source"] = wrong.code
        for mark in graded(unit, notebook).marks:
            if mark.exercise in chosen:
                assert mark.points == 0, (mark.exercise, chosen[mark.exercise].id)
                assert mark.verdict in {"wrong", "error"}, mark
    record_property("wrong answers at zero", sum(len(exercise.wrong) for exercise in found))
