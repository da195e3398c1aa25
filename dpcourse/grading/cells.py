"""Cells of a student's notebook as nbval's own items, in a sandboxed kernel, judged in this process.

Options never come from a student: markers and tags in a source are only text. A kernel that is gone is
replaced, and the cells before are run again, except those of the exercise that ended it.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from textwrap import indent
from typing import Any, Final

import pytest

from dpcourse.grading.kernel import Kernel
from dpcourse.grading.limits import Limits
from dpcourse.grading.plan import Task
from dpcourse.grading.probe import MIME
from dpcourse.grading.quick import without

with without(
    "rfc3987_syntax", "isoduration"
):  # jsonschema would take seconds over formats that we do not use
    import nbformat
    from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError  # type: ignore[import-untyped]

PROBE: Final = "__import__('dpcourse.grading.probe', fromlist=['probe'])"
REPLACED: Final = 4
"""How many kernels one notebook may wear out before the rest is tried one by one."""
OPTIONS: Final = [
    *("-c", os.devnull, "-p", "nbval.plugin", "-p", "no:cacheprovider", "-p", "no:terminal"),
    *("-p", "no:capture", "-p", "no:logging", "-p", "no:faulthandler", "-p", "no:unraisableexception"),
    *("-p", "no:threadexception", "-p", "no:doctest", "-p", "no:junitxml", "-p", "no:warnings"),
    *("-p", "no:tmpdir", "-p", "no:stepwise", "-p", "no:pastebin", "-p", "no:debugging"),
]


@dataclass(frozen=True)
class Step:
    """A cell to run: given, an answer, or the probe of an exercise (with its nonce)."""

    source: str
    exercise: str = ""
    nonce: str = ""


@dataclass
class Outcome:
    """How an exercise went: its evidence, or the error of its cell, or how it ended the kernel."""

    evidence: Any = None
    error: str = ""
    ended: str = ""


@dataclass
class Run:
    """What is to run, under which limits; and what came of it."""

    steps: Sequence[Step]
    limits: Limits
    deadline: float
    sandboxed: bool
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    disturbed: bool = True
    """Unless no kernel died and the last one says that all is as it was before the first answer."""


def probe(task: Task) -> Step:
    """The cell that asks an answer all its questions."""
    nonce = secrets.token_hex(8)
    groups = json.dumps([asked.questions for asked in task.asked])
    helpers = "\n".join(dict.fromkeys(asked.helpers for asked in task.asked))
    answers = ", ".join(f"lambda: ({asked.expression})" for asked in task.asked)
    # In a function, so that the names of helpers stay apart from those of answers.
    asked = f"def _asked():\n{indent(helpers, '    ')}\n    return [{answers}]\n\n"
    return Step(f"{asked}{PROBE}.ask({nonce!r}, {groups!r}, *_asked())", task.exercise.name, nonce)


def run(work: Run) -> None:
    """Run all steps through nbval; the outcomes are in `work`, whatever happens."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    folder = Path(__file__).parent
    plugin = _Session(work, folder / "submission.ipynb")
    ended = pytest.main([*OPTIONS, "--rootdir", str(folder), "--confcutdir", str(folder)], plugins=[plugin])
    if plugin.failure is not None:
        raise plugin.failure
    if ended not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        raise RuntimeError(f"pytest ended with {ended!r}")


class _Session:
    """A pytest plugin: one notebook that is no file, and its cells."""

    def __init__(self, work: Run, path: Path) -> None:
        self.work, self.path = work, path
        self.failure: BaseException | None = None

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        """What nbval reads of the terminal plugin, which is off."""
        parser.addoption("--color", default="no")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        file = GradedFile.from_parent(session, path=self.path, work=self.work)
        session.items = list(file.collect())
        session.testscollected = len(session.items)
        return True

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
        """A failure of ours is not a failure of the cell."""
        if call.excinfo is not None and not isinstance(call.excinfo.value, NbCellError):
            self.failure = self.failure or call.excinfo.value


class GradedFile(IPyNbFile):  # type: ignore[misc]
    """A notebook made of steps, with a sandboxed kernel."""

    def __init__(self, *, work: Run, **given: Any) -> None:
        super().__init__(**given)
        self.work = work
        self.ran: list[Step] = []
        self.blamed: set[str] = set()
        self.kernels = 0

    def collect(self) -> Iterator[GradedCell]:
        """One item a step: nothing is read from a file, no option from a source."""
        final = Step(f"{PROBE}.disturbed({(nonce := secrets.token_hex(8))!r})", "", nonce)
        work = self.work.steps
        first = next((place for place, step in enumerate(work) if step.exercise), 0)
        steps = [*work[:first], Step(f"{PROBE}.remember()"), *work[first:], final]
        for number, step in enumerate(steps):
            cell = nbformat.v4.new_code_cell(step.source, execution_count=1)  # type: ignore[no-untyped-call]
            options = {"check": bool(step.nonce), "check_exception": False, "skip": False}
            item = GradedCell.from_parent(
                self, name=f"Cell {number}", cell_num=number, cell=cell, options=options
            )
            item.step = step
            yield item

    def setup(self) -> None:
        """The first kernel."""
        self.replace()

    def replace(self) -> None:
        """A new kernel, in which every cell so far has run except those of exercises that ended one."""
        while self.kernels < REPLACED:
            self.kernels += 1
            self.kernel = Kernel(self.work.limits, self.work.deadline, self.work.sandboxed)
            if all(self._again(step) for step in self.ran if step.exercise not in self.blamed):
                return
            self.kernel.stop()

    def _again(self, step: Step) -> bool:
        with suppress(Empty):
            self.kernel.await_reply(self.kernel.execute_cell_input(step.source))
        if self.kernel.ended:
            self.blamed.add(step.exercise)
        return not self.kernel.ended

    def teardown(self) -> None:
        """Nothing of a student's process stays."""
        if self.kernel is not None:
            self.kernel.stop()


class GradedCell(IPyNbCell):  # type: ignore[misc]
    """A step, run as nbval runs a cell; a probe's output is read here and judged by the caller."""

    parent: GradedFile
    step: Step

    def setup(self) -> None:
        """Earlier failures are no reason to expect this one."""

    def runtest(self) -> None:
        """Run the step, unless its exercise is lost; on a fresh kernel, if the last one is gone."""
        file, name = self.parent, self.step.exercise
        outcome = file.work.outcomes.setdefault(name, Outcome()) if name else Outcome()
        if outcome.error or outcome.ended:
            return
        if not file.kernel.is_alive():
            file.replace()
        if not file.kernel.is_alive():
            outcome.ended = outcome.ended or "the kernels before ended"
            return
        try:
            super().runtest()
        except NbCellError:
            if file.kernel.ended:
                outcome.ended = file.kernel.ended
                file.blamed.add(name)
                raise
            errors = [o for o in self.test_outputs if o["output_type"] == "error"]
            outcome.error = f"{errors[0]['ename']}: {errors[0]['evalue']}" if errors else ""
            if not self.step.nonce:
                file.ran.append(self.step)  # what it did before its error is done
            raise
        if not self.step.nonce:
            file.ran.append(self.step)

    def compare_outputs(self, test: Iterable[Any], ref: Any, skip_compare: Any = None) -> bool:
        """Take the one output that carries the nonce; whether it is right is not decided here."""
        found = [o["data"][MIME] for o in test if o.get("data") and MIME in o["data"]]
        found = [f for f in found if isinstance(f, dict) and f.get("nonce") == self.step.nonce]
        self.comparison_traceback = ["one probe, with its nonce, was expected"]
        if len(found) != 1:
            return False
        if self.step.exercise:
            self.parent.work.outcomes[self.step.exercise].evidence = found[0].get("found")
        else:
            self.parent.work.disturbed = found[0].get("found") != [] or self.parent.kernels > 1
        return True


def deadline(limits: Limits) -> float:
    """When a submission that starts now must be over."""
    return time.monotonic() + limits.submission_seconds
