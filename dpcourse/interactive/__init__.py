"""Mechanisms that answer one query after another, and filters that keep a budget over them."""

from dpcourse.interactive.filters import (
    ApproxFilter,
    Filter,
    Odometer,
    PureFilter,
    RDPFilter,
    ZCDPFilter,
    pure_reading,
)
from dpcourse.interactive.sessions import Interactive, LaplaceAnswerer, NoisyGate, Trapdoor
from dpcourse.interactive.unsound import CheckAfterFilter, RealisedCompositionFilter

__all__ = [
    "ApproxFilter",
    "CheckAfterFilter",
    "Filter",
    "Interactive",
    "LaplaceAnswerer",
    "NoisyGate",
    "Odometer",
    "PureFilter",
    "RDPFilter",
    "RealisedCompositionFilter",
    "Trapdoor",
    "ZCDPFilter",
    "pure_reading",
]
