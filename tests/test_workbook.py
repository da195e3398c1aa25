"""The notebook format: reading, tidying, releasing, finding answers, repairing; and its commands."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.cli import main
from dpcourse.workbook import answers, build, course
from dpcourse.workbook.exercises import exercises, stub, without_hidden
from dpcourse.workbook.grade import exercise_of, self_check
from dpcourse.workbook.notebook import BadNotebook, Notebook, joined, read, text, tidy, write
from dpcourse.workbook.release import RAISES, release

ROOT = Path(__file__).resolve().parent.parent
MASTER = ROOT / "solutions/03_group_privacy.ipynb"
RELEASED = ROOT / "exercises/03_group_privacy.ipynb"


def cell(name: str, source: str, kind: str = "code", **metadata: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "id": name, "source": source, "metadata": metadata}
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def graded(name: str, points: int | None = None) -> dict[str, Any]:
    role = {"grade": points is not None, "solution": points is None, "locked": points is not None}
    worth = {} if points is None else {"points": points}
    return {"nbgrader": {"grade_id": name, "schema_version": 3, "task": False} | role | worth}


def small() -> Notebook:
    """A master with one exercise."""
    cells = [
        cell("title", "# A unit", "markdown"),
        cell("ex-double", "### 1. Twice as much (2 points)\n\nDouble it.", "markdown"),
        cell(
            "double",
            "def double(x):\n    ### BEGIN SOLUTION: Add it to itself.\n    return x + x\n"
            "    ### END SOLUTION",
            **graded("double"),
        ),
        cell(
            "check-double",
            "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS",
            **graded("check-double", 2),
        ),
        cell(
            "wrong-double-1",
            "```python\ndef double(x):\n    return x**2\n```\n\nSquares.",
            "markdown",
            tags=["wrong-answer"],
        ),
        cell("why-double", "It is addition.", "markdown", tags=["solution"]),
    ]
    return tidy({"cells": cells, "metadata": {"dpcourse": {"unit": "99"}}})


# -- Files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [MASTER, RELEASED, ROOT / "lectures/03_group_privacy.ipynb"])
def test_a_file_survives_reading_and_writing(path: Path) -> None:
    assert text(read(path)) == path.read_text("utf-8")


def test_the_files_are_valid_for_every_reader_of_the_format() -> None:
    import nbformat

    for path in (MASTER, RELEASED, ROOT / "lectures/03_group_privacy.ipynb"):
        notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
        assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
        nbformat.validate(notebook)


@given(
    st.recursive(st.text() | st.integers() | st.none(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
def test_joining_lines_changes_no_other_data(value: Any) -> None:
    assert joined({"data": {"application/json": value}}) == {"data": {"application/json": joined(value)}}


@pytest.mark.parametrize("source", ["", "a", "a\n", "a\nb", "\n", "a\r\nb", "a\u2028b"])
def test_a_source_is_stored_line_by_line_and_comes_back(source: str, tmp_path: Path) -> None:
    notebook = tidy({"cells": [cell("one", source)], "metadata": {}})
    write(tmp_path / "a.ipynb", notebook)
    assert read(tmp_path / "a.ipynb") == notebook


BAD_FILES = {
    "not json": ("{", "it stops being JSON at line 1, column 2"),
    "half a file": ('{"cells": [{"cell_type": "code",', "open an earlier copy"),
    "not a notebook": ('["cells"]', "it has no list of cells"),
    "no cells": ('{"metadata": {}}', "it has no list of cells"),
    "cells that are none": ('{"cells": [1], "nbformat": 4, "nbformat_minor": 5}', "cell 1 is not a code"),
    "no source": ('{"cells": [{"cell_type": "code", "id": "a"}]}', "cell 1 has no text"),
    "an old format": (
        json.dumps({"cells": [cell("a", "")], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}),
        r"in notebook format 4\.2, and the course uses 4\.5\. Fix: run `dpcourse repair`",
    ),
    "no id": (
        json.dumps(tidy({"cells": [cell("a", "x = 1")], "metadata": {}})).replace('"id": "a"', '"id": ""'),
        r"cell 1 \('x = 1'\) has no id\. Fix: run `dpcourse repair`",
    ),
    "an id twice": (
        json.dumps(tidy({"cells": [cell("a", ""), cell("b", ""), cell("a", "")], "metadata": {}})),
        "the id 'a' is on cells 1 and 3. Fix: run `dpcourse repair`",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=list(BAD_FILES))
def test_a_bad_file_is_told_apart_and_what_to_do(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "03_mine.ipynb"
    path.write_text(content)
    with pytest.raises(BadNotebook, match=message):
        read(path)
    assert path.read_text() == content


def test_a_missing_or_binary_file_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(BadNotebook, match="there is no such file"):
        read(tmp_path / "none.ipynb")
    (tmp_path / "picture.ipynb").write_bytes(b"\x89PNG\r\n")
    with pytest.raises(BadNotebook, match="it is not text in UTF-8"):
        read(tmp_path / "picture.ipynb")


def test_tidying_keeps_the_course_and_drops_the_machine() -> None:
    noisy = small()
    noisy["metadata"] |= {"widgets": {"state": 1}, "language_info": {"name": "python", "version": "3.11.7"}}
    noisy["cells"][2]["metadata"] |= {"execution": {"start": "today"}, "scrolled": True}
    noisy["cells"][2]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "a\n"},
        {"output_type": "stream", "name": "stdout", "text": "b\n"},
        {
            "output_type": "display_data",
            "data": {"text/plain": "x", "application/vnd.jupyter.widget-view+json": {"model_id": "7"}},
            "metadata": {"isolated": True},
        },
    ]
    tidied = tidy(noisy)
    assert tidied["metadata"] == small()["metadata"]
    assert tidied["cells"][2]["metadata"] == small()["cells"][2]["metadata"]
    assert [output.get("text") for output in tidied["cells"][2]["outputs"]] == ["a\nb\n", None]
    assert tidied["cells"][2]["outputs"][1]["data"] == {"text/plain": "x"}
    assert tidy(tidied) == tidied


# -- Masters and releases ---------------------------------------------------------------------------


def test_an_exercise_is_read_from_its_cells() -> None:
    (exercise,) = exercises(small())
    assert (exercise.name, exercise.title, exercise.points) == ("double", "Twice as much", 2)
    assert exercise.wrong[0].code == "def double(x):\n    return x**2\n"
    assert exercise.wrong[0].misconception == "Squares."


def test_a_release_has_the_stub_and_nothing_that_helps() -> None:
    released = release(small())
    assert [c["id"] for c in released["cells"]] == ["title", "ex-double", "double", "check-double"]
    answer, check = released["cells"][2:]
    assert answer["source"] == 'def double(x):\n    raise NotImplementedError("Add it to itself.")'
    assert check["source"] == "assert double(2) == 4"
    assert RAISES in check["metadata"]["tags"]
    assert check["metadata"]["jupyter"] == {"source_hidden": True}
    assert "tags" not in answer["metadata"]
    assert release(released | {"cells": small()["cells"]}) == released
    for word in ("x + x", "double(3)", "x**2", "addition"):
        assert word not in text(released)


def test_a_stub_at_the_margin_raises_in_its_own_cell() -> None:
    master = small()
    master["cells"][2]["source"] = "### BEGIN SOLUTION: Say it.\nx = 1\n### END SOLUTION"
    answer = release(master)["cells"][2]
    assert answer["source"] == 'raise NotImplementedError("Say it.")'
    assert answer["metadata"]["tags"] == [RAISES]


@pytest.mark.parametrize(
    "source",
    [
        "x = 1",
        "### BEGIN SOLUTION\nx = 1\n### END SOLUTION",  # no guidance
        "### BEGIN SOLUTION: a\nx = 1",
        "### END SOLUTION\n### BEGIN SOLUTION: a",
        "### BEGIN SOLUTION: a\n### END SOLUTION\n### BEGIN SOLUTION: b\n### END SOLUTION",
    ],
)
def test_a_master_without_one_marked_solution_is_refused(source: str) -> None:
    with pytest.raises(BadNotebook, match="cell 'double' must have one region"):
        stub(source, "double")


def test_guidance_may_quote() -> None:
    source = '### BEGIN SOLUTION: Say "no", or \\n.\n### END SOLUTION'
    with pytest.raises(NotImplementedError, match='Say "no", or'):
        exec(stub(source, "a"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda cells: cells.pop(1), "exercise 'double' has no cell 'ex-double'"),
        (lambda cells: cells[3]["metadata"].clear(), "'check-double'"),
        (lambda cells: cells[4].update(source="Squares."), "cell 'wrong-double-1' is not a wrong answer"),
    ],
)
def test_a_master_out_of_form_is_refused(change: Any, message: str) -> None:
    master = small()
    change(master["cells"])
    with pytest.raises(BadNotebook, match=message):
        exercises(master)


def test_hidden_tests_are_cut_wherever_they_stand() -> None:
    hidden = "### BEGIN HIDDEN TESTS\nb\n### END HIDDEN TESTS"
    assert without_hidden(f"a\n{hidden}\nc\n{hidden}") == "a\nc"
    assert without_hidden("a\n\n\nb") == "a\n\n\nb"


# -- Building ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Notebook]:
    """A notebook with a figure, a widget and printed text, built twice in clean kernels."""
    folder = tmp_path_factory.mktemp("built")
    sources = [
        "import dpcourse as dp\nfrom dpcourse import plots",
        "for i in range(3):\n    print(i, flush=True)",
        "with plots.figure() as (fig, ax):\n    ax.plot([1, 2])\nplots.show(fig, 'a line')",
        "dp.explore.group_privacy()",
    ]
    raw = tidy({"cells": [cell(f"c{i}", s) for i, s in enumerate(sources)], "metadata": {}})
    return folder, build.build(raw, folder)


def test_building_twice_changes_no_byte(built: tuple[Path, Notebook]) -> None:
    folder, first = built
    assert text(build.build(first, folder)) == text(first)


def test_a_built_notebook_is_as_built(built: tuple[Path, Notebook]) -> None:
    folder, notebook = built
    write(folder / "a.ipynb", notebook)
    assert build.faults(folder / "a.ipynb") == []
    assert [c["execution_count"] for c in notebook["cells"]] == [1, 2, 3, 4]
    assert notebook["cells"][1]["outputs"] == [
        {"output_type": "stream", "name": "stdout", "text": "0\n1\n2\n"}
    ]
    assert 'alt="a line"' in notebook["cells"][2]["outputs"][0]["data"]["text/html"]
    assert set(notebook["cells"][3]["outputs"][0]["data"]) == {"text/html", "text/plain"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda nb: nb["cells"][1].update(execution_count=7), r"its execution counts are \[1, 7, 3, 4\]"),
        (lambda nb: nb["cells"][0].update(execution_count=None), r"not 1 to 4 from one clean run"),
        (lambda nb: nb["metadata"].update(widgets={}), "the file holds more than the course's own data"),
        (lambda nb: nb["cells"][1]["outputs"][0].update(name="stderr"), "cell 'c1' writes to stderr"),
    ],
)
def test_what_is_not_as_built_is_found(built: tuple[Path, Notebook], change: Any, fault: str) -> None:
    folder, notebook = built
    changed = copy.deepcopy(notebook)
    change(changed)
    path = folder / "changed.ipynb"
    path.write_text(json.dumps(changed))
    assert any(re.search(fault, found) for found in build.faults(path))
    assert main(["build", "--check", str(path)]) == 1


def test_a_notebook_copied_from_another_unit_is_found(tmp_path: Path) -> None:
    path = tmp_path / "04_composition.ipynb"
    for unit, faults in (("03", ["its metadata say unit 03, its name says 04"]), ("04", [])):
        write(path, tidy({"cells": [], "metadata": {"dpcourse": {"unit": unit}}}))
        assert build.faults(path) == faults


def test_a_cell_that_fails_stops_the_build_and_is_named(tmp_path: Path) -> None:
    raw = tidy({"cells": [cell("fine", "x = 1"), cell("bad", "x / 0"), cell("late", "x")], "metadata": {}})
    with pytest.raises(BadNotebook, match="cell 'bad' failed: ZeroDivisionError: division by zero"):
        build.build(raw, tmp_path)


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("lectures/*.ipynb")) + sorted(ROOT.glob("solutions/*.ipynb"))
)
def test_every_notebook_is_as_built(path: Path) -> None:
    assert build.faults(path) == []


def test_the_exercises_are_as_released(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["release", "--check", "--from", str(ROOT / "solutions"), "--to", str(ROOT / "exercises")]
    assert main(options) == 0, capsys.readouterr().err


def test_release_writes_what_is_stale_and_names_what_has_no_master(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["release", "--from", str(MASTER.parent), "--to", str(tmp_path / "out")]
    assert main(options) == 0
    assert "released" in capsys.readouterr().out
    assert main(options) == 0
    assert capsys.readouterr().out == ""
    (tmp_path / "out/77_old.ipynb").write_text("{}")
    (tmp_path / "out" / MASTER.name).write_text("{}")
    assert main([*options, "--check"]) == 1
    said = capsys.readouterr().err
    assert "is not as released. Fix: dpcourse release" in said
    assert "77_old.ipynb has no master" in said
    assert main(["release", "--from", str(tmp_path / "nowhere")]) == 2


# -- A student's notebook ---------------------------------------------------------------------------

RIGHT = """def distance(left, right):
    return (Counter(left) - Counter(right) | Counter(right) - Counter(left)).total()"""


@pytest.fixture
def student(tmp_path: Path) -> Notebook:
    """The released notebook with one answer and a cell of the student's own."""
    notebook = read(RELEASED)
    place = next(i for i, c in enumerate(notebook["cells"]) if c["id"] == "distance")
    notebook["cells"][place]["source"] = RIGHT
    notebook["cells"].insert(place + 1, cell("scratch", "distance((), ())"))
    return notebook


def drop_ids(notebook: Notebook) -> None:
    """What an editor of the older format does."""
    notebook["nbformat_minor"] = 4
    for c in notebook["cells"]:
        del c["id"]


def drop_all(notebook: Notebook) -> None:
    """What copying into a new notebook does: no ids, no metadata."""
    drop_ids(notebook)
    for c in notebook["cells"]:
        c["metadata"] = {}


def duplicate(notebook: Notebook) -> None:
    place = next(i for i, c in enumerate(notebook["cells"]) if c["id"] == "distance")
    stub_again = copy.deepcopy(next(c for c in read(RELEASED)["cells"] if c["id"] == "distance"))
    notebook["cells"].insert(place, stub_again)


def change_check(notebook: Notebook) -> None:
    next(c for c in notebook["cells"] if c["id"] == "check-distance")["source"] = "pass"


def delete_check(notebook: Notebook) -> None:
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] != "check-distance"]


def shuffle(notebook: Notebook) -> None:
    notebook["cells"].reverse()


@pytest.mark.parametrize(
    "harm", [drop_ids, drop_all, duplicate, change_check, delete_check, shuffle], ids=lambda f: f.__name__
)
def test_repair_restores_the_given_and_keeps_every_answer(student: Notebook, harm: Any) -> None:
    harm(student)
    mended, found = answers.repaired(student, read(RELEASED))
    assert found.answers["distance"] == RIGHT
    cells = {c["id"]: c for c in mended["cells"]}
    assert cells["distance"]["source"] == RIGHT
    assert len(cells) == len(mended["cells"])
    for given_cell in read(RELEASED)["cells"]:
        if given_cell["id"] != "distance":
            assert cells[given_cell["id"]] == given_cell
    own = [c["source"] for c in mended["cells"] if c["id"].startswith("own-")]
    assert "distance((), ())" in own
    assert answers.repaired(mended, read(RELEASED))[0] == mended


def test_remarks_name_the_cell_and_the_remedy(student: Notebook) -> None:
    change_check(student)
    (remark,) = answers.find(student, read(RELEASED)).remarks
    assert remark == (
        "check 'check-distance' was changed: the course's own was used; "
        "`dpcourse repair` restores it and keeps every answer"
    )
    student["cells"] = [c for c in student["cells"] if c["id"] not in {"distance", "chain"}]
    remarks = answers.find(student, read(RELEASED)).remarks
    assert any(remark.startswith("cell 'chain' is missing") for remark in remarks)


def test_repair_on_the_command_line_keeps_the_old_file(
    student: Notebook, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drop_ids(student)
    path = tmp_path / "03_group_privacy.ipynb"
    path.write_text(json.dumps(student))
    before = path.read_bytes()
    assert main(["repair", str(path)]) == 0
    assert "8 answers kept" in capsys.readouterr().out
    assert (tmp_path / "03_group_privacy.before-repair-1.ipynb").read_bytes() == before
    assert read(path)["nbformat_minor"] == 5
    assert main(["repair", str(path)]) == 0
    assert (tmp_path / "03_group_privacy.before-repair-2.ipynb").exists()


def test_the_unit_is_found_by_request_by_mark_and_by_name(tmp_path: Path) -> None:
    plain: Notebook = {"cells": [], "metadata": {}}
    marked: Notebook = {"cells": [], "metadata": {"dpcourse": {"unit": "03"}}}
    assert exercise_of(tmp_path / "x.ipynb", plain, "03") == RELEASED
    assert exercise_of(tmp_path / "x.ipynb", marked) == RELEASED
    assert exercise_of(tmp_path / "03_y.ipynb", plain) == RELEASED
    with pytest.raises(
        BadNotebook, match=r"no unit of the course \(.*03.*\) fits it. Fix: name it with --unit"
    ):
        exercise_of(tmp_path / "x.ipynb", plain)


@pytest.mark.slow
def test_ones_own_notebook_is_judged_through_nbval(
    student: Notebook, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_id = {c["id"]: c for c in student["cells"]}
    by_id["chain"]["source"] = "def chain_between(left, right):\n    return [left, right]"
    by_id["group-delta"]["source"] = "def delta_for_group(epsilon, delta, size)\n    return 0"
    by_id["largest-group"]["source"] = "def largest_group(*_):\n    return 1 / 0"
    by_id["check-chain"]["source"] = "pass"
    by_id["distance"]["source"] += "\n\nMINE = helper()"
    own = {"id": "own", "cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    student["cells"].append(own | {"source": "def helper():\n    return 1\n\nprint(1 / 0)"})
    path = tmp_path / "mine.ipynb"
    write(path, student)
    report = self_check(path)
    verdicts = [outcome.verdict for outcome in report.outcomes]
    assert verdicts == ["right", "not yet", "error", "not yet", *["not answered"] * 4]
    assert report.points == (2, 20)
    shown = str(report)
    assert re.search(r"How far apart\? +2/2  right\n", shown)
    assert "neighbours at each step, but D_0 and D_1 are not one row apart" in shown
    assert "SyntaxError: expected ':'" in shown
    assert "found  ZeroDivisionError: division by zero" in shown
    assert "Note: check 'check-chain' was changed" in shown
    assert main(["check", "--json", str(path)]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["points"], data["of"]) == (2, 20)
    assert data["exercises"][0] == {
        "exercise": "distance", "points": 2, "of": 2, "verdict": "right", "message": ""
    }  # fmt: skip


def test_the_commands_answer_bad_input_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(tmp_path / "none.ipynb")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dpcourse: ")
    assert "there is no such file" in said
    with pytest.raises(SystemExit) as stopped:
        main(["lab", "--port", "70000"])
    assert stopped.value.code == 2
    assert "'70000' is not a port: choose a number from 1 to 65535" in capsys.readouterr().err


# -- The course in a student's folder ---------------------------------------------------------------


def test_the_course_is_copied_and_never_over_a_students_file(tmp_path: Path) -> None:
    first = course.copy_to(tmp_path / "mine")
    assert "exercises/03_group_privacy.ipynb" in first.added
    assert not list((tmp_path / "mine").rglob("*solution*"))
    work = tmp_path / "mine/exercises/03_group_privacy.ipynb"
    work.write_text("my work")
    (tmp_path / "mine/lectures/00_start_here.ipynb").unlink()
    again = course.copy_to(tmp_path / "mine")
    assert (again.added, again.updated, again.beside) == ((), (), ())  # the deleted lecture stays deleted
    assert work.read_text() == "my work"
    assert str(again) == "  everything is up to date"


def test_an_update_shows_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, mine = tmp_path / "course", tmp_path / "mine"
    for name in ("lectures/00_start_here", "lectures/01_a", "exercises/01_a"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / f"{name}.ipynb").write_text("old")
    monkeypatch.setattr(course, "root", lambda: source)
    course.copy_to(mine)
    (mine / "exercises/01_a.ipynb").write_text("my work")
    for name in ("lectures/01_a", "lectures/02_b", "exercises/01_a"):
        (source / f"{name}.ipynb").write_text("new")
    copied = course.copy_to(mine)
    assert copied.added == ("lectures/02_b.ipynb",)
    assert copied.updated == ("lectures/01_a.ipynb",)
    assert len(copied.beside) == 1
    assert (mine / "exercises/01_a.ipynb").read_text() == "my work"
    assert (mine / copied.beside[0]).read_text() == "new"
    assert "you changed the old one; it is untouched" in str(copied)
    assert course.copy_to(mine) == course.Copied((), (), ())


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(ValueError, match="a folder, and this is a file"):
        course.copy_to(tmp_path / "mine")
