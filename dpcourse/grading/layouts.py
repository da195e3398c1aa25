"""The submissions of a class, one a student, in whichever layout they came: which of several files counts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from dpcourse.errors import BadInput, one_of
from dpcourse.grading.files import plain
from dpcourse.grading.intake import Unreadable, listing
from dpcourse.grading.records import Submission
from dpcourse.grading.roster import NOBODY, Roster
from dpcourse.grading.whose import Candidate, candidates

RULES: Final = ("last", "first", "on time", "best")
"""Which of several counts: `on time` is the last that was not late, or the last; `best` keeps all of them."""

_folders: Final[list[tempfile.TemporaryDirectory[str]]] = []  # removed when the process ends


def find(
    place: Path,
    unit: str,
    rule: str = "last",
    due: datetime | None = None,
    unpack: Path | None = None,
    roster: Roster = NOBODY,
) -> list[Submission]:
    """The submissions of a unit in a folder or a zip file: one a student (`best`: all), in order of names.

    Late is what Canvas calls late, elsewhere what came after `due`. Notebooks of a zip file go to `unpack`.
    A file that cannot be taken is there with its problem; nothing outside the place is ever opened.
    """
    one_of("rule", rule, RULES)
    if unpack is None:
        _folders.append(tempfile.TemporaryDirectory(prefix="dpcourse-"))
        unpack = Path(_folders[-1].name)
    with ExitStack() as opened:
        by_student: dict[str, list[Candidate]] = {}
        for found in candidates(listing(place, unpack, opened), unit):
            student = roster.student(found.student)
            by_student.setdefault(student, []).append(replace(found, student=student))
        if not by_student:
            raise BadInput(
                f"{place} holds no submissions. Fix: name a folder of student.ipynb files, of nbgrader's "
                "student/unit folders or of a git checkout a student, or a zip file from Canvas or Moodle."
            )
        return [
            submission
            for student in sorted(by_student, key=lambda name: (name.casefold(), name))
            for submission in _chosen(student, by_student[student], unit, rule, due)
        ]


def _chosen(
    student: str, files: list[Candidate], unit: str, rule: str, due: datetime | None
) -> Iterator[Submission]:
    """The submission of one student, or all of them; a problem if there is none or nothing tells which."""
    deadline = due.astimezone(UTC) if due else None
    shown = plain(student)
    if shown != student or not student.strip():
        yield Submission(shown, None, problem="the file's name holds invisible characters: rename it")
        return
    fits = [file.fit for file in files if file.fit is not None]
    found = sorted((f for f in files if fits and f.fit == min(fits)), key=lambda f: (f.order, f.name))
    if not found:
        absent = not any(file.item.problem for file in files)
        yield Submission(student, None, problem=_nothing(files, unit), absent=absent)
        return
    late = [f.late or bool(deadline and f.item.received and f.item.received > deadline) for f in found]
    timely = [f for f, is_late in zip(found, late, strict=True) if not is_late]
    if rule == "best":
        yield from (_taken(f, is_late) for f, is_late in zip(found, late, strict=True))
        return
    pool = timely if rule == "on time" and timely else found
    choice = pool[0] if rule == "first" else pool[-1]
    taken = _taken(choice, late[found.index(choice)])
    rivals = [f for f in pool if f.order == choice.order and f is not choice]
    if taken.path and any(_differs(taken.path, rival) for rival in rivals):
        names = " and ".join(sorted(plain(f.name) for f in [choice, *rivals]))
        taken = replace(taken, path=None, problem=f"{names} came together: remove all but one")
    yield taken


def _taken(file: Candidate, late: bool) -> Submission:
    problem, path = file.item.problem, None
    try:
        path = file.item.fetch() if file.item.fetch and not problem else None
    except Unreadable as error:
        problem = str(error)
    problem = f"{plain(file.name)} {problem}" if problem else ""
    return Submission(file.student, path, file.item.received, late, problem)


def _differs(path: Path, rival: Candidate) -> bool:
    other = _taken(rival, late=False)
    try:
        return other.path is None or other.path.read_bytes() != path.read_bytes()
    except OSError:
        return True


def _nothing(files: list[Candidate], unit: str) -> str:
    trouble = [f"{plain(file.name)} {file.item.problem}" for file in files if file.item.problem]
    names = sorted({plain(file.name) for file in files if file.name and not file.item.problem})
    listed = ", ".join(names[:3]) + f" and {len(names) - 3} more" * (len(names) > 3)
    return "; ".join([f"no notebook of unit {unit}", *trouble[:3]] + [f"there is {listed}"] * bool(names))
