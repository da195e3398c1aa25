"""Build the course and its documentation as pages: from stored outputs, with warnings as errors.

The sources are laid out as in the repository, so that a link between two files works in both. What is built
is examined: every link inside leads somewhere, and no page asks another host for anything.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import numpy as np

import dpcourse
from dpcourse.proofs import errata

ROOT = Path(__file__).resolve().parent.parent
PARTS = (
    *("laws", "coins", "neighbours", "data", "loss", "guarantees", "mechanisms", "sensitivity"),
    *("accounting", "interactive", "algorithms", "attacks", "game", "adversaries", "audit", "proofs"),
    *("contract", "zoo", "plots", "widgets", "workbook", "grading"),
)


def main(site: Path, work: Path) -> list[str]:
    """Build into a folder, by way of another; what is wrong with the result."""
    lay_out(work)
    shutil.rmtree(site, ignore_errors=True)
    sphinx = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-c",
        str(work / "docs"),
    ]
    places = [str(work), str(site), "-d", str(work.parent / "doctrees")]
    quiet = os.environ | {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    if subprocess.run([*sphinx, *places], cwd=ROOT, env=quiet, check=False).returncode:
        return ["Sphinx complains: see above"]
    return faults(site)


# -- The sources ----------------------------------------------------------------------------------


def lay_out(work: Path) -> None:
    """Everything that becomes a page, where it is in the repository; files that did not change are kept."""
    wanted = {path.relative_to(ROOT): path.read_bytes() for path in sources()}
    wanted[Path("index.md")] = wanted.pop(Path("docs/index.md"))
    wanted[Path("docs/errata.md")] = errata_page().encode()
    wanted |= {Path("docs/api") / name: text.encode() for name, text in api_pages()}
    for name, content in wanted.items():
        target = work / name
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    for old in sorted(work.rglob("*.*")):
        if old.is_file() and old.relative_to(work) not in wanted:
            old.unlink()


def sources() -> Iterator[Path]:
    """The notebooks that students get, the documents, and what they show."""
    for pattern in (
        "lectures/*.ipynb",
        "exercises/*.ipynb",
        "docs/**/*.*",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ):
        yield from (path for path in sorted(ROOT.glob(pattern)) if "__pycache__" not in path.parts)


ERRATA = """# Errata

Claims about differential privacy that circulate in lecture notes, and are false. Each one is a proof whose
lines evaluate: a search over its parameters finds a point where it fails, and finds none for the corrected
claim. The lectures teach them under *Which one is right?*; in the engine they are `dp.proofs.errata()`.
"""


def errata_page() -> str:
    """Every claim in circulation that is false, the one that is right, and a point where the first fails."""
    lines = [ERRATA]
    for name, erratum in errata().items():
        found = erratum.broken.falsify(rng=np.random.default_rng(0)).counterexample
        if found is None:
            raise ValueError(
                f"the erratum {name} was not refuted: see its domain in dpcourse/proofs/mistakes"
            )
        title = erratum.broken.name
        wrong = [row.step.latex for row in found.checked.rows if row.name in found.fails]
        right = erratum.sound.statement.latex
        lines += [f"## {title[0].upper()}{title[1:]}", "", f"**Claimed:** {code(erratum.claimed)}", ""]
        lines += [f"$$\n{wrong[-1]}\n$$", "", "which is false at", "", "```text", str(found), "```", ""]
        lines += [f"**Right:** {code(erratum.right)}", ""]
        lines += [f"$$\n{right}\n$$", ""] * (right not in wrong)
        lines += [f"In the engine: `dp.proofs.errata()[{name!r}]`.", ""]
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """A sentence of mathematics in plain characters, shown as it stands.

    >>> code("delta <= 1/n^2")
    '`delta <= 1/n^2`'
    """
    return f"`{text}`"


def api_pages() -> Iterator[tuple[str, str]]:
    """A page for every part of the engine, and one that lists them."""
    rows = []
    for part in PARTS:
        module = import_module(f"dpcourse.{part}")
        about = (module.__doc__ or "").strip().splitlines()[0]
        rows.append(f"- [`dpcourse.{part}`]({part}.md): {about[0].lower()}{about[1:]}")
        yield (
            f"{part}.md",
            f"# dpcourse.{part}\n\n" + (listed(module) if part == "plots" else documented(module)),
        )
    names = ", ".join(f"`dp.{name}`" for name in sorted(dpcourse.__all__, key=str.casefold))
    yield (
        "index.md",
        "# Reference\n\n"
        + "The parts of the engine, from the bottom up:\n\n"
        + "\n".join(rows)
        + f"\n\nAfter `import dpcourse as dp` these names are at hand: {names}.\n\n"
        + "```{toctree}\n:hidden:\n\n"
        + "\n".join(PARTS)
        + "\n```\n",
    )


def documented(module: ModuleType) -> str:
    """Every name of a part with its docstring."""
    members = f".. automodule:: {module.__name__}\n   :members: {', '.join(public(module))}"
    return f"```{{eval-rst}}\n{members}\n```\n"


def listed(module: ModuleType) -> str:
    """Every name of a part with the first line of its docstring: enough for pictures."""
    lines = [str(module.__doc__).strip(), ""]
    for name in public(module):
        about = str(getattr(module, name).__doc__ or "").strip().partition("\n")[0]
        lines.append(f"- `{name}`: {code(about) if re.search(r'[$*_<^]', about) else about}")
    return "\n".join(lines) + "\n"


def public(module: ModuleType) -> list[str]:
    """The names that a part offers: those that it lists, or else those that it defines.

    >>> "explore" in public(dpcourse), "Loss" in public(import_module("dpcourse.loss"))
    (True, False)
    """
    listed: list[str] = getattr(module, "__all__", [])
    return listed or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


# -- The result -----------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a page is called by, what it leads to, and what it loads by itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in {
            "canonical",
            "index",
            "search",
            "next",
            "prev",
            "author",
        }:
            self.loads.append(given.get("href", ""))
        self.loads += [given[name] for name in ("src", "poster") if name in given]


def faults(site: Path) -> list[str]:
    """Links inside that lead nowhere, and whatever a page would ask another host for."""
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]  # has templates
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in files}
    found = [] if pages else [f"{site} has no pages"]
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        outside = (t for t in page.loads if urlsplit(t).scheme not in {"", "data"} or t.startswith("//"))
        found += [f"{name} loads {target}" for target in outside]
        for target in (*page.links, *page.loads):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = place / "index.html" if place.is_dir() else place
            if not place.is_file():
                found.append(f"{name} leads to {target}, which is not there")
            elif parts.fragment and place in pages and unquote(parts.fragment) not in pages[place].anchors:
                found.append(f"{name} leads to {target}, and there is no such place on that page")
    sheets = {sheet: sheet.read_text("utf-8") for sheet in site.rglob("*.css")}
    return found + [
        f"{sheet.relative_to(site)} loads something from elsewhere"
        for sheet, text in sheets.items()
        if re.search(r"""(?:url\(|@import)\s*["']?(?:https?:)?//""", text)
    ]


if __name__ == "__main__":
    built = ROOT / "build/site"
    wrong = main(built, ROOT / "build/pages")
    for line in wrong:
        print(line, file=sys.stderr)
    if not wrong:
        print(f"The pages are in {built}: open {built / 'index.html'}")
    sys.exit(bool(wrong))
