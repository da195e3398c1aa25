"""Shared fixtures: reproducible property tests, and the table of reference values."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

# The same examples on every run and machine, and no deadline: a busy machine is not a bug.
settings.register_profile("reproducible", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("reproducible")


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Reference values to at least 15 digits; each section says how it was computed."""
    path = Path(__file__).parent / "data" / "golden.json"
    sections: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return sections


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261116)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many of the exercises' right answers passed, and how many of their wrong ones were caught."""
    counted = {
        "exercises whose solution passes": "test_the_right_answer_passes_and_its_examples_are_true",
        "wrong answers caught": "test_a_wrong_answer_is_caught",
    }
    for words, test in counted.items():
        good, bad = (
            sum(
                f"::{test}[" in getattr(report, "nodeid", "")
                for report in terminalreporter.stats.get(kind, [])
            )
            for kind in ("passed", "failed")
        )
        if good + bad:
            terminalreporter.write_line(f"{words}: {good} of {good + bad}")
    graded: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        if "test_grades.py::" in report.nodeid:
            graded.update(dict(report.user_properties))
    for words, count in graded.items():
        terminalreporter.write_line(f"through the real grader, {words}: {count}")
