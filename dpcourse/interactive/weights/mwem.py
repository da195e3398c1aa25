"""MWEM: synthetic data in a few rounds, each of which finds a query that errs, measures it and learns.

Hardt, Ligett and McSherry (NIPS 2012): multiplicative weights with the exponential mechanism. All queries
are known from the start, so the worst one can be looked for instead of waiting until somebody asks it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, reject, whole
from dpcourse.guarantees import ZCDP, Guarantee, PureDP
from dpcourse.interactive.weights.updates import distribution, reweighted
from dpcourse.laws import Finite, Gaussian, Laplace, Law
from dpcourse.laws.base import generator
from dpcourse.mechanisms import ExponentialMechanism
from dpcourse.mechanisms.universe import linear_queries
from dpcourse.neighbours import REPLACE_ONE, Rows


class Measured(NamedTuple):
    """A query that was chosen, by its number, and its noisy answer: both are released."""

    query: int
    answer: float


@dataclass(frozen=True, eq=False)
class Synthetic:
    """What a run releases: a distribution over the universe, and the measurements it was learned from."""

    weights: Floats
    measured: tuple[Measured, ...]

    def answers(self, queries: ArrayLike) -> Floats:
        """What the synthetic data answer: post-processing, so any number of queries is free."""
        return np.asarray(linear_queries(queries, len(self.weights)) @ self.weights)


@dataclass(frozen=True, eq=False)
class MWEM:
    """Rounds of: choose a query with a large error, measure it with noise, reweight towards the answer.

    Half of the budget chooses and half measures. PureDP(epsilon): each of 2 T steps gets epsilon/(2T),
    the measurement by Laplace noise. ZCDP(rho): each step gets rho/(2T), the measurement by Gaussian noise;
    the exponential mechanism with e is e^2/8-zCDP, since its loss lies in an interval of length e (Cesar and
    Rogers, ALT 2021). One row moves a query by 1/n, so n times an error has sensitivity 1. After each round
    all measurements so far are used again, `passes` times, which costs nothing.

    >>> mwem = MWEM(np.eye(4), n=1000, budget=PureDP(1.0, adjacency=REPLACE_ONE), rounds=2)
    >>> made = mwem.run((0,) * 700 + (3,) * 300, np.random.default_rng(0))
    >>> [m.query for m in made.measured]
    [0, 3]
    """

    queries: ArrayLike
    n: int
    budget: Guarantee
    rounds: int = 10
    passes: int = field(default=10, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "queries", np.atleast_2d(linear_queries(self.queries)))
        whole("n", self.n)
        whole("passes", self.passes)
        if whole("rounds", self.rounds) > len(np.asarray(self.queries)):
            fix = "each query is measured once: use fewer rounds."
            reject("rounds", self.rounds, f"at most {len(np.asarray(self.queries))}, the queries", fix)
        if not isinstance(self.budget, PureDP | ZCDP) or self.budget.adjacency is not REPLACE_ONE:
            fix = "say ZCDP(0.1, adjacency=REPLACE_ONE): the number of rows is public."
            reject("budget", self.budget, "PureDP or ZCDP for replaced rows", fix)

    @property
    def guarantee(self) -> Guarantee:
        """The budget: 2 T steps, each with its part of it."""
        return self.budget

    @property
    def choice_epsilon(self) -> float:
        """The epsilon of the exponential mechanism in one round."""
        if isinstance(self.budget, ZCDP):
            return math.sqrt(8 * self.budget.rho / (2 * self.rounds))
        return self.budget.epsilon(0.0) / (2 * self.rounds)

    def choice(self, answers: Floats, guesses: Floats, before: tuple[int, ...] = ()) -> Finite:
        """The law of the next query: by its error, among those that were not measured before."""
        left = tuple(i for i in range(len(answers)) if i not in before)
        chooser = ExponentialMechanism(self.choice_epsilon, left, adjacency=REPLACE_ONE)
        return chooser.law(self.n * np.abs(answers - guesses)[list(left)])

    def measurement(self, answer: float) -> Law:
        """The law of a measured answer."""
        if isinstance(self.budget, ZCDP):
            return Gaussian(answer, math.sqrt(self.rounds / self.budget.rho) / self.n)
        return Laplace(answer, 1 / (self.n * self.choice_epsilon))

    def run(self, data: Rows, rng: np.random.Generator) -> Synthetic:
        """Learn synthetic data from rows 0, ..., N-1; only what is measured looks at them."""
        rng, queries = generator(rng), np.asarray(self.queries)
        size = queries.shape[1]
        answers, weights = queries @ distribution(data, size, self.n), np.full(size, 1 / size)
        measured: tuple[Measured, ...] = ()
        for _ in range(self.rounds):
            law = self.choice(answers, queries @ weights, tuple(m.query for m in measured))
            chosen = int(law.sample(rng))
            measured += (Measured(chosen, float(self.measurement(answers[chosen]).sample(rng))),)
            weights = self._learned(weights, measured)
        return Synthetic(weights, measured)

    def _learned(self, weights: Floats, measured: tuple[Measured, ...]) -> Floats:
        queries = np.asarray(self.queries)
        for _ in range(self.passes):
            for i, answer in measured:
                weights = reweighted(weights, queries[i], float(answer - queries[i] @ weights))
        return weights
