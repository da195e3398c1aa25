"""The page docs/benchmarks.md, its figure, and the table of the README: ratios, dated, with versions."""

from __future__ import annotations

import math
import os
import platform
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from benchmarks.harness import Row, verdict

Groups = Mapping[str, Sequence[Row]]
"""The rows of each module, by what it measures."""

PACKAGES = (
    *("dpcourse", "numpy", "scipy", "matplotlib", "ipywidgets", "jupyterlab", "nbgrader", "opendp"),
    *("dp-accounting", "prv-accountant", "autodp", "diffprivlib", "scikit-learn", "otter-grader"),
)
MORE_IS_BETTER = re.compile(r"/s$|fraction|per second")
BEGIN, END = "<!-- make bench writes from here -->", "<!-- to here -->"
INTRO = """# Benchmarks

Written by `make bench` on {date}, in one run. A ratio above 1 means that ours is better than its peer by that
factor: faster, narrower, smaller or more accurate, as the row says. A row that could not be measured says so.

![One dot a row on a logarithmic axis: how many times better ours is than its peer](images/benchmarks.svg)

{machine}. {versions}.
"""


@dataclass(frozen=True)
class Setting:
    """When and on what the rows were measured."""

    date: str
    machine: str
    versions: str


def this_machine(date: str) -> Setting:
    """The packages that are installed here, ours and the peers', and the processor."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"{name} is not installed")
    machine = (
        f"Python {platform.python_version()} on {platform.system()} ({platform.machine()}, {_cores()} cores)"
    )
    return Setting(date, machine, ", ".join(found))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ratio(row: Row) -> float | None:
    """How many times better ours is; None if one side is missing.

    >>> ratio(Row("a", 2.0, 6.0, "ms", "", True)), ratio(Row("b", 6.0, 2.0, "samples/s", "", True))
    (3.0, 3.0)
    >>> ratio(Row("c", 0.0, 1e-3, "", "", True)), ratio(Row("d", 1.0, None, "s", "", None))
    (inf, None)
    """
    if row.ours is None or row.peer is None:
        return None
    better, worse = (row.ours, row.peer) if MORE_IS_BETTER.search(row.unit) else (row.peer, row.ours)
    return better / worse if worse else math.inf


def named(rows: Iterable[Row]) -> list[Row]:
    """The rows with their whole names: an indented one belongs to the row above it.

    >>> [row.name for row in named([Row("a", 1, 1, "s", "", True), Row("  width", 1, 1, "", "", True)])]
    ['a', 'a: width']
    """
    found: list[Row] = []
    first = ""
    for row in rows:
        if row.name.startswith(" "):
            found.append(replace(row, name=f"{first}: {row.name.strip()}"))
        else:
            first = row.name
            found.append(row)
    return found


def shown(value: float | None) -> str:
    """A ratio in three digits at most, or a dash.

    >>> shown(3.14159), shown(61234.0), shown(math.inf), shown(None)
    ('3.14', '61 200', 'exact', '-')
    """
    if value is None:
        return "-"
    if math.isinf(value):
        return "exact"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}".replace(",", " ") if rounded >= 100 else f"{rounded:g}"


def page(groups: Groups, setting: Setting) -> str:
    """The whole page."""
    intro = INTRO.format(date=setting.date, machine=setting.machine, versions=setting.versions)
    return "\n".join([intro, *(_section(title, rows) for title, rows in groups.items())])


def _section(title: str, rows: Sequence[Row]) -> str:
    lines = [
        f"## {title}",
        "",
        "| what | ratio | ours | goal | verdict | note |",
        "|---|---|---|---|---|---|",
    ]
    for row in named(rows):
        ours = "-" if row.ours is None else f"{row.ours:.3g} {row.unit}".strip()
        cells = (row.name, shown(ratio(row)), ours, row.goal, verdict(row), row.note)
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def brief(groups: Groups, setting: Setting) -> str:
    """The table of the README: a line a module."""
    lines = [
        f"Measured on {setting.date} by `make bench`. Above 1, ours is better by that factor.",
        "",
        "| what | ratio to the peer: median (least to most) | goals held |",
        "|---|---|---|",
    ]
    for title, rows in groups.items():
        ratios = sorted(r for row in rows if (r := ratio(row)) is not None)
        middle = "no peer was measured"
        if ratios:
            middle = f"{shown(statistics.median(ratios))} ({shown(ratios[0])} to {shown(ratios[-1])})"
        judged = [row for row in rows if row.holds is not None]
        held = f"{sum(bool(row.holds) for row in judged)} of {len(judged)}"
        missing = len(rows) - len(judged)
        lines.append(f"| {_cell(title)} | {middle} | {held}{f', {missing} not measured' * bool(missing)} |")
    return "\n".join(lines)


def put(text: str, content: str) -> str:
    """A text with the part between the two marks replaced.

    >>> print(put(f"a\\n{BEGIN}\\nold\\n{END}\\nb", "new"))
    a
    <!-- make bench writes from here -->
    new
    <!-- to here -->
    b
    """
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"the marks {BEGIN} and {END} are missing")
    return f"{before}{BEGIN}\n{content}\n{END}{after}"


def figure(groups: Groups, path: Path) -> None:
    """A dot for every row with a peer, on a logarithmic axis; the line is the peer."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    lines = [(title, row) for title, rows in groups.items() for row in named(rows) if ratio(row) is not None]
    finite = [r for _, row in lines if (r := ratio(row)) is not None and 0 < r < math.inf]
    most = max([10.0, *finite]) * 3
    ink = "#767676"  # reads on white and on black
    with mpl.rc_context({"svg.hashsalt": "dpcourse", "svg.fonttype": "path", "font.size": 9}):
        chart = Figure(figsize=(9, 1.2 + 0.24 * (len(lines) + len(groups))), layout="constrained")
        FigureCanvasSVG(chart)
        ax = chart.subplots()
        chart.suptitle("How many times better than the peer (log scale)", x=0.01, ha="left", color=ink)
        labels: list[str] = []
        for title in dict.fromkeys(title for title, _ in lines):
            labels.append(title)
            for row in (row for other, row in lines if other == title):
                value = min(ratio(row) or 0, most)
                colour, mark = ("#0072B2", "o") if row.holds else ("#D55E00", "X")
                ax.plot([1, value], [len(labels)] * 2, color=colour, alpha=0.35, linewidth=2)
                ax.plot(value, len(labels), mark, color=colour)
                labels.append(row.name)
        ax.axvline(1, color=ink, linewidth=1)
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.set_ylim(len(labels) - 0.4, -0.6)
        ax.set_yticks(range(len(labels)), labels)
        titles = set(groups)
        for label in ax.get_yticklabels():
            label.set_fontweight("bold" if label.get_text() in titles else "normal")
        ax.tick_params(colors=ink, length=0)
        ax.spines[:].set_visible(False)
        ax.grid(axis="x", color=ink, alpha=0.25)
        path.parent.mkdir(parents=True, exist_ok=True)
        chart.savefig(path, transparent=True, metadata={"Date": None})


def write(groups: Groups, setting: Setting, root: Path) -> list[Path]:
    """The page, the figure, and the table in the README; the files that were written."""
    files = [root / "docs/benchmarks.md", root / "docs/images/benchmarks.svg", root / "README.md"]
    files[0].parent.mkdir(parents=True, exist_ok=True)
    files[0].write_text(page(groups, setting), "utf-8")
    figure(groups, files[1])
    files[2].write_text(put(files[2].read_text("utf-8"), brief(groups, setting)), "utf-8")
    return files
