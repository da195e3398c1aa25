"""Who answers counting queries about secret bits: the targets of the attacks.

An attack receives `answer(mask) -> number`: how many of the people in the mask have the secret bit. Any
function will do. The classes here also have `answers(masks)` for many questions at once, one a row, and
refuse with NaN.

>>> secret = np.array([1, 0, 1, 1])
>>> Exact(secret)(np.array([True, True, True, False]))
2.0
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcourse.errors import Floats, number, reject, whole
from dpcourse.guarantees import Guarantee
from dpcourse.laws.base import generator
from dpcourse.mechanisms import GaussianMechanism, LaplaceMechanism, Mechanism, gaussian_sigma
from dpcourse.neighbours import REPLACE_ONE

Bools = NDArray[np.bool_]
Answer = Callable[[Bools], Any]
Progress = Callable[[int, int], None]


def bits(name: str, value: ArrayLike) -> Bools:
    """A vector of bits, given as 0 and 1 or as False and True."""
    array = np.asarray(value)
    if array.ndim != 1 or not array.size or not np.isin(array, (0, 1)).all():
        reject(name, value, "a vector of bits", "give a list of 0 and 1, one for each person.")
    return array.astype(np.bool_)


def ask(answer: Answer, masks: Bools, progress: Progress | None = None) -> Floats:
    """The answers to all questions, one a row; NaN where the oracle refuses (NaN or None).

    At once if the oracle has `answers`, else one by one; `progress(done, all)` is called after each.
    """
    batch = getattr(answer, "answers", None)
    if batch is not None:
        found = np.asarray(batch(masks), dtype=float)
    else:
        found = np.empty(len(masks))
        for i, mask in enumerate(masks):
            value = answer(mask)
            found[i] = np.nan if value is None else _told(value)
            if progress is not None:
                progress(i + 1, len(masks))
    if found.shape != (len(masks),):
        reject("answers", found.shape, f"{len(masks)} numbers", "answer each mask by one number.")
    return found


def _told(value: Any) -> float:
    """The number that an oracle gave; NaN stays, for it is a refusal."""
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        reject("answer", value, "a number, or None or NaN for a refusal", "answer each mask by one number.")


@dataclass(frozen=True, eq=False)
class Exact:
    """Answers every question with the true count."""

    secret: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "secret", bits("secret", self.secret))

    def counts(self, masks: Bools) -> Floats:
        """The true answers."""
        if np.shape(masks)[-1] != self.secret.size:
            rule = f"masks over {self.secret.size} people"
            reject("masks", np.shape(masks), rule, "give one True or False for each person.")
        if np.asarray(masks).dtype != np.bool_ and not np.isin(masks, (0, 1)).all():
            reject("masks", masks, "True or False for each person", "nobody is in a set twice.")
        counts: Floats = np.asarray(masks, dtype=float) @ self.secret
        return counts

    def answers(self, masks: Bools) -> Floats:
        """One answer a row."""
        return self.counts(masks)

    def __call__(self, mask: Bools) -> float:
        """The answer to one question."""
        return float(self.answers(np.asarray(mask)[None])[0])


@dataclass(frozen=True, eq=False)
class Bounded(Exact):
    """Adds noise that is uniform on [-error, error], so that no answer is off by more than the error."""

    error: float
    rng: np.random.Generator

    def __post_init__(self) -> None:
        super().__post_init__()
        if number("error", self.error) < 0:
            reject("error", self.error, "a finite number of at least 0", "choose a value such as 2.")
        generator(self.rng)

    def answers(self, masks: Bools) -> Floats:
        """Fresh noise for every answer."""
        return self.counts(masks) + self.rng.uniform(-self.error, self.error, len(masks))


@dataclass(frozen=True, eq=False)
class Rounding(Exact):
    """Rounds each count to a multiple and refuses sets that are small: two rules that look safe.

    >>> oracle = Rounding(np.ones(20), multiple=4, smallest=10)
    >>> oracle(np.arange(20) < 11), oracle(np.arange(20) < 9)
    (12.0, nan)
    """

    multiple: int = 4
    smallest: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("multiple", self.multiple)
        whole("smallest", self.smallest, at_least=0)

    def answers(self, masks: Bools) -> Floats:
        """The nearest multiple (halfway up), or NaN for a small set."""
        rounded = np.floor(self.counts(masks) / self.multiple + 0.5) * self.multiple
        return np.where(np.sum(masks, axis=-1) >= self.smallest, rounded, np.nan)


@dataclass(frozen=True, eq=False)
class Private(Exact):
    """Answers through a mechanism for counts, `limit` times in all, and then refuses for good.

    The whole conversation keeps limit * mechanism.guarantee, for a person who changes her bit.

    >>> oracle = Private.split(np.ones(64), epsilon=1.0, limit=256, rng=np.random.default_rng(0))
    >>> oracle.guarantee
    PureDP(epsilon=1.0, adjacency=replace-one)
    """

    mechanism: Mechanism
    limit: int
    rng: np.random.Generator
    given: int = field(default=0, init=False)
    """How many answers have been given."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("limit", self.limit)
        REPLACE_ONE.require_same(self.mechanism.guarantee.adjacency)

    @classmethod
    def split(
        cls, secret: Any, epsilon: float, limit: int, rng: np.random.Generator, delta: float = 0.0
    ) -> Private:
        """(epsilon, delta) in all: Laplace noise of scale limit/epsilon, or Gaussian noise ~ sqrt(limit)."""
        whole("limit", limit)
        if delta == 0:
            return cls(secret, LaplaceMechanism(epsilon / limit, adjacency=REPLACE_ONE), limit, rng)
        sigma = gaussian_sigma(epsilon, delta, sensitivity=math.sqrt(limit))
        return cls(secret, GaussianMechanism(sigma, adjacency=REPLACE_ONE), limit, rng)

    @property
    def guarantee(self) -> Guarantee:
        """What all answers together promise."""
        return self.limit * self.mechanism.guarantee

    def answers(self, masks: Bools) -> Floats:
        """Fresh noise for every answer; NaN once the limit is reached."""
        noisy = np.asarray(self.mechanism.laws(self.counts(masks)).sample(self.rng), dtype=float)
        noisy[max(0, self.limit - self.given) :] = np.nan
        object.__setattr__(self, "given", min(self.limit, self.given + len(masks)))
        return noisy
