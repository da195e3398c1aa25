"""Nothing learned about anybody? Dalenius's wish of 1977, and the auxiliary information that breaks it.

The release tells a number t about the population, which is what it is for. The attacker has heard that the
target's secret is t + offset, and knows the offset; without t that is worthless, since every secret remains
equally likely. With the release it is everything: the secret is learned exactly as often as the release is
useful, whether the target took part or not. So no useful release can promise that nothing is learned about a
person, and differential privacy promises something else (Dwork, ICALP 2006; Dwork and Naor 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcourse.errors import whole
from dpcourse.laws import Finite


def guessing(worlds: dict[tuple[Hashable, Hashable], Any]) -> Any:
    """How often the best guess of the secret is right, from the weights of (secret, what is seen).

    Sum over views of the largest weight of a secret with that view.

    >>> guessing({("ill", "smokes"): Fraction(3, 4), ("well", "smokes"): Fraction(1, 4)})
    Fraction(3, 4)
    """
    best: dict[Hashable, Any] = {}
    for (_, view), weight in worlds.items():
        best[view] = max(best.get(view, 0), weight)
    return sum(best.values())


@dataclass(frozen=True)
class Disclosure:
    """How often the best guess is right, for each thing that the attacker may have."""

    nothing: Any
    hearsay: Any
    release: Any
    both: Any
    useful: Any
    """How often the best guess of the public number is right: what the release is good for."""


def disclosure(release: Callable[[int], Finite], levels: int) -> Disclosure:
    """Number and offset are independent and uniform below `levels`; the secret is their sum mod levels.

    The release sees the population number only, never the target.

    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> mechanism = RandomizedResponse.with_odds(27, values=tuple(range(4)))
    >>> print(disclosure(mechanism.law, levels=4))  # doctest: +NORMALIZE_WHITESPACE
    Disclosure(nothing=Fraction(1, 4), hearsay=Fraction(1, 4), release=Fraction(1, 4),
               both=Fraction(9, 10), useful=Fraction(9, 10))
    """
    whole("levels", levels, at_least=2)
    seen: tuple[dict[Any, Any], ...] = ({}, {}, {}, {}, {})
    for number in range(levels):
        law = release(number)
        for output, chance in zip(law.outcomes, law.probs, strict=True):
            for offset in range(levels):
                weight, secret = chance * Fraction(1, levels**2), (number + offset) % levels
                views = (None, offset, output, (output, offset))
                keys = [(secret, view) for view in views] + [(number, output)]
                for world, key in zip(seen, keys, strict=True):
                    world[key] = world.get(key, 0) + weight
    return Disclosure(*(guessing(world) for world in seen))
