"""The teaching guide says the truth: every exercise with its points, and only cells that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpcourse.workbook.exercises import Exercise, exercises
from dpcourse.workbook.notebook import by_id, read
from dpcourse.workbook.variants import declared

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs/instructors.md").read_text("utf-8")
MASTERS = {path.stem: exercises(read(path)) for path in sorted((ROOT / "solutions").glob("*.ipynb"))}
KINDS = {"compute", "build", "prove", "break", "decide", "open"}
ROW = re.compile(
    r"^\| (?P<number>\d+)\. (?P<title>.+?) \(`(?P<name>[\w-]+)`\) \| (?P<points>\d+) \| "
    r"(?P<kinds>[a-z, ]+) \| (?P<minutes>\d+) \| (?P<goal>[^|]+) \| (?P<wrong>[^|]+) \|$",
    re.MULTILINE,
)


def section(unit: str) -> str:
    """What the guide says about a unit, told by the master that it names."""
    parts = re.split(r"^## (?=Unit \d)", GUIDE, flags=re.MULTILINE)[1:]
    found = [part for part in parts if f"Master: `solutions/{unit}.ipynb`." in part]
    assert len(found) == 1, f"{unit} has {len(found)} sections"
    assert found[0].startswith(f"Unit {int(unit[:2])}. ")
    return found[0]


@pytest.mark.parametrize("unit", MASTERS)
def test_every_exercise_is_there_with_its_number_title_and_points(unit: str) -> None:
    rows = [(int(m["number"]), m["title"], m["name"], int(m["points"])) for m in ROW.finditer(section(unit))]
    expected = [(i, e.title, e.name, e.points) for i, e in enumerate(MASTERS[unit], 1)]
    assert rows == expected


@pytest.mark.parametrize("unit", MASTERS)
def test_every_exercise_names_wrong_answers_of_its_own(unit: str) -> None:
    of = {exercise.name: exercise for exercise in MASTERS[unit]}
    for row in ROW.finditer(section(unit)):
        named = set(re.findall(r"`(wrong-[\w-]+)`", row["wrong"]))
        assert named, row["name"]
        assert named <= {wrong.id for wrong in of[row["name"]].wrong}, row["name"]
        assert 5 <= int(row["minutes"]) <= 60


@pytest.mark.parametrize("unit", MASTERS)
def test_a_unit_has_all_six_kinds_of_exercises_and_questions_to_discuss(unit: str) -> None:
    words = section(unit)
    found = {kind for row in ROW.finditer(words) for kind in row["kinds"].split(", ")}
    assert found == KINDS
    assert " ".join(words.split()).count("* Listen for: ") >= 3


def test_what_the_guide_counts_is_there() -> None:
    of_all = [exercise for unit in MASTERS.values() for exercise in unit]
    wrong = sum(len(exercise.wrong) for exercise in of_all)
    flat = " ".join(GUIDE.split())
    told = re.search(r"the (\d+) units of the course, with (\d+) exercises and (\d+) wrong answers", flat)
    assert told
    assert tuple(map(int, told.groups())) == (len(MASTERS), len(of_all), wrong)
    assert f"{len(of_all)} exercises with {wrong} wrong answers" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    minutes = {unit: sum(int(row["minutes"]) for row in ROW.finditer(section(unit))) for unit in MASTERS}
    for unit, each in minutes.items():
        size = f"{len(MASTERS[unit])} exercises, 20 points, about {each / 60:.1f} h."
        assert size in section(unit)
        assert f"`exercises/{unit}.ipynb`, about {each / 60:.1f} h |" in GUIDE


def test_the_guide_lists_what_varies() -> None:
    rows = re.findall(r"^\| (\d+) \| `([\w-]+)` \| (.+) \|$", GUIDE, re.MULTILINE)
    told = {(int(unit), name) for unit, _, words in rows for name in re.findall(r"`([A-Z]+)`", words)}
    masters = [read(path) for path in sorted((ROOT / "solutions").glob("*.ipynb"))]
    assert told == {(unit, one.name) for unit, master in enumerate(masters, 1) for one in declared(master)}
    for unit, name, words in rows:
        master = masters[int(unit) - 1]
        for constant in re.findall(r"`([A-Z]+)`", words):
            assert f"`{constant}`" in by_id(master)[f"ex-{name}"]["source"]


def test_a_week_of_the_short_plan_has_twenty_points() -> None:
    by_number = {int(unit[:2]): {e.name: e for e in found} for unit, found in MASTERS.items()}
    weeks = re.findall(r"^\| \d \| \d+ and \d+ \| (unit .+) \|$", GUIDE, re.MULTILINE)
    assert len(weeks) == 5
    for week in weeks:
        chosen: list[Exercise] = []
        for number, names in re.findall(r"unit (\d+): ([^;]+)", week):
            chosen += [by_number[int(number)][name] for name in re.findall(r"`([\w-]+)`", names)]
        assert sum(exercise.points for exercise in chosen) == 20, week


def test_links_lead_somewhere() -> None:
    def anchors(page: str) -> set[str]:
        titles = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
        return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}

    for target in re.findall(r"\]\(([^)]+)\)", GUIDE):
        path, _, anchor = target.partition("#")
        page = ROOT / "docs" / path if path else ROOT / "docs/instructors.md"
        assert page.exists(), target
        assert not anchor or anchor in anchors(page.read_text("utf-8")), target
