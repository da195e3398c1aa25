"""Logistic regression that learns from noisy sums of clipped gradients (DP-SGD).

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> features = rng.uniform(-1, 1, (2000, 2))
>>> labels = rng.random(2000) < 1 / (1 + np.exp(-3 * features[:, 0]))
>>> model = PrivateLogistic(size=2000, sigma=4.0, steps=100, rate=0.1)
>>> fit = model.fit(features, labels, rng)
>>> bool(log_loss(fit.weights, features, labels) < log_loss(np.zeros(2), features, labels) - 0.1)
True
>>> round(model.epsilon(1e-5), 4)
0.9829
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import Floats, numeric, positive, probability, reject, whole
from dpcourse.guarantees import Guarantee
from dpcourse.laws.base import generator
from dpcourse.loss import PrivacyLoss
from dpcourse.mechanisms import GaussianMechanism, Subsampled


def gradients(weights: ArrayLike, features: ArrayLike, labels: ArrayLike) -> Floats:
    """Each person's gradient of the logistic loss ln(1 + e^z) - y z at z = w x: (1/(1+e^-z) - y) x."""
    x, y = np.asarray(features, dtype=float), np.asarray(labels, dtype=float)
    with np.errstate(over="ignore", invalid="ignore"):
        z = x @ np.asarray(weights, dtype=float)
    return np.asarray((special.expit(np.nan_to_num(z)) - y)[:, None] * x)


def clipped(vectors: ArrayLike, clip: float) -> Floats:
    """Every row shortened to a Euclidean norm of at most `clip`: g min(1, clip/|g|).

    >>> clipped([[3, 4], [0.3, 0.4]], clip=1).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    rows = np.asarray(vectors, dtype=float)
    with np.errstate(over="ignore"):
        size = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(size).all():  # squares overflow long before numbers do
        rows = np.where(np.isfinite(size), rows, rows * 2.0**-600)
        size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * np.minimum(1.0, clip / np.maximum(size, clip)))


def log_loss(weights: ArrayLike, features: ArrayLike, labels: ArrayLike) -> float:
    """The mean of ln(1 + e^z) - y z, in nats; ln 2 for a fair coin."""
    z = np.asarray(features, dtype=float) @ np.asarray(weights, dtype=float)
    return float(np.mean(np.logaddexp(0.0, z) - np.asarray(labels, dtype=float) * z))


def not_private(features: ArrayLike, labels: ArrayLike, rounds: int = 30) -> Floats:
    """The weights of least log loss, by Newton's method: what anybody would do without a promise."""
    x, y = np.asarray(features, dtype=float), np.asarray(labels, dtype=float)
    weights = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = special.expit(x @ weights)
        bend = (x * (p * (1 - p))[:, None]).T @ x + 1e-9 * len(x) * np.eye(len(weights))
        weights = weights - np.linalg.solve(bend, x.T @ (p - y))
    return np.asarray(weights)


@dataclass(frozen=True, eq=False)
class Fit:
    """What a run released: the weights before each step and after the last, one row each."""

    description: PrivateLogistic
    path: Floats

    @property
    def weights(self) -> Floats:
        """The last weights."""
        return np.asarray(self.path[-1])

    @property
    def note(self) -> str:
        """What was done to every person's gradient; how many were shortened is not told."""
        return f"gradients longer than {self.description.clip:g} were shortened to that length"


@dataclass(frozen=True)
class PrivateLogistic:
    """Logistic regression by DP-SGD (Abadi et al., CCS 2016).

    A step takes every person with chance `rate`, sums their gradients, each clipped to norm `clip`, adds
    Gaussian noise of `sigma` clips to every coordinate, and goes that way. One person moves the sum by at
    most `clip`, so a step is Gaussian noise on a Poisson sample, and the steps compose, though each depends
    on those before. The neighbours are add/remove.

    `size` is a rough public number of people: it only sets the length of a step, and the true number would
    be an answer about the data. Who has several rows must be given as one: sum a person's gradients first.
    """

    size: int
    sigma: float
    steps: int = 100
    rate: float = field(default=0.1, kw_only=True)
    clip: float = field(default=1.0, kw_only=True)
    pace: float = field(default=2.0, kw_only=True)

    def __post_init__(self) -> None:
        whole("size", self.size)
        whole("steps", self.steps)
        positive("sigma", self.sigma)
        positive("clip", self.clip, "1 is a good start if features lie between -1 and 1.")
        positive("pace", self.pace)
        positive("rate", probability("rate", self.rate), "give the chance to be in a sample, in (0, 1].")

    @property
    def release(self) -> Subsampled:
        """One step as the accountants see it, in units of the clip."""
        return Subsampled(GaussianMechanism(self.sigma), self.rate)

    def mechanism(self, weights: ArrayLike) -> Subsampled:
        """The release of one step at these weights; a row of its data is (features..., label)."""
        at = np.asarray(weights, dtype=float)

        def query(data: Any) -> Any:
            rows = np.asarray(data, dtype=float).reshape(-1, len(at) + 1)
            return clipped(gradients(at, rows[:, :-1], rows[:, -1]), self.clip).sum(0)

        noisy = GaussianMechanism(self.sigma * self.clip, sensitivity=self.clip, query=query)
        return Subsampled(noisy, self.rate)

    def worst_case(self) -> PrivacyLoss:
        """The exact loss of all steps for a person who leaves and whose gradients all have the full norm."""
        return self.steps * self.release.worst_case()

    def epsilon(self, delta: float) -> float:
        """The exact epsilon at delta, in the worse of both directions: a person who leaves or who joins."""
        one = self.release.worst_case()
        return max(float((self.steps * way).epsilon(delta)) for way in (one, one.reversed()))

    @property
    def guarantee(self) -> Guarantee:
        """The Renyi curve of all steps; `epsilon` knows more than it."""
        return self.steps * self.release.guarantee

    def fit(self, features: ArrayLike, labels: ArrayLike, rng: np.random.Generator) -> Fit:
        """Learn from the rows, starting at 0; every row is one person."""
        x, y = numeric("features", features), numeric("labels", labels)
        if not np.isin(y, (0, 1)).all():
            reject("labels", labels, "0 or 1 for each person", "write the two classes as 0 and 1.")
        if x.ndim != 2 or y.shape != x.shape[:1]:
            fix = "give one row of features and one label for each person."
            reject("features", x.shape, f"a table with {len(y)} rows, as many as labels", fix)
        generator(rng)
        path = np.zeros((self.steps + 1, x.shape[1]))
        for i in range(self.steps):
            chosen = rng.random(len(x)) < self.rate
            total = clipped(gradients(path[i], x[chosen], y[chosen]), self.clip).sum(0)
            total += self.sigma * self.clip * rng.standard_normal(x.shape[1])
            path[i + 1] = path[i] - self.pace * total / (self.rate * self.size)
        return Fit(self, path)
