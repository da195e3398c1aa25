"""build, release, coverage: what an author runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dpcourse.cli.parsing import Commands, Options
from dpcourse.errors import BadInput
from dpcourse.workbook.notebook import Notebook, read, text, write


def add_to(commands: Commands) -> None:
    """The commands of this part."""
    command = commands.add(
        "build",
        build,
        "authors: run notebooks and store their outputs",
        """dpcourse build lectures/03_group_privacy.ipynb
        dpcourse build --check lectures/*.ipynb      change nothing, say what is not as built""",
    )
    command.add_argument("notebooks", nargs="+", type=Path)
    command.add_argument("--check", action="store_true", help="change nothing; say what is not as built")

    command = commands.add(
        "release",
        release,
        "authors: make exercises/ from solutions/",
        """dpcourse release                                       exercises/ from solutions/
        dpcourse release --check                               change nothing, say what is not as released
        dpcourse release --roster roster.csv --key key.txt     a notebook a student""",
    )
    command.add_argument("--from", dest="masters", type=Path, default=Path("solutions"))
    command.add_argument("--to", dest="folder", type=Path, help="default: exercises; with a roster, students")
    command.add_argument(
        "--roster", type=Path, metavar="CSV", help="a notebook a student, with parameters of its own"
    )
    command.add_argument("--key", type=Path, help="the file of the key that draws them; made if it is new")
    command.add_argument("--check", action="store_true", help="change nothing; say what is not as released")

    command = commands.add(
        "coverage",
        coverage,
        "authors: which cells meet which topic",
        """dpcourse coverage                 every topic, and the cells that meet it
        dpcourse coverage --json          for scripts; the exit code is 0 if there is no gap""",
    )
    command.add_argument("--json", action="store_true", help="for scripts")


def build(options: Options) -> int:
    """Run each notebook and store it, or say which is not as built."""
    from dpcourse.workbook import build

    wrong = 0
    for path in options.notebooks:
        if options.check:
            for fault in build.faults(path):
                wrong += 1
                print(f"{path} is not as built: {fault}. Fix: dpcourse build {path}", file=sys.stderr)
        else:
            write(path, build.build(read(path), path.parent))
            print(f"built {path}", flush=True)
    return int(wrong > 0)


def coverage(options: Options) -> int:
    """Print every topic with the cells that meet it; 0 if there is no gap."""
    from dpcourse.workbook.coverage import coverage

    report = coverage()
    print(json.dumps(report.data(), ensure_ascii=False, indent=1) if options.json else report)
    return int(not report.complete)


def release(options: Options) -> int:
    """Make every exercise from its master, or say which is not as released."""
    folder = options.folder or Path("students" if options.roster else "exercises")
    wanted = {folder / name: notebook for name, notebook in _released(options).items()}
    stale = sorted(set(folder.glob("*/*.ipynb" if options.roster else "*.ipynb")) - set(wanted))
    wrong = 0
    for path, notebook in wanted.items():
        if path.exists() and path.read_text("utf-8") == text(notebook):
            continue
        wrong += 1
        if options.check:
            print(f"{path} is not as released. Fix: dpcourse release", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, notebook)
            print(f"released {path}")
    for path in stale:
        wrong += 1
        absent = f"student in {options.roster} or " * bool(options.roster) + f"master in {options.masters}"
        print(f"{path} has no {absent}. Fix: delete it.", file=sys.stderr)
    return int(options.check and wrong > 0)


def _released(options: Options) -> dict[str, Notebook]:
    """What every file should hold, by its name."""
    from dpcourse.workbook.release import release

    masters = {path.name: read(path) for path in sorted(options.masters.glob("*.ipynb"))}
    if not masters:
        raise BadInput(f"{options.masters} has no notebooks. Fix: name the folder by --from.")
    if options.roster or options.key:
        return _for_students(options, masters)
    return {name: release(master) for name, master in masters.items()}


def _for_students(options: Options, masters: dict[str, Notebook]) -> dict[str, Notebook]:
    """Everybody's own notebooks; a key that is not there yet is made, and must be kept for grading."""
    from dpcourse.grading import roster, variants

    if options.key is None or options.roster is None:
        raise BadInput("--roster and --key need each other. Fix: give both; a new file becomes a new key.")
    people = roster.read_roster(options.roster)
    if options.key.exists() or options.check:
        key = variants.read_key(options.key)
    else:
        key = variants.make_key(options.key)
        print(f"made the key {options.key}: keep it, and keep it secret; grading draws by it again")
    return variants.released(masters, people, key)
