"""How much noise stops reconstruction: the fraction of bits recovered against c, for noise c sqrt(n).

Next to the simulation stand three numbers: what least squares expects on the questions asked, what coin
flipping would get, and what no attack whatever can exceed against a private answerer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.attacks.linear import interrogate, random_subsets
from dpcourse.attacks.oracles import Bools, Bounded, Progress
from dpcourse.errors import Floats, delta, nonnegative, numeric, positive, reject, whole

PICTURE: Final[Bools] = np.array(
    [
        [bit == "#" for bit in line]
        for line in (
            "..####..",
            ".##..##.",
            ".#....#.",
            "########",
            "###..###",
            "###..###",
            "########",
            "########",
        )
    ]
)
"""A padlock of 8 by 8 pixels: 64 secret bits, as PICTURE.ravel()."""
PICTURE.setflags(write=False)


def recoverable(epsilon: float, failure: float = 0.0) -> float:
    """The most that any attack on an (epsilon, delta)-DP answerer recovers of random bits, on average.

    (e^epsilon + delta)/(1 + e^epsilon): whatever the other bits, each guess is at most e^epsilon times as
    probable (plus delta) when it is right as when it is wrong. Randomized response reaches it.

    >>> round(recoverable(1.0), 4)
    0.7311
    """
    nonnegative("epsilon", epsilon)
    return float(1 - (1 - delta("delta", failure)) * special.expit(-epsilon))


def expected_recovery(masks: ArrayLike, sigma: float) -> float:
    """The expected fraction that rounded least squares recovers under Gaussian noise, for these questions.

    The estimate of bit i is normal with variance sigma^2 [(Q^T Q)^-1]_ii, and right if its error stays below
    1/2. Exact for Gaussian noise and least squares without the box.

    >>> round(expected_recovery(np.eye(3), sigma=0.5), 6)  # each bit is asked alone: Phi(1)
    0.841345
    """
    questions = numeric("masks", masks)
    gram = questions.T @ questions
    if np.linalg.matrix_rank(gram) < len(gram):
        reject("masks", f"rank below {len(gram)}", "as many independent questions as people", "ask more.")
    spread = positive("sigma", sigma) * np.sqrt(np.diagonal(np.linalg.inv(gram)))
    return float(np.mean(special.ndtr(0.5 / spread)))


@dataclass(frozen=True)
class PhaseCurve:
    """Recovered fractions, one row a noise level, one column a repetition."""

    levels: Floats
    """c: the noise is uniform on +- c sqrt(n)."""
    n: int
    queries: int
    fractions: Floats
    expected: Floats
    """What least squares expects under Gaussian noise of the same variance; NaN for too few questions."""

    @property
    def mean(self) -> Floats:
        """The mean over the repetitions."""
        return np.asarray(np.mean(self.fractions, axis=1))

    @property
    def noise(self) -> Floats:
        """The bound on the errors, c sqrt(n)."""
        return self.levels * math.sqrt(self.n)


def phase_curve(
    levels: Sequence[float],
    rng: np.random.Generator,
    n: int = 64,
    queries: int | None = None,
    repeat: int = 5,
    norm: float = math.inf,
    progress: Progress | None = None,
) -> PhaseCurve:
    """Attacks random secrets at every noise level; 4n queries unless told.

    >>> phase_curve([0.1, 8.0], np.random.default_rng(0), n=32, repeat=3).mean.round(1)
    array([1. , 0.6])
    """
    c = np.atleast_1d(nonnegative("levels", levels))
    queries = 4 * whole("n", n) if queries is None else whole("queries", queries)
    fractions = np.empty((len(c), whole("repeat", repeat)))
    for (i, j), _ in np.ndenumerate(fractions):
        secret = rng.integers(0, 2, n)
        oracle = Bounded(secret, float(c[i]) * math.sqrt(n), rng)
        fractions[i, j] = interrogate(oracle, n, queries, rng, norm).recovered(secret)
        if progress is not None:
            progress(i * repeat + j + 1, fractions.size)
    masks = random_subsets(rng, queries, n)
    sigmas = c * math.sqrt(n / 3)  # the standard deviation of the uniform noise
    if np.linalg.matrix_rank(masks.astype(float)) < n:
        expected = np.full(len(c), np.nan)
    else:
        expected = np.array([expected_recovery(masks, s) if s else 1.0 for s in sigmas])
    return PhaseCurve(c, n, queries, fractions, expected)
