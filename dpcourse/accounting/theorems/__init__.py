"""The named theorems as plain functions, each with its statement and where it comes from.

basic      basic and advanced composition, in every form of the mean term
optimal    Kairouz, Oh and Viswanath; Murtagh and Vadhan for different steps
moments    zCDP and Renyi DP: curves of mechanisms, composition, conversion
sampling   the moments accountant: Poisson-subsampled Gaussian noise
gaussian   Gaussian DP and its central limit theorem
group      how far a probability can climb along a chain of neighbours
"""

from dpcourse.accounting.theorems.basic import MEANS, advanced_composition, basic_composition, kov_simple
from dpcourse.accounting.theorems.gaussian import (
    Limit,
    central_limit,
    gdp_composition,
    subsampled_central_limit,
)
from dpcourse.accounting.theorems.group import fastest_climb
from dpcourse.accounting.theorems.moments import (
    gaussian_rdp,
    laplace_rdp,
    rdp_composition,
    whole_orders,
    zcdp_composition,
)
from dpcourse.accounting.theorems.optimal import optimal_delta, optimal_epsilon
from dpcourse.accounting.theorems.sampling import moments_accountant, subsampled_gaussian_rdp
from dpcourse.guarantees.renyi import randomized_response_rdp

__all__ = [
    "MEANS",
    "Limit",
    "advanced_composition",
    "basic_composition",
    "central_limit",
    "fastest_climb",
    "gaussian_rdp",
    "gdp_composition",
    "kov_simple",
    "laplace_rdp",
    "moments_accountant",
    "optimal_delta",
    "optimal_epsilon",
    "randomized_response_rdp",
    "rdp_composition",
    "subsampled_central_limit",
    "subsampled_gaussian_rdp",
    "whole_orders",
    "zcdp_composition",
]
