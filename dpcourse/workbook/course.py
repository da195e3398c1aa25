"""Where the course's own notebooks are, and how a student gets them: never over the student's work."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from dpcourse.errors import reject

FOLDERS: Final = ("lectures", "exercises")
FIRST_PAGE: Final = "lectures/00_start_here.ipynb"
RECORD: Final = ".dpcourse.json"
"""In the student's folder: what was given, by name and hash, so that an update knows what is new."""


def root() -> Path:
    """The folder with lectures/ and exercises/: inside the installed package, or the source checkout."""
    package = Path(__file__).resolve().parent.parent
    for place in (package / "course", package.parent):
        if (place / FIRST_PAGE).is_file():
            return place
    reject("installation", package, "one that holds the lectures", "install dpcourse again.")


def notebooks(*folders: str) -> dict[str, Path]:
    """The course's notebooks by name, as in lectures/03_group_privacy.ipynb."""
    found = (path for folder in folders for path in sorted((root() / folder).glob("*.ipynb")))
    return {f"{path.parent.name}/{path.name}": path for path in found}


@dataclass(frozen=True)
class Copied:
    """What a copy did: new files, files brought up to date, and new versions laid beside changed ones."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    beside: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            *(f"  new      {name}" for name in self.added),
            *(f"  updated  {name}" for name in self.updated),
            *(f"  beside   {name} (you changed the old one; it is untouched)" for name in self.beside),
        ]
        return "\n".join(lines) or "  everything is up to date"


def copy_to(folder: Path) -> Copied:
    """Give every notebook of the course to a student's folder.

    A file that the student changed in any way, or that we did not give, is never touched: a new version is
    laid beside it under the name of this release. A file that is as we gave it is brought up to date.
    """
    if folder.exists() and not folder.is_dir():
        reject("folder", folder, "a folder, and this is a file", "name another place.")
    record = _record(folder)
    added, updated, beside = [], [], []
    for name, source in notebooks(*FOLDERS).items():
        new, target = source.read_bytes(), folder / name
        old = target.read_bytes() if target.exists() else None
        if old is None and record.get(name) != _hash(new):
            added.append(name)
        elif old is None or old == new or record.get(name) == _hash(new):
            continue  # deleted on purpose, up to date, or the student's work on this very version
        elif record.get(name) == _hash(old):
            updated.append(name)
        else:
            target = target.with_name(f"{target.stem} (new in {version('dpcourse')}).ipynb")
            if target.exists():
                continue
            beside.append(f"{target.parent.name}/{target.name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(new)
        record[name] = _hash(new)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", "utf-8")
    return Copied(tuple(added), tuple(updated), tuple(beside))


def _record(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return {}  # without a record every file counts as the student's own
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
