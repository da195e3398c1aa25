"""Tables of private counts: their error, their privacy, and the least error that there is."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpcourse import BadInput
from dpcourse.algorithms.best_count import largest_ratio, least_error, worst_error


def clipped(n: int, ratio: Fraction) -> list[list[Fraction]]:
    """Geometric noise with e^epsilon = ratio, clipped to 0, ..., n."""
    a = 1 / ratio
    table = [[(1 - a) / (1 + a) * a ** abs(i - j) for j in range(n + 1)] for i in range(n + 1)]
    for i, row in enumerate(table):
        row[0], row[n] = a**i / (1 + a), a ** (n - i) / (1 + a)
    return table


@pytest.mark.parametrize("n", [2, 5, 8])
@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(3)])
def test_clipped_noise_keeps_the_promise_and_is_near_the_least_error(n: int, ratio: Fraction) -> None:
    table = clipped(n, ratio)
    assert largest_ratio(table) == ratio
    assert least_error(n, ratio) <= worst_error(table) < 1.25 * least_error(n, ratio)


@pytest.mark.parametrize("ratio", [1.25, 2.0, 5.0])
def test_for_two_counts_randomized_response_is_best(ratio: float) -> None:
    assert least_error(1, ratio) == pytest.approx(1 / (1 + ratio), rel=1e-7)


def test_without_privacy_loss_half_of_the_range_is_the_best() -> None:
    assert least_error(4, 1) == pytest.approx(2, rel=1e-7)


def test_an_impossible_output_costs_everything() -> None:
    assert largest_ratio([[1, 0], [0, 1]]) == math.inf


@pytest.mark.parametrize("table", [[], [[1, 0]], [[0.5, 0.4], [0.5, 0.5]], [[2, -1], [0, 1]], [1, 2]])
def test_what_is_no_table_of_laws_is_refused(table: object) -> None:
    with pytest.raises(BadInput, match="square table whose rows are laws"):
        worst_error(table)  # type: ignore[arg-type]


def test_a_ratio_below_one_is_refused() -> None:
    with pytest.raises(BadInput, match=r"ratio = 0\.5 breaks a rule"):
        least_error(3, 0.5)
    with pytest.raises(BadInput, match="ratio = inf breaks a rule"):
        least_error(3, math.inf)
