"""Sensitivity: how far one person can move an answer, over all data, at this data, and smoothly between.

>>> q = median(5, low=0, high=10)
>>> data = (0, 1, 5, 9, 10)
>>> q.global_sensitivity, q.local(data), round(q.smooth(data, beta=0.1), 5)
(10.0, 4.0, 7.40818)
"""

from dpcourse.sensitivity.closed_forms import (
    count_sensitivity,
    histogram_sensitivity,
    mean_sensitivity,
    median_sensitivity,
    sum_sensitivity,
)
from dpcourse.sensitivity.definitions import (
    global_sensitivity,
    local_at_distance,
    local_sensitivity,
    smooth_sensitivity,
)
from dpcourse.sensitivity.ranks import RankMean, mean, median, order_statistic, trimmed_mean

__all__ = [
    "RankMean",
    "count_sensitivity",
    "global_sensitivity",
    "histogram_sensitivity",
    "local_at_distance",
    "local_sensitivity",
    "mean",
    "mean_sensitivity",
    "median",
    "median_sensitivity",
    "order_statistic",
    "smooth_sensitivity",
    "sum_sensitivity",
    "trimmed_mean",
]
