"""A class at once: the same grades on any number of workers, after any interruption, and on a cluster."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcourse.errors import BadInput
from dpcourse.grading import batch, journal, sandbox, verdict
from dpcourse.grading.batch import grade
from dpcourse.grading.kernel import Kernel
from dpcourse.grading.one import Graded, Job, grade_one, prepared
from dpcourse.grading.records import Result, Submission
from dpcourse.workbook.notebook import text
from tests.small_unit import LIMITS, MASTER, graded, submitted

SANDBOX = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
WRONG = "def double(x):\n    return x"
STUDENTS = {
    "ada": {},
    "bo": {"double": WRONG},
    "cy": {"mix": "import os\nos._exit(1)"},
    "dee": {"count": "def count(epsilon):\n    return lambda data: dp.laws.Laplace(float(len(data)), 0.01)"},
    "eli": {"pair": "raise ValueError"},
    "fay": {"respond": "def respond(coins, truth):\n    return truth"},
}
POINTS = {"ada": 10, "bo": 8, "cy": 8, "dee": 8, "eli": 8, "fay": 8}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a master and six submissions."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions/99_small.ipynb").write_text(text(MASTER), "utf-8")
    (tmp_path / "in").mkdir()
    for student, answers in STUDENTS.items():
        (tmp_path / f"in/{student}.ipynb").write_text(text(submitted(**answers)), "utf-8")
    return tmp_path


def submissions(folder: Path) -> list[Submission]:
    return [Submission(path.stem, path) for path in sorted((folder / "in").iterdir())]


def run(folder: Path, out: str, **options: Any) -> list[Result]:
    options = {"seed": "a seed", "limits": LIMITS, "progress": False} | options
    return grade(submissions(folder), folder / "solutions/99_small.ipynb", folder / out, **options)


def marks(results: list[Result]) -> dict[str, Any]:
    """All that a grade depends on: everything but the time it took."""
    return {result.student: {**result.data(), "seconds": 0} for result in results}


def command(folder: Path, out: str) -> list[str]:
    return [
        *(sys.executable, "-m", "dpcourse", "grade", str(folder / "in"), "--unit", "99", "--seed", "a seed"),
        *("--masters", str(folder / "solutions"), "--out", str(folder / out), "--jobs", "2"),
    ]


def lines(folder: Path) -> int:
    path = folder / journal.RESULTS
    return path.read_bytes().count(b"\n") if path.exists() else 0


@SANDBOX
@pytest.mark.slow
def test_the_same_seed_gives_the_same_verdicts_on_any_number_of_workers(folder: Path) -> None:
    one, two = run(folder, "one", jobs=1), run(folder, "two", jobs=2)
    assert marks(one) == marks(two)
    assert {result.student: result.points for result in one} == POINTS
    other = run(folder, "other", jobs=2, seed="another seed")
    assert {result.student: result.points for result in other} == POINTS
    asked = [json.loads((folder / out / journal.QUESTIONS).read_text()) for out in ("one", "two", "other")]
    assert asked[0] == asked[1]
    assert asked[0] != asked[2]


@SANDBOX
@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_and_ends_with_the_same_grades(folder: Path) -> None:
    """`kill -9`, three times, at moments that come as they may; and a line that was cut in the middle."""
    before = _orphans()
    whole = subprocess.run(command(folder, "whole"), capture_output=True, text=True, check=False)
    assert whole.returncode == 0, whole.stderr
    for kill in range(3):
        process = subprocess.Popen(
            command(folder, "cut"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while lines(folder / "cut") <= kill and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert kill < lines(folder / "cut") < len(STUDENTS)
        with (folder / "cut" / journal.RESULTS).open("ab") as results:
            results.write(b'{"result": {"student": "zo')
    again = subprocess.run(command(folder, "cut"), capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    for name in ("grades.csv", "canvas.csv", "moodle.csv"):
        assert (folder / "cut" / name).read_text() == (folder / "whole" / name).read_text()
    assert lines(folder / "cut") == len(STUDENTS)
    end = time.monotonic() + 10
    while (left := _orphans() - before) and time.monotonic() < end:
        time.sleep(0.2)
    assert not left, "workers must end with whoever started them"


def _orphans() -> set[int]:
    """Kernels whose grader is gone."""
    return {
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/stat")
        if _says(path.parent / "cmdline", b"dpcourse.grading.launch") and _says(path, b") S 1 ")
    }


def test_files_outside_of_a_sandbox_are_nobodys_fault() -> None:
    """A process that has not yet entered its sandbox sees the folders of the machine, full as they may be."""
    assert sandbox.files_of(os.getpid()) == 0


@SANDBOX
def test_a_kernel_ends_when_its_grader_lets_go_of_it() -> None:
    """Whoever is killed closes all its files, also before bubblewrap begins to watch over its parent."""
    kernel = Kernel(LIMITS, time.monotonic() + 60)
    assert kernel.is_alive()
    assert kernel.process.stdin is not None
    kernel.process.stdin.close()
    assert kernel.process.wait(30)
    kernel.stop()


def _says(path: Path, what: bytes) -> bool:
    try:
        return what in path.read_bytes()
    except OSError:
        return False


@SANDBOX
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_cluster_gives_the_same_grades_though_a_worker_is_killed(folder: Path) -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        killed: list[int] = []

        def watch() -> None:
            while not lines(folder / "far"):
                time.sleep(0.02)
            process = next(iter(cluster.workers.values())).process.process
            killed.append(process.pid)
            os.kill(process.pid, signal.SIGKILL)

        import threading

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        far = run(folder, "far", jobs=2, cluster=cluster.scheduler_address)
        watcher.join(30)
        assert killed
    assert marks(far) == marks(run(folder, "near", jobs=2))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_no_scheduler_is_a_clear_error() -> None:
    with (
        pytest.raises(BadInput, match=r"no Dask scheduler answers at nonsense.*Fix: check the address"),
        batch._executor(1, "nonsense"),
    ):
        pass


# -- a worker that dies, without the worker -------------------------------------------------------


class Deadly(Executor):
    """Grades by a table; whoever grades `cy` dies, and takes what is under way along; `bo` is given up."""

    def submit(self, call: Any, /, job: Any, *rest: Any, **named: Any) -> Future[Any]:  # type: ignore[override]
        future: Future[Any] = Future()
        if job.student == "cy":
            future.set_exception(BrokenExecutor())
        elif job.student == "bo":
            future.set_exception(RuntimeError("Dask gives a task up after four workers"))
        else:
            future.set_result(Graded(Result(job.student, "99", ()), {}))
        return future


def test_who_ends_a_worker_needs_a_human_and_the_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def executor(jobs: int, cluster: str | None) -> Iterator[Executor]:
        yield Deadly()

    monkeypatch.setattr(batch, "_executor", executor)
    jobs = [Job(student, b"", text(MASTER), "a seed", LIMITS) for student in STUDENTS]
    entries = (batch.Entry(job, job.student) for job in jobs)
    found = {entry.job.student: graded.result for entry, graded in batch._graded(entries, 2, None)}
    assert set(found) == set(STUDENTS)
    assert [name for name, result in found.items() if result.needs_a_human] == ["bo", "cy"]


def test_a_verdict_without_end_needs_a_human_in_any_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(point: Any, found: Any) -> str:
        while True:
            pass

    monkeypatch.setattr(verdict, "JUDGING", 0.3)
    task = prepared(text(MASTER), "a seed").tasks[0]
    asked = replace(task.asked[0], expectation=replace(task.asked[0].expectation, judge=endless))
    stuck = replace(task, asked=(asked,))
    assert verdict.mark(stuck, list(task.solution)).verdict == "needs a human"
    with ThreadPoolExecutor(1) as pool:  # as a worker of Dask has
        assert pool.submit(verdict.mark, stuck, list(task.solution)).result().verdict == "needs a human"
        assert pool.submit(verdict.mark, task, list(task.solution)).result().verdict == "right"


# -- the folder of a run --------------------------------------------------------------------------


def test_a_run_has_its_folder_alone(tmp_path: Path) -> None:
    with (
        journal.opened(tmp_path / "out"),
        pytest.raises(BadInput, match="in use by another run"),
        journal.opened(tmp_path / "out"),
    ):
        pass


def test_another_master_or_seed_does_not_mix_with_what_is_there(tmp_path: Path) -> None:
    first = journal.seed_of(tmp_path, "master", None, True)
    assert journal.seed_of(tmp_path, "master", None, True) == first
    assert journal.seed_of(tmp_path, "master", first, True) == first
    for master, seed, sandboxed in (("other", None, True), ("master", "x", True), ("master", None, False)):
        with pytest.raises(BadInput, match="holds another run"):
            journal.seed_of(tmp_path, master, seed, sandboxed)


def test_a_secret_seed_is_drawn_and_only_ours_to_read(tmp_path: Path) -> None:
    seeds = {journal.seed_of(tmp_path / name, "master", None, True) for name in _made(tmp_path, "abc")}
    assert len(seeds) == 3
    assert all(len(seed) == 32 for seed in seeds)
    assert (tmp_path / "a" / journal.RECORD).stat().st_mode & 0o077 == 0


def _made(folder: Path, names: str) -> str:
    for name in names:
        (folder / name).mkdir()
    return names


@pytest.mark.parametrize("kept", [0, 20])
def test_a_full_disk_is_a_clear_error_and_leaves_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    book = journal.Journal(tmp_path)
    done = Graded(Result("ada", "99", ()), {})
    book.add(done, "one")
    before = book.path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:kept]))
    with pytest.raises(BadInput, match=r"No space left on device.*Fix: free some space, then give the same"):
        book.add(done, "two")
    monkeypatch.undo()
    assert book.path.read_bytes() == before
    book.add(done, "two")
    book.close()
    assert set(journal.Journal(tmp_path).known) == {("ada", "one"), ("ada", "two")}


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(BadInput, match="choose a folder that you can write to"),
        journal.opened(tmp_path / "file/out"),
    ):
        pass


# -- the sandbox ----------------------------------------------------------------------------------


def test_without_a_sandbox_it_refuses_and_says_how_to_get_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.program.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(
        BadInput, match=r"bwrap is not installed.*apt install bubblewrap.*--unsafe-no-sandbox"
    ):
        run(folder, "out")
    assert not (folder / "out").exists()
    sandbox.program.cache_clear()


@SANDBOX
def test_solutions_and_grades_may_not_lie_where_students_look(folder: Path) -> None:
    with pytest.raises(BadInput, match="which students' code can read"):
        grade(submissions(folder), folder / "solutions/99_small.ipynb", Path(sys.prefix) / "grades")


def test_a_master_that_its_own_check_refuses_is_told() -> None:
    bad = submitted(
        double="def double(x):\n    ### BEGIN SOLUTION: Once.\n    return x\n    ### END SOLUTION"
    )
    with pytest.raises(BadInput, match=r"'check-double' refuses the master's own solution at x="):
        grade_one(Job("ada", b"", text(bad), "a seed", LIMITS))


@pytest.mark.parametrize(("absent", "verdict"), [(False, "needs a human"), (True, "not answered")])
def test_what_could_not_be_taken_needs_a_human_and_what_was_not_handed_in_does_not(
    absent: bool, verdict: str
) -> None:
    why = "03_a.ipynb and 03_b.ipynb came together: remove all but one"
    job = Job("ada", b"", text(submitted()), "a seed", LIMITS, problem=why, absent=absent)
    result = grade_one(job).result
    assert {mark.verdict for mark in result.marks} == {verdict}
    assert (result.points, result.remarks) == (0, (why,))


@SANDBOX
@pytest.mark.slow
def test_the_whole_command(folder: Path) -> None:
    """From a folder of notebooks to grades, pages and an exit code."""
    done = subprocess.run(command(folder, "out"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "graded 6 submissions" in done.stdout
    rows = (folder / "out/grades.csv").read_text("utf-8-sig").splitlines()
    assert len(rows) == 7
    assert sorted(path.stem for path in (folder / "out/feedback").iterdir()) == sorted(STUDENTS)
    page = (folder / "out/class.html").read_text("utf-8")
    assert all(f"feedback/{student}.html" in page for student in STUDENTS)
    assert graded(submitted()).result.points == 10
