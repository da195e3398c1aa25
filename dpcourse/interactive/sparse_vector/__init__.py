"""Sparse vector: which queries of a long stream exceed a threshold, at the price of a few.

One record (`Variant`) covers the sound technique and every broken one; one integral gives the exact
probability of any output; `worst` gives the exact epsilon over all neighbouring streams.

>>> found = worst(lee_clifton(1.0, cutoff=10), 110)  # claims epsilon = 1
>>> found.epsilon, round(found.reached, 4)  # (1 + 6c)/4
(15.25, 15.25)
"""

from dpcourse.interactive.sparse_vector.broken import (
    EXHIBITS,
    Exhibit,
    chen,
    exact_threshold,
    late_cutoff,
    lee_clifton,
    missing_factor_two,
    redrawn_threshold,
    roth_2011,
    stoddard,
)
from dpcourse.interactive.sparse_vector.laws import Answer, Transcript, law_of, simulate
from dpcourse.interactive.sparse_vector.mechanism import SparseVector, SparseVectorSession, Watched
from dpcourse.interactive.sparse_vector.no_halting import delta_without_halting, slide_scale, without_halting
from dpcourse.interactive.sparse_vector.outputs import (
    log_prob,
    log_prob_bounds,
    log_probs,
    log_ratio_bounds,
    strings,
)
from dpcourse.interactive.sparse_vector.variants import (
    Variant,
    above_threshold,
    best_share,
    refreshed,
    standard,
)
from dpcourse.interactive.sparse_vector.worst import Worst, epsilon_at_any_length, worst

__all__ = [
    "EXHIBITS",
    "Answer",
    "Exhibit",
    "SparseVector",
    "SparseVectorSession",
    "Transcript",
    "Variant",
    "Watched",
    "Worst",
    "above_threshold",
    "best_share",
    "chen",
    "delta_without_halting",
    "epsilon_at_any_length",
    "exact_threshold",
    "late_cutoff",
    "law_of",
    "lee_clifton",
    "log_prob",
    "log_prob_bounds",
    "log_probs",
    "log_ratio_bounds",
    "missing_factor_two",
    "redrawn_threshold",
    "refreshed",
    "roth_2011",
    "simulate",
    "slide_scale",
    "standard",
    "stoddard",
    "strings",
    "without_halting",
    "worst",
]
