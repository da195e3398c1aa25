"""The textbook mechanisms: each a map from data to a law, with the promise it makes."""

from dpcourse.mechanisms.additive import (
    DiscreteGaussianMechanism,
    GaussianMechanism,
    GeometricMechanism,
    LaplaceMechanism,
)
from dpcourse.mechanisms.base import Mechanism
from dpcourse.mechanisms.calibrate import classic_failure, classic_sigma, gaussian_sigma
from dpcourse.mechanisms.histograms import BinCounts, histogram
from dpcourse.mechanisms.response import RandomizedResponse, TwoCoins
from dpcourse.mechanisms.selection import ExponentialMechanism, NoisyMax, TopK
from dpcourse.mechanisms.wrappers import Composed, Custom, Parallel, PostProcessed, Subsampled

__all__ = [
    "BinCounts",
    "Composed",
    "Custom",
    "DiscreteGaussianMechanism",
    "ExponentialMechanism",
    "GaussianMechanism",
    "GeometricMechanism",
    "LaplaceMechanism",
    "Mechanism",
    "NoisyMax",
    "Parallel",
    "PostProcessed",
    "RandomizedResponse",
    "Subsampled",
    "TopK",
    "TwoCoins",
    "classic_failure",
    "classic_sigma",
    "gaussian_sigma",
    "histogram",
]
