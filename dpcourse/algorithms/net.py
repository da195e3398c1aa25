"""The net mechanism: choose a small synthetic database that answers all queries well.

Blum, Ligett and Roth (STOC 2008). Rows are the numbers 0, ..., N-1 of a finite universe; a linear query
is a vector over it with entries in [0, 1], and its answer is the average entry over the rows of the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, positive, probability, reject, whole
from dpcourse.guarantees import Guarantee, PureDP
from dpcourse.laws import Finite
from dpcourse.mechanisms import ExponentialMechanism, Mechanism
from dpcourse.mechanisms.universe import histogram_of, linear_queries, row_numbers
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency, Dataset, Rows


@dataclass(frozen=True, eq=False)
class NetMechanism(Mechanism):
    """Pr[y] proportional to e^{-epsilon w(x, y)/2} over the databases y of a public net: epsilon-DP.

    w(x, y) = max over the queries of |sum of q over x - n q(y)|, on the scale of counts, where one row
    moves it by at most 1 under both adjacencies. The 2 is needed: moving x changes the weight of y and
    the sum of all weights. `n` is the public size that the answers are scaled by.

    >>> m = NetMechanism(2.0, queries=[[0, 1]], n=4, size=2)
    >>> m.law((0, 0, 1, 1))
    Finite((0, 0): 0.106507, (0, 1): 0.786986, (1, 1): 0.106507)
    """

    epsilon: float
    queries: ArrayLike
    n: int
    size: int = field(default=1, kw_only=True)
    net: Sequence[Dataset] | None = field(default=None, kw_only=True)
    adjacency: Adjacency = field(default=REPLACE_ONE, kw_only=True)

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        whole("n", self.n)
        whole("size", self.size)
        object.__setattr__(self, "queries", np.atleast_2d(linear_queries(self.queries)))

    @cached_property
    def databases(self) -> tuple[Dataset, ...]:
        """The net: the databases given, or all multisets of `size` rows."""
        if self.net is None:
            return ADD_REMOVE.datasets(range(self.universe), self.size)
        net = tuple(tuple(np.sort(row_numbers(y, self.universe)).tolist()) for y in self.net)
        if () in net:
            reject(
                "net", self.net, "databases with at least one row: an empty one has no averages", "drop it."
            )
        return net

    @property
    def universe(self) -> int:
        """How many different rows there are."""
        return int(np.shape(self.queries)[1])

    @cached_property
    def net_answers(self) -> Floats:
        """The answers of all queries on all databases of the net: one row for each database."""
        histograms = np.stack([histogram_of(y, self.universe) for y in self.databases])
        return np.asarray(histograms / histograms.sum(axis=1, keepdims=True) @ np.asarray(self.queries).T)

    def errors(self, data: Rows) -> Floats:
        """w(x, y)/n for each database of the net: how far its answers are from the data's at worst."""
        histogram = histogram_of(data, self.universe)
        if self.adjacency is REPLACE_ONE and len(data) != self.n:
            fix = f"set n={len(data)}, or use adjacency=ADD_REMOVE if the size is secret."
            reject("data", f"{len(data)} rows", f"{self.n} rows, the public size n", fix)
        totals = np.asarray(self.queries) @ histogram
        return np.asarray(np.abs(self.net_answers - totals / self.n).max(axis=1))

    def law(self, data: Rows) -> Finite:
        """The exponential mechanism over the net; an outcome is a synthetic database."""
        chooser = ExponentialMechanism(self.epsilon, self.databases, adjacency=self.adjacency)
        return chooser.law(-self.n * self.errors(data))

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-DP."""
        return PureDP(self.epsilon, adjacency=self.adjacency)

    def failure(self, data: Rows, error: float) -> float:
        """The exact probability that some query's answer is off by more than `error` (as a fraction)."""
        return float(self.law(data).weights[self.errors(data) > error].sum())

    def promised_error(self, data: Rows, beta: float) -> float:
        """What the theorem promises with probability 1 - beta: the net's best error plus a price.

        best + 2 ln(|net|/beta)/(epsilon n): a database that is worse by more than the second term has a
        weight of at most beta/|net| times that of the best. (Not private: the best error is the data's.)
        """
        return float(self.errors(data).min()) + self.price(beta)

    def price(self, beta: float) -> float:
        """2 ln(|net|/beta)/(epsilon n)."""
        positive("beta", probability("beta", beta))
        return 2 * math.log(len(self.databases) / beta) / (self.epsilon * self.n)


def net_size(queries: int, alpha: float) -> int:
    """How many rows a database needs to answer so many queries within alpha: ceil(ln(2C)/(2 alpha^2)).

    A random sample of m rows errs by more than alpha on one of C queries with a chance of at most
    2 C e^{-2 m alpha^2} (Hoeffding); where that is below 1, some database of m rows does not.

    >>> net_size(100, 0.1), net_size(1, 0.5)
    (265, 2)
    """
    spread = math.log(2 * whole("queries", queries))
    return math.ceil(spread / (2 * float(positive("alpha", alpha)) ** 2))


@dataclass(frozen=True)
class Design:
    """A net for given parameters: alpha, the rows of a database, and the error promised in all."""

    alpha: float
    size: int
    error: float


def best_design(n: int, queries: int, universe: int, epsilon: float, beta: float = 0.05) -> Design:
    """The alpha that minimises alpha + 2 (m ln N + ln(1/beta))/(epsilon n), m = net_size(C, alpha).

    Without the rounding of m it is (2 ln(2C) ln N/(epsilon n))^{1/3}: on the scale of counts the error
    grows like n^{2/3}, and only with the cube root of ln C ln N/epsilon. Since m is whole, each m has one
    best alpha, and a search over the m near the continuous optimum finds the best of all.

    >>> best_design(n=10**6, queries=1000, universe=1024, epsilon=1.0).size
    1704
    """
    whole("n", n)
    whole("universe", universe, at_least=2)
    spread = math.log(2 * whole("queries", queries))
    room = math.log(universe) / (positive("epsilon", epsilon) * n)
    tail = -math.log(positive("beta", probability("beta", beta))) / (epsilon * n)
    start = math.ceil(spread / 2 / max(2 * spread * room, 1e-12) ** (2 / 3))
    sizes = np.arange(max(1, start - 2), start + 3)
    errors = np.sqrt(spread / (2 * sizes)) + 2 * (sizes * room + tail)
    best = int(np.argmin(errors))
    return Design(math.sqrt(spread / (2 * sizes[best])), int(sizes[best]), float(errors[best]))
