"""A student's own notebook, judged by the checks that the student sees, through nbval."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dpcourse.workbook import course
from dpcourse.workbook.answers import find, spliced
from dpcourse.workbook.exercises import Exercise, exercises
from dpcourse.workbook.notebook import BadNotebook, Notebook, read, write
from dpcourse.workbook.support import complete
from dpcourse.workbook.variants import adopted

TIMEOUT: Final = 60
"""Seconds that one cell may take."""


@dataclass(frozen=True)
class Outcome:
    """How an exercise went: `right`, `not answered`, `not yet` (the check says why) or `error`."""

    exercise: Exercise
    verdict: str
    message: str = ""

    @property
    def points(self) -> int:
        """All or nothing."""
        return self.exercise.points if self.verdict == "right" else 0


@dataclass(frozen=True)
class Report:
    """The outcomes of a notebook, and what was odd about it."""

    outcomes: tuple[Outcome, ...]
    remarks: tuple[str, ...]

    @property
    def points(self) -> tuple[int, int]:
        """Earned, and possible."""
        return sum(o.points for o in self.outcomes), sum(o.exercise.points for o in self.outcomes)

    def __str__(self) -> str:
        width = max(len(o.exercise.title) for o in self.outcomes)
        lines = [
            f"{o.exercise.title:{width}}  {o.points:2}/{o.exercise.points}  {o.verdict}"
            for o in self.outcomes
        ]
        earned, possible = self.points
        lines.append(f"{'total':{width}}  {earned:2}/{possible}")
        for o in self.outcomes:
            if o.message and o.verdict in {"not yet", "error"}:
                lines += ["", f"{o.exercise.title} ({o.exercise.name})", *_indented(o.message)]
        return "\n".join(lines + [f"\nNote: {remark}." for remark in self.remarks])

    def data(self) -> dict[str, Any]:
        """For scripts."""
        rows = [
            {"exercise": o.exercise.name, "points": o.points, "of": o.exercise.points}
            | {"verdict": o.verdict, "message": o.message}
            for o in self.outcomes
        ]
        return {"exercises": rows, "points": self.points[0], "of": self.points[1], "remarks": self.remarks}


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}".rstrip() for line in text.splitlines())


def self_check(path: Path, unit: str = "") -> Report:
    """Judge one's own notebook: its answers in the course's own cells, run by nbval."""
    student = read(path, strict=False)
    pristine = adopted(read(exercise_of(path, student, unit)), student)
    found = find(student, pristine)
    ended = run(spliced(pristine, complete(found, student, pristine)))
    outcomes = (_outcome(exercise, ended, found.answers) for exercise in exercises(pristine))
    return Report(tuple(outcomes), tuple(found.remarks))


def exercise_of(path: Path, student: Notebook, unit: str = "") -> Path:
    """The course's own copy of a student's notebook: by the unit named, by its metadata, or by its name."""
    known = {Path(name).stem[:2]: place for name, place in course.notebooks("exercises").items()}
    marked = student.get("metadata", {}).get("dpcourse", {})
    named = re.match(r"\d\d(?=_)", path.name)
    for guess in (unit, str(marked.get("unit", "")) if isinstance(marked, dict) else "", named and named[0]):
        if guess and guess in known:
            return known[guess]
    listed = ", ".join(known)
    raise BadNotebook(f"{path}: no unit of the course ({listed}) fits it. Fix: name it with --unit.")


def run(notebook: Notebook) -> dict[str, dict[str, str] | None]:
    """Run a notebook by nbval in a folder of its own: for each code cell its error, or None."""
    with tempfile.TemporaryDirectory() as folder:
        place, report = Path(folder) / "notebook.ipynb", Path(folder) / "report.jsonl"
        write(place, notebook)
        plugins = ["-p", "nbval.plugin", "-p", "dpcourse.workbook.reporting", "-p", "no:cacheprovider"]
        options = [
            *("-c", os.devnull, "--rootdir", folder, f"--dpcourse-report={report}"),
            *("--nbval-lax", "--nbval-current-env", f"--nbval-cell-timeout={TIMEOUT}"),
        ]
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *options, *plugins, str(place)],
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            raise BadNotebook(f"nbval could not run the notebook:\n{ended.stdout}{ended.stderr}")
        rows = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    return {row["cell"]: row["error"] for row in rows}


def _outcome(exercise: Exercise, ended: dict[str, Any], answers: dict[str, str]) -> Outcome:
    answer, check = ended.get(exercise.answer), ended.get(exercise.check)
    error = answer or check
    if exercise.check in ended and error is None and exercise.name in answers:
        return Outcome(exercise, "right")
    if error is None or error["name"] == "NotImplementedError":
        return Outcome(exercise, "not answered", error["text"] if error else "")
    if error["name"] in {"NotYet", "NotAnswered"}:
        return Outcome(exercise, "not yet" if error["name"] == "NotYet" else "not answered", error["text"])
    return Outcome(exercise, "error", f"{error['name']}: {error['text']}")
