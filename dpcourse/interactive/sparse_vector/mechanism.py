"""Sparse vector as a mechanism (a whole stream at once) and as a conversation (query by query)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.guarantees import Guarantee
from dpcourse.interactive.sessions import Interactive
from dpcourse.interactive.sparse_vector.laws import Answer, law_of, underflows
from dpcourse.interactive.sparse_vector.outputs import Output, log_prob, log_probs, strings
from dpcourse.interactive.sparse_vector.variants import AFTER_YES, EACH_QUERY, INDICATOR, Variant
from dpcourse.laws import Finite, Laplace, Law, Point, Product
from dpcourse.loss import FiniteLoss, PrivacyLoss
from dpcourse.mechanisms import Mechanism
from dpcourse.mechanisms.base import answer


@dataclass(frozen=True)
class SparseVector(Mechanism):
    """All answers to a stream of queries as one output: a tuple that ends with the last yes allowed.

    Without `queries` the data is the stream of query values itself; with it, `queries(data)` is.

    >>> from dpcourse.interactive.sparse_vector import above_threshold
    >>> SparseVector(above_threshold(1.0)).law((0, 5)).prob((False, True)) > 0.3
    np.True_
    """

    variant: Variant
    queries: Callable[[Any], Any] | None = field(default=None, kw_only=True)

    @property
    def guarantee(self) -> Guarantee:
        """What the variant claims."""
        return self.variant.claim

    def law(self, data: Any) -> Law:
        """The exact law of the output: finite if no values are released, else a `Transcript`."""
        return law_of(self.variant, answer(self.queries, data))

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """By the adjacency where there are queries; by the variant's sensitivity where there are none."""
        if self.queries is not None:
            return super().are_neighbours(left, right)
        return self.variant.are_neighbours(left, right)

    def loss(self, left: Any, right: Any) -> PrivacyLoss:
        """The loss over all outputs, from log-probabilities: no ratio is lost to underflow."""
        if self.variant.releases != INDICATOR or not self.are_neighbours(left, right):
            return super().loss(left, right)
        streams = [np.asarray(answer(self.queries, data), dtype=float) for data in (left, right)]
        outputs = strings(self.variant, len(streams[0]))
        p, q = (log_probs(self.variant, stream, outputs)[0] for stream in streams)
        with np.errstate(invalid="ignore"):
            losses = np.where(p > -np.inf, p - q, -np.inf)
        pair = (
            None
            if underflows(p) or underflows(q)
            else (Finite(outputs, np.exp(p)), Finite(outputs, np.exp(q)))
        )
        return FiniteLoss(tuple(np.exp(p)), tuple(np.exp(q)), 0.0, tuple(losses), pair)

    def losses(self, answers: Any, left: Any, right: Any) -> Any:
        """The privacy loss at each output of a batch (or at one)."""
        batch = [answers] if isinstance(answers, tuple) else list(answers)
        streams = [answer(self.queries, data) for data in (left, right)]
        logs = [[log_prob(self.variant, stream, output) for output in batch] for stream in streams]
        found = np.array(logs[0]) - np.array(logs[1])
        return float(found[0]) if isinstance(answers, tuple) else found


@dataclass(frozen=True)
class Watched(Mechanism):
    """Whether a run gave a certain output: one bit of another's output, so the same claim must hold for it.

    With intervals for released values it turns a law on numbers into a coin, for contract and audit.
    """

    mechanism: SparseVector
    output: Output

    @property
    def guarantee(self) -> Guarantee:
        """That of the mechanism watched."""
        return self.mechanism.guarantee

    def law(self, data: Any) -> Finite:
        """True with the probability of the output."""
        stream = answer(self.mechanism.queries, data)
        if any(isinstance(a, float | int) and not isinstance(a, bool) for a in self.output):
            fix = "give an interval (low, high) around the number."
            reject("output", self.output, "an event: a single number has probability 0", fix)
        chance = float(np.exp(log_prob(self.mechanism.variant, stream, self.output)))
        return Finite((True, False), (chance, 1 - chance))

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """As for the mechanism watched."""
        return self.mechanism.are_neighbours(left, right)


@dataclass(frozen=True)
class SparseVectorSession(Interactive):
    """The same in conversation: each query may depend on all answers so far.

    A query is a function of the data of the variant's sensitivity. After the cutoff every answer is None.
    The hidden state is (noisy thresholds still to be used, yeses so far).
    """

    variant: Variant

    @property
    def guarantee(self) -> Guarantee:
        """What the variant claims for the whole conversation."""
        return self.variant.claim

    def begin(self, data: Any) -> Law:
        """The noisy threshold, or all that may be needed one after another; drawn once and never shown."""
        v = self.variant
        if v.threshold_scale == 0 or v.redraw == EACH_QUERY:
            return Point((v.threshold,))
        times = v.cutoff if v.redraw == AFTER_YES else 1
        if times is None:
            fix = "set a cutoff."
            reject("cutoff", None, "a number where the threshold is redrawn after each yes", fix)
        return Product(Laplace(np.full(times, v.threshold), v.threshold_scale))

    def answer(self, data: Any, state: Any, query: Callable[[Any], float]) -> Law:
        """A no, a yes, or a yes with its value; nothing more once the cutoff is reached."""
        thresholds, yeses = _state(state)
        v = self.variant
        if v.cutoff is not None and yeses >= v.cutoff:
            return Point(None)
        threshold = thresholds[min(yeses, len(thresholds) - 1)]
        return Answer.of(v, float(query(data)), float(threshold))

    def after(self, state: Any, query: Any, answer: Any) -> Any:
        """One more yes, if it was one."""
        thresholds, yeses = _state(state)
        return thresholds, yeses + (answer is not None and answer is not False)


def _state(state: Any) -> tuple[Any, int]:
    """Thresholds and yeses; at the start the state is just what `begin` drew."""
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[0], tuple | np.ndarray):
        return state
    return state, 0
