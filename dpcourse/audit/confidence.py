"""What counts and scores tell about probabilities, with exact confidence: no normal approximation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import special
from dpcourse.errors import Floats, probability, reject, whole


def check_confidence(confidence: float) -> float:
    """A confidence level strictly between 0 and 1."""
    level = float(probability("confidence", confidence))
    if not 0 < level < 1:
        reject("confidence", confidence, "above 0 and below 1", "choose 0.99, or 0.999 to be stricter.")
    return level


def clopper_pearson(hits: ArrayLike, trials: int, confidence: float = 0.99) -> tuple[Any, Any]:
    """An interval that holds the true probability with at least this confidence, whatever it is.

    lower: Pr[Bin(n, lower) >= h] = (1 - confidence)/2, upper: Pr[Bin(n, upper) <= h] the same; both are
    quantiles of beta laws. Each end alone holds with confidence (1 + confidence)/2. Clopper and
    Pearson, Biometrika 1934.

    >>> clopper_pearson(0, 100, confidence=0.95)
    (0.0, 0.0362166926)
    """
    n, tail = whole("trials", trials), (1 - check_confidence(confidence)) / 2
    h = np.asarray(hits, dtype=float)
    if not np.all((h >= 0) & (h <= n)):
        reject("hits", hits, f"between 0 and the {n} trials", "count the trials in which the event happened.")
    lower = np.where(h > 0, special.betaincinv(np.maximum(h, 1), n - h + 1, tail), 0.0)
    upper = np.where(h < n, special.betainccinv(h + 1, np.maximum(n - h, 1), tail), 1.0)
    return (lower, upper) if h.ndim else (float(lower), float(upper))


def scores(name: str, values: ArrayLike) -> Floats:
    """A sample of scores as a flat float array; infinite ones are welcome, NaN is not."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        reject(name, values, "numbers, one for each run", "score every output by one number.")
    if array.ndim != 1 or len(array) < 4:
        shape = f"an array of shape {array.shape}"
        reject(name, shape, "a list of at least 4 scores", "pass one score for each run.")
    if np.isnan(array).any():
        fix = "give every output a number; a loss is NaN where neither world can produce the output."
        reject(name, values, "free of NaN", fix)
    return array


def margin(thresholds: Any, sample: Floats, resolution: float = 1e-9) -> Any:
    """How far a threshold keeps from a value: a small part of the value and of a typical score.

    Losses that are equal in mathematics differ in their last bits, and these differ by world (Mironov, CCS
    2012): an event that cut between them would see the program and not the mechanism.
    """
    few = np.abs(sample[:: max(1, len(sample) // 1000)])
    finite = few[np.isfinite(few)]
    counts = (
        finite[finite > 1e-12 * finite.max()] if len(finite) else finite
    )  # the rest may be rounding errors
    typical = float(np.median(counts)) if len(counts) else 0.0
    size = np.maximum(np.abs(thresholds), typical)
    return resolution * np.where(np.isfinite(size), size, 0.0)


def hockey_stick_interval(
    losses_p: ArrayLike, losses_q: ArrayLike, epsilon: float, confidence: float = 0.99
) -> tuple[float, float]:
    """An interval for delta(epsilon) = P[L > eps] - e^eps Q[L > eps], from losses in both worlds.

    The loss L = ln P/Q must be the true one, so that the value is known to be in [0, 1]. Each of the two
    proportions gets half of the error probability.

    >>> hockey_stick_interval([2.0] * 500 + [0.0] * 500, [0.0] * 1000, epsilon=1.0, confidence=0.9)
    (0.45..., 0.53...)
    """
    worlds = scores("losses_p", losses_p), scores("losses_q", losses_q)
    (p_low, p_high), (q_low, q_high) = _both(*worlds, epsilon, confidence)
    ratio = math.exp(min(epsilon, 700.0))
    return max(0.0, p_low - ratio * q_high), min(1.0, max(0.0, p_high - ratio * q_low))


def advantage_interval(
    scores_p: ArrayLike, scores_q: ArrayLike, threshold: float = 0.0, confidence: float = 0.99
) -> tuple[float, float]:
    """An interval for P[score > threshold] - Q[score > threshold], the advantage of saying "P" there.

    With losses and threshold 0 it is the advantage of the best guess, the total variation distance.

    >>> advantage_interval([1] * 90 + [-1] * 10, [-1] * 100, confidence=0.95)
    (0.77..., 0.95...)
    """
    worlds = scores("scores_p", scores_p), scores("scores_q", scores_q)
    (p_low, p_high), (q_low, q_high) = _both(*worlds, threshold, confidence)
    return p_low - q_high, p_high - q_low


def _both(
    p: Floats, q: Floats, threshold: float, confidence: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Intervals for P[score > threshold] and Q[score > threshold] that hold together (Bonferroni)."""
    each = 1 - (1 - check_confidence(confidence)) / 2
    cut = threshold + margin(threshold, p)
    first, second = (clopper_pearson(np.count_nonzero(s > cut), len(s), each) for s in (p, q))
    return first, second


def roc(
    scores_p: ArrayLike, scores_q: ArrayLike, points: int = 500, hull: bool = False
) -> tuple[Floats, Floats]:
    """False-positive and true-positive rates of "score >= t" as t falls: from (0, 0) to (1, 1).

    Q is the null world. At most about `points` thresholds are kept, equally spaced in both rates. With
    `hull` only the corners of the least concave curve above them are left: tests that toss a coin
    between two thresholds reach every point below it.

    >>> fpr, tpr = roc([1, 1, 1, 0], [1, 0, 0, 0])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.25, 1.0], [0.0, 0.75, 1.0])
    """
    unsorted = scores("scores_p", scores_p), scores("scores_q", scores_q)
    p, q = map(np.sort, unsorted)
    half = max(1, whole("points", points, at_least=2) // 2)
    chosen = [s[np.linspace(0, len(s) - 1, min(half, len(s)), dtype=int)] for s in (p, q)]
    values = np.unique(np.concatenate(chosen))[::-1]
    thresholds = values - margin(values, unsorted[0])
    rates = [1 - np.searchsorted(s, thresholds, side="left") / len(s) for s in (q, p)]
    fpr, tpr = (np.concatenate([[0.0], rate, [1.0]]) for rate in rates)
    fresh = np.concatenate([[True], (np.diff(fpr) > 0) | (np.diff(tpr) > 0)])
    fpr, tpr = fpr[fresh], tpr[fresh]
    if hull:
        corners = _concave(fpr, tpr)
        fpr, tpr = fpr[corners], tpr[corners]
    return fpr, tpr


def _concave(x: Floats, y: Floats) -> list[int]:
    """The corners of the upper hull of points in order of x (Andrew's monotone chain)."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (x[b] - x[a]) * (y[i] - y[a]) < (x[i] - x[a]) * (y[b] - y[a]):
                break
            kept.pop()
        kept.append(i)
    return kept
