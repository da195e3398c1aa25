"""Unit 4: the exact price of peeking, the late filter's overdraft, and the pictures of composition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

import dpcourse as dp
from dpcourse import plots
from dpcourse.interactive import CheckAfterFilter, ever_above, fixed_time_levels
from dpcourse.plots.sheet import sheet

MENU = {name: dp.Challenge(dp.RandomizedResponse.with_odds(n), 0, 1) for name, n in (("A", 2), ("B", 3))}
RATIO = Fraction(3, 2)


def walks(epsilon: float, rounds: int) -> list[tuple[Any, float]]:
    """Every path of the loss under bit 0, and its probability."""
    heads = 1 / (1 + math.exp(-epsilon))
    found = []
    for signs in itertools.product((1, -1), repeat=rounds):
        ups = signs.count(1)
        found.append((epsilon * np.cumsum(signs), heads**ups * (1 - heads) ** (rounds - ups)))
    return found


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("delta", [0.01, 0.2, 0.5])
def test_peeking_is_what_all_paths_say(epsilon: float, delta: float) -> None:
    levels = fixed_time_levels(epsilon, 9, delta)
    paths = walks(epsilon, 9)
    for t, level in enumerate(levels):
        assert sum(p for path, p in paths if path[t] > level + 1e-9) <= delta + 1e-12
        lower = sum(p for path, p in paths if path[t] > level - epsilon)  # one step lower is too low
        assert lower > delta
    assert ever_above(epsilon, levels) == pytest.approx(
        sum(p for path, p in paths if (path > levels + 1e-9).any()), abs=1e-12
    )


@pytest.mark.parametrize("around", [0.5, 2.0, 5.0])
def test_an_odometer_keeps_its_promise_for_all_times(around: float) -> None:
    one = dp.RandomizedResponse(0.1).guarantee
    readings = [dp.Odometer(0.01, around=around).reading([one] * t) for t in range(1, 301)]
    assert ever_above(0.1, readings) <= 0.01
    assert np.allclose(np.diff(readings), readings[1] - readings[0])


def test_the_late_filter_pays_what_a_search_finds() -> None:
    for budget, menu in ((3, (1, 2, 3)), (6, (3, 4)), (7, (3, 4)), (5, (7,))):
        rule, best = CheckAfterFilter(float(budget)), 0
        for asked in itertools.product(menu, repeat=7):
            charges: list[Any] = []
            for price in asked:
                charges += [] if rule.refuses(charges, dp.PureDP(price)) else [dp.PureDP(price)]
            best = max(best, round(sum(c.epsilon() for c in charges)))
        assert rule.most(menu) == best


def boxes(fig: Figure) -> list[tuple[str, Any]]:
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    texts = [a for a in fig.get_children() if isinstance(a, Text) and a.get_text()]
    return [(t.get_text(), Text.get_window_extent(t, canvas.get_renderer())) for t in texts]


def inside_and_apart(fig: Figure) -> None:
    found = boxes(fig)
    assert not [(a, b) for i, (a, x) in enumerate(found) for b, y in found[:i] if x.overlaps(y)]
    for words, box in found:
        assert box.x0 >= 0, words
        assert box.y0 >= 0, words
        assert box.x1 <= fig.bbox.x1, words
        assert box.y1 <= fig.bbox.y1, words


def test_the_tree_of_the_best_policy_adds_up_to_89_of_216() -> None:
    budget = dp.PureFilter(math.log(8), adjacency=dp.REPLACE_ONE)
    best = dp.optimal_adversary(MENU, rounds=3, filter=budget, ratio=RATIO)
    only_b = dp.optimal_adversary({"B": MENU["B"]}, rounds=1, filter=budget, ratio=RATIO)
    assert plots.policy_tree(sheet(9, 3)[1], best.tree(), RATIO, "") == best.delta == Fraction(89, 216)
    fig = plots.two_policies(best.tree(), only_b.tree(), RATIO)
    said = " ".join(words for words, _ in boxes(fig))
    assert "89/216" in said
    assert "81/216" in said
    inside_and_apart(fig)


def test_the_diagrams_have_room_for_their_words() -> None:
    asked = [("count", 0.1, True), ("mean", 0.3, True), ("histogram", 0.5, True), ("median", 0.2, False)]
    inside_and_apart(plots.filter_at_work(asked, budget=1.0))
    lines = ["heavy = table.where(", "    col('visits') >= 10)", "heavy.noisy_count(1.00)  # refused"]
    inside_and_apart(plots.table_scenario(lines, [("health study", 1.0, 0.11), ("another table", 0.5, 0.0)]))


def test_every_disc_of_the_ladder_is_a_value_of_the_loss() -> None:
    coin = dp.Challenge(dp.RandomizedResponse(0.5), 0, 1)
    losses = [dp.Game(rounds=k).exact(dp.adversaries.Fixed([coin] * k)).loss for k in (1, 2, 3)]
    with plots.figure() as (_, ax):
        plots.loss_ladder(ax, losses, 0.5)
        sizes = [c.get_sizes() for c in ax.collections]
    assert [len(s) for s in sizes] == [2, 3, 4]
    assert all(s.sum() == pytest.approx(900) for s in sizes)
