"""Membership inference: was she in the study? The means of many attributes tell.

Known are the population's frequencies p and the target's own attributes y in {0, 1}^d; released are the means
m of n people. If she is one of them, each mean leans a little towards her. The score

    sum_j (y_j - p_j)(m_j - p_j)

has mean 0 if she is not in the study and sum_j p_j (1 - p_j)/n if she is: a lean that adds up over the
attributes, to sqrt(d/n) standard deviations where all frequencies are equal. (Homer et al. 2008;
Sankararaman, Obozinski, Jordan and Halperin 2009; Dwork, Smith, Steinke, Ullman and Vadhan 2015.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import Floats, numeric, probability, reject, whole
from dpcourse.laws.base import generator
from dpcourse.mechanisms import GaussianMechanism, LaplaceMechanism
from dpcourse.mechanisms.additive import Additive
from dpcourse.neighbours import REPLACE_ONE


@dataclass(frozen=True, eq=False)
class ReleasedMeans:
    """The means of `people` rows with independent attributes of the given frequencies.

    They are released as they are, or through a mechanism.

    >>> study = ReleasedMeans(np.full(1000, 0.5), people=100)
    >>> float(study.power(0.01))
    0.800
    """

    frequencies: Any
    people: int
    mechanism: Additive | None = None

    def __post_init__(self) -> None:
        p = np.atleast_1d(numeric("frequencies", self.frequencies))
        if p.ndim > 1 or ((p <= 0) | (p >= 1)).any():
            reject("frequencies", self.frequencies, "a vector of numbers between 0 and 1", "drop constants.")
        object.__setattr__(self, "frequencies", p)
        whole("people", self.people, at_least=2)
        if self.mechanism is None:
            return
        REPLACE_ONE.require_same(self.mechanism.guarantee.adjacency)
        moves = len(p) ** (1 / self.mechanism.norm) / self.people  # one row, in the norm of the noise
        if self.mechanism.sensitivity < moves * (1 - 1e-12):
            rule = f"at least {moves:.6g}, since one row moves all means"
            fix = "let ReleasedMeans.laplace or .gaussian choose the noise."
            reject("sensitivity", self.mechanism.sensitivity, rule, fix)

    @classmethod
    def laplace(cls, frequencies: ArrayLike, people: int, epsilon: float) -> ReleasedMeans:
        """The means with Laplace noise of scale d/(n epsilon): epsilon-DP for replacing a row."""
        sensitivity = np.size(frequencies) / whole("people", people)
        noise = LaplaceMechanism(epsilon, sensitivity=sensitivity, adjacency=REPLACE_ONE)
        return cls(frequencies, people, noise)

    @classmethod
    def gaussian(cls, frequencies: ArrayLike, people: int, epsilon: float, delta: float) -> ReleasedMeans:
        """The means with the least Gaussian noise for (epsilon, delta)-DP, sensitivity sqrt(d)/n."""
        sensitivity = math.sqrt(np.size(frequencies)) / whole("people", people)
        noise = GaussianMechanism.calibrated(epsilon, delta, sensitivity=sensitivity, adjacency=REPLACE_ONE)
        return cls(frequencies, people, noise)

    def scores(self, rng: np.random.Generator, trials: int, inside: bool) -> Floats:
        """Scores of targets who are in the study, or are not, each in a study of her own.

        Only the counts of the other rows are drawn: they are binomial.
        """
        p, n = self.frequencies, self.people
        shape = (whole("trials", trials), len(p))
        target = (generator(rng).random(shape) < p).astype(float)
        means = rng.binomial(n - 1 if inside else n, p, shape) / n
        if inside:
            means += target / n
        if self.mechanism is not None:
            means = self.mechanism.laws(means).sample(rng)
        found: Floats = np.einsum("ij,ij->i", target - p, means - p)
        return found

    def moments(self, inside: bool) -> tuple[float, float]:
        """The exact mean and variance of the score.

        With v = p(1-p) and noise of variance s^2: 0 and sum v (v/n + s^2) outside; inside sum v/n, and
        v^2/n loses one of its n rows, whose place is taken by the variance of (y-p)^2/n.
        """
        p, n = self.frequencies, self.people
        v = p * (1 - p)
        noise = 0.0 if self.mechanism is None else float(self.mechanism.noise(0.0).variance())
        if not inside:
            return 0.0, float(np.sum(v * (v / n + noise)))
        own = v * np.square(1 - 2 * p) / n**2
        return float(np.sum(v) / n), float(np.sum(own + v * (v * (n - 1) / n**2 + noise)))

    def power(self, fpr: Any) -> Any:
        """The true-positive rate at a false-positive rate: normal law, exact moments (an approximation)."""
        (centre, outside), (lean, inside) = self.moments(False), self.moments(True)
        threshold = centre - math.sqrt(outside) * special.ndtri(probability("fpr", fpr))
        return special.ndtr((lean - threshold) / math.sqrt(inside))

    def exact_roc(self) -> tuple[Floats, Floats]:
        """All (false, true) positive rates of the score, exactly: for frequencies 1/2 and exact means.

        Then 2n score + nd/2 is Binomial(nd, 1/2) outside, and d + Binomial((n-1)d, 1/2) inside.
        """
        if self.mechanism is not None or np.any(self.frequencies != 0.5):
            rule = "all 1/2, and the means exact"
            reject("frequencies", self.frequencies, rule, "use power(fpr) elsewhere.")
        d, n = len(self.frequencies), self.people
        at_least = np.arange(n * d + 1, -1, -1)  # the threshold falls, the rates rise
        return _binomial_sf(at_least, n * d), _binomial_sf(at_least - d, (n - 1) * d)

    def bound(self, fpr: Any) -> Any:
        """The most that any test can reach against the private release, from its guarantee; 1 without one.

        For (epsilon, delta)-DP it is at most e^epsilon fpr + delta.
        """
        rates = probability("fpr", fpr)
        if self.mechanism is None:
            return np.ones(np.shape(rates))[()]
        return 1 - self.mechanism.worst_case().tradeoff(rates)


def _binomial_sf(k: Any, n: int) -> Floats:
    """Pr[Binomial(n, 1/2) >= k] for any integers k."""
    inner = special.betainc(np.clip(k, 1, max(n, 1)), np.clip(n - k + 1, 1, None), 0.5)
    return np.where(k <= 0, 1.0, np.where(k > n, 0.0, inner))


def roc(inside: ArrayLike, outside: ArrayLike) -> tuple[Floats, Floats]:
    """The false and true positive rates of all thresholds, from scores: what the simulation draws.

    >>> roc([1, 3], [0, 2])
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    hits, misses = np.sort(numeric("inside", inside)), np.sort(numeric("outside", outside))
    if not len(hits) or not len(misses):
        reject("scores", (len(hits), len(misses)), "at least one inside and one outside", "draw some.")
    thresholds = np.append(np.unique(np.concatenate([hits, misses])), np.inf)[::-1]
    rates = [1 - np.searchsorted(s, thresholds, side="left") / len(s) for s in (misses, hits)]
    return rates[0], rates[1]
