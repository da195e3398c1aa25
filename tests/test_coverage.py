"""Every topic of the notes behind the course is met by a cell, and `dpcourse coverage` says by which."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dpcourse.cli import main
from dpcourse.workbook import course
from dpcourse.workbook.coverage import Coverage, coverage, topics
from dpcourse.workbook.notebook import read


def test_every_topic_is_met_and_every_id_is_a_topic() -> None:
    found = coverage()
    assert found.missing == ()
    assert found.unknown == ()


def test_the_topics_are_those_of_five_notes_and_their_contradictions() -> None:
    known = topics()
    counts = {
        note: sum(name.startswith(f"{note}.") for name in known) for note in ("S0", "S1", "S2", "S3", "S4")
    }
    assert counts == {"S0": 27, "S1": 49, "S2": 160, "S3": 21, "S4": 30}
    assert [name for name in known if name[0] == "C"] == [f"C{n}" for n in range(1, 29)]
    assert all(re.fullmatch(r"[SC][\d.]+[ab]?", name) and about.strip() for name, about in known.items())
    assert len(set(known.values())) == len(known), "two topics of one name"


def test_what_is_missing_or_unknown_is_told() -> None:
    found = Coverage(
        {"S0.1": "groups", "S0.2": "chains"}, {"S0.1": ("a#b",), "S0.2": (), "S9": ("a#c",)}, ("S9",)
    )
    assert found.missing == ("S0.2",)
    assert not found.complete
    assert "NOT MET" in str(found)
    assert "S9 is in a#c, and no topic has that id" in str(found)
    assert str(found).endswith("1 of 2 topics are met")


def test_the_command_prints_the_map(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    notebook, _, cell = found["S0.1"]["cells"][0].partition("#")
    assert cell in {c["id"] for c in read(course.root() / f"{notebook}.ipynb")["cells"]}
    assert main(["coverage"]) == 0
    assert "topics are met" in capsys.readouterr().out


@pytest.mark.parametrize("folder", course.FOLDERS)
def test_no_cell_of_words_names_an_id(folder: str) -> None:
    """Ids are for authors: a reader never sees one."""
    for path in sorted((course.root() / folder).glob("*.ipynb")):
        for cell in read(path)["cells"]:
            assert not re.search(r"\bS[0-4]\.\d+\b", cell["source"]), f"{Path(path).name}: {cell['id']}"
