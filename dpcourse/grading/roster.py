"""The class list: a CSV file with a column `student`, and `name` and `id` where a school has them.

`student` is what files and folders are called; `id` is the number of the student in Canvas or Moodle, by
which a downloaded submission is told whose it is.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dpcourse.errors import BadInput

RESERVED: Final = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""Names that Windows keeps for itself."""
NUMBERED: Final = re.compile(r"(?P<name>.+)_(?P<id>\d+)", re.DOTALL)
"""What a student is called in a download: a name and a number."""


@dataclass(frozen=True)
class Person:
    """One line of the class list."""

    student: str
    name: str = ""
    id: str = ""


class Roster:
    """A class, in the order of its list; a student is found by name or by number.

    >>> Roster([Person("ada", id="12")]).student("lovelaceada_12")
    'ada'
    """

    def __init__(self, people: Iterable[Person]) -> None:
        self.people = tuple(people)
        self._by_student = {person.student: person for person in self.people}
        self._by_id = {person.id: person for person in self.people if person.id}

    def __iter__(self) -> Iterator[Person]:
        return iter(self.people)

    def person(self, key: str) -> Person | None:
        """Whose submission this is: `ada` by name, `lovelaceada_12` by the number 12."""
        if key in self._by_student:
            return self._by_student[key]
        numbered = NUMBERED.fullmatch(key)
        return self._by_id.get(numbered["id"]) if numbered else None

    def student(self, key: str) -> str:
        """The student's own name in the class list; the key itself if the list does not have it."""
        person = self.person(key)
        return person.student if person else key

    def lms(self, student: str) -> Person:
        """What Canvas and Moodle know of a student: from the list, or from a downloaded file's name."""
        person = self._by_student.get(student)
        numbered = NUMBERED.fullmatch(student)
        if person or not numbered:
            return person or Person(student)
        return Person(student, name=numbered["name"], id=numbered["id"])


NOBODY: Final = Roster(())


def read_roster(path: Path) -> Roster:
    """The class list in a file; every error names the line and the fix."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise BadInput(f"{path}: {reason}. Fix: give the class list as a CSV file in UTF-8.") from None
    first = text.split("\n", 1)[0]
    comma = ";" if first.count(";") > first.count(",") else ","  # spreadsheets in much of Europe
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=comma, strict=True)
        columns = [str(column).strip().casefold() for column in rows.fieldnames or []]
        if "student" not in columns:
            listed = ", ".join(columns) or "none"
            raise BadInput(
                f"{path} has no column `student` (its columns: {listed}). Fix: give this name to the "
                "column that says what each student's files are called."
            )
        rows.fieldnames = columns
        return Roster(_people(path, rows))
    except csv.Error as error:
        raise BadInput(f"{path}: not a CSV file: {error}. Fix: save it again as CSV.") from None


def _people(path: Path, rows: csv.DictReader[str]) -> Iterator[Person]:
    seen: dict[str, int] = {}
    for row in rows:
        line = rows.line_num
        cells = {key: (row.get(key) or "").strip() for key in ("student", "name", "id")}
        if not any(cells.values()):
            continue  # an empty line
        person = Person(unicodedata.normalize("NFC", cells["student"]), cells["name"], cells["id"])
        fault = bad_name(person.student)
        if fault:
            raise BadInput(f"{path}, line {line}: student {person.student!r} {fault}.")
        if person.id and not person.id.isdecimal():
            raise BadInput(
                f"{path}, line {line}: id {person.id!r} is not a number. Fix: give the number that Canvas or "
                "Moodle has for the student, or leave it empty."
            )
        for key in (f"student {person.student.casefold()!r}", f"id {person.id}" * bool(person.id)):
            if key in seen:  # two students whose folders differ only in case would be one on many disks
                raise BadInput(
                    f"{path}, line {line}: {key} is already on line {seen[key]}. Fix: keep one of them."
                )
            if key:
                seen[key] = line
        yield person
    if not seen:
        raise BadInput(f"{path} lists no students. Fix: write one a line under the column `student`.")


def bad_name(student: str) -> str:
    """Why a name cannot be a folder on every system; empty if it can."""
    if not student:
        return "is empty. Fix: fill the cell or delete the line"
    if len(student.encode("utf-8", "replace")) > 100:
        return "is longer than 100 bytes. Fix: use a login name"
    if not re.fullmatch(r"\w([\w@+., '()-]*[\w@+')-])?", student):
        return (
            "cannot be a folder's name. Fix: begin with a letter or digit, go on with these and _ @ + . , "
            "' ( ) - and blanks, and end with no dot, comma or blank"
        )
    return "is a name that Windows reserves. Fix: use a login name" if RESERVED.fullmatch(student) else ""
