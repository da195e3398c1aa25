"""Which promise implies which, and what each step loses."""

from __future__ import annotations

import math

from dpcourse import special
from dpcourse.errors import one_of, reject
from dpcourse.guarantees.base import CHOSEN, IMPLIED, Guarantee
from dpcourse.guarantees.gaussian import GDP
from dpcourse.guarantees.pure_approx import ApproxDP, PureDP, randomized_response_loss
from dpcourse.guarantees.renyi import RDP, ZCDP, randomized_response_rdp
from dpcourse.guarantees.rounding import ceil, exact, up
from dpcourse.loss import GaussianLoss, PrivacyLoss


def pure_to_zcdp(g: PureDP, form: str = "tight") -> ZCDP:
    """eps tanh(eps/2), the tight value (randomized response, order to 1), or the simple eps^2/2."""
    one_of("form", form, ("tight", "simple"))
    e = g.epsilon_0
    rho = up(e * math.tanh(e / 2), 4) if form == "tight" else _half_square(e)
    return ZCDP(rho, adjacency=g.adjacency)


def pure_to_approx(g: PureDP, delta: float = 0.0) -> ApproxDP:
    """The same epsilon with delta 0, or the slightly smaller one that a delta buys."""
    return to_approx(g, delta)


def pure_to_gdp(g: PureDP) -> GDP:
    """The Gaussian curve through the corner of randomized response's; elsewhere it lies below."""
    e = g.epsilon_0
    # -2 Phi^-1(1/(1 + e^eps)): for small eps from the distance to 1/2, for large ones from the tail.
    mu = (
        2 * math.sqrt(2) * special.erfinv(math.tanh(e / 2))
        if e < 1
        else -2 * special.ndtri(special.expit(-e))
    )
    return GDP(up(float(mu), 16), adjacency=g.adjacency)


def _half_square(x: float) -> float:
    return ceil(exact(x) ** 2 / 2) if x < math.inf else x


def to_approx(g: Guarantee, delta: float | None = None, form: str | None = None) -> ApproxDP:
    """One point of the promise's (epsilon, delta) curve; all other points are lost."""
    if delta is None:
        fix = "say which point of the curve, as in .to(ApproxDP, delta=1e-6)."
        reject("delta", delta, "given, to turn this promise into (epsilon, delta)-DP", fix)
    epsilon = g.epsilon(delta) if form is None else g.epsilon(delta, form)  # type: ignore[call-arg]
    return ApproxDP(epsilon, delta, adjacency=g.adjacency)


def dominating_loss(g: Guarantee) -> PrivacyLoss:
    """A loss that dominates that of every mechanism with this guarantee."""
    if isinstance(g, PureDP):
        return randomized_response_loss(g.epsilon_0)
    if isinstance(g, ApproxDP):
        return randomized_response_loss(g.epsilon_0, g.delta_0)
    if isinstance(g, GDP):
        return GaussianLoss(g.mu)
    fix = "compose the guarantees themselves (k * guarantee), or give the mechanism a worst_case."
    reject("guarantee", g, "of a kind with one worst pair: PureDP, ApproxDP or GDP", fix)


IMPLIED.update(
    {
        # Nothing is lost:
        (PureDP, ApproxDP): pure_to_approx,
        (ZCDP, RDP): lambda g: g.as_rdp(),
        # All but a moment curve, or a line above it, is lost:
        (PureDP, ZCDP): pure_to_zcdp,
        (GDP, ZCDP): lambda g: ZCDP(_half_square(g.mu), adjacency=g.adjacency),
        (PureDP, RDP): lambda g: RDP(
            lambda a: randomized_response_rdp(g.epsilon_0, a), adjacency=g.adjacency
        ),
        (GDP, RDP): lambda g: ZCDP(_half_square(g.mu), adjacency=g.adjacency).as_rdp(),
    }
)
# A bounded loss turned into a Gaussian one loses much; a single (epsilon, delta) loses the curve.
CHOSEN.update({(PureDP, GDP): pure_to_gdp} | {(k, ApproxDP): to_approx for k in (ZCDP, RDP, GDP)})
