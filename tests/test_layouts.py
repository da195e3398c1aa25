"""Submissions are found in every layout, one a student, and nothing hostile among them is followed."""

from __future__ import annotations

import io
import os
import stat
import struct
import sys
import tempfile
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.errors import BadInput
from dpcourse.grading import intake, layouts
from dpcourse.grading.files import plain
from dpcourse.grading.records import Submission
from dpcourse.grading.roster import Person, Roster
from dpcourse.grading.whose import CANVAS, MOODLE

NAME = "03_group_privacy.ipynb"
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes names that are not UTF-8")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def put(path: Path, content: str = "{}", hours: float | None = None) -> Path:
    """A file, received so many hours after noon."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    if hours is not None:
        moment = (NOON + timedelta(hours=hours)).timestamp()
        os.utime(path, (moment, moment))
    return path


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def students(found: list[Submission]) -> list[str]:
    return [submission.student for submission in found]


def contents(found: list[Submission]) -> dict[str, str | None]:
    return {s.student: s.path.read_text() if s.path else None for s in found}


# -- Layouts ----------------------------------------------------------------------------------------


def test_a_folder_of_files(tmp_path: Path) -> None:
    for name in ("zoe", "Ada", "bo"):
        put(tmp_path / f"{name}.ipynb", name)
    put(tmp_path / "README.txt")
    put(tmp_path / ".ipynb_checkpoints/bo-checkpoint.ipynb")
    found = layouts.find(tmp_path, "03")
    assert students(found) == ["Ada", "bo", "zoe"]
    assert contents(found) == {"Ada": "Ada", "bo": "bo", "zoe": "zoe"}
    assert not any(s.problem or s.late for s in found)


@pytest.mark.parametrize("below", ["", "submitted"])
def test_nbgrader(tmp_path: Path, below: str) -> None:
    for student in ("ada", "bo"):
        put(tmp_path / below / student / "03_group_privacy" / NAME, student)
        put(tmp_path / below / student / "02_mechanisms/02_mechanisms.ipynb", "another unit")
    put(tmp_path / below / "ada/03_group_privacy/timestamp.txt", "2026-03-02 14:30:00.5 UTC\n")
    put(tmp_path / below / "cy/02_mechanisms/02_mechanisms.ipynb")
    if below:
        put(tmp_path / "source/03_group_privacy" / NAME, "the master")
    ada, bo, cy = layouts.find(tmp_path, "03", due=NOON)
    assert contents([ada, bo, cy]) == {"ada": "ada", "bo": "bo", "cy": None}
    assert ada.received == NOON + timedelta(hours=2.5, seconds=0.5)
    assert ada.late
    assert cy.problem == "no notebook of unit 03; there is 02_mechanisms/02_mechanisms.ipynb"


CANVAS_FILES = {
    "lovelaceada_12_345_03_group_privacy.ipynb": "ada, first",
    "lovelaceada_12_346_03_group_privacy-1.ipynb": "ada, again",
    "ohmbo_LATE_13_400_03_group_privacy-2.ipynb": "bo",
    "o_neillcy_14_401_My homework.ipynb": "cy",
    "öztürkdana_15_402_essay.pdf": "no notebook",
    "anon_x7Kq2_403_03_group_privacy.ipynb": "nobody knows",
    "LATE_anon_y7Kq2_404_03_group_privacy.ipynb": "nobody knows, late",
}


@pytest.mark.parametrize("as_zip", [True, False])
def test_canvas(tmp_path: Path, as_zip: bool) -> None:
    place = tmp_path / "submissions.zip"
    if as_zip:
        zipped(place, CANVAS_FILES)
    else:
        place = tmp_path / "unpacked"
        for name, content in CANVAS_FILES.items():
            put(place / name, content)
    found = layouts.find(place, "03", due=datetime(1999, 1, 1, tzinfo=UTC), unpack=tmp_path / "work")
    assert contents(found) == {
        "lovelaceada_12": "ada, again",
        "ohmbo_13": "bo",
        "o_neillcy_14": "cy",
        "öztürkdana_15": None,
        "anon_x7Kq2": "nobody knows",
        "anon_y7Kq2": "nobody knows, late",
    }
    # Canvas says itself who is late; the times in its archive are those of the download.
    assert [s.student for s in found if s.late] == ["anon_y7Kq2", "ohmbo_13"]
    assert next(s for s in found if s.path is None).problem == "no notebook of unit 03; there is essay.pdf"


def test_moodle(tmp_path: Path) -> None:
    files = {
        f"Ada Lovelace_12_assignsubmission_file_/{NAME}": "ada",
        "Ada Lovelace_12_assignsubmission_onlinetext_/onlinetext.html": "hello",
        "Bo_Jr Ohm_13_assignsubmission_file/answers.ipynb": "bo",
        f"Cy Twombly_14_assignsubmission_file_{NAME}": "cy",
        "Dana Scully_15_assignsubmission_file_/02_mechanisms.ipynb": "another unit",
        f"Emil Post_16_assignsubmission_file_/{NAME}": "emil",
        "Emil Post_16_assignsubmission_file_/timestamp.txt": "1999-01-01 00:00:00 UTC",
    }
    found = layouts.find(zipped(tmp_path / "a.zip", files), "03", due=datetime(2000, 1, 1, tzinfo=UTC))
    assert contents(found) == {
        "Ada Lovelace_12": "ada",
        "Bo_Jr Ohm_13": "bo",
        "Cy Twombly_14": "cy",
        "Dana Scully_15": None,
        "Emil Post_16": "emil",
    }
    assert all(s.late for s in found if s.path), "a stamp that a student sends along changes nothing"


def test_a_git_checkout_a_student(tmp_path: Path) -> None:
    put(tmp_path / "ada/.git/config", "[core]\n\tfsmonitor = touch /tmp/pwned")
    put(tmp_path / "ada/exercises" / NAME, "ada", hours=9)
    put(tmp_path / "ada/exercises/03_group_privacy.before-repair-1.ipynb", "old", hours=10)
    put(tmp_path / "ada/scratch/other.ipynb", "scratch", hours=10)
    put(tmp_path / "bo/.git", "gitdir: /somewhere/else")
    (found, missing) = layouts.find(tmp_path, "03", due=NOON)
    assert contents([found]) == {"ada": "ada"}
    assert found.received is None, "a checkout has the time of the checkout"
    assert not found.late
    assert missing == Submission("bo", None, problem="no notebook of unit 03", absent=True)


def test_a_zip_may_hold_the_folder_or_what_is_in_it(tmp_path: Path) -> None:
    files = {"class/ada.ipynb": "ada", "class/bo.ipynb": "bo", "__MACOSX/class/._ada.ipynb": "junk"}
    assert students(layouts.find(zipped(tmp_path / "class.zip", files), "03")) == ["ada", "bo"]


def test_a_single_notebook(tmp_path: Path) -> None:
    assert contents(layouts.find(put(tmp_path / "ada.ipynb", "ada"), "03")) == {"ada": "ada"}


def test_the_class_list_says_who_is_who(tmp_path: Path) -> None:
    place = zipped(tmp_path / "a.zip", CANVAS_FILES | {"bo.ipynb": "bo again"})
    roster = Roster([Person("ada", id="12"), Person("bo")])
    found = contents(layouts.find(place, "03", roster=roster))
    assert found["ada"] == "ada, again"
    assert found["bo"] == "bo again"
    assert "lovelaceada_12" not in found


@given(
    st.from_regex(r"[a-zé_]{1,12}", fullmatch=True),
    st.integers(1, 10**9),
    st.booleans(),
    st.integers(1, 10**9),
)
def test_canvas_names_are_read_as_canvas_writes_them(name: str, user: int, late: bool, upload: int) -> None:
    match = CANVAS[1].fullmatch(f"{name}_{'LATE_' * late}{user}_{upload}_{NAME}")
    assert match
    assert (match["name"], match["id"], match["late"] is not None) == (name, str(user), late)
    assert match["file"] == NAME


@given(st.from_regex(r"[A-Z][a-z_0-9 ]{0,12}[a-z]", fullmatch=True), st.integers(1, 10**9))
def test_moodle_names_are_read_as_moodle_writes_them(name: str, number: int) -> None:
    match = MOODLE.fullmatch(f"{name}_{number}_assignsubmission_file_")
    assert match
    assert (match["name"], match["id"], match["file"]) == (name, str(number), "")


# -- Which of several -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "chosen", "late"),
    [("last", "tuesday", True), ("first", "monday", False), ("on time", "noon", False)],
)
def test_the_rule_says_which_counts(tmp_path: Path, rule: str, chosen: str, late: bool) -> None:
    put(tmp_path / "ada" / "03_group_privacy.ipynb", "noon", hours=0)
    put(tmp_path / "ada" / "03_group_privacy (1).ipynb", "monday", hours=-24)
    put(tmp_path / "ada" / "03_group_privacy_final.ipynb", "tuesday", hours=24)
    (found,) = layouts.find(tmp_path, "03", rule=rule, due=NOON)
    assert contents([found]) == {"ada": chosen}
    assert found.late is late


def test_on_time_falls_back_to_the_last(tmp_path: Path) -> None:
    put(tmp_path / "ada/03_a.ipynb", "early", hours=1)
    put(tmp_path / "ada/03_b.ipynb", "later", hours=2)
    (found,) = layouts.find(tmp_path, "03", rule="on time", due=NOON)
    assert contents([found]) == {"ada": "later"}
    assert found.late


def test_best_keeps_all(tmp_path: Path) -> None:
    put(tmp_path / "ada/03_a.ipynb", "one", hours=1)
    put(tmp_path / "ada/03_b.ipynb", "two", hours=2)
    put(tmp_path / "bo.ipynb", "three")
    found = layouts.find(tmp_path, "03", rule="best")
    assert [(s.student, s.path and s.path.read_text()) for s in found] == [
        ("ada", "one"),
        ("ada", "two"),
        ("bo", "three"),
    ]


def test_a_file_named_as_the_unit_goes_before_others(tmp_path: Path) -> None:
    put(tmp_path / "ada" / NAME, "named", hours=0)
    put(tmp_path / "ada/notes on 03.ipynb", "notes", hours=5)
    put(tmp_path / "ada/scratch.ipynb", "scratch", hours=6)
    assert contents(layouts.find(tmp_path, "03")) == {"ada": "named"}


@pytest.mark.parametrize("same", [True, False])
def test_two_files_that_came_together(tmp_path: Path, same: bool) -> None:
    put(tmp_path / "ada/03_a.ipynb", "one", hours=1)
    put(tmp_path / "ada/03_b.ipynb", "one" if same else "two", hours=1)
    (found,) = layouts.find(tmp_path, "03")
    assert (found.path is not None) is same
    assert found.problem == ("" if same else "03_a.ipynb and 03_b.ipynb came together: remove all but one")


def test_a_file_and_a_folder_of_one_student(tmp_path: Path) -> None:
    put(tmp_path / "ada.ipynb", "file", hours=2)
    put(tmp_path / "ada" / NAME, "folder", hours=1)
    assert contents(layouts.find(tmp_path, "03")) == {"ada": "file"}


def test_a_rule_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="rule = 'newest' breaks a rule: it must be one of 'last', 'first'"):
        layouts.find(tmp_path, "03", rule="newest")


# -- Hostile and broken -----------------------------------------------------------------------------


@posix
def test_links_are_reported_and_not_followed(tmp_path: Path) -> None:
    secret = put(tmp_path / "solutions" / NAME, "the solution")
    place = tmp_path / "class"
    put(place / "zoe.ipynb", "zoe")
    (place / "ada.ipynb").symlink_to(secret)
    (place / "bo").symlink_to(secret.parent)
    put(place / "cy/notes.txt")
    (place / "cy" / NAME).symlink_to(tmp_path / "nowhere")
    ada, bo, cy, zoe = layouts.find(place, "03")
    told = "is a link to somewhere else, and links are not followed"
    assert (ada.path, ada.problem) == (None, f"ada.ipynb {told}")
    assert (bo.path, bo.problem) == (None, f"no notebook of unit 03; bo {told}")
    assert (cy.path, cy.problem) == (None, f"{NAME} {told}")
    assert contents([zoe]) == {"zoe": "zoe"}


@posix
def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ada.ipynb")
    (found,) = layouts.find(tmp_path, "03")
    assert found == Submission("ada", None, found.received, problem="ada.ipynb is not a file")


@linux
def test_names_with_invisible_characters(tmp_path: Path) -> None:
    put(tmp_path / "ada\nbo.ipynb")
    put(tmp_path / "cy\u202e.ipynb")
    put(tmp_path / "dana.ipynb")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.ipynb")).write_text("not UTF-8")
    found = layouts.find(tmp_path, "03")
    assert students(found) == [r"ada\nbo", r"cy\u202e", "dana", r"\udcff"]
    assert [s.problem for s in found] == [
        told := "the file's name holds invisible characters: rename it",
        told,
        "",
        told,
    ]


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    with (tmp_path / "ada.ipynb").open("wb") as file:
        file.truncate(100 * 2**20)
    (found,) = layouts.find(tmp_path, "03")
    assert (found.path, found.problem) == (None, "ada.ipynb has 100 MB, and 32 MB are allowed")


def test_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "ada" / NAME)
    put(tmp_path / "bo" / NAME)
    scandir = os.scandir

    def refuse(path: str | Path) -> object:  # root may read everything, so the refusal is played
        if Path(path).name == "ada":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(intake.os, "scandir", refuse)
    ada, bo = layouts.find(tmp_path, "03")
    assert (ada.path, ada.problem) == (
        None,
        "no notebook of unit 03; ada cannot be read: Permission denied",
    )
    assert bo.path


def test_a_student_with_very_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MOST", 10)
    for number in range(30):
        put(tmp_path / f"ada/a{number:02}.txt")
    put(tmp_path / "bo" / NAME)
    ada, bo = layouts.find(tmp_path, "03")
    assert "holds more than 10 files" in ada.problem
    assert bo.path


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("nowhere", "cannot be read: No such file or directory. Fix: name a folder"),
        ("empty", "holds no submissions. Fix: name a folder of student.ipynb files"),
        ("broken.zip", "cannot be read: it is not a whole zip file"),
        ("half.zip", "cannot be read: it is not a whole zip file"),
        ("odd.zip", "cannot be read: Bad magic number"),
    ],
)
def test_a_place_that_is_none(tmp_path: Path, place: str, told: str) -> None:
    (tmp_path / "empty").mkdir()
    put(tmp_path / "broken.zip", "no archive")
    whole = zipped(tmp_path / "whole.zip", {f"student{n}.ipynb": "{}" for n in range(50)}).read_bytes()
    (tmp_path / "half.zip").write_bytes(whole[:-100])
    (tmp_path / "odd.zip").write_bytes(whole.replace(b"PK\x01\x02", b"PK\x09\x09", 1))
    with pytest.raises(BadInput, match=told):
        layouts.find(tmp_path / place, "03")


def test_an_archive_cannot_write_where_it_likes(tmp_path: Path) -> None:
    place, work = tmp_path / "a.zip", tmp_path / "deep/work"
    names = ["../../escaped.ipynb", "/absolute.ipynb", "ada/../../../03_up.ipynb", "C:\\windows\\03_x.ipynb"]
    zipped(place, dict.fromkeys(names, "evil") | {"good.ipynb": "good"})
    before = sorted(tmp_path.rglob("*"))
    found = layouts.find(place, "03", unpack=work)
    assert contents([s for s in found if s.path]) == {"good": "good"}
    assert all("leads out of the archive" in s.problem for s in found if not s.path)
    assert len([s for s in found if not s.path]) == 4
    new = set(tmp_path.rglob("*")) - set(before)
    assert {path.parent for path in new if path.is_file()} == {work}


def test_a_link_in_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        link = zipfile.ZipInfo("ada.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    (found,) = layouts.find(tmp_path / "a.zip", "03")
    assert (found.path, "is a link" in found.problem) == (None, True)


def test_a_bomb_costs_one_student_and_little_memory(tmp_path: Path) -> None:
    place = zipped(tmp_path / "a.zip", {"ada.ipynb": " " * 40 * 2**20, "bo.ipynb": "bo"})
    ada, bo = layouts.find(place, "03", unpack=tmp_path / "work")
    assert (ada.path, ada.problem) == (None, "ada.ipynb has 40 MB, and 32 MB are allowed")
    assert contents([bo]) == {"bo": "bo"}


def test_a_bomb_that_lies_about_its_size(tmp_path: Path) -> None:
    place = zipped(tmp_path / "a.zip", {"ada.ipynb": " " * 40 * 2**20, "bo.ipynb": "bo"})
    honest, lie = struct.pack("<L", 40 * 2**20), struct.pack("<L", 100)
    place.write_bytes(place.read_bytes().replace(honest, lie))
    ada, bo = layouts.find(place, "03", unpack=tmp_path / "work")
    assert ada.path is None
    assert ada.problem.startswith("ada.ipynb is damaged in the archive: Bad CRC-32")
    assert contents([bo]) == {"bo": "bo"}


def test_many_bombs_stop_at_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "ALL", 250)
    place = zipped(tmp_path / "a.zip", {f"student{n}.ipynb": " " * 100 for n in range(4)})
    found = layouts.find(place, "03")
    assert [s.path is not None for s in found] == [True, True, False, False]
    assert "unpacks to more than" in found[-1].problem


def test_a_damaged_or_encrypted_member_is_one_student_s_problem(tmp_path: Path) -> None:
    place = zipped(tmp_path / "a.zip", {"ada.ipynb": "x" * 50, "bo.ipynb": "bo", "cy.ipynb": "cy"})
    with zipfile.ZipFile(place) as archive:
        ada, _, cy = archive.infolist()
        start = ada.header_offset + 30 + len(ada.filename)
    data = bytearray(place.read_bytes())
    data[start : start + 2] = b"\xff\xff"
    central = data.rindex(b"cy.ipynb") - 46
    data[central + 8] |= 1  # says that it is encrypted
    place.write_bytes(bytes(data))
    problems = {s.student: s.problem for s in layouts.find(place, "03")}
    assert problems["ada"].startswith("ada.ipynb is damaged in the archive: ")
    assert problems["bo"] == ""
    assert problems["cy"] == "cy.ipynb is encrypted"
    assert cy.filename == "cy.ipynb"


def test_a_full_disk_is_a_clear_error_and_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = zipped(tmp_path / "a.zip", {"ada.ipynb": "ada"})

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match=r"could not be written: No space left on device\. What was there"):
        layouts.find(place, "03", unpack=tmp_path / "work")
    assert list((tmp_path / "work").iterdir()) == []


def test_the_same_input_gives_the_same_order_and_the_same_files(tmp_path: Path) -> None:
    place = zipped(tmp_path / "a.zip", dict(reversed(CANVAS_FILES.items())))
    other = zipped(tmp_path / "b.zip", CANVAS_FILES)
    first = layouts.find(place, "03", unpack=tmp_path / "work")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "work").iterdir()}
    assert layouts.find(place, "03", unpack=tmp_path / "work") == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "work").iterdir()} == times
    assert students(layouts.find(other, "03")) == students(first)


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=4, unique=True))
def test_no_name_in_an_archive_breaks_the_search(names: list[str]) -> None:
    data = io.BytesIO()
    try:
        with zipfile.ZipFile(data, "w") as archive:
            for name in names:
                archive.writestr(f"{name}.ipynb", "{}")
            archive.writestr(f"an honest student/{NAME}", "honest")
    except (UnicodeEncodeError, ValueError, IndexError):
        return  # no archive can have this name
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "a.zip"
        place.write_bytes(data.getvalue())
        found = layouts.find(place, "03", unpack=Path(folder) / "work")
        assert contents(found)["an honest student"] == "honest"
        assert all(plain(s.student) == s.student and (s.path is None) == bool(s.problem) for s in found)
        kept = {path.parent for path in Path(folder).rglob("*.ipynb")}
        assert kept <= {Path(folder) / "work"}
