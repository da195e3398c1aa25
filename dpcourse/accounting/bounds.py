"""The table of bounds: every way of accounting, as one function of a workload and a delta."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpcourse.accounting.common import Steps
from dpcourse.accounting.misprints import MISPRINTS
from dpcourse.accounting.theorems import (
    Limit,
    advanced_composition,
    basic_composition,
    central_limit,
    gdp_composition,
    kov_simple,
    optimal_epsilon,
    rdp_composition,
    subsampled_central_limit,
    whole_orders,
    zcdp_composition,
)
from dpcourse.accounting.workload import Workload
from dpcourse.errors import one_of, reject
from dpcourse.guarantees import GDP, PureDP
from dpcourse.guarantees.rounding import ULP


@dataclass(frozen=True)
class Bound:
    """One way to account: `epsilon(workload, delta)` is None where it does not apply."""

    name: str
    kind: str
    reference: str
    epsilon: Callable[[Workload, float], float | None]


def _basic(w: Workload, delta: float) -> float:
    """Steps without a delta of their own each get an equal share of it."""
    return basic_composition(w.approximated(delta, 1.0)).epsilon if w.fixed <= delta else math.inf


def _left(delta: float, every: Steps) -> float:
    """What the steps' own deltas leave of delta, rounded down."""
    spent = every.delta_sum
    return delta - spent - 2 * ULP * delta if 0 < spent < delta else delta - spent


def _advanced(mean: str) -> Callable[[Workload, float], float]:
    """Steps without a delta of their own share half of it; the other half is the slack."""

    def epsilon(w: Workload, delta: float) -> float:
        every = w.approximated(delta, 0.5)
        left = _left(delta, every)
        if left <= 0 or math.inf in every.epsilon:
            return math.inf
        return advanced_composition(every, 1, left, mean=mean).epsilon

    return epsilon


def _kov_simple(w: Workload, delta: float) -> float:
    every = w.approximated(delta, 0.5)
    left = _left(delta, every)
    if left > 0 and math.inf not in every.epsilon:
        return kov_simple(every, 1, left).epsilon
    return basic_composition(every).epsilon if left >= 0 else math.inf


def _optimal(w: Workload, delta: float) -> float:
    every = w.approximated(delta, 0.5)
    return optimal_epsilon(delta, every) if math.inf not in every.epsilon else math.inf


def _zcdp(w: Workload, delta: float) -> float | None:
    rhos = [s.rho for s in w.steps if s.rho is not None]
    return zcdp_composition(_counted(rhos, w), 1, w.slack(delta)) if len(rhos) == len(w.steps) else None


def _counted(values: list[float], w: Workload) -> Steps:
    """A rho or a mu for each step, as often as the step is taken."""
    return Steps(tuple(values), (0.0,) * len(values), tuple(s.count for s in w.steps))


def _curves(w: Workload, delta: float, convert: Callable[..., float]) -> float | None:
    curves = [(s.curve, s.count) for s in w.steps if s.curve]
    if len(curves) < len(w.steps):
        return None
    slack = w.slack(delta)
    return convert(lambda a: sum(n * curve(a) for curve, n in curves), 1, slack) if slack else math.inf


def _rdp(w: Workload, delta: float) -> float | None:
    return _curves(w, delta, rdp_composition)


def _moments(w: Workload, delta: float) -> float | None:
    return _curves(w, delta, whole_orders)


def _gdp(w: Workload, delta: float) -> float | None:
    mus = [s.mu for s in w.steps if s.mu is not None]
    return gdp_composition(_counted(mus, w), 1, w.slack(delta)) if len(mus) == len(w.steps) else None


def _limit(w: Workload, delta: float) -> float | None:
    """Of Dong, Roth and Su for symmetric losses, of Bu et al. for subsampled Gaussian noise."""
    slack = w.slack(delta)
    if all(s.sampling for s in w.steps):
        mus = [subsampled_central_limit(*s.sampling, s.count) for s in w.steps if s.sampling]
        return Limit(math.hypot(*mus), math.nan).epsilon(slack)
    losses = [(s.loss, s.count) for s in w.steps if s.loss and s.symmetric and not w.fixed]
    if len(losses) < len(w.steps) or all(isinstance(s.guarantee, GDP) for s in w.steps):
        return None
    return central_limit(losses).epsilon(slack)


def _exact(w: Workload, delta: float) -> float | None:
    bracket = exact_bounds(w, delta)
    return None if bracket is None else bracket[1]


def exact_bounds(w: Workload, delta: float) -> tuple[float, float] | None:
    """The bracket of the composed worst case, over both directions; None if a step has no worst case.

    Its upper end is at most the sum of the steps' epsilons as they are printed: ten times 0.1 is 1.
    """
    if not w.losses:
        return None
    lower, upper = zip(*(loss.epsilon_bounds(delta) for loss in w.losses), strict=True)
    most = _basic(w, delta) if all(step.approximate for step in w.steps) else math.inf
    return min(float(max(lower)), most), min(float(max(upper)), most)


def _misprint(name: str) -> Callable[[Workload, float], float | None]:
    def epsilon(w: Workload, delta: float) -> float | None:
        core = w.steps[0].guarantee
        if len(w.steps) > 1 or not isinstance(core, PureDP) or delta == 0:
            return None
        return MISPRINTS[name](core.epsilon_0, w.k, delta).epsilon

    return epsilon


_KOV = "Kairouz, Oh, Viswanath, ICML 2015"

BOUNDS = {
    "basic": Bound("basic", "bound", "Dwork et al., EUROCRYPT 2006", _basic),
    "classic": Bound("advanced, eps(e^eps-1)", "bound", "Dwork et al., FOCS 2010", _advanced("classic")),
    "square": Bound("advanced, eps^2", "bound", "implied by eps^2/2", _advanced("square")),
    "half-square": Bound("advanced, eps^2/2", "bound", "Bun, Steinke, TCC 2016", _advanced("half-square")),
    "tanh": Bound("advanced, eps tanh(eps/2)", "bound", _KOV, _advanced("tanh")),
    "kov-simple": Bound("least of three", "bound", _KOV, _kov_simple),
    "optimal": Bound("optimal (eps, delta)", "bound", "KOV 2015; Murtagh, Vadhan, TCC 2016", _optimal),
    "zcdp": Bound("zCDP", "bound", "Bun, Steinke, TCC 2016", _zcdp),
    "rdp": Bound("Renyi DP", "bound", "Mironov, CSF 2017; Balle et al., AISTATS 2020", _rdp),
    "moments": Bound("moments accountant", "bound", "Abadi et al., CCS 2016", _moments),
    "gdp": Bound("Gaussian DP", "bound", "Dong, Roth, Su, JRSS B 2022", _gdp),
    "clt": Bound("central limit", "approximation", "Dong, Roth, Su, JRSS B 2022; Bu et al. 2020", _limit),
    "exact": Bound("exact", "exact", "composed privacy loss", _exact),
    **{name: Bound(name, "misprint", "false", _misprint(name)) for name in MISPRINTS},
}
"""Every way of accounting by its key; approximations and misprints promise nothing."""
PROMISES = {"bound", "exact"}
"""The kinds of rows that may be promised to somebody."""


def epsilon_under(bound: str, workload: Workload, delta: float) -> float:
    """The epsilon at delta under the named bound; an error if the bound does not speak about the workload."""
    value = BOUNDS[one_of("bound", bound, BOUNDS)].epsilon(workload, delta)
    if value is None:
        promises = {key: b.epsilon(workload, delta) for key, b in BOUNDS.items() if b.kind in PROMISES}
        others = [key for key, epsilon in promises.items() if epsilon is not None and epsilon < math.inf]
        fix = f"use {' or '.join(map(repr, others))}." if others else "account for each step by itself."
        reject("bound", bound, f"one that applies to {workload}", fix)
    return value
