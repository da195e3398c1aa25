"""The engine is built in layers, and `import dpcourse` is quick because it loads little."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "dpcourse"

# A part may import from the parts on lines above its own, and from itself.
LAYERS = {
    0: ["errors", "special"],
    1: ["laws", "coins", "neighbours", "data"],
    2: ["loss", "guarantees"],
    3: ["mechanisms", "sensitivity"],
    4: ["accounting", "interactive", "algorithms", "attacks"],
    5: ["game", "adversaries", "audit", "proofs", "contract", "zoo"],
    6: ["plots"],
    7: ["widgets", "workbook"],
    8: ["grading"],
    9: ["cli"],
    10: ["", "__main__"],  # dpcourse/__init__.py gathers the public names; __main__.py runs cli
}
# The few imports within a layer: (who, from whom).
SIBLINGS = {
    ("guarantees", "loss"),
    ("coins", "laws"),
    ("zoo", "contract"),
    ("adversaries", "game"),
    ("game", "audit"),
}

LAYER = {part: layer for layer, parts in LAYERS.items() for part in parts}


def part_of(module: str) -> str:
    """The part that a module belongs to: dpcourse.laws.finite -> laws, dpcourse -> ''."""
    return (module + ".").split(".")[1]


def nodes(tree: ast.AST, lazy: bool) -> Iterator[ast.AST]:
    """All parts of the code; without the lazy ones, only what runs when the module is loaded."""
    for node in ast.iter_child_nodes(tree):
        is_lazy = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        )
        if lazy or not is_lazy:
            yield node
            yield from nodes(node, lazy)


def imports(source: str, module: str, is_package: bool, lazy: bool = True) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that the code imports."""
    package = module if is_package else module.rpartition(".")[0]
    for node in nodes(ast.parse(source), lazy):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [base])])
            for alias in node.names:  # `from dpcourse import laws` is an import of dpcourse.laws
                submodule = base == "dpcourse" and alias.name in LAYER
                yield node.lineno, f"{base}.{alias.name}" if submodule else base


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """What is wrong with the imports of one module, in words."""
    part = part_of(module)
    if part not in LAYER:
        return [f"{module} is in no layer: add {part!r} to LAYERS in {Path(__file__).name}."]
    found = []
    for line, name in imports(source, module, is_package):
        other = part_of(name)
        if name.split(".")[0] != "dpcourse" or other == part:
            continue
        if other not in LAYER:
            found.append(f"{module}:{line} imports {name}, which is in no layer: add it to LAYERS.")
        elif LAYER[other] >= LAYER[part] and (part, other) not in SIBLINGS:
            found.append(
                f"{module}:{line} (layer {LAYER[part]}) imports {name} (layer {LAYER[other]}): "
                "import only from lower layers; move what both need down, or pass it in."
            )
    if part != "plots":
        found += [
            f"{module}:{line} imports {name} on loading: only plots may; draw through it."
            for line, name in imports(source, module, is_package, lazy=False)
            if name.split(".")[0] == "matplotlib"
        ]
    return found


def modules() -> list[tuple[str, Path]]:
    """Every module of the engine, by dotted name."""
    files = sorted(PACKAGE.rglob("*.py"))
    names = [".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) for file in files]
    return [(name.removesuffix(".__init__"), file) for name, file in zip(names, files, strict=True)]


@pytest.mark.parametrize(("module", "file"), modules(), ids=lambda value: str(value).split("/")[-1])
def test_modules_import_only_from_the_layers_below(module: str, file: Path) -> None:
    found = violations(file.read_text("utf-8"), module, file.name == "__init__.py")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("dpcourse.laws.finite", "from dpcourse import errors", ""),
        ("dpcourse.laws.finite", "from dpcourse.laws.base import Law\nfrom .base import Law", ""),
        (
            "dpcourse.laws.finite",
            "from ..loss import PrivacyLoss",
            "imports dpcourse.loss (layer 2)",
        ),
        ("dpcourse.laws.finite", "import dpcourse.game", "(layer 1) imports dpcourse.game"),
        ("dpcourse.laws.finite", "from dpcourse import PureDP", "imports dpcourse (layer 10)"),
        ("dpcourse.laws.finite", "def f():\n    from dpcourse import plots", "(layer 6)"),
        ("dpcourse.guarantees", "from dpcourse.loss import PrivacyLoss", ""),
        ("dpcourse.loss", "from dpcourse.guarantees import PureDP", "(layer 2)"),
        ("dpcourse.sensitivity", "from dpcourse.mechanisms import Laplace", "(layer 3)"),
        ("dpcourse.novel", "", "add 'novel' to LAYERS"),
        ("dpcourse.laws", "import dpcourse.novel", "in no layer"),
        ("dpcourse.plots", "import matplotlib.pyplot as plt", ""),
        ("dpcourse.laws", "from matplotlib import pyplot", "only plots may"),
        ("dpcourse.laws", "class A:\n    def show(self):\n        import matplotlib", ""),
        ("dpcourse.laws", "class A:\n    import matplotlib", "only plots may"),
        ("dpcourse.widgets", "if TYPE_CHECKING:\n    import matplotlib", ""),
        ("dpcourse.game", "from . import proofs", "(layer 5)"),
    ],
)
def test_the_layer_rules_say_what_they_should(module: str, source: str, complaint: str) -> None:
    found = violations(source, module)
    assert len(found) == bool(complaint)
    assert not complaint or complaint in found[0]


def test_import_loads_nothing_that_only_some_need() -> None:
    heavy = ["scipy", "matplotlib", "IPython", "ipywidgets", "pandas", "jupyterlab"]
    code = f"import sys, dpcourse; print(*(m for m in {heavy} if m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert loaded.stdout.split() == []
