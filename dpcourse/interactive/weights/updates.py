"""The multiplicative update, and the potential that it lowers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, numeric, positive, reject, whole
from dpcourse.mechanisms.universe import histogram_of


def reweighted(weights: ArrayLike, query: ArrayLike, step: float) -> Floats:
    """D'[i] proportional to D[i] e^{step q[i]}: with step > 0 the answer to the query rises.

    >>> reweighted([0.5, 0.5], [0, 1], np.log(3))
    array([0.25, 0.75])
    """
    before, values = numeric("weights", weights), numeric("query", query)
    if before.shape != values.shape or before.ndim != 1:
        fix = "give the query's value for each row of the universe."
        reject("query", query, f"{before.size} numbers, one for each weight", fix)
    exponent = step * values
    after = before * np.exp(exponent - exponent.max())
    return np.asarray(after / after.sum())


def potential(data: ArrayLike, weights: ArrayLike) -> float:
    """The Kullback-Leibler divergence of the data's distribution from the hypothesis, in nats.

    It starts at ln N at most, for a uniform hypothesis on N rows, and never falls below 0.

    >>> round(potential([1, 0], [0.5, 0.5]), 6)  # ln 2
    0.693147
    """
    x, d = _law("data", data), _law("weights", weights)
    if x.shape != d.shape:
        fix = "give one probability for each row of the universe."
        reject("weights", weights, f"{x.size} numbers, as many as the data's", fix)
    held = x > 0
    with np.errstate(divide="ignore"):
        return max(0.0, float(np.sum(x[held] * (np.log(x[held]) - np.log(d[held])))))


def _law(name: str, values: ArrayLike) -> Floats:
    """Probabilities, checked; nothing is rescaled."""
    p = numeric(name, values)
    if p.ndim != 1 or np.any(p < 0) or abs(p.sum() - 1) > 1e-9:
        reject(name, values, "probabilities that add up to 1", "divide the counts by their sum.")
    return p


def drop(data: ArrayLike, weights: ArrayLike, query: ArrayLike, step: float) -> float:
    """By how much `reweighted` lowers the potential: step q(x) - ln sum D[i] e^{step q[i]}."""
    x, d, q = (np.asarray(v, dtype=float) for v in (data, weights, query))
    top = float(np.max(step * q))
    return float(step * (q @ x) - top - math.log(float(d @ np.exp(step * q - top))))


def least_drop(gap: Any, step: float) -> Any:
    """A lower bound on the drop: step gap - step^2/8, where gap = (q(x) - q(D)) in the update's direction.

    ln E[e^{step q}] <= step E[q] + step^2/8 for q in [0, 1] (Hoeffding's lemma). It is largest at
    step = 4 gap, and for step > 8 gap an update may do harm.
    """
    return step * gap - step**2 / 8


def worst_drop(gap: float, step: Any) -> Any:
    """The least drop over all data, hypotheses and queries with this gap: what `least_drop` bounds, exactly.

    A query with mean p under the hypothesis has the largest normaliser if it is 0 or 1 (e^t is convex), so
    it is the least of step (p + gap) - ln(1 - p + p e^step) over p, at p = 1/step - 1/(e^step - 1).

    >>> round(float(worst_drop(0.1, 0.05) / least_drop(0.1, 0.05)), 4), round(float(worst_drop(0.1, 1.0)), 4)
    (1.0, -0.0233)
    """
    eta = np.asarray(step, dtype=float)
    p = np.clip(1 / eta - 1 / np.expm1(eta), 0.0, 1 - gap)
    return (eta * (p + gap) - np.log1p(p * np.expm1(eta)))[()]


def updates_bound(universe: int, threshold: float) -> int:
    """How many updates there can be: ceil(128 ln N/(15 T^2)), for steps of T/4 at gaps of at least T/2.

    Each lowers the potential by at least least_drop(T/2, T/4) = 15 T^2/128.

    >>> updates_bound(1024, 0.5)
    237
    """
    size = whole("universe", universe, at_least=2)
    return math.ceil(128 * math.log(size) / (15 * float(positive("threshold", threshold)) ** 2))


def distribution(data: Any, universe: int, n: int) -> Floats:
    """The share of each row of the universe in the data: n rows, numbered from 0."""
    histogram = histogram_of(data, universe)
    if len(data) != n:
        reject("data", f"{len(data)} rows", f"{n} rows: the size is public", "choose the settings for it.")
    return histogram / n
