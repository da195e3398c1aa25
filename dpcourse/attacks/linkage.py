"""Linkage: columns that are harmless alone name a person together (Sweeney 1997, 2000).

A table is a numpy structured array or a dict of columns. Rows with equal quasi-identifiers form a class; a
class of one is a fingerprint, and whoever has a named table with the same columns can read off the name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcourse.errors import Floats, numeric, reject, whole

Ints = NDArray[np.int64]
Table = Mapping[str, Any] | NDArray[Any]


def columns(name: str, table: Table) -> dict[str, NDArray[Any]]:
    """The columns of a structured array or of a dict, all of one length."""
    names = table.dtype.names if isinstance(table, np.ndarray) else tuple(table)
    if not names:
        reject(name, table, "a structured array or a dict of columns", "give the columns by name.")
    found = {key: np.asarray(table[key]) for key in names}
    if len({column.shape for column in found.values()}) > 1 or next(iter(found.values())).ndim != 1:
        reject(name, {k: c.shape for k, c in found.items()}, "of columns of one length", "check the columns.")
    if not len(next(iter(found.values()))):
        reject(name, "no rows", "a table with at least one row", "check where the rows were lost.")
    return found


def labels(parts: Sequence[NDArray[Any]]) -> Ints:
    """A number for each row, the same for rows that agree in all columns: 0, 1, 2, ... in sorted order."""
    code = np.zeros(len(parts[0]), dtype=np.int64)
    for column in parts:
        values, rank = np.unique(column, return_inverse=True)
        code = np.unique(code * len(values) + rank, return_inverse=True)[1].astype(np.int64)
    return code


def pick(name: str, table: Table, on: Sequence[str]) -> list[NDArray[Any]]:
    """The quasi-identifiers of a table, in order."""
    found = columns(name, table)
    if isinstance(on, str) or not on or any(key not in found for key in on):
        reject("on", on, f"a list of columns of {name} ({', '.join(found)})", "name at least one of them.")
    return [found[key] for key in on]


def class_sizes(table: Table, on: Sequence[str]) -> Ints:
    """For each row, how many rows share its quasi-identifier (itself among them).

    >>> class_sizes({"zip": [1, 1, 2], "age": [30, 30, 30]}, ["zip", "age"])
    array([2, 2, 1])
    """
    code = labels(pick("table", table, on))
    return np.bincount(code)[code]


def uniqueness(table: Table, on: Sequence[str]) -> Floats:
    """The fraction of rows that are unique by the first 1, 2, 3, ... of the columns.

    >>> uniqueness({"zip": [1, 1, 2, 2], "age": [30, 40, 50, 50]}, ["zip", "age"])
    array([0. , 0.5])
    """
    parts = pick("table", table, on)
    codes = [labels(parts[: i + 1]) for i in range(len(parts))]
    return np.array([np.mean(np.bincount(code)[code] == 1) for code in codes])


def expected_uniqueness(probabilities: ArrayLike, people: int) -> float:
    """The expected fraction of unique people if each draws a fingerprint independently.

    A person with fingerprint i is unique with probability (1 - p_i)^(n-1).

    >>> round(expected_uniqueness(np.full(365, 1 / 365), 23), 4)
    0.9414
    """
    p = numeric("probabilities", probabilities)
    if (p < 0).any() or abs(p.sum() - 1) > 1e-9:
        reject("probabilities", probabilities, "nonnegative with sum 1", "divide by the sum.")
    return float(p @ (1 - p) ** (whole("people", people) - 1))


@dataclass(frozen=True)
class Linkage:
    """What the release tells about the people of the public table."""

    matches: Ints
    """For each public row, how many released rows have its quasi-identifier."""
    pairs: Ints
    """(public row, released row) where the quasi-identifier is unique in both tables: the re-identified."""

    @property
    def histogram(self) -> Ints:
        """Entry k: how many people of the public table have k candidates in the release."""
        return np.bincount(self.matches)

    def correct(self, owners: ArrayLike) -> float:
        """The fraction of re-identifications that are right; owners[j] is the public row of released row j.

        One can be wrong only if the person is missing from one of the tables: then a twin may stand there.
        """
        if not len(self.pairs):
            reject("pairs", 0, "at least one re-identified person", "link on more columns.")
        return float(np.mean(np.asarray(owners)[self.pairs[:, 1]] == self.pairs[:, 0]))


def link(public: Table, released: Table, on: Sequence[str]) -> Linkage:
    """Joins a named public table with a release that has no names, on the columns that both have.

    >>> voters = {"name": ["Ann", "Bob", "Cid"], "zip": [1, 1, 2], "sex": ["F", "M", "M"]}
    >>> patients = {"zip": [2, 1, 1], "sex": ["M", "F", "F"], "illness": ["flu", "none", "asthma"]}
    >>> link(voters, patients, ["zip", "sex"]).pairs.tolist()  # Cid has the flu
    [[2, 0]]
    """
    named, secret = pick("public", public, on), pick("released", released, on)
    people = len(named[0])
    code = labels([np.concatenate(both) for both in zip(named, secret, strict=True)])
    here, there = code[:people], code[people:]
    in_public, in_release = (np.bincount(part, minlength=code.max() + 1) for part in (here, there))
    single = (in_public == 1) & (in_release == 1)
    rows = np.flatnonzero(single[here])
    row_of = np.zeros(len(single), dtype=np.int64)
    row_of[there] = np.arange(len(there))
    return Linkage(in_release[here], np.stack([rows, row_of[here[rows]]], axis=1))
