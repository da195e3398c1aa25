"""The real nbgrader: it releases our masters, grades the solution to full points and the release to none."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dpcourse.workbook.notebook import read, text

ROOT = Path(__file__).resolve().parent.parent
UNITS = [path.stem for path in sorted((ROOT / "solutions").glob("*.ipynb"))]

pytestmark = pytest.mark.slow


def nbgrader(course: Path, *arguments: str) -> str:
    """Run a command of nbgrader in its course folder, with settings of its own."""
    own = {f"JUPYTER_{kind}_DIR": str(course / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # it calls alembic
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        env=os.environ | own | {"PATH": tools},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_goes_through_nbgrader(unit: str, tmp_path: Path) -> None:
    notebook = f"{unit}.ipynb"
    (tmp_path / "source" / unit).mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / notebook, tmp_path / "source" / unit)
    shutil.copy(ROOT / "docs/nbgrader_config.py", tmp_path)
    nbgrader(tmp_path, "generate_assignment", unit)

    released = read(tmp_path / "release" / unit / notebook)
    assert "BEGIN SOLUTION" not in text(released)
    assert not [cell["id"] for cell in released["cells"] if cell["id"].startswith(("wrong-", "why-"))]

    handed_in = {
        "all": ROOT / "solutions" / notebook,
        "none": ROOT / "exercises" / notebook,
        "theirs": tmp_path / "release" / unit / notebook,
    }
    for student, path in handed_in.items():
        (tmp_path / "submitted" / student / unit).mkdir(parents=True)
        shutil.copy(path, tmp_path / "submitted" / student / unit)
    nbgrader(tmp_path, "autograde", unit)
    nbgrader(tmp_path, "generate_feedback", unit)

    with closing(sqlite3.connect(tmp_path / "gradebook.db")) as book:
        rows = book.execute(
            "SELECT submitted_assignment.student_id, SUM(COALESCE(grade.auto_score, 0)) FROM grade"
            " JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id"
            " JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id"
            " GROUP BY submitted_assignment.student_id"
        ).fetchall()
    assert dict(rows) == {"all": 20.0, "none": 0.0, "theirs": 0.0}
    for student in handed_in:
        feedback = tmp_path / "feedback" / student / unit / f"{unit}.html"
        assert "How far apart?" in feedback.read_text("utf-8") if unit.startswith("03") else feedback.exists()
