"""PrivateWeights: the interactive mechanism, and a conversation with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, reject
from dpcourse.guarantees import Guarantee
from dpcourse.interactive.sessions import Interactive
from dpcourse.interactive.weights.epoch import log_lazy
from dpcourse.interactive.weights.settings import Settings
from dpcourse.interactive.weights.updates import distribution, potential, reweighted
from dpcourse.laws import Finite, Laplace, Law, Point, Product
from dpcourse.laws.base import generator
from dpcourse.mechanisms.universe import linear_queries


@dataclass(frozen=True, eq=False)
class State:
    """The hidden noises of the thresholds, and what is public: hypothesis, updates, the query at hand."""

    thresholds: Floats
    hypothesis: Floats
    updates: int = 0
    pending: Floats | None = None


@dataclass(frozen=True)
class PrivateWeights(Interactive):
    """Answers linear queries from a public hypothesis, and corrects it where it errs.

    Each query is asked once to be tested. False: the hypothesis is good enough, and everybody can
    compute its answer. True: asked again, it is answered with fresh noise, and the hypothesis is
    reweighted towards that answer. After the last of `settings.updates` updates every answer is None.
    Data are rows 0, ..., N-1; a query is a vector over them with entries in [0, 1].
    """

    settings: Settings
    delta: float

    @cached_property
    def guarantee(self) -> Guarantee:
        """By exact composition of the epochs; the number of queries does not matter."""
        return self.settings.guarantee(self.delta)

    def begin(self, data: Any) -> Law:
        """The noise of every epoch's threshold."""
        return Product(Laplace(np.zeros(self.settings.updates), self.settings.noise))

    def answer(self, data: Any, state: Any, query: Any) -> Law:
        """Whether an update is needed; then, the answer to the query that needed it."""
        s = self.settings
        return self.answer_from(distribution(data, s.universe, s.n), self.state(state), query)

    def answer_from(self, x: Floats, now: State, query: Any) -> Law:
        """The same, from the distribution of the data."""
        s = self.settings
        if now.updates == s.updates:
            return Point(None)
        if now.pending is not None:
            return Laplace(float(now.pending @ x), s.noise)
        lazy = float(self.lazy(x, now, linear_queries(query, s.universe)))
        return Finite((True, False), (1 - lazy, lazy))

    def lazy(self, x: Floats, now: State, queries: Floats) -> Any:
        """The chance that the hypothesis passes the test, for one query or for each row of a matrix."""
        s = self.settings
        gap = queries @ (x - now.hypothesis)
        return np.exp(log_lazy(gap, s.threshold + now.thresholds[now.updates], s.noise))

    def after(self, state: Any, query: Any, answer: Any) -> State:
        """A test that failed makes the query pending; its answer updates the hypothesis."""
        now = self.state(state)
        if now.pending is None:
            return replace(now, pending=linear_queries(query, self.settings.universe)) if answer else now
        way = 1 if answer > now.pending @ now.hypothesis else -1
        moved = reweighted(now.hypothesis, now.pending, way * self.settings.step)
        return replace(now, hypothesis=moved, updates=now.updates + 1, pending=None)

    def state(self, state: Any) -> State:
        """The state, or the first one, with a uniform hypothesis, from the noises that `begin` draws."""
        size = self.settings.universe
        return state if isinstance(state, State) else State(np.asarray(state), np.full(size, 1 / size))

    def open(self, data: Any, rng: np.random.Generator) -> Conversation:
        """Start a conversation about the data."""
        return Conversation(self, data, rng)


class Release(NamedTuple):
    """The answer to a query, and whether it took an update."""

    value: float
    updated: bool


@dataclass
class Conversation:
    """Queries and answers in order, with a record of the epochs for drawing.

    `potentials` (the divergence of the data from the hypothesis, before the first and after each update),
    `gaps` (true answer less the hypothesis's, for each query) and `thresholds` are secret: they are for
    teaching, and never to be published.
    """

    mechanism: PrivateWeights
    data: Any = field(repr=False)
    rng: np.random.Generator = field(repr=False)
    releases: list[Release] = field(default_factory=list, repr=False)
    update_rounds: list[int] = field(default_factory=list)
    potentials: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        settings = self.mechanism.settings
        self._x = distribution(self.data, settings.universe, settings.n)
        self._state = self.mechanism.state(self.mechanism.begin(self.data).sample(generator(self.rng)))
        self.potentials.append(potential(self._x, self.hypothesis))

    @property
    def hypothesis(self) -> Floats:
        """The current distribution, which is public."""
        return self._state.hypothesis

    @property
    def thresholds(self) -> Floats:
        """T plus the hidden noise of each epoch."""
        return self.mechanism.settings.threshold + self._state.thresholds

    @property
    def updates(self) -> int:
        """How many updates there were."""
        return self._state.updates

    def ask(self, query: ArrayLike) -> Release:
        """The answer to one query."""
        return self.ask_all(np.atleast_2d(linear_queries(query, self.mechanism.settings.universe)))[0]

    def ask_all(self, queries: ArrayLike, block: int = 512) -> Sequence[Release]:
        """The answers to the rows of a matrix, one after another; tested in blocks, for speed.

        The coins of the tests are independent given the threshold, so a block is tossed at once and what
        follows an update is tossed again.
        """
        matrix = np.atleast_2d(linear_queries(queries, self.mechanism.settings.universe))
        start, first = 0, len(self.releases)
        while start < len(matrix):
            start += self._advance(matrix[start : start + block])
        return self.releases[first:]

    def _advance(self, queries: Floats) -> int:
        """Answer queries up to and with the first update; how many they were."""
        s, state = self.mechanism.settings, self._state
        if state.updates == s.updates:
            fix = "start again with a larger threshold or fewer queries; nothing more can be asked here."
            reject(
                "updates", state.updates, f"below {s.updates}, which the settings allow: the run is over", fix
            )
        guesses = queries @ state.hypothesis
        lazy = self.rng.random(len(queries)) < self.mechanism.lazy(self._x, state, queries)
        good = len(queries) if lazy.all() else int(np.argmin(lazy))
        self.releases += [Release(float(v), False) for v in guesses[:good]]
        self.gaps += (queries @ self._x - guesses)[: good + 1].tolist()
        if good == len(queries):
            return good
        tested = self.mechanism.after(state, queries[good], True)
        value = float(self.mechanism.answer_from(self._x, tested, queries[good]).sample(self.rng))
        self._state = self.mechanism.after(tested, queries[good], value)
        self.update_rounds.append(len(self.releases))
        self.releases.append(Release(value, True))
        self.potentials.append(potential(self._x, self.hypothesis))
        return good + 1
