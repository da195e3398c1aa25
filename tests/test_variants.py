"""Each student's own parameters: drawn by the key alone, the same for release and for grading."""

from __future__ import annotations

import copy
import hashlib
import hmac
import json
import stat
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.cli import main
from dpcourse.errors import BadInput
from dpcourse.grading import variants
from dpcourse.grading.roster import Person, Roster, bad_name, read_roster
from dpcourse.workbook.exercises import exercises
from dpcourse.workbook.notebook import BadNotebook, Notebook, read, text, tidy
from dpcourse.workbook.release import release
from dpcourse.workbook.variants import adopted, declared

ROOT = Path(__file__).resolve().parent.parent
KEY = b"sixteen bytes or more"
VARIES: dict[str, Any] = {
    "EPSILON": [0.25, 0.5, "Fraction(1, 3)"],
    "PEOPLE": ["('Ada', 'Bo')", "('Cy', 'Döra')"],
    "SEED": {"from": 1000, "below": 9999},
}
SOURCE = """from fractions import Fraction

EPSILON = 0.5  # é, so that columns are not bytes
PEOPLE = (
    "Ada",
    "Bo",
); SEED = 2718
EPSILONS = EPSILON"""


def master(source: str = SOURCE, varies: Any = VARIES, **more: Any) -> Notebook:
    """The master of unit 3 with constants that vary in its first code cell."""
    notebook = read(ROOT / "solutions/03_group_privacy.ipynb")
    place = next(n for n, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "code")
    cell = {"cell_type": "code", "id": "given", "source": source, "outputs": [], "execution_count": None}
    cell["metadata"] = {"dpcourse": {"variant": varies}}
    notebook["cells"].insert(place, cell | more)
    return tidy(notebook)


def given_cell(notebook: Notebook) -> str:
    return str(next(cell["source"] for cell in notebook["cells"] if cell["id"] == "given"))


def constants(notebook: Notebook) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(given_cell(notebook), space)
    return {name: space[name] for name in ("EPSILON", "PEOPLE", "SEED")}


# -- Drawing ----------------------------------------------------------------------------------------


def test_the_draw_is_the_keyed_hash_of_unit_student_and_name() -> None:
    found = constants(variants.for_student(master(), "ada", KEY))
    for name, choices in {
        "EPSILON": [0.25, 0.5, 1 / 3],
        "PEOPLE": [("Ada", "Bo"), ("Cy", "Döra")],
        "SEED": range(1000, 9999),
    }.items():
        digest = hmac.new(KEY, json.dumps(["03", "ada", name]).encode(), hashlib.sha256).hexdigest()
        assert found[name] == pytest.approx(choices[int(digest, 16) % len(choices)])  # type: ignore[index]


def test_nothing_else_changes() -> None:
    before = master()
    after = variants.for_student(before, "ada", KEY)
    sources = [cell["source"] for cell in before["cells"] if cell["id"] != "given"]
    assert [cell["source"] for cell in after["cells"] if cell["id"] != "given"] == sources
    lines = given_cell(after).splitlines()
    assert lines[0] == "from fractions import Fraction"
    assert lines[2].endswith("  # é, so that columns are not bytes")
    assert lines[-1] == "EPSILONS = EPSILON"
    assert [e.name for e in exercises(after)] == [e.name for e in exercises(before)]
    assert before == master(), "the master itself is left alone"


def test_outputs_of_other_parameters_are_gone() -> None:
    after = variants.for_student(master(), "ada", KEY)
    assert not any(cell["outputs"] for cell in after["cells"] if cell["cell_type"] == "code")


def test_a_master_in_which_nothing_varies_stays_as_it_is() -> None:
    plain = read(ROOT / "solutions/03_group_privacy.ipynb")
    assert variants.for_student(plain, "ada", KEY) == plain


@given(st.text(max_size=20), st.binary(min_size=16, max_size=40))
def test_the_same_key_draws_the_same_and_the_choices_are_legal(student: str, key: bytes) -> None:
    small = {"cells": [master()["cells"][1]], "metadata": {"dpcourse": {"unit": "03"}}}
    if any(0xD800 <= ord(c) < 0xE000 for c in student):
        return
    once, again = (variants.for_student(copy.deepcopy(small), student, key) for _ in range(2))
    assert once == again
    found = constants(once)
    assert float(found["EPSILON"]) in {0.25, 0.5, 1 / 3}
    assert 1000 <= found["SEED"] < 9999
    assert set(variants.values(once)) == set(VARIES)


def test_students_and_units_and_keys_differ_and_every_choice_is_drawn_evenly() -> None:
    small = {"cells": [master()["cells"][1]], "metadata": {"dpcourse": {"unit": "03"}}}
    other = small | {"metadata": {"dpcourse": {"unit": "04"}}}
    drawn = [constants(variants.for_student(small, f"student{n}", KEY)) for n in range(600)]
    counts = Counter(float(found["EPSILON"]) for found in drawn)
    assert min(counts.values()) > 150, "200 expected of each, with a standard deviation of 12"
    assert len({found["SEED"] for found in drawn}) > 500
    assert variants.values(variants.for_student(small, "ada", KEY)) != variants.values(
        variants.for_student(other, "ada", KEY)
    )
    assert variants.values(variants.for_student(small, "ada", KEY)) != variants.values(
        variants.for_student(small, "ada", KEY + b"!")
    )


def test_a_new_constant_leaves_the_others_as_they_were() -> None:
    old = constants(variants.for_student(master(), "ada", KEY))
    more = master(SOURCE + "\nDELTA = 0.1", VARIES | {"DELTA": [0.1, 0.2]})
    assert constants(variants.for_student(more, "ada", KEY)) == old


def test_the_two_spellings_of_an_accent_are_one_student() -> None:
    once, again = (variants.for_student(master(), name, KEY) for name in ("Jos\u00e9", "Jose\u0301"))
    assert once == again


def test_a_notebook_without_a_unit() -> None:
    nameless = master() | {"metadata": {}}
    with pytest.raises(BadNotebook, match=r"does not say its unit\. Fix: put"):
        variants.for_student(nameless, "ada", KEY)


# -- Declaring --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "varies", "told"),
    [
        ("X = 1", {"X": [2, 3]}, r"cell 'given': X is none of its own choices\. Fix: add the value"),
        ("X = 1", {"Y": [2, 3]}, r"Y is not assigned once, at the margin\. Fix: write one line Y = \.\.\."),
        ("X = 1\nX = 2", {"X": [1, 2]}, "X is not assigned once"),
        ("if True:\n    X = 1", {"X": [1, 2]}, "X is not assigned once"),
        ("X = (", {"X": [1, 2]}, "X is not assigned once"),
        ("X = 1", {"X": [1]}, r"not a list of two or more numbers or Python expressions\. Fix: write a list"),
        ("X = 1", {"X": "1, 2"}, "not a list of two or more"),
        ("X = 1", {"X": [1, "1 +"]}, "not a list of two or more"),
        ("X = 1", {"X": [1, "2\n3"]}, "not a list of two or more"),
        ("X = 1", {"X": [1, [2]]}, "not a list of two or more"),
        ("X = 1", {"X": {"from": 5, "below": 5}}, "not a list of two or more"),
        ("X = 1", {"X": {"from": 2, "below": 5}}, "X is none of its own choices"),
        ("X = 1", ["X"], "only constants of a given code cell vary"),
    ],
)
def test_a_declaration_that_is_wrong(source: str, varies: Any, told: str) -> None:
    with pytest.raises(BadNotebook, match=told):
        declared(master(source, varies))


def test_only_given_cells_vary() -> None:
    wrong = master(cell_type="markdown")
    with pytest.raises(BadNotebook, match="only constants of a given code cell vary"):
        declared(wrong)


def test_a_name_is_declared_once() -> None:
    twice = master("X = 1", {"X": [1, 2]})
    twice["cells"].append(twice["cells"][1] | {"id": "again"})
    with pytest.raises(BadNotebook, match="cell 'again': X varies already in cell 'given'"):
        declared(twice)


# -- A student's own check --------------------------------------------------------------------------


def test_a_student_s_check_keeps_the_student_s_parameters() -> None:
    pristine = release(master())
    mine = release(variants.for_student(master(), "ada", KEY))
    assert given_cell(mine) != given_cell(pristine)
    assert given_cell(adopted(pristine, mine)) == given_cell(mine)


@pytest.mark.parametrize("source", ["EPSILON = 100", "EPSILON = __import__('os')", "(", "", "SEED = -5"])
def test_a_parameter_that_nobody_has_is_not_taken_over(source: str) -> None:
    pristine = release(master())
    theirs = copy.deepcopy(pristine)
    next(cell for cell in theirs["cells"] if cell["id"] == "given")["source"] = source
    assert given_cell(adopted(pristine, theirs)) == given_cell(pristine)
    assert given_cell(adopted(pristine, {"cells": [], "metadata": {}})) == given_cell(pristine)


# -- Keys -------------------------------------------------------------------------------------------


def test_a_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new/key.txt"
    made = variants.make_key(path)
    assert variants.read_key(path) == made
    assert len(made) == 64
    assert sys.platform == "win32" or stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(BadInput, match=r"File exists\. Fix: choose another place for the key"):
        variants.make_key(path)


def test_a_key_that_is_missing_or_short(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"No such file or directory\. Fix: name the file with the key"):
        variants.read_key(tmp_path / "none")
    (tmp_path / "short").write_text("12345\n")
    with pytest.raises(BadInput, match=r"holds 5 bytes, and a key has at least 16\. Fix: name a file"):
        variants.read_key(tmp_path / "short")


# -- Rosters ----------------------------------------------------------------------------------------


def roster(tmp_path: Path, content: str | bytes) -> Roster:
    path = tmp_path / "roster.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_roster(path)


@pytest.mark.parametrize(
    "content",
    [
        "student,name,id\nada,Ada Lovelace,12\nbo,,\n",
        "\ufeffStudent;Name;ID\r\nada;Ada Lovelace;12\r\n\r\nbo;;\r\n",
        "name, student ,mail,id\nAda Lovelace, ada ,a@x,12\n,bo\n",
    ],
)
def test_a_roster_is_read_as_spreadsheets_write_it(tmp_path: Path, content: str) -> None:
    assert list(roster(tmp_path, content)) == [Person("ada", "Ada Lovelace", "12"), Person("bo")]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("name\nAda\n", r"has no column `student` \(its columns: name\)\. Fix: give this name"),
        ("", r"has no column `student` \(its columns: none\)"),
        ("student\n", r"lists no students\. Fix: write one a line"),
        ("student\nada\nbo\nada\n", r"line 4: student 'ada' is already on line 2\. Fix: keep one"),
        ("student\nada\nAda\n", r"line 3: student 'ada' is already on line 2"),
        ("student,id\nada,7\nbo,7\n", r"line 3: id 7 is already on line 2"),
        ("student,id\nada,x7\n", r"line 2: id 'x7' is not a number\. Fix: give the number"),
        ("student,id\n,7\n", r"line 2: student '' is empty\. Fix: fill the cell"),
        ("student\n../ada\n", r"line 2: student '\.\./ada' cannot be a folder's name\. Fix: begin with"),
        ("student\nAUX\n", r"is a name that Windows reserves\. Fix: use a login name"),
        ('student\n"ada\n', r"not a CSV file: unexpected end of data\. Fix: save it again"),
        (b"student\n\xff\xfe\n", r"it is not text in UTF-8\. Fix: give the class list"),
    ],
)
def test_a_roster_that_is_wrong(tmp_path: Path, content: str | bytes, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        roster(tmp_path, content)


def test_a_roster_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"No such file or directory\. Fix: give the class list"):
        read_roster(tmp_path / "none.csv")


@pytest.mark.parametrize(
    "name", ["ada", "jane.doe@x.org", "O'Neill, Cy (2)", "李雷", "Jos\u00e9", "ada_12", "1"]
)
def test_names_that_students_have(name: str) -> None:
    assert bad_name(name) == ""


@given(st.text(max_size=120))
def test_a_good_name_is_one_plain_folder(name: str) -> None:
    if not bad_name(name):
        assert Path(name).parts == (name,)
        assert name == name.strip()
        assert name.isprintable()
        assert not set('<>:"/\\|?*') & set(name)
        assert not name.startswith((".", "-", "=", "+", "@"))


# -- The command ------------------------------------------------------------------------------------


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions/03_group_privacy.ipynb").write_text(text(master()), "utf-8")
    (tmp_path / "roster.csv").write_text("student\nada\nbo\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMAND = ["release", "--roster", "roster.csv", "--key", "key.txt"]


def test_release_gives_everybody_a_notebook(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(COMMAND) == 0
    said = capsys.readouterr().out
    assert "made the key key.txt: keep it" in said
    key = variants.read_key(course / "key.txt")
    for student in ("ada", "bo"):
        notebook = read(course / "students" / student / "03_group_privacy.ipynb")
        wanted = variants.for_student(master(), student, key)
        assert notebook == release(wanted)
        assert "SOLUTION" not in text(notebook)
        assert variants.values(notebook) == variants.values(wanted)
    assert main([*COMMAND, "--check"]) == 0
    assert main(COMMAND) == 0
    assert capsys.readouterr().out == "", "a second run changes nothing"


def test_release_says_what_is_not_as_drawn(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(COMMAND)
    (course / "roster.csv").write_text("student\nada\ncy\n", "utf-8")
    assert main([*COMMAND, "--check"]) == 1
    said = capsys.readouterr().err
    assert "students/cy/03_group_privacy.ipynb is not as released" in said
    assert "students/bo/03_group_privacy.ipynb has no student in roster.csv or master in solutions" in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (COMMAND[:3], "--roster and --key need each other. Fix: give both"),
        (["release", "--key", "key.txt"], "--roster and --key need each other"),
        ([*COMMAND, "--check"], "key.txt: No such file or directory. Fix: name the file with the key"),
        (["release", "--roster", "none.csv", "--key", "key.txt"], "none.csv: No such file"),
    ],
)
def test_release_refuses_without_a_trace(
    course: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    before = sorted(course.rglob("*"))
    assert main(arguments) == 2
    assert told in capsys.readouterr().err
    assert sorted(course.rglob("*")) == before


def test_release_without_a_roster_is_as_before(course: Path) -> None:
    assert main(["release"]) == 0
    assert read(course / "exercises/03_group_privacy.ipynb") == release(master())
