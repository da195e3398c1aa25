"""Shared fixtures: reproducible property tests, and the table of reference values."""

from __future__ import annotations

import json
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
