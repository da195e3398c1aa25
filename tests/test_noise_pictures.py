"""The pictures of approximate privacy, sparse vector and smooth sensitivity: what they show is exact."""

from __future__ import annotations

import math
from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import dpcourse as dp
from dpcourse import plots
from dpcourse.mechanisms import classic_failure


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    with mpl.rc_context({"backend": "agg"}):
        yield
    assert not plt.get_fignums()


@pytest.mark.parametrize(("delta", "first"), [(0.1, 5.7426), (0.01, 6.7718), (1e-5, 8.4198), (1e-6, 8.7821)])
def test_the_classic_constant_holds_up_to_here_and_not_beyond(delta: float, first: float) -> None:
    found = classic_failure(delta)
    assert found == pytest.approx(first, abs=1e-4)
    for epsilon, kept in ((found - 1e-3, True), (found + 1e-3, False)):
        mechanism = dp.GaussianMechanism(dp.classic_sigma(epsilon, delta))
        assert (mechanism.worst_case().delta(epsilon) <= delta) is kept


def test_what_sticks_out_adds_up_to_delta() -> None:
    left, right = dp.laws.Finite("ab", (0.7, 0.3)), dp.laws.Finite("ab", (0.2, 0.8))
    with plots.figure() as (_, ax):
        artists = plots.excess(ax, left, right, epsilon=0.5)
        out = sum(bar.get_height() for bar in artists[4:6])  # type: ignore[attr-defined]
    assert out == pytest.approx(dp.PrivacyLoss.between(left, right).delta(0.5))


def test_the_tail_names_the_exact_numbers() -> None:
    with plots.figure() as (_, ax):
        plots.discounted_tail(ax, mu=1.0, epsilon=1.0)
        words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "0.3085" in words[0]
    assert "0.1269" in words[1]


def test_the_curves_of_noise_cross_where_the_formulas_do() -> None:
    with plots.figure() as (_, ax):
        plots.dimension_error(ax, rows=1000, epsilon=1.0, delta=1e-6, largest=100)
        marks = [text.get_text() for text in ax.texts]
    assert marks == [
        f"K = {math.ceil(dp.gaussian_sigma(1.0, 1e-6) ** 2 / 2)}",
        f"K = {math.ceil(math.log(1.25e6))}",
    ]


def test_every_count_of_a_search_is_shown_once() -> None:
    counts = np.array([3.0, 9.0, 1.0, 8.0, 2.0])
    with plots.figure() as (_, ax):
        plots.found_counts(ax, counts, np.array([1, 3]), threshold=7)
        shown = {line.get_label(): list(line.get_xdata()) for line in ax.lines[:3]}
    assert shown == {"no": [0, 2], "yes": [1, 3], "never asked": [4]}


def test_a_chance_of_exposure_at_one_over_n_is_marked() -> None:
    with plots.figure() as (_, ax):
        plots.exposed(ax, (100, 10_000))
        marks = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert [float(line.get_xdata()[0]) for line in marks] == [0.01, 0.0001]
    assert float(marks[0].get_ydata()[0]) == pytest.approx(1 - 0.99**100)
