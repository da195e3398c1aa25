"""Sample and aggregate: blocks that one row cannot disturb, and exact laws."""

from __future__ import annotations

import statistics
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import contract
from dpcourse.algorithms.aggregate import SampleAndAggregate, sample_and_aggregate, split
from dpcourse.contract import Case
from dpcourse.errors import BadInput
from dpcourse.guarantees import PureDP
from dpcourse.laws import Laplace, Product
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import Custom
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency

ROWS = st.lists(st.integers(0, 4), max_size=12)
BOTH = pytest.mark.parametrize("adjacency", [ADD_REMOVE, REPLACE_ONE], ids=repr)


@given(ROWS, st.integers(0, 4), st.integers(0, 12), st.integers(1, 5), st.randoms())
def test_one_row_changes_one_block(data: list[int], row: int, place: int, blocks: int, random: Any) -> None:
    longer = [*data[:place], row, *data[place:]]
    before = split(data, blocks)
    assert sorted(r for block in before for r in block) == sorted(data)
    assert sum(a != b for a, b in zip(before, split(longer, blocks), strict=True)) == 1
    random.shuffle(data)
    assert split(data, blocks) == before  # the order of the rows does not matter


def test_equal_rows_spread_over_the_blocks_and_equal_numbers_are_one_row() -> None:
    assert min(len(block) for block in split([7] * 1000, 10)) > 60
    assert split([1, 1], 5) == split([1.0, True], 5)
    assert split([("a", 1)], 5) == split([("a", 1.0)], 5)


@BOTH
@given(data=ROWS, blocks=st.integers(1, 4), row=st.integers(0, 4))
def test_no_neighbours_exceed_epsilon(adjacency: Adjacency, data: list[int], blocks: int, row: int) -> None:
    """For a program that does its worst: the largest answer on even sums, else the smallest."""
    mechanism = sample_and_aggregate(lambda b: 9e9 * (-1) ** sum(b), blocks, (0, 3), 0.7, adjacency=adjacency)
    for other in adjacency.enumerate(data, domain=range(5)):
        assert mechanism.loss(data, other).max_divergence() <= 0.7 * (1 + 1e-12)


@BOTH
def test_the_noise_is_as_small_as_it_can_be(adjacency: Adjacency) -> None:
    mechanism = sample_and_aggregate(lambda b: -1 if 0 in b else 9, 2, (0, 1), 1.0, adjacency=adjacency)
    data = (1, 2, 3, 4)
    worst = max(
        mechanism.loss(x, y).max_divergence()
        for x in (data, (0, *data[1:]))
        for y in adjacency.enumerate(x, domain=range(9))
    )
    # One block of two: the whole sensitivity under add/remove; a swap reaches two blocks only if it
    # takes a 0 out of one and puts the only 0 into the other, which one row cannot do.
    assert worst == pytest.approx(1.0 if adjacency is ADD_REMOVE else 0.5)


def test_a_swapped_row_can_move_two_blocks() -> None:
    """A program that gives 1 for an even number of rows: both blocks change the same way."""
    mechanism = sample_and_aggregate(lambda b: len(b) % 2, 2, (0, 1), 1.0, adjacency=REPLACE_ONE)
    pairs = REPLACE_ONE.pairs(range(8), 2)
    assert max(mechanism.loss(x, y).max_divergence() for x, y in pairs) == pytest.approx(1.0)


def test_the_law_is_the_clipped_average_plus_noise() -> None:
    data = tuple(range(40))
    mechanism = sample_and_aggregate(statistics.mean, 4, (10, 25), 0.5)
    answers = [min(max(statistics.mean(block), 10), 25) for block in split(data, 4)]
    assert mechanism.law(data) == Laplace(statistics.mean(answers), 15 / (4 * 0.5))
    assert mechanism.guarantee == PureDP(0.5)


def test_vectors_share_epsilon() -> None:
    mechanism = sample_and_aggregate(lambda b: (np.mean(b), np.max(b)), 5, ((0, 0), (10, 20)), 1.0)
    data = tuple(range(10)) * 3
    law = mechanism.law(data)
    assert isinstance(law, Product)
    assert np.allclose(law.variance(), 2 * np.square([2 * 10 / 5, 2 * 20 / 5]))
    loss = PrivacyLoss.between(law, mechanism.law((*data, 10)))
    assert loss.max_divergence() <= 1


def test_equal_rows_that_are_written_differently_are_one_kind() -> None:
    """Copies are numbered as one kind, so they must be placed as one: else a row in front moves them all."""
    mixed = [(0.0, -0.0), (1, 1.0, True, Fraction(1), Decimal(1)), (10**400, 10**400)]
    mixed += [(frozenset((0, 8)), frozenset((8, 0))), (("a", -0.0), ("a", 0))]
    for kinds in mixed:
        assert len(set(kinds)) == 1
        data = [kind for _ in range(10) for kind in kinds]
        before, after = split(data, 40), split([kinds[0], *data], 40)
        assert sum(b != a for b, a in zip(before, after, strict=True)) == 1


def test_a_program_that_leaves_counts_as_the_middle() -> None:
    assert sample_and_aggregate(lambda _: sys.exit(), 2, (0, 8), 1.0).answers((1, 2)).tolist() == [4, 4]


def test_a_program_that_fails_counts_as_the_middle() -> None:
    def moody(block: Any) -> Any:
        return {0: None, 1: float("nan"), 2: [1, 2]}[len(block)] if len(block) < 3 else 1 / 0

    for size in range(6):
        mechanism = sample_and_aggregate(moody, 1, (0, 8), 1.0)
        assert mechanism.answers((3,) * size).tolist() == [4]
        assert mechanism.note == (
            "answers of the program outside [0, 8] count as the nearer end; "
            "a block on which it fails counts as the middle"
        )


def test_it_passes_the_contract_and_blocks_by_position_do_not(rng: np.random.Generator) -> None:
    pairs = ADD_REMOVE.pairs((0, 1, 5), 3)
    sound = sample_and_aggregate(max, 3, (0, 5), 1.0)
    assert contract.faults(Case("sample and aggregate", sound, pairs, draws=4000), rng) == []

    def by_position(data: Any) -> Laplace:
        """The first row of each third: a row in front moves the others across the cuts."""
        answers = [float(block[0]) for block in np.array_split(np.array(data), 3)]
        return Laplace(float(np.mean(answers)), 5 / 3)

    pair = ((0, 0, 5, 0, 0, 0, 0), (5, 0, 0, 5, 0, 0, 0, 0))
    broken = Case("blocks by position", Custom(by_position, PureDP(1.0)), (pair,))
    assert any("uses 2 times" in fault.detail for fault in contract.faults(broken, rng))


def test_the_answer_is_near_the_truth(rng: np.random.Generator) -> None:
    data = tuple(rng.normal(50, 10, 5000).tolist())
    mechanism = SampleAndAggregate(1.0, statistics.median, 50, (0, 100))
    assert abs(mechanism.law(data).mean() - statistics.median(data)) < 1
    assert mechanism.scale == 2


def test_bad_input_is_refused() -> None:
    calls: dict[str, Any] = {
        r"epsilon = -1 .* above 0": lambda: sample_and_aggregate(max, 3, (0, 1), -1),
        r"blocks = 0 .* at least 1": lambda: sample_and_aggregate(max, 0, (0, 1), 1),
        r"bounds = None .* public pair": lambda: sample_and_aggregate(max, 3, None, 1),  # type: ignore[arg-type]
        r"bounds = \(1, 1\) .* lower < upper": lambda: sample_and_aggregate(max, 3, (1, 1), 1),
        r"bounds = 5 .* public pair": lambda: sample_and_aggregate(max, 3, 5, 1),  # type: ignore[arg-type]
        r"bounds = 'ab' .* public pair": lambda: sample_and_aggregate(max, 3, "ab", 1),  # type: ignore[arg-type]
        r"bounds = \(\[0, 0\], .* public pair": lambda: sample_and_aggregate(max, 3, ([0, 0], [1, 1, 1]), 1),
        r"bounds = \(0, 1e\+308\) .* finite": lambda: sample_and_aggregate(max, 3, (0, 1e308), 1),
        r"program = None .* function": lambda: sample_and_aggregate(None, 3, (0, 1), 1),  # type: ignore[arg-type]
        r"bounds = \(0, inf\) .* finite": lambda: sample_and_aggregate(max, 3, (0, float("inf")), 1),
        r"data = 5 .* sequence of rows": lambda: sample_and_aggregate(max, 3, (0, 1), 1).law(5),  # type: ignore[arg-type]
    }
    for message, call in calls.items():
        with pytest.raises(BadInput, match=message):
            call()
