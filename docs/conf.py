"""Sphinx: the pages of the course. `make site` (tools/site.py) lays the sources out and runs it."""

from __future__ import annotations

import re
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

project = "dpcourse"
author = "The dpcourse authors"
project_copyright = author
release = metadata.version("dpcourse")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
html_theme = "sphinx_book_theme"
html_title = "dpcourse"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_navbar_depth": 1,
    "home_page_in_toc": False,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
    "navbar_persistent": [],  # the search is in the side bar
}
templates_path: list[str] = []
html_static_path = ["_static"]
html_css_files = ["course.css"]

# Notebooks are shown as they are stored: nothing runs.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, Any] = {}
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

# MathJax comes from a package, so that a page asks nobody for anything.
mathjax_path = "mathjax/tex-chtml.js"
MATHJAX = ("tex-chtml.js", "output/chtml/fonts/woff-v2/")

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Floats", "Notebook", "Cell", "Outcome")}
autodoc_default_options = {"imported-members": True}
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"


def copy_mathjax(app: Any, error: Exception | None) -> None:
    """One script and its fonts, of the twenty megabytes in the package."""
    if error is not None:
        return
    for file in metadata.files("sphinx-mathjax-offline") or ():
        inside = file.as_posix().partition("/static/mathjax/")[2]
        if inside.startswith(MATHJAX):
            target = Path(app.outdir) / "_static/mathjax" / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(Path(str(file.locate())).read_bytes())


def plain_docstring(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Our docstrings are plain text with `code` and doctests: say so to reStructuredText."""
    lines[:] = reworded(lines)


def reworded(lines: list[str]) -> list[str]:
    """Text escaped, code marked, doctests as they are, indented lines kept as they stand."""
    found: list[str] = []
    doctest = indented = False
    for line in lines:
        doctest = line.lstrip().startswith(">>>") or (doctest and bool(line.strip()))
        if doctest:
            if line.lstrip().startswith(">>>") and found and found[-1].strip() and not _is_code(found[-1]):
                found.append("")
            found.append(line)
            continue
        if line.startswith("  ") and not indented:
            found += ["", "::", ""]
        indented = line.startswith("  ") or (indented and not line.strip())
        if indented:
            found.append(line)
            continue
        if found and found[-1].startswith("  ") and line.strip():
            found.append("")
        found.append(_escaped(line))
    return found


def _is_code(line: str) -> bool:
    return line.lstrip().startswith((">>>", "..."))


def _escaped(line: str) -> str:
    parts = re.split(r"`([^`]+)`", line)
    return "".join(
        f"``{part}``" if place % 2 else re.sub(r"([\\*|_`])", r"\\\1", part)
        for place, part in enumerate(parts)
    )


def setup(app: Any) -> None:
    """What Sphinx calls."""
    for name in (
        "grading",
        "widgets",
    ):  # their names are loaded at first use, which autodoc does not wait for
        module = import_module(f"dpcourse.{name}")
        vars(module).update({public: getattr(module, public) for public in module.__all__})
    app.connect("build-finished", copy_mathjax)
    app.connect("autodoc-process-docstring", plain_docstring)


sys.setrecursionlimit(5000)  # long notebooks nest deeply
