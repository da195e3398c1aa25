"""neighbours: two metrics on multisets, checked against brute force on small domains."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcourse.errors import BadInput
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency, rows

untimed = settings(deadline=None)  # a busy machine is no failure
DOMAIN = ("a", "b", "c")
data = st.lists(st.sampled_from(DOMAIN), max_size=5).map(tuple)
adjacencies = st.sampled_from([ADD_REMOVE, REPLACE_ONE])
both = pytest.mark.parametrize("adjacency", [ADD_REMOVE, REPLACE_ONE], ids=repr)


def bag(x: Any) -> frozenset[Any]:
    """A multiset that can be compared and hashed."""
    return frozenset(Counter(x).items())


def every_bag(sizes: range) -> set[frozenset[Any]]:
    return {bag(x) for n in sizes for x in itertools.product(DOMAIN, repeat=n)}


def steps(adjacency: Adjacency, x: Any, y: Any) -> float:
    """The distance by its definition, on vectors of counts."""
    moves = [Counter(y)[row] - Counter(x)[row] for row in DOMAIN]
    if adjacency is ADD_REMOVE:
        return sum(map(abs, moves))
    return math.inf if sum(moves) else sum(m for m in moves if m > 0)


@untimed
@given(adjacencies, data)
def test_enumerate_is_all_multisets_at_distance_one(adjacency: Adjacency, x: Any) -> None:
    found = adjacency.enumerate(x, DOMAIN)
    bags = [bag(y) for y in found]
    near = {
        bag(y)
        for n in range(7)
        for y in itertools.combinations_with_replacement(DOMAIN, n)
        if steps(adjacency, x, y) == 1
    }
    assert len(set(bags)) == len(bags)
    assert set(bags) == near
    assert all(isinstance(y, tuple) and adjacency.are_neighbours(x, y) for y in found)
    assert found == adjacency.enumerate(list(x), list(DOMAIN))


@untimed
@given(adjacencies, data, data, data, st.randoms())
def test_distance_is_a_metric_on_multisets(adjacency: Adjacency, x: Any, y: Any, z: Any, random: Any) -> None:
    distance = adjacency.distance
    assert distance(x, y) == distance(y, x) == steps(adjacency, x, y)
    assert (distance(x, y) == 0) == (bag(x) == bag(y))
    assert distance(x, z) <= distance(x, y) + distance(y, z)
    assert distance(random.sample(x, len(x)), y) == distance(x, y)


@untimed
@given(data, data)
def test_a_replacement_is_a_removal_and_an_addition(x: Any, y: Any) -> None:
    if len(x) == len(y):
        assert ADD_REMOVE.distance(x, y) == 2 * REPLACE_ONE.distance(x, y)


@untimed
@given(adjacencies, data, data)
def test_chain_goes_from_neighbour_to_neighbour(adjacency: Adjacency, x: Any, y: Any) -> None:
    if math.isinf(adjacency.distance(x, y)):
        return
    path = adjacency.chain(x, y)
    assert path[0] == x
    assert bag(path[-1]) == bag(y)
    assert len(path) == adjacency.distance(x, y) + 1
    assert all(adjacency.distance(a, b) == 1 for a, b in itertools.pairwise(path))
    assert all(set(d) <= {*x, *y} for d in path)
    sizes = [len(d) for d in path]
    assert min(sizes) == min(len(x), len(y))  # never empty unless x or y is
    assert max(sizes) <= max(len(x), len(y), len(x) + (len(path) > 1 and len(x) == len(y)))


@both
@pytest.mark.parametrize("size", [1, 2, 3])
def test_pairs_are_all_ordered_pairs(adjacency: Adjacency, size: int) -> None:
    found = adjacency.pairs(DOMAIN, size)
    sizes = range(size - 1, size + 1) if adjacency is ADD_REMOVE else range(size, size + 1)
    legal = adjacency.datasets(DOMAIN, size, smallest=sizes[0])
    assert set(found) == {(x, y) for x in legal for y in legal if steps(adjacency, x, y) == 1}
    assert len(set(found)) == len(found)
    assert {(y, x) for x, y in found} == set(found)


@both
def test_datasets_are_all_multisets_once(adjacency: Adjacency) -> None:
    for size in range(4):
        found = adjacency.datasets(DOMAIN, size)
        assert {bag(x) for x in found} == every_bag(range(size, size + 1))
        assert len(found) == math.comb(size + 2, 2)
    up_to = adjacency.datasets(DOMAIN, 3, smallest=0)
    assert {bag(x) for x in up_to} == every_bag(range(4))
    assert up_to[0] == ()


def test_small_examples() -> None:
    assert ADD_REMOVE.enumerate((), (0, 1)) == ((0,), (1,))
    assert REPLACE_ONE.enumerate((), (0, 1)) == ()
    assert REPLACE_ONE.enumerate((0, 0), (0, 1)) == ((1, 0),)
    assert ADD_REMOVE.enumerate([0, 0], range(2)) == ((0,), (0, 0, 0), (0, 0, 1))
    assert ADD_REMOVE.chain((0,), (1,)) == ((0,), (0, 1), (1,))
    assert ADD_REMOVE.chain((0, 0, 1), (2,)) == ((0, 0, 1), (0, 1), (1,), (1, 2), (2,))
    assert ADD_REMOVE.chain((0, 1), (1, 0)) == ((0, 1),)
    assert ADD_REMOVE.chain((), (None, None)) == ((), (None,), (None, None))
    assert ADD_REMOVE.are_neighbours((0, 1), (1, 0))
    assert not ADD_REMOVE.are_neighbours((0,), (1,))
    assert REPLACE_ONE.are_neighbours((0,), (1,))
    assert REPLACE_ONE.distance((0,), (0, 0)) == math.inf
    assert ADD_REMOVE.enumerate((1,), (0, 1, 1, 0)) == ((), (1, 0), (1, 1))


def test_arrays_are_rows_of_plain_values() -> None:
    table = np.array([[1, 2], [3, 4]])
    assert ADD_REMOVE.distance(table, [(3, 4)]) == 1
    assert REPLACE_ONE.enumerate(np.array([0, 1]), np.array([0, 1])) == ((1, 1), (0, 0))
    assert type(rows("data", np.array([1.5]))[0]) is float


def test_names_and_equality() -> None:
    assert repr(ADD_REMOVE) == str(ADD_REMOVE) == ADD_REMOVE.name == "add/remove"
    assert repr(REPLACE_ONE) == "replace-one"
    assert ADD_REMOVE != REPLACE_ONE
    assert pickle.loads(pickle.dumps(ADD_REMOVE)) == ADD_REMOVE
    assert len({ADD_REMOVE, REPLACE_ONE, ADD_REMOVE}) == 2
    REPLACE_ONE.require_same(REPLACE_ONE)


A_SET: Any = {1, 2}  # it has forgotten how often a row occurs
BAD_ROWS: list[tuple[Callable[[], Any], str]] = [
    (lambda: ADD_REMOVE.enumerate((0,), ()), r"domain = \(\) .* at least one row.* list the legal"),
    (
        lambda: ADD_REMOVE.enumerate((7,), (0, 1)),
        r"row = 7 .* in the domain \(0, 1\)\. Fix: fix the",
    ),
    (lambda: ADD_REMOVE.distance((0, math.nan), ()), r"row = nan .* free of NaN"),
    (
        lambda: ADD_REMOVE.distance(np.array([[0, np.nan]]), ()),
        r"row = \(0.0, nan\) .* free of NaN",
    ),
    (lambda: ADD_REMOVE.distance([[1, 2]], ()), r"row = \[1, 2\] .* hashable.* write the row as a"),
    (
        lambda: ADD_REMOVE.distance(A_SET, ()),
        r"x = \{1, 2\} .* a sequence of rows: a tuple, a list",
    ),
    (lambda: ADD_REMOVE.distance((), "aab"), r"y = 'aab' .* write it as a tuple"),
    (lambda: ADD_REMOVE.distance(np.zeros((1, 1, 1)), ()), r"array of one or two dimensions"),
    (lambda: ADD_REMOVE.datasets(A_SET, 2), r"domain = \{1, 2\} .* a sequence of rows"),
    (lambda: ADD_REMOVE.datasets((0, 1), -1), r"size = -1 .* whole number of at least 0"),
    (lambda: ADD_REMOVE.datasets((0, 1), 1, smallest=-1), r"smallest = -1 breaks a rule"),
    (lambda: ADD_REMOVE.datasets(range(99), 9), r"size = 9 .* small enough for 1000000 datasets"),
    (lambda: REPLACE_ONE.pairs((0, 1), 0), r"size = 0 .* whole number of at least 1"),
    (
        lambda: REPLACE_ONE.chain((0,), (0, 1)),
        r"of the size of x, 1, under replace-one.* ADD_REMOVE",
    ),
    (
        lambda: ADD_REMOVE.require_same(REPLACE_ONE, "the first query"),
        r"adjacency = replace-one breaks a rule: it must be add/remove, as in the first query\. "
        r"Fix: state all parts for one adjacency",
    ),
    (
        lambda: REPLACE_ONE.require_same("replace-one"),
        r"adjacency = 'replace-one' .* replace-one, as",
    ),
]


@pytest.mark.parametrize(("act", "message"), BAD_ROWS)
def test_messages_name_the_value_the_rule_and_the_fix(act: Callable[[], Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        act()
