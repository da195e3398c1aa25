"""compare(): which bounds apply, that none is below the exact answer, and how the table reads."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcourse as dp
from dpcourse import BadInput
from dpcourse.accounting import BOUNDS, Comparison, Row, Workload, compare, compare_over_k
from dpcourse.accounting.comparison import shown
from dpcourse.guarantees import randomized_response_loss
from dpcourse.loss import LaplaceLoss

PURE = {"basic", "classic", "square", "half-square", "tanh", "kov-simple", "optimal"}
PURE |= {"zcdp", "rdp", "moments", "gdp"}
DP_SGD = dp.Subsampled(dp.GaussianMechanism(1.0), 0.01)


def keys(table: Comparison) -> set[str]:
    return {row.key for row in table.rows}


def check(table: Comparison) -> None:
    """No promise is below the exact answer, and the best one is the exact answer itself."""
    assert table.exact is not None
    low, high = table.exact
    assert low <= high
    for row in table.rows:
        assert not row.valid or row.epsilon >= low * (1 - 1e-12), row
    assert table.best.epsilon <= high * (1 + 1e-12)


# Which bounds apply -----------------------------------------------------------------------------------


def test_pure_steps_get_every_theorem() -> None:
    table = compare(dp.LaplaceMechanism(0.1), delta=1e-6, k=100)
    check(table)
    assert keys(table) == PURE | {"clt", "exact"}
    assert table["exact"].epsilon == pytest.approx(4.692667414680, rel=1e-11)
    assert table["optimal"].epsilon == pytest.approx(4.774567588108, rel=1e-11)
    assert [row.epsilon for row in table.rows] == sorted(row.epsilon for row in table.rows)


def test_for_a_guarantee_the_optimal_theorem_is_exact() -> None:
    for item in (dp.PureDP(0.1), dp.RandomizedResponse(0.1), dp.ApproxDP(0.1, 1e-9)):
        table = compare((item, 100), 1e-6)
        check(table)
        assert table["optimal"].kind == "exact"
        assert table["optimal"].epsilon == pytest.approx(table["exact"].epsilon, rel=1e-11)
    assert compare(dp.PureDP(0.5), 0.0, k=4)["basic"].kind == "exact"  # without a delta nothing is better


def test_gaussian_steps_are_exact_in_gdp() -> None:
    table = compare(dp.GaussianMechanism(20.0), 1e-6, k=1000)
    check(table)
    assert keys(table) == PURE | {"exact"}
    assert table["gdp"].kind == "exact"
    assert table["gdp"].epsilon == pytest.approx(8.306225049955, rel=1e-11)
    assert table["gdp"].epsilon < table["rdp"].epsilon < table["zcdp"].epsilon < table["tanh"].epsilon / 8


def test_dp_sgd_has_its_own_rows_and_the_limit_is_too_low() -> None:
    table = compare(DP_SGD, 1e-6, k=1000)
    check(table)
    assert {"moments", "rdp", "clt", "basic", "optimal", "exact"} <= keys(table)
    assert table.exact is not None
    assert table.exact[0] <= 2.124515171120 <= table.exact[1] <= 2.1246  # the golden value
    assert table["clt"].epsilon < table["exact"].epsilon < table["rdp"].epsilon < table["moments"].epsilon
    assert not table["clt"].valid
    assert "approximation, too low" in str(table)


def test_a_moment_curve_alone_has_no_exact_answer() -> None:
    table = compare(dp.ZCDP(0.01), 1e-6, k=100)
    assert table.exact is None
    assert "exact" not in keys(table)
    assert table.best.key == "rdp"
    curve = compare(dp.RDP(lambda order: order / 50), 1e-6, k=50)
    assert keys(curve) >= {"basic", "rdp"}
    assert "zcdp" not in keys(curve)
    with pytest.raises(BadInput, match=r"key = exact breaks a rule|key = 'exact' breaks a rule"):
        curve["exact"]


def test_discrete_gaussian_steps() -> None:
    table = compare(dp.DiscreteGaussianMechanism(10.0), 1e-6, k=100)
    check(table)
    continuous = compare(dp.GaussianMechanism(10.0), 1e-6, k=100)
    # On a lattice of step h = .01 delta is a chord of the continuous curve: about h^2/8 above it.
    assert 0 < table["exact"].epsilon - continuous["exact"].epsilon < 1e-4
    assert table.exact[1] - table.exact[0] < 1e-9


def test_misprints_appear_only_when_asked_for_and_are_never_the_best() -> None:
    table = compare(dp.PureDP(0.1), 1e-6, k=100, misprints=True)
    assert {"missing two", "exponential of slack", "without mean"} <= keys(table)
    assert table["missing two"].epsilon < table["exact"].epsilon  # 4.7686 < 4.7746: it is false
    assert not table["missing two"].valid
    assert "misprint, too low" in str(table)
    assert table.best.valid
    assert not keys(compare(dp.PureDP(0.1), 1e-6, k=100)) & {"missing two", "without mean"}


# The exact answer is below every bound ----------------------------------------------------------------

items = st.one_of(
    st.floats(0.02, 1).map(dp.LaplaceMechanism),
    st.floats(0.02, 1).map(dp.PureDP),
    st.floats(1, 20).map(dp.GaussianMechanism),
    st.tuples(st.floats(0.02, 1), st.floats(0, 1e-9)).map(lambda pair: dp.ApproxDP(*pair)),
)


@settings(max_examples=40, deadline=None)
@given(items, st.integers(1, 200), st.floats(-9, -2))
def test_no_bound_is_below_the_exact_answer(item: Any, k: int, exponent: float) -> None:
    check(compare(item, 10.0**exponent, k))


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(0.02, 1), min_size=2, max_size=3), st.integers(1, 10), st.floats(-9, -2))
def test_no_bound_is_below_the_exact_answer_of_a_mixture(every: list[float], k: int, exponent: float) -> None:
    parts = [(dp.LaplaceMechanism(every[0]), 2), *(dp.PureDP(e) for e in every[1:])]
    check(compare(parts, 10.0**exponent, k))


def test_both_directions_of_a_lopsided_mechanism_count() -> None:
    lopsided = dp.TwoCoins(yes=Fraction(9, 10))
    table = compare(lopsided, 1e-3, k=20)
    check(table)
    ways = [(20 * loss).epsilon(1e-3) for loss in (lopsided.worst_case(), lopsided.worst_case().reversed())]
    assert ways[0] != pytest.approx(ways[1], rel=1e-3)
    assert table["exact"].epsilon == max(ways)


def test_lopsided_steps_may_point_different_ways_under_replace_one() -> None:
    pair = [dp.TwoCoins(yes=Fraction(9, 10)), dp.TwoCoins(yes=Fraction(2, 10))]
    table = compare([(m, 5) for m in pair], 1e-3)
    check(table)
    a, b = (m.worst_case() for m in pair)
    ways = [5 * x + 5 * y for x in (a, a.reversed()) for y in (b, b.reversed())]
    assert table["exact"].epsilon == max(way.epsilon(1e-3) for way in ways)
    assert len(Workload.of([DP_SGD, (dp.Subsampled(dp.GaussianMechanism(2.0), 0.1), 3)]).losses) == 2


# What a workload may be -------------------------------------------------------------------------------


def test_ways_to_say_the_same_workload() -> None:
    m = dp.LaplaceMechanism(0.1)
    same = [
        compare(m, 1e-6, k=6),
        compare((m, 6), 1e-6),
        compare([(m, 3)], 1e-6, k=2),
        compare([(m, 2), m, (m, 3)], 1e-6),
        compare(dp.Composed(m, m, dp.Composed(m)), 1e-6, k=2),
        compare(dp.PostProcessed(m, abs), 1e-6, k=6),
        compare(LaplaceLoss(0.1), 1e-6, k=6),
    ]
    for table in same:
        assert table.k == 6
        assert {r.key: round(r.epsilon, 9) for r in table.rows} == {
            r.key: round(r.epsilon, 9) for r in same[0].rows
        }
    loss = compare(randomized_response_loss(0.1), 1e-6, k=50)
    assert loss["exact"].epsilon == pytest.approx(
        compare(dp.PureDP(0.1), 1e-6, k=50)["exact"].epsilon, rel=1e-11
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare([], 1e-6), "workload = [] breaks a rule"),
        (lambda: compare("laplace", 1e-6), "pass a mechanism, (mechanism, count), or a list"),
        (lambda: compare([dp.PureDP(1), "x"], 1e-6), "made of mechanisms, guarantees and losses"),
        (lambda: compare((dp.PureDP(1), 2.5), 1e-6), "count = 2.5 breaks a rule"),
        (lambda: compare((dp.PureDP(1), 0), 1e-6), "count = 0 breaks a rule"),
        (lambda: compare(dp.PureDP(1), 1e-6, k=-1), "k = -1 breaks a rule"),
        (lambda: compare(dp.PureDP(1), 1.0), "delta = 1.0 breaks a rule"),
        (lambda: compare_over_k(dp.PureDP(1), [1, 2.0], 1e-6), "k = 2.0 breaks a rule"),
        (lambda: compare([dp.LaplaceMechanism(1), dp.RandomizedResponse(1)], 1e-6), "adjacency"),
    ],
)
def test_bad_workloads_are_explained(call: Any, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        call()
    assert message in str(caught.value)


def test_corner_cases() -> None:
    nothing = compare(dp.PureDP(0.0), 1e-6, k=3)
    assert nothing["exact"].epsilon == nothing["basic"].epsilon == 0
    spent = compare(dp.ApproxDP(0.1, 1e-6), 1e-6, k=5)  # the steps use up all of delta
    assert spent["tanh"].epsilon == spent["basic"].epsilon == math.inf
    assert "infinite" in str(spent)
    just = compare(dp.ApproxDP(0.1, 1e-6), 5e-6, k=5)
    assert just["basic"].epsilon == 0.5
    without = compare(dp.GaussianMechanism(1.0), 0.0)
    assert all(row.epsilon == math.inf for row in without.rows)


# How it reads --------------------------------------------------------------------------------------------


def test_the_text_is_an_aligned_table() -> None:
    table = compare(dp.PureDP(0.1), 1e-6, k=100)
    title, *lines = str(table).splitlines()
    assert title == "100 x PureDP(epsilon=0.1), delta = 1e-06"
    assert lines[0].split() == ["accountant", "epsilon", "x", "exact", "kind", "reference"]
    start = lines[0].index("kind")
    assert all(line[start - 1] == " " != line[start] for line in lines)
    assert repr(table) == str(table)
    assert any(line.startswith("basic") and " 10 " in line and " 2.094 " in line for line in lines)


def test_printed_epsilons_are_rounded_up() -> None:
    assert shown(1.0000001) == "1.00001"
    assert shown(1.0 + 1e-15) == "1"
    assert shown(0.0) == "0"
    assert shown(123456.01) == "123457"


class Tags(HTMLParser):
    """Counts tags and joins text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name == "style" and "color" in (value or "") for name, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_html_is_a_table_with_headers_in_the_colours_of_the_page() -> None:
    table = compare(dp.PureDP(0.1), 1e-6, k=100)
    page = Tags(table._repr_html_())
    assert page.tags.count("tr") == 1 + len(table.rows)
    assert page.tags.count("th") == 5 + len(table.rows)
    assert page.tags.count("td") == 4 * len(table.rows)
    assert "caption" in page.tags
    assert "100 x PureDP(epsilon=0.1)" in page.text


def test_results_are_frozen() -> None:
    table = compare(dp.PureDP(0.1), 1e-6)
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.rows[0].epsilon = 0  # type: ignore[misc]
    assert isinstance(table.rows[0], Row)
    assert set(keys(table)) <= set(BOUNDS)
    assert str(Workload.of(DP_SGD)) == "1 x Subsampled(rate=0.01, GaussianMechanism(sigma=1))"


def test_compare_over_k_is_one_comparison_for_each_k() -> None:
    tables = compare_over_k(dp.LaplaceMechanism(0.1), [1, 10, 100], 1e-6)
    assert [t.k for t in tables] == [1, 10, 100]
    exact = [t["exact"].epsilon for t in tables]
    assert exact == sorted(exact)
