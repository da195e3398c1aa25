"""Results as tables and pages: complete, the same every time, and harmless whatever a student wrote."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.errors import BadInput
from dpcourse.grading import pages, tables
from dpcourse.grading.files import plain
from dpcourse.grading.pages.charts import VERDICT, histogram, shares
from dpcourse.grading.pages.feedback import student_page
from dpcourse.grading.pages.markup import LONGEST, Html, shown, style, tag, words
from dpcourse.grading.records import VERDICTS, Mark, Result
from dpcourse.grading.roster import Person, Roster
from dpcourse.workbook.notebook import Notebook, read

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = "<script>alert(1)</script>\"'&</pre></title>\u202e=1+1"
TEXT = st.text(max_size=40) | st.sampled_from(
    ["=cmd|'/c calc'!A1", "@SUM(A1)", "\t=1", "</style><b>", "]]>", "\0"]
)


@pytest.fixture(scope="module")
def master() -> Notebook:
    return read(ROOT / "solutions/03_group_privacy.ipynb")


def mark(exercise: str, verdict: str, possible: float = 2, **words_: str) -> Mark:
    earned = possible if verdict == "right" else 0
    return Mark(exercise, f"Title of {exercise}", earned, possible, verdict, **words_)


def result(student: str, *verdicts: str, late: bool = False, seconds: float = 1.0) -> Result:
    names = ("distance", "chain", "group-delta")
    marks = tuple(mark(name, verdict) for name, verdict in zip(names, verdicts, strict=False))
    return Result(student, "03", marks, late=late, seconds=seconds)


CLASS = [
    result("zoe", "right", "right", "right"),
    result("ada_12", "right", "wrong", "error", late=True),
    result("Bo", "right", "needs a human", "not answered", seconds=9.5),
]


def rows(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline="")))


# -- Tables -----------------------------------------------------------------------------------------


def test_grades(tmp_path: Path) -> None:
    tables.write(CLASS, tmp_path)
    tail = ["total", "out of", "late", "needs a human", "sandboxed", "remarks"]
    assert rows(tmp_path / "grades.csv") == [
        ["student", "distance", "chain", "group-delta", *tail],
        ["ada_12", "2", "0", "0", "2", "6", "yes", "no", "yes", ""],
        ["Bo", "2", "", "0", "", "6", "no", "yes", "yes", ""],
        ["zoe", "2", "2", "2", "6", "6", "no", "no", "yes", ""],
    ]


def test_files_for_import_leave_out_who_needs_a_human(tmp_path: Path) -> None:
    roster = Roster([Person("zoe", "Zoe Zoltan", "99")])
    tables.write(CLASS, tmp_path, "Exercises 3 (4711)", roster)
    assert rows(tmp_path / "canvas.csv") == [
        ["Student", "ID", "SIS Login ID", "Section", "Exercises 3 (4711)"],
        ["    Points Possible", "", "", "", "6"],
        ["ada", "12", "", "", "2"],
        ["Zoe Zoltan", "99", "", "", "6"],
    ]
    assert rows(tmp_path / "moodle.csv") == [
        ["Identifier", "Full name", "Username", "Maximum Grade", "Grade", "Last modified (grade)"],
        ["Participant 12", "ada", "", "6", "2", ""],
        ["Participant 99", "Zoe Zoltan", "", "6", "6", ""],
    ]


def test_without_a_number_a_login_name_will_do(tmp_path: Path) -> None:
    tables.write([result("jdoe", "right")], tmp_path)
    assert rows(tmp_path / "canvas.csv")[2] == ["jdoe", "", "jdoe", "", "2"]
    assert rows(tmp_path / "moodle.csv")[1] == ["", "", "jdoe", "2", "2", ""]


def test_an_exercise_that_somebody_lacks_is_an_empty_cell(tmp_path: Path) -> None:
    tables.write([result("ada", "right"), result("bo", "right", "right")], tmp_path)
    assert [row[:3] for row in rows(tmp_path / "grades.csv")] == [
        ["student", "distance", "chain"],
        ["ada", "2", ""],
        ["bo", "2", "2"],
    ]


def test_no_results_are_empty_tables(tmp_path: Path) -> None:
    tables.write([], tmp_path)
    assert rows(tmp_path / "grades.csv")[0][:2] == ["student", "total"]
    assert len(rows(tmp_path / "grades.csv")) == 1


def test_two_results_of_a_student_and_two_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"ada has two results\. Fix: keep one"):
        tables.write([result("ada"), result("ada", "right")], tmp_path)
    with pytest.raises(BadInput, match=r"units 03, 04\. Fix: make the tables of one unit"):
        pages.write([result("ada"), replace(result("bo"), unit="04")], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_best_of_several() -> None:
    poor, good = result("ada", "right", "wrong"), result("ada", "right", "right")
    undecided = result("ada", "right", "needs a human")
    assert tables.best([poor, good, result("bo")]) == [good, result("bo")]
    assert tables.best([poor, undecided]) == [undecided], "it may become more than the other"
    assert tables.best([undecided, good]) == [good], "it cannot become more"


def is_formula(cell: str) -> bool:
    """What a spreadsheet may run: the rule of the test is its own, not the engine's."""
    return bool(re.match(r"[\s\u00a0]*[=+\-@＝＋－＠]", cell)) or cell[:1] in {"\t", "\r", "\n"}


@given(TEXT, st.lists(TEXT, max_size=3), TEXT)
def test_no_cell_is_a_formula_and_every_row_survives(student: str, remarks: list[str], exercise: str) -> None:
    found = Result(student, "03", (Mark(exercise, "", 1, 2, "right"),), tuple(remarks))
    grid = tables.grades([found])
    text = tables.as_csv(grid)
    assert text.encode("utf-8")
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == grid
    assert not any(is_formula(cell) for row in grid for cell in row)
    assert text.count("\r\n") == 2, "one line a row, whatever a name holds"


@given(TEXT, TEXT)
def test_files_for_import_hold_no_formula(student: str, assignment: str) -> None:
    found = [result(student, "right")]
    for grid in (tables.canvas(found, assignment), tables.moodle(found)):
        assert not any(is_formula(cell) for row in grid for cell in row)


@given(st.text())
def test_honest_text_stays_as_it_is(text: str) -> None:
    if text.isprintable() and not is_formula(text) and text[:1] not in {"|", "%"}:
        assert tables.text(text) == text


@given(st.floats(0, 1000))
def test_points_are_numbers(value: float) -> None:
    assert abs(float(tables.number(value)) - value) <= 5e-7
    assert re.fullmatch(r"\d+(\.\d{1,6})?", tables.number(value))


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables.write(CLASS, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match=r"grades.csv could not be written: No space left on device\."):
        tables.write(CLASS[:1], tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


# -- Pages ------------------------------------------------------------------------------------------


class Outline(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and its text."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


PROSE = {
    "p",
    "h1",
    "h2",
    "h3",
    "div",
    "span",
    "b",
    "strong",
    "i",
    "a",
    "code",
    "pre",
    "ul",
    "li",
    "dl",
    "dt",
    "dd",
}
TABLES = {"table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"}
DRAWN = {"figure", "svg", "rect", "line", "text", "desc", "title"}
FRAME = {"html", "head", "meta", "style", "body", "main", "section", "header", "footer"}
ALLOWED = PROSE | TABLES | DRAWN | FRAME


def harmless(page: str) -> Outline:
    """A page with our elements only, all closed, that runs nothing and asks nobody."""
    outline = Outline(page)
    assert outline.open == []
    assert {name for name, _ in outline.elements} <= ALLOWED
    for name, attributes in outline.elements:
        assert not any(key.startswith("on") or key in {"src", "style", "srcdoc"} for key in attributes)
        link = attributes.get("href")
        assert link is None or (name == "a" and re.fullmatch(r"feedback/[\w.@+~-]+\.html", link))
    assert "url(" not in style()
    assert "@import" not in style()
    assert "Content-Security-Policy" in page
    return outline


def every_page(out: Path) -> Iterator[tuple[Path, str]]:
    return ((path, path.read_text("utf-8")) for path in sorted(out.rglob("*.html")))


def test_there_is_a_page_a_student_and_one_of_the_class(tmp_path: Path, master: Notebook) -> None:
    written = pages.write(CLASS, tmp_path, master=master)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in written) == [
        "class.html",
        "feedback/Bo~e52e1ced.html",
        "feedback/ada_12.html",
        "feedback/zoe.html",
    ]
    for path, page in every_page(tmp_path):
        outline = harmless(page)
        assert "Exercises 3. Group privacy" in outline.text
        assert "without a sandbox" not in page
        assert path in written


def test_a_student_sees_what_was_asked_what_was_found_and_the_hint() -> None:
    failed = mark("chain", "wrong", where="f(x=1)", found="2", asked="3", hint="Is `x` $> 0$?")
    page = harmless(student_page(Result("ada", "03", (failed, mark("b", "right"))), "Unit 03", True))
    for text in (
        "f(x=1)",
        "Found2",
        "Asked3",
        "Is x > 0?",
        "1. Title of chain",
        "✗ not right",
        "0 / 2",
        "✓ right",
    ):
        assert text in page.text
    assert "2of 4 points" in page.text


def test_a_student_does_not_see_the_master_or_the_grader_s_own_trouble(
    tmp_path: Path, master: Notebook
) -> None:
    known = mark("distance", "wrong", found="1", asked="2", wrong_answer="wrong-distance-1")
    trouble = mark("chain", "needs a human", found="the sandbox fell over")
    pages.write([Result("ada", "03", (known, trouble))], tmp_path, master=master)
    page = harmless((tmp_path / "feedback/ada.html").read_text("utf-8")).text
    assert "Sets forget copies" not in page
    assert "wrong-distance-1" not in page
    assert "the sandbox fell over" not in page
    assert "? a person will look– / 2" in page
    assert "A person will look at part of this" in page


def test_a_right_answer_shows_no_hint() -> None:
    page = student_page(Result("ada", "03", (mark("a", "right", hint="spoiler", asked="42"),)), "Unit", True)
    assert "spoiler" not in page
    assert "42" not in page


def test_the_class_page_tells_what_people_believe(tmp_path: Path, master: Notebook) -> None:
    wrong = mark("distance", "wrong", wrong_answer="wrong-distance-1")
    unknown = mark("distance", "wrong", wrong_answer="wrong-distance-9")
    broke = mark("chain", "error", found="ZeroDivisionError: division by zero")
    found = [
        Result("ada", "03", (wrong, broke), ("cell 'chain' is missing",), late=True, seconds=3),
        Result("bo", "03", (wrong, mark("chain", "needs a human", found="no space left"))),
        Result("cy", "03", (unknown, mark("chain", "right"))),
        Result("dana", "03", (mark("distance", "right"), mark("chain", "right"))),
    ]
    pages.write(found, tmp_path, master=master, roster=Roster([Person("ada"), Person("emil")]))
    page = harmless((tmp_path / "class.html").read_text("utf-8")).text
    for text in (
        "4submissions",
        "2median, of 4",
        "1late",
        "1need a human",
        "no space left",
        "No submission (1): emil",
        "3 of 3 wrong answers",
        "21. Title of distanceSets forget copies: two visits of Bo become one.",
        "len(set(left) ^ set(right))",
        "Given by ada, bo.",
        "wrong-distance-9",
        "ZeroDivisionErrorTitle of chain (1)1",
        "late; cell 'chain' is missing",
        "ada3.0",
        "3 seconds in all",
    ):
        assert text in page, text
    assert page.index("1. Title of distance") < page.index("2. Title of chain"), "1 of 4 against 2 of 4"


def test_the_hardest_exercise_comes_first(tmp_path: Path) -> None:
    pages.write([result("ada", "right", "right", "wrong"), result("bo", "right", "wrong", "wrong")], tmp_path)
    page = Outline((tmp_path / "class.html").read_text("utf-8")).text
    table = page[page.index("hardest first") :]
    places = [table.index(f"Title of {name}") for name in ("group-delta", "chain", "distance")]
    assert places == sorted(places)
    assert "3. Title of group-delta" in table


def test_one_unsafe_result_is_told_on_every_page(tmp_path: Path) -> None:
    pages.write([CLASS[0], replace(CLASS[1], sandboxed=False)], tmp_path)
    found = list(every_page(tmp_path))
    assert len(found) == 3
    assert all("Graded without a sandbox." in Outline(page).text for _, page in found)


def test_no_results_still_make_a_page(tmp_path: Path) -> None:
    pages.write([], tmp_path)
    assert "0submissions" in harmless((tmp_path / "class.html").read_text("utf-8")).text


def test_a_submission_without_marks_has_a_page(tmp_path: Path) -> None:
    pages.write([Result("ada", "03", (), ("not a notebook",))], tmp_path)
    assert "not a notebook" in harmless((tmp_path / "feedback/ada.html").read_text("utf-8")).text
    assert "nothing graded" in (tmp_path / "class.html").read_text("utf-8")


def test_the_same_results_in_any_order_give_the_same_bytes(tmp_path: Path, master: Notebook) -> None:
    for folder, results in (("a", CLASS), ("b", CLASS[::-1])):
        pages.write(results, tmp_path / folder, master=master)
        tables.write(results, tmp_path / folder)
    first, second = (
        {path.relative_to(tmp_path / folder): path.read_bytes() for path in (tmp_path / folder).rglob("*.*")}
        for folder in ("a", "b")
    )
    assert first == second


@given(TEXT, TEXT, TEXT, TEXT)
def test_no_text_becomes_markup(student: str, title: str, found: str, remark: str) -> None:
    marks = (
        Mark("distance", title, 0, 2, "wrong", found, found, found, found, found),
        Mark("chain", title, 0, 2, "error", found, found, found),
        Mark("induction", title, 0, 2, "needs a human", found=found),
    )
    nasty = Result(student, "03", marks, (remark, HOSTILE))
    outline = harmless(student_page(nasty, title, True))
    assert re.sub(r"\s", "", plain(student[:LONGEST])) in re.sub(r"\s", "", outline.text)
    harmless(pages.class_page([nasty], title, {}, [student], True))


@given(st.text())
def test_escaped_text_reads_as_it_was(text: str) -> None:
    assert Outline(tag("p", text)).text == plain(text, keep="\n\t")
    assert not set("<>\"'") & set(shown(text))


@given(st.text())
def test_an_attribute_cannot_be_left(text: str) -> None:
    outline = Outline(tag("p", "x", title=f"a{text}"))
    assert outline.elements == [("p", {"title": f"a{plain(text)}"})]


@given(st.text())
def test_an_author_s_sentence_cannot_hold_markup(text: str) -> None:
    outline = Outline(tag("p", words(text)))
    assert outline.open == []
    assert {name for name, _ in outline.elements} <= {"p", "i", "code"}


def test_endless_text_is_cut() -> None:
    assert shown("x" * 10**6) == "x" * LONGEST + f" … ({10**6 - LONGEST} more characters)"
    assert isinstance(shown("x"), Html)


@given(st.lists(st.text(max_size=60), unique=True, max_size=6))
def test_every_student_has_a_file_of_their_own_on_every_system(names: list[str]) -> None:
    files = [pages.file_name(name) for name in names]
    assert len({file.casefold() for file in files}) == len(names)
    assert all(re.fullmatch(r"[\w@+][\w.@+~-]*\.html|~[0-9a-f]{8}\.html", file, re.ASCII) for file in files)


# -- Charts -----------------------------------------------------------------------------------------


def test_every_verdict_has_a_colour_a_mark_and_words() -> None:
    assert set(VERDICT) == set(VERDICTS)
    assert len({mark for _, mark, _ in VERDICT.values()}) == len(VERDICTS), "colour is never alone"
    assert all(f".fill-{kind} {{" in style() and f".{kind} {{" in style() for kind, _, _ in VERDICT.values())


@given(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 500)), max_size=25))
def test_a_histogram_is_a_picture_with_words(bins: list[tuple[str, int]]) -> None:
    drawn = ElementTree.fromstring(histogram(bins, 1.5 if bins else None, "A title", "some words"))
    (svg,) = drawn.iter("svg")
    assert svg.get("role") == "img"
    assert (svg.findtext("title"), svg.findtext("desc")) == ("A title", "some words")
    heights = [float(rect.get("height", "")) for rect in svg.iter("rect")]
    counts = [count for _, count in bins if count]
    assert len(heights) == len(counts)
    assert all(
        h == pytest.approx(max(heights) * c / max(counts), abs=1e-5)
        for h, c in zip(heights, counts, strict=True)
    )


@given(st.dictionaries(st.sampled_from(VERDICTS), st.integers(0, 300)))
def test_a_bar_is_cut_by_the_shares(counts: dict[str, int]) -> None:
    svg = ElementTree.fromstring(shares(counts, "A title"))
    total = sum(counts.values())
    ends = [float(rect.get("x", "")) + float(rect.get("width", "")) for rect in svg.iter("rect")]
    order = [counts[verdict] for verdict in VERDICT if counts.get(verdict)]
    assert len(ends) == len(order)
    assert all(end == pytest.approx(100 * sum(order[: i + 1]) / total, abs=1) for i, end in enumerate(ends))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_everything_can_be_read_in_light_and_in_dark() -> None:
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in style().split("@media", 2)[:2])
    for colours in (light, light | dark):
        paper = luminance(colours["paper"])
        for name, colour in colours.items():
            if name in {"paper", "panel", "line"}:
                continue
            high, low = sorted((luminance(colour), paper), reverse=True)
            wanted = 3.0 if name.endswith("-fill") else 4.5  # WCAG 2: graphics, and text
            assert (high + 0.05) / (low + 0.05) >= wanted, (name, colour)


def test_a_histogram_has_room_for_everybody(tmp_path: Path) -> None:
    marks = [Mark("a", "A", points, 2.5, "right") for points in (0, 0.5, 2.5, 7)]
    pages.write([Result(f"student{n}", "03", (mark,)) for n, mark in enumerate(marks)], tmp_path)
    page = Outline((tmp_path / "class.html").read_text("utf-8")).text
    assert "2 with 0 points; 1 with 2 points; 1 with 7 points" in page
    big = [Result(f"s{n}", "03", (Mark("a", "A", n, 100, "right"),)) for n in (0, 4, 5, 99, 100)]
    pages.write(big, tmp_path)
    page = Outline((tmp_path / "class.html").read_text("utf-8")).text
    assert "2 with 0–4 points; 1 with 5–9 points; 1 with 95–99 points; 1 with 100–100 points" in page
