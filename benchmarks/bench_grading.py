"""Grading: processor seconds a submission, next to `nbgrader autograde` and `otter run`; memory over time.

One notebook of 15 code cells, as each of the three wants it: a given cell, seven answers, seven checks. Ours
runs in its sandbox; the two others have none. Processor time counts every process that a command started.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from benchmarks.harness import Row
from dpcourse.workbook.notebook import text
from dpcourse.workbook.release import release

EXERCISES, STUDENTS, MANY = 7, 12, 200
GIVEN = "import math\n\nimport dpcourse as dp\nfrom dpcourse import check, expect"
UNIT = "99_speed"

# Runs a command and prints the processor seconds of all that it started: orphans become ours to wait for.
COUNT = """
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
while True:
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        break
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, done.returncode, done.stderr[-2000:])
"""


def rows() -> Iterator[Row]:
    """The two peers, then 200 submissions."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ours = _ours(home, STUDENTS, "few") / STUDENTS
        nbgrader = _nbgrader(home) / STUDENTS
        what = "15-cell notebook, sandboxed, against"
        goal = "throughput >= 1.5 x peer"
        yield Row(f"{what} nbgrader autograde", ours, nbgrader, "CPU s", goal, nbgrader >= 1.5 * ours)
        goal = "throughput >= 5 x peer"
        try:
            otter = _otter(home)
            yield Row(f"{what} otter run", ours, otter, "CPU s", goal, otter >= 5 * ours)
        except (FileNotFoundError, RuntimeError) as error:
            yield Row(f"{what} otter run", ours, None, "CPU s", goal, None, str(error)[:200])
        yield _long_run(home)


def _notebook() -> dict[str, Any]:
    """The master."""
    cells = [_cell("imports", GIVEN)]
    for n in range(1, EXERCISES + 1):
        solution = f"    ### BEGIN SOLUTION: Square it.\n    return x * x + {n}\n    ### END SOLUTION\n"
        check = f'check("f{n}", f{n}, expect.values(lambda x: x**2 + {n}, x=expect.Whole(0, 1000)))\n'
        cells += [
            {"id": f"ex-f{n}", "cell_type": "markdown", "metadata": {}, "source": f"## {n} (2 points)"},
            _cell(f"f{n}", f"def f{n}(x):\n{solution}", solution=True, grade=False, locked=False),
            _cell(f"check-f{n}", check, solution=False, grade=True, locked=True, points=2),
        ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"dpcourse": {"unit": "99"}, "kernelspec": kernel}
    return {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def _cell(name: str, source: str, **marks: Any) -> dict[str, Any]:
    about = {"nbgrader": {"grade_id": name, "schema_version": 3, "task": False, **marks}} if marks else {}
    cell = {"id": name, "cell_type": "code", "source": source, "metadata": about}
    return {**cell, "outputs": [], "execution_count": None}


def _counted(command: list[str], folder: Path) -> float:
    """Processor seconds of a command."""
    own = {f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    tools = os.pathsep.join([str(Path(command[0]).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-c", COUNT, *command],
        cwd=folder,
        env=os.environ | own | {"PATH": tools},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, code, said = done.stdout.split(" ", 2)
    if int(code):
        raise RuntimeError(f"{Path(command[0]).name} failed: {said}")
    return float(seconds)


def _command(home: Path, students: int, out: str) -> list[str]:
    folder = home / f"in-{students}"
    (home / "solutions").mkdir(exist_ok=True)
    folder.mkdir(exist_ok=True)
    (home / f"solutions/{UNIT}.ipynb").write_text(text(_notebook()), "utf-8")
    for n in range(students):
        (folder / f"student{n}.ipynb").write_text(text(_notebook()), "utf-8")
    return [
        *(sys.executable, "-m", "dpcourse", "grade", str(folder), "--unit", "99", "--jobs", "2"),
        *("--masters", str(home / "solutions"), "--out", str(home / out)),
    ]


def _ours(home: Path, students: int, out: str) -> float:
    return _counted(_command(home, students, out), home)


def _nbgrader(home: Path) -> float:
    course = home / "nbgrader"
    (course / "source" / UNIT).mkdir(parents=True)
    (course / f"source/{UNIT}/{UNIT}.ipynb").write_text(text(_notebook()), "utf-8")
    shutil.copy(Path(__file__).resolve().parent.parent / "docs/nbgrader_config.py", course)
    for n in range(STUDENTS):
        place = course / f"submitted/student{n}/{UNIT}"
        place.mkdir(parents=True)
        (place / f"{UNIT}.ipynb").write_text(text(_notebook()), "utf-8")
    nbgrader = [sys.executable, "-m", "nbgrader"]
    _counted([*nbgrader, "generate_assignment", UNIT], course)
    return _counted([*nbgrader, "autograde", UNIT], course)


def _otter(home: Path) -> float:
    """One submission; `otter run` takes one at a time."""
    otter = shutil.which(
        "otter", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if otter is None:
        raise FileNotFoundError("otter-grader is not installed")
    course = home / "otter"
    (course / "tests").mkdir(parents=True)
    for n in range(1, EXERCISES + 1):
        case = {"code": f">>> [f{n}(x) for x in range(100)] == [x * x + {n} for x in range(100)]\nTrue"}
        suite = {"cases": [case], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
        test = {"name": f"f{n}", "points": 2, "suites": [suite]}
        (course / f"tests/f{n}.py").write_text(f"OK_FORMAT = True\n\ntest = {test!r}\n", "utf-8")
    student = release(_notebook())
    answers = {cell["id"]: cell["source"] for cell in _notebook()["cells"]}
    for cell in student["cells"]:
        cell["source"] = answers[cell["id"]]
        if cell["id"].startswith("check-"):
            cell["source"] = f'grader.check("{cell["id"].removeprefix("check-")}")'
    student["cells"][0]["source"] = GIVEN + "\nimport otter\n\ngrader = otter.Notebook()"
    (course / "student.ipynb").write_text(json.dumps(student), "utf-8")
    _counted([otter, "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment"], course)
    return _counted([otter, "run", "-a", "autograder.zip", "-o", ".", "student.ipynb"], course)


def _long_run(home: Path) -> Row:
    """The memory of the grader and its two workers after a fifth of 200 submissions, and at the end."""
    process = subprocess.Popen(
        _command(home, MANY, "many"), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    sizes: list[tuple[int, float]] = []

    def watch() -> None:
        results = home / "many/results.jsonl"
        while process.poll() is None:
            done = results.read_bytes().count(b"\n") if results.exists() else 0
            sizes.append((done, _megabytes(process.pid)))
            time.sleep(0.5)

    start = time.perf_counter()
    watcher = threading.Thread(target=watch)
    watcher.start()
    process.wait()
    watcher.join()
    seconds = time.perf_counter() - start
    early = max(size for done, size in sizes if MANY // 10 <= done <= MANY // 5)
    late = max(size for done, size in sizes if done >= MANY - MANY // 10)
    note = f"{MANY} submissions in {seconds:.0f} s on two workers; early against late"
    return Row(
        "grading, memory of grader and workers",
        late,
        early,
        "MB",
        "<= 1.1 x early",
        late <= 1.1 * early,
        note,
    )


def _megabytes(pid: int) -> float:
    try:
        grader = psutil.Process(pid)
        workers = [child for child in grader.children() if child.name() != "bwrap"]
        return float(sum(process.memory_info().rss for process in (grader, *workers)) / 2**20)
    except psutil.Error:
        return 0.0
