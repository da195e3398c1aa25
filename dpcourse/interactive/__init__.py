"""Mechanisms that answer one query after another, and filters that keep a budget over them.

sparse_vector   above-threshold and its kin, with the exact law of every output
table           PrivateTable: queries to a table under an exact budget
weights         private multiplicative weights
"""

from dpcourse.interactive.filters import (
    ApproxFilter,
    Filter,
    Odometer,
    PureFilter,
    RDPFilter,
    ZCDPFilter,
    pure_reading,
)
from dpcourse.interactive.peeking import ever_above, fixed_time_levels
from dpcourse.interactive.sessions import Interactive, LaplaceAnswerer, NoisyGate, Trapdoor
from dpcourse.interactive.sparse_vector import SparseVector, SparseVectorSession
from dpcourse.interactive.table import Agent, PrivateTable, col
from dpcourse.interactive.unsound import CheckAfterFilter, RealisedCompositionFilter
from dpcourse.interactive.weights import PrivateWeights

__all__ = [
    "Agent",
    "ApproxFilter",
    "CheckAfterFilter",
    "Filter",
    "Interactive",
    "LaplaceAnswerer",
    "NoisyGate",
    "Odometer",
    "PrivateTable",
    "PrivateWeights",
    "PureFilter",
    "RDPFilter",
    "RealisedCompositionFilter",
    "SparseVector",
    "SparseVectorSession",
    "Trapdoor",
    "ZCDPFilter",
    "col",
    "ever_above",
    "fixed_time_levels",
    "pure_reading",
]
