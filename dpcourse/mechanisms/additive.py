"""Mechanisms that add noise to an answer: Laplace, geometric, Gaussian, discrete Gaussian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.errors import positive, reject
from dpcourse.guarantees import GDP, ZCDP, Guarantee, PureDP
from dpcourse.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law, Product
from dpcourse.loss import GaussianLoss, LaplaceLoss, PrivacyLoss
from dpcourse.mechanisms.base import Mechanism, answer
from dpcourse.mechanisms.calibrate import gaussian_sigma
from dpcourse.neighbours import ADD_REMOVE, Adjacency

Query = Callable[[Any], Any]


@dataclass(frozen=True)
class Additive(Mechanism):
    """query(data) plus noise; without a query the data is the answer itself.

    Two answers are neighbours if their distance, in the norm that fits the noise, is at most the
    sensitivity.
    """

    sensitivity: float = field(default=1, kw_only=True)
    query: Query | None = field(default=None, kw_only=True)
    adjacency: Adjacency = field(default=ADD_REMOVE, kw_only=True)

    norm = 1
    whole = False

    def __post_init__(self) -> None:
        positive("sensitivity", self.sensitivity, "state how far one person can move the answer.")
        if self.whole and self.sensitivity != round(self.sensitivity):
            fix = "scale the query so that its answers are integers."
            reject("sensitivity", self.sensitivity, "whole: the noise is an integer", fix)

    def noise(self, centre: Any) -> Law:
        """The law of one noisy number (or of an array of them) around the centre."""
        raise NotImplementedError

    def law(self, data: Any) -> Law:
        """Independent noise on each coordinate of the answer."""
        value = answer(self.query, data)
        return Product(self.noise(value)) if np.ndim(value) else self.noise(value)

    def laws(self, data: Any) -> Law:
        """One law for each answer of an array of answers."""
        if self.query is not None:
            fix = "ask the query first and use a mechanism without one."
            reject("mechanism", self, "without a query, for an array of answers", fix)
        return self.noise(np.asarray(data, dtype=float))

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """By the adjacency where there is a query; by the sensitivity where there is none."""
        if self.query is not None:
            return super().are_neighbours(left, right)
        if np.shape(left) != np.shape(right):
            return False
        gap = abs(left - right) if np.ndim(left) == 0 else np.linalg.norm(np.subtract(left, right), self.norm)
        return bool(gap <= self.sensitivity * (1 + 1e-12))


@dataclass(frozen=True)
class LaplaceMechanism(Additive):
    """query(data) + Laplace(sensitivity/epsilon), the sensitivity in the l1 norm: epsilon-DP.

    Dwork, McSherry, Nissim and Smith, TCC 2006.

    >>> LaplaceMechanism(epsilon=0.5).law(10)
    Laplace(loc=10.0, scale=2.0)
    """

    epsilon: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        super().__post_init__()

    @property
    def scale(self) -> float:
        """sensitivity/epsilon."""
        return self.sensitivity / self.epsilon

    def noise(self, centre: Any) -> Law:
        """Laplace around the centre."""
        return Laplace(centre, self.scale)

    def losses(self, answers: Any, left: Any, right: Any) -> Any:
        """(|y - right| - |y - left|)/scale for numbers: the normalising constants cancel."""
        if self.query is not None or np.ndim(answers) > 1:
            return super().losses(answers, left, right)
        found, other = np.subtract(answers, right), np.subtract(answers, left)
        found, other = np.abs(found), np.abs(other)
        found -= other
        found /= self.scale
        return found

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-DP."""
        return PureDP(self.epsilon, adjacency=self.adjacency)

    def worst_case(self) -> PrivacyLoss:
        """A shift by the whole sensitivity in one coordinate."""
        return LaplaceLoss(self.epsilon)


@dataclass(frozen=True)
class GeometricMechanism(Additive):
    """query(data) + discrete Laplace noise, for whole answers: epsilon-DP, safe from floating point.

    Ghosh, Roughgarden and Sundararajan, STOC 2009.

    >>> GeometricMechanism(epsilon=0.5).law(10)
    DiscreteLaplace(loc=10, scale=2.0)
    """

    epsilon: float

    whole = True

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        super().__post_init__()

    def noise(self, centre: Any) -> Law:
        """Discrete Laplace around the centre."""
        return DiscreteLaplace(centre, self.sensitivity / self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-DP."""
        return PureDP(self.epsilon, adjacency=self.adjacency)

    def worst_case(self) -> PrivacyLoss:
        """A shift by the whole sensitivity in one coordinate."""
        return PrivacyLoss.between(self.noise(0), self.noise(self.sensitivity))


@dataclass(frozen=True)
class GaussianMechanism(Additive):
    """query(data) + N(0, sigma^2), the sensitivity in the l2 norm: exactly (sensitivity/sigma)-GDP.

    sigma is the standard deviation, never the variance.

    >>> GaussianMechanism.calibrated(epsilon=1, delta=1e-5).sigma.__round__(4)
    3.7306
    """

    sigma: float

    norm = 2

    def __post_init__(self) -> None:
        positive("sigma", self.sigma)
        super().__post_init__()

    @classmethod
    def calibrated(
        cls,
        epsilon: float,
        delta: float,
        *,
        rule: str = "analytic",
        sensitivity: float = 1,
        query: Query | None = None,
        adjacency: Adjacency = ADD_REMOVE,
    ) -> GaussianMechanism:
        """The least noise for (epsilon, delta)-DP, or the textbook's amount (rule="classic")."""
        sigma = gaussian_sigma(epsilon, delta, sensitivity, rule)
        return cls(sigma, sensitivity=sensitivity, query=query, adjacency=adjacency)

    def noise(self, centre: Any) -> Law:
        """Gaussian around the centre."""
        return Gaussian(centre, self.sigma)

    def losses(self, answers: Any, left: Any, right: Any) -> Any:
        """(left - right)(y - middle)/sigma^2 for numbers: the squares of y cancel."""
        if self.query is not None or np.ndim(answers) > 1:
            return super().losses(answers, left, right)
        gap = np.subtract(left, right) * self.sigma**-2
        found = answers - np.add(left, right) * 0.5
        found *= gap
        return found

    @property
    def guarantee(self) -> Guarantee:
        """mu-GDP with mu = sensitivity/sigma; its (epsilon, delta) curve is exact."""
        return GDP(self.sensitivity / self.sigma, adjacency=self.adjacency)

    def worst_case(self) -> PrivacyLoss:
        """A shift by the whole sensitivity, in any direction."""
        return GaussianLoss(self.sensitivity / self.sigma)


@dataclass(frozen=True)
class DiscreteGaussianMechanism(Additive):
    """query(data) + discrete Gaussian noise, for whole answers: (sensitivity/sigma)^2/2-zCDP.

    Canonne, Kamath and Steinke, NeurIPS 2020.

    >>> DiscreteGaussianMechanism(sigma=10).guarantee
    ZCDP(rho=0.005, adjacency=add/remove)
    """

    sigma: float

    norm = 2
    whole = True

    def __post_init__(self) -> None:
        positive("sigma", self.sigma)
        super().__post_init__()

    def noise(self, centre: Any) -> Law:
        """Discrete Gaussian around the centre."""
        return DiscreteGaussian(centre, self.sigma)

    @property
    def guarantee(self) -> Guarantee:
        """(sensitivity/sigma)^2/2-zCDP."""
        return ZCDP((self.sensitivity / self.sigma) ** 2 / 2, adjacency=self.adjacency)

    def worst_case(self) -> PrivacyLoss:
        """The shift of a single answer by the whole sensitivity."""
        return PrivacyLoss.between(self.noise(0), self.noise(self.sensitivity))
