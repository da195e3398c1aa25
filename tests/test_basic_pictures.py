"""The pictures of the first mechanisms: edges, bands, teeth, and words that do not overlap."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpcourse import ADD_REMOVE, REPLACE_ONE, plots
from dpcourse.attacks import TextbookLaplace
from dpcourse.neighbours import Adjacency


@pytest.mark.parametrize(("adjacency", "edges"), [(ADD_REMOVE, 2 + 4 + 6), (REPLACE_ONE, 1 + 2 + 3)])
def test_the_graph_has_a_node_for_each_data_set_and_an_edge_for_each_pair(
    adjacency: Adjacency, edges: int
) -> None:
    with plots.figure(4.5, 3.6) as (fig, ax):
        plots.neighbour_graph(ax, adjacency, ("a", "b"), largest=3)
        fig.canvas.draw()
        boxes = [text.get_window_extent() for text in ax.texts]
    assert len(ax.lines) == edges
    assert len(boxes) == 1 + 2 + 3 + 4
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_a_useful_list_has_three_kinds_of_bars() -> None:
    scores = np.array([90.0, 60, 50, 45, 20, 5])
    with plots.figure(6, 4, nrows=2, sharex=True) as (fig, (up, down)):
        plots.on_the_list(up, [1, 0.9, 0.6, 0.4, 0.1, 0], [1, 0.9, 0.6, 0.4, 0.1, 0])
        plots.ranked(down, "abcdef", scores, k=3, slack=8)
        fig.canvas.draw()
    colours = [patch.get_facecolor()[:3] for patch in down.patches[1:]]  # the first is the band
    assert len({colours[0], colours[1]}) == 1  # 90 and 60 must be listed
    assert len({colours[2], colours[3]}) == 1  # 50 and 45 may be
    assert len({colours[4], colours[5]}) == 1  # 20 and 5 must not
    assert len(set(colours)) == 3


def test_a_triangle_stands_where_only_one_answer_is_possible() -> None:
    sampler = TextbookLaplace(bits=52)
    zero, one = (sampler.comb(centre, 1.25, steps=20) for centre in (0.0, 1.0))
    with plots.figure(6, 2) as (_, ax):
        plots.teeth(ax, 1.25, {"0": zero, "1": one}, steps=20)
    marked = [len(line.get_xdata()) for line in ax.lines]
    assert marked == [np.setdiff1d(zero, one).size, np.setdiff1d(one, zero).size]


def test_every_published_count_and_its_band_is_inside() -> None:
    with plots.figure(6, 3) as (_, ax):
        plots.noisy_counts(ax, range(3), [100, 10, 0], [95.0, 30.0, -20.0], within=25.0)
    low, high = ax.get_ylim()
    assert low < -45 < 120 < high


def test_played_errors_are_rings_beside_the_exact_lines() -> None:
    n = np.geomspace(10, 1000, 5)
    with plots.figure(6, 3) as (_, ax):
        plots.two_errors(ax, n, 1 / np.sqrt(n), {1.0: 1 / n, 0.1: 10 / n}, {1.0: [(100, 0.01)]})
    assert len(ax.lines) == 4
    assert ax.get_legend() is not None
