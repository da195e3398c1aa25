"""The check under an exercise: one green line, or what was found against what was asked, and a hint.

    check("group-delta", group_delta, expect.values(by_recursion, epsilon=Real(0.01, 2), ...), hints=[...])

A failed check raises `NotYet`, so that nbval and nbgrader see it; the student sees a few plain lines.
"""

from __future__ import annotations

import html
import traceback
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from dis import get_instructions, hasname
from types import CodeType, FunctionType
from typing import Any, Final

import numpy as np

from dpcourse.errors import reject
from dpcourse.proofs.domain import Point
from dpcourse.workbook.evidence import decode, shown
from dpcourse.workbook.expect import Expectation
from dpcourse.workbook.questions import observe

SHRINKS: Final = 60
"""How many simpler inputs are tried to make a counterexample short."""
_tries: Counter[str] = Counter()


class NotYet(AssertionError):
    """The answer is not right yet; the message is all that a student needs to see."""

    def _render_traceback_(self) -> list[str]:
        first, *rest = str(self).splitlines()
        return [f"\x1b[1;31m{first}\x1b[0m", *rest]  # in place of a traceback through our code


class NotAnswered(NotYet):
    """The stub is still there."""


@dataclass(frozen=True)
class Failure:
    """An input on which the answer is wrong: what was found there, and what was asked."""

    point: Point
    found: str
    asked: str


@dataclass(frozen=True)
class Right:
    """The green line."""

    text: str

    def __repr__(self) -> str:
        return f"✓ {self.text}"

    def _repr_html_(self) -> str:
        return f'<span style="color:#009E73;font-weight:600">✓ {html.escape(self.text)}</span>'


def check(
    name: str,
    answer: Any,
    *expectations: Expectation,
    hints: Sequence[str] = (),
    without: Collection[str] = (),
) -> None:
    """Judge an answer on fresh inputs; NotYet has the simplest failure found, and one more hint a try.

    `without` lists names that the answer must do without: the library's own answer to the exercise, or
    "dpcourse" for all of the library.
    """
    borrowed = sorted(set(without) & names_in(answer))
    if borrowed:
        raise NotYet(f"✗ {name}: not yet\n    found  a call of {borrowed[0]}\n    asked  lines of your own")
    if not expectations:
        reject("expectations", expectations, "one or more", "say what is expected, as expect.values(...).")
    rng = np.random.default_rng()
    tried = 0
    for expectation in expectations:
        points = expectation.points(rng)
        for point in points:
            failure = fault(expectation, answer, point)
            if failure:
                _tries[name] += 1
                failure = _simplest(expectation, answer, failure)
                raise NotYet(_report(name, answer, failure, hints[: _tries[name] - 1], len(hints)))
        tried += len(points) if points != [{}] else 0
    _tries.pop(name, None)
    _display(Right(f"{name}: right" + f", on {tried} fresh inputs" * (tried > 0)))


_ALONE: Final = ("LOAD_GLOBAL", "LOAD_NAME")  # a name that stands alone, not after a dot


def names_in(answer: Any) -> set[str]:
    """The names that a function uses, with those of the functions inside it and beside it.

    What stands beside it counts by what it is, not by what it is called: `dp` is "dpcourse", and students
    name their own functions and data as they like. Names after a dot always count.
    """
    found: set[str] = set()
    seen: set[str] = set()
    left = [getattr(answer, "__code__", None)]
    beside: dict[str, Any] = getattr(answer, "__globals__", {})
    while left:
        code = left.pop()
        if not isinstance(code, CodeType):
            continue
        left += [part for part in code.co_consts if isinstance(part, CodeType)]
        names = [(step.argval, step.opname) for step in get_instructions(code) if step.opcode in hasname]
        found |= {name for name, use in names if use not in _ALONE}
        for name in {name for name, use in names if use in _ALONE} - seen:
            seen.add(name)
            thing: Any = beside.get(name)
            if isinstance(thing, FunctionType) and thing.__module__ == answer.__module__:
                left.append(thing.__code__)
            elif name not in beside:
                found.add(name)  # of Python itself
            elif hasattr(thing, "__name__"):
                found |= {name, *f"{getattr(thing, '__module__', '')}.{thing.__name__}".split(".")}
    return found


def fault(expectation: Expectation, answer: Any, point: Point) -> Failure | None:
    """What is wrong with an answer on one input; None if nothing is."""
    try:
        found = decode(observe(answer, expectation.question(point)))
    except NotImplementedError as stub:
        raise NotAnswered(f"○ Not answered yet. {stub}") from None
    except Exception as error:
        asked = "an answer without an error"
        return Failure(point, f"{type(error).__name__}: {error}{_line(error)}", asked)
    asked = expectation.asked(point, found)
    return Failure(point, shown(found), asked) if asked else None


def _line(error: Exception) -> str:
    """Where in the student's own cell the error came from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith("<") or "ipykernel" in frame.filename]
    return f", at line {own[-1].lineno} of your cell: {own[-1].line}" if own and own[-1].line else ""


def _simplest(expectation: Expectation, answer: Any, failure: Failure) -> Failure:
    """A shorter input that fails as well, found by trying simpler ones for a while."""
    left = SHRINKS
    better: Failure | None = failure
    while better and left > 0:
        failure, better = better, None
        domain = expectation.domain
        simpler = domain.simpler(failure.point)
        batch = domain.legal(domain.batch(simpler)) if simpler else {}
        for i in range(min(left, len(next(iter(batch.values()))) if batch else 0)):
            left -= 1
            better = fault(expectation, answer, domain.row(batch, i))
            if better:
                break
    return failure


def _report(name: str, answer: Any, failure: Failure, hints: Sequence[str], total: int) -> str:
    called = getattr(answer, "__name__", name)
    inputs = ", ".join(f"{key}={shown(value)}" for key, value in failure.point.items())
    where = [f"  {called}({inputs})" if called.isidentifier() else f"  {inputs}"] if failure.point else []
    return "\n".join(
        [
            f"✗ {name}: not yet",
            *where,
            f"    found  {failure.found}",
            f"    asked  {failure.asked}",
            *(f"  Hint {i} of {total}: {hint}" for i, hint in enumerate(hints, 1)),
        ]
    )


def _display(line: Right) -> None:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.display import display

    if InteractiveShell.initialized():
        display(line)  # type: ignore[no-untyped-call]
    else:
        print(line)
