"""Ledger: what an adversary may still ask, after each way of spending a filter's budget.

The future depends on the past only through how many queries were asked and what was spent on them. A
ledger lists these states level by level, and says where each query of a menu leads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcourse.errors import Floats, reject
from dpcourse.game.solver.tariff import REFUSED, Codes, Tariff
from dpcourse.guarantees import Guarantee


@dataclass(frozen=True)
class Ledger:
    """codes[n]: the states after n queries, sorted; moves[n][a, s]: where item a leads, -1 if refused."""

    tariff: Tariff
    codes: tuple[Codes, ...]
    moves: tuple[Codes, ...]

    @property
    def rounds(self) -> int:
        """How many queries there may be."""
        return len(self.moves)

    @property
    def size(self) -> int:
        """The number of states."""
        return sum(map(len, self.codes))

    def most(self, each: Floats) -> list[Floats]:
        """For each state, the largest sum of `each` over the queries that may still be asked."""
        best = [np.zeros(len(self.codes[-1]))]
        for move in reversed(self.moves):
            ahead = np.append(best[-1], 0.0)  # a refused query's -1 looks at the zero
            best.append(np.where(move >= 0, each[:, None] + ahead[move], 0.0).max(0, initial=0.0))
        return best[::-1]

    def find(self, left: int, charges: Sequence[Guarantee]) -> int:
        """The row of the state with so many rounds left and these charges."""
        if not 0 <= left <= self.rounds:
            fix = "play a game of as many rounds as it was computed for."
            reject("view.left", left, f"at most {self.rounds}", fix)
        asked = self.rounds - left
        spent = np.array([sum(self.tariff.adds[self.tariff.place(g)] for g in charges)])
        code, level = self.tariff.canonical(asked, left, spent)[0], self.codes[asked]
        row = int(np.searchsorted(level, code))
        if row == len(level) or level[row] != code:
            fix = "play a game with the rounds and the filter that it was computed for."
            reject("view", f"{left} rounds left, {len(charges)} charges", "a state of the solved game", fix)
        return row


def open_ledger(tariff: Tariff, guarantees: Sequence[Guarantee], rounds: int, limit: int) -> Ledger | None:
    """All states that queries with these guarantees lead to; None if there are more than `limit`.

    >>> from dpcourse.game.solver.tariff import tariff_of
    >>> from dpcourse.guarantees import PureDP
    >>> from dpcourse.interactive.filters import PureFilter
    >>> costs = [PureDP(1), PureDP(2)]
    >>> open_ledger(tariff_of(PureFilter(3), costs, 3), costs, 3, 100).size  # 0; 1, 2; 1+1, 1+2; 1+1+1
    6
    """
    places = [tariff.place(g) for g in guarantees]
    codes, moves = [tariff.canonical(0, rounds, np.array([0]))], []
    for asked in range(1, rounds + 1):
        after = np.array([tariff.after(asked, rounds - asked, codes[-1], place) for place in places])
        states, rows = np.unique(after, return_inverse=True)
        states = states[states != REFUSED]  # the largest code of all, so the other rows stay
        rows = rows.reshape(after.shape)
        moves.append(np.where(rows < len(states), rows, -1))
        codes.append(states)
        if sum(map(len, codes)) > limit:
            return None
    return Ledger(tariff, tuple(codes), tuple(moves))
