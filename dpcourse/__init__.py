"""dpcourse: differential privacy that runs.

>>> import dpcourse as dp
>>> mechanism = dp.LaplaceMechanism(epsilon=0.5)
>>> loss = mechanism.loss(10, 11)
>>> loss.max_divergence()
0.5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpcourse import coins, laws
from dpcourse.errors import BadInput
from dpcourse.guarantees import GDP, RDP, ZCDP, ApproxDP, Guarantee, PureDP
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import (
    Composed,
    Custom,
    DiscreteGaussianMechanism,
    ExponentialMechanism,
    GaussianMechanism,
    GeometricMechanism,
    LaplaceMechanism,
    Mechanism,
    NoisyMax,
    Parallel,
    PostProcessed,
    RandomizedResponse,
    Subsampled,
    TopK,
    TwoCoins,
    classic_sigma,
    gaussian_sigma,
    histogram,
)
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE

if TYPE_CHECKING:
    from dpcourse import (
        accounting,
        adversaries,
        algorithms,
        attacks,
        audit,
        data,
        interactive,
        proofs,
        sensitivity,
    )
    from dpcourse import widgets as explore
    from dpcourse.accounting import compare
    from dpcourse.game import Ask, Challenge, Game, GameError, Guess, Open, optimal_adversary
    from dpcourse.interactive import (
        Agent,
        ApproxFilter,
        Odometer,
        PrivateTable,
        PureFilter,
        RDPFilter,
        SparseVector,
        ZCDPFilter,
        col,
    )
    from dpcourse.workbook import check, expect

__version__ = "0.1.0"

# Loaded at first use, so that `import dpcourse` takes hardly longer than `import numpy`.
_LATER = {
    "dpcourse.accounting": ("compare",),
    "dpcourse.adversaries": (),
    "dpcourse.algorithms": (),
    "dpcourse.attacks": (),
    "dpcourse.audit": (),
    "dpcourse.data": (),
    "dpcourse.game": ("Ask", "Challenge", "Game", "GameError", "Guess", "Open", "optimal_adversary"),
    "dpcourse.interactive": (
        *("Agent", "ApproxFilter", "Odometer", "PrivateTable", "PureFilter"),
        *("RDPFilter", "SparseVector", "ZCDPFilter", "col"),
    ),
    "dpcourse.proofs": (),
    "dpcourse.sensitivity": (),
    "dpcourse.workbook": ("check", "expect"),
}


def __getattr__(name: str) -> Any:
    if name == "explore":
        return import_module("dpcourse.widgets")
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
        if module == f"dpcourse.{name}":
            return import_module(module)
    raise AttributeError(f"module 'dpcourse' has no attribute {name!r}")


__all__ = [
    "ADD_REMOVE",
    "GDP",
    "RDP",
    "REPLACE_ONE",
    "ZCDP",
    "Agent",
    "ApproxDP",
    "ApproxFilter",
    "Ask",
    "BadInput",
    "Challenge",
    "Composed",
    "Custom",
    "DiscreteGaussianMechanism",
    "ExponentialMechanism",
    "Game",
    "GameError",
    "GaussianMechanism",
    "GeometricMechanism",
    "Guarantee",
    "Guess",
    "LaplaceMechanism",
    "Mechanism",
    "NoisyMax",
    "Odometer",
    "Open",
    "Parallel",
    "PostProcessed",
    "PrivacyLoss",
    "PrivateTable",
    "PureDP",
    "PureFilter",
    "RDPFilter",
    "RandomizedResponse",
    "SparseVector",
    "Subsampled",
    "TopK",
    "TwoCoins",
    "ZCDPFilter",
    "accounting",
    "adversaries",
    "algorithms",
    "attacks",
    "audit",
    "check",
    "classic_sigma",
    "coins",
    "col",
    "compare",
    "data",
    "expect",
    "explore",
    "gaussian_sigma",
    "histogram",
    "interactive",
    "laws",
    "optimal_adversary",
    "proofs",
    "sensitivity",
]
