"""The moments accountant: Renyi divergences of the steps add up, order by order.

For a loss L the cumulant (order - 1) D_order = ln E[e^{(order - 1) L}] of a composition is the sum of
those of its steps; one order at the end turns it into (epsilon, delta)-DP. The order must be the same
for all steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from dpcourse.accounting.common import Numbers, steps
from dpcourse.errors import delta as check_delta
from dpcourse.errors import nonnegative, one_of, positive, reject, whole
from dpcourse.guarantees import RDP, ZCDP
from dpcourse.guarantees.renyi import Curve, check_order
from dpcourse.guarantees.rounding import up
from dpcourse.loss.solve import TINIEST

Curves = Curve | Sequence[Curve]
"""How a step's Renyi divergence depends on the order; or one such function for each step."""


def zcdp_composition(rho: Numbers, k: int, delta: float, form: str = "simple") -> float:
    """The epsilon at delta of steps that are rho_i-zCDP, k times over: with r the sum of all rhos,

    form "simple": r + 2 sqrt(r ln(1/delta)), for every delta in (0, 1) (Bun and Steinke, TCC 2016,
    Lemma 2.3 and Proposition 1.3). "improved": the conversion of `rdp_composition`.

    >>> round(zcdp_composition(0.005, 100, 1e-6), 4), round(zcdp_composition(0.005, 100, 1e-6, "improved"), 4)
    (5.7565, 5.2215)
    >>> round(zcdp_composition([0.1, 0.4], 1, 1e-6), 4)
    5.7565
    """
    one_of("form", form, ("simple", "improved"))
    total = ZCDP(steps(rho, k, name="rho").epsilon_sum)
    return up(total.epsilon(check_delta("delta", delta), form)) if total.rho < math.inf else math.inf


def rdp_composition(curve: Curves, k: int, delta: float, form: str = "improved") -> float:
    """The epsilon at delta of k steps whose Renyi divergence of order a is at most curve(a).

    A list of curves is a list of different steps, all of them k times.

    The least over a > 1 of k curve(a) + ln(1/delta)/(a - 1) (form "simple": Mironov, CSF 2017,
    Propositions 1 and 3), plus ln(1 - 1/a) - ln(a)/(a - 1) (form "improved": Balle, Barthe, Gaboardi,
    Hsu and Sato, AISTATS 2020, Theorem 21; Canonne, Kamath and Steinke, NeurIPS 2020, Proposition 12).

    >>> [round(rdp_composition(lambda a: a / 32, 100, 1e-5, form), 4) for form in ("simple", "improved")]
    [15.1213, 14.1305]
    """
    one_of("form", form, ("simple", "improved"))
    return up((whole("k", k) * RDP(_added(curve))).epsilon(check_delta("delta", delta), form))


def laplace_rdp(epsilon: float, order: float) -> float:
    """Laplace noise of scale sensitivity/epsilon (Mironov, CSF 2017, Proposition 6).

    ln( a/(2a-1) e^{(a-1) epsilon} + (a-1)/(2a-1) e^{-a epsilon} )/(a-1) for the order a > 1.

    >>> round(laplace_rdp(1, 2), 12)
    0.619123629999
    """
    e, a = float(nonnegative("epsilon", epsilon)), check_order(order)
    if (a - 1) * e > 30:
        far = np.logaddexp((a - 1) * e + math.log(a), math.log(a - 1) - a * e) - math.log(2 * a - 1)
        return up(float(far) / (a - 1), 32)
    # The first-order terms of the two exponentials cancel exactly; leave them out.
    total = (a * _beyond_linear((a - 1) * e) + (a - 1) * _beyond_linear(-a * e)) / (2 * a - 1)
    return max(up(math.log1p(total) / (a - 1), 16), TINIEST) if e else 0.0


def gaussian_rdp(sigma: float, order: float) -> float:
    """Gaussian noise, sigma in units of the sensitivity: order/(2 sigma^2) (Mironov, CSF 2017, Prop. 7).

    >>> gaussian_rdp(2, 8)
    1.0
    """
    square = positive("sigma", sigma) * sigma
    return max(up(check_order(order) / (2 * square), 4), TINIEST) if square else math.inf


def whole_orders(curve: Curves, k: int, delta: float, orders: Iterable[int] = range(2, 257)) -> float:
    """min over the orders a of k curve(a) + ln(1/delta)/(a-1): the moments accountant of any curve or curves.

    Abadi et al., CCS 2016, Theorem 2, which is about any mechanism. `curve` may be `laplace_rdp`,
    `gaussian_rdp`, `randomized_response_rdp` or `subsampled_gaussian_rdp` with its parameters filled in.
    Divergences rise with the order, so the search ends where k curve(a) alone is above the least so far.

    >>> round(whole_orders(lambda a: a / 32, 100, 1e-5), 4)
    15.1315
    """
    log = -math.log(delta) if check_delta("delta", delta) > 0 else math.inf
    every = sorted(whole("order", a, 2) for a in orders)
    if not every:
        reject("orders", "[]", "at least one whole order of at least 2", "use range(2, 65).")
    rounds, total, least = whole("k", k), _added(curve), math.inf
    for a in every:
        cost = rounds * total(a)
        least = min(least, up(cost + log / (a - 1)))
        if cost > least:
            break
    return least


def _added(curve: Curves) -> Curve:
    """One curve as it is, several as their sum, rounded up."""
    curves = list(curve) if isinstance(curve, Sequence) else [curve]
    if not curves or not all(map(callable, curves)):
        fix = "give one such as lambda a: a / 32, or a list of such."
        reject("curve", curve, "a function of the order", fix)
    return curves[0] if len(curves) == 1 else lambda a: up(math.fsum(one(a) for one in curves), 1)


def _beyond_linear(x: float) -> float:
    """e^x - 1 - x, to all digits."""
    if abs(x) > 0.5:
        return math.expm1(x) - x
    return math.fsum(x**n / math.factorial(n) for n in range(2, 18))
