"""The rules of the notebooks that students read: short cells, one title, headings in order, kept outputs."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from dpcourse.workbook.notebook import read

ROOT = Path(__file__).resolve().parent.parent
LECTURES = sorted((ROOT / "lectures").glob("*.ipynb"))
NOTEBOOKS = LECTURES + sorted((ROOT / "solutions").glob("*.ipynb"))

LONGEST = 12
WIDEST = 92


def code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]


def words(path: Path) -> str:
    return "\n".join(cell["source"] for cell in read(path)["cells"] if cell["cell_type"] == "markdown")


def headings(text: str) -> list[str]:
    """The marks of the headings, outside of code blocks."""
    return re.findall(r"^(#+) ", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_code_cell_is_short_and_has_an_id_that_speaks(path: Path) -> None:
    for cell in code(path):
        lines = cell["source"].splitlines()
        assert len(lines) <= LONGEST, f"{cell['id']} has {len(lines)} lines"
        assert max(map(len, lines)) <= WIDEST, cell["id"]
    assert all(re.fullmatch(r"[a-z][a-z0-9-]+", cell["id"]) for cell in read(path)["cells"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_there_is_one_title_and_no_level_is_skipped(path: Path) -> None:
    levels = [len(marks) for marks in headings(words(path))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_display_in_a_box_stays_on_one_line(path: Path) -> None:
    """A line of a block quote begins with >, which mathematics would show."""
    for line in words(path).splitlines():
        if line.startswith(">"):
            assert line.count("$$") % 2 == 0, line


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_picture_is_described_and_every_explorer_is_kept_as_a_picture(path: Path) -> None:
    for cell in code(path):
        for output in cell["outputs"]:
            page = "".join(output.get("data", {}).get("text/html", ""))
            assert all(re.search(r'alt="[^"]{10,}"', image) for image in re.findall(r"<img[^>]*>", page))
            assert not any("widget" in mime for mime in output.get("data", {}))
        if "explore." in cell["source"]:
            assert "<img" in "".join(cell["outputs"][0]["data"]["text/html"])


@pytest.mark.parametrize(
    "path", [p for p in LECTURES if not p.stem.startswith("00")], ids=lambda path: path.stem
)
def test_a_lecture_has_all_its_parts(path: Path) -> None:
    text, cells = words(path), code(path)
    sources = "\n".join(cell["source"] for cell in cells)
    assert "import dpcourse as dp" in cells[0]["source"]
    assert "default_rng" in cells[0]["source"]
    for part in (
        "Play first",
        "Theorem",
        "Proof",
        "Which one is right?",
        "Break it",
        "Summary",
        "References",
    ):
        assert part in text, part
    assert "dp.explore." in cells[1]["source"], "a lecture opens with an explorer"
    assert ".falsify(" in sources
    assert "exact" in text
    assert f"exercises/{path.name}" in text
    assert 5 <= sources.count("plots.show(") <= 8
    later = "\n".join(cell["source"] for cell in cells[1:])
    assert not re.search(r"^\s*(import|from) ", later, re.MULTILINE), "imports belong into the first cell"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_notebook_says_which_unit_it_is(path: Path) -> None:
    """`dpcourse check` believes the metadata before the name: a copy must not keep the old unit."""
    assert read(path)["metadata"]["dpcourse"]["unit"] == path.stem[:2]
