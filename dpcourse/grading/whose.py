"""Whose notebook is where, told from names alone: the layouts in which a class's work arrives.

Understood, also side by side and in a zip file:

    ada.ipynb                                               a folder of files
    submitted/ada/03_group_privacy/03_group_privacy.ipynb   nbgrader
    lovelaceada_LATE_12_345_03_group_privacy-1.ipynb        a download from Canvas
    Ada Lovelace_12_assignsubmission_file_/hw.ipynb         a download from Moodle
    ada/exercises/03_group_privacy.ipynb                    a git checkout a student, or any folder
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from dpcourse.grading.intake import Item, Unreadable

CANVAS: Final = (  # the nameless first: the unit's number looks like one of Canvas's own
    re.compile(r"(?:(?P<late>LATE)_)?(?P<student>anon_[0-9A-Za-z]+)_\d+_(?P<file>.+)", re.DOTALL),
    re.compile(r"(?P<name>.+?)_(?:(?P<late>LATE)_)?(?P<id>\d+)_\d+_(?P<file>.+)", re.DOTALL),
)
MOODLE: Final = re.compile(
    r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?", re.DOTALL
)
COPY: Final = re.compile(r"(?P<stem>.*?)(?: \((?P<browser>\d{1,6})\)|-(?P<canvas>\d{1,6}))?", re.DOTALL)
"""How browsers and Canvas number a file that was sent again: `hw (1)`, `hw-1`."""


@dataclass(frozen=True)
class Candidate:
    """A file of a student: what it is called, how well it fits the unit (0 is best), which copy."""

    student: str
    name: str
    item: Item
    fit: int | None
    late: bool = False
    copy: int = 0

    @property
    def order(self) -> tuple[float, int]:
        """Older before newer, as far as can be told."""
        return self.item.received.timestamp() if self.item.received else 0.0, self.copy


def candidates(items: list[Item], unit: str) -> Iterator[Candidate]:
    """Every file that some student sent, with what its name says; other files are passed over."""
    submitted = any(item.parts[0] == "submitted" and len(item.parts) > 2 for item in items)
    if submitted:  # the folder of a whole nbgrader course
        items = [replace(item, parts=item.parts[1:]) for item in items if item.parts[0] == "submitted"]
    stamps = {item.parts[:2]: _stamp(item) for item in items if item.parts[2:] == ("timestamp.txt",)}
    for item in items:
        if item.parts:
            parts = tuple(unicodedata.normalize("NFC", part) for part in item.parts)
            yield from _candidate(item, parts, unit, stamps.get(item.parts[:2]))


def _candidate(item: Item, parts: tuple[str, ...], unit: str, stamp: datetime | None) -> Iterator[Candidate]:
    first, rest = parts[0], parts[1:]
    moodle = MOODLE.fullmatch(first)
    canvas = next(filter(None, (form.fullmatch(first) for form in CANVAS)), None)
    if moodle:
        rest = (moodle["file"],) if moodle["file"] else rest or ("",)
        yield _uploaded(f"{moodle['name']}_{moodle['id']}", rest, item, unit)
    elif canvas and not rest:
        fields = canvas.groupdict()
        student = fields.get("student") or f"{fields['name']}_{fields['id']}"
        yield _uploaded(student, (canvas["file"],), item, unit, canvas["late"] is not None)
    elif rest:  # only nbgrader's own folders have its stamp: a student could send one to Moodle
        item = replace(item, received=stamp or item.received)
        yield Candidate(first, "/".join(rest), item, _fit(rest, unit), copy=_copy(rest[-1]))
    elif not first.lower().endswith(".ipynb"):
        if item.problem:  # a folder that cannot be read, or a link to one
            yield Candidate(first, first, item, None)
    else:
        numbered = re.fullmatch(
            r"(?P<stem>.*?)(?: \((?P<copy>\d{1,6})\))?", first[: -len(".ipynb")], re.DOTALL
        )
        assert numbered
        yield Candidate(numbered["stem"], first, item, 0, copy=int(numbered["copy"] or 0))


def _uploaded(
    student: str, rest: tuple[str, ...], item: Item, unit: str, late: bool | None = None
) -> Candidate:
    """A file that was sent in for this very assignment, so that any notebook will do."""
    fit = _fit(rest, unit)
    if fit is None and rest[-1].lower().endswith(".ipynb") and not re.match(r"\d\d_", rest[-1]):
        fit = 3
    if late is not None:  # Canvas knows; the times in its archive are those of the download
        item = replace(item, received=None)
    return Candidate(student, "/".join(rest), item, fit, bool(late), _copy(rest[-1]))


def _copy(name: str) -> int:
    numbered = COPY.fullmatch(name.rpartition(".")[0])
    return int((numbered and (numbered["browser"] or numbered["canvas"])) or 0)


def _fit(rest: tuple[str, ...], unit: str) -> int | None:
    """0: named as the unit is; 1: the unit is in its path; 2: nothing says which; None: not of this unit."""
    *folders, name = rest
    numbered = COPY.fullmatch(name[: -len(".ipynb")])
    if not name.lower().endswith(".ipynb") or numbered is None:
        return None
    if re.fullmatch(rf"{re.escape(unit)}(_\w+)?", numbered["stem"]):
        return 0
    if any(re.search(rf"(?<!\d){re.escape(unit)}(?!\d)", part) for part in rest):
        return 1
    return None if folders or re.match(r"\d\d_", name) else 2


def _stamp(item: Item) -> datetime | None:
    """The time in nbgrader's timestamp.txt: `2026-02-03 15:58:23.948203 UTC`."""
    try:
        if item.problem or item.fetch is None:
            return None
        with item.fetch().open("rb") as file:
            date, time, *zone = file.read(200).decode("ascii").split()
        moment = datetime.fromisoformat(f"{date} {time}")
        return moment.replace(tzinfo=ZoneInfo(zone[0]) if zone else UTC).astimezone(UTC)
    except (OSError, Unreadable, ValueError, LookupError, OverflowError):
        return None
