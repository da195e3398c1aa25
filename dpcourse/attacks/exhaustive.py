"""Reconstruction with unlimited power: keep every candidate that fits all 2^n answers.

If each answer is within E of the truth, two candidates x and y that both fit differ in at most 4E bits: on
the set where x = 1 and y = 0 their counts differ by its size, and both are within E of the same answer, so it
has at most 2E people; so has the set where x = 0 and y = 1. Errors of order n are needed to stop this
adversary (Dinur and Nissim, PODS 2003).

Subset s holds person i if bit i of s is 1; a candidate is written the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcourse.attacks.oracles import Answer, Bools, Progress, ask, bits
from dpcourse.errors import Floats, nonnegative, numeric, reject, whole

Ints = NDArray[np.int64]
LARGEST: Final = 16
BLOCK: Final = 1 << 22  # comparisons at a time


def subsets(n: int) -> Bools:
    """All 2^n masks; row s holds person i if bit i of s is 1.

    >>> subsets(2).astype(int).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    if whole("n", n) > LARGEST:
        reject("n", n, f"at most {LARGEST}", "2^n questions: use the linear program for more people.")
    return _bits(np.arange(1 << n), n)


def consistent(answers: ArrayLike, error: float) -> Ints:
    """Every candidate x with |x(S) - answer(S)| <= error for all subsets S, in increasing order.

    People join one by one. A candidate for the first i people must fit the 2^i subsets of them, so most die
    young: the work is far from the 4^n of a search over all pairs.

    >>> consistent([0, 1, 0, 1], error=0).tolist()  # person 0 has the bit, person 1 has not
    [1]
    """
    a = numeric("answers", answers)
    n = max(a.size, 1).bit_length() - 1
    if a.ndim != 1 or a.size != 1 << n or not 1 <= n <= LARGEST:
        fix = "answer every subset, the empty one too, in the order of subsets(n)."
        reject("answers", f"shape {a.shape}", f"2^n numbers, n from 1 to {LARGEST}", fix)
    slack = nonnegative("error", error) + 1e-9  # the counts are whole: only the answers are rounded
    alive = np.zeros(1 if abs(a[0]) <= slack else 0, dtype=np.int64)
    for i in range(n):
        alive = np.concatenate([alive, alive | 1 << i])
        new = np.arange(1 << i, dtype=np.int64) | 1 << i  # the subsets that the newcomer is in
        rows = max(1, BLOCK // len(new))
        parts = [alive[k : k + rows] for k in range(0, len(alive), rows)]
        fits = [
            (np.abs(np.bitwise_count(part[:, None] & new) - a[new]) <= slack).all(axis=1) for part in parts
        ]
        alive = alive[np.concatenate(fits)] if fits else alive
    return np.sort(alive)


@dataclass(frozen=True)
class Survivors:
    """The candidates that no answer excludes, and how far apart they can be."""

    candidates: Ints
    n: int
    error: float

    @property
    def bits(self) -> Bools:
        """The candidates as rows of bits."""
        return _bits(self.candidates, self.n)

    @property
    def bound(self) -> int:
        """Any two survivors differ in at most 4E bits (and in at most n)."""
        return min(self.n, 2 * math.floor(2 * self.error + 1e-9))

    @property
    def diameter(self) -> int:
        """The largest number of bits in which two survivors differ."""
        return int(np.bitwise_count(self.candidates[:, None] ^ self.candidates).max(initial=0))

    def distances(self, secret: ArrayLike) -> Ints:
        """In how many bits each survivor differs from the secret."""
        found: Ints = np.sum(self.bits != bits("secret", secret), axis=1)
        return found


def exhaust(answer: Answer, n: int, error: float, progress: Progress | None = None) -> Survivors:
    """Asks all 2^n questions and keeps what fits.

    >>> from dpcourse.attacks.oracles import Exact
    >>> exhaust(Exact([1, 0, 1, 1]), n=4, error=0.4).bits.astype(int)
    array([[1, 0, 1, 1]])
    """
    return Survivors(consistent(ask(answer, subsets(n), progress), error), n, error)


def confusing(secret: ArrayLike, twin: ArrayLike) -> tuple[Floats, float]:
    """Answers halfway between two candidates, and the least error E that both then fit.

    With 2E ones turned off and 2E zeros turned on the twin is 4E bits away, so the bound is tight.

    >>> confusing([1, 1, 0, 0], [0, 0, 1, 1])[1]
    1.0
    """
    x, y = bits("secret", secret), bits("twin", twin)
    if x.size != y.size:
        reject("twin", twin, f"{x.size} bits, as many as the secret", "give one bit for each person.")
    masks = subsets(x.size)
    counts: Any = np.stack([masks @ x.astype(float), masks @ y.astype(float)])
    return counts.mean(axis=0), float(np.abs(counts[0] - counts[1]).max() / 2)


def _bits(numbers: Ints, n: int) -> Bools:
    return (numbers[:, None] >> np.arange(n) & 1).astype(np.bool_)
