"""Accounting: what many releases cost together, under every bound of the course and exactly.

compare(workload, delta)     all bounds on one workload, next to the exact answer
theorems                     basic_composition and all the others, as plain functions
largest_epsilon, ...         the inverse problem: the most that a budget allows
misprints                    forms that are in print and false, for the lectures
"""

from dpcourse.accounting import misprints, theorems
from dpcourse.accounting.bounds import BOUNDS, Bound, epsilon_under
from dpcourse.accounting.common import Steps, Total
from dpcourse.accounting.comparison import Comparison, Row, compare, compare_over_k
from dpcourse.accounting.inverse import (
    extreme,
    largest_epsilon,
    largest_k,
    smallest_scale,
    smallest_sigma,
)
from dpcourse.accounting.rounded import ROUNDINGS, Rounded
from dpcourse.accounting.step import Step
from dpcourse.accounting.theorems import *  # noqa: F403 (its __all__ says which)
from dpcourse.accounting.workload import Workload

__all__ = [
    "BOUNDS",
    "ROUNDINGS",
    "Bound",
    "Comparison",
    "Rounded",
    "Row",
    "Step",
    "Steps",
    "Total",
    "Workload",
    "compare",
    "compare_over_k",
    "epsilon_under",
    "extreme",
    "largest_epsilon",
    "largest_k",
    "misprints",
    "smallest_scale",
    "smallest_sigma",
    "theorems",
]
__all__ += theorems.__all__
