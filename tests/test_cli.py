"""The commands: examples in every help, one line for a mistake, and the right exit code."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import webbrowser
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from dpcourse import cli
from dpcourse.cli import completion, doctor
from dpcourse.cli.parsing import exercise
from dpcourse.errors import BadInput
from dpcourse.grading import command as grading_command
from dpcourse.grading import sandbox
from dpcourse.grading.command import summary
from dpcourse.grading.records import Mark, Result, Submission
from dpcourse.workbook import course

COMMANDS = list(cli.commands().options())
SHELLS = completion.SHELLS


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_help_has_examples_that_parse(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([*filter(None, [command]), "--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    examples = re.findall(r"dpcourse (?:(?!  ).)*", shown.partition("examples:")[2])
    assert len(examples) >= 2
    for example in examples:
        given = re.sub(r"[>)].*", "", example)
        words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', given)][1:]
        assert cli.commands().parser.parse_args(words).command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "dpcourse: the following arguments are required: command. Try: dpcourse --help"),
        (["dance"], "invalid choice: 'dance'"),
        (["check"], "the following arguments are required: notebook. Try: dpcourse check --help"),
        (["lab", "--port", "70000"], "'70000' is not a port: choose a number from 1 to 65535. Try: "),
        (["grade", "x", "--unit", "3"], "required: --out"),
        (["grade", "x", "--unit", "3", "--out", "y", "--due", "soon"], "'soon' is not a time"),
        (["check", "none.ipynb"], "there is no such file"),
        (["check", "77"], "there is no unit '77' in the course (01, "),
        (["release", "--from", "nowhere"], "nowhere has no notebooks. Fix: name the folder by --from."),
        (["lab", "file/below", "--only-copy"], "lectures: Not a directory."),
    ],
)
def test_a_mistake_is_answered_with_one_line_and_the_exit_code_2(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    try:
        code: object = cli.main(arguments)
    except SystemExit as stopped:
        code = stopped.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("dpcourse")
    assert err.count("\n") == 1


def test_being_interrupted_is_reported_as_a_shell_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(course, "copy_to", interrupted)
    assert cli.main(["lab", "x", "--only-copy"]) == 130


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe of a Unix shell")
def test_a_reader_who_has_seen_enough_is_no_mistake() -> None:
    command = f"{sys.executable} -m dpcourse coverage --json | head -1"
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert ended.stdout == "{\n"
    assert ended.stderr == ""


# -- Units by number ------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["exercises", ".", "dpcourse/exercises"])
@pytest.mark.parametrize("given", ["03", "3"])
def test_a_unit_is_found_by_its_number(folder: str, given: str, tmp_path: Path) -> None:
    place = tmp_path / folder / "03_group_privacy.ipynb"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()
    assert exercise(given, tmp_path).resolve() == place.resolve()


def test_a_path_stays_a_path_and_a_unit_that_is_not_here_is_explained(tmp_path: Path) -> None:
    assert exercise("my.ipynb", tmp_path) == tmp_path / "my.ipynb"
    (tmp_path / "03").touch()
    assert exercise("03", tmp_path) == tmp_path / "03"
    with pytest.raises(BadInput, match=r"04_\w+.ipynb is not in this folder .* Fix: go to the folder"):
        exercise("04", tmp_path)


# -- Completion -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_know_every_command_option_and_unit(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for command, options in cli.commands().options().items():
        assert command in script
        assert all(option.removeprefix("--") in script for option in options)
    assert "01 02 03" in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n", "-c", script], check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["c"], {"check", "coverage", "completion"}),
        (["check", "0"], {f"0{n}" for n in range(1, 10)}),
        (["check", "--j"], {"--json"}),
        (["grade", "--unit", "1"], {"10", "11", "12"}),
    ],
)
def test_bash_completes(typed: list[str], offered: set[str], tmp_path: Path) -> None:
    script = completion.script("bash", cli.commands().options())
    words = " ".join(f"'{word}'" for word in ["dpcourse", *typed])
    ask = f"COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _dpcourse; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    ended = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert set(ended.stdout.split()) == offered


# -- Doctor ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_doctor_is_content_with_this_environment(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"]
    checks = [finding["check"] for finding in told["checks"]]
    assert checks == ["python", "packages", "kernel", "explorers", "browser", "sandbox", "course files"]
    assert all(finding["fix"] or finding["state"] == "ok" for finding in told["checks"])


def test_a_broken_part_is_named_with_its_remedy_and_the_rest_is_still_examined(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "kernel", lambda: doctor.packages(nothing_installed))
    doctor.kernel.__name__ = "kernel"
    monkeypatch.setattr(doctor, "browser", broken)
    assert cli.main(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert re.search(r"^bad +kernel +\w+ is missing, ", shown, re.MULTILINE)
    assert re.search(r'^ +do: .* -m pip install "\w+>=', shown, re.MULTILINE)
    assert re.search(r"^bad +broken +ZeroDivisionError", shown, re.MULTILINE)
    assert re.search(r"^ok +course files +\d+ lectures, \d+ exercises", shown, re.MULTILINE)
    assert shown.endswith("Something is broken: see `bad` above.\n")


def nothing_installed(name: str) -> str:
    raise metadata.PackageNotFoundError(name)


def broken() -> Any:
    raise ZeroDivisionError("division by zero")


def no_browser() -> Any:
    raise webbrowser.Error("could not locate runnable browser")


def test_what_not_everybody_needs_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    state, found, *fix = doctor.browser(no_browser)
    assert (state, found) == ("note", "none was found on this machine")
    assert "--no-browser" in fix[0]
    sandbox.program.cache_clear()
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    try:
        state, found, *fix = doctor.sandbox()
    finally:
        sandbox.program.cache_clear()
    assert state == "note"
    assert found.startswith("only `dpcourse grade` needs it: ")
    assert fix[0].startswith("install bubblewrap (Debian")


def test_each_check_sees_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.packages(lambda name: "0.0.1")[0] == "bad"
    assert doctor.explorers([str(tmp_path)])[:2] == (
        "bad",
        "JupyterLab lacks anywidget, @jupyter-widgets/jupyterlab-manager: explorers stay pictures",
    )
    assert doctor.kernel("no-such-kernel")[0] == "bad"
    monkeypatch.setattr(doctor.platform, "python_version", lambda: "3.8.1")
    assert doctor.python()[0] == "bad"
    monkeypatch.setattr(course, "root", lambda: tmp_path)
    (tmp_path / "lectures").mkdir()
    (tmp_path / "lectures/00_start_here.ipynb").write_text("not json")
    assert doctor.course_files()[0] == "bad"


# -- Grading --------------------------------------------------------------------------------------


def test_the_summary_of_a_class_tells_grades_from_cases_for_a_human() -> None:
    right = Mark("a", "A", 2, 2, "right")
    look = Mark("a", "A", 0, 2, "needs a human")
    results = [Result("ada", "03", (right,), late=True), Result("bo", "03", (look,))]
    assert summary(results, "03", Path("out")) == {
        "unit": "03",
        "out": "out",
        "submissions": 2,
        "points": {"ada": 2},
        "of": 2,
        "late": ["ada"],
        "needs_a_human": ["bo"],
    }


def test_by_the_rule_best_all_are_graded_and_the_best_is_in_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ada").mkdir()
    for name in ("03_a", "03_b"):
        (tmp_path / f"ada/{name}.ipynb").write_text("{}")

    def graded(submissions: list[Submission], *rest: Any, **options: Any) -> list[Result]:
        assert [s.student for s in submissions] == ["ada", "ada"]
        marks = (Mark("a", "A", 2, 2, "right"), Mark("a", "A", 0, 2, "wrong"))
        return [Result("ada", "03", (mark,)) for mark in marks]

    monkeypatch.setattr(grading_command, "grade", graded)
    masters = Path(__file__).resolve().parent.parent / "solutions"
    out = tmp_path / "out"
    options = ["--unit", "03", "--out", str(out), "--masters", str(masters), "--rule", "best"]
    assert cli.main(["grade", str(tmp_path), *options]) == 0
    rows = (out / "grades.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[:3] for row in rows] == [["student", "a", "total"], ["ada", "2", "2"]]
