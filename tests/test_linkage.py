"""Linkage on quasi-identifiers, k-anonymity and the homogeneity attack."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import BadInput
from dpcourse.attacks import (
    anonymity,
    bands,
    class_sizes,
    expected_uniqueness,
    generalise,
    hide,
    homogeneity,
    link,
    prefix,
    uniqueness,
)

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 2)), min_size=1, max_size=30
)
KEYS = ["zip", "sex"]


def table(rows: list[tuple[int, str, int]]) -> np.ndarray:
    return np.array(rows, dtype=[("zip", int), ("sex", "U1"), ("ill", int)])


def population(rng: np.random.Generator, n: int) -> np.ndarray:
    """People with a zip code, a birthday and a sex, as in the story of the governor's records."""
    people = np.zeros(n, dtype=[("zip", "U5"), ("born", int), ("sex", "U1"), ("ill", bool)])
    people["zip"] = rng.integers(2100, 2150, n).astype(str)
    people["born"] = rng.integers(0, 365 * 80, n)
    people["sex"] = rng.choice(["F", "M"], n)
    people["ill"] = rng.random(n) < 0.2
    return people


@given(ROWS)
def test_class_sizes_count_equal_rows(rows) -> None:
    counts = Counter(row[:2] for row in rows)
    assert class_sizes(table(rows), KEYS).tolist() == [counts[row[:2]] for row in rows]
    assert anonymity(table(rows), KEYS) == min(counts.values())


@given(ROWS, ROWS)
def test_linkage_finds_every_pair_that_is_unique_on_both_sides_and_no_other(public, released) -> None:
    here, there = (Counter(row[:2] for row in rows) for rows in (public, released))
    found = link(table(public), table(released), KEYS)
    assert found.matches.tolist() == [there[row[:2]] for row in public]
    expected = [
        [i, j]
        for i, a in enumerate(public)
        for j, b in enumerate(released)
        if a[:2] == b[:2] and here[a[:2]] == 1 == there[b[:2]]
    ]
    assert found.pairs.tolist() == expected
    assert found.histogram.sum() == len(public)


@given(ROWS)
def test_more_columns_never_make_people_less_unique(rows) -> None:
    fractions = uniqueness(table(rows), ["zip", "sex", "ill"])
    assert (np.diff(fractions) >= 0).all()
    assert fractions[-1] == np.mean(class_sizes(table(rows), ["zip", "sex", "ill"]) == 1)


def test_most_people_are_named_by_zip_birthday_and_sex(rng: np.random.Generator) -> None:
    people = population(rng, 20_000)
    order = rng.permutation(len(people))
    found = link(people, people[order], ["zip", "born", "sex"])
    expected = expected_uniqueness(np.full(50 * 365 * 80 * 2, 1 / (50 * 365 * 80 * 2)), 20_000)
    assert expected == pytest.approx(0.9932, abs=1e-4)
    # about 137 of 20 000 people have a twin, in pairs: standard deviation below .001
    assert len(found.pairs) / 20_000 == pytest.approx(expected, abs=0.005)
    assert found.correct(order) == 1  # everybody is in both tables
    with pytest.raises(BadInput, match="link on more columns"):
        link(people, people[order], ["sex"]).correct(order)


def test_a_missing_person_can_be_mistaken_for_a_twin() -> None:
    voters = {"zip": [1, 2]}
    patients = {"zip": [1, 2]}  # the first is not the first voter, but a twin who does not vote
    assert link(voters, patients, ["zip"]).correct([-1, 1]) == 0.5


def test_expected_uniqueness_is_the_mean_of_the_simulation(rng: np.random.Generator) -> None:
    p = np.arange(1, 21) / 210
    draws = rng.choice(20, (20_000, 10), p=p)
    counts = (draws[:, :, None] == draws[:, None, :]).sum(-1)
    assert np.mean(counts == 1) == pytest.approx(expected_uniqueness(p, 10), abs=0.005)  # 4 standard errors


@given(ROWS)
def test_homogeneity_is_what_a_class_says_about_its_members(rows) -> None:
    found = homogeneity(table(rows), KEYS, "ill")
    for i, row in enumerate(rows):
        secrets = [other[2] for other in rows if other[:2] == row[:2]]
        assert found.sizes[i] == len(secrets)
        assert found.distinct[i] == len(set(secrets))
        assert found.shares[i] == pytest.approx(secrets.count(row[2]) / len(secrets))
        assert found.exposed[i] == (len(set(secrets)) == 1)
    assert (found.k, found.diversity) == (found.sizes.min(), found.distinct.min())


def test_a_table_that_is_10_anonymous_still_tells_secrets(rng: np.random.Generator) -> None:
    people = population(rng, 5_000)
    released = generalise(people, {"zip": prefix(3), "born": bands(365 * 5), "sex": hide})
    assert anonymity(released, ["zip", "born", "sex"]) >= 10 > anonymity(people, ["zip", "born", "sex"])
    released["ill"][released["born"] == 0] = True  # an illness of the oldest
    found = homogeneity(released, ["zip", "born", "sex"], "ill")
    assert found.k >= 10
    assert found.diversity == 1
    assert (found.exposed == (released["born"] == 0)).all()


@given(ROWS, st.integers(1, 5))
def test_generalising_never_lowers_k(rows, width: int) -> None:
    coarse = generalise(table(rows), {"zip": bands(width), "sex": hide})
    assert anonymity(coarse, KEYS) >= anonymity(table(rows), KEYS)
    assert (coarse["zip"] <= table(rows)["zip"]).all()
    assert (coarse["zip"] > table(rows)["zip"] - width).all()
    assert coarse["ill"].tolist() == table(rows)["ill"].tolist()


def test_dicts_and_structured_arrays_are_the_same_table() -> None:
    rows = [(1, "a", 0), (1, "a", 1), (2, "b", 1)]
    columns = {name: table(rows)[name] for name in ("zip", "sex", "ill")}
    assert class_sizes(columns, KEYS).tolist() == class_sizes(table(rows), KEYS).tolist() == [2, 2, 1]


def test_many_wide_columns_do_not_overflow(rng: np.random.Generator) -> None:
    wide = {str(i): rng.integers(0, 2**62, 1000).repeat(2) for i in range(8)}
    assert (class_sizes(wide, list(wide)) == 2).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: class_sizes({"a": [1]}, ["b"]), "a list of columns of table (a)"),
        (lambda: class_sizes({"a": [1]}, "a"), "a list of columns"),
        (lambda: class_sizes({"a": [1]}, []), "name at least one"),
        (lambda: class_sizes(np.zeros(3), ["a"]), "a structured array or a dict of columns"),
        (lambda: class_sizes({"a": [1], "b": [1, 2]}, ["a"]), "of columns of one length"),
        (lambda: link({"a": [1]}, {"b": [1]}, ["a"]), "a list of columns of released (b)"),
        (lambda: generalise({"a": [1]}, {"b": hide}), "for columns of the table (a)"),
        (lambda: bands(0), "width = 0"),
        (lambda: generalise({"a": ["x"]}, {"a": bands(3)}), "column = ['x']"),
        (lambda: anonymity({"a": []}, ["a"]), "a table with at least one row"),
        (lambda: prefix(0), "length = 0"),
        (lambda: expected_uniqueness([0.5, 0.6], 3), "nonnegative with sum 1"),
    ],
)
def test_bad_input_is_explained(call, message: str) -> None:
    with pytest.raises(BadInput, match="Fix:") as caught:
        call()
    assert message in str(caught.value)
