"""The README is true: its code prints what it says, its links lead somewhere, its commands exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import start
from dpcourse import cli
from dpcourse.workbook.notebook import read

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS += sorted((ROOT / "docs").glob("*.md"))


def test_the_taste_of_the_engine_is_what_it_says() -> None:
    """Each line is run; a comment that names a result, exactly, must be right."""
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    scope: dict[str, Any] = {}
    told = 0
    for line in code.splitlines():
        source, _, comment = line.partition("  # ")
        tree = ast.parse(source)
        if not tree.body or not isinstance(tree.body[0], ast.Expr):
            exec(source, scope)
            continue
        value = eval(source, scope)
        number = re.search(r": (\d[\d.]*)", comment)
        if number:
            assert value == pytest.approx(float(number[1]), abs=0.5 * 10.0 ** -len(number[1].split(".")[1]))
            told += 1
        elif "(" in comment:
            assert repr(value) == comment
            told += 1
    assert told == 3
    assert len(code.strip().splitlines()) <= 7
    bounds = (1000 * scope["m"].worst_case()).epsilon_bounds(1e-6)
    assert [f"{bound:.12f}" for bound in bounds] == re.findall(r"\d+\.\d{12}", README)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(path: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    for target in targets:
        if not target.startswith(("http", "#")):
            assert (path.parent / target.partition("#")[0]).exists(), target


def test_the_map_of_the_course_has_every_unit_by_its_title() -> None:
    for path in sorted(ROOT.glob("lectures/*.ipynb")):
        title = re.match(r"# (?:Unit \d+\. )?(.*)", read(path)["cells"][0]["source"])
        assert title
        assert f"[{title[1]}](lectures/{path.name})" in README
    for path in ROOT.glob("exercises/*.ipynb"):
        assert f"(exercises/{path.name})" in README


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    tasks = re.findall(r"python start.py ([a-z-]+)", str(start.__doc__))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) <= {*tasks, "clean"}
    for command in re.findall(r"(?:^|`)dpcourse ([a-z]+)", text, re.MULTILINE):
        assert command in cli.commands().options(), command
