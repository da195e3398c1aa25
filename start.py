"""Set the course up and run it, given Python 3.11 or newer and, the first time, a network.

python start.py lab         open the course in JupyterLab (PORT=8889 and BROWSER=no are heeded)
python start.py test        everything: format, lint, types, all tests, all notebooks
python start.py test-quick  the quick tests alone: does it work here?
python start.py check       while you work: formats the code, then lint, types, quick tests
python start.py bench       measure the engine against its peers
python start.py notebooks   run lectures and solutions again, store their outputs, release the exercises
python start.py site        build the pages of the course and its documentation into build/site
python start.py dist        build the packages into dist/: wheel, sdist, archives for Colab and instructors
python start.py lock        resolve the dependencies again (UPGRADE=yes takes the newest versions)
"""

import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def too_old(version: "tuple[int, ...]") -> str:
    """What to tell somebody whose Python is too old; empty if it is not."""
    if version >= (3, 11):
        return ""
    return (
        "dpcourse needs Python 3.11 or newer, and this is Python {}.{}.\n"
        "Install a newer one and name it: make lab PYTHON=python3.12\n"
        "or, without make: python3.12 start.py lab"
    ).format(*version)


# This comes before everything that an old Python could stumble over, such as list[str] below.
if too_old(sys.version_info[:2]):
    sys.exit(too_old(sys.version_info[:2]))

ROOT = Path(__file__).resolve().parent
FLOOR = "3.11"  # the oldest Python that the locks serve

NO_VENV = """This Python cannot make a virtual environment: its module {} is missing.
On Debian or Ubuntu: sudo apt-get install python3-venv
Elsewhere install Python from its own installer, then run the same command again."""

NO_INSTALL = """
Setting up failed at: {}
The lines above say why; most often it is the network. Check that you are online (and, behind a
proxy, that HTTPS_PROXY is set), then run the same command again: it starts afresh."""


# -- The environment ----------------------------------------------------------------------------


def python_of(home: Path) -> Path:
    """The interpreter of a virtual environment."""
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def fingerprint(lock: Path) -> str:
    """All that an environment depends on: where and for whom it was made, then what it holds."""
    made_for = f"Python {platform.python_version()} of {sys.base_prefix} for {ROOT}"
    holds = hashlib.sha256(lock.read_bytes() + (ROOT / "pyproject.toml").read_bytes())
    return f"{made_for}\n{holds.hexdigest()}\n"


def set_up(home: Path, lock: Path) -> Path:
    """The interpreter of an environment that holds what the lock says, made first if need be."""
    python, stamp = python_of(home), home / "dpcourse-ready.txt"
    wanted = fingerprint(lock)
    found = stamp.read_text("utf-8") if stamp.exists() and python.exists() else ""
    if found == wanted:
        return python
    print(f"Setting up {home.name}: once, and again only when the dependencies change.", flush=True)
    stamp.unlink(missing_ok=True)  # the stamp comes back last: half an environment never has one
    if found.splitlines()[:1] != wanted.splitlines()[:1]:
        make_venv(home)
    install(python, lock)
    stamp.write_text(wanted, "utf-8")
    return python


def make_venv(home: Path) -> None:
    """A new, empty environment in place of whatever was there."""
    try:
        import ensurepip  # noqa: F401  (Debian ships it apart, and venv fails obscurely without it)
        import venv
    except ImportError as missing:
        sys.exit(NO_VENV.format(missing.name))
    if home.exists():
        shutil.rmtree(home)
    venv.create(home, with_pip=True, symlinks=os.name != "nt")


def install(python: Path, lock: Path) -> None:
    """The locked packages, by uv if it can be had (it is several times faster), else by pip."""
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    uv = [str(python), "-m", "uv", "--quiet", "pip"]
    here = ["--python", str(python)]
    locked = ["--require-hashes", *WHEELS]
    project = ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)]

    uv_alone = python.parent.parent / "uv.txt"
    uv_alone.write_text(pinned(lock.read_text("utf-8"), "uv"), "utf-8")
    if (
        os.environ.get("UV") != "no"
        and succeeds([*pip, *locked, "--no-deps", "-r", str(uv_alone)])
        and succeeds([*uv, "sync", *here, *locked, str(lock)])
        and succeeds([*uv, "install", *here, *project])
    ):
        return
    print("Installing with pip, which takes a minute or two.", flush=True)
    for command in ([*pip, *locked, "-r", str(lock)], [*pip, *project]):
        if not succeeds(command):
            sys.exit(NO_INSTALL.format(" ".join(command)))


def pinned(lock: str, name: str) -> str:
    """The entry of one package in a lock: its line, and the indented lines below it."""
    lines = lock.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"{name}=="))
    last = first + 1
    while last < len(lines) and lines[last].startswith(" "):
        last += 1
    return "\n".join(lines[first:last])


# -- The tasks ----------------------------------------------------------------------------------


def commands(task: str, python: Path, options: Mapping[str, str]) -> list[list[str]]:
    """What a task runs, in order; the first command that fails ends it."""
    run = [str(python), "-m"]
    lint = [[*run, "ruff", "check", "."], [*run, "mypy"]]
    pytest = [*run, "pytest", "-n", "auto"]
    # All tests of the browser in one worker, which starts JupyterLab once; -rs says why a test was skipped.
    everything = [*pytest, "--dist", "loadgroup", "-rs"]
    if task == "lab":
        port = ["--port", options["PORT"]] if options.get("PORT") else []
        no_browser = ["--no-browser"] if options.get("BROWSER") == "no" else []
        return [[*run, "dpcourse", "lab", str(ROOT), *port, *no_browser]]
    if task == "test":
        # One worker a notebook: its cells share a kernel, and run in order.
        nbval = [*pytest, "--dist", "loadfile", "--nbval-sanitize-with", "tests/nbval.cfg"]
        strict = [*nbval, "--nbval", "lectures", "solutions"]
        lax = [*nbval, "--nbval-lax", "exercises"]  # up to the stubs, which are expected to raise
        return [[*run, "ruff", "format", "--check", "."], *lint, everything, strict, lax]
    quick = [*pytest, "-m", "not slow"]
    if task == "check":
        return [[*run, "ruff", "format", "."], *lint, quick]
    if task == "test-quick":
        return [quick]
    if task in MODULES:
        return [[*run, MODULES[task]]]
    if task == "notebooks":
        stored = [
            str(p) for folder in ("lectures", "solutions") for p in sorted(ROOT.glob(f"{folder}/*.ipynb"))
        ]
        return [[*run, "dpcourse", "build", *stored], [*run, "dpcourse", "release"]]
    upgrade = ["--upgrade"] if options.get("UPGRADE") == "yes" else []
    compiled = [*run, "uv", "--quiet", "pip", "compile", "pyproject.toml", *COMPILE, *upgrade]
    return [
        [*compiled, "--extra", "docs", "--output-file", "requirements.lock"],
        [*compiled, "--extra", "bench", "--output-file", "requirements-bench.lock"],
    ]


MODULES = {"bench": "benchmarks", "site": "tools.site", "dist": "tools.dist"}
WHEELS = ["--only-binary", ":all:", "--no-binary", "autodp"]  # a peer that is published as source only
COMPILE = [
    *("--universal", "--python-version", FLOOR, "--extra", "dev"),
    *("--generate-hashes", *WHEELS),
    *("--custom-compile-command", "python start.py lock"),
]


def succeeds(command: list[str]) -> bool:
    """Whether a step of the set-up went through."""
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def run(command: list[str], python: Path) -> int:
    """Run a command with the environment active, hand our signals on, return its exit code."""
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])
    home = python.parent.parent
    # A list of fonts of our own: the one in the user's folder may name fonts that went with another project.
    fonts = {"MPLCONFIGDIR": str(home / "matplotlib")}
    active = fonts | os.environ | {"PATH": path, "VIRTUAL_ENV": str(home)}
    process = subprocess.Popen(command, cwd=ROOT, env=active)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C reaches the command too: it decides
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    code = process.wait()
    return code if code >= 0 else 128 - code  # ended by a signal: as a shell reports it


def main(arguments: list[str]) -> int:
    """Set up, then do one task."""
    tasks = ("lab", "test", "check", "test-quick", *MODULES, "notebooks", "lock")
    if len(arguments) != 1 or arguments[0] not in tasks:
        print(__doc__)
        return 0 if arguments in (["help"], ["--help"], ["-h"]) else 2
    task = arguments[0]
    suffix = "-bench" if task == "bench" else ""  # the peers stay out of the course's environment
    try:
        python = set_up(ROOT / f".venv{suffix}", ROOT / f"requirements{suffix}.lock")
    except KeyboardInterrupt:
        sys.exit("\nStopped while setting up; the same command starts afresh.")
    for command in commands(task, python, os.environ):
        code = run(command, python)
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
