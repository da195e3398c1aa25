"""Reconstruction in polynomial time: a linear program finds the fractional secret that fits the answers best.

Two candidates that are far apart disagree by about sqrt(n) on a random subset. So a few n random questions
leave only candidates near the secret, if the noise is well below sqrt(n) (Dinur and Nissim, PODS 2003). The
least total error tolerates a share of arbitrarily wrong answers (Dwork, McSherry and Talwar, STOC 2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.attacks.oracles import Answer, Bools, Progress, ask, bits
from dpcourse.errors import Floats, numeric, one_of, reject, whole


@dataclass(frozen=True)
class Reconstruction:
    """What the answers say about the secret."""

    fractional: Floats
    """The best fit in [0, 1]^n."""
    residuals: Floats
    """Answer less fit, for each question that was answered."""
    refused: int
    """Questions without an answer: they were left out of the fit."""

    @property
    def bits(self) -> Bools:
        """The fit, rounded."""
        return self.fractional > 0.5

    def recovered(self, secret: ArrayLike) -> float:
        """The fraction of bits that are right."""
        return float(np.mean(self.bits == bits("secret", secret)))


def random_subsets(rng: np.random.Generator, queries: int, n: int) -> Bools:
    """Questions about uniformly random subsets."""
    return rng.integers(0, 2, (whole("queries", queries), whole("n", n)), dtype=np.bool_)


def reconstruct(masks: ArrayLike, answers: ArrayLike, norm: float = math.inf) -> Reconstruction:
    """The x in [0, 1]^n with the least ||answers - masks x||, in the norm that fits the noise.

    inf: the largest error, Dinur and Nissim's program, best where all errors are within a bound. 1: the total
    error, where some answers are wild. 2: least squares, where the noise is Gaussian. NaN is a refusal.

    >>> masks = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=bool)
    >>> reconstruct(masks, [1.2, 0.9, 2.1, 1.8]).bits
    array([ True, False,  True])
    """
    questions = numeric("masks", masks)
    try:
        a = np.asarray(answers, dtype=float)
    except (OverflowError, TypeError, ValueError):
        reject("answers", answers, "numbers, or NaN for a refusal", "give one number for each mask.")
    if questions.ndim != 2 or a.shape != questions.shape[:1]:
        rule = "one number for each row of masks"
        reject("answers", f"shape {a.shape} for masks {questions.shape}", rule, "give masks of shape (m, n).")
    answered = ~np.isnan(a)
    if not answered.any():
        reject("answers", answers, "answered at least once", "ask about larger sets.")
    questions, a = questions[answered], numeric("answers", a[answered])
    fit = {1: _total, 2: _squares, math.inf: _largest}[one_of("norm", norm, (1, 2, math.inf))]
    x = np.clip(fit(questions, a), 0, 1)
    return Reconstruction(x, a - questions @ x, int(np.sum(~answered)))


def _largest(questions: Floats, a: Floats) -> Any:
    """min t subject to |a - Qx| <= t, 0 <= x <= 1."""
    m, n = questions.shape
    t = np.ones((m, 1))
    sides = np.block([[questions, -t], [-questions, -t]])
    bounds = [(0, 1)] * n + [(0, None)]
    return _solve(np.append(np.zeros(n), 1), sides, np.concatenate([a, -a]), bounds).x[:n]


def _total(questions: Floats, a: Floats) -> Any:
    """min sum |a - Qx|, by its dual: max a.y - sum w subject to w >= Q^T y, w >= 0, |y| <= 1.

    The dual has n rows instead of m, and its multipliers are x.
    """
    m, n = questions.shape
    sides = np.hstack([questions.T, -np.eye(n)])
    bounds = [(-1, 1)] * m + [(0, None)] * n
    found = _solve(np.concatenate([-a, np.ones(n)]), sides, np.zeros(n), bounds)
    return -found.ineqlin.marginals


def _squares(questions: Floats, a: Floats) -> Any:
    """min ||a - Qx||_2 over the box."""
    from scipy.optimize import lsq_linear

    return lsq_linear(questions, a, (0, 1), method="bvls" if len(a) >= questions.shape[1] else "trf").x


def _solve(cost: Floats, sides: Floats, limits: Floats, bounds: Any) -> Any:
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    found = linprog(cost, A_ub=csc_array(sides), b_ub=limits, bounds=bounds, method="highs")
    if not found.success:  # the programs are feasible and bounded: only a time limit could get here
        raise ArithmeticError(f"the linear program was not solved: {found.message}")
    return found


def interrogate(
    answer: Answer,
    n: int,
    queries: int,
    rng: np.random.Generator,
    norm: float = math.inf,
    progress: Progress | None = None,
) -> Reconstruction:
    """Asks about random subsets and reconstructs.

    >>> from dpcourse.attacks.oracles import Rounding
    >>> rng = np.random.default_rng(0)
    >>> secret = rng.integers(0, 2, 64)
    >>> interrogate(Rounding(secret), n=64, queries=512, rng=rng).recovered(secret) > 0.9
    True
    """
    masks = random_subsets(rng, queries, n)
    return reconstruct(masks, ask(answer, masks, progress), norm)
