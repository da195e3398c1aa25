"""Probability laws: sample, density, distribution function, moments, and a picture of each.

>>> import numpy as np
>>> from dpcourse import laws
>>> noise = laws.Laplace(loc=10, scale=2)
>>> bool(abs(noise.sample(np.random.default_rng(0), 10_000).mean() - 10) < 0.1)
True
"""

from dpcourse.laws.base import Law
from dpcourse.laws.combine import Mixture, Product
from dpcourse.laws.continuous import Gaussian, GeneralizedCauchy, Gumbel, Laplace
from dpcourse.laws.discrete import DiscreteGaussian, DiscreteLaplace
from dpcourse.laws.exact import SystemRandomness
from dpcourse.laws.finite import Finite, Point
from dpcourse.laws.image import Image
from dpcourse.laws.ranking import Ranking
from dpcourse.laws.student import StudentT

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Finite",
    "Gaussian",
    "GeneralizedCauchy",
    "Gumbel",
    "Image",
    "Laplace",
    "Law",
    "Mixture",
    "Point",
    "Product",
    "Ranking",
    "StudentT",
    "SystemRandomness",
]
