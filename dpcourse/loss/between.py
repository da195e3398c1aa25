"""From two laws to their privacy loss: the most exact kind that the pair allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law, Product
from dpcourse.loss.base import PrivacyLoss
from dpcourse.loss.composed import compose
from dpcourse.loss.density import DensityLoss
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.integers import MOST_OUTCOMES, IntegerLoss
from dpcourse.loss.shifts import GaussianLoss, LaplaceLoss
from dpcourse.loss.subsampled import recognise


def between(p: Law, q: Law) -> PrivacyLoss:
    """The privacy loss of p against q."""
    for name, law in (("P", p), ("Q", q)):
        if not isinstance(law, Law):
            reject(name, law, "a Law", "take mechanism.law(data) or one of dpcourse.laws.")
        if law.batch_shape:
            fix = "take one of them with law[i], or wrap the batch in Product for a vector answer."
            reject(name, law, f"one law, not an array of laws of shape {law.batch_shape}", fix)
    if isinstance(p, Product) and isinstance(q, Product) and p.dimension == q.dimension:
        return compose([(between(a, b), 1) for a, b in zip(p.coordinates(), q.coordinates(), strict=True)])
    finite_p, finite_q = p.to_finite(), q.to_finite()
    if finite_p is not None and finite_q is not None:
        return FiniteLoss.of(finite_p, finite_q)
    if type(p) is type(q) and type(p) in _SAME_KIND:
        return _SAME_KIND[type(p)](p, q)
    if (subsampled := recognise(p, q)) is not None:
        return subsampled
    if p.discrete != q.discrete or isinstance(p, Product) or isinstance(q, Product):
        return FiniteLoss((1.0, 0.0), (0.0, 1.0), pair=(p, q))  # they share no outcome
    return IntegerLoss.of(p, q) if p.discrete else DensityLoss((p, q))


def _laplace(p: Any, q: Any) -> PrivacyLoss:
    if p.scale != q.scale:
        return DensityLoss((p, q))
    return LaplaceLoss(abs(p.loc - q.loc) / p.scale, (p, q))


def _gaussian(p: Any, q: Any) -> PrivacyLoss:
    if p.scale != q.scale:
        return DensityLoss((p, q))
    return GaussianLoss(abs(p.loc - q.loc) / p.scale, (p, q))


def _discrete_laplace(p: Any, q: Any) -> PrivacyLoss:
    """Equal scales: beyond the two centres the ratio is constant, so finitely many outcomes remain."""
    if p.scale != q.scale or abs(p.loc - q.loc) > MOST_OUTCOMES:
        return IntegerLoss.of(p, q)
    steps, ratio = abs(p.loc - q.loc), np.exp(-1 / p.scale)
    inside = np.arange(1, steps)
    middle = np.tanh(0.5 / p.scale) * np.exp(-inside / p.scale)
    end = 1 / (1 + ratio)
    near, far = [end], [end * np.exp(-steps / p.scale)]
    if steps == 0:
        near, far = [1.0], []
    masses = np.concatenate([near, middle, far])
    losses = (steps - 2 * np.arange(len(masses))) / p.scale
    return FiniteLoss(
        tuple(masses.tolist()), tuple(masses[::-1].tolist()), 0.0, tuple(losses.tolist()), (p, q)
    )


_SAME_KIND: dict[type, Callable[[Any, Any], PrivacyLoss]] = {
    Laplace: _laplace,
    Gaussian: _gaussian,
    DiscreteLaplace: _discrete_laplace,
    DiscreteGaussian: IntegerLoss.of,
}
