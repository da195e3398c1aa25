"""Laws made of laws: mixtures, and products of independent laws."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, reject
from dpcourse.laws.base import Law, Size, generator, shape_of
from dpcourse.laws.finite import Finite


@dataclass(frozen=True, eq=False)
class Mixture(Law):
    """Draw a part with the given weights, then draw from it: density sum of weight * density.

    >>> from dpcourse.laws import Gaussian
    >>> Mixture((0.5, 0.5), (Gaussian(-1, 1), Gaussian(1, 1))).mean()
    np.float64(0.0)
    """

    weights: tuple[Any, ...]
    parts: tuple[Law, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        chooser = Finite(tuple(range(len(self.parts))), tuple(self.weights))  # checks the weights
        object.__setattr__(self, "weights", tuple(chooser.probs))
        if len({part.discrete for part in self.parts}) > 1:
            kinds = [type(part).__name__ for part in self.parts]
            fix = "discretise the continuous part, or model the atom as its own outcome."
            reject("parts", kinds, "all continuous or all discrete, to share one density", fix)

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """As the parts are."""
        return self.parts[0].discrete

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """What the parts broadcast to."""
        return np.broadcast_shapes(*(part.batch_shape for part in self.parts))

    @property
    def _w(self) -> Floats:
        return np.array([float(w) for w in self.weights])

    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """A part for every draw, then a draw from it."""
        shape = shape_of(size) + self.batch_shape
        choice = generator(rng).choice(len(self.parts), shape, p=self._w)
        draws = [np.broadcast_to(part.sample(rng, shape_of(size)), shape) for part in self.parts]
        return np.choose(choice, draws)

    def log_prob(self, y: Any) -> Any:
        """ln of the weighted sum of densities, without underflow."""
        with np.errstate(divide="ignore"):  # a weight of 0 leaves its part out
            logs = np.log(self._w)
        parts = [w + part.log_prob(y) for w, part in zip(logs, self.parts, strict=True)]
        return np.logaddexp.reduce(np.broadcast_arrays(*parts), axis=0)

    def cdf(self, y: ArrayLike) -> Any:
        """The weighted sum of the cdfs."""
        return sum(w * part.cdf(y) for w, part in zip(self._w, self.parts, strict=True))

    def sf(self, y: ArrayLike) -> Any:
        """The weighted sum of the tails."""
        return sum(w * part.sf(y) for w, part in zip(self._w, self.parts, strict=True))

    def mean(self) -> Any:
        """The weighted mean."""
        return sum(w * part.mean() for w, part in zip(self._w, self.parts, strict=True))

    def variance(self) -> Any:
        """The mean of the variances plus the variance of the means."""
        centre = self.mean()
        pairs = zip(self._w, self.parts, strict=True)
        return sum(w * (part.variance() + np.square(part.mean() - centre)) for w, part in pairs)

    def window(self) -> tuple[float, float]:
        """From the leftmost to the rightmost part's window."""
        windows = [part.window() for part in self.parts]
        return min(w[0] for w in windows), max(w[1] for w in windows)

    def __getitem__(self, index: Any) -> Mixture:
        """One mixture (or a part) of a batch."""
        return Mixture(self.weights, tuple(part[index] if part.batch_shape else part for part in self.parts))

    def to_finite(self) -> Finite | None:
        """The merged law, if every part is finite."""
        finite = [part.to_finite() for part in self.parts]
        pairs: list[tuple[Any, Any]] = []
        for weight, law in zip(self.weights, finite, strict=True):
            if law is None or law.batch_shape:
                return None
            pairs += [(v, weight * p) for v, p in law.items()]
        if not all(isinstance(p, Fraction) for _, p in pairs):
            pairs = [(v, float(p)) for v, p in pairs]
        return Finite.from_pairs(pairs)

    @property
    def formula(self) -> str:
        """The density in LaTeX."""
        return r"\sum_i w_i\,p_i(y)"


@dataclass(frozen=True, eq=False)
class Product(Law):
    """Independent coordinates as one law on vectors: a batch of d laws becomes d coordinates.

    The last axis of an outcome runs over the coordinates, part after part.

    >>> from dpcourse.laws import Laplace
    >>> noisy_histogram = Product(Laplace(loc=[3, 5, 0], scale=2))
    >>> noisy_histogram.log_prob([3, 5, 0]).shape  # one number for the whole vector
    ()
    """

    parts: tuple[Law, ...]

    def __init__(self, *parts: Law) -> None:
        if not parts:
            reject("parts", parts, "at least one law", "give the laws of the coordinates.")
        object.__setattr__(self, "parts", parts)

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """As the parts are."""
        return all(part.discrete for part in self.parts)

    @property
    def widths(self) -> list[int]:
        """How many coordinates each part has."""
        return [part.batch_shape[-1] if part.batch_shape else 1 for part in self.parts]

    @property
    def dimension(self) -> int:
        """How many coordinates an outcome has."""
        return sum(self.widths)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """What is left of the parts' batches after their last axis."""
        return np.broadcast_shapes(*(part.batch_shape[:-1] for part in self.parts))

    def coordinates(self) -> list[Law]:
        """The law of each coordinate (of one product, not of a batch)."""
        laws: list[Law] = []
        for part, width in zip(self.parts, self.widths, strict=True):
            laws += [part[i] for i in range(width)] if part.batch_shape else [part]
        return laws

    def __getitem__(self, index: Any) -> Product:
        """One product (or a part) of a batch; coordinates are never cut."""
        return Product(*(part[index] if len(part.batch_shape) > 1 else part for part in self.parts))

    def _joined(self, values: list[Any]) -> Any:
        """The parts' values side by side along a last axis of coordinates."""
        pairs = zip(values, self.parts, strict=True)
        columns = [np.asarray(v) if part.batch_shape else np.asarray(v)[..., None] for v, part in pairs]
        lead = np.broadcast_shapes(*(c.shape[:-1] for c in columns))
        return np.concatenate([np.broadcast_to(c, (*lead, c.shape[-1])) for c in columns], axis=-1)

    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """Vectors of independent draws, of shape size + batch_shape + (dimension,)."""
        batch = self.batch_shape
        missing = [batch[: len(batch) - max(len(part.batch_shape) - 1, 0)] for part in self.parts]
        pairs = zip(self.parts, missing, strict=True)
        return self._joined([part.sample(rng, (*shape_of(size), *extra)) for part, extra in pairs])

    def _split(self, y: Any) -> list[Any]:
        y = np.asarray(y)
        if y.shape[-1:] != (self.dimension,):
            fix = "give the coordinates along the last axis."
            reject("y", f"an array of shape {y.shape}", f"vectors of {self.dimension} numbers", fix)
        cuts = np.cumsum(self.widths)[:-1]
        pieces = zip(np.split(y, cuts, axis=-1), self.parts, strict=True)
        return [piece if part.batch_shape else piece[..., 0] for piece, part in pieces]

    def _each(self, method: str, y: Any) -> Any:
        pairs = zip(self.parts, self._split(y), strict=True)
        return self._joined([getattr(part, method)(piece) for part, piece in pairs])

    def log_prob(self, y: Any) -> Any:
        """The sum of the coordinates' log-densities."""
        return self._each("log_prob", y).sum(-1)

    def cdf(self, y: ArrayLike) -> Any:
        """Pr[every coordinate <= y], the product of the cdfs."""
        return self._each("cdf", y).prod(-1)

    def mean(self) -> Any:
        """The vector of means."""
        return self._joined([part.mean() for part in self.parts])

    def variance(self) -> Any:
        """The vector of variances."""
        return self._joined([part.variance() for part in self.parts])

    def to_finite(self) -> Finite | None:
        """The joint law, if every part is finite; outcomes are tuples."""
        finite = [part.to_finite() for part in self.parts]
        if any(law is None or law.batch_shape for law in finite):
            return None
        first, *rest = (law for law in finite if law is not None)
        return first.product(*rest)

    @property
    def formula(self) -> str:
        """The density in LaTeX."""
        return r"\prod_i p_i(y_i)"

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.parts))})"

    def _picture(self, width: int = 240, height: int = 64) -> str:
        return ""  # a vector has no curve; the caption says what it is
