r"""Noise scaled to smooth sensitivity: what makes it private, and the theorem that does not.

Let S be beta-smooth: S >= local sensitivity, S(x) <= e^beta S(x'). Neighbours release f + c S Z and
f' + c S' Z: a shift by at most min(S, S') and a stretch by at most e^beta. With h the density of Z,

    shift    |ln h(z) - ln h(z + 1/c)|       <= sup |(ln h)'| / c
    stretch  |ln h(z) - ln e^s h(e^s z)|     <= D |s|,  |s| <= beta,

so sup |(ln h)'|/c + D beta <= epsilon gives epsilon-DP wherever D is finite: for tails that fall like a
power. For Laplace noise the stretch costs |z|(e^s - 1) - s, which no constant bounds: (epsilon, delta) only.
Nissim, Raskhodnikova and Smith, STOC 2007; for Student's t: Bun and Steinke, NeurIPS 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

from dpcourse.errors import delta as check_delta
from dpcourse.errors import one_of, positive, reject
from dpcourse.guarantees import ApproxDP, Guarantee, PureDP
from dpcourse.laws import GeneralizedCauchy, Laplace, Law, Point, StudentT
from dpcourse.mechanisms import Mechanism
from dpcourse.neighbours import Adjacency


class SmoothQuery(Protocol):
    """A query that knows its sensitivity at the data: `sensitivity.median(...)` and its kin."""

    @property
    def adjacency(self) -> Adjacency:
        """The adjacency that the sensitivities are about."""

    def __call__(self, data: Any) -> float:
        """The answer."""

    def local(self, data: Any) -> float:
        """How far one step from the data moves the answer."""

    def smooth(self, data: Any, beta: float) -> float:
        """A beta-smooth upper bound on that."""


@dataclass(frozen=True)
class SmoothMechanism(Mechanism):
    """query(data) + factor * S(data) * noise, with S the query's beta-smooth sensitivity."""

    query: SmoothQuery
    epsilon: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        if not callable(getattr(self.query, "smooth", None)):
            fix = "give one such as sensitivity.median(size, low, high)."
            reject("query", self.query, "a query that knows its smooth sensitivity", fix)

    @property
    def beta(self) -> float:
        """How fast the noise may change from a dataset to its neighbour."""
        raise NotImplementedError

    @property
    def factor(self) -> float:
        """The noise scale in units of the smooth sensitivity."""
        raise NotImplementedError

    def noise(self, centre: float, scale: float) -> Law:
        """The law of the noisy answer."""
        return Laplace(centre, scale)

    def spread(self, data: Any) -> float:
        """The sensitivity that the noise is scaled to."""
        return self.query.smooth(data, self.beta)

    def law(self, data: Any) -> Law:
        """Noise around the answer; none where nothing can move it."""
        centre, spread = self.query(data), self.spread(data)
        return self.noise(centre, self.factor * spread) if spread > 0 else Point(centre)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-DP."""
        return PureDP(self.epsilon, adjacency=self.query.adjacency)


@dataclass(frozen=True)
class SmoothLaplace(SmoothMechanism):
    """f + Lap(2 S/epsilon) with beta = epsilon/(2 ln(2/delta)): (epsilon, delta)-DP.

    The shift costs epsilon/2. The stretch costs at most |z|(e^beta - 1) - beta or beta, which is within
    epsilon/2 unless |z| > ln(1/delta), an event of probability delta.

    >>> from dpcourse.sensitivity import median
    >>> SmoothLaplace(median(3, low=0, high=1), 1.0, 1e-3).law((0, 0, 0))
    Laplace(loc=0.0, scale=1.872671)
    """

    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("delta", check_delta("delta", self.delta))
        stretch = math.log(1 / self.delta) * math.expm1(self.beta) - self.beta
        if max(stretch, self.beta) > self.epsilon / 2:
            fix = "choose epsilon at most 4 and a small delta, or SmoothCauchy for pure privacy."
            reject("epsilon", self.epsilon, f"small enough for the theorem at delta = {self.delta}", fix)

    @property
    def beta(self) -> float:
        """epsilon/(2 ln(2/delta))."""
        return self.epsilon / (2 * math.log(2 / self.delta))

    @property
    def factor(self) -> float:
        """2/epsilon."""
        return 2 / self.epsilon

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-DP."""
        return ApproxDP(self.epsilon, self.delta, adjacency=self.query.adjacency)


@dataclass(frozen=True)
class SmoothCauchy(SmoothMechanism):
    """f + c S Z with Z of density proportional to 1/(1+|z|^gamma), gamma > 1: epsilon-DP.

    Here |(ln h)'| <= (gamma-1)^{1-1/gamma} and a stretch costs at most max(1, gamma-1) |s|; each gets half
    of epsilon. rule="classic" puts gamma+1 for both constants, as the paper does.
    The noise has a mean for gamma > 2 and a variance for gamma > 3.

    >>> from dpcourse.sensitivity import median
    >>> SmoothCauchy(median(3, low=0, high=1), 1.0, gamma=2).factor
    2.0
    """

    gamma: float = 4.0
    rule: str = field(default="sharp", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("rule", self.rule, ("sharp", "classic"))
        GeneralizedCauchy(0.0, 1.0, self.gamma)  # checks gamma

    @property
    def beta(self) -> float:
        """epsilon/(2 max(1, gamma-1))."""
        return self.epsilon / (2 * (self.gamma + 1 if self.rule == "classic" else max(1.0, self.gamma - 1)))

    @property
    def factor(self) -> float:
        """2 (gamma-1)^{1-1/gamma}/epsilon."""
        slope = (self.gamma - 1) ** (1 - 1 / self.gamma)
        return 2 * (self.gamma + 1 if self.rule == "classic" else slope) / self.epsilon

    def noise(self, centre: float, scale: float) -> Law:
        """Generalized Cauchy."""
        return GeneralizedCauchy(centre, scale, self.gamma)


@dataclass(frozen=True)
class SmoothStudentT(SmoothMechanism):
    """f + c S Z with Z of Student's t law with d degrees of freedom: epsilon-DP.

    |(ln h)'| <= (d+1)/(2 sqrt(d)) and a stretch costs at most max(1, d) |s|; each gets half of epsilon.

    >>> from dpcourse.sensitivity import median
    >>> SmoothStudentT(median(3, low=0, high=1), 1.0, degrees=4).factor
    2.5
    """

    degrees: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("degrees", self.degrees)

    @property
    def beta(self) -> float:
        """epsilon/(2 max(1, d))."""
        return self.epsilon / (2 * max(1.0, self.degrees))

    @property
    def factor(self) -> float:
        """(d+1)/(sqrt(d) epsilon)."""
        return (self.degrees + 1) / (math.sqrt(self.degrees) * self.epsilon)

    def noise(self, centre: float, scale: float) -> Law:
        """Student's t."""
        return StudentT(centre, scale, self.degrees)


@dataclass(frozen=True)
class NaiveSmoothLaplace(SmoothMechanism):
    """f + Lap(S/epsilon) with an epsilon-smooth S, claimed 2 epsilon-DP in notes that circulate: false.

    "epsilon for f and epsilon for S" forgets that the tails multiply a stretch: on (0,0,0) and (0,0,1) the
    median is 0 for both, the scales differ by e^epsilon, and the log-ratio at y grows like
    epsilon (e^epsilon - 1)|y| without bound.
    """

    @property
    def beta(self) -> float:
        """epsilon."""
        return self.epsilon

    @property
    def factor(self) -> float:
        """1/epsilon."""
        return 1 / self.epsilon

    @property
    def guarantee(self) -> Guarantee:
        """2 epsilon-DP, as claimed."""
        return PureDP(2 * self.epsilon, adjacency=self.query.adjacency)


@dataclass(frozen=True)
class LocalLaplace(SmoothMechanism):
    """f + Lap(LS/epsilon): noise scaled to the local sensitivity, which itself gives the data away.

    Where nothing near moves the answer there is no noise at all; one step further there is.
    """

    @property
    def factor(self) -> float:
        """1/epsilon."""
        return 1 / self.epsilon

    def spread(self, data: Any) -> float:
        """The local sensitivity, which is not smooth."""
        return self.query.local(data)
