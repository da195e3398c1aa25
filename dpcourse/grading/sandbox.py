"""The sandbox of a student's process: bubblewrap, with nothing in sight but Python and one empty folder.

No network, no other process, no environment, a read-only system, and none of the system calls that only an
attack needs. The course's package is there, without which no notebook runs; solutions, other submissions and
grades are not.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from dpcourse.errors import BadInput
from dpcourse.grading import syscalls
from dpcourse.grading.limits import MB, Limits

INSTALL: Final = (
    "Fix: install bubblewrap (Debian and Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap). "
    "With --unsafe-no-sandbox students' code runs as you, with your files and your network in reach: only "
    "for code that you would run yourself, and every page of the report then says so."
)
PACKAGE: Final = Path(__file__).resolve().parents[1]
OWN: Final = ("/dev/shm", "/tmp")
"""Folders that a sandbox has for itself, in memory."""
_turns = itertools.count()


class NoSandbox(BadInput):
    """Bubblewrap is missing or cannot work here."""


@lru_cache(maxsize=1)
def program() -> str:
    """Bubblewrap, tried once; NoSandbox says what is wrong and what to do."""
    found = shutil.which("bwrap")
    if found is None:
        raise NoSandbox(f"there is no sandbox: the program bwrap is not installed. {INSTALL}")
    with _filter() as (options, passed):
        tried = subprocess.run(
            [found, *_rooms(), *options, "--", "/bin/true"],
            pass_fds=passed,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    if tried.returncode:
        raise NoSandbox(f"the sandbox does not work here: {tried.stderr.strip()}. {INSTALL}")
    return found


def shown_paths() -> list[Path]:
    """What a student's process can read of this machine."""
    system = [Path("/usr"), Path("/etc/ld.so.cache"), Path("/etc/localtime")]
    python = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent]
    packages = [Path(p) for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
    return [path for path in dict.fromkeys([*system, *python, *packages, PACKAGE]) if path.exists()]


def refuse_if_shown(path: Path) -> None:
    """Solutions and grades must not lie where every sandbox looks."""
    for place in shown_paths():
        if path.resolve().is_relative_to(place.resolve()):
            raise NoSandbox(
                f"{path} lies in {place}, which students' code can read. Fix: move it to another folder."
            )


def _rooms() -> list[str]:
    """The namespaces and the file system, without the run folder."""
    if os.getuid() == 0:  # a limit on processes does not bind root: `launch` becomes somebody else instead
        spaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        spaces += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        spaces = ["--unshare-all", "--cap-drop", "ALL"]
    args = [*spaces, "--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
    args += ["--proc", "/proc", "--dev", "/dev"]
    for name in OWN:  # before the rest: the course itself may lie in /tmp
        args += ["--perms", "1777", "--size", str(64 * MB), "--tmpfs", name]
    for path in shown_paths():
        args += [*_way_to(path), "--ro-bind", str(path), str(path)]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        place = Path(name)
        if place.is_symlink():
            args += ["--symlink", str(place.readlink()), name]
        elif place.is_dir():
            args += ["--ro-bind", name, name]
    return args


@contextmanager
def _filter() -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Options for the filter of system calls, and the file that a child must get with them."""
    rules = syscalls.program()
    if not rules:
        yield [], ()
        return
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as file:
            file.write(rules)  # far less than a pipe holds
        yield ["--seccomp", str(reading)], (reading,)
    finally:
        os.close(reading)


def _way_to(path: Path) -> list[str]:
    """The folders above a path, for everybody to pass: the process in the sandbox owns none of them."""
    return [part for up in reversed(path.parents[:-1]) for part in ("--perms", "0755", "--dir", str(up))]


def owner() -> int:
    """A user id that nobody has, another for each process under way; -1 if we are not root."""
    return 1_000_000 + os.getpid() * 16 + next(_turns) % 16 if os.getuid() == 0 else -1


def start(folder: Path, uid: int, limits: Limits, sandboxed: bool) -> subprocess.Popen[bytes]:
    """The process that serves a kernel on the connection file in `folder`, until its input is closed."""
    with _filter() as (options, passed):
        return subprocess.Popen(
            _command(folder, uid, limits, options if sandboxed else None),
            stdin=subprocess.PIPE,  # see `launch`: it closes when we end, however that comes
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd=folder,
            start_new_session=True,
            pass_fds=passed if sandboxed else (),
        )


def _command(folder: Path, uid: int, limits: Limits, sandbox: list[str] | None) -> list[str]:
    """The command itself, with these options of the sandbox, or without a sandbox."""
    numbers = (uid, limits.memory, limits.disk, limits.processes)
    python = [
        *(sys.executable, "-P", "-s", "-Xfrozen_modules=on", "-m", "dpcourse.grading.launch"),
        *(str(folder / "kernel.json"), *map(str, numbers), str(int(limits.submission_seconds) + 5)),
    ]
    if sandbox is None:
        return python
    place = [*_way_to(folder), "--bind", str(folder), str(folder), "--remount-ro", "/", "--chdir", "/tmp"]
    settings = [part for name, value in environment().items() for part in ("--setenv", name, value)]
    return [program(), *_rooms(), *place, *settings, *sandbox, "--", *python]


def files_of(pid: int) -> int:
    """How many files the folders of a sandbox hold, seen from outside through one of its processes."""
    total = 0
    for name in OWN:
        with suppress(OSError):  # it has just ended
            place = Path(f"/proc/{pid}/root{name}")
            if place.stat().st_dev == Path(name).stat().st_dev:
                continue  # still in our own folders, which are not its fault: bubblewrap is at work
            found = os.statvfs(place)
            total += found.f_files - found.f_ffree
    return total


def environment() -> dict[str, str]:
    """All that a student's process knows of ours."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return one | {
        "HOME": "/tmp",
        "IPYTHONDIR": "/tmp/.ipython",
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(PACKAGE.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": "/tmp",
    }
