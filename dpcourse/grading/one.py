"""Grade one submission: read it as data, run it, judge it. Whatever comes in, a Result comes out."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from dpcourse.grading import cells, source
from dpcourse.grading.limits import Limits
from dpcourse.grading.plan import Plan, Task, plan
from dpcourse.grading.records import Mark, Result
from dpcourse.grading.verdict import failed, mark
from dpcourse.workbook.answers import find
from dpcourse.workbook.exercises import is_answer, is_check
from dpcourse.workbook.names import LONGEST
from dpcourse.workbook.notebook import BadNotebook, Notebook, by_id, joined, malformed
from dpcourse.workbook.support import complete

CELLS: Final = 5000
"""Cells of a notebook, and then it is not a student's work."""
ENDINGS: Final = {
    "out of time": "it was still running after {0.cell_seconds:g} s",
    "died": "the process died",
    "too much output": "it printed without end",
    "too much memory": "it used more memory than there is for an answer",
    "too many files": "it wrote more files than there is room for",
}


@dataclass(frozen=True)
class Job:
    """All that grading one submission takes, as plain data: it can be sent to another machine."""

    student: str
    notebook: bytes
    master: str
    seed: str
    limits: Limits
    sandboxed: bool = True
    late: bool = False
    problem: str = ""
    absent: bool = False


@dataclass(frozen=True)
class Graded:
    """A result, and for each exercise the evidence behind it."""

    result: Result
    evidence: dict[str, Any]


@lru_cache(maxsize=8)
def prepared(master: str, seed: str) -> Plan:
    """The plan of a unit, once its own solutions have passed it."""
    unit = plan(master, seed)
    for task in unit.tasks:
        passed = mark(task, list(task.solution))
        if passed.verdict != "right":
            raise BadNotebook(
                f"check {task.exercise.check!r} refuses the master's own solution at {passed.where}: found "
                f"{passed.found}, asked {passed.asked}. Fix: mend the solution or the check."
            )
    return unit


def grade_one(job: Job) -> Graded:
    """The result of a submission; a failure of ours is `needs a human`, never a zero, never an exception."""
    start = time.monotonic()
    unit = prepared(job.master, job.seed)
    remarks: list[str] = []
    evidence: dict[str, Any] = {}
    try:
        student, problem = (None, job.problem) if job.problem else _read(job.notebook, job.limits)
        if student is None:
            remarks.append(problem)
            verdict = "needs a human" if job.problem and not job.absent else "not answered"
            marks = [failed(task, verdict, found=problem) for task in unit.tasks]
        else:
            marks = _marks(unit, student, job, remarks, evidence)
    except Exception as error:
        said = f"the grader failed: {type(error).__name__}: {error}"[:500]
        marks = [failed(task, "needs a human", found=said) for task in unit.tasks]
    seconds = round(time.monotonic() - start, 3)
    result = Result(job.student, unit.unit, tuple(marks), tuple(remarks), job.late, job.sandboxed, seconds)
    return Graded(result, evidence)


def _read(data: bytes, limits: Limits) -> tuple[Notebook | None, str]:
    """The notebook, or why there is none."""
    if len(data) > limits.notebook:
        return None, f"the file is larger than {limits.notebook // 2**20} MB: no notebook of a student is"
    try:
        found = joined(json.loads(data.decode("utf-8")))
    except (UnicodeDecodeError, ValueError, RecursionError):
        return None, "the file is not a notebook: it cannot be read as JSON"
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list):
        return None, "the file is not a notebook: it has no list of cells"
    if len(found["cells"]) > CELLS:
        return None, f"the notebook has more than {CELLS} cells"
    wrong = malformed(found)
    if wrong:
        return None, f"the notebook is damaged: {wrong[0]}"
    return found, ""


def _marks(
    unit: Plan, student: Notebook, job: Job, remarks: list[str], evidence: dict[str, Any]
) -> list[Mark]:
    answers = _answers(unit, student, remarks)
    stubs = by_id(unit.pristine)
    tasks = {
        task.exercise.name: task
        for task in unit.tasks
        if answers.get(task.exercise.name, "").strip()
        not in {"", stubs[task.exercise.name]["source"].strip()}
    }
    marks: dict[str, Mark] = {}
    last = cells.deadline(job.limits)
    first = cells.Run(_steps(unit, answers, tasks), job.limits, last, job.sandboxed)
    if tasks:
        cells.run(first)
    given = "\n".join(c["source"] for c in _given(unit))
    disturbed = first.disturbed or source.clashes(given, {name: answers[name] for name in tasks})
    for name, task in tasks.items():
        outcome = first.outcomes.get(name, cells.Outcome())
        marks[name] = _mark(task, answers, outcome, job.limits)
        if disturbed and marks[name].verdict in {"wrong", "error"}:
            alone = source.needed(name, {n: answers[n] for n in tasks}, _names(unit))
            again = cells.Run(
                _steps(unit, answers, {n: tasks[n] for n in alone}, name), job.limits, last, job.sandboxed
            )
            cells.run(again)
            retried = again.outcomes.get(name, cells.Outcome())
            second = _mark(task, answers, retried, job.limits)
            if second.verdict == "right":
                marks[name], outcome = second, retried
        evidence[name] = outcome.evidence
        odd = source.unusual(answers[name], task.without)
        if odd:
            remarks.append(f"answer {name!r} uses {', '.join(odd)}: worth a look by a person")
    return [marks.get(task.exercise.name) or failed(task, "not answered") for task in unit.tasks]


def _answers(unit: Plan, student: Notebook, remarks: list[str]) -> dict[str, str]:
    found = find(student, unit.pristine)
    remarks += found.remarks
    answers = {}
    for name, text in complete(found, student, unit.pristine).items():
        if len(text) > LONGEST or "\x00" in text:
            remarks.append(f"answer {name!r} is too long or not text: it was not run")
        else:
            answers[name] = text
    return answers


def _given(unit: Plan) -> Iterable[dict[str, Any]]:
    cells = unit.pristine["cells"]
    return (c for c in cells if c["cell_type"] == "code" and not is_answer(c) and not is_check(c))


def _names(unit: Plan) -> dict[str, str]:
    """The names of the course's own notebook, each with the answer that is to define it, or none."""
    given = [cell["source"] for cell in _given(unit)]
    own = dict.fromkeys(set().union(*(source.bound(text) | source.imported(text) for text in given)), "")
    answers = (cell for cell in unit.pristine["cells"] if is_answer(cell))
    return own | {name: cell["id"] for cell in answers for name in source.bound(cell["source"])}


def _steps(unit: Plan, answers: dict[str, str], tasks: dict[str, Task], only: str = "") -> list[cells.Step]:
    """The course's own cells with these answers in them, and a probe after each (or after `only` one)."""
    steps = []
    for cell in unit.pristine["cells"]:
        name = cell["id"]
        if cell["cell_type"] != "code" or is_check(cell):
            continue
        if not is_answer(cell):
            steps.append(cells.Step(cell["source"]))
        elif name in tasks:
            steps.append(cells.Step(answers[name], name))
            if only in {"", name}:
                steps.append(cells.probe(tasks[name]))
    return steps


def _mark(task: Task, answers: dict[str, str], outcome: cells.Outcome, limits: Limits) -> Mark:
    name = task.exercise.name
    used = source.borrowed((answers[n] for n in source.needed(name, answers)), task.without)
    if used:
        return failed(task, "wrong", found=f"a use of {used[0]}", asked="lines of your own")
    if outcome.ended:
        return failed(task, "error", found=ENDINGS.get(outcome.ended, outcome.ended).format(limits))
    if outcome.error:
        kind = "not answered" if outcome.error.startswith("NotImplementedError") else "error"
        return failed(task, kind, found=outcome.error, asked="a cell without an error")
    return mark(task, outcome.evidence)
