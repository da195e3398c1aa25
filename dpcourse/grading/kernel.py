"""A kernel in its sandbox, with nbval's `RunningKernel` for a face.

What nbval's own does not have: absolute deadlines, death noticed at once, budgets for output, memory and
disk, and a reader that lets nothing through but well-formed messages about the cell that runs.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any, Final

import psutil  # type: ignore[import-untyped]
import zmq
from jupyter_client.session import Session

from dpcourse.grading import sandbox
from dpcourse.grading.limits import Limits
from dpcourse.grading.messages import kept, parsed

CHANNELS: Final = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
TICK: Final = 50
"""Milliseconds between two looks at whether the process still lives."""
WATCH: Final = 0.5
"""Seconds between two looks at its memory and its files."""
START: Final = 60.0
"""Seconds that Python and IPython may take to start, before any answer runs."""


class NotStarted(RuntimeError):
    """The kernel did not come up: our failure, or the machine's, never the student's."""


class Kernel:
    """One process for one student's answers; `ended` says why it is gone, and is empty while it lives."""

    language = "python"

    def __init__(self, limits: Limits, deadline: float, sandboxed: bool = True) -> None:
        self.limits, self.deadline, self.ended = limits, deadline, ""
        self.left, self.sandboxed = limits.output, sandboxed
        self.folder = Path(tempfile.mkdtemp(prefix="dpc-"))
        self.session = Session(key=secrets.token_hex(16).encode())
        self.waiting: deque[dict[str, Any]] = deque()
        self.cell_ends, self.watched = 0.0, 0.0
        self.replied, self.idle = "", ""
        self.context = zmq.Context()
        uid = sandbox.owner() if sandboxed else -1
        about = {"transport": "ipc", "ip": str(self.folder / "s"), "key": self.session.key.decode()}
        (self.folder / "kernel.json").write_text(
            json.dumps(about | CHANNELS | {"signature_scheme": "hmac-sha256"})
        )
        if uid >= 0:
            os.chown(self.folder, uid, uid)
            os.chown(self.folder / "kernel.json", uid, uid)
        self.process = sandbox.start(self.folder, uid, limits, sandboxed)
        self.shell = self._socket(zmq.DEALER, 1)
        self.iopub = self._socket(zmq.SUB, 2)
        self.poller = zmq.Poller()
        self.poller.register(self.shell, zmq.POLLIN)
        self.poller.register(self.iopub, zmq.POLLIN)
        self._ready()

    def _socket(self, kind: int, number: int) -> zmq.Socket[bytes]:
        found = self.context.socket(kind)
        found.linger = 0
        found.setsockopt(zmq.RECONNECT_IVL, 5)
        found.setsockopt(zmq.MAXMSGSIZE, 4 * self.limits.output)
        if kind == zmq.SUB:
            found.setsockopt(zmq.SUBSCRIBE, b"")
        found.connect(f"ipc://{self.folder / 's'}-{number}")
        return found

    def _ready(self) -> None:
        """Wait for the first cell that is heard on both channels; what came before is forgotten."""
        last = time.monotonic() + START
        while not self.ended and time.monotonic() < last:
            name = self.execute_cell_input("pass")
            self.cell_ends = last
            with suppress(Empty):
                self.await_reply(name)
                self.waiting.clear()
                if self.idle == name:
                    return
        self.stop()
        raise NotStarted("the sandbox did not start a kernel")

    # What nbval asks of a kernel.

    def is_alive(self) -> bool:
        """Whether another cell can run."""
        return not self.ended and self.process.poll() is None

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """Send a cell; from now on only messages about it are heard."""
        self.cell_ends = min(time.monotonic() + self.limits.cell_seconds, self.deadline)
        self.waiting.clear()
        self.replied = self.idle = ""
        content = {"code": cell_input, "silent": False, "store_history": True, "user_expressions": {}}
        content |= {"allow_stdin": False, "stop_on_error": False}
        sent: Any = self.session.send(self.shell, "execute_request", content)
        self.current = str(sent["header"]["msg_id"])
        return self.current

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for the end of the cell, and a moment longer for its last output; Empty if it is gone."""
        while self.replied != msg_id:
            self._pump()
        moment = time.monotonic() + 1
        while self.idle != msg_id and time.monotonic() < moment:
            self._pump()

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """The next output of the cell, and in the end that it is over."""
        if self.ended:
            raise Empty
        if self.waiting:
            return self.waiting.popleft()
        over = {"execution_state": "idle"}
        return {"msg_type": "status", "parent_header": {"msg_id": self.current}, "content": over}

    def await_idle(self, parent_id: str, timeout: float) -> None:
        """All output is here already."""
        self.waiting.clear()

    def interrupt(self) -> None:
        """Past its time there is nothing to save: the process goes, and another replaces it."""
        self.stop()

    def stop(self) -> None:
        """End the process and all that it started, and remove its folder."""
        self.ended = self.ended or "stopped"
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()  # closes its input, and waits
        self.context.destroy(linger=0)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.folder.exists():  # too deep, or without rights: made to be hard to remove
            subprocess.run(["rm", "-rf", "--", str(self.folder)], check=False, capture_output=True)

    # Reading.

    def _pump(self) -> None:
        """Read what has come within a tick; Empty once the process is gone, out of time or over budget."""
        ready = dict(self.poller.poll(TICK))
        for socket in (self.iopub, self.shell):
            if socket in ready:
                self._take(socket)
        now = time.monotonic()
        if self.left < 0:
            self._end("too much output")
        if not ready and self.process.poll() is not None:
            self._end("died")
        if now > self.cell_ends:
            self._end("out of time")
        if now > self.watched + WATCH:
            self.watched = now
            inside = self._inside()
            if self._disk() > self.limits.disk or self._files(inside) > self.limits.files:
                self._end("too many files")
            if _memory(inside) > self.limits.memory:
                self._end("too much memory")

    def _end(self, why: str) -> None:
        self.ended = self.ended or why
        raise Empty

    def _disk(self) -> int:
        total = 0
        with suppress(OSError):
            for entry in os.scandir(self.folder):
                total += entry.stat(follow_symlinks=False).st_size + 4096
                if entry.is_dir(follow_symlinks=False):
                    return self.limits.disk + 1  # the working folder is another; here is nothing to do
        return total

    def _inside(self) -> list[psutil.Process]:
        with suppress(psutil.Error):
            return list(psutil.Process(self.process.pid).children(recursive=True))
        return []

    def _files(self, inside: list[psutil.Process]) -> int:
        """Even an empty file takes memory, which no limit on its size counts."""
        return max((sandbox.files_of(p.pid) for p in inside[:4]), default=0) if self.sandboxed else 0

    def _take(self, socket: zmq.Socket[bytes]) -> None:
        with suppress(zmq.Again):
            frames = socket.recv_multipart(zmq.NOBLOCK)
            self.left -= sum(map(len, frames))
            if self.left < 0:
                return
            message = parsed(self.session, frames, self.current)
            if message is None:
                return
            kind, content = message["msg_type"], message["content"]
            if socket is self.shell:
                self.replied = self.current if kind == "execute_reply" else self.replied
                if content.get("ename") == "MemoryError":  # what it holds, the next answer would miss
                    self._end("too much memory")
            elif kind == "status":
                self.idle = self.current if content.get("execution_state") == "idle" else self.idle
            else:
                useful = kept(kind, content)
                if useful is not None:
                    self.waiting.append({**message, "content": useful})


def _memory(inside: list[psutil.Process]) -> int:
    total = 0
    for process in inside:
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total
