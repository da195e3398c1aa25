"""The zoo: one table of sound mechanisms, and one of published or tempting broken ones.

The contract passes every sound one and rejects every broken one; the tests see to both.
"""

from __future__ import annotations

from dpcourse.contract import Case
from dpcourse.zoo import algorithms, basics
from dpcourse.zoo.basics import QuietSampler, SharedNoise


def sound() -> list[Case]:
    """Mechanisms that keep their word, each with neighbouring pairs; tight where the promise is reached."""
    return basics.sound() + algorithms.sound()


def broken() -> list[Case]:
    """Mechanisms that do not keep their word: each a mistake that people really make."""
    return basics.broken() + algorithms.broken()


__all__ = ["QuietSampler", "SharedNoise", "broken", "sound"]
