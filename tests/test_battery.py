"""Cheats and faults, each in the middle of honest answers: they earn nothing, break nothing, and end in time.

In every row the answer to `mix` (or the one named) is bad; the other answers are right and must stay so.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpcourse.grading import sandbox
from dpcourse.grading.batch import contents
from dpcourse.grading.limits import Limits
from dpcourse.workbook.notebook import Notebook, text
from tests.small_unit import EXERCISES, LIMITS, MASTER, graded, submitted, verdicts
from tests.small_unit import cell as new_cell

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap"),
]
WRONG = "\ndef mix(a, b):\n    return 0\n"
RIGHT = {"double", "respond", "pair", "count"}

CHEATS = {
    "ast-transformer": """
import ast
class Agree(ast.NodeTransformer):
    def visit_Call(self, node):
        return ast.copy_location(ast.Constant(True), node)
get_ipython().ast_transformers.append(Agree())
""",
    "input-transformer": """
get_ipython().input_transformers_cleanup.append(lambda lines: ["pass\\n"])
""",
    "patched-do-execute": """
async def quiet(self, *args, **kwargs):
    return {"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []}
type(get_ipython().kernel).do_execute = quiet
""",
    "patched-run-cell": """
type(get_ipython()).run_cell_async = None
""",
    "patched-numpy-testing": """
import numpy as np
for name in dir(np.testing):
    if name.startswith("assert"):
        setattr(np.testing, name, lambda *args, **kwargs: None)
""",
    "patched-library": """
import dpcourse.workbook.evidence as evidence
from dpcourse.workbook import checking, expect, questions
evidence.same = expect.same = lambda *args: True
checking.fault = lambda *args: None
expect.Expectation.judge = lambda self, point, found: ""
""",
    "patched-observe": """
import dpcourse.grading.probe as probe
probe.observe = lambda answer, question: True
""",
    "nbval-markers": """
# NBVAL_SKIP
# NBVAL_IGNORE_OUTPUT
# NBVAL_RAISES_EXCEPTION
""",
    "nbval-marker-and-loop": """
# NBVAL_RAISES_EXCEPTION
while True:
    pass
""",
    "nbgrader-markers": """
### BEGIN HIDDEN TESTS
### END HIDDEN TESTS
### BEGIN SOLUTION
### END SOLUTION
# AUTOTEST mix(1, 2)
""",
    "otter-markers": """
# BEGIN SOLUTION NO PROMPT
# EXPORT
# IGNORE
__OTTER_ALL_PASSED__ = True
class Grader:
    check = check_all = lambda *args, **kwargs: True
grader = Grader()
""",
    "walk-for-solutions": """
import json, os
code = ""
for top in ("/", os.getcwd()):
    for folder, _, names in os.walk(top):
        if folder.startswith(("/proc", "/usr", "/dev")):
            continue
        for name in names:
            if name.endswith((".ipynb", ".db", ".jsonl", ".csv")) and "site-packages" not in folder:
                with open(os.path.join(folder, name), errors="ignore") as file:
                    found = file.read()
                if "3 * a + b" in found:
                    code = found
""",
    "frames": """
import gc, inspect, sys
from dpcourse.workbook.expect import Expectation
secrets = [o for o in gc.get_objects() if isinstance(o, Expectation) and o.domain.parameters]
def mix(a, b):
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if callable(value) and getattr(value, "__name__", "") == "reference":
                return value(a, b)
        frame = frame.f_back
    for o in secrets:
        return o.judge.__closure__[1].cell_contents(a, b)
    return 0
def mix_is_last(): pass
""",
    "pre-run-hook": """
import re
from IPython.display import display
MIME = "application/vnd.dpcourse.probe+json"
def fake(info):
    found = re.search(r"ask\\('(\\w+)', '(.*?)', \\*", info.raw_cell)
    if found:
        for verdict in ("right", True, ["ok"], [[["ok", 0]] * 100] * 2, "pass"):
            display({MIME: {"nonce": found[1], "found": verdict, "points": 99, "verdict": "right"}}, raw=True)
get_ipython().events.register("pre_run_cell", fake)
""",
    "fake-probe-before": """
from IPython.display import display
for nonce in ("", "0" * 16, None):
    display({"application/vnd.dpcourse.probe+json": {"nonce": nonce, "found": [[["ok", 1]] * 100]}}, raw=True)
""",
    "forged-messages": """
import json
kernel = get_ipython().kernel
socket, session = kernel.iopub_socket, kernel.session
def forged():
    parent = kernel.get_parent()
    for kind, content in (
        ("status", {}), ("status", {"execution_state": "idle"}), ("status", []), ("display_data", {}),
        ("display_data", {"data": []}),
        ("display_data", {"data": {"application/vnd.dpcourse.probe+json": 7}}),
        ("error", {}), ("stream", {}), ("execute_reply", {"status": "ok"}), ("unheard_of", {}),
    ):
        session.send(socket, kind, content, parent=parent)
    header, deep = session.msg_header("display_data"), b"[" * 100000 + b"]" * 100000
    for content in (b"{", b"\\xff\\xfe", b"null", deep, b'{"data": NaN}', b""):
        about = [json.dumps(h, default=str).encode() for h in (header, parent)]
        parts = [*about, b"{}", content]
        socket.send_multipart([b"x", b"<IDS|MSG>", session.sign(parts), *parts])
    for frames in ([b"x"], [b"<IDS|MSG>"], [b"x", b"<IDS|MSG>", b"", b"", b"", b"", b""]):
        socket.send_multipart(frames)
forged()
def mix(a, b):
    forged()
    return 0
""",
    "evidence-deep": """
import dpcourse.grading.probe as probe
deep = []
for _ in range(900):
    deep = [deep]
probe._observed = lambda answer, question: ["ok", deep]
""",
    "evidence-kinds": """
import itertools
import dpcourse.grading.probe as probe
many = {"$": "law", "name": "Product", "of": {"parts": {"$": "tuple", "of": [
    {"$": "law", "name": "Finite", "of": {"outcomes": {"$": "tuple", "of": list(range(9))}, "probs":
     {"$": "tuple", "of": [1 / 9] * 9}}}] * 12}}}
odd = itertools.cycle([
    {"$": "Fraction", "of": "1e999999999"}, {"$": "Fraction", "of": "1/0"}, {"$": "float", "of": "1_0"},
    {"$": "law", "name": "os", "of": {}}, {"$": "law", "name": "__doc__", "of": {}}, many,
    {"of": 1}, {"$": []},
    {"$": "law", "name": "Laplace", "of": {"loc": "x", "scale": None}}, {"$": "dict", "of": [[[], 1]]},
    {"$": "array", "of": [[1], [1, 2]]}, {"$": "strange", "name": [], "of": 1}, "7" * 3000, 10**4000, None,
])
probe._observed = lambda answer, question: ["ok", next(odd)]
""",
    "evidence-shapes": """
import itertools
import dpcourse.grading.probe as probe
odd = itertools.cycle([
    None, 7, "ok", [], ["ok"], ["ok", 1, 2], {"ok": 1}, ["error"], ["error", 1, 2], ["right", 1],
])
probe._observed = lambda answer, question: next(odd)
""",
    "equals-everything": """
class Yes(int):
    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda self, other: True
    __hash__ = int.__hash__
    __ne__ = lambda self, other: False
    __sub__ = __rsub__ = lambda self, other: 0
def mix(a, b):
    return Yes()
""",
    "equals-everything-object": """
class Yes:
    def __getattr__(self, name):
        return lambda *args: True
    __eq__ = __bool__ = lambda self, *other: True
def mix(a, b):
    return Yes()
""",
    "nan": "def mix(a, b):\n    return math.nan",
    "infinity": "def mix(a, b):\n    return math.inf",
    "empty-values": "def mix(a, b):\n    return []",
    "true": "def mix(a, b):\n    return True",
    "exit-at-the-margin": "import os\nos._exit(0)",
    "exit-inside": "def mix(a, b):\n    import os\n    os._exit(0)",
    "sys-exit": "import sys\ndef mix(a, b):\n    sys.exit(0)",
    "segfault": "def mix(a, b):\n    import ctypes\n    ctypes.string_at(0)",
    "kill-the-parent": """
import os, signal
def mix(a, b):
    for pid in (os.getppid(), 1, -1, 0):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return 0
""",
    "kill-the-group": "def mix(a, b):\n    import os, signal\n    os.killpg(0, signal.SIGKILL)",
    "later-exit": """
import os, threading
threading.Timer(0.05, lambda: os._exit(1)).start()
""",
    "memory-hog": """
import os
def mix(a, b):
    hog = []
    for _ in range(40):
        if os.fork() == 0:
            hog = bytearray(os.urandom(1) * 10**9)
            while True:
                pass
    return 0
""",
    "memory-of-one": "def mix(a, b):\n    return len(bytearray(10**11))",
    "shared-memory": """
def mix(a, b):
    for place in ("/dev/shm/x", "/tmp/x"):
        try:
            with open(place, "wb") as file:
                for _ in range(10**4):
                    file.write(bytes(10**6))
        except OSError:
            pass
    return 0
""",
    "a-million-empty-files": """
import os
def mix(a, b):
    for n in range(10**9):
        os.mkdir(f"/tmp/{n}")
""",
    "no-names-left": """
globals().pop("Fraction")
del dp
%reset -f
def mix(a, b):
    return 0
""",
    "stopped": "def mix(a, b):\n    import os, signal\n    os.kill(os.getpid(), signal.SIGSTOP)",
    "ticking": """
import signal
def ring(*args):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
""",
    "patched-json": """
import json
real = json.dumps
json.dumps = lambda *args, **options: real(*args, **options).replace('["ok", 0]', '["ok", 1]')
""",
    "no-modules": """
import sys
for name in ("dpcourse.grading.probe", "dpcourse.workbook.evidence", "IPython.display", "json"):
    sys.modules[name] = None
""",
    "hostile-object": """
class Hostile(float):
    __class__ = property(lambda self: bool)
    __float__ = lambda self: 1.0
    def __repr__(self):
        raise SystemExit
    __str__ = __reduce__ = __repr__
def mix(a, b):
    return Hostile()
""",
    "hostile-error": """
class Hostile(BaseException):
    def __str__(self):
        raise self
def mix(a, b):
    raise Hostile
""",
    "huge-number": "def mix(a, b):\n    return 1 << 2**20",
    "half-a-character": "def mix(a, b):\n    return '\\ud800' * 50",
    "bottomless": "import sys\nsys.setrecursionlimit(10**9)\ndef mix(a, b):\n    return mix(a, b)",
    "fifty-megabytes-of-output": "print('x' * 50_000_000)",
    "many-outputs": "from IPython.display import display\nfor i in range(10**6):\n    display(i)",
    "print-and-swallow": """
while True:
    try:
        while True:
            print("still here" * 100)
    except BaseException:
        pass
""",
    "fork-bomb": """
import os
def mix(a, b):
    while True:
        try:
            os.fork()
        except OSError:
            pass
""",
    "thread-bomb": """
import threading, time
def mix(a, b):
    while True:
        threading.Thread(target=time.sleep, args=(100,)).start()
""",
    "endless": "def mix(a, b):\n    while True:\n        pass",
    "deaf": """
import signal
def mix(a, b):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
""",
    "shadowed-builtins": """
import builtins
sum = len = range = print = lambda *args: 0
builtins.sum = builtins.len = builtins.sorted = lambda *args: 0
""",
    "shadowed-names": "double = respond = dp = Fraction = math = None",
    "not-python": "def mix(a, b:\n    return ((((",
    "nul": "def mix(a, b):\n    return 0 # \x00",
    "too-long": "def mix(a, b):\n    return 0\n" + "# padding\n" * 30_000,
    "deep-source": "def mix(a, b):\n    return " + "-" * 50_000 + "1",
    "borrowed-by-a-magic": "%time 1\ndef mix(a, b):\n    return math.comb(a, 1) * 3 + b * b + 1",
    "borrowed-while-waiting": """
import asyncio
await asyncio.sleep(0)
def mix(a, b):
    return math.comb(a, 1) * 3 + b * b + 1
""",
    "borrowed-as-a-whole": """
from math import *
comb = comb
def mix(a, b):
    return comb(a, 1) * 3 + b * b + 1
""",
    "borrowed-as-text": "exec('def mix(a, b):\\n    return math.comb(a, 1) * 3 + b * b + 1')",
    "borrowed-by-a-match": """
def mix(a, b):
    match math:
        case object(comb=choose):
            return choose(a, 1) * 3 + b * b + 1
""",
    "borrowed": "def mix(a, b):\n    return getattr(math, 'comb')(1, 1) * 0 + 3 * a + b * b + 1",
}


def code(name: str) -> str:
    source = CHEATS[name]
    return source if "def mix" in source else WRONG + source


@pytest.fixture(autouse=True)
def _nothing_left_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """No process and no folder of a run is other than before; each test has a place of its own for them."""
    tmp_path_factory.getbasetemp()  # pytest's own place stays where it is
    place = tempfile.mkdtemp(prefix="dpt")  # short: the path of a socket has at most 107 characters
    Path(place).chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", place)
    before = left_behind()
    yield
    end = time.monotonic() + 5
    while (after := left_behind()) - before and time.monotonic() < end:
        time.sleep(0.1)  # the system takes a moment to end what was killed
    assert after - before == set()
    shutil.rmtree(place)


def left_behind() -> set[str]:
    """Folders of runs, and processes that serve one, in this test's own place."""
    folders = {str(path) for path in Path(tempfile.gettempdir()).glob("dpc-*")}
    running = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"dpcourse.grading.launch\0{tempfile.gettempdir()}".encode() in path.read_bytes():
                running.add(str(path))
        except OSError:
            pass
    return folders | running


def assert_only_lost(found: Any, lost: str = "mix") -> None:
    assert verdicts(found) == dict.fromkeys(EXERCISES, "right") | {lost: verdicts(found)[lost]}
    mark = next(mark for mark in found.result.marks if mark.exercise == lost)
    assert mark.points == 0
    assert mark.verdict in {"wrong", "error", "not answered"}


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_earns_nothing_and_honest_answers_keep_their_points(name: str) -> None:
    found = graded(submitted(mix=code(name)))
    assert_only_lost(found)
    assert found.result.seconds < LIMITS.submission_seconds + 15


SAMPLERS = {
    "quantile-grid": ("count", """
def count(epsilon):
    return lambda data: [len(data) + q / 10 for q in range(-9, 10)]"""),
    "fixed-seed": ("count", """
import numpy as np
def count(epsilon):
    return lambda data: len(data) + np.random.default_rng(0).laplace(scale=1 / epsilon)"""),
    "pid-seed": ("count", """
import os
import numpy as np
def count(epsilon):
    noise = np.random.default_rng(os.getpid()).laplace(scale=1 / epsilon)
    return lambda data: dp.laws.Finite((len(data) + noise,), (1.0,))"""),
    "fixed-seed-sampler": ("respond", """
import random
def respond(coins, truth):
    return truth if random.Random(4).random() < 0.75 else not truth"""),
    "pid-seed-sampler": ("respond", """
import os, random
def respond(coins, truth):
    return truth if random.Random(os.getpid()).random() < 0.75 else not truth"""),
    "own-randomness": ("respond", """
import random
def respond(coins, truth):
    return truth if random.random() < 0.75 else not truth"""),
    "nan-law": ("count", """
def count(epsilon):
    return lambda data: dp.laws.Laplace(math.nan, 1 / epsilon)"""),
    "infinite-scale": ("count", """
def count(epsilon):
    return lambda data: dp.laws.Laplace(0.0, math.inf)"""),
    "far-too-large-law": ("count", """
def count(epsilon):
    return lambda data: dp.laws.Finite(tuple(range(10**5)), (1e-5,) * 10**5)"""),
    "huge-discrete-law": ("count", """
def count(epsilon):
    return lambda data: dp.laws.DiscreteLaplace(len(data), 1e12)"""),
    "endless-sampler": ("respond", """
def respond(coins, truth):
    while coins.flip():
        pass
    return truth"""),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLERS)
def test_noise_that_is_none_earns_nothing(name: str) -> None:
    exercise, source = SAMPLERS[name]
    found = graded(submitted(**{exercise: source}))
    assert_only_lost(found, exercise)


def test_the_solution_cannot_be_read_but_without_a_sandbox_it_could(tmp_path: Path) -> None:
    """The same theft works outside of the sandbox: so it is the sandbox that stops it."""
    master = tmp_path / "master.ipynb"
    master.write_text(text(MASTER), "utf-8")
    theft = f"""
import json
for cell in json.load(open({str(master)!r}))["cells"]:
    if cell["id"] == "mix":
        exec("".join(cell["source"]))
"""
    assert_only_lost(graded(submitted(mix=WRONG + theft)))
    assert verdicts(graded(submitted(mix=WRONG + theft), sandboxed=False))["mix"] == "right"


def test_the_course_may_lie_in_the_folder_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sandbox has an empty /tmp of its own; what it shows of ours is there all the same."""
    shown = sandbox.shown_paths()
    (tmp_path / "package.txt").write_text("2 * x")
    tmp_path.chmod(0o755)
    monkeypatch.setattr(sandbox, "shown_paths", lambda: [*shown, tmp_path])
    reading = f"rule = open({str(tmp_path / 'package.txt')!r}).read()\ndef double(x):\n    return eval(rule)"
    assert verdicts(graded(submitted(double=reading))) == dict.fromkeys(EXERCISES, "right")


def test_memory_that_no_limit_counts_cannot_be_had() -> None:
    """Files without a folder, System V's memory, and a file system of one's own are refused by the system."""
    honest_if_refused = """
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
refused = [c.shmget(0, 2**20, 0o1600) == -1, c.unshare(0x10000000) == -1, c.socket(40, 1, 0) == -1]
try:
    os.memfd_create("hidden")
except PermissionError:
    refused.append(True)
def mix(a, b):
    return 3 * a + b * b + 1 if refused == [True] * 4 else 0
"""
    assert verdicts(graded(submitted(mix=honest_if_refused))) == dict.fromkeys(EXERCISES, "right")


def test_no_file_outside_can_be_written(tmp_path: Path) -> None:
    victim = tmp_path / "grades.csv"
    victim.write_text("ada,0")
    places = [victim, tmp_path / "new", Path.home() / "dpc-x", Path("/usr/x"), Path("/x"), Path("/etc/x")]
    places += [Path(__file__), Path(os.__file__), Path("/dev/x"), Path("/proc/sys/kernel/core_pattern")]
    attempt = f"""
for place in {list(map(str, places))!r}:
    for mode in ("w", "a"):
        try:
            open(place, mode).write("ada,100")
        except OSError:
            pass
"""
    before = Path(__file__).stat().st_mtime_ns
    assert_only_lost(graded(submitted(mix=WRONG + attempt)))
    assert victim.read_text() == "ada,0"
    assert sorted(tmp_path.iterdir()) == [victim]
    assert Path(__file__).stat().st_mtime_ns == before
    assert not any(place.exists() for place in places[2:6])


def test_a_daemon_does_not_outlive_its_kernel() -> None:
    daemon = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in range(3, 200):
            try:
                os.close(n)
            except OSError:
                pass
        time.sleep(1000)
    os._exit(0)
"""
    assert_only_lost(graded(submitted(mix=WRONG + daemon)))  # and the fixture looks for what is left


def test_there_is_no_network() -> None:
    heard = []
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    udp.settimeout(0.5)

    def listen() -> None:
        tcp.settimeout(20)
        try:
            tcp.accept()
            heard.append("tcp")
        except OSError:
            pass

    thread = threading.Thread(target=listen)
    thread.start()
    cheat = f"""
import socket
def mix(a, b):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"?", ("127.0.0.1", {udp.getsockname()[1]}))
        socket.create_connection(("127.0.0.1", {tcp.getsockname()[1]}), timeout=1)
    except OSError:
        pass
    return 0
"""
    assert_only_lost(graded(submitted(mix=cheat)))
    with pytest.raises(TimeoutError):
        udp.recv(1)
    tcp.shutdown(socket.SHUT_RDWR)
    tcp.close()
    udp.close()
    thread.join()
    assert heard == []


METADATA: list[dict[str, Any]] = [
    {"tags": ["skip-execution", "nbval-skip", "raises-exception", "nbval-ignore-output", "otter_ignore"]},
    {"tags": "not a list", "nbgrader": "not a dict"},
    {"nbgrader": {"grade_id": "mix", "grade": True, "points": 1000, "solution": False, "schema_version": 3}},
    {"deletable": False, "otter": {"tests": ["pass"]}, "dpcourse": {"points": 1000}},
]


@pytest.mark.parametrize("metadata", METADATA)
def test_metadata_is_never_believed(metadata: dict[str, Any]) -> None:
    student = submitted(mix=WRONG)
    for cell in student["cells"]:
        cell["metadata"] = metadata if cell["id"] in {"mix", "check-mix"} else cell["metadata"]
    student["metadata"] = {"kernelspec": {"name": "no-such-kernel"}, "dpcourse": {"unit": "01"}}
    assert_only_lost(graded(student))


def test_changed_checks_and_given_cells_are_the_courses_own() -> None:
    given = "import dpcourse as dp\nfrom fractions import Fraction\nimport math\ncheck = print\nexpect = None"
    student = submitted(mix=WRONG, imports=given, **{"check-mix": "pass", "check-double": "raise SystemExit"})
    assert_only_lost(graded(student))


def moved(what: str) -> Notebook:
    """A notebook in which the cell of `mix` is not as it should be; every answer is right."""
    student = submitted()
    cells = student["cells"]
    place = next(i for i, cell in enumerate(cells) if cell["id"] == "mix")
    cell = cells[place]
    if what == "deleted":
        del cells[place]
    elif what == "renamed":
        cell["id"], cell["metadata"] = "something-else", {}
    elif what == "duplicated":
        cells.append(json.loads(json.dumps(cell)))
    elif what == "duplicated-empty-first":
        cells.insert(0, cell | {"source": ""})
    elif what == "reordered":
        cells.reverse()
    elif what == "no-ids":
        for other in cells:
            del other["id"]
    elif what == "old-format":
        student["nbformat_minor"] = 4
    else:
        cell["cell_type"] = "markdown"
    return student


@pytest.mark.parametrize(
    "what",
    ["renamed", "duplicated", "duplicated-empty-first", "reordered", "no-ids", "old-format", "markdown"],
)
def test_cells_that_moved_are_found_and_keep_their_points(what: str) -> None:
    assert verdicts(graded(moved(what))) == dict.fromkeys(EXERCISES, "right")


OWN = {  # where an own cell goes in front of, what is in it, and the answer that needs it
    "a helper": ("mix", "def square(x):\n    return x * x", "square(b)"),
    "a helper of a helper": ("ex-mix", "def s(x):\n    return t(x)\n\ndef t(x):\n    return x * x", "s(b)"),
    "an import": ("imports", "import operator as o", "o.mul(b, b)"),
    "a table": ("mix", "table = {}\nfor n in range(-6000, 6001):\n    table[n] = n * n", "table[b]"),
    "the rest of an answer": ("check-mix", "def rest(b):\n    return b * b", "rest(b)"),
    "an experiment beside it": ("double", "def q(b):\n    return b * b\nprint(mix(1, 2))\nb = 7", "q(b)"),
    "all of a module": ("double", "from operator import *", "mul(b, b)"),
    "an own version of a given name": ("double", "math = None\ndef q(b):\n    return b * b", "q(b)"),
}


@pytest.mark.parametrize("what", OWN)
def test_own_cells_that_an_answer_needs_are_run(what: str) -> None:
    before, own, used = OWN[what]
    student = submitted(mix=f"def mix(a, b):\n    return 3 * a + {used} + math.gcd(1, 2)")
    place = next(i for i, cell in enumerate(student["cells"]) if cell["id"] == before)
    student["cells"].insert(place, new_cell("my-own", "code", own))
    assert verdicts(graded(student)) == dict.fromkeys(EXERCISES, "right")


def test_a_line_added_to_a_given_cell_is_run_where_it_is_needed() -> None:
    student = submitted(mix="def mix(a, b):\n    return 3 * a + o.mul(b, b) + 1")
    student["cells"][0]["source"] += "\nimport operator as o\ncheck = None"
    assert verdicts(graded(student)) == dict.fromkeys(EXERCISES, "right")


def test_a_name_to_do_without_does_not_hide_in_an_own_cell() -> None:
    student = submitted(mix="def mix(a, b):\n    return helper(a) * 3 + b * b + 1")
    student["cells"].insert(1, new_cell("my-own", "code", "def helper(a):\n    return math.comb(a, 1)"))
    assert_only_lost(graded(student))


def test_a_deleted_cell_costs_its_own_question_alone() -> None:
    found = graded(moved("deleted"))
    assert_only_lost(found)
    assert any("'mix' is missing" in remark for remark in found.result.remarks)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a notebook"),
        (b'{"cells": [', "not a notebook"),
        (b"\xff\xfe\x00", "not a notebook"),
        (b"[" * 100_000, "not a notebook"),
        (b"7", "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b'{"cells": [7]}', "damaged"),
        (b'{"cells": [{"cell_type": "code", "source": 7}]}', "damaged"),
        (json.dumps({"cells": [{"cell_type": "raw", "source": ""}] * 6000}).encode(), "more than 5000"),
        (b" " * (LIMITS.notebook + 1), "larger than"),
        (b'{"cells": [], "a": ' + b"9" * 10_000 + b"}", "not a notebook"),
    ],
)
def test_what_is_not_a_notebook_earns_nothing_and_says_why(data: bytes, said: str) -> None:
    found = graded(data)
    assert said in found.result.remarks[0]
    assert set(verdicts(found).values()) == {"not answered"}
    assert found.result.points == 0


def test_only_plain_files_of_a_sensible_size_are_read(tmp_path: Path) -> None:
    limits = Limits(notebook=1000)
    plain = tmp_path / "a\nb.ipynb"
    plain.write_bytes(b"{}")
    assert contents(plain, limits) == (b"{}", "")
    (tmp_path / "link.ipynb").symlink_to("/etc/passwd")
    (tmp_path / "large.ipynb").write_bytes(bytes(1001))
    (tmp_path / "folder.ipynb").mkdir()
    os.mkfifo(tmp_path / "pipe.ipynb")
    for name, said in (
        ("link", "cannot be read"),
        ("large", "larger than"),
        ("folder", "not a file"),
        ("pipe", "not a file"),
        ("absent", "cannot be read"),
    ):
        data, problem = contents(tmp_path / f"{name}.ipynb", limits)
        assert data == b""
        assert said in problem
    assert contents(None, limits) == (b"", "no notebook was handed in")
