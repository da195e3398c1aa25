"""The objects that proofs are about: pairs of laws that keep a promise, and measures of how far they differ.

Every pair that keeps (epsilon, delta) in both directions is the image, under one randomized map, of the pair

    (delta, (1-delta) h, (1-delta)(1-h), 0)  and  (0, (1-delta)(1-h), (1-delta) h, delta)

with h = e^eps/(1+e^eps) (Kairouz, Oh and Viswanath, ICML 2015). So a random map, given by its four rows,
gives a random pair, and all pairs are met. With delta = 0 the two rows in the middle are enough.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.functions import exp, is_exact, log, maximum, where


def pure_pair(rows: Any, ratio: Any) -> tuple[Any, Any]:
    """Two laws with likelihood ratios in [1/ratio, ratio], from a map with rows (..., 2, outcomes)."""
    h = col(ratio / (1 + ratio))
    first, second = rows[..., 0, :], rows[..., 1, :]
    return h * first + (1 - h) * second, (1 - h) * first + h * second


def approx_pair(rows: Any, ratio: Any, delta: Any) -> tuple[Any, Any]:
    """Two laws that are (ln ratio, delta)-close both ways, from a map with rows (..., 4, outcomes)."""
    p, q = pure_pair(rows[..., 1:3, :], ratio)
    delta = col(delta)
    return delta * rows[..., 0, :] + (1 - delta) * p, delta * rows[..., 3, :] + (1 - delta) * q


def one_sided_pair(rows: Any, ratio: Any) -> tuple[Any, Any]:
    """P <= ratio Q, but nothing the other way: Q = P/ratio + (1 - 1/ratio) R for any law R."""
    p, other, ratio = rows[..., 0, :], rows[..., 1, :], col(ratio)
    return p, p / ratio + (1 - 1 / ratio) * other


def fair(law: Any) -> Any:
    """The law mixed with a quarter of the even one: no outcome is impossible."""
    return (3 * law + Fraction(1, law.shape[-1])) / 4


def col(x: Any) -> Any:
    """One number for each point, ready to meet an axis of outcomes."""
    return x[..., None]


def chosen(bits: Any, count: int) -> Any:
    """The event with this number: entry j says whether outcome j belongs to it."""
    return (np.asarray(bits)[:, None] >> np.arange(count)) & 1


def positive_part(x: Any) -> Any:
    """max(x, 0)."""
    return maximum(x, 0)


def hockey_stick(p: Any, q: Any, ratio: Any) -> Any:
    """The sum of (p - ratio q)+, the smallest delta at e^epsilon = ratio."""
    return positive_part(p - ratio * q).sum(-1)


def log_ratio(p: Any, q: Any) -> Any:
    """ln p/q, entry by entry; 0 where both are 0."""
    never = _zero(p) & _zero(q)
    p, q = where(never, Fraction(1), p), where(never, Fraction(1), q)
    if is_exact(q) and np.all(q):
        return log(p / q)
    return log(Bracket.of(p) / Bracket.of(q))  # a bracket can stand for infinity


def kl(p: Any, q: Any) -> Any:
    """The Kullback-Leibler divergence, in nats."""
    return (p * log_ratio(p, q)).sum(-1)


def moment(p: Any, q: Any, order: Any) -> Any:
    """The sum of p^a q^{1-a}: e^{(a-1) D_a} for Renyi's divergence D_a."""
    return (Bracket.of(p) * exp(log_ratio(p, q) * (order - 1))).sum(-1)


def _zero(p: Any) -> Any:
    if is_exact(p):
        return p == 0
    return Bracket.of(p).upper < 1e-300  # the laws of our domains have weights of 1e-9 or more, or none
