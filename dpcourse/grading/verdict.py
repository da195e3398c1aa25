"""From evidence to a mark, in the grader's process: right only if every question is answered right."""

from __future__ import annotations

import ctypes
import json
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from dpcourse.grading.plan import Asked, Task
from dpcourse.grading.reading import BadEvidence, alike, read
from dpcourse.grading.records import Mark
from dpcourse.proofs.domain import Point
from dpcourse.workbook.evidence import shown

JUDGING: Final = 10
"""Seconds of computing for the verdict on one exercise; a right answer takes a fraction of one."""
MEMORY: Final = 20_000
"""Verdicts to remember for an expectation."""
KIND: Final = "an answer of the kind that the exercise asks for"
SECRET: Final = "the rule of the exercise, on an input of the grader's own"


@dataclass(frozen=True)
class Fault:
    """A question that was not answered right."""

    asked: Asked
    point: Point
    found: str
    wanted: str
    verdict: str = "wrong"


def mark(task: Task, evidence: Any) -> Mark:
    """The mark for what came out of a student's process, which may be anything."""
    if not _fits(task, evidence):
        return failed(task, "error", found="no evidence that can be read", asked=KIND)
    faults: list[Fault] = []
    try:
        with _alarm():
            faults.extend(_faults(task, evidence))  # what was found before an alarm stays
    except TooLong as error:
        if not faults:  # one is enough to know that it is wrong
            return failed(task, "needs a human", found=str(error))
    if faults:
        return _described(task, faults, match(task, evidence))
    exercise = task.exercise
    return Mark(exercise.name, exercise.title, exercise.points, exercise.points, "right")


def failed(task: Task, verdict: str, where: str = "", found: str = "", asked: str = "") -> Mark:
    """A mark without points."""
    exercise = task.exercise
    hint = task.hints[0] if task.hints and verdict in {"wrong", "error"} else ""
    return Mark(exercise.name, exercise.title, 0, exercise.points, verdict, where, found, asked, hint)


def _fits(task: Task, evidence: Any) -> bool:
    """One list an expectation, one entry a question."""
    return (
        isinstance(evidence, list)
        and len(evidence) == len(task.asked)
        and all(
            isinstance(items, list) and len(items) == len(asked.points)
            for items, asked in zip(evidence, task.asked, strict=True)
        )
    )


def _faults(task: Task, evidence: list[list[Any]]) -> Iterator[Fault]:
    for asked, items, references in zip(task.asked, evidence, task.solution, strict=True):
        for number, (item, reference) in enumerate(zip(items, references, strict=True)):
            fault = _fault(asked, number, item, reference[1])
            if fault is not None:
                yield fault


def _fault(asked: Asked, number: int, item: Any, like: Any) -> Fault | None:
    """What is wrong with the answer to one question; None only if the judge says that nothing is."""
    point = asked.points[number]
    if (
        isinstance(item, list)
        and len(item) == 3
        and item[0] == "error"
        and all(isinstance(t, str) for t in item)
    ):
        verdict = "not answered" if item[1] == "NotImplementedError" else "error"
        return Fault(asked, point, f"{item[1]}: {item[2]}"[:500], "an answer without an error", verdict)
    if not isinstance(item, list) or len(item) != 2 or item[0] != "ok":
        return Fault(asked, point, "no evidence that can be read", KIND, "error")
    try:
        value = read(item[1], like)
    except BadEvidence as error:
        return Fault(asked, point, str(error), KIND)
    key = (number, json.dumps(item[1]))
    if key not in asked.judged:
        said = _judged(asked, point, value)
        if len(asked.judged) < MEMORY:
            asked.judged[key] = said
    found, wanted = asked.judged.get(key) or said
    return Fault(asked, point, found, wanted) if wanted != "" else None


def _judged(asked: Asked, point: Point, value: Any) -> tuple[str, str]:
    """What was found, and what was asked instead: empty if all is well."""
    try:
        with warnings.catch_warnings(action="ignore"):  # about an answer's numbers, to nobody's use
            said = asked.expectation.asked(point, value)
    except TooLong:
        raise
    except Exception:  # the judge is right about the solution: this is an answer of another kind
        said = KIND
    return _short(value), str(said)


def _short(value: Any) -> str:
    try:
        text = shown(value)
    except Exception:  # a number with more digits than Python prints
        text = f"a {type(value).__name__}"
    return text if len(text) <= 300 else text[:297] + "..."


def _described(task: Task, faults: Sequence[Fault], known: str) -> Mark:
    """The simplest failure that a student may see; hidden expectations stay hidden."""
    if any(fault.verdict == "not answered" for fault in faults):
        fault = next(fault for fault in faults if fault.verdict == "not answered")
        return failed(task, "not answered", found=fault.found.partition(": ")[2])
    fault = min(faults, key=lambda fault: (fault.asked.hidden, len(_where(fault))))
    if fault.asked.hidden:
        found = fault.found if fault.verdict == "error" else "another value"
        mark = failed(task, fault.verdict, "", found, SECRET)
    else:
        mark = failed(task, fault.verdict, _where(fault), fault.found, fault.wanted[:500])
    return Mark(**{**vars(mark), "wrong_answer": known})


def _where(fault: Fault) -> str:
    inputs = ", ".join(f"{name}={shown(value)}" for name, value in fault.point.items())
    expression = fault.asked.expression
    if not fault.point:
        return expression
    return f"{expression}({inputs})" if expression.isidentifier() else inputs


def match(task: Task, evidence: list[list[Any]]) -> str:
    """The id of the known wrong answer that answers every question in the same way, or nothing."""
    for wrong, other in task.bank:
        if all(
            _same(item, known)
            for items, knowns in zip(evidence, other, strict=True)
            for item, known in zip(items, knowns, strict=True)
        ):
            return wrong.id
    return ""


def _same(item: Any, known: list[Any]) -> bool:
    if known[0] == "error":
        return isinstance(item, list) and item[:2] == known[:2]
    return alike(item, known)


class TooLong(Exception):
    """A verdict took longer than any right answer needs."""

    def __str__(self) -> str:
        return f"the verdict took over {JUDGING} s"


@contextmanager
def _alarm() -> Iterator[None]:
    """Stop after JUDGING seconds of computing; a busy machine is no fault."""
    if threading.current_thread() is not threading.main_thread():  # as in a worker of Dask
        with _watched():
            yield
        return

    def ring(number: int, frame: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, JUDGING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _watched() -> Iterator[None]:
    """The same where no signal reaches: another thread looks at the time of this one."""
    thread, over = threading.get_ident(), threading.Event()
    clock = time.pthread_getcpuclockid(thread)
    last = time.clock_gettime(clock) + JUDGING

    def watch() -> None:
        while not over.wait(0.2):
            if time.clock_gettime(clock) > last:
                _throw(thread, ctypes.py_object(TooLong))
                return

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
        _throw(thread, None)  # if it came a moment too late


def _throw(thread: int, error: Any) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)
