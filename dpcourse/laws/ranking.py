"""Ranking: the law of the first k places when Gumbel noise is added to scores (Plackett-Luce)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcourse import special
from dpcourse.errors import reject, whole
from dpcourse.laws.base import Law, Size, generator, shape_of
from dpcourse.laws.finite import Finite

_MOST = 200_000


@dataclass(frozen=True, eq=False)
class Ranking(Law):
    """Draw without replacement, each time with probability proportional to e^score among those left.

    Pr[i_1, ..., i_k] = product over j of e^{s_{i_j}} / (sum of e^s over items not yet drawn). An
    outcome is the tuple of items, best first; a batch of draws has them along the last axis.

    >>> law = Ranking(("a", "b", "c"), (0.0, 0.0, 0.0), 2)
    >>> round(float(law.prob(("a", "c"))), 6)
    0.166667
    """

    items: tuple[Hashable, ...]
    scores: tuple[float, ...]
    k: int

    discrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if whole("k", self.k) > len(self.items):
            fix = "ask for fewer, or list more items."
            reject("k", self.k, f"at most the number of items, {len(self.items)}", fix)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Always one law."""
        return ()

    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """The k largest of scores plus Gumbel noise, in order."""
        shape = (*shape_of(size), len(self.items))
        noisy = np.array(self.scores) - np.log(generator(rng).standard_exponential(shape))
        best = np.argsort(-noisy, axis=-1)[..., : self.k]
        names = np.empty(len(self.items), dtype=object)
        names[:] = self.items
        return tuple(names[best]) if size is None else names[best]

    def log_prob(self, y: Any) -> Any:
        """The sum over places of score minus ln of what is left; -inf for an impossible ranking."""
        places = {item: i for i, item in enumerate(self.items)}
        drawn = [places.get(item, -1) for item in y]
        if len(drawn) != self.k or -1 in drawn or len(set(drawn)) < self.k:
            return -math.inf
        left = np.ones(len(self.items), dtype=bool)
        total = 0.0
        scores = np.array(self.scores)
        for i in drawn:
            total += scores[i] - float(special.logsumexp(scores[left]))
            left[i] = False
        return total

    def to_finite(self) -> Finite | None:
        """All rankings with their probabilities, if there are at most 200,000."""
        if math.perm(len(self.items), self.k) > _MOST:
            return None
        orders = list(itertools.permutations(self.items, self.k))
        logs = np.array([self.log_prob(order) for order in orders])
        probs = np.maximum(np.exp(logs), np.finfo(float).tiny)  # a rare ranking is not an impossible one
        return Finite(tuple(orders), probs / probs.sum())

    def _unordered(self, *_: Any) -> Any:
        fix = "use prob for one ranking or to_finite for all."
        reject("law", self, "on numbers for a cdf or a moment", fix)

    cdf = mean = variance = _unordered  # type: ignore[assignment]

    @property
    def formula(self) -> str:
        """The probability in LaTeX."""
        return r"\prod_{j\le k} e^{s_{i_j}} \big/ \sum_{\text{left}} e^{s}"

    def _picture(self, width: int = 240, height: int = 64) -> str:
        return ""
