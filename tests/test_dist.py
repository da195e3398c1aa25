"""The packages: what students get holds the whole course and no answer, and works on its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from dpcourse.workbook.course import FOLDERS
from tools import dist

ROOT = Path(__file__).resolve().parent.parent
SECRETS = ("BEGIN SOLUTION", "BEGIN HIDDEN TESTS", "wrong-answer")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("dist")]  # built once


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return dist.main(tmp_path_factory.mktemp("dist"))


def contents(package: Path) -> dict[str, bytes]:
    """Every file in a wheel, zip file or sdist, by name."""
    if package.suffix == ".gz":
        with tarfile.open(package) as packed:
            return {m.name: packed.extractfile(m).read() for m in packed.getmembers() if m.isfile()}  # type: ignore[union-attr]
    with zipfile.ZipFile(package) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def test_there_are_packages_for_students_and_archives_for_colab_and_instructors(made: list[Path]) -> None:
    wheel, sdist, colab, instructor = made
    assert (wheel.suffix, sdist.suffix) == (".whl", ".gz")
    assert colab.name.startswith("dpcourse-colab-")
    assert instructor.name == f"dpcourse-instructor-{wheel.name.split('-')[1]}.zip"


@pytest.mark.parametrize("which", [0, 1, 2], ids=["wheel", "sdist", "colab"])
def test_a_students_package_has_the_course_and_no_answers(made: list[Path], which: int) -> None:
    files = contents(made[which])
    assert not [name for name in files if "solution" in name or "/tests/" in name or "checkpoint" in name]
    notebooks = {name: text for name, text in files.items() if name.endswith(".ipynb")}
    for folder in FOLDERS:
        given = {"/".join(name.split("/")[-2:]) for name in notebooks if f"/{folder}/" in name}
        assert given == {f"{folder}/{path.name}" for path in (ROOT / folder).glob("*.ipynb")}
    assert not [
        (name, secret) for name, text in notebooks.items() for secret in SECRETS if secret in text.decode()
    ]


def test_the_wheel_has_every_file_of_the_package(made: list[Path]) -> None:
    files = contents(made[0])
    tracked = subprocess.run(
        ["git", "ls-files", "dpcourse"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    wanted = tracked.stdout.split() or [
        str(p.relative_to(ROOT)) for p in ROOT.glob("dpcourse/**/*.*") if "__pycache__" not in p.parts
    ]
    assert {Path(name).suffix for name in wanted} >= {".css", ".js", ".npz", ".txt", ".typed", ".py"}
    assert not [name for name in wanted if (ROOT / name).exists() and name not in files]
    assert not [name for name in files if name.endswith(".toml")]


def test_the_instructors_archive_has_every_master(made: list[Path]) -> None:
    files = contents(made[3])
    names = {"/".join(name.split("/")[1:]) for name in files}
    assert {f"solutions/{path.name}" for path in (ROOT / "solutions").glob("*.ipynb")} <= names
    assert {"README.txt", "LICENSE", "CONTRIBUTING.md", "docs/grading.md", "docs/nbgrader_config.py"} <= names
    assert all("BEGIN SOLUTION" in text.decode() for name, text in files.items() if "/solutions/" in name)


def test_a_notebook_for_colab_has_one_cell_more_which_does_nothing_where_the_package_is(
    made: list[Path],
) -> None:
    for name, text in contents(made[2]).items():
        first, *rest = json.loads(text)["cells"]
        assert rest == json.loads((ROOT / "/".join(name.split("/")[1:])).read_text("utf-8"))["cells"]
        source = "".join(first["source"])
        assert f"install --quiet dpcourse=={version('dpcourse')}" in source
        exec(source, {})  # no get_ipython here: it must not be asked for


def test_the_archive_is_the_same_whenever_it_is_made(made: list[Path], tmp_path: Path) -> None:
    assert dist.instructor_archive(tmp_path).read_bytes() == made[3].read_bytes()


def test_the_wheel_alone_serves_a_student(made: list[Path], tmp_path: Path) -> None:
    """Installed apart, in an empty folder: the course is copied, and a notebook is judged."""
    site, desk = tmp_path / "site", tmp_path / "desk"
    desk.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(made[0])], check=True, capture_output=True)
    env = os.environ | {"PYTHONPATH": str(site)}

    def python(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", *arguments]
        return subprocess.run(command, cwd=desk, env=env, capture_output=True, text=True, check=False)

    where = python("-c", "import dpcourse; print(dpcourse.__file__)").stdout.strip()
    assert Path(where).is_relative_to(site)
    copied = python("-m", "dpcourse", "lab", "mine", "--only-copy")
    assert copied.returncode == 0, copied.stderr
    assert "new      lectures/00_start_here.ipynb" in copied.stdout
    assert len(list(desk.glob("mine/exercises/*.ipynb"))) == len(list((ROOT / "exercises").glob("*.ipynb")))
    checked = python("-m", "dpcourse", "check", "mine/exercises/03_group_privacy.ipynb", "--json")
    assert checked.returncode == 1, checked.stderr
    report = json.loads(checked.stdout)
    assert (report["points"], report["of"]) == (0, 20)
    assert {exercise["verdict"] for exercise in report["exercises"]} == {"not answered"}
