"""The privacy loss of two finite laws: exact sums, in Fractions where the laws are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, probability, reject
from dpcourse.laws import Finite, Law
from dpcourse.loss.base import Bounds, PrivacyLoss, widen
from dpcourse.loss.logs import log_ratio, log_sum_exp
from dpcourse.loss.prefixes import epsilon_of_few
from dpcourse.loss.solve import TINIEST, ULP

_CHUNK: Final = 2**18


@dataclass(frozen=True)
class FiniteLoss(PrivacyLoss):
    """Outcome i has probability p[i] under P and q[i] under Q; its loss is ln p[i]/q[i].

    `losses` states the losses where they are known better than the ratios of rounded probabilities (a
    q[i] may underflow to 0 although its loss is finite). `missing` bounds what was cut off from each law
    (0 for laws that are finite as they stand); it is added to every upper bound.

    >>> loss = FiniteLoss((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    >>> loss.max_ratio(), loss.hockey_stick(Fraction(3, 2))
    (Fraction(3, 1), Fraction(3, 8))
    """

    p: tuple[Any, ...]
    q: tuple[Any, ...]
    missing: float = 0.0
    losses: tuple[float, ...] | None = None
    pair: tuple[Law, Law] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.p) != len(self.q):
            fix = "give both laws the same outcomes, with probability 0 where one does not have them."
            reject("q", self.q, f"as long as p, which has {len(self.p)} outcomes", fix)
        for name, law in (("p", self.p), ("q", self.q)):
            if not abs(float(sum(law)) - 1) <= 1e-12 * (1 + len(law)) + self.missing or min(law) < 0:
                reject(name, law, "probabilities that add up to 1", "divide them by their sum.")

    @classmethod
    def of(cls, p: Finite, q: Finite) -> FiniteLoss:
        """Both laws on the union of their outcomes."""
        outcomes = list(dict.fromkeys((*p.outcomes, *q.outcomes)))
        return cls(tuple(p.prob(v) for v in outcomes), tuple(q.prob(v) for v in outcomes), pair=(p, q))

    @cached_property
    def exact(self) -> bool:
        """Whether every probability is a Fraction or an int."""
        return all(isinstance(v, Fraction | int) for v in (*self.p, *self.q))

    @property
    def method(self) -> str:
        """How answers are computed."""
        kind = "Fractions at request" if self.exact else "floats"
        cut = f", {self.missing:.1g} cut off and accounted for" if self.missing else ""
        return f"exact sum over {len(self.p)} outcomes ({kind}{cut})"

    @cached_property
    def _sharp(self) -> bool:
        """Whether there are Fractions, whose logarithms are taken as they are and not of rounded numbers."""
        kinds = set(map(type, self.p + self.q))
        return kinds != {float} and self.losses is None and any(issubclass(kind, Fraction) for kind in kinds)

    @property
    def null(self) -> bool:
        """Whether the two laws are the same; not whether a loss is rounded to 0."""
        return self.p == self.q and not any(self.losses or ())

    @cached_property
    def defect(self) -> float:
        """By how much the probabilities miss 1, which is rounding as a rule."""
        return sum(abs(math.fsum([*law, -1.0])) for law in self._masses)

    @cached_property
    def _masses(self) -> tuple[Floats, Floats]:
        p, q = np.array(self.p, dtype=float), np.array(self.q, dtype=float)
        if self._sharp:  # a Fraction may be below every double: then it counts as the smallest one
            p[(p == 0) & (self._each > -math.inf)] = TINIEST
        return p, q

    @cached_property
    def _each(self) -> Floats:
        """The loss of each outcome: infinite where only P gives it, -infinite where only Q does."""
        if self.losses is not None:
            return np.array(self.losses)
        if self._sharp:
            both = zip(self.p, self.q, strict=True)
            return np.array([log_ratio(Fraction(a), Fraction(b)) for a, b in both])
        p, q = self._masses
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.log(p) - np.log(q)
            # Near 1 the logarithm of the ratio keeps digits that the difference would lose.
            losses = np.where(np.abs(losses) < 0.5, np.log1p((p - q) / q), losses)
        losses[p == 0] = -np.inf
        return losses

    @cached_property
    def _sorted(self) -> tuple[Floats, Floats, Floats]:
        """Finite losses in falling order with their masses under P and Q (infinite losses apart)."""
        losses, (p, q) = self._each, self._masses
        order = np.argsort(-losses, kind="stable")
        order = order[np.isfinite(losses[order])]
        return losses[order], p[order], q[order]

    @cached_property
    def _running(self) -> tuple[Any, Any]:
        """Masses of the n largest finite losses, n = 0, 1, ..., in extended precision if there is any."""
        _, p, q = self._sorted
        wide = np.longdouble
        start = np.array([self.infinite], dtype=wide)
        return (
            np.concatenate([start, self.infinite + np.cumsum(p, dtype=wide)]),
            np.concatenate([[wide(0)], np.cumsum(q, dtype=wide)]),
        )

    @cached_property
    def infinite(self) -> float:  # type: ignore[override]
        """The mass under P of outcomes that Q never gives."""
        if 0 not in self.q:
            return 0.0
        if self.losses is None:
            return math.fsum(float(a) or TINIEST for a, b in zip(self.p, self.q, strict=True) if a and not b)
        return math.fsum(self._masses[0][self._each == math.inf])

    @cached_property
    def atoms(self) -> tuple[Floats, Floats]:
        """The finite losses, each once, and their probabilities under P, largest loss first."""
        losses, p, _ = self._sorted
        again = losses[1:] == losses[:-1]
        if not again.any():
            return losses, p
        fresh = np.flatnonzero(~np.append(False, again))
        return losses[fresh], np.add.reduceat(p, fresh)

    @cached_property
    def slip(self) -> float:
        """How far a finite loss may be off: the roundings of p, of q, and of their logarithms."""
        losses, p, _ = self._sorted  # not `atoms`: it was the logarithm of each outcome that was rounded
        size = np.abs(losses)
        ulps = 4 * size if self._sharp and self.exact else 1.5 + 2 * size - np.log(np.maximum(p, TINIEST))
        return ULP * float(ulps.max(initial=0.0))

    @property
    def top(self) -> float:
        """The largest finite loss, rounded up; -infinity if there is none."""
        losses = self.atoms[0]
        return float(losses[0]) + self.slip if len(losses) else -math.inf

    def delta_bounds(self, epsilon: ArrayLike) -> Bounds:
        """The sum of p - e^eps q over outcomes with loss above eps."""
        eps = np.asarray(epsilon, dtype=float)
        if self._sharp:
            return self._sums(eps)
        losses, _, _ = self._sorted
        above = np.searchsorted(-losses, -eps, side="left")
        run_p, run_q = self._running
        head, body = (
            run_p[above],
            np.exp(np.minimum(eps, 11000).astype(np.longdouble)) * run_q[above],
        )
        ulp = np.finfo(np.longdouble).eps
        rounding = (len(self.p) + 8 + np.abs(eps)) * ulp * (head + body)
        rounding += 2 * ULP * (head + body)  # p and q themselves are rounded
        near = (
            run_p[np.searchsorted(-losses, self.slip - eps, side="left")] - head
        )  # perhaps above eps as well
        lower, _ = widen((head - body).astype(float), rounding.astype(float))
        above = rounding + self.missing + 2 * self.slip * near
        _, upper = widen((head - body).astype(float), above.astype(float))
        return lower, upper

    def _sums(self, epsilon: Floats) -> Bounds:
        """The sum of p (1 - e^{eps - L})+ over the atoms: nothing cancels, tiny losses keep their digits."""
        losses, p = self.atoms
        level = epsilon.reshape(-1, 1)
        ends: Floats = np.empty((2, len(level)))
        for i in range(0, len(level), step := max(1, _CHUNK // max(1, len(p)))):
            for end, slip in zip(ends, (self.slip, -self.slip), strict=True):
                end[i : i + step] = -np.expm1(np.minimum(level[i : i + step] - losses + slip, 0.0)) @ p
        error = (len(self.p) + 8) * ULP
        rounding = error * (self.infinite + ends) + len(p) * TINIEST  # the last for masses that underflow
        low, high = self.infinite + ends
        lower, _ = widen(low.reshape(epsilon.shape), rounding[0].reshape(epsilon.shape))
        _, upper = widen(high.reshape(epsilon.shape), self.missing + rounding[1].reshape(epsilon.shape))
        return lower, upper

    @cached_property
    def positive(self) -> tuple[Any, Any] | None:
        """The probabilities of what both laws give, or None if they do not say all about the losses."""
        if self.missing or self.losses is not None or self._sharp:
            return None
        if 0 not in self.p and 0 not in self.q:
            return self.p, self.q
        both = [pair for pair in zip(self.p, self.q, strict=True) if all(pair)]
        return tuple(zip(*both, strict=True)) if both else None  # type: ignore[return-value]

    def _invert(self, target: float) -> tuple[float, float]:
        """In closed form, or as any loss."""
        both, infinite = self.positive, self.infinite
        if infinite > target:
            return math.inf, math.inf
        found = epsilon_of_few([(*both, 1)], infinite, target) if both and infinite < target else None
        return found or super()._invert(target)

    def _root(self, target: float, last: float) -> float:
        """ln of a ratio, between the two losses where delta passes the target."""
        losses, (run_p, run_q) = self._sorted[0], self._running
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # e^l is infinite where q has underflowed: then NaN
            at_losses = run_p[1:] - np.exp(losses) * run_q[1:]
        above = int(np.count_nonzero(at_losses <= target))
        p, q = float(run_p[above]), float(run_q[above])
        if self._sharp or not (q > 0 and p > target) or np.isnan(at_losses).any():
            return super()._root(target, last)
        return min(max(math.log((p - target) / q), 0.0), last)

    def hockey_stick(self, ratio: Any) -> Any:
        """The sum of (p - ratio q)+, exactly for Fractions."""
        if self.exact and isinstance(ratio, int | Fraction):
            zero = Fraction(0)
            return sum((max(a - ratio * b, zero) for a, b in zip(self.p, self.q, strict=True)), zero)
        return self.delta(math.nextafter(math.log(ratio), -math.inf))

    def total_variation(self) -> Any:
        """Half the l1 distance; a Fraction for exact laws."""
        return self.hockey_stick(Fraction(1)) if self.exact else self.delta(0.0)

    def max_ratio(self) -> Any:
        """The largest likelihood ratio p/q; a Fraction for exact laws, infinity where q is 0."""
        if self.infinite > 0:
            return math.inf
        number = Fraction if self.exact else float  # an int among Fractions would divide to a float
        return max(number(a) / b for a, b in zip(self.p, self.q, strict=True) if b > 0)

    def log_moment(self, z: ArrayLike) -> Any:
        """ln of the sum of p e^{zL}."""
        losses, p, _ = self._sorted
        losses, p = losses[p > 0], p[p > 0]
        return log_sum_exp(np.asarray(z)[..., None] * losses + np.log(p))

    def tail(self, loss: ArrayLike) -> Any:
        """P[L > loss]."""
        losses, _, _ = self._sorted
        above = np.searchsorted(-losses, -np.asarray(loss, dtype=float), side="left")
        return self._running[0][above].astype(float)

    def kl(self) -> float:
        """The sum of p L; infinite if an outcome of P is impossible under Q."""
        losses, p, _ = self._sorted
        return math.inf if self.infinite > 0 else max(0.0, math.fsum(losses * p))

    def max_divergence(self) -> float:
        """The largest loss."""
        if self.infinite > 0 or self.missing > 0:
            return math.inf
        return max(0.0, float(self._sorted[0][0]))

    def ceiling(self) -> float:
        """The largest loss, rounded up."""
        return 0.0 if self.null else self.max_divergence() + self.slip

    def tradeoff(self, fpr: ArrayLike) -> Any:
        """The Neyman-Pearson polygon: reject the outcomes of largest loss first. Rounded down."""
        if self.missing:
            return super().tradeoff(fpr)
        x = np.asarray(probability("fpr", fpr), dtype=float)
        run_p, run_q = self._running
        power = np.interp(x, np.append(run_q, 1.0).astype(float), np.append(run_p, 1.0).astype(float))
        rate = np.maximum(1 - power * (1 + 8 * ULP), 0.0)
        return np.where(power > 0, rate * (1 - ULP), 1.0)[()]

    def reversed(self) -> FiniteLoss:
        """P and Q exchanged."""
        losses = None if self.losses is None else tuple(-v for v in self.losses)
        return FiniteLoss(self.q, self.p, self.missing, losses, self.pair and self.pair[::-1])

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Any:
        """Draws of the loss under P."""
        losses, p, _ = self._sorted
        values, weights = np.append(losses, np.inf), np.append(p, self.infinite)
        if weights.sum() < 0.5:  # nothing to draw: P was cut away entirely
            reject("loss", repr(self), "a loss with mass", "check the two laws.")
        return rng.choice(values, size, p=weights / weights.sum())

    def __repr__(self) -> str:
        return f"FiniteLoss({len(self.p)} outcomes)"
