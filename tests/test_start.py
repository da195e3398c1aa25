"""The two commands that just work: what start.py decides, and one real start of JupyterLab."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

import start
from dpcourse.workbook.course import FIRST_PAGE

PYTHON = Path("env/bin/python")


@pytest.mark.parametrize("version", [(2, 7), (3, 6), (3, 8), (3, 10)])
def test_an_old_python_is_told_what_to_do(version: tuple[int, int]) -> None:
    message = start.too_old(version)
    assert "needs Python 3.11 or newer" in message
    assert "this is Python {}.{}".format(*version) in message
    assert "PYTHON=" in message


@pytest.mark.parametrize("version", [(3, 11), (3, 13), (4, 0)])
def test_a_new_python_is_welcome(version: tuple[int, int]) -> None:
    assert not start.too_old(version)


def test_an_old_python_can_read_the_file_as_far_as_the_message() -> None:
    """Python 3.8 must not trip over the syntax of what comes after the version check."""
    ast.parse(Path(start.__file__).read_text("utf-8"), feature_version=(3, 7))


# -- The stamp ------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a lock, in which making and installing only leave a trace."""
    monkeypatch.setattr(start, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]")
    (tmp_path / "a.lock").write_text("uv==1 \\\n    --hash=sha256:0\n")

    def make(home: Path) -> None:
        log(tmp_path, "make")
        start.python_of(home).parent.mkdir(parents=True, exist_ok=True)
        start.python_of(home).touch()

    monkeypatch.setattr(start, "make_venv", make)
    monkeypatch.setattr(start, "install", lambda python, lock: log(tmp_path, "install"))
    return tmp_path


def log(project: Path, what: str) -> None:
    with (project / "log").open("a") as file:
        print(what, file=file)


def done(project: Path) -> list[str]:
    """What one more set-up does."""
    (project / "log").write_text("")
    python = start.set_up(project / ".venv", project / "a.lock")
    assert python == start.python_of(project / ".venv")
    return (project / "log").read_text().split()


def test_the_second_start_does_nothing(project: Path) -> None:
    assert done(project) == ["make", "install"]
    assert done(project) == []


@pytest.mark.parametrize("changed", ["a.lock", "pyproject.toml"])
def test_changed_dependencies_are_installed_into_the_same_environment(project: Path, changed: str) -> None:
    done(project)
    (project / changed).write_text("something else")
    assert done(project) == ["install"]
    assert done(project) == []


def test_another_python_gets_a_new_environment(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done(project)
    monkeypatch.setattr(start.platform, "python_version", lambda: "3.99.0")
    assert done(project) == ["make", "install"]


def test_a_vanished_interpreter_is_noticed(project: Path) -> None:
    done(project)
    start.python_of(project / ".venv").unlink()
    assert done(project) == ["make", "install"]


@pytest.mark.parametrize("first", [True, False], ids=["the first time", "an update"])
def test_an_interrupted_set_up_starts_afresh(
    project: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    if not first:
        done(project)
        (project / "a.lock").write_text("something else")

    def interrupted(python: Path, lock: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(start, "install", interrupted)
        with pytest.raises(KeyboardInterrupt):
            done(project)
    assert done(project) == ["make", "install"]


# -- Installing -----------------------------------------------------------------------------------


def attempts(project: Path, monkeypatch: pytest.MonkeyPatch, fails: str, uv: str = "yes") -> list[str]:
    """The commands that an installation tries if those that contain `fails` fail."""
    tried: list[str] = []

    def succeeds(command: list[str]) -> bool:
        tried.append(" ".join(command[2:]))
        return not re.search(fails, tried[-1])

    monkeypatch.undo()  # the real install, a false network
    monkeypatch.setattr(start, "succeeds", succeeds)
    monkeypatch.setenv("UV", uv)
    start.install(project / "bin/python", project / "a.lock")
    return tried


@pytest.mark.parametrize(
    ("fails", "uv", "tools"),
    [
        ("never", "yes", ["pip", "uv", "uv"]),
        (r"uv\.txt", "yes", ["pip", "pip", "pip"]),
        ("uv .*sync", "yes", ["pip", "uv", "pip", "pip"]),
        ("never", "no", ["pip", "pip"]),
    ],
    ids=["with uv", "uv cannot be had", "uv does not work here", "uv is not wanted"],
)
def test_pip_does_what_uv_cannot(
    project: Path, monkeypatch: pytest.MonkeyPatch, fails: str, uv: str, tools: list[str]
) -> None:
    tried = attempts(project, monkeypatch, fails, uv)
    assert [command.split()[0] for command in tried] == tools
    assert all("--require-hashes" in command for command in tried[:-1])
    assert "--no-deps --no-build-isolation --editable" in tried[-1]


def test_a_failed_installation_says_what_failed_and_what_to_do(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as stopped:
        attempts(project, monkeypatch, fails="install")
    message = str(stopped.value)
    assert "Setting up failed at: " in message
    assert "a.lock" in message
    assert "network" in message
    assert "run the same command again" in message


def test_a_python_without_ensurepip_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)  # what Debian's bare python3 looks like
    with pytest.raises(SystemExit, match=r"ensurepip is missing.\n.*apt-get install python3-venv"):
        start.make_venv(tmp_path / ".venv")


def test_the_entry_of_one_package_is_found_in_a_lock() -> None:
    lock = "a==1 \\\n    --hash=x\nuv==2 \\\n    --hash=y\n    # via a\nuvicorn==3 \\\n    --hash=z\n"
    assert start.pinned(lock, "uv") == "uv==2 \\\n    --hash=y\n    # via a"
    assert start.pinned(lock, "uvicorn") == "uvicorn==3 \\\n    --hash=z"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-bench.lock"])
def test_the_locks_name_packages_and_hashes_and_no_place(name: str) -> None:
    lock = (start.ROOT / name).read_text("utf-8")
    assert not re.search(r"://|--index|--extra-index|--find-links|^-e|^\.|^/", lock, re.MULTILINE)
    entries = re.findall(r"^\S+==", lock, re.MULTILINE)
    assert len(entries) > 100
    for entry in entries:
        assert "--hash=sha256:" in start.pinned(lock, entry.removesuffix("=="))
    assert {"hatchling==", "editables==", "uv=="} <= set(entries)  # what set-up itself needs


# -- The tasks ------------------------------------------------------------------------------------


def lines(task: str, **options: str) -> list[str]:
    """The commands of a task, without the interpreter that they start with."""
    return [" ".join(command[2:]) for command in start.commands(task, PYTHON, options)]


def test_test_changes_nothing_and_leaves_nothing_out() -> None:
    assert lines("test") == [
        "ruff format --check .",
        "ruff check .",
        "mypy",
        "pytest -n auto --dist loadgroup -rs",
        "pytest -n auto --dist loadfile --nbval-sanitize-with tests/nbval.cfg --nbval lectures solutions",
        "pytest -n auto --dist loadfile --nbval-sanitize-with tests/nbval.cfg --nbval-lax exercises",
    ]


def test_check_formats_and_leaves_slow_tests_out() -> None:
    assert lines("check") == ["ruff format .", "ruff check .", "mypy", "pytest -n auto -m not slow"]


def test_test_quick_runs_the_quick_tests_and_nothing_else() -> None:
    assert lines("test-quick") == ["pytest -n auto -m not slow"]


@pytest.mark.parametrize(("task", "module"), start.MODULES.items())
def test_a_task_of_one_module_runs_it(task: str, module: str) -> None:
    assert lines(task) == [module]
    assert importlib.util.find_spec(module)


def test_make_and_start_know_the_same_tasks() -> None:
    makefile = (start.ROOT / "Makefile").read_text("utf-8")
    (names,) = re.findall(r"^(lab .*):$", makefile, re.MULTILINE)
    for task in names.split():
        assert re.search(rf"^\t@echo \"make {task} ", makefile, re.MULTILINE), task
        assert f"python start.py {task} " in str(start.__doc__)
        assert start.commands(task, PYTHON, {})


def test_notebooks_builds_every_lecture_and_master_and_releases() -> None:
    build, release = lines("notebooks")
    assert build.startswith("dpcourse build")
    assert build.count("03_group_privacy.ipynb") == 2
    assert release == "dpcourse release"


def test_lock_makes_both_locks_and_upgrades_only_on_request() -> None:
    main, bench = lines("lock")
    assert main.endswith("--extra docs --output-file requirements.lock")
    assert bench.endswith("--extra bench --output-file requirements-bench.lock")
    assert "--upgrade" not in main + bench
    assert all("--upgrade" in line for line in lines("lock", UPGRADE="yes"))


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({}, ""),
        ({"PORT": "9001"}, " --port 9001"),
        ({"PORT": ""}, ""),
        ({"BROWSER": "no"}, " --no-browser"),
        ({"BROWSER": "firefox"}, ""),
    ],
)
def test_lab_heeds_port_and_browser(options: dict[str, str], end: str) -> None:
    assert lines("lab", **options) == [f"dpcourse lab {start.ROOT}{end}"]


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["dance"], 2), (["--help"], 0)])
def test_without_a_task_the_help_is_shown(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start.main(arguments) == code
    assert "python start.py lab" in capsys.readouterr().out


@pytest.mark.parametrize("codes", [[0, 0, 0], [0, 3, 0]])
def test_the_first_failure_ends_a_task_with_its_exit_code(
    codes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [[sys.executable, "-c", f"raise SystemExit({code})"] for code in codes]
    monkeypatch.setattr(start, "set_up", lambda home, lock: Path(sys.executable))
    monkeypatch.setattr(start, "commands", lambda *_: steps)
    assert start.main(["check"]) == max(codes)


@pytest.mark.parametrize("chosen", [None, "elsewhere"])
def test_fonts_are_listed_in_the_environment_unless_told_otherwise(
    chosen: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that another project left in the user's folder may lack the fonts that came with matplotlib."""
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    if chosen:
        monkeypatch.setenv("MPLCONFIGDIR", chosen)
    found = tmp_path / "found"
    tell = f"import os; open({str(found)!r}, 'w').write(os.environ['MPLCONFIGDIR'])"
    assert start.run([sys.executable, "-c", tell], tmp_path / "env/bin/python") == 0
    assert found.read_text() == (chosen or str(tmp_path / "env/matplotlib"))


# -- For real -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_lab_serves_the_first_page_even_if_the_port_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = taken.getsockname()[1]
        own = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
        options = {"PORT": str(busy), "BROWSER": "no", "JUPYTER_TOKEN": "secret", **own}
        # start.py's own path, in the environment that this test runs in instead of a new one
        code = (
            "import sys, start, pathlib;"
            "start.set_up = lambda home, lock: pathlib.Path(sys.executable);"
            "sys.exit(start.main(['lab']))"
        )
        lab = subprocess.Popen([sys.executable, "-c", code], cwd=start.ROOT, env=os.environ | options)
        try:
            url = server_of(tmp_path / "RUNTIME", lab)
            assert f":{busy}/" not in url
            page = json.loads(fetch(f"{url}api/contents/{FIRST_PAGE}"))
            assert page["type"] == "notebook"
            assert page["content"]["cells"][0]["source"].startswith("# Start here")
            plugin = "@jupyterlab/apputils-extension:notification"
            quiet = json.loads(fetch(f"{url}lab/api/settings/{plugin}"))["schema"]["properties"]
            assert (quiet["fetchNews"]["default"], quiet["checkForUpdates"]["default"]) == ("false", False)
            assert b"jupyter-config-data" in fetch(f"{url}lab/tree/{FIRST_PAGE}")
            fetch(f"{url}api/shutdown", "POST")
            assert lab.wait(timeout=30) == 0
        finally:
            lab.kill()
            lab.wait()


def server_of(runtime: Path, lab: subprocess.Popen[bytes]) -> str:
    """The address that a server leaves in its runtime folder once it listens."""
    for _ in range(600):
        for file in runtime.glob("jpserver-*.json"):
            try:
                return str(json.loads(file.read_text("utf-8"))["url"])
            except (json.JSONDecodeError, OSError):
                pass  # still being written
        assert lab.poll() is None, "JupyterLab ended before it served anything"
        time.sleep(0.1)
    raise TimeoutError("JupyterLab does not serve after a minute")


def fetch(url: str, method: str = "GET") -> bytes:
    request = urllib.request.Request(url, method=method, headers={"Authorization": "token secret"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())
