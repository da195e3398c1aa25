"""The command `dpcourse grade`: find the submissions, grade them, write grades and pages."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpcourse.errors import BadInput
from dpcourse.grading import layouts, pages, tables, variants
from dpcourse.grading.batch import grade
from dpcourse.grading.records import Result
from dpcourse.grading.roster import NOBODY, read_roster
from dpcourse.workbook.notebook import read


def run(options: Namespace) -> int:
    """Grade a class; 0 if every submission has its grade, 1 if some need a human."""
    master = master_of(options.masters, options.unit)
    roster = read_roster(options.roster) if options.roster else NOBODY
    key = variants.read_key(options.key) if options.key else None
    submissions = layouts.find(options.submissions, options.unit, options.rule, options.due, roster=roster)
    results = grade(
        submissions,
        master,
        options.out,
        jobs=options.jobs,
        seed=options.seed,
        sandboxed=not options.unsafe_no_sandbox,
        cluster=options.cluster,
        variant=(lambda notebook, student: variants.for_student(notebook, student, key)) if key else None,
    )
    results = tables.best(results)  # one a student, also if all that came were graded
    tables.write(results, options.out, options.assignment, roster)
    pages.write(results, options.out, read(master), roster)
    told = summary(results, options.unit, options.out)
    if options.json:
        print(json.dumps(told, ensure_ascii=False, indent=1))
    else:
        print(f"graded {len(results)} submissions: grades.csv, class.html and feedback/ are in {options.out}")
    look = len(told["needs_a_human"])
    if look:
        print(f"{look} of them need a human: the same command tries them again", file=sys.stderr)
    return int(look > 0)


def summary(results: Sequence[Result], unit: str, out: Path) -> dict[str, Any]:
    """What a script wants to know at once; results.jsonl has the rest."""
    graded = [result for result in results if not result.needs_a_human]
    return {
        "unit": unit,
        "out": str(out),
        "submissions": len(results),
        "points": {result.student: result.points for result in graded},
        "of": max((result.possible for result in results), default=0),
        "late": [result.student for result in results if result.late],
        "needs_a_human": [result.student for result in results if result.needs_a_human],
    }


def master_of(folder: Path, unit: str) -> Path:
    """The master of a unit, as in solutions/03_group_privacy.ipynb."""
    found = sorted(folder.glob(f"{unit}_*.ipynb")) if unit.isdigit() else []
    if len(found) != 1:
        known = ", ".join(sorted(path.name[:2] for path in folder.glob("*.ipynb"))) or "none"
        raise BadInput(
            f"{folder} has no single master for unit {unit!r}; it has: {known}. "
            "Fix: give --unit two digits such as 03, and name the folder of the masters by --masters."
        )
    return found[0]
