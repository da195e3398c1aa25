"""Every exercise: the right answer passes its check, and each wrong answer that people give fails it.

Cells run as a notebook runs them, one after the other in one namespace, without a kernel: the check in the
master (with its hidden tests, as a grader has it) and the check as students see it.
"""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpcourse.workbook.exercises import Exercise, WrongAnswer, exercises, is_answer, without_hidden
from dpcourse.workbook.grade import self_check
from dpcourse.workbook.notebook import Notebook, by_id, read, write
from dpcourse.workbook.release import release

MASTERS = sorted((Path(__file__).resolve().parent.parent / "solutions").glob("*.ipynb"))
UNITS = {path.stem: read(path) for path in MASTERS}
CASES = [(unit, exercise) for unit, notebook in UNITS.items() for exercise in exercises(notebook)]
WRONG = [(unit, exercise, wrong) for unit, exercise in CASES for wrong in exercise.wrong]


def names(case: Any) -> str:
    return case if isinstance(case, str) else getattr(case, "id", None) or case.name


def run(notebook: Notebook, exercise: Exercise, answer: str) -> Iterator[dict[str, Any]]:
    """The namespace after the given cells and an answer; then after each form of the check."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["id"] == exercise.answer:
            break
        if cell["cell_type"] == "code" and not cell["id"].startswith("check-"):
            exec(cell["source"], space)
    exec(compile(answer, "<answer>", "exec"), space)
    yield space
    source = by_id(notebook)[exercise.check]["source"]
    for form in (source, without_hidden(source)):
        inner = dict(space)
        exec(form, inner)
        yield inner


@pytest.mark.parametrize(("unit", "exercise"), CASES, ids=names)
def test_the_right_answer_passes_and_its_examples_are_true(unit: str, exercise: Exercise) -> None:
    answer = by_id(UNITS[unit])[exercise.answer]["source"]
    space = next(run(UNITS[unit], exercise, answer))
    for example in doctest.DocTestFinder().find(_module(space), exercise.name, module=False, globs=space):
        assert doctest.DocTestRunner().run(example).failed == 0
    assert len(list(run(UNITS[unit], exercise, answer))) == 3


def _module(space: dict[str, Any]) -> Any:
    module = type(pytest)("answer")
    module.__dict__.update({k: v for k, v in space.items() if getattr(v, "__module__", "") == "__main__"})
    return module


@pytest.mark.parametrize(("unit", "exercise"), CASES, ids=names)
def test_a_check_takes_no_name_that_a_student_may_have_chosen(unit: str, exercise: Exercise) -> None:
    """It runs in the notebook: a `score` of its own would take the place of the student's."""
    tree = ast.parse(by_id(UNITS[unit])[exercise.check]["source"])
    taken = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for statement in tree.body:
        targets = getattr(statement, "targets", [getattr(statement, "target", statement)])
        if not isinstance(statement, ast.Expr | ast.FunctionDef):
            taken |= {
                node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
            }
    assert not [name for name in taken if not name.startswith("_")]


@pytest.mark.parametrize(("unit", "exercise", "wrong"), WRONG, ids=names)
def test_a_wrong_answer_is_caught(unit: str, exercise: Exercise, wrong: WrongAnswer) -> None:
    states = run(UNITS[unit], exercise, wrong.code)
    space = next(states)  # the answer itself runs: it is wrong, not broken
    source = by_id(UNITS[unit])[exercise.check]["source"]
    for form in (source, without_hidden(source)):
        with pytest.raises(AssertionError, match="not yet"):
            exec(form, dict(space))


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_a_student_who_gets_every_second_exercise_wrong_is_told_so(unit: str, tmp_path: Path) -> None:
    """`dpcourse check`, through nbval: the others stay right."""
    notebook = read(MASTERS[0].parent / f"{unit}.ipynb")
    chosen = {exercise.answer: exercise.wrong[0].code for exercise in exercises(notebook)[::2]}
    for name, code in chosen.items():
        by_id(notebook)[name]["source"] = code
    write(tmp_path / f"{unit}.ipynb", notebook)
    for outcome in self_check(tmp_path / f"{unit}.ipynb").outcomes:
        assert outcome.verdict == ("not yet" if outcome.exercise.name in chosen else "right")


@pytest.mark.parametrize(("unit", "exercise"), CASES, ids=names)
def test_the_stub_earns_nothing(unit: str, exercise: Exercise) -> None:
    released = by_id(release(UNITS[unit]))
    with pytest.raises(AssertionError, match="Not answered yet"):
        list(run(UNITS[unit], exercise, released[exercise.answer]["source"]))


@pytest.mark.parametrize(("unit", "exercise"), CASES, ids=names)
def test_an_exercise_has_at_least_three_wrong_answers_that_define_what_is_asked(
    unit: str, exercise: Exercise
) -> None:
    assert len(exercise.wrong) >= 3
    assert len({wrong.code for wrong in exercise.wrong}) == len(exercise.wrong)


def test_there_are_enough_exercises_and_wrong_answers() -> None:
    assert len(UNITS) == 12
    assert len(CASES) >= 60
    assert len(WRONG) >= 200


@pytest.mark.parametrize(("unit", "exercise"), CASES, ids=names)
def test_an_answer_has_types_and_an_example_and_its_check_has_growing_hints(
    unit: str, exercise: Exercise
) -> None:
    cells = by_id(UNITS[unit])
    asked = next(
        n for n in ast.parse(cells[exercise.answer]["source"]).body if isinstance(n, ast.FunctionDef)
    )
    assert asked.returns is not None
    assert all(argument.annotation for argument in asked.args.args)
    assert ">>> " in (ast.get_docstring(asked) or "")
    calls = [n for n in ast.walk(ast.parse(cells[exercise.check]["source"])) if isinstance(n, ast.Call)]
    check = next(call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "check")
    hints = next(word.value for word in check.keywords if word.arg == "hints")
    assert isinstance(hints, ast.List)
    assert len(hints.elts) >= 2
    assert cells[f"why-{exercise.name}"]["source"]


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_knows_its_number_and_says_how_many_exercises_it_has(unit: str) -> None:
    notebook = UNITS[unit]
    assert notebook["metadata"]["dpcourse"]["unit"] == unit[:2]
    title = by_id(notebook)["title"]["source"]
    assert title.startswith(f"# Exercises {int(unit[:2])}. ")
    number = {5: "Five", 6: "Six", 7: "Seven", 8: "Eight"}[len(exercises(notebook))]
    assert f"\n{number} exercises, 20 points." in title
    for i, exercise in enumerate(exercises(notebook), 1):
        assert by_id(notebook)[f"ex-{exercise.name}"]["source"].startswith(f"## {i}. {exercise.title} (")


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_worth_twenty_points_and_says_so(unit: str) -> None:
    found = exercises(UNITS[unit])
    assert sum(exercise.points for exercise in found) == 20
    assert 5 <= len(found) <= 8
    statements = by_id(UNITS[unit])
    for exercise in found:
        assert f"({exercise.points} points)" in statements[f"ex-{exercise.name}"]["source"]
    assert all(cell["id"] in {e.answer for e in found} for cell in UNITS[unit]["cells"] if is_answer(cell))
