"""Composition: the loss of many independent releases, and the choice of how to compute it.

The loss of a joint release is the sum of the losses: M(z) = E[e^{zL}] multiplies, and

    delta(eps) = E[(1 - e^{eps - (L_1 + ... + L_k)})+].

Adaptive choices change nothing: the worst case of an adaptive sequence of fixed pairs is their product.
Which method sums the losses depends on what they are; `loss.method` names it and says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, reject, whole
from dpcourse.loss.base import Bounds, PrivacyLoss
from dpcourse.loss.engine import Engine, Parts, largest_sum, sum_up
from dpcourse.loss.finite import FiniteLoss
from dpcourse.loss.prefixes import Laws, epsilon_of_few, steps_and_sums
from dpcourse.loss.shifts import GaussianLoss, LaplaceLoss
from dpcourse.loss.solve import TINIEST, ULP, certified, closer

_WIDEST = 1e4  # a Laplace shift: e^-shift is far from every double
_RAREST = -60.0  # ln of a probability of finite losses that no bracket on delta would show
_SAME = LaplaceLoss(0.0)  # both laws are equal
_APART = FiniteLoss((1.0, 0.0), (0.0, 1.0))  # no noise at all


def compose(parts: Parts) -> PrivacyLoss:
    """The loss of independent releases, each `loss` taken `times` times.

    Nested compositions are flattened, equal losses counted together, Gaussians merged by adding
    mu^2 (which is exact), losses that are always 0 dropped. An empty composition is an error.

    >>> compose([(GaussianLoss(0.3), 100), (GaussianLoss(4.0), 1)])
    GaussianLoss(mu=5.0)
    """
    if not parts:
        fix = "give at least one loss; releasing nothing needs no accounting."
        reject("parts", "[]", "at least one loss to compose", fix)
    counts: dict[PrivacyLoss, int] = {}
    square = 0.0
    for leaf, times in _leaves(parts):
        if isinstance(leaf, GaussianLoss):
            square += max(times * leaf.mu * leaf.mu, TINIEST if leaf.mu else 0.0)  # it may underflow
        elif isinstance(leaf, LaplaceLoss) and leaf.shift > _WIDEST:
            if leaf.shift < math.inf:
                reject(
                    "shift",
                    leaf.shift,
                    f"at most {_WIDEST:g} to be composed",
                    "such noise hides nothing: leave it.",
                )
            counts[_APART] = 1
        elif not _is_null(leaf):
            counts[leaf] = counts.get(leaf, 0) + times
    if square == math.inf:
        counts[_APART] = 1
    elif square > 0 or not counts:
        counts[GaussianLoss(math.sqrt(square))] = 1
    if len(counts) == 1 and sum(counts.values()) == 1:
        only = next(iter(counts))
        return parts[0][0] if parts[0] == (only, 1) else only  # the same object, if there is one
    return Composed(tuple(counts.items()))


def _leaves(parts: Parts) -> Iterator[tuple[PrivacyLoss, int]]:
    for loss, times in parts:
        k = whole("k", times)
        if isinstance(loss, Composed):
            yield from ((leaf, k * inner) for leaf, inner in loss.parts)
        else:
            yield loss, k


def _is_null(leaf: PrivacyLoss) -> bool:
    return leaf.null if isinstance(leaf, FiniteLoss) else leaf == _SAME


@dataclass(frozen=True)
class Composed(PrivacyLoss):
    """Independent losses added up; made by `+` and `k *`.

    >>> loss = 1000 * LaplaceLoss(0.1)
    >>> low, high = loss.epsilon_bounds(1e-6)
    >>> f"{high:.9f}", high - low < 1e-11
    ('18.950287368', True)
    """

    parts: tuple[tuple[PrivacyLoss, int], ...]

    @property
    def method(self) -> str:
        """Which method sums the losses, and why; the one that answers at about the mean loss."""
        if self.top == -math.inf or self._log_finite < _RAREST:
            return "nothing to sum: no loss is finite, or hardly ever"
        usual = np.array([min(self.kl(), self.top) if self.infinite == 0 else 0.0])
        rank = 0
        while np.isnan(self._engine(rank).bounds(usual)[0]):
            rank += 1
        _, few = steps_and_sums(self._in_floats) if self._in_floats else (0, 0)
        return self._engine(rank).method + (f"; epsilon in closed form, from {few} sums" if few else "")

    @cached_property
    def _in_floats(self) -> Laws | None:
        """The laws of the parts, if they are all finite and have no more to say."""
        laws = [(leaf.positive, k) for leaf, k in self.parts if isinstance(leaf, FiniteLoss)]
        known = [(*both, k) for both, k in laws if both]
        return known if len(known) == len(self.parts) else None

    @cached_property
    def infinite(self) -> float:  # type: ignore[override]
        """1 - prod(1 - infinite_i): one infinite loss is enough."""
        return 0.0 - math.expm1(self._log_finite)

    @cached_property
    def _log_finite(self) -> float:
        """ln of the probability that all losses are finite."""
        return sum(k * math.log1p(-p) if (p := leaf.infinite) < 1 else -math.inf for leaf, k in self.parts)

    @cached_property
    def _engines(self) -> tuple[list[Engine], Iterator[Engine]]:
        from dpcourse.loss.methods.choose import candidates  # the methods know the losses

        return [], candidates(self.parts)

    def _engine(self, rank: int) -> Engine:
        """The methods in order of preference, made when needed; the last one always answers."""
        made, more = self._engines
        while len(made) <= rank:
            made.append(next(more))
        return made[rank]

    @cached_property
    def top(self) -> float:
        """The largest finite sum, rounded up; there is nothing above it."""
        return largest_sum(self.parts)

    def _inside(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Bounds on delta without the infinite mass, each from the first method that can."""
        if self._log_finite < _RAREST:
            return np.zeros(len(epsilon)), np.full(len(epsilon), math.exp(_RAREST))
        if (epsilon < self.top).all():  # the usual case, without the detour below
            low, high = self._engine(0).bounds(epsilon)
        else:
            low, high = np.where(epsilon < self.top, np.nan, 0.0), np.zeros(len(epsilon))
        rank = 0
        while (todo := np.isnan(low)).any():
            low[todo], high[todo] = self._engine(rank).bounds(epsilon[todo])
            rank += 1
        return low, high

    def _slope(self, epsilon: Floats) -> Floats:
        """-d delta/d eps, each from the first method that can."""
        slope = np.where((epsilon < self.top) & (self._log_finite >= _RAREST), np.nan, 0.0)
        rank = 0
        while (todo := np.isnan(slope)).any():
            slope[todo] = self._engine(rank).slope(epsilon[todo])
            rank += 1
        return slope

    def delta_bounds(self, epsilon: ArrayLike) -> Bounds:
        """For eps < 0 by exchanging P and Q: delta(eps) = 1 - e^eps + e^eps delta_QP(-eps)."""
        eps = np.asarray(epsilon, dtype=float)
        flat = eps.ravel()
        if np.isnan(flat).any():
            reject("epsilon", epsilon, "a number", "find out where the NaN comes from.")
        back = flat < 0
        if back.any():
            low, high = np.empty((2, len(flat)))
            low[~back], high[~back] = self._forward(flat[~back])
            ratio, base = np.exp(flat[back]), -np.expm1(flat[back])
            other_low, other_high = self._swapped._forward(-flat[back])
            error = 4 * ULP + sum(k * leaf.defect for leaf, k in self.parts if isinstance(leaf, FiniteLoss))
            low[back], high[back] = base + ratio * other_low - error, base + ratio * other_high + error
        else:
            low, high = self._forward(flat)
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
        return low.reshape(eps.shape)[()], high.reshape(eps.shape)[()]

    def _forward(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Bounds for eps >= 0, the infinite mass and what was cut off included."""
        low, high = self._inside(epsilon)
        return (self.infinite + low) * (1 - 2 * ULP), (self.infinite + high) * (1 + 2 * ULP) + self._cut

    @cached_property
    def _cut(self) -> float:
        """What the leaves admit to have cut off their laws."""
        return float(sum(k * getattr(leaf, "missing", 0.0) for leaf, k in self.parts))

    @cached_property
    def _swapped(self) -> Composed:
        return Composed(tuple((leaf.reversed(), k) for leaf, k in self.parts))

    def log_moment(self, z: ArrayLike) -> Any:
        """Cumulants add."""
        return sum(k * leaf.log_moment(z) for leaf, k in self.parts)

    def tail(self, loss: ArrayLike) -> Any:
        """P[S > loss] = delta - d delta/d eps at eps = loss."""
        level = np.asarray(loss, dtype=float)
        flat = np.ravel(level)
        value, back = np.empty(len(flat)), np.ravel(level) < 0
        if back.any():  # P[S <= loss] = e^loss times the slope of the exchanged pair, just below an atom
            other = np.maximum(-flat[back] - 1e-12 * (1 - flat[back]), 0.0)
            value[back] = 1 - np.exp(flat[back]) * self._swapped._slope(other)
        if not back.all():
            low, high = self._inside(flat[~back])
            value[~back] = self.infinite + (low + high) / 2 + self._slope(flat[~back])
        return np.clip(value, 0.0, 1.0).reshape(level.shape)[()]

    def kl(self) -> float:
        """Expectations add."""
        return float(sum(k * leaf.kl() for leaf, k in self.parts))

    def max_divergence(self) -> float:
        """Largest losses add."""
        return float(sum(k * leaf.max_divergence() for leaf, k in self.parts))

    def ceiling(self) -> float:
        """Largest losses add; rounded up."""
        return sum_up(k * leaf.ceiling() for leaf, k in self.parts)

    def reversed(self) -> PrivacyLoss:
        """Every leaf reversed."""
        return compose([(leaf.reversed(), k) for leaf, k in self.parts])

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Any:
        """Sums of independent draws, a few thousand steps at a time."""
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        total: Any = np.zeros(shape)
        for leaf, k in self.parts:
            batch = max(1, 10**6 // max(1, math.prod(shape)))
            for done in range(0, k, batch):
                total = total + np.sum(leaf.sample(rng, (min(batch, k - done), *shape)), axis=0)
        return total

    def _invert(self, target: float) -> tuple[float, float]:
        """A root of the first method that finds one, certified on both sides by `delta_bounds`."""
        if self.infinite * (1 - 4 * ULP) > target:
            return math.inf, math.inf
        if self._in_floats and target > self.infinite:
            found = epsilon_of_few(self._in_floats, self.infinite, target)
            if found:
                return found
        largest = self.ceiling()
        if target <= self.infinite:
            return self._pure() if target == 0 else (0.0, math.inf)
        rank, root, off = 0, math.nan, 0.0
        while math.isnan(root):
            (root, off), rank = self._engine(rank).root(target - self.infinite), rank + 1
        if root <= 0 and self.delta_bounds(0.0)[1] <= target:
            return 0.0, 0.0
        root = min(max(root, 0.0), largest)
        # Newton ends within a twentieth of `off`; a tenth more makes the first look decide, as a rule.
        pad = (1.1 * off if off < math.inf else 0.0) + 4 * ULP * root
        ends = root - min(pad, root), min(root + pad, largest)
        low, high = self._forward(np.array(ends))
        if low[0] >= target and high[1] <= target:
            return closer(self.delta_bounds, target, ends)  # the root may be that of a coarser method
        return certified(self.delta_bounds, target, ends, largest)

    def __repr__(self) -> str:
        return " + ".join(f"{k} * {leaf!r}" if k > 1 else repr(leaf) for leaf, k in self.parts)
