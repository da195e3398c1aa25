"""Make the packages: wheel and sdist for students, notebooks for Colab, an archive for instructors."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

from dpcourse.workbook import course
from dpcourse.workbook.notebook import Cell, read, text

ROOT = Path(__file__).resolve().parent.parent
FOR_INSTRUCTORS = (
    *("solutions/*.ipynb", "CONTRIBUTING.md"),
    *("docs/instructors.md", "docs/grading.md", "docs/nbgrader_config.py"),
)
READ_ME = """dpcourse {version} for instructors. Do not publish this: it holds solutions and hidden tests.

  pip install dpcourse-{version}-py3-none-any.whl             `make dist` puts it beside this archive
  dpcourse doctor                                          says whether grading works here
  dpcourse grade submissions.zip --unit 03 --out grades/03

Run the commands in this folder: `dpcourse grade` looks for the masters in ./solutions.
docs/grading.md says what grading does and what it does not catch.
"""


COLAB = """# In Colab this fetches the package and switches on its widgets; elsewhere nothing happens.
import importlib.util
import sys

if importlib.util.find_spec("dpcourse") is None:
    get_ipython().run_line_magic("pip", "install --quiet {source}")
if "google.colab" in sys.modules:
    from google.colab import output

    output.enable_custom_widget_manager()"""
SOURCE = "dpcourse=={version}"
"""What Colab installs; the variable SOURCE names another place, such as the address of a wheel."""


def main(folder: Path) -> list[Path]:
    """Build everything into a folder; the files that were made."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    instructor_archive(folder)
    colab_archive(folder, os.environ.get("SOURCE") or SOURCE.format(version=version("dpcourse")))
    return sorted(folder.glob(f"dpcourse*{version('dpcourse')}*"))


def instructor_archive(folder: Path) -> Path:
    """The masters and what is needed to grade with them."""
    name = f"dpcourse-instructor-{version('dpcourse')}"
    files = {
        "README.txt": READ_ME.format(version=version("dpcourse")).encode(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    for pattern in FOR_INSTRUCTORS:
        files |= {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in ROOT.glob(pattern)}
    return packed(folder / f"{name}.zip", files)


def colab_archive(folder: Path, source: str) -> Path:
    """Lectures and exercises with a first cell that installs the package when they are opened in Colab."""
    first: Cell = {"cell_type": "code", "id": "colab", "metadata": {"tags": ["colab"]}}
    first |= {"execution_count": None, "outputs": [], "source": COLAB.format(source=source)}
    files = {}
    for name, path in course.notebooks(*course.FOLDERS).items():
        notebook = read(path)
        files[name] = text(notebook | {"cells": [first, *notebook["cells"]]}).encode()
    return packed(folder / f"dpcourse-colab-{version('dpcourse')}.zip", files)


def packed(path: Path, files: dict[str, bytes]) -> Path:
    """A zip file with everything in one folder; the same bytes from the same files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{path.stem}/{name}")  # its date is 1980, on every machine
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return path


if __name__ == "__main__":
    for made in main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()):
        print(made)
