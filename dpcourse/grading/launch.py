"""The first code in a sandbox: give up every right and resource that an answer has no use for, then serve.

    python -m dpcourse.grading.launch FILE UID MEMORY DISK PROCESSES SECONDS

FILE is the kernel's connection file. UID is a user that owns nothing, or -1 to stay who we are.
"""

from __future__ import annotations

import os
import resource
import sys
import threading


def end_with_the_grader() -> None:
    """Our input is a pipe that the grader holds open: when it closes, the grader is gone, and we go too.

    bubblewrap's own watch begins a moment after it was started, and a grader may be killed before that.
    """
    held, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # what an answer may read
    os.close(nothing)

    def watch() -> None:
        os.read(held, 1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def confine(uid: int, memory: int, disk: int, processes: int, seconds: int) -> None:
    """Lower the limits for good; become `uid` if we are root, whom the limit on processes does not bind."""
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, disk),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 256),
    ):
        _, ceiling = resource.getrlimit(kind)
        least = most if ceiling == resource.RLIM_INFINITY else min(most, ceiling)
        resource.setrlimit(kind, (least, least))
    if uid >= 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)  # this drops every capability as well


def serve(connection: str) -> None:
    """An ordinary IPython kernel, without history on disk and without a debugger."""
    from ipykernel.kernelapp import IPKernelApp

    import dpcourse.grading.probe  # noqa: F401  loaded before any answer can look

    quick = ["--HistoryManager.enabled=False", "--IPKernelApp.quiet=True"]
    IPKernelApp.launch_instance(["-f", connection, *quick])


if __name__ == "__main__":
    confine(*map(int, sys.argv[2:]))
    end_with_the_grader()
    serve(sys.argv[1])
