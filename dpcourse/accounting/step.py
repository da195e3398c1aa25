"""Step: one kind of release, and everything that the accountants may know about it."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpcourse.accounting.theorems import laplace_rdp, subsampled_gaussian_rdp
from dpcourse.errors import BadInput
from dpcourse.guarantees import GDP, RDP, ZCDP, ApproxDP, Guarantee, PureDP, dominating_loss
from dpcourse.guarantees.renyi import Curve, randomized_response_rdp
from dpcourse.guarantees.rounding import ULP, up
from dpcourse.loss import FiniteLoss, GaussianLoss, LaplaceLoss, PrivacyLoss
from dpcourse.mechanisms import Mechanism, Subsampled

Item = Mechanism | Guarantee | PrivacyLoss


@dataclass(frozen=True)
class Step:
    """One kind of release, taken `count` times, as the accountants see it."""

    item: Item
    count: int

    @cached_property
    def guarantee(self) -> Guarantee | None:
        """What it promises; for a bare loss, the pure or Gaussian promise that the loss implies."""
        item = self.item
        if isinstance(item, Guarantee):
            return item
        if isinstance(item, Mechanism):
            return item.guarantee
        if isinstance(item, GaussianLoss):
            return GDP(item.mu)
        largest = max(item.max_divergence(), item.reversed().max_divergence())
        return PureDP(largest) if math.isfinite(largest) else None

    @cached_property
    def loss(self) -> PrivacyLoss | None:
        """The loss that dominates all pairs of neighbours, if there is one."""
        item = self.item
        try:
            if isinstance(item, Mechanism):
                return item.worst_case()
            return dominating_loss(item) if isinstance(item, Guarantee) else item
        except BadInput:  # a moment curve has no single worst pair
            return None

    @property
    def promised(self) -> bool:
        """Whether the loss is the worst that a mechanism's guarantee allows, not that of its own laws."""
        if isinstance(self.item, Subsampled):
            return self.sampling is None
        return isinstance(self.item, Mechanism) and type(self.item).worst_case is Mechanism.worst_case

    @cached_property
    def symmetric(self) -> bool:
        """Whether the loss is the same in both directions."""
        loss = self.loss
        if isinstance(loss, FiniteLoss) and len(loss.p) < 1000:
            pairs = list(zip(loss.p, loss.q, strict=True))
            return sorted(pairs) == sorted((q, p) for p, q in pairs)
        return isinstance(loss, GaussianLoss | LaplaceLoss)

    @cached_property
    def approximate(self) -> ApproxDP | None:
        """Its own (epsilon, delta), where the promise is of that kind."""
        g = self.guarantee
        return g.to(ApproxDP) if isinstance(g, PureDP) else g if isinstance(g, ApproxDP) else None

    @cached_property
    def core(self) -> Guarantee | None:
        """The promise when the step does not fail: (epsilon, delta)-DP is then pure."""
        claim = self.approximate
        return PureDP(claim.epsilon_0, adjacency=claim.adjacency) if claim else self.guarantee

    @property
    def rho(self) -> float | None:
        """Its zCDP, when it does not fail."""
        return up(self.core.to(ZCDP).rho) if isinstance(self.core, PureDP | GDP | ZCDP) else None

    @property
    def mu(self) -> float | None:
        """Its GDP, when it does not fail."""
        return up(self.core.to(GDP).mu) if isinstance(self.core, PureDP | GDP) else None

    @property
    def sampling(self) -> tuple[float, float] | None:
        """(rate, sigma/sensitivity) of Gaussian noise on a Poisson sample."""
        if isinstance(self.item, Subsampled) and isinstance(self.item.mechanism.guarantee, GDP):
            return self.item.rate, 1 / self.item.mechanism.guarantee.mu
        return None

    @cached_property
    def curve(self) -> Curve | None:
        """Its Renyi divergences, when it does not fail: closed forms, else those of the loss or promise."""
        if self.sampling:
            rate, sigma = self.sampling
            return lambda order: subsampled_gaussian_rdp(rate, sigma, order)
        loss, claim = self.loss, self.approximate
        if isinstance(loss, LaplaceLoss):
            return lambda order: laplace_rdp(loss.shift, order)
        if claim and (claim.delta_0 > 0 or isinstance(self.item, Guarantee)):
            return lambda order: randomized_response_rdp(claim.epsilon_0, order)
        if loss is not None:
            ways = [loss] if self.symmetric else [loss, loss.reversed()]
            return lambda a: max(way.renyi(a) for way in ways) + 16 * ULP * (1 + 1 / (a - 1))
        return self.guarantee.to(RDP).curve if self.guarantee else None

    def approximation(self, delta: float) -> ApproxDP:
        """A single step as (epsilon, delta)-DP at this delta, in the worse direction."""
        if delta not in self._known:
            ways: list[PrivacyLoss | Guarantee | None] = [self.loss or self.guarantee]
            if self.loss is not None and not self.symmetric:
                ways.append(self.loss.reversed())
            self._known[delta] = ApproxDP(max(float(way.epsilon(delta)) for way in ways if way), delta)
        return self._known[delta]

    @cached_property
    def _known(self) -> dict[float, ApproxDP]:
        return {}

    def __str__(self) -> str:
        return f"{self.count} x {label(self.item)}"


def label(item: Any) -> str:
    """A short name: the kind and its privacy parameters."""
    if isinstance(item, RDP):
        return "RDP(curve)"  # a function prints as where it is in memory
    names = ("epsilon", "epsilon_0", "delta_0", "sigma", "rho", "mu", "shift", "rate", "mechanism")
    known = [f.name for f in dataclasses.fields(item)] if dataclasses.is_dataclass(item) else []
    values = [(n.removesuffix("_0"), getattr(item, n)) for n in names if n in known]
    shown = ", ".join(label(v) if isinstance(v, Mechanism) else f"{n}={v:.6g}" for n, v in values)
    return f"{type(item).__name__}({shown})" if shown else repr(item)
