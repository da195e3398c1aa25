"""How long `import dpcourse` takes in a fresh interpreter, beside `import numpy`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.harness import Row

LIMIT = 0.3  # seconds: below this an import feels instant


def import_time(module: str) -> float:
    """Seconds that a fresh interpreter spends on one import, by its own account."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    # A line of the report is: import time: self [us] | cumulative | module
    lines = [line.split("|") for line in report.splitlines() if line.startswith("import time:")]
    return next(int(total) / 1e6 for _, total, name in reversed(lines) if name.strip() == module)


def rows() -> Iterator[Row]:
    # In turns, so that a busy moment of the machine meets both; the first turn warms the disk.
    turns = [(import_time("dpcourse"), import_time("numpy")) for _ in range(6)]
    ours, numpy = map(min, zip(*turns, strict=True))
    yield Row(
        name="import dpcourse (peer: import numpy)",
        ours=ours,
        peer=numpy,
        unit="s",
        goal=f"< {LIMIT} s",
        holds=ours < LIMIT,
        note=f"{ours / numpy:.2f} times numpy",
    )
