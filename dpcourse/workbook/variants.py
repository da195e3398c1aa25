"""What differs from student to student: constants of a given cell, declared in its metadata.

    EPSILON = 0.5                                   the cell, which runs as it stands
    SEED = 2718

    "dpcourse": {"variant": {"EPSILON": [0.25, 0.5, "1 / 3"], "SEED": {"from": 0, "below": 1000000}}}

A choice is a number, or text that holds a Python expression; `from` and `below` bound a whole number. The
master itself is one of the variants. Whoever draws the choices replaces the right sides of the assignments,
and nothing else, so a grader with the same draw has the same notebook.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpcourse.workbook.exercises import is_answer, is_check
from dpcourse.workbook.notebook import BadNotebook, Cell, Notebook, by_id


@dataclass(frozen=True)
class Choices:
    """A constant that varies: where it is assigned, and what it may be, as Python source."""

    cell: str
    name: str
    options: tuple[str, ...] | range

    def __getitem__(self, index: int) -> str:
        return str(self.options[index])

    def __contains__(self, source: str) -> bool:
        if isinstance(self.options, range):
            return source.strip().isdecimal() and int(source) in self.options
        return _tree(source) in map(_tree, self.options)


def declared(notebook: Notebook) -> list[Choices]:
    """Everything that varies in a notebook, in order; a BadNotebook says what is wrong with a declaration."""
    found: dict[str, Choices] = {}
    for cell in notebook["cells"]:
        for choices in _of(cell):
            if choices.name in found:
                first = found[choices.name].cell
                raise _bad(cell, f"{choices.name} varies already in cell {first!r}", "declare it once")
            found[choices.name] = choices
    return list(found.values())


def _of(cell: Cell) -> Iterator[Choices]:
    ours = cell.get("metadata", {}).get("dpcourse", {})
    variant = ours.get("variant") if isinstance(ours, dict) else None
    if variant is None:
        return
    if cell["cell_type"] != "code" or is_answer(cell) or is_check(cell) or not isinstance(variant, dict):
        raise _bad(cell, "only constants of a given code cell vary", 'write {"NAME": [choices]} there')
    for name, options in variant.items():
        choices = Choices(cell["id"], name, _options(cell, name, options))
        if _value(cell, name) not in choices:
            raise _bad(cell, f"{name} is none of its own choices", "add the value that the master has")
        yield choices


def _options(cell: Cell, name: str, options: Any) -> tuple[str, ...] | range:
    if isinstance(options, dict) and set(options) == {"from", "below"}:
        bounds = options["from"], options["below"]
        if all(isinstance(b, int) and not isinstance(b, bool) for b in bounds) and 0 <= bounds[0] < bounds[1]:
            return range(*bounds)
    elif isinstance(options, list) and len(options) > 1:
        sources = tuple(o if isinstance(o, str) else repr(o) for o in options)
        if all(isinstance(o, str | int | float | bool) for o in options) and all(map(_parses, sources)):
            return sources
    raise _bad(
        cell,
        f"the choices of {name} are not a list of two or more numbers or Python expressions",
        'write a list such as [0.25, "1 / 3"], or {"from": 0, "below": 1000}',
    )


def _bad(cell: Cell, what: str, fix: str) -> BadNotebook:
    return BadNotebook(f"cell {cell['id']!r}: {what}. Fix: {fix}.")


def _parses(source: str) -> bool:
    return "\n" not in source and _tree(source) is not None


def _tree(source: str) -> str | None:
    """What an expression says, however it is laid out; None if it is none."""
    try:
        return ast.dump(ast.parse(f"({source}\n)", mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _assigned(source: str, name: str) -> ast.expr | None:
    """The right side of the one assignment `NAME = ...` at the margin."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    assignments = [node for node in body if isinstance(node, ast.Assign)]
    values = [
        node.value
        for node in assignments
        if any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return values[0] if len(values) == 1 else None


def _written(cell: Cell, name: str) -> str | None:
    node = _assigned(cell["source"], name)
    return ast.get_source_segment(cell["source"], node) if node else None


def _value(cell: Cell, name: str) -> str:
    source = _written(cell, name)
    if source is None:
        raise _bad(cell, f"{name} is not assigned once, at the margin", f"write one line {name} = ...")
    return source


def varied(notebook: Notebook, draw: Callable[[Choices], str]) -> Notebook:
    """The notebook with other constants, and without outputs, which belonged to the old ones."""
    choices = declared(notebook)
    if not choices:
        return notebook
    cells = {name: dict(cell) for name, cell in by_id(notebook).items()}
    for cell in cells.values():
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    for one in choices:
        cells[one.cell]["source"] = _replaced(cells[one.cell]["source"], one.name, draw(one))
    return notebook | {"cells": list(cells.values())}


def _replaced(source: str, name: str, value: str) -> str:
    node = _assigned(source, name)
    assert node is not None
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = [line.encode() for line in source.split("\n")]  # ast counts columns in bytes
    before = b"\n".join([*lines[: node.lineno - 1], lines[node.lineno - 1][: node.col_offset]])
    after = b"\n".join([lines[node.end_lineno - 1][node.end_col_offset :], *lines[node.end_lineno :]])
    return (before + value.encode() + after).decode()


def adopted(pristine: Notebook, student: Notebook) -> Notebook:
    """The course's own notebook with the constants of a student's, as far as they are among the choices.

    For a student's own check and repair. Grading never asks the student's file: it draws again.
    """
    theirs = {str(cell.get("id")): cell for cell in student["cells"]}

    def draw(one: Choices) -> str:
        source = _written(theirs[one.cell], one.name) if one.cell in theirs else None
        return source if source and source in one else _value(by_id(pristine)[one.cell], one.name)

    return varied(pristine, draw)


def values(notebook: Notebook) -> Mapping[str, str]:
    """The constants that vary, with the source of each: equal values, equal notebooks."""
    cells = by_id(notebook)
    return {one.name: _value(cells[one.cell], one.name) for one in declared(notebook)}
