"""What `make bench` writes, on rows that were made up."""

from __future__ import annotations

import doctest
import math
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import __main__ as bench
from benchmarks import report
from benchmarks.harness import Row
from tools import site

SETTING = report.Setting("2026-11-16", "Python 3.11.7 on a test", "dpcourse 0.1.0, peer is not installed")
GROUPS = {
    "Accounting": [
        Row("Laplace, k = 10", 0.2, 80.0, "ms", ">= 50 times faster", True, "400 times faster"),
        Row("    width of the bracket", 1e-12, 1e-4, "", "<= 1e-10", True),
        Row("slower | than <hoped>", 3.0, 1.5, "s", "faster", False),
    ],
    "Samplers": [
        Row("Laplace", 4e6, 1e6, "samples/s", ">= peer", True),
        Row("exact", None, None, "samples/s", ">= peer", None, "opendp is not installed"),
    ],
}


def test_the_page_has_ratios_versions_and_the_date() -> None:
    page = report.page(GROUPS, SETTING)
    for part in ("2026-11-16", "Python 3.11.7 on a test", "peer is not installed", "images/benchmarks.svg"):
        assert part in page
    assert "| Laplace, k = 10 | 400 | 0.2 ms | >= 50 times faster | holds | 400 times faster |" in page
    assert "| Laplace, k = 10: width of the bracket | 100 000 000 | 1e-12 |" in page
    assert "| slower \\| than &lt;hoped> | 0.5 | 3 s | faster | MISSED |  |" in page
    assert "| exact | - | - | >= peer | not measured | opendp is not installed |" in page


def test_the_readme_gets_a_line_a_module_and_keeps_the_rest() -> None:
    text = f"# A\n\n{report.BEGIN}\nold\n{report.END}\n\nrest\n"
    new = report.put(text, report.brief(GROUPS, SETTING))
    assert "| Accounting | 400 (0.5 to 100 000 000) | 2 of 3 |" in new
    assert "| Samplers | 4 (4 to 4) | 1 of 1, 1 not measured |" in new
    assert new.startswith("# A\n")
    assert new.endswith("\n\nrest\n")
    assert "old" not in new
    with pytest.raises(ValueError, match="marks"):
        report.put("nothing", "new")


def test_the_readme_of_the_project_has_the_marks() -> None:
    readme = (bench.ROOT / "README.md").read_text("utf-8")
    assert report.put(readme, "x") != readme


def test_everything_is_written_and_the_figure_is_the_same_twice(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"{report.BEGIN}\n{report.END}\n")
    page, figure, readme = report.write(GROUPS, SETTING, tmp_path)
    assert page.read_text("utf-8") == report.page(GROUPS, SETTING)
    assert "Measured on 2026-11-16" in readme.read_text("utf-8")
    first = figure.read_bytes()
    assert b"<svg" in first
    report.figure(GROUPS, figure)
    assert figure.read_bytes() == first


@pytest.mark.parametrize("module", [report, site], ids=lambda module: module.__name__)
def test_the_examples_in_the_docstrings_hold(module: ModuleType) -> None:
    ended = doctest.testmod(module)
    assert ended.attempted
    assert not ended.failed


def test_a_ratio_is_above_one_where_ours_is_better() -> None:
    assert report.ratio(Row("", 1.0, 2.0, "s", "", True)) == 2
    assert report.ratio(Row("", 2.0, 1.0, "fraction", "", True)) == 2
    assert report.ratio(Row("", 0.0, 1.0, "", "", True)) == math.inf
    assert report.ratio(Row("", None, 1.0, "s", "", None)) is None


def test_the_versions_name_what_is_missing() -> None:
    setting = report.this_machine("2026-11-16")
    assert "dpcourse 0.1.0" in setting.versions
    assert "cores" in setting.machine
    assert all(name in setting.versions for name in report.PACKAGES)


def test_a_missing_peer_is_a_row_that_was_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name}", name="opendp")

    monkeypatch.setattr(bench.importlib, "import_module", missing)
    ((title, (row,)),) = bench.measured(["samplers"])
    assert title == bench.TITLES["samplers"]
    assert (row.holds, row.note) == (None, "opendp is not installed")


def test_every_module_of_benchmarks_has_a_title() -> None:
    modules = (bench.ROOT / "benchmarks").glob("bench_*.py")
    assert sorted(bench.TITLES) == sorted(path.stem.removeprefix("bench_") for path in modules)
