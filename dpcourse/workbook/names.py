"""The names in a cell of a notebook: what it defines and what it uses, told without running it."""

from __future__ import annotations

import ast
import dis
import warnings
from collections.abc import Iterable
from contextlib import suppress
from types import CodeType
from typing import Any, Final

LONGEST: Final = 200_000
"""Characters of an answer, and then it is not a student's work."""
LOOKUPS: Final = {
    *("getattr", "vars", "globals", "locals", "eval", "exec", "compile", "attrgetter", "methodcaller"),
    *("import_module", "__dict__", "__getattribute__", "__import__", "__globals__", "__builtins__"),
    *("run_line_magic", "run_cell_magic"),
}
"""With one of these, a name can hide in a text."""
Names = tuple[set[str], set[str], set[str]]


def python(source: str) -> str:
    """A cell as Python: its magics and shell commands are calls, as IPython makes them."""
    if len(source) > LONGEST:
        return ""
    try:
        _body(source)
    except SyntaxError:
        from IPython.core.inputtransformer2 import TransformerManager

        with suppress(SyntaxError, ValueError, RecursionError):
            made: Any = TransformerManager()  # type: ignore[no-untyped-call]
            return str(made.transform_cell(source))
    except (ValueError, RecursionError, MemoryError):
        pass
    return source


def statements(source: str) -> list[ast.stmt]:
    """What stands at the margin of a cell; nothing if it does not parse, or is far too long to be one."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return _body(python(source))
    return []


def _body(source: str) -> list[ast.stmt]:
    with warnings.catch_warnings(action="ignore"):  # whoever runs the cell is told
        return ast.parse(source).body


def definitions(source: str) -> set[str]:
    """The names that a cell defines at its margin; none if it does not parse."""
    body = statements(source)
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return functions | {target.id for target in targets if isinstance(target, ast.Name)}


def _codes(source: str) -> Iterable[CodeType]:
    """The code of a cell, of the functions in it, and of texts that it may run."""
    left = _compiled(python(source))
    while left:
        code = left.pop()
        yield code
        left += [part for part in code.co_consts if isinstance(part, CodeType)]
        if LOOKUPS & set(code.co_names):
            left += [inner for part in code.co_consts if isinstance(part, str) for inner in _compiled(part)]


def _compiled(source: str) -> list[CodeType]:
    try:
        with warnings.catch_warnings(action="ignore"):
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # as a notebook has it
            return [compile(source, "answer", "exec", flags, dont_inherit=True)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # it will not run either


def names(source: str) -> Names:
    """The global names that a cell loads, the attributes and modules that it uses, and its texts."""
    loaded: set[str] = set()
    attributes: set[str] = set()
    texts: set[str] = set()
    for code in _codes(source):
        texts |= {part for part in code.co_consts if isinstance(part, str)}
        for step in dis.get_instructions(code):
            if step.opname == "MATCH_CLASS":  # `case object(group=g)` looks up what its keywords say
                groups = (part for part in code.co_consts if isinstance(part, tuple))
                attributes |= {part for group in groups for part in group if isinstance(part, str)}
            if not isinstance(step.argval, str):
                continue
            if step.opname in {"LOAD_NAME", "LOAD_GLOBAL"}:
                loaded.add(step.argval)
            elif step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "IMPORT", "LOAD_SUPER")):
                attributes |= set(step.argval.split("."))
    return loaded, attributes, texts
