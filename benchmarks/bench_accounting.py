"""Composition: time and width of our bracket on epsilon against dp-accounting's default pair of estimates.

The same work on both sides: build the loss, compose it, and bound epsilon at delta = 1e-6 from below and
above. For dp-accounting that is its pessimistic and its optimistic estimate at the default grid of 1e-4,
if a row names no other; its width is their difference. prv-accountant and autodp take part in one row each.
"""

from __future__ import annotations

import logging
import math
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.accountants import DELTA, Bracket, installed, others, wrong_side
from benchmarks.harness import Row, best_of, in_turns
from benchmarks.report import ratio
from dpcourse.loss import FiniteLoss, GaussianLoss, LaplaceLoss, PrivacyLoss
from dpcourse.loss.composed import compose
from dpcourse.loss.subsampled import SubsampledGaussianLoss

_TIMES = (1, 2, 3, 5, 10, 30, 100, 300, 1000)


@dataclass(frozen=True)
class Case:
    """One workload: our loss, the peer's, and the goals of both comparisons."""

    name: str
    loss: Callable[[], list[PrivacyLoss]]
    """The directions to account for; epsilon is the larger one, as the peer reports it."""
    peer: Callable[[Any, bool], Any]
    """From dp-accounting's module and the kind of estimate to its privacy-loss distribution."""
    width: float
    times: float
    milliseconds: float = math.inf

    def ours(self, delta: float = DELTA) -> Bracket:
        pairs = [loss.epsilon_bounds(delta) for loss in self.loss()]
        return max(p[0] for p in pairs), max(p[1] for p in pairs)

    def theirs(self, pld: Any, delta: float = DELTA) -> Bracket:
        upper, lower = (self.peer(pld, kind).get_epsilon_for_delta(delta) for kind in (True, False))
        return lower, upper


def response(epsilon: float) -> FiniteLoss:
    """Randomized response on a bit."""
    keep, flip = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    return FiniteLoss((keep, flip), (flip, keep))


def random_pair() -> Any:
    """Two laws on six outcomes that have nothing to do with each other."""
    rng = np.random.default_rng(1)
    return [tuple(rng.dirichlet(np.full(6, 3.0)).tolist()) for _ in range(2)]


def near_pair() -> Any:
    """Two laws on four outcomes that differ by a hundredth."""
    return (0.4, 0.3, 0.2, 0.1), (0.404, 0.3, 0.198, 0.098)


def cases() -> list[Case]:
    """The workloads of the project's goals."""
    steps = (10, 100, 1000, 10_000)
    return [
        *map(laplace, steps),
        *map(responses, steps),
        *map(gaussian, steps),
        *map(subsampled, (1000, 10_000)),
        subsampled(100_000, 1e-4, 0.8),
        *map(different, (0.001, 0.01)),
        *map(arbitrary, (100, 1000)),
        large_and_small(),
    ]


def laplace(k: int) -> Case:
    return Case(
        f"Laplace 0.1, k = {k}",
        lambda: [k * LaplaceLoss(0.1)],
        lambda pld, up: pld.from_laplace_mechanism(10, pessimistic_estimate=up).self_compose(k),
        *(1e-10, 50),
    )


def responses(k: int) -> Case:
    noise = 2 / (1 + math.exp(0.1))  # the peer's parameter: the chance of a uniformly random answer
    return Case(
        f"randomized response 0.1, k = {k}",
        lambda: [k * response(0.1)],
        lambda pld, up: pld.from_randomized_response(noise, 2, pessimistic_estimate=up).self_compose(k),
        *(1e-10, 50),
    )


def gaussian(k: int) -> Case:
    return Case(
        f"Gaussian sigma 20, k = {k}",
        lambda: [k * GaussianLoss(1 / 20)],
        lambda pld, up: pld.from_gaussian_mechanism(20, pessimistic_estimate=up).self_compose(k),
        *(1e-10, 50),
    )


def subsampled(k: int, rate: float = 0.01, sigma: float = 1.0) -> Case:
    def peer(pld: Any, up: bool) -> Any:
        return pld.from_gaussian_mechanism(sigma, pessimistic_estimate=up, sampling_prob=rate).self_compose(k)

    usual = rate == 0.01  # a small rate needs a longer line
    return Case(
        f"subsampled Gaussian q = {rate:g}, sigma {sigma:g}, k = {k}, both directions",
        lambda: [k * SubsampledGaussianLoss(rate, sigma, removed) for removed in (True, False)],
        peer,
        *((1e-9, 50, 10.0) if usual else (1e-8, 1)),
    )


def different(unit: float) -> Case:
    def peer(pld: Any, up: bool) -> Any:
        return _sum(
            pld.from_laplace_mechanism(1 / (unit * i), pessimistic_estimate=up) for i in range(1, 101)
        )

    return Case(
        f"100 different Laplace, eps_i = {unit} i",
        lambda: [compose([(LaplaceLoss(unit * i), 1) for i in range(1, 101)])],
        peer,
        *(1e-8, 20, 40.0),
    )


def arbitrary(k: int) -> Case:
    return replace(some_laws([(k, random_pair())]), name=f"6 random outcomes, k = {k}")


def random_case(rng: np.random.Generator, laws: int, least: int = 2, most: int = 12) -> Case:
    """Random pairs of laws of some outcomes, a third of them near, each taken 1 to 1000 times."""
    parts = []
    for _ in range(laws):
        n, k = round(np.exp(rng.uniform(*np.log([least, most])))), int(rng.choice(_TIMES))
        p, q = rng.dirichlet(np.full(n, rng.choice([0.5, 1, 3])), size=2)
        if rng.random() < 1 / 3:
            q = p * np.exp(rng.normal(0, rng.choice([0.001, 0.01, 0.1]), n))
        parts.append((k, [tuple((law / law.sum()).tolist()) for law in (p, q)]))
    return some_laws(parts)


def some_laws(parts: Any, grid: float = 1e-4) -> Case:
    """Pairs of laws, each with the number of times that it is taken; and the peer's grid."""
    return Case(
        " and ".join(f"{k} of {len(p)} outcomes" for k, (p, _) in parts),
        lambda: [sum(k * FiniteLoss(*pair) for k, pair in parts)],
        lambda pld, up: _sum(_finite(pld, up, pair, grid).self_compose(k) for k, pair in parts),
        *(1e-8, 1),
    )


def large_and_small() -> Case:
    return replace(
        some_laws([(3, random_pair()), (1000, near_pair())]),
        name="6 random outcomes, k = 3, and 4 near ones, k = 1000",
    )


def _sum(parts: Iterator[Any]) -> Any:
    total = next(parts)
    for part in parts:
        total = total.compose(part)
    return total


def _finite(pld: Any, up: bool, pair: Any, grid: float) -> Any:
    p, q = (dict(enumerate(map(math.log, law))) for law in pair)
    return pld.from_two_probability_mass_functions(
        q, p, pessimistic_estimate=up, value_discretization_interval=grid, symmetric=True
    )


def rows() -> Iterator[Row]:
    """Time and width of every case, then what the peers that may be missing say, a curve, and memory."""
    logging.disable(logging.WARNING)  # the peer announces its choices
    pld = installed("dp_accounting.pld.privacy_loss_distribution")
    for case in cases():
        yield from _compared(case, pld)
    yield from others(subsampled(1000).ours)
    yield from wrong_side(pld)
    yield from _random_laws(pld)
    yield from _below_the_grid(pld)
    yield from _tiny(pld)
    yield from _curves()
    yield _memory()
    logging.disable(logging.NOTSET)


def _compared(case: Case, pld: Any) -> Iterator[Row]:
    low, high = case.ours()
    ours, theirs, wide, note = best_of(case.ours, 20), None, None, "dp-accounting is not installed"
    if pld is not None:
        below, above = case.theirs(pld)
        ours, theirs = in_turns(case.ours, partial(case.theirs, pld))
        wide, apart = above - below, max(low - above, below - high)
        note = f"{theirs / ours:.0f} times faster" + (f", but {apart:.1g} apart" if apart > 1e-8 else "")
    quick = 1e3 * ours <= case.milliseconds
    holds = None if theirs is None else theirs >= case.times * ours and quick
    limit = "" if math.isinf(case.milliseconds) else f", <= {case.milliseconds:g} ms"
    goal = f">= {case.times:g} times faster{limit}"
    yield Row(case.name, 1e3 * ours, None if theirs is None else 1e3 * theirs, "ms", goal, holds, note)
    yield Row(
        "    width of the bracket", high - low, wide, "", f"<= {case.width:g}", high - low <= case.width
    )


def _random_laws(pld: Any) -> Iterator[Row]:
    """Where ours is slowest next to the peer, and the widest bracket, of many random laws and mixtures."""
    rng = np.random.default_rng(0)
    kinds = {
        "72 random pairs of laws of 2 to 12 outcomes": [random_case(rng, 1) for _ in range(72)],
        "24 mixtures of 2 to 4 such pairs": [random_case(rng, laws) for laws in [2, 3, 4] * 8],
        "36 random pairs of 13 to 1000 outcomes": [random_case(rng, 1, 13, 1000) for _ in range(36)],
    }
    for kind, workloads in kinds.items():
        pairs = [tuple(_compared(case, pld)) for case in workloads]
        slow, _ = min(pairs, key=lambda rows: ratio(rows[0]) or 0.0)
        _, wide = max(pairs, key=lambda rows: rows[1].ours or 0.0)
        median = np.median([ratio(row) or math.nan for row, _ in pairs])
        note = f"{slow.name}; half of all at least {median:.0f} times"
        yield replace(slow, name=f"the least ratio of {kind}", note=note)
        yield replace(wide, name="    widest bracket of these")


def _below_the_grid(pld: Any) -> Iterator[Row]:
    """Losses below the peer's default grid, where it is quick and far off; then on a grid that is narrow."""
    p = np.arange(1, 18) / 153
    q = p * (1 + 1e-5 * np.cos(np.arange(17)))
    parts = [(6, [tuple((law / law.sum()).tolist()) for law in (p, q)])]
    for name, grid in (("6 of 17 outcomes, losses of 1e-5", 1e-4), ("    the peer on a grid of 1e-9", 1e-9)):
        case = some_laws(parts, grid)
        time, width = _compared(case, pld)
        low, high = (math.nan, math.nan) if pld is None else case.theirs(pld)
        note = f"epsilon is {case.ours()[1]:.3g}; its pair: {low:.3g} to {high:.3g}"
        yield replace(time, name=name, note=note)
    yield width


def _tiny(pld: Any) -> Iterator[Row]:
    """The width where delta is far below an ulp of 1."""
    many = (laplace, responses, gaussian, subsampled, arbitrary)
    for case in (*(kind(1000) for kind in many), different(0.01)):
        low, high = case.ours(1e-30)
        note = "dp-accounting is not installed" if pld is None else f"its pair: {case.theirs(pld, 1e-30)}"
        name = f"width at delta = 1e-30, {case.name}"
        yield Row(name, high - low, None, "", f"<= {case.width:g}", high - low <= case.width, note)


def _curves() -> Iterator[Row]:
    cases = [(laplace(100), 10), (laplace(1000), 30), (responses(1000), 30), (subsampled(1000), 4)]
    for case, last in [*cases, (arbitrary(100), 30), (arbitrary(1000), 180)]:
        taken = 1e3 * best_of(partial(_curve, case, np.linspace(0, last, 1000)), 5)
        name = case.name.removesuffix(", both directions")
        yield Row(f"delta at 1000 epsilons, {name}", taken, None, "ms", "<= 20 ms", taken <= 20)


def _curve(case: Case, eps: Any) -> None:
    case.loss()[0].delta_bounds(eps)


def _memory() -> Row:
    """The largest allocation for k = 100 and for k = 10^5."""
    peaks = []
    for k in (100, 100_000):
        tracemalloc.start()
        (k * LaplaceLoss(0.1)).epsilon_bounds(DELTA)
        peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        tracemalloc.stop()
    return Row(
        "peak memory, Laplace k = 10^5 (peer: k = 100)", peaks[1], peaks[0], "MB", "flat in k", peaks[1] < 5
    )
