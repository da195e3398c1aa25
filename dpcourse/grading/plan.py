"""What to ask in a unit, and how to judge it: all taken from the master, in the grader's own process.

The master's cells run here, solutions included, with `check` replaced by a collector; points are drawn
from the secret seed. Questions leave this process. Expectations, references and solutions never do.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import StringIO
from typing import Any, Final

import numpy as np

from dpcourse.grading import source
from dpcourse.proofs.domain import Point
from dpcourse.workbook.exercises import HIDDEN, Exercise, WrongAnswer, exercises, is_answer, is_check
from dpcourse.workbook.expect import Expectation
from dpcourse.workbook.notebook import BadNotebook, Notebook, joined
from dpcourse.workbook.questions import Question, observe
from dpcourse.workbook.release import release

COLLECT: Final = "__collect__"
DEFINES: Final = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)
Evidence = list[Any]
"""What came of one question: ["ok", data] or ["error", name, text]."""
Space = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One expectation, the points drawn for it, and the expression that is asked about them.

    `helpers` are the lines of the check that the expression needs: all of them are lines that students see.
    """

    expression: str
    expectation: Expectation
    points: Sequence[Point]
    hidden: bool
    helpers: str = ""

    @cached_property
    def judged(self) -> dict[tuple[int, str], tuple[str, str]]:
        """Verdicts so far, by question and evidence: a class gives the same answers many times."""
        return {}

    @cached_property
    def questions(self) -> list[Any]:
        """As JSON: all that a student's process gets to see."""
        return [self.expectation.question(point).data() for point in self.points]

    def evidence(self, space: Space) -> list[Evidence]:
        """What the expression gives in a namespace of ours: of the solution, or of a known wrong answer."""
        found = []
        space = dict(space)
        exec(compile(self.helpers, "helpers", "exec"), space)
        for question in self.questions:
            try:
                found.append(["ok", observe(eval(self.expression, space), Question.of(question))])
            except Exception as error:
                found.append(["error", type(error).__name__, str(error)[:500]])
        return found


@dataclass(frozen=True)
class Task:
    """An exercise: what is asked, its hints, the names to do without, and how its wrong answers answer."""

    exercise: Exercise
    asked: tuple[Asked, ...]
    hints: tuple[str, ...]
    without: frozenset[str]
    solution: tuple[list[Evidence], ...]
    before: Space
    """The namespace that an answer finds."""

    @cached_property
    def bank(self) -> list[tuple[WrongAnswer, list[list[Evidence]]]]:
        """The evidence of each known wrong answer on the same questions."""
        found = []
        for wrong in self.exercise.wrong:
            space = dict(self.before)
            exec(compile(wrong.code, wrong.id, "exec"), space)
            found.append((wrong, [asked.evidence(space) for asked in self.asked]))
        return found


@dataclass(frozen=True)
class Plan:
    """A unit: what students were given, and one task for each exercise."""

    unit: str
    pristine: Notebook
    tasks: tuple[Task, ...]


@lru_cache(maxsize=8)
def plan(text: str, seed: str) -> Plan:
    """From a master (the file's text) and a seed; the same two give the same plan, on every machine."""
    with redirect_stdout(StringIO()):  # what a check prints is for students
        return _plan(text, seed)


def _plan(text: str, seed: str) -> Plan:
    master: Notebook = joined(json.loads(text))
    known = {exercise.answer: exercise for exercise in exercises(master)}
    checks = {exercise.check: exercise for exercise in known.values()}
    space: Space = {"__name__": "__main__"}
    before: dict[str, Space] = {}
    tasks = []
    for cell in master["cells"]:
        if cell["cell_type"] != "code":
            continue
        if is_check(cell):
            exercise = checks[cell["id"]]
            tasks.append(_task(exercise, cell["source"], space, before[exercise.name], seed))
            continue
        if is_answer(cell):
            before[cell["id"]] = dict(space)
        exec(compile(cell["source"], cell["id"], "exec"), space)
    unit = master.get("metadata", {}).get("dpcourse", {}).get("unit", "")
    return Plan(str(unit), release(master), tuple(tasks))


def _task(exercise: Exercise, check: str, space: Space, before: Space, seed: str) -> Task:
    asked: list[Asked] = []
    hints: list[str] = []
    without: set[str] = set()
    for number, (call, expectations, options) in enumerate(_calls(exercise, check, dict(space))):
        hints += options.get("hints", ())
        without |= set(options.get("without", ()))
        for place, expectation in enumerate(expectations):
            rng = _rng(f"{seed}/{exercise.name}/{number}/{place}")
            hidden = call.hidden[min(place, len(call.hidden) - 1)]  # fewer are written if one is starred
            points = expectation.points(rng)
            asked.append(Asked(call.expression, expectation, points, hidden, call.helpers))
    if not asked:
        raise BadNotebook(
            f"check {exercise.check!r} expects nothing. Fix: call check(name, answer, ...) in it."
        )
    solution = tuple(one.evidence(space) for one in asked)
    for one, evidence in zip(asked, solution, strict=True):
        for item in evidence:
            if item[0] != "ok":
                raise BadNotebook(
                    f"check {exercise.check!r} asks about {one.expression!r}, on which the solution "
                    f"itself gives {item[1]}: {item[2]}. Fix: use only names of given cells and answers."
                )
    if "dpcourse" in without:
        without |= {name for name, thing in before.items() if _of_the_library(thing)}
    return Task(exercise, tuple(asked), tuple(hints), frozenset(without), solution, before)


def _of_the_library(thing: Any) -> bool:
    """Whether it is a module of ours, or something from one, by whatever name a given cell imports it."""
    return any(str(getattr(thing, key, "")).startswith("dpcourse") for key in ("__name__", "__module__"))


def _rng(text: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


@dataclass(frozen=True)
class _Call:
    """A call of `check` as it is written: the answer's expression, and which expectations are hidden."""

    expression: str
    hidden: tuple[bool, ...]
    helpers: str


def _calls(exercise: Exercise, check: str, space: Space) -> Iterator[tuple[_Call, Any, dict[str, Any]]]:
    """Run a check's cell with a collector in place of `check`: each call, with its expectations."""
    tree = ast.parse(check)
    at_once = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    if any(isinstance(node, ast.Assert) for statement in at_once for node in ast.walk(statement)):
        raise BadNotebook(
            f"check {exercise.check!r} has an assert, which only a student's own process could run. "
            "Fix: write it as an expectation, such as expect.that(rule, ...)."
        )
    covered = [
        range(check.count("\n", 0, found.start()) + 1, check.count("\n", 0, found.end()) + 1)
        for found in HIDDEN.finditer(check)
    ]
    written: list[_Call] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_check(node.func) and len(node.args) > 1:
            hidden = tuple(any(arg.lineno in lines for lines in covered) for arg in node.args[2:])
            helpers = _helpers(tree.body, node.args[1], covered)
            written.append(_Call(ast.unparse(node.args[1]), hidden, helpers))
            node.func = ast.copy_location(ast.Name(COLLECT, ast.Load()), node.func)
            node.args.insert(0, ast.copy_location(ast.Constant(len(written) - 1), node.args[0]))
    collected: list[tuple[_Call, Any, dict[str, Any]]] = []

    def collect(number: int, name: str, answer: Any, *expectations: Expectation, **options: Any) -> None:
        collected.append((written[number], expectations, options))

    exec(compile(tree, exercise.check, "exec"), space | {COLLECT: collect})
    return iter(collected)


def _helpers(body: Sequence[ast.stmt], expression: ast.expr, covered: Sequence[range]) -> str:
    """The lines of a check that define what an expression uses, directly or not; none that are hidden."""
    visible = [
        node
        for node in body
        if isinstance(node, DEFINES) and not any(node.lineno in lines for lines in covered)
    ]
    written = [(node, ast.unparse(node)) for node in visible]
    defined = {name: node for node, text in written for name in source.bound(text) | source.imported(text)}
    needed: list[ast.stmt] = []
    left: list[ast.AST] = [expression]
    while left:
        used = {node.id for node in ast.walk(left.pop()) if isinstance(node, ast.Name)}
        more = [node for name, node in defined.items() if name in used and node not in needed]
        needed += dict.fromkeys(more)
        left += dict.fromkeys(more)
    return "\n".join(ast.unparse(node) for node in visible if node in needed)


def _is_check(function: ast.expr) -> bool:
    named = isinstance(function, ast.Name) and function.id == "check"
    return named or (isinstance(function, ast.Attribute) and function.attr == "check")
