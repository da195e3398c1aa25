"""grade: what an instructor runs."""

from __future__ import annotations

from pathlib import Path

from dpcourse.cli.parsing import UNIT, Commands, Options, moment, unit


def add_to(commands: Commands) -> None:
    """The command of this part."""
    command = commands.add(
        "grade",
        grade,
        "instructors: grade the submissions of a class",
        """dpcourse grade submissions.zip --unit 03 --out grades/03
        dpcourse grade submitted/ --unit 03 --out grades/03 --due 2026-11-30T23:59+01:00 --rule "on time"
        dpcourse grade submissions.zip --unit 03 --out grades/03 --roster roster.csv --key key.txt --json""",
    )
    add = command.add_argument
    add("submissions", type=Path, help="a folder of them, or a zip file from Canvas or Moodle")
    add(UNIT, required=True, type=unit, metavar="NN", help="as in 03")
    add("--out", required=True, type=Path, help="for grades, pages and results")
    add("--masters", type=Path, default=Path("solutions"), help="default: ./solutions")
    add("--jobs", type=int, help="how many at a time; default: one a core")
    add("--seed", help="for the inputs; default: a secret one, recorded in --out")
    add("--rule", default="last", help="which of several counts: last, first, on time, best")
    add("--due", type=moment, help="later is late, as in 2026-11-30T23:59+01:00")
    add("--roster", type=Path, help="a CSV file of the students")
    add("--key", type=Path, help="of `release --roster`: every student has variants")
    add("--assignment", default="", help='its name in Canvas, as in "Exercises 3 (4711)"')
    add("--cluster", metavar="ADDRESS", help="of a Dask scheduler: grade there")
    add("--json", action="store_true", help="a summary for scripts")
    add("--unsafe-no-sandbox", action="store_true", help="run students' code as you, with all your rights")


def grade(options: Options) -> int:
    """Grade a class, where the packages for it are loaded."""
    from dpcourse.grading import command

    return command.run(options)
