"""Why report noisy max may not report the maximum: the winning value gives away all m scores at once.

The winner's identity costs epsilon however many candidates there are. Its noisy value is below v only if
all m noisy scores are, so when all counts move by one, that chance moves by e^{m epsilon}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.laws import Laplace, Law
from dpcourse.laws.base import Size, shape_of
from dpcourse.mechanisms.selection import Selection


@dataclass(frozen=True, eq=False)
class LargestLaplace(Law):
    r"""The largest of independent Laplace variables: \(Pr[Y \le y] = \prod_j F_j(y)\).

    >>> float(LargestLaplace((0.0, 0.0, 0.0), 1.0).cdf(0.0))  # all three are negative
    0.125
    """

    loc: tuple[float, ...]
    scale: float

    @property
    def parts(self) -> tuple[Laplace, ...]:
        """The laws of the candidates."""
        return tuple(Laplace(centre, self.scale) for centre in self.loc)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Always one law."""
        return ()

    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """The largest of one draw each."""
        return Laplace(np.array(self.loc), self.scale).sample(rng, shape_of(size)).max(-1)

    def log_prob(self, y: ArrayLike) -> Any:
        """ln of the sum over candidates of f_i(y) times the product of the others' F_j(y)."""
        y = np.asarray(y, dtype=float)
        z = (y[..., None] - np.array(self.loc)) / self.scale
        tail = -np.abs(z) - np.log(2)
        log_below = np.where(z < 0, tail, np.log1p(-np.exp(tail)))
        all_below = log_below.sum(-1, keepdims=True)
        return np.logaddexp.reduce(tail - log_below + all_below, axis=-1) - np.log(self.scale)

    def cdf(self, y: ArrayLike) -> Any:
        """The product of the candidates' distribution functions."""
        return np.prod([part.cdf(y) for part in self.parts], axis=0)[()]

    def sf(self, y: ArrayLike) -> Any:
        """1 minus the product, from the candidates' tails: without cancellation far to the right."""
        with np.errstate(divide="ignore"):
            return -np.expm1(np.sum([np.log1p(-part.sf(y)) for part in self.parts], axis=0))[()]

    def _moment(self, power: int, about: float) -> float:
        x, w = np.polynomial.legendre.leggauss(20)
        low, high = min(self.loc) - 40 * self.scale, max(self.loc) + 60 * self.scale
        edges = np.unique(np.concatenate([np.linspace(low, high, 400), self.loc]))
        half = np.diff(edges)[:, None] / 2
        y = edges[:-1, None] + half * (1 + x)
        return float((half * w * (y - about) ** power * np.exp(self.log_prob(y))).sum())

    def mean(self) -> Any:
        """By quadrature."""
        return self._moment(1, 0.0)

    def variance(self) -> Any:
        """By quadrature."""
        return self._moment(2, self.mean())

    @property
    def formula(self) -> str:
        """The distribution function in LaTeX."""
        return r"\Pr[Y\le y]=\prod_j F_j(y)"


@dataclass(frozen=True)
class WinningValue(Selection):
    """The noisy maximum itself, sold at the price of its index: claims epsilon, loses m epsilon.

    >>> nobody, everybody = (0, 0, 0), (1, 1, 1)
    >>> loss = WinningValue(1.0, monotone=True).loss(nobody, everybody)
    >>> round(loss.max_divergence(), 9)
    3.0
    """

    def law(self, data: Any) -> Any:
        """The law of the winning value; who won is not even shown."""
        return LargestLaplace(tuple(self.scores(data).tolist()), self.scale)
