"""The folder of a run: what was asked (private), and one line a submission, written as it is graded.

results.jsonl   one line a submission: its result, the hash of its notebook, and the evidence
run.json        the seed and the hashes that make a run repeatable: for the grader's eyes
questions.json  the questions of the run: for the grader's eyes
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from dpcourse.errors import BadInput
from dpcourse.grading.one import Graded
from dpcourse.grading.plan import Plan
from dpcourse.grading.records import Result

RESULTS: Final = "results.jsonl"
RECORD: Final = "run.json"
QUESTIONS: Final = "questions.json"
EVIDENCE: Final = 2**18
"""Characters of evidence kept for one exercise of one student."""


class NoRoom(BadInput):
    """The disk is full, or the folder cannot be written."""


class Journal:
    """The results of a run so far; every line that is there is whole."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RESULTS
        self.known: dict[tuple[str, str], Result] = {}
        with _clearly(folder):
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            whole = 0
            for line in self.path.read_bytes().splitlines(keepends=True):
                if not line.endswith(b"\n"):
                    break  # the run was killed in the middle of it
                row = json.loads(line)
                self.known[row["result"]["student"], row["notebook"]] = Result.of(row["result"])
                whole += len(line)
            os.ftruncate(self.file, whole)

    def add(self, graded: Graded, notebook: str) -> None:
        """One more line, all of it or nothing."""
        kept = {name: found for name, found in graded.evidence.items() if len(json.dumps(found)) < EVIDENCE}
        row = {"result": graded.result.data(), "notebook": notebook, "evidence": kept}
        line = (json.dumps(row, ensure_ascii=True) + "\n").encode()
        end = os.fstat(self.file).st_size
        with _clearly(self.path.parent):
            try:
                if os.write(self.file, line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(self.file)
            except OSError:
                os.ftruncate(self.file, end)
                raise
        self.known[graded.result.student, notebook] = graded.result

    def close(self) -> None:
        """No more lines."""
        os.close(self.file)


def digest(*parts: bytes) -> str:
    """A hash of what was read."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


@contextmanager
def opened(folder: Path) -> Iterator[None]:
    """The folder of a run, for one grader at a time."""
    with _clearly(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise BadInput(
            f"{folder} is in use by another run. Fix: wait for it, or choose another folder."
        ) from None
    try:
        yield
    finally:
        os.close(lock)


def seed_of(folder: Path, master: str, seed: str | None, sandboxed: bool) -> str:
    """The seed of the run: the recorded one, if the folder holds a run of this master; else a new one."""
    path = folder / RECORD
    about = {"master": digest(master.encode()), "sandboxed": sandboxed}
    with _clearly(folder):
        if path.exists():
            found: dict[str, Any] = json.loads(path.read_text("utf-8"))
            same = all(found.get(key) == value for key, value in about.items())
            if not same or (seed is not None and seed != found["seed"]):
                raise BadInput(
                    f"{folder} holds another run (another master, seed or sandbox). "
                    "Fix: choose an empty folder for --out, or delete this one."
                )
            return str(found["seed"])
        chosen = secrets.token_hex(16) if seed is None else seed
        write_private(path, json.dumps(about | {"seed": chosen}, indent=1) + "\n")
    return chosen


def keep_questions(folder: Path, unit: Plan) -> None:
    """What everybody was asked, once for the run."""
    asked = {task.exercise.name: [one.questions for one in task.asked] for task in unit.tasks}
    with _clearly(folder):
        write_private(folder / QUESTIONS, json.dumps(asked) + "\n")


def write_private(path: Path, text: str) -> None:
    """A whole file or none, for our own eyes."""
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(file, "w", encoding="utf-8") as out:
            out.write(text)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


@contextmanager
def _clearly(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        fix = "free some space" if full else "choose a folder that you can write to"
        raise NoRoom(
            f"{folder} cannot be written: {error.strerror}. Every result in {RESULTS} is whole and kept. "
            f"Fix: {fix}, then give the same command again; it goes on from there."
        ) from None
