"""Lines of a student's own that an answer needs: a helper in a cell beside it, an import at the top.

Only what an answer uses is taken, statement by statement: experiments in between are not run, and a name of
the course or of another answer stays what it is there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dpcourse.workbook.answers import Found
from dpcourse.workbook.exercises import is_answer, is_check
from dpcourse.workbook.names import definitions, names, statements
from dpcourse.workbook.notebook import Notebook

Line = tuple[set[str], str]
"""A statement, and the names that it makes or changes."""


def complete(found: Found, student: Notebook, pristine: Notebook) -> dict[str, str]:
    """Every answer with the student's own lines that it needs in front of it."""
    given = [cell for cell in pristine["cells"] if cell["cell_type"] == "code" and not is_check(cell)]
    stubs = {cell["id"]: cell["source"].strip() for cell in given if is_answer(cell)}
    taken = {name for cell in given for name in _made_by(cell["source"])}
    taken |= {name for answer in found.answers.values() for name in definitions(answer)}
    known = {cell["source"].strip() for cell in pristine["cells"]}
    checks = {cell["id"] for cell in pristine["cells"] if is_check(cell)}
    own = [
        (made - taken, text)
        for place, cell in enumerate(student["cells"])
        if cell["cell_type"] == "code" and place not in found.used and cell["source"].strip() not in known
        if cell.get("id") not in checks and not is_check(cell)  # a check is ours, whatever became of it
        for made, text in _lines(cell["source"])
    ]
    return {
        name: answer if answer.strip() in {"", stubs.get(name)} else "".join([*_needed(answer, own), answer])
        for name, answer in found.answers.items()
    }


def _made_by(source: str) -> set[str]:
    return {name for made, _ in _lines(source) for name in made}


def _lines(source: str) -> Iterator[Line]:
    """The statements of a cell that make something; calls for their effect, as of a check, make nothing."""
    for statement in statements(source):
        made = _makes(statement)
        if made:
            yield made, ast.unparse(statement) + "\n\n"


def _makes(statement: ast.stmt) -> set[str]:
    """The names that a statement binds at the margin, or changes in place.

    >>> lines = ("import a.b, c as d", "memo[0] = x = 1", "f(2)")
    >>> [sorted(_makes(ast.parse(line).body[0])) for line in lines]
    [['a', 'd'], ['memo', 'x'], []]
    """
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            inside: ast.expr = node
            while isinstance(inside, ast.Subscript | ast.Attribute):
                inside = inside.value
            if isinstance(inside, ast.Name):
                found.add(inside.id)
    return found


def _needed(answer: str, own: list[Line]) -> list[str]:
    """The own lines that an answer uses, directly or not, in the order of the notebook."""
    chosen: set[int] = set()
    left = [answer]
    while left:
        used = names(left.pop())[0]
        more = {place for place, (made, _) in enumerate(own) if made & (used | {"*"})} - chosen
        left += [own[place][1] for place in more]
        chosen |= more
    return [own[place][1] for place in sorted(chosen)]
