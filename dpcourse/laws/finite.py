"""Finite: a law on finitely many outcomes, in exact fractions where it is given so."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, distinct, reject
from dpcourse.laws.base import Law, Size, curve_svg, generator, shape_of

Outcome = Hashable


@dataclass(frozen=True, eq=False)
class Finite(Law):
    """Pr[outcomes[i]] = probs[i].

    Outcomes are any hashable values. Probabilities given as ints and Fractions stay exact; given as
    an array of shape (..., m) they are one law for each leading index.

    >>> coin = Finite(("heads", "tails"), (Fraction(3, 4), Fraction(1, 4)))
    >>> coin.prob("tails")
    Fraction(1, 4)
    """

    outcomes: Any
    probs: Any

    discrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        outcomes = tuple(v.item() if isinstance(v, np.generic) else v for v in self.outcomes)
        given = self.probs
        if isinstance(given, Sequence) and all(isinstance(p, int | Fraction) for p in given):
            probs: Any = tuple(Fraction(p) for p in given)
            array, fair = np.array([float(p) for p in probs]), sum(probs) == 1
        else:
            probs = array = np.asarray(given, dtype=float)
            fair = bool(array.ndim and np.all(np.abs(array.sum(-1) - 1) < 1e-12 * (1 + array.shape[-1])))
        if not outcomes:
            reject("outcomes", outcomes, "at least one value", "give the possible outcomes.")
        if array.shape[-1:] != (len(outcomes),):
            fix = "give one probability for each outcome."
            reject("probs", given, f"{len(outcomes)} numbers, one for each outcome", fix)
        if not np.all(array >= 0) or not fair:
            fix = "divide by the sum, or use Fractions for an exact law."
            reject("probs", given, "nonnegative with sum 1", fix)
        if not distinct(outcomes):
            fix = "write lists as tuples; merge equal outcomes by Finite.from_pairs, which adds them up."
            reject("outcomes", outcomes, "distinct", fix)
        object.__setattr__(self, "outcomes", outcomes)
        object.__setattr__(self, "probs", probs)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[Outcome, Any]] | Mapping[Outcome, Any]) -> Finite:
        """The law of (outcome, probability) pairs or of a mapping; equal outcomes are merged."""
        total: dict[Outcome, Any] = {}
        for outcome, p in pairs.items() if isinstance(pairs, Mapping) else pairs:
            total[outcome] = total.get(outcome, 0) + p
        return cls(tuple(total), tuple(total.values()))

    @property
    def exact(self) -> bool:
        """Whether the probabilities are Fractions."""
        return isinstance(self.probs, tuple)

    @property
    def weights(self) -> Floats:
        """The probabilities as a float array, outcomes along the last axis."""
        return np.array([float(p) for p in self.probs]) if self.exact else self.probs

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """One law for each leading index of `probs`."""
        return self.weights.shape[:-1]

    def items(self) -> list[tuple[Outcome, Any]]:
        """(outcome, probability) pairs."""
        return list(zip(self.outcomes, self.probs if self.exact else self.weights, strict=True))

    def __getitem__(self, index: Any) -> Finite:
        """One law (or a part) of a batch."""
        return Finite(self.outcomes, self.weights[index])

    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """Draws by inversion; an object array where the outcomes are not numbers."""
        shape = shape_of(size) + self.batch_shape
        below = np.cumsum(self.weights, axis=-1)
        # Dividing by the last sum keeps a uniform just below 1 on an outcome that has mass.
        u = generator(rng).random(shape) * below[..., -1]
        if self.batch_shape:
            index = (u[..., None] >= below).sum(-1)
        else:
            index = np.searchsorted(below, u, side="right")
        return self._values()[index]

    def log_prob(self, y: Any) -> Any:
        """ln Pr[y]; -inf for a value that is no outcome."""
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(self.prob(y), dtype=float))

    def prob(self, y: Any) -> Any:
        """Pr[y], exact if the law is; of each entry, if y is an array or a list."""
        if not isinstance(y, np.ndarray | list):
            i = self._index(y)
            if self.exact:
                return self.probs[i] if i >= 0 else Fraction(0)
            return self.weights[..., i][()] if i >= 0 else np.zeros(self.batch_shape)[()]
        y = np.asarray(y)
        index = self._indices(y)
        padded = np.concatenate([self.weights, np.zeros((*self.batch_shape, 1))], axis=-1)
        if not self.batch_shape:
            return padded[index]
        return np.take_along_axis(padded, np.broadcast_to(index, self.batch_shape)[..., None], -1)[..., 0]

    def cdf(self, y: ArrayLike) -> Any:
        """Pr[Y <= y], for outcomes that are numbers."""
        values = self._numbers()
        below = values <= np.asarray(y, dtype=float)[..., None]
        return (self.weights * below).sum(-1)

    def mean(self) -> Any:
        """The average outcome (outcomes must be numbers)."""
        return self.expect(lambda v: v)

    def variance(self) -> Any:
        """The average squared distance from the mean (outcomes must be numbers)."""
        if self.exact:
            mean = self.mean()
            return self.expect(lambda v: (v - mean) ** 2)
        values = self._numbers()
        return (self.weights * (values - np.asarray(self.mean())[..., None]) ** 2).sum(-1)

    def expect(self, function: Callable[[Any], Any]) -> Any:
        """E[function(Y)], in Fractions if the law and the function's values are exact."""
        values = [function(v) for v in self.outcomes]
        if self.exact:
            return sum(p * v for p, v in zip(self.probs, values, strict=True))
        return (self.weights * np.asarray(values, dtype=float)).sum(-1)

    def map(self, function: Callable[[Any], Outcome]) -> Finite:
        """The law of function(Y): post-processing."""
        return Finite.from_pairs((function(v), p) for v, p in self.items())

    def product(self, *others: Finite) -> Finite:
        """The joint law of independent draws; outcomes are tuples."""
        rows = itertools.product(self.items(), *(law.items() for law in others))
        one = Fraction(1) if self.exact and all(law.exact for law in others) else 1.0
        pairs = []
        for row in rows:
            p: Any = one
            for _, factor in row:
                p = p * factor
            pairs.append((tuple(v for v, _ in row), p))
        return Finite.from_pairs(pairs)

    def to_finite(self) -> Finite:
        """Itself."""
        return self

    @property
    def formula(self) -> str:
        """The probability in LaTeX."""
        return r"\Pr[y_i]=p_i"

    def __repr__(self) -> str:
        if self.batch_shape:
            return f"Finite(outcomes={self.outcomes!r}, probs=<array {self.weights.shape}>)"
        show = str if self.exact else lambda p: f"{p:.6g}"
        inside = ", ".join(f"{v!r}: {show(p)}" for v, p in self.items()[:8])
        return f"Finite({inside}{', ...' if len(self.outcomes) > 8 else ''})"

    def _picture(self, width: int = 240, height: int = 64) -> str:
        places = np.arange(len(self.outcomes), dtype=float)
        bars = curve_svg(places, self.weights, repr(self), True, width, height)
        ends = [escape(str(self.outcomes[i]))[:12] for i in (0, -1)]
        return bars.replace(">0</text>", f">{ends[0]}</text>").replace(
            f">{places[-1]:.3g}</text>", f">{ends[1]}</text>"
        )

    def _indices(self, y: Any) -> Any:
        """The place of each entry among the outcomes, -1 if it is none; by bisection for numbers."""
        values = self._values()
        if object in (values.dtype, y.dtype):
            return np.array([self._index(v) for v in y.ravel().tolist()], dtype=int).reshape(y.shape)
        order = np.argsort(values)
        place = order[np.minimum(np.searchsorted(values, y, sorter=order), len(values) - 1)]
        return np.where(values[place] == y, place, -1)

    def _index(self, y: Any) -> int:
        try:
            return self._places.get(y, -1)
        except TypeError:
            reject("y", y, "hashable, as outcomes are", "use a tuple instead of a list.")

    @property
    def _places(self) -> dict[Any, int]:
        # Built once: the dataclass is frozen, so the cache can never be out of date.
        cache = self.__dict__.get("_places_cache")
        if cache is None:
            cache = {v: i for i, v in enumerate(self.outcomes)}
            object.__setattr__(self, "_places_cache", cache)
        return cache

    def _numbers(self) -> Floats:
        try:
            return np.array([float(v) for v in self.outcomes])
        except (TypeError, ValueError):
            fix = "use law.map to turn them into numbers, or law.prob for one outcome."
            reject("outcomes", self.outcomes, "numbers for a cdf or a moment", fix)

    def _values(self) -> Any:
        if all(isinstance(v, int | float) for v in self.outcomes):
            return np.array(self.outcomes)
        values = np.empty(len(self.outcomes), dtype=object)
        values[:] = self.outcomes
        return values


def Point(value: Outcome) -> Finite:
    """The law that always gives `value`: what a mechanism without noise has.

    >>> Point(3).prob(3)
    Fraction(1, 1)
    """
    return Finite((value,), (Fraction(1),))
