"""What is in a folder or a zip file of submissions, listed without following or trusting any of it.

Nothing outside the place is opened: links are reported, never followed; a name in an archive is text, never a
path to write to. What cannot be read stays in the list, with its problem.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from dpcourse.errors import BadInput
from dpcourse.grading.files import write_whole

LARGEST: Final = 32 * 2**20
"""Bytes of the largest notebook that is read: a hundred times an answered unit with its pictures."""
DEEPEST: Final = 8
MOST: Final = 5_000
"""Folders inside folders, and entries of one student, that are looked at."""
MOST_IN_ZIP: Final = 100_000
ALL: Final = 4 * 2**30
"""Entries of an archive, and bytes that are unpacked from it in all."""
SKIPPED: Final = re.compile(
    r"\..*|__MACOSX|__pycache__|node_modules|.*-checkpoint\.ipynb|.*\.before-repair-\d+\.ipynb"
)
"""What systems and editors leave behind, and the copies that `dpcourse repair` keeps."""


class Unreadable(Exception):
    """Why a file that was listed cannot be had."""


@dataclass(frozen=True)
class Item:
    """A file that came in: where in the place it is, when it came, and how to get it (or why not)."""

    parts: tuple[str, ...]
    received: datetime | None = None
    problem: str = ""
    fetch: Callable[[], Path] | None = None


def listing(place: Path, unpack: Path, opened: ExitStack) -> list[Item]:
    """Every file of a folder or of a zip file (kept open in `opened`), in order of its name."""
    try:
        if place.is_file() and zipfile.is_zipfile(place):
            return sorted(_archive(place, unpack, opened), key=lambda item: item.parts)
        if place.suffix == ".zip" and place.is_file():
            raise ValueError("it is not a whole zip file")
        if place.is_file():
            return [_file(place, (place.name,), place.stat(), in_git=False)]
        return sorted(_folder(place), key=lambda item: item.parts)
    except (OSError, zipfile.BadZipFile, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(
            f"{place} cannot be read: {reason}. Fix: name a folder of submissions, or a zip file as "
            "Canvas or Moodle gives it."
        ) from None


def _folder(place: Path) -> Iterator[Item]:
    for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
        yield from _entry(entry, (entry.name,), in_git=False, left=[MOST])


def _entry(entry: os.DirEntry[str], parts: tuple[str, ...], in_git: bool, left: list[int]) -> Iterator[Item]:
    left[0] -= 1
    if SKIPPED.fullmatch(entry.name) or left[0] < 0:
        return
    if left[0] == 0:
        yield Item(parts[:1], problem=f"holds more than {MOST} files: only the first were looked at")
    try:
        found = entry.stat(follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode):
            yield _file(Path(entry.path), parts, found, in_git)
            return
        if len(parts) > DEEPEST:
            yield Item(parts, problem=f"is more than {DEEPEST} folders deep")
            return
        inside = sorted(os.scandir(entry.path), key=lambda entry: entry.name)
    except OSError as error:
        yield Item(parts, problem=f"cannot be read: {error.strerror}")
        return
    in_git = in_git or any(entry.name == ".git" for entry in inside)
    for below in inside:
        yield from _entry(below, (*parts, below.name), in_git, left)
    if all(SKIPPED.fullmatch(below.name) for below in inside):
        yield Item((*parts, ""))  # an empty folder is still somebody's


def _file(path: Path, parts: tuple[str, ...], found: os.stat_result, in_git: bool) -> Item:
    # In a git checkout the time of a file is that of the checkout, and says nothing about the student.
    received = None if in_git else _moment(found.st_mtime)
    if stat.S_ISLNK(found.st_mode):
        return Item(parts, received, "is a link to somewhere else, and links are not followed")
    if not stat.S_ISREG(found.st_mode):
        return Item(parts, received, "is not a file")
    return Item(parts, received, _too_large(found.st_size), lambda: path)


def _too_large(size: int) -> str:
    return f"has {size / 2**20:.0f} MB, and {LARGEST >> 20} MB are allowed" if size > LARGEST else ""


def _moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _archive(place: Path, unpack: Path, opened: ExitStack) -> Iterator[Item]:
    archive = opened.enter_context(zipfile.ZipFile(place))
    members = archive.infolist()
    if len(members) > MOST_IN_ZIP:
        raise ValueError(f"it has {len(members)} entries, and {MOST_IN_ZIP} are allowed")
    room = [ALL]
    for member in members:
        parts = tuple(part for part in re.split(r"[/\\]", member.filename) if part not in {"", "."})
        if parts[:1] == (place.stem,):
            parts = parts[1:]  # some systems pack the folder, others what is in it
        if member.is_dir() or not parts or any(SKIPPED.fullmatch(part) for part in parts if part != ".."):
            continue
        fetch = partial(_unpacked, archive, member, unpack, room)
        yield Item(parts, _packed(member), _suspicious(member, parts), fetch)


def _packed(member: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*member.date_time).astimezone(UTC)  # an archive knows local time only
    except (ValueError, OverflowError, OSError):
        return None


def _suspicious(member: zipfile.ZipInfo, parts: tuple[str, ...]) -> str:
    if ".." in parts or member.filename[:1] in {"/", "\\"} or re.match("[A-Za-z]:", member.filename):
        return "has a path that leads out of the archive"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a link to somewhere else, and links are not followed"
    return "is encrypted" if member.flag_bits & 1 else _too_large(member.file_size)


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, unpack: Path, room: list[int]) -> Path:
    """A member in a file whose name is ours, and never more bytes than allowed."""
    try:
        with archive.open(member) as packed:
            data = packed.read(LARGEST + 1)  # the size that the archive claims may be a lie
    except Exception as error:  # zlib, lzma, bz2 and zipfile each have their own
        raise Unreadable(f"is damaged in the archive: {error or type(error).__name__}") from None
    room[0] -= len(data)
    if len(data) > LARGEST or room[0] < 0:
        raise Unreadable(f"unpacks to more than {LARGEST >> 20} MB, or all of them to {ALL >> 30} GB")
    name = f"{member.header_offset}/{member.filename}".encode("utf-8", "surrogatepass")
    path = unpack / f"{hashlib.sha256(name).hexdigest()[:24]}.ipynb"
    if not (path.is_file() and path.read_bytes() == data):  # a run that resumes finds it as it was
        write_whole(path, data)
    return path
