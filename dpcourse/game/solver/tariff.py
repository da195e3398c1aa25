"""Tariff: what was spent of a filter's budget, written as one whole number that queries add to.

The number counts the charges of each kind (as its digits), which loses nothing. For an additive budget
in one currency it can be a multiple of a rounded price instead, which takes far fewer numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpcourse.errors import Floats, reject
from dpcourse.guarantees import Guarantee
from dpcourse.interactive.filters import Filter

Codes = NDArray[np.int64]
UNLIMITED: Final = -1
"""The code of every state from which the budget cannot run out any more."""
REFUSED: Final = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Tariff(ABC):
    """A query of kind i adds `adds[i]` to the code, if it is admitted; without a filter, nothing."""

    kinds: tuple[Any, ...]
    adds: tuple[int, ...]

    @abstractmethod
    def kind(self, guarantee: Guarantee) -> Any:
        """What the filter sees of a charge."""

    @abstractmethod
    def after(self, asked: int, left: int, codes: Codes, kind: int) -> Codes:
        """The codes after one more query: `asked` with it, `left` to go; REFUSED if it does not fit."""

    def canonical(self, asked: int, left: int, codes: Codes) -> Codes:
        """One code for all states with the same future, as far as that is easy to see."""
        return codes

    def place(self, guarantee: Guarantee) -> int:
        """The number of a charge's kind."""
        kind = self.kind(guarantee)
        if kind not in self.kinds:
            fix = "play with the menu that it was computed for."
            reject("charge", guarantee, "that of a query on the optimal adversary's menu", fix)
        return self.kinds.index(kind)


@dataclass(frozen=True)
class Free(Tariff):
    """No filter: whatever was asked, all may be asked."""

    def kind(self, guarantee: Guarantee) -> Any:
        """All charges are alike."""
        return 0

    def after(self, asked: int, left: int, codes: Codes, kind: int) -> Codes:
        """The same."""
        return codes


@dataclass(frozen=True)
class BySequence(Tariff):
    """Any filter at all: asks it about every list of charges, in the order of their kinds."""

    filter: Filter
    base: int

    def kind(self, guarantee: Guarantee) -> Any:
        """The guarantee itself."""
        return guarantee

    def after(self, asked: int, left: int, codes: Codes, kind: int) -> Codes:
        """One filter question for each state."""
        admitted = [not self.filter.refuses(self._charges(c), self.kinds[kind]) for c in codes.tolist()]
        return np.where(admitted, codes + self.adds[kind], REFUSED)

    def _charges(self, code: int) -> list[Guarantee]:
        counts = [code // add % self.base for add in self.adds]
        return [g for g, count in zip(self.kinds, counts, strict=True) for _ in range(count)]


@dataclass(frozen=True)
class ByCost(Tariff):
    """An additive filter: n queries with this code cost n flat + digits(code) . prices.

    `currencies` are those of the filter's costs that can exceed its budget.
    """

    filter: Filter
    base: int
    currencies: tuple[int, ...]
    prices: Floats
    flat: float = 0.0

    def kind(self, guarantee: Guarantee) -> Any:
        """What it costs."""
        return self.filter.costs(guarantee)

    def after(self, asked: int, left: int, codes: Codes, kind: int) -> Codes:
        """Compares totals with the budget."""
        free = codes == UNLIMITED
        after = np.where(free, codes, codes + self.adds[kind])
        return np.where(
            free | self._fit(self._totals(asked, after)), self.canonical(asked, left, after), REFUSED
        )

    def canonical(self, asked: int, left: int, codes: Codes) -> Codes:
        """UNLIMITED where even the dearest query fits in every round that is left."""
        worst = self._totals(asked, codes) + left * self._totals(1, np.array(self.adds)).max(0)
        return np.where((codes == UNLIMITED) | self._fit(worst), UNLIMITED, codes)

    def rounded(self, steps: int, up: bool) -> ByCost:
        """The costs rounded to flat + price Z, all up or all down, with some `steps` in the budget.

        An offset that all share is free, because the number of queries is known. So two different costs are
        met exactly, and the best of many prices misses more of them by much less than half of it.
        """
        costs = self.prices[:, 0]
        tries = self._budget / steps * np.linspace(0.7, 1.4, 20001)[:, None]
        misses = costs - tries * np.round((costs - costs.min()) / tries)
        best = int(np.argmin(np.ptp(misses, axis=1)))
        price, safe = tries[best], 1e-14 * costs.max()
        adds = tuple(map(int, np.round((costs - costs.min()) / price)))
        flat = float(misses[best].max() + safe if up else misses[best].min() - safe)
        return ByCost(self.kinds, adds, self.filter, REFUSED, self.currencies, price[:, None], flat)

    def _totals(self, asked: int, codes: Codes) -> Floats:
        digits = codes[:, None] // self.base ** np.arange(len(self.prices)) % self.base
        return np.asarray(digits @ self.prices + asked * self.flat)

    def _fit(self, totals: Floats) -> NDArray[np.bool_]:
        if len(self.currencies) == 1:
            return np.asarray(totals[:, 0] <= self._budget)
        every = np.zeros((len(totals), len(self.kinds[0])))
        every[:, self.currencies] = totals
        return np.array([self.filter.fits(tuple(row)) for row in every.tolist()], dtype=bool)

    @cached_property
    def _budget(self) -> float:
        """The largest total that fits, found by halving down to neighbouring floats."""

        def fits(total: float) -> bool:
            return self.filter.fits(_only(self.currencies[0], total, len(self.kinds[0])))

        low, high = 0.0, 1.0
        while fits(high) and high < 1e300:
            low, high = high, 2 * high
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low


def tariff_of(budget: Filter | None, guarantees: Sequence[Guarantee], rounds: int) -> Tariff:
    """The one that fits the filter; nothing is rounded."""
    if budget is None:
        return Free((0,), (0,))
    for guarantee in guarantees:
        budget.refuses((), guarantee)  # a filter rejects what it cannot price, such as another adjacency
    additive = type(budget).refuses is Filter.refuses
    kinds = tuple(dict.fromkeys(budget.costs(g) if additive else g for g in guarantees))
    base = rounds + 1
    if base ** len(kinds) >= REFUSED:
        fix = "leave some out, or play fewer rounds."
        reject("menu", f"{len(kinds)} kinds of charges in {rounds} rounds", "of fewer kinds", fix)
    adds = tuple(base**i for i in range(len(kinds)))
    if not additive:
        return BySequence(kinds, adds, budget, base)
    costs = np.array(kinds, dtype=float)
    width = costs.shape[1]
    idle = [budget.fits(_only(i, math.inf, width)) or not costs[:, i].any() for i in range(width)]
    currencies = tuple(i for i in range(width) if not idle[i])
    return ByCost(kinds, adds, budget, base, currencies, costs[:, currencies])


def _only(place: int, amount: float, width: int) -> tuple[float, ...]:
    return tuple(amount if i == place else 0.0 for i in range(width))
