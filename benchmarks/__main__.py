"""Run every benchmark, print one table, and exit with 1 if a goal is missed."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator

import benchmarks
from benchmarks.harness import Row, table


def measured() -> Iterator[Row]:
    """The rows of every `bench_*` module, in order of name."""
    for module in pkgutil.iter_modules(benchmarks.__path__, "benchmarks."):
        if module.name.startswith("benchmarks.bench_"):
            print(f"measuring {module.name} ...", file=sys.stderr, flush=True)
            try:
                bench = importlib.import_module(module.name)
                yield from bench.rows()
            except ModuleNotFoundError as missing:  # a peer that is not installed
                if (missing.name or "").startswith("dpcourse"):
                    raise
                note = f"{missing.name} is not installed"
                yield Row(module.name, None, None, "", "", None, note)


def main() -> int:
    rows = list(measured())
    print(table(rows))
    missed = sum(row.holds is False for row in rows)
    unmeasured = sum(row.holds is None for row in rows)
    print(f"{len(rows) - missed - unmeasured} held, {missed} missed, {unmeasured} not measured")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
