"""A pytest plugin for runs of nbval: one JSON line a cell, with the error that a student would see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Where to write."""
    parser.addoption("--dpcourse-report", help="a file for one JSON line a notebook cell")


def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """Write down how a cell ended."""
    if call.when == "call":
        outputs = [output for output in item.test_outputs or [] if output["output_type"] == "error"]
        error = {"name": outputs[0]["ename"], "text": outputs[0]["evalue"]} if outputs else None
        if error is None and call.excinfo is not None:
            error = {"name": type(call.excinfo.value).__name__, "text": str(call.excinfo.value)}
        with Path(item.config.option.dpcourse_report).open("a", encoding="utf-8") as report:
            report.write(json.dumps({"cell": item.cell["id"], "error": error}) + "\n")
