"""Figures: what is drawn, that nothing overlaps, and that it reads on light and dark pages."""

from __future__ import annotations

import base64
import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.text import Annotation, Text

import dpcourse as dp
from dpcourse import BadInput, plots
from dpcourse.accounting import Comparison, compare, compare_over_k

KS = [1, 3, 10, 30, 100, 300, 1000]


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    with mpl.rc_context({"backend": "agg"}):
        yield
    assert not plt.get_fignums(), "every figure is closed"


@pytest.fixture(scope="module")
def laplace() -> Comparison:
    return compare(dp.LaplaceMechanism(0.1), 1e-6, k=100, misprints=True)


@pytest.fixture(scope="module")
def tables() -> tuple[Comparison, ...]:
    return compare_over_k(dp.LaplaceMechanism(0.1), KS, 1e-6)


def overlaps(fig: Any, texts: list[Any]) -> list[tuple[str, str]]:
    """The pairs of texts whose boxes meet once the figure is laid out."""
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    boxes = [(t.get_text(), Text.get_window_extent(t, canvas.get_renderer())) for t in texts]
    return [(a, b) for i, (a, x) in enumerate(boxes) for b, y in boxes[:i] if x.overlaps(y)]


def test_a_comparison_has_a_dot_a_number_and_a_name_for_each_row(laplace: Comparison) -> None:
    with plots.figure(7.5, 4.6) as (fig, ax):
        artists = plots.comparison(ax, laplace)
        dots = [a for a in artists if getattr(a, "get_marker", lambda: "None")() not in {"None", ""}]
        numbers = [a for a in artists if isinstance(a, Annotation)]
        assert len(dots) == len(numbers) == len(laplace.rows) == len(ax.get_yticklabels())
        assert {d.get_marker() for d in dots} == {"o", "D", "^", "X"}  # never colour alone
        assert ax.lines[0].get_xdata()[0] == laplace["exact"].epsilon
        assert "nats" in ax.get_xlabel()
        assert "missing two (misprint)" in [t.get_text() for t in ax.get_yticklabels()]
        assert not overlaps(fig, [*numbers, *ax.get_yticklabels()])
        assert not overlaps(fig, [t for t in ax.get_xticklabels() if t.get_text()])


def test_long_names_and_wide_ranges_fit(laplace: Comparison) -> None:
    rows = tuple(dataclasses.replace(row, epsilon=row.epsilon**4) for row in laplace.rows)
    wide = dataclasses.replace(laplace, rows=rows, workload="1000 x Subsampled(rate=0.01, " + "x" * 60 + ")")
    with plots.figure(7, 4.6) as (fig, ax):
        plots.comparison(ax, wide)
        ticks = [t for t in ax.get_xticklabels() if t.get_text()]
        assert len(ticks) >= 3
        assert not overlaps(fig, ticks)
        long = compare(dp.Subsampled(dp.LaplaceMechanism(0.1), 0.01), 1e-6, k=1000)
        ax.clear()
        plots.comparison(ax, long)
        FigureCanvasAgg(fig).draw()
        assert ax.title.get_window_extent().x1 <= fig.bbox.x1


def test_curves_over_k_differ_in_more_than_colour(tables: tuple[Comparison, ...]) -> None:
    with plots.figure() as (fig, ax):
        artists = plots.comparison_over_k(ax, tables)
        lines = [a for a in artists if not isinstance(a, Annotation)]
        names = [a for a in artists if isinstance(a, Annotation)]
        looks = {(line.get_linestyle(), line.get_marker()) for line in lines}
        assert len(looks) == len(lines) == len(names) == 9
        assert ax.get_xscale() == ax.get_yscale() == "log"
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of releases k", "privacy loss ε (nats)")
        assert ax.get_title(loc="left") == "LaplaceMechanism(epsilon=0.1), δ = 1e-06"
        assert not overlaps(fig, names)
        assert {"advanced, ε(e$^ε$−1)", "optimal (ε, δ)", "Rényi DP"} <= {name.get_text() for name in names}
        assert list(lines[0].get_xdata()) == KS


def test_curves_relative_to_the_exact_one(tables: tuple[Comparison, ...]) -> None:
    with plots.figure() as (fig, ax):
        artists = plots.comparison_over_k(ax, tables, keys=["basic", "gdp", "exact", "none"], relative=True)
        lines = [a for a in artists if not isinstance(a, Annotation)]
        assert len(lines) == 3
        assert lines[-1].get_ydata() == pytest.approx(1)
        assert min(lines[0].get_ydata()) >= 1 - 1e-12
        assert not overlaps(fig, [a for a in artists if isinstance(a, Annotation)])


def luminance(colour: str) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
def test_every_colour_reads_on_light_and_dark_pages(page: str) -> None:
    for colour in (plots.INK, plots.BLUE, plots.VERMILION, plots.GREEN, plots.PURPLE):
        light, dark = sorted([luminance(colour), luminance(page)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, colour


def shown_page(table: Comparison, alt: str) -> str:
    with plots.figure(4, 3) as (fig, ax):
        plots.comparison(ax, table)
        return str(plots.show(fig, alt).data)


def test_show_gives_a_transparent_image_with_alt_text(laplace: Comparison) -> None:
    alt = 'All bounds, "exact" at 4.69 & basic at 10'
    page = shown_page(laplace, alt)
    match = re.fullmatch(r'<img alt="(.*?)" width="400" src="data:image/png;base64,(.*)">', page, re.DOTALL)
    assert match
    assert match[1] == "All bounds, &quot;exact&quot; at 4.69 &amp; basic at 10"
    png = base64.b64decode(match[2])
    assert png.startswith(b"\x89PNG")
    assert png[25] == 6  # colour type with an alpha channel
    assert page == shown_page(laplace, alt)  # stored outputs do not change from run to run


def test_bad_figures_are_explained(tables: tuple[Comparison, ...]) -> None:
    with plots.figure(3, 2) as (fig, ax):
        with pytest.raises(BadInput, match="describe what the figure shows"):
            plots.show(fig, " ")
        with pytest.raises(BadInput, match="a finite, positive epsilon"):
            plots.comparison(ax, compare(dp.GDP(1.0), 0.0))
        with pytest.raises(BadInput, match="two or more k"):
            plots.comparison_over_k(ax, tables[:1])
        with pytest.raises(BadInput, match="at one delta"):
            plots.comparison_over_k(ax, [tables[0], compare(dp.PureDP(0.1), 1e-3, k=2)])


def test_labels_are_pushed_apart_and_otherwise_left_alone() -> None:
    assert plots.accounting._apart([0.1, 0.5, 0.9], 0.1) == pytest.approx([0.1, 0.5, 0.9])
    pushed = plots.accounting._apart([0.5, 0.5, 0.5], 0.1)
    assert pushed == pytest.approx([0.4, 0.5, 0.6])


def test_epochs_have_a_hidden_threshold_each() -> None:
    with plots.figure(8, 4) as (fig, ax):
        plots.epochs(ax, [0.1, -0.3, 0.1, 0.05], [False, True, False, False], [0.2, 0.25, 0.3], 0.2)
        dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
        assert [line.get_ydata()[0] for line in dashed] == [0.2, 0.25]
        assert not overlaps(fig, ax.texts)


def test_power_laws_are_named_at_their_ends() -> None:
    with plots.figure(6, 4) as (_, ax):
        plots.power_laws(ax, [10, 100], {"a": [1, 10], "b": [2, float("nan")]})
        assert {t.get_text() for t in ax.texts} == {"a", "b"}
        assert ax.get_xscale() == ax.get_yscale() == "log"


def test_steps_cross_zero_where_they_do_harm() -> None:
    with plots.figure(6, 4) as (_, ax):
        plots.steps(ax, 0.2)
        assert ax.get_legend() is not None
