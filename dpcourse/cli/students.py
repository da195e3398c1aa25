"""lab, check, repair: what a student runs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from dpcourse.cli.parsing import UNIT, Commands, Options, exercise, port, unit
from dpcourse.workbook import course

SETTINGS = Path(__file__).resolve().parent / "lab_settings"
"""No news and no questions about them, and no buttons of nbgrader; the user's own settings go first."""


def add_to(commands: Commands) -> None:
    """The commands of this part."""
    command = commands.add(
        "lab",
        lab,
        "copy the course to a folder and open it in JupyterLab",
        """dpcourse lab                        the course in ./dpcourse, opened in the browser
        dpcourse lab my-course --no-browser    serve it, and print the address
        dpcourse lab my-course --only-copy     bring the files up to date; never over your work""",
    )
    command.add_argument("folder", nargs="?", type=Path, default=Path("dpcourse"), help="default: ./dpcourse")
    command.add_argument("--port", type=port, default=8888, help="the first port to try")
    command.add_argument("--no-browser", action="store_true", help="serve, but open no browser")
    command.add_argument("--only-copy", action="store_true", help="copy and say what is new; open nothing")

    command = commands.add(
        "check",
        check,
        "judge your answers in a notebook by the checks you see",
        """dpcourse check 03                                 the exercises of unit 3 in this folder
        dpcourse check exercises/03_group_privacy.ipynb   or any notebook
        dpcourse check my_copy.ipynb --unit 03 --json     for scripts; the exit code is 0 if all is right""",
    )
    _notebook(command)
    command.add_argument("--json", action="store_true", help="for scripts")

    command = commands.add(
        "repair",
        repair,
        "restore the given cells of a notebook, keep every answer",
        """dpcourse repair 03                                the exercises of unit 3 in this folder
        dpcourse repair my_copy.ipynb --unit 03           the old file stays beside it""",
    )
    _notebook(command)


def _notebook(command: argparse.ArgumentParser) -> None:
    command.add_argument("notebook", help="a path, or a unit such as 03")
    command.add_argument(
        UNIT, type=unit, default="", metavar="NN", help="which unit it is, if its name does not say"
    )


def lab(options: Options) -> int:
    """Copy the course, say what is new, and serve it."""
    folder = options.folder.resolve()
    if folder != course.root():  # in a source checkout the course is already there
        print(f"The course is in {folder}\n{course.copy_to(folder)}", flush=True)
    if options.only_copy:
        return 0
    from jupyterlab.labapp import LabApp  # in this process: signals and exit codes are its own

    LabApp.launch_instance(
        [
            *(f"--ServerApp.root_dir={folder}", f"--LabApp.default_url=/lab/tree/{course.FIRST_PAGE}"),
            *(f"--ServerApp.port={options.port}", "--ServerApp.port_retries=50"),
            f"--LabApp.app_settings_dir={SETTINGS}",
            "--allow-root",  # in a container there is often nobody else
            *(["--no-browser"] if options.no_browser else []),
        ]
    )
    return 0


def check(options: Options) -> int:
    """Print a table of the exercises; 0 if all are right."""
    from dpcourse.workbook import grade

    report = grade.self_check(exercise(options.notebook), options.unit)
    print(json.dumps(report.data(), ensure_ascii=False, indent=1) if options.json else report)
    return int(report.points[0] < report.points[1])


def repair(options: Options) -> int:
    """Write the repaired notebook, with the old one beside it."""
    from dpcourse.workbook import answers, grade
    from dpcourse.workbook.notebook import read, write
    from dpcourse.workbook.variants import adopted

    path = exercise(options.notebook)
    student = read(path, strict=False)
    pristine = adopted(read(grade.exercise_of(path, student, options.unit)), student)
    mended, found = answers.repaired(student, pristine)
    aside = next(
        p for n in range(1, 1000) if not (p := path.with_suffix(f".before-repair-{n}.ipynb")).exists()
    )
    aside.write_bytes(path.read_bytes())
    write(path, mended)
    print(f"{path} is repaired: {len(found.answers)} answers kept. The old file is {aside.name}.")
    for remark in found.remarks:
        print(f"  {remark.partition(';')[0]}")
    return 0
