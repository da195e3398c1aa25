"""Accounting: what many releases cost together, under every bound of the course and exactly.

compare(workload, delta)     all bounds on one workload, next to the exact answer
basic_composition, ...       the named theorems as plain functions
largest_epsilon, ...         the inverse problem: the most that a budget allows
misprints                    forms that are in print and false, for the lectures
"""

from dpcourse.accounting import misprints
from dpcourse.accounting.basic import MEANS, advanced_composition, basic_composition, kov_simple
from dpcourse.accounting.bounds import BOUNDS, Bound, epsilon_under
from dpcourse.accounting.common import Steps, Total
from dpcourse.accounting.comparison import Comparison, Row, compare, compare_over_k
from dpcourse.accounting.gaussian import Limit, central_limit, gdp_composition, subsampled_central_limit
from dpcourse.accounting.group import fastest_climb
from dpcourse.accounting.inverse import (
    extreme,
    largest_epsilon,
    largest_k,
    smallest_scale,
    smallest_sigma,
)
from dpcourse.accounting.moments import (
    gaussian_rdp,
    laplace_rdp,
    rdp_composition,
    whole_orders,
    zcdp_composition,
)
from dpcourse.accounting.optimal import optimal_delta, optimal_epsilon
from dpcourse.accounting.rounded import ROUNDINGS, Rounded
from dpcourse.accounting.sampling import moments_accountant, subsampled_gaussian_rdp
from dpcourse.accounting.step import Step
from dpcourse.accounting.workload import Workload
from dpcourse.guarantees.renyi import randomized_response_rdp

__all__ = [
    "BOUNDS",
    "MEANS",
    "ROUNDINGS",
    "Bound",
    "Comparison",
    "Limit",
    "Rounded",
    "Row",
    "Step",
    "Steps",
    "Total",
    "Workload",
    "advanced_composition",
    "basic_composition",
    "central_limit",
    "compare",
    "compare_over_k",
    "epsilon_under",
    "extreme",
    "fastest_climb",
    "gaussian_rdp",
    "gdp_composition",
    "kov_simple",
    "laplace_rdp",
    "largest_epsilon",
    "largest_k",
    "misprints",
    "moments_accountant",
    "optimal_delta",
    "optimal_epsilon",
    "randomized_response_rdp",
    "rdp_composition",
    "smallest_scale",
    "smallest_sigma",
    "subsampled_central_limit",
    "subsampled_gaussian_rdp",
    "whole_orders",
    "zcdp_composition",
]
