"""Averaging: fresh noise on a repeated question is averaged away.

The mean of k answers, rounded, is the true count unless the noises add up to k/2 or more. For Laplace and
Gaussian noise the probability of that is known exactly, and it falls with every further answer (Proschan
1965: the mean of symmetric log-concave noise is ever more peaked).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.attacks.oracles import Answer, Progress, ask, bits
from dpcourse.errors import Floats, nonnegative, probability, reject, whole
from dpcourse.laws import Gaussian, Laplace, Law


def tail_of_sum(noise: Law, times: int, t: float) -> float:
    r"""Pr[X_1 + ... + X_k > t] for t >= 0 and independent draws of the noise, less its centre.

    For Laplace noise the sum is the difference of two gamma variables of shape k, and the tail is
    \(\Pr[N + M \le k - 1]\), where N counts the failures before the k-th success of a fair coin and M is
    Poisson with mean t/scale: k positive terms.

    >>> round(tail_of_sum(Laplace(0, 1), 1, 2.0), 6)  # e^-2 / 2
    0.067668
    """
    k, t = whole("times", times), nonnegative("t", t)
    if isinstance(noise, Gaussian):
        return float(special.ndtr(-t / (noise.scale * np.sqrt(k))))
    if not isinstance(noise, Laplace):
        reject("noise", noise, "Laplace or Gaussian", "give a law such as laws.Laplace(0, 10).")
    failures = np.arange(k)
    binomial = special.gammaln(k + failures) - special.gammaln(k) - special.gammaln(failures + 1)
    chance = np.exp(binomial - (k + failures) * np.log(2))
    return float(chance @ special.pdtr(k - 1 - failures, t / noise.scale))


def error_probability(noise: Law, times: int) -> float:
    """Pr[the mean of the answers, rounded, is not the true count].

    >>> [round(error_probability(Laplace(0, 1), k), 4) for k in (1, 10, 50)]
    [0.6065, 0.2538, 0.0131]
    """
    return 2 * tail_of_sum(noise, times, times / 2)


def queries_needed(noise: Law, confidence: float = 0.99) -> int:
    """The least number of answers whose rounded mean is right with this probability.

    >>> queries_needed(Laplace(0, 10)), queries_needed(Laplace(0, 20))
    (5309, 21233)
    """
    if probability("confidence", confidence) == 1:
        reject("confidence", confidence, "below 1", "noise is unbounded: choose a value such as 0.99.")

    def enough(k: int) -> bool:
        return error_probability(noise, k) <= 1 - confidence

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2  # not enough, or 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class Averaged:
    """The answers to one question, again and again."""

    answers: Floats

    @property
    def means(self) -> Floats:
        """The mean of the first 1, 2, 3, ... answers."""
        return np.cumsum(self.answers) / np.arange(1, len(self.answers) + 1)

    @property
    def guess(self) -> int:
        """The mean of all, rounded."""
        return int(np.floor(self.means[-1] + 0.5))


def average(answer: Answer, mask: ArrayLike, times: int, progress: Progress | None = None) -> Averaged:
    """Asks the same question again and again.

    >>> from dpcourse.attacks.oracles import Bounded
    >>> oracle = Bounded([1, 0, 1, 1], error=3, rng=np.random.default_rng(0))
    >>> average(oracle, [1, 1, 1, 0], times=400).guess
    2
    """
    question = bits("mask", mask)
    answers = ask(answer, np.broadcast_to(question, (whole("times", times), question.size)), progress)
    if np.isnan(answers).any():
        fix = "ask fewer times: a limit on repetitions is what stops this attack."
        reject("answers", f"{int(np.isnan(answers).sum())} refusals", "given every time", fix)
    return Averaged(answers)
