"""What can be said about answers without running them: the names they use, bind, and need of one another."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from typing import Final

from dpcourse.workbook.names import LOOKUPS, definitions, names, statements

TOOLS: Final = {
    *("sys", "gc", "inspect", "ctypes", "get_ipython", "subprocess", "socket", "threading", "os", "builtins"),
    *("_getframe", "__subclasses__", "observe", "ast_transformers", "workbook", "grading"),
}
"""No answer of this course has a use for these: a person should look."""


def borrowed(sources: Iterable[str], without: Iterable[str]) -> list[str]:
    """Which of the names to do without are used all the same; names of the student's own do not count.

    >>> borrowed(["def f(x):\\n    group = 2\\n    return group * x"], ["group"])
    []
    >>> borrowed(["def f(x):\\n    return dp.PureDP(x).group(2)"], ["group"])
    ['group']
    >>> borrowed(["def f(x):\\n    return getattr(dp.PureDP(x), 'group')(2)"], ["group"])
    ['group']

    If all of the library is out, `dp = dp` does not make `dp` a name of the student's own; nor does it after
    `import *`, where any name may come from anywhere.

    >>> borrowed(["dp = dp\\ndef f(x):\\n    return dp.PureDP(x)"], ["dpcourse", "dp"])
    ['dp']
    >>> borrowed(["from math import *\\ncomb = comb\\ndef f(n):\\n    return comb(n, 2)"], ["comb"])
    ['comb']
    >>> borrowed(["def f(x):\\n  match x:\\n    case object(group=g):\\n      return g(2)"], ["group"])
    ['group']

    Nor does a name hide in a line that only a notebook understands, or in a text that is run.

    >>> borrowed(["%time 1\\ndef f(n):\\n    return math.comb(n, 2)"], ["comb"])
    ['comb']
    >>> borrowed(["exec('def f(n):\\\\n    return math.comb(n, 2)')"], ["comb"])
    ['comb']
    """
    sources, without = list(sources), set(without)
    mine = made if "dpcourse" in without or any(map(_takes_all, sources)) else definitions
    own = set().union(*map(mine, sources)) if sources else set()
    found: set[str] = set()
    for loaded, attributes, texts in map(names, sources):
        found |= (loaded - own) | attributes
        if LOOKUPS & (loaded | attributes):
            found |= texts
    return sorted(found & without)


def needed(name: str, answers: Mapping[str, str], course: Mapping[str, str] | None = None) -> list[str]:
    """The answers that an answer uses, directly or not, in the order of the notebook, itself included.

    `course` says which names are the course's own, and in which cell: no other cell counts as defining them.
    """
    course = course or {}
    where: dict[str, set[str]] = {}
    for cell, source in answers.items():
        for defined in bound(source):
            if course.get(defined, cell) == cell:
                where.setdefault(defined, set()).add(cell)
    found, left = {name}, [name]
    while left:
        cells = set().union(*(where.get(used, set()) for used in names(answers[left.pop()])[0]))
        left += cells - found
        found |= cells
    return [cell for cell in answers if cell in found]


def imported(source: str) -> set[str]:
    """The names that a cell of the course imports.

    >>> sorted(imported("import numpy as np, math; from fractions import Fraction"))
    ['Fraction', 'math', 'np']
    """
    lines = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {(alias.asname or alias.name).split(".")[0] for line in lines for alias in line.names}


def clashes(given: str, answers: Mapping[str, str]) -> bool:
    """Whether an answer takes a name that others rely on: of a builtin, a given cell or another answer."""
    taken = set(dir(builtins)) | bound(given)
    for source in answers.values():
        mine = bound(source)
        if mine & taken:
            return True
        taken |= mine
    return False


def bound(source: str) -> set[str]:
    """The names that a cell binds at its margin, imports of whole modules left out: two agree on those."""
    return definitions(source) | _stored(source)


def made(source: str) -> set[str]:
    """The functions and classes that a cell defines at its margin, and nothing that it only names anew."""
    return definitions(source) - _stored(source)


def _stored(source: str) -> set[str]:
    return {
        node.id
        for statement in statements(source)
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _takes_all(source: str) -> bool:
    """Whether a cell has `from ... import *`."""
    lines = (line for line in statements(source) if isinstance(line, ast.ImportFrom))
    return any(alias.name == "*" for line in lines for alias in line.names)


def unusual(source: str, without: Iterable[str] = ()) -> list[str]:
    """Names in an answer that reach behind the notebook, or behind the names that it must do without."""
    loaded, attributes, _ = names(source)
    return sorted((loaded | attributes) & (TOOLS | LOOKUPS if without else TOOLS))
