"""RDP and ZCDP: bounds on the moments of the privacy loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

import numpy as np

from dpcourse import errors
from dpcourse.guarantees.base import Guarantee, ratio
from dpcourse.guarantees.rounding import ULP, decimal_sum, up
from dpcourse.loss import PrivacyLoss

Curve = Callable[[float], float]
_ORDERS = 1 + np.logspace(-4, 6, 121)


@dataclass(frozen=True, repr=False)
class RDP(Guarantee):
    """Renyi's divergence of every order a > 1 is at most curve(a) (Mironov, CSF 2017).

    >>> round(RDP(lambda order: order / 2).epsilon(1e-5), 4)  # a Gaussian with mu = 1
    4.7284
    """

    curve: Curve

    def epsilon(self, delta: float, form: str = "improved") -> float:
        """The best order's conversion; see `epsilon_at` for the two forms."""
        if delta == 0:
            return math.inf

        once = replace(self, curve=cache(self.curve))  # some orders are looked at twice

        def floor(order: float) -> float:
            return once.curve(order) + _gain(order, form)

        return max(0.0, _best_order(lambda order: once.epsilon_at(order, delta, form), floor))

    def epsilon_at(self, order: float, delta: float, form: str = "improved") -> float:
        """From one order a: curve(a) + ln(1/delta)/(a-1), improved by ln(1-1/a) - ln(a)/(a-1).

        The simple form is Mironov's Proposition 3; the improved one is Theorem 21 of Balle et al.
        (AISTATS 2020) and Proposition 12 of Canonne, Kamath and Steinke (NeurIPS 2020).
        """
        errors.delta("delta", delta)
        errors.one_of("form", form, ("improved", "simple"))
        if delta == 0:
            return math.inf
        terms = self.curve(order), -math.log(delta) / (order - 1), _gain(order, form)
        return sum(terms) + 8 * ULP * (1 + sum(map(abs, terms)))

    def delta(self, epsilon: float, form: str = "improved") -> float:
        """The same conversion, solved for delta."""
        errors.one_of("form", form, ("improved", "simple"))

        def log_delta(order: float) -> float:
            terms = self.curve(order), _gain(order, form), -epsilon
            return (order - 1) * (sum(terms) + 8 * ULP * (1 + sum(map(abs, terms))))

        def floor(order: float) -> float:
            return math.inf if log_delta(order) > 0 else -math.inf  # no larger order helps either

        return min(1.0, up(math.exp(min(0.0, _best_order(log_delta, floor)))) + 5e-324)

    def group(self, size: int) -> Self:
        """By the triangle inequality of Bun and Steinke (TCC 2016, Lemma 5.2), one member at a time."""
        size = errors.whole("size", size)
        if size == 1:
            return self
        fewer = self.group(size - 1).curve

        def curve(order: float) -> float:
            wide = size * order
            return up(wide / (wide - 1) * fewer(up((wide - 1) / (size - 1), 4)) + self.curve(up(wide, 1)))

        return type(self)(curve, adjacency=self.adjacency)

    def share(self, loss: PrivacyLoss) -> float:
        """The pair's Renyi divergence as a part of the curve, at the worst of a range of orders."""
        return max(ratio(loss.renyi(a), self.curve(a)) for a in map(float, _ORDERS[20:90:5]))

    def __mul__(self, times: int) -> Self:
        times = errors.whole("k", times)
        return type(self)(lambda order: up(times * self.curve(order), 1), adjacency=self.adjacency)

    def _plus(self, other: RDP) -> Self:
        return type(self)(lambda a: up(self.curve(a) + other.curve(a), 1), adjacency=self.adjacency)


@dataclass(frozen=True, repr=False)
class ZCDP(Guarantee):
    """Renyi's divergence of every order a > 1 is at most rho a (Bun and Steinke, TCC 2016).

    >>> round(ZCDP(0.5).epsilon(1e-6, form="simple"), 4), round(ZCDP(0.5).epsilon(1e-6), 4)
    (5.7565, 5.2215)
    """

    rho: float

    def __post_init__(self) -> None:
        errors.nonnegative("rho", self.rho)

    def epsilon(self, delta: float, form: str = "improved") -> float:
        """rho + 2 sqrt(rho ln(1/delta)) (simple), or the improved conversion of `RDP`."""
        errors.delta("delta", delta)
        if self.rho == 0 or delta == 0:
            return math.inf if self.rho else 0.0
        if form == "simple":
            return up(self.rho + 2 * math.sqrt(self.rho * -math.log(delta)))
        return self.as_rdp().epsilon(delta, form)

    def delta(self, epsilon: float, form: str = "improved") -> float:
        """e^{-(eps-rho)^2/(4 rho)} for eps >= rho (simple), or the improved conversion of `RDP`."""
        if form == "simple" and self.rho > 0:
            exponent = max(0.0, epsilon - self.rho) ** 2 / (4 * self.rho)
            return min(1.0, up(math.exp(-exponent), 2 + 4 * exponent) + 5e-324 * (exponent > 0))
        return self.as_rdp().delta(epsilon, form) if self.rho else max(0.0, -math.expm1(epsilon))

    def as_rdp(self) -> RDP:
        """The line rho a as a curve; nothing is lost."""
        return RDP(lambda order: up(self.rho * order, 1), adjacency=self.adjacency)

    def group(self, size: int) -> Self:
        """size^2 rho."""
        return type(self)(
            decimal_sum([self.rho], [errors.whole("size", size) ** 2]), adjacency=self.adjacency
        )

    def share(self, loss: PrivacyLoss) -> float:
        """The pair's Renyi divergence as a part of rho a, at the worst of a range of orders."""
        return self.as_rdp().share(loss)

    def __mul__(self, times: int) -> Self:
        return type(self)(decimal_sum([self.rho], [errors.whole("k", times)]), adjacency=self.adjacency)

    def _plus(self, other: ZCDP) -> Self:
        return type(self)(decimal_sum([self.rho, other.rho], [1, 1]), adjacency=self.adjacency)


def check_order(order: float) -> float:
    """A finite order above 1."""
    if not 1 < order < math.inf:
        errors.reject("order", order, "a finite number above 1", "use 2, or loss.kl() for the limit at 1.")
    return float(order)


def randomized_response_rdp(epsilon: float, order: float) -> float:
    """Randomized response (Mironov, CSF 2017): the worst curve of all epsilon-DP steps, rounded up.

    With t = 1/(1 + e^-epsilon): ln( t^a (1-t)^{1-a} + (1-t)^a t^{1-a} )/(a-1) for the order a > 1.

    >>> round(randomized_response_rdp(1, 2), 12)
    0.735325664056
    """
    e, z = float(errors.nonnegative("epsilon", epsilon)), check_order(order) - 1
    if z * e > 30:
        far = np.logaddexp(z * e, -(z + 1) * e) - np.logaddexp(0.0, -e)
        return up(float(far) / z, 32)
    grown = 2 * math.sinh(z * e / 2) ** 2 + math.tanh(e / 2) * math.sinh(z * e)  # E[e^{zL}] - 1
    return up(math.log1p(grown) / z, 16)


def _gain(order: float, form: str) -> float:
    """What the improved conversion adds: ln(1 - 1/a) - ln(a)/(a - 1), negative and growing with a."""
    if form == "simple":
        return 0.0
    rest = math.log((order - 1) / order) if order < 2 else math.log1p(-1 / order)  # order - 1 is exact
    return rest - math.log(order) / (order - 1)


def _best_order(objective: Curve, floor: Curve) -> float:
    """The least value over all orders a > 1: a coarse look, then golden section in ln(a - 1).

    `floor(a)` bounds the objective from below at all orders above a, so the look can end early: the
    curve and the gain both grow with the order. Every order is a valid bound: an imperfect search costs
    tightness and never soundness.
    """
    coarse: list[float] = []
    for order in map(float, _ORDERS):
        coarse.append(objective(order))
        if floor(order) > min(coarse):
            break
    best = int(np.nanargmin(coarse))
    low, high = (math.log(_ORDERS[i] - 1) for i in (max(best - 1, 0), min(best + 1, len(_ORDERS) - 1)))
    golden = (math.sqrt(5) - 1) / 2

    def at(log: float) -> tuple[float, float]:
        return log, objective(1 + math.exp(log))

    left, right = at(high - golden * (high - low)), at(low + golden * (high - low))
    for _ in range(44):
        if left[1] <= right[1]:
            high, right = right[0], left
            left = at(high - golden * (high - low))
        else:
            low, left = left[0], right
            right = at(low + golden * (high - low))
    least = min(coarse[best], left[1], right[1])
    return float(least)
