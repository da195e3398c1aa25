"""The privacy loss of a directed pair of laws, alone and composed."""

from dpcourse.loss.base import PrivacyLoss
from dpcourse.loss.density import DensityLoss
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.shifts import GaussianLoss, LaplaceLoss
from dpcourse.loss.subsampled import SubsampledGaussianLoss

__all__ = [
    "DensityLoss",
    "FiniteLoss",
    "GaussianLoss",
    "LaplaceLoss",
    "PrivacyLoss",
    "SubsampledGaussianLoss",
]
