"""doctor: does everything that the course needs work here, and if not, what to do."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from dpcourse.cli.parsing import Commands, Options
from dpcourse.errors import BadInput

OK, NOTE, BAD = "ok", "note", "bad"
"""A note is about something that not everybody needs; only `bad` makes the exit code 1."""
EXTENSIONS = ("anywidget", "@jupyter-widgets/jupyterlab-manager")


@dataclass(frozen=True)
class Finding:
    """What one check saw, and what to do about it."""

    check: str
    state: str
    found: str
    fix: str = ""


def add_to(commands: Commands) -> None:
    """The command of this part."""
    command = commands.add(
        "doctor",
        doctor,
        "check that everything works here, and say what to do if not",
        """dpcourse doctor               a line a check; the exit code is 1 if something is broken
        dpcourse doctor --json        the same for scripts""",
    )
    command.add_argument("--json", action="store_true", help="for scripts")


def doctor(options: Options) -> int:
    """Print what was found; 0 if nothing is broken."""
    findings = []
    for finding in examined():
        findings.append(finding)
        if not options.json:
            print(f"{finding.state:6}{finding.check:14}{finding.found}", flush=True)
            if finding.fix:
                print(f"{'':20}do: {finding.fix}", flush=True)
    broken = any(finding.state == BAD for finding in findings)
    if options.json:
        print(json.dumps({"ok": not broken, "checks": [asdict(f) for f in findings]}, indent=1))
    else:
        print("Something is broken: see `bad` above." if broken else "Everything the course needs is here.")
    return int(broken)


def examined() -> Iterator[Finding]:
    """Every check in turn; one that fails unexpectedly is a finding as well."""
    for check in (python, packages, kernel, explorers, browser, sandbox, course_files):
        name = check.__name__.replace("_", " ")
        try:
            yield Finding(name, *check())
        except Exception as error:
            again = "run `dpcourse doctor` again; if it stays, report this line as an issue."
            yield Finding(name, BAD, f"{type(error).__name__}: {error}", again)


Seen = tuple[str, str, str] | tuple[str, str]


def python() -> Seen:
    """The version that the package asks for."""
    from packaging.specifiers import SpecifierSet

    needed = metadata.metadata("dpcourse")["Requires-Python"]
    found = f"{platform.python_version()} at {sys.executable}"
    if SpecifierSet(needed).contains(platform.python_version(), prereleases=True):
        return OK, found
    return BAD, f"{found}, and {needed} is needed", "install a newer Python and the course with it."


def packages(installed: Callable[[str], str] = metadata.version) -> Seen:
    """What the package asks for, in the versions that it asks for."""
    from packaging.requirements import Requirement

    wrong, needed = [], []
    for line in metadata.requires("dpcourse") or ():
        required = Requirement(line)
        if required.marker is not None and not required.marker.evaluate({"extra": ""}):
            continue
        needed.append(required)
        try:
            version = installed(required.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{required.name} is missing")
            continue
        if not required.specifier.contains(version, prereleases=True):
            wrong.append(f"{required.name} is {version}")
    if not wrong:
        return OK, f"all {len(needed)} are here"
    asked = " ".join(f'"{required.name}{required.specifier}"' for required in needed)
    return BAD, ", ".join(wrong), f"{sys.executable} -m pip install {asked}"


def kernel(name: str = "python3", patience: float = 60) -> Seen:
    """A kernel that starts, computes, and has this package: the one that notebooks get."""
    from jupyter_client.kernelspec import NoSuchKernel
    from jupyter_client.manager import start_new_kernel

    again = f"{sys.executable} -m ipykernel install --sys-prefix"
    start = time.perf_counter()
    try:
        manager, client = start_new_kernel(patience, name, stderr=subprocess.DEVNULL)
    except (NoSuchKernel, RuntimeError, OSError) as error:
        return BAD, f"no kernel starts ({error})", again
    try:
        said: list[str] = []
        client.execute_interactive(
            "import sys; print(1 + 1, sys.executable); import dpcourse; print('dpcourse')",
            timeout=patience,
            output_hook=lambda message: said.append(message["content"].get("text", "")),
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    answer = "".join(said).split()
    if not answer or answer[0] != "2":
        return BAD, "a kernel starts but does not compute", again
    if answer[-1] != "dpcourse":
        return BAD, f"the kernel is another Python, {answer[1]}, without dpcourse", again
    return OK, f"started and computed 1 + 1 in {time.perf_counter() - start:.1f} s"


def explorers(folders: list[str] | None = None) -> Seen:
    """The parts of JupyterLab that sliders and pictures need."""
    from jupyter_core.paths import jupyter_path

    places = [Path(folder) for folder in (jupyter_path("labextensions") if folders is None else folders)]
    missing = [name for name in EXTENSIONS if not any((place / name).is_dir() for place in places)]
    if missing:
        fix = f"{sys.executable} -m pip install --force-reinstall anywidget jupyterlab_widgets"
        return BAD, f"JupyterLab lacks {', '.join(missing)}: explorers stay pictures", fix
    return OK, "JupyterLab has what sliders need"


def browser(get: Callable[[], Any] = webbrowser.get) -> Seen:
    """One that `dpcourse lab` can open."""
    try:
        return OK, f"{getattr(get(), 'name', '') or 'the default one'}"
    except webbrowser.Error:
        fix = "`dpcourse lab --no-browser` prints an address: open it wherever there is a browser."
        return NOTE, "none was found on this machine", fix


def sandbox() -> Seen:
    """Bubblewrap, for instructors only."""
    from dpcourse.grading.sandbox import NoSandbox, program

    try:
        return OK, f"{program()} works (for `dpcourse grade`)"
    except NoSandbox as error:
        found, _, fix = str(error).partition(". Fix: ")
        return NOTE, f"only `dpcourse grade` needs it: {found}", fix.partition(" With --")[0]


def course_files() -> Seen:
    """The notebooks that `dpcourse lab` copies, each of them readable."""
    from dpcourse.workbook import course
    from dpcourse.workbook.notebook import read

    try:
        counts = {folder: course.notebooks(folder) for folder in course.FOLDERS}
        for path in (path for found in counts.values() for path in found.values()):
            read(path)
    except BadInput as error:
        return BAD, str(error).partition(" Fix: ")[0], "install dpcourse again."
    found = ", ".join(f"{len(found)} {folder}" for folder, found in counts.items())
    return OK, f"{found} in {course.root()}"
