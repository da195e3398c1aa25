"""dpcourse: differential privacy that runs.

>>> import dpcourse as dp
>>> mechanism = dp.LaplaceMechanism(epsilon=0.5)
>>> loss = mechanism.loss(10, 11)
>>> loss.max_divergence()
0.5
"""

from dpcourse import coins, laws
from dpcourse.errors import BadInput
from dpcourse.guarantees import GDP, RDP, ZCDP, ApproxDP, Guarantee, PureDP
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import (
    Composed,
    Custom,
    DiscreteGaussianMechanism,
    ExponentialMechanism,
    GaussianMechanism,
    GeometricMechanism,
    LaplaceMechanism,
    Mechanism,
    NoisyMax,
    Parallel,
    PostProcessed,
    RandomizedResponse,
    Subsampled,
    TopK,
    TwoCoins,
    classic_sigma,
    gaussian_sigma,
    histogram,
)
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE

__version__ = "0.1.0"

__all__ = [
    "ADD_REMOVE",
    "GDP",
    "RDP",
    "REPLACE_ONE",
    "ZCDP",
    "ApproxDP",
    "BadInput",
    "Composed",
    "Custom",
    "DiscreteGaussianMechanism",
    "ExponentialMechanism",
    "GaussianMechanism",
    "GeometricMechanism",
    "Guarantee",
    "LaplaceMechanism",
    "Mechanism",
    "NoisyMax",
    "Parallel",
    "PostProcessed",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
    "Subsampled",
    "TopK",
    "TwoCoins",
    "classic_sigma",
    "coins",
    "gaussian_sigma",
    "histogram",
    "laws",
]
