"""Two examples: the most visited web site, and the most popular names for babies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.errors import Floats, reject
from dpcourse.guarantees import PureDP
from dpcourse.mechanisms import BinCounts, Custom, ExponentialMechanism, TopK
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency


@dataclass(frozen=True)
class Visitors:
    """How many people visited each site; a row is the set of sites that one person visited.

    Sites that are not on the public list are not counted: to say so for a row would be an answer about it.
    """

    sites: tuple[str, ...]

    def __call__(self, people: Iterable[frozenset[str]]) -> Floats:
        """One count per site: a person moves each of them by at most 1."""
        places = {site: i for i, site in enumerate(self.sites)}
        people = tuple(people)
        if any(isinstance(person, str) for person in people):
            fix = 'write each person as a set of sites: frozenset({"a.example"}).'
            reject("people", people, "sets of sites, not texts", fix)
        seen = [places[site] for person in people for site in person if site in places]
        return np.bincount(np.array(seen, dtype=int), minlength=len(self.sites)).astype(float)


def most_visited(
    epsilon: float, sites: Sequence[str], adjacency: Adjacency = ADD_REMOVE
) -> ExponentialMechanism:
    """The site that most people visited, by the exponential mechanism over a public list of sites.

    One person may have been to all sites; the price does not depend on it. Adding a person moves all
    counts up, so e^{epsilon count} is enough there; a replaced person moves counts both ways, and
    e^{epsilon count/2} is needed.

    >>> people = 30 * [frozenset({"a.example", "b.example"})] + 10 * [frozenset({"b.example"})]
    >>> most_visited(0.5, ("a.example", "b.example")).law(people)
    Finite('a.example': 0.00669285, 'b.example': 0.993307)
    """
    names = tuple(sites)
    monotone = adjacency is ADD_REMOVE
    return ExponentialMechanism(epsilon, names, score=Visitors(names), monotone=monotone, adjacency=adjacency)


def most_visited_unhalved(epsilon: float, sites: Sequence[str]) -> Custom:
    """The same with e^{epsilon count} where people are replaced: unsound, up to 2 epsilon.

    >>> before, after = 10 * (frozenset("b"),), (frozenset("a"),) + 9 * (frozenset("b"),)
    >>> round(most_visited_unhalved(1.0, ("a", "b")).loss(after, before).max_divergence(), 4)
    1.9997
    """
    return Custom(most_visited(epsilon, sites).law, PureDP(epsilon, adjacency=REPLACE_ONE))


def popular_names(
    epsilon: float, names: Sequence[Hashable], k: int, adjacency: Adjacency = ADD_REMOVE
) -> TopK:
    """The k most popular names from a public list, best first; a row is one baby's name.

    A list of the names that occur would already tell who is there: a rare name is a person. So the list is
    made without the data, and names that are not on it are not counted.

    >>> babies = 30 * ("Ada",) + 20 * ("Bo",) + 3 * ("Cy",)
    >>> round(float(popular_names(2.0, ("Ada", "Bo", "Cy"), k=2).law(babies).prob(("Ada", "Bo"))), 5)
    0.99995
    """
    return TopK(
        epsilon,
        tuple(names),
        k=k,
        score=_Counts(tuple(names)),
        monotone=adjacency is ADD_REMOVE,
        adjacency=adjacency,
    )


@dataclass(frozen=True)
class _Counts(BinCounts):
    """Counts of names, also from an array of them."""

    def __call__(self, data: Any) -> Any:
        return super().__call__(data.tolist() if isinstance(data, np.ndarray) else data)
