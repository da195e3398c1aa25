"""Private selection and ranking: how good the answers are, what leaks, and two examples.

The mechanisms themselves (exponential, noisy max, top k) are in `dpcourse.mechanisms`.
"""

from dpcourse.algorithms.ranking.accuracy import (
    Useful,
    exponential_slack,
    shortfall,
    top_k_slack,
    useful,
    usefulness,
)
from dpcourse.algorithms.ranking.clocks import first_k
from dpcourse.algorithms.ranking.examples import (
    Visitors,
    most_visited,
    most_visited_unhalved,
    popular_names,
)
from dpcourse.algorithms.ranking.winning_value import LargestLaplace, WinningValue

__all__ = [
    "LargestLaplace",
    "Useful",
    "Visitors",
    "WinningValue",
    "exponential_slack",
    "first_k",
    "most_visited",
    "most_visited_unhalved",
    "popular_names",
    "shortfall",
    "top_k_slack",
    "useful",
    "usefulness",
]
