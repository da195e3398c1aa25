"""Grade many submissions at once: on all cores, or on a Dask cluster; stopped at any moment, it goes on."""

from __future__ import annotations

import faulthandler
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from dpcourse.errors import BadInput, whole
from dpcourse.grading import journal, sandbox
from dpcourse.grading.limits import Limits
from dpcourse.grading.one import Graded, Job, grade_one, prepared
from dpcourse.grading.records import Result, Submission
from dpcourse.grading.verdict import failed
from dpcourse.workbook.notebook import Notebook, read, text

TRIES: Final = 2
"""How often a submission may take a worker down with it, all by itself."""
HANGS: Final = 120
"""Seconds past the limit of a submission after which the grader itself must be stuck."""
_turn: Final = threading.Lock()
"""One notebook at a time in a process: a worker of a cluster may have many threads."""
Variant = Callable[[Notebook, str], Notebook]
"""From a master and a student to the student's own master."""


@dataclass(frozen=True)
class Entry:
    """A submission under way, and the hash of what was read."""

    job: Job
    notebook: str


def grade(
    submissions: Iterable[Submission],
    master: Path,
    out: Path,
    *,
    jobs: int | None = None,
    seed: str | None = None,
    sandboxed: bool = True,
    cluster: str | None = None,
    limits: Limits | None = None,
    variant: Variant | None = None,
    progress: bool = True,
) -> list[Result]:
    """Grade every submission and return the results in their order; `out` also keeps them as they come.

    The same command, given again after any interruption, grades what is missing. The same seed gives the
    same questions, and without one a secret seed is drawn and recorded in `out`.
    """
    submissions, limits = list(submissions), limits or Limits()
    jobs = whole("jobs", jobs) if jobs is not None else _cores()
    if sandboxed:
        sandbox.program()
        for path in (master, out, *(s.path for s in submissions if s.path)):
            sandbox.refuse_if_shown(path)
    notebook = read(master)
    with journal.opened(out):
        chosen = journal.seed_of(out, text(notebook), seed, sandboxed)
        journal.keep_questions(out, prepared(text(notebook), chosen))
        book, order = journal.Journal(out), []

        def missing() -> Iterator[Entry]:
            for submission in submissions:
                entry = _entry(submission, notebook, chosen, limits, sandboxed, variant)
                order.append((entry.job.student, entry.notebook))
                if _done(book, entry):
                    bar.update()
                else:
                    yield entry

        try:
            with _bar(len(submissions), progress) as bar:
                for entry, graded in _graded(missing(), jobs, cluster):
                    book.add(graded, entry.notebook)
                    bar.update()
            return [book.known[key] for key in order]
        finally:
            book.close()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _entry(
    submission: Submission,
    master: Notebook,
    seed: str,
    limits: Limits,
    sandboxed: bool,
    variant: Variant | None,
) -> Entry:
    data, problem = (b"", submission.problem) if submission.problem else contents(submission.path, limits)
    own = variant(master, submission.student) if variant else master
    absent = submission.absent or (submission.path is None and not submission.problem)
    job = Job(submission.student, data, text(own), seed, limits, sandboxed, submission.late, problem, absent)
    return Entry(job, journal.digest(data, problem.encode(), bytes([submission.late]), job.master.encode()))


def contents(path: Path | None, limits: Limits) -> tuple[bytes, str]:
    """The bytes of a submission, or why there are none; never through a link, never more than allowed."""
    if path is None:
        return b"", "no notebook was handed in"
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        return b"", f"the file cannot be read: {getattr(error, 'strerror', error)}"
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        return b"", "what was handed in is not a file"
    with os.fdopen(file, "rb") as opened:
        try:
            data = opened.read(limits.notebook + 1)
        except OSError as error:
            return b"", f"the file cannot be read: {error.strerror}"
    if len(data) > limits.notebook:
        return b"", f"the file is larger than {limits.notebook // 2**20} MB: no notebook of a student is"
    return data, ""


def _done(book: journal.Journal, entry: Entry) -> bool:
    """Whether the very same notebook has its result; a failure of ours is tried again."""
    found = book.known.get((entry.job.student, entry.notebook))
    return found is not None and not found.needs_a_human


def _bar(total: int, progress: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, unit="notebook", file=sys.stderr, disable=not progress)


def _graded(entries: Iterator[Entry], jobs: int, cluster: str | None) -> Iterator[tuple[Entry, Graded]]:
    """Each entry with its result, as they come; a worker that dies takes nothing with it."""
    suspects: list[Entry] = []
    while True:
        broken = yield from _through(entries, jobs, cluster)
        if not broken:
            break
        suspects += broken
    for entry in suspects:  # one of them ended a worker, and the others only happened to be there
        for _ in range(TRIES):
            if not (yield from _through(iter([entry]), 1, cluster)):
                break
        else:
            yield entry, _lost(entry.job)


def _through(
    entries: Iterator[Entry], jobs: int, cluster: str | None
) -> Generator[tuple[Entry, Graded], None, list[Entry]]:
    """Results from one pool of workers, until all is done; what was under way, if the pool broke."""
    running: dict[Future[Graded], Entry] = {}
    with _executor(jobs, cluster) as pool:
        try:
            while True:
                for entry in islice(entries, 2 * jobs - len(running)):
                    running[pool.submit(_grade, entry.job)] = entry
                if not running:
                    return []
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running[future], _outcome(future, running[future].job)
                    del running[future]
        except BrokenExecutor:
            return list(running.values())


def _outcome(future: Future[Graded], job: Job) -> Graded:
    """What a worker says; on a cluster, one that died over a notebook says so about this notebook alone."""
    try:
        return future.result()
    except (BrokenExecutor, BadInput):
        raise
    except Exception:
        return _lost(job)


def _grade(job: Job) -> Graded:
    """In a worker; one that hangs in spite of every limit is ended from outside of Python."""
    with _turn, Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(job.limits.submission_seconds + HANGS, exit=True, file=nowhere)
        try:
            return grade_one(job)
        finally:
            faulthandler.cancel_dump_traceback_later()


def _lost(job: Job) -> Graded:
    said = "the grader's process died over this notebook"
    unit = prepared(job.master, job.seed)
    marks = tuple(failed(task, "needs a human", found=said) for task in unit.tasks)
    return Graded(Result(job.student, unit.unit, marks, (said,), job.late, job.sandboxed), {})


@contextmanager
def _executor(jobs: int, cluster: str | None) -> Iterator[Executor]:
    if cluster is None:
        context = get_context("spawn")  # not a copy of this process with its threads and files
        with ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(os.getpid(),)) as pool:
            yield pool
        return
    try:
        from distributed import Client
    except ImportError:
        raise BadInput("--cluster needs Dask. Fix: pip install 'dpcourse[cluster]'.") from None
    try:
        client: Any = Client(cluster, timeout=30)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise BadInput(f"no Dask scheduler answers at {cluster}: {error}. Fix: check the address.") from None
    with client:
        yield client.get_executor(pure=False)


def _begin(parent: int) -> None:
    """In a fresh worker: end with whoever started it, also if that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
