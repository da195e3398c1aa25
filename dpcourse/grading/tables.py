"""The grades of a class as tables: for a person (grades.csv), for Canvas and for Moodle.

A spreadsheet runs a cell that begins like a formula, so such text gets an apostrophe in front. Where a person
has to look first, no number stands: an empty cell in grades.csv, no line at all in the files for import,
because Canvas reads an empty cell as an order to delete the grade.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from dpcourse.errors import BadInput
from dpcourse.grading.files import plain, write_whole
from dpcourse.grading.records import Mark, Result
from dpcourse.grading.roster import NOBODY, Roster

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "|", "%")
"""How a cell begins that some spreadsheet would run; the wide forms are read as the narrow ones."""
CANVAS: Final = ("Student", "ID", "SIS Login ID", "Section")
MOODLE: Final = ("Identifier", "Full name", "Username", "Maximum Grade", "Grade", "Last modified (grade)")
"""The columns that the importers of Canvas and Moodle look for, in this order."""


def text(given: str) -> str:
    """A cell that is only ever shown: nothing invisible, and no formula.

    >>> text("=1+1"), text("  @sum"), text("Ada Lovelace")
    ("'=1+1", "'  @sum", 'Ada Lovelace')
    """
    shown = plain(given)
    return f"'{shown}" if given.lstrip(" \u00a0").startswith(FORMULA) else shown


def number(value: float) -> str:
    """Points without noise: 3, 2.5, 0.333333.

    >>> number(3.0), number(0.1 + 0.2), number(1 / 3), number(-0.0)
    ('3', '0.3', '0.333333', '0')
    """
    return f"{round(value, 6) + 0.0:.6f}".rstrip("0").rstrip(".")


def in_order(results: Iterable[Result]) -> list[Result]:
    """The results in order of the students' names; a BadInput if they are not one of each, in one unit."""
    found = sorted(results, key=lambda result: (result.student.casefold(), result.student))
    units = sorted({result.unit for result in found})
    if len(units) > 1:
        raise BadInput(
            f"the results are of units {', '.join(units)}. Fix: make the tables of one unit at a time."
        )
    for one, other in pairwise(found):
        if one.student == other.student:
            raise BadInput(
                f"{plain(one.student)} has two results. Fix: keep one, such as the one with the most points."
            )
    return found


def best(results: Iterable[Result]) -> list[Result]:
    """The best result of each student, for the rule `best`; an open case counts as what it may become."""
    kept: dict[str, tuple[float, bool, Result]] = {}
    for result in results:
        open_points = sum(mark.possible for mark in result.marks if mark.verdict == "needs a human")
        ranked = (result.points + open_points, not result.needs_a_human, result)
        if result.student not in kept or ranked[:2] > kept[result.student][:2]:
            kept[result.student] = ranked
    return [result for _, _, result in kept.values()]


def exercises(results: Iterable[Result]) -> dict[str, Mark]:
    """Every exercise that occurs, in order, with one of its marks."""
    return {mark.exercise: mark for result in results for mark in result.marks}


def grades(results: Sequence[Result]) -> list[list[str]]:
    """One row a student, one column an exercise; a cell stays empty until a person has looked."""
    names = list(exercises(results))
    rows = [
        ["student", *map(text, names), "total", "out of", "late", "needs a human", "sandboxed", "remarks"],
    ]
    for result in results:
        marks = {mark.exercise: mark for mark in result.marks}
        rows.append(
            [
                text(result.student),
                *(_points(marks.get(name)) for name in names),
                "" if result.needs_a_human else number(result.points),
                number(result.possible),
                *(_yes(fact) for fact in (result.late, result.needs_a_human, result.sandboxed)),
                text("; ".join(result.remarks)),
            ]
        )
    return rows


def _points(mark: Mark | None) -> str:
    return "" if mark is None or mark.verdict == "needs a human" else number(mark.points)


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def canvas(results: Sequence[Result], assignment: str, roster: Roster = NOBODY) -> list[list[str]]:
    """For the gradebook of Canvas: a student is found by number, or else by login name."""
    possible = max((result.possible for result in results), default=0.0)
    rows = [[*CANVAS, text(assignment)], ["    Points Possible", "", "", "", number(possible)]]
    for result in results:
        if not result.needs_a_human:
            person = roster.lms(result.student)
            login = "" if person.id else person.student
            name = person.name or person.student
            rows.append([text(name), text(person.id), text(login), "", number(result.points)])
    return rows


def moodle(results: Sequence[Result], roster: Roster = NOBODY) -> list[list[str]]:
    """For Moodle's grading worksheet (by Identifier), or its gradebook import (by Username)."""
    rows = [list(MOODLE)]
    for result in results:
        if not result.needs_a_human:
            person = roster.lms(result.student)
            identifier = f"Participant {person.id}" if person.id else ""
            login = "" if person.id and person.name else person.student
            cells = [identifier, person.name, login]
            rows.append([*map(text, cells), number(result.possible), number(result.points), ""])
    return rows


def as_csv(rows: Iterable[Sequence[str]]) -> str:
    """Rows as CSV by RFC 4180: commas, quotes where needed, CRLF."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\r\n").writerows(rows)
    return file.getvalue()


def write(results: Iterable[Result], out: Path, assignment: str = "", roster: Roster = NOBODY) -> list[Path]:
    """Write grades.csv, canvas.csv and moodle.csv: each whole or not at all, the same for the same results.

    `assignment` is its name in Canvas, as in `Exercises 3 (4711)`; by default, `Unit 03`.
    """
    found = in_order(results)
    title = assignment or (f"Unit {found[0].unit}" if found else "Unit")
    tables = {
        "grades.csv": grades(found),
        "canvas.csv": canvas(found, title, roster),
        "moodle.csv": moodle(found, roster),
    }
    for name, rows in tables.items():
        write_whole(out / name, as_csv(rows))
    return [out / name for name in tables]
