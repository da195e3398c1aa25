"""The menu of an adversary: challenges with two finite laws, and what their outcomes tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from dpcourse.errors import reject
from dpcourse.game.moves import Challenge
from dpcourse.guarantees import Guarantee
from dpcourse.laws import Finite
from dpcourse.loss import FiniteLoss
from dpcourse.mechanisms import Mechanism, RandomizedResponse, TwoCoins

Menu = Sequence[Challenge | Mechanism] | Mapping[str, Challenge | Mechanism]
WORST_PAIRS: Final[dict[type, Callable[[Any], tuple[Any, Any]]]] = {
    RandomizedResponse: lambda mechanism: (mechanism.values[0], mechanism.values[1]),
    TwoCoins: lambda _: (True, False),
}


@dataclass(frozen=True)
class Item:
    """One line of the menu."""

    name: str
    challenge: Challenge
    laws: tuple[Finite, Finite]

    @property
    def guarantee(self) -> Guarantee:
        """What a filter charges for it."""
        return self.challenge.mechanism.guarantee

    @property
    def exact(self) -> bool:
        """Whether all probabilities are Fractions."""
        return self.laws[0].exact and self.laws[1].exact

    @cached_property
    def outcomes(self) -> list[tuple[Any, Any, Any]]:
        """Each outcome that can happen, with its probabilities under bit 0 and under bit 1."""
        left, right = self.laws
        rows = [(v, left.prob(v), right.prob(v)) for v in dict.fromkeys((*left.outcomes, *right.outcomes))]
        return [row for row in rows if row[1] or row[2]]

    @cached_property
    def factors(self) -> dict[Fraction, Fraction]:
        """The law under bit 0 of Q/P, what an answer multiplies e^{eps - L} by; for exact laws."""
        law: dict[Fraction, Fraction] = {}
        for _, p, q in self.outcomes:
            if p:
                law[q / p] = law.get(q / p, Fraction(0)) + p
        return law

    @cached_property
    def loss(self) -> FiniteLoss:
        """The privacy loss of one answer."""
        return FiniteLoss.of(*self.laws)


def read_menu(menu: Menu) -> tuple[Item, ...]:
    """Challenges, or mechanisms whose worst pair of inputs is obvious; a mapping names them.

    >>> [item.name for item in read_menu([RandomizedResponse(0.5), TwoCoins()])]
    ['RandomizedResponse(0.5)', 'TwoCoins(0.5)']
    """
    if not menu:
        reject("menu", menu, "at least one challenge", "give [Challenge(mechanism, left, right), ...].")
    if len(menu) > 100:
        reject("menu", f"{len(menu)} entries", "at most 100 long", "leave out what others dominate.")
    if isinstance(menu, Mapping):
        return tuple(_item(_challenge(entry), name) for name, entry in menu.items())
    challenges = [_challenge(entry) for entry in menu]
    return tuple(_item(challenge, _name(challenge.mechanism)) for challenge in challenges)


def _challenge(entry: Any) -> Challenge:
    if isinstance(entry, Challenge):
        return entry
    if type(entry) not in WORST_PAIRS:
        known = " or ".join(kind.__name__ for kind in WORST_PAIRS)
        fix = "give Challenge(mechanism, left, right) with two neighbouring inputs."
        reject("menu entry", entry, f"a challenge, or a {known} (whose worst pair is clear)", fix)
    return Challenge(entry, *WORST_PAIRS[type(entry)](entry))


def _item(challenge: Challenge, name: str) -> Item:
    left, right = (challenge.law(bit).to_finite() for bit in (0, 1))
    if left is None or right is None or left.batch_shape or right.batch_shape:
        fix = "use a mechanism with finitely many answers; any other can be played and simulated."
        reject("menu entry", challenge.mechanism, "a mechanism with finite laws, to be solved", fix)
    return Item(name, challenge, (left, right))


def _name(mechanism: Mechanism) -> str:
    first = next((v for v in vars(mechanism).values() if isinstance(v, float | int | Fraction)), None)
    return type(mechanism).__name__ + ("" if first is None else f"({float(first):.4g})")
