"""Run the benchmarks, print one table, and exit with 1 if a goal is missed.

`python -m benchmarks` measures everything and writes docs/benchmarks.md, its figure and the table of the
README; `python -m benchmarks import game` measures these two modules and writes nothing.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import benchmarks
from benchmarks.harness import Row, table
from benchmarks.report import this_machine, write

ROOT = Path(__file__).resolve().parent.parent
TITLES = {
    "accounting": "Composition: time and width, against dp-accounting",
    "attacks": "Attacks",
    "audit": "Audits",
    "explorers": "Explorers in Chromium, against interactive_output",
    "game": "The game, against numpy's raw draws",
    "grading": "Grading, against nbgrader and otter-grader",
    "import": "import dpcourse, against import numpy",
    "kmeans": "Private k-means, against diffprivlib and plain Lloyd",
    "optimal": "The optimal adversary",
    "samplers": "Exact samplers, against OpenDP and numpy",
    "sensitivity": "Smooth sensitivity, against its definition",
    "sparse_vector": "Sparse vector",
}
"""What a module measures, and the peer, as the tables say it."""


def measured(names: Sequence[str] = ()) -> Iterator[tuple[str, list[Row]]]:
    """What every `bench_*` module measures and its rows, in order of name."""
    for found in pkgutil.iter_modules(benchmarks.__path__):
        name = found.name.removeprefix("bench_")
        if name == found.name or (names and name not in names):
            continue
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        title = TITLES[name]
        try:
            bench = importlib.import_module(f"benchmarks.{found.name}")
            yield title, list(bench.rows())
        except ModuleNotFoundError as missing:  # a peer that is not installed
            if (missing.name or "").startswith("dpcourse"):
                raise
            yield title, [Row(name, None, None, "", "", None, f"{missing.name} is not installed")]


def main(names: Sequence[str] = ()) -> int:
    groups = dict(measured(names))
    rows = [row for found in groups.values() for row in found]
    print(table(rows))
    missed = sum(row.holds is False for row in rows)
    unmeasured = sum(row.holds is None for row in rows)
    print(f"{len(rows) - missed - unmeasured} held, {missed} missed, {unmeasured} not measured")
    if not names:
        for file in write(groups, this_machine(f"{datetime.now(UTC):%Y-%m-%d}"), ROOT):
            print(f"wrote {file.relative_to(ROOT)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
