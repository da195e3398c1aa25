"""Private multiplicative weights: answers to very many linear queries, from a hypothesis that learns.

Hardt and Rothblum (FOCS 2010). A hypothesis about the data is public. While it answers well, nothing is
spent; where it errs by more than a threshold, a noisy answer is released and the hypothesis is corrected.
If all queries are known beforehand, MWEM looks for those on which it errs.
"""

from dpcourse.interactive.weights.epoch import Epoch, SameNoiseEpoch, log_lazy
from dpcourse.interactive.weights.mwem import MWEM, Measured, Synthetic
from dpcourse.interactive.weights.session import Conversation, PrivateWeights, Release
from dpcourse.interactive.weights.settings import Settings, choose_settings
from dpcourse.interactive.weights.updates import (
    drop,
    least_drop,
    potential,
    reweighted,
    updates_bound,
    worst_drop,
)

__all__ = [
    "MWEM",
    "Conversation",
    "Epoch",
    "Measured",
    "PrivateWeights",
    "Release",
    "SameNoiseEpoch",
    "Settings",
    "Synthetic",
    "choose_settings",
    "drop",
    "least_drop",
    "log_lazy",
    "potential",
    "reweighted",
    "updates_bound",
    "worst_drop",
]
