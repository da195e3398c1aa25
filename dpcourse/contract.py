"""The contract: what every mechanism must obey, checked the same way by tests and by the grader.

`faults(case, rng)` lists every rule that a mechanism breaks on the given neighbouring pairs:

    neighbours   the pairs are pairs that the guarantee speaks about
    mass         each law has total mass one
    samples      draws fit the law: marginals by the DKW inequality, and coordinates are independent
    promise      no pair's privacy loss exceeds the guarantee, in either direction
    tight        some pair uses all of it (where the case says so)
    brackets     lower <= upper, falling in epsilon, and a second method agrees
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats
from dpcourse.laws import Finite, Image, Law, Product
from dpcourse.loss import DensityLoss, PrivacyLoss
from dpcourse.mechanisms import Mechanism

FALSE_ALARM: Final = 1e-9
"""The chance that one statistical check fails on a sound mechanism."""


@dataclass(frozen=True)
class Case:
    """A mechanism with neighbouring pairs to try it on; `tight` if one of them uses the whole promise."""

    name: str
    mechanism: Mechanism
    pairs: tuple[tuple[Any, Any], ...]
    tight: bool = False
    draws: int = 40_000

    def data(self) -> list[Any]:
        """The distinct inputs of the pairs."""
        seen: list[Any] = []
        for value in (v for pair in self.pairs for v in pair):
            if not any(np.array_equal(value, other) for other in seen):
                seen.append(value)
        return seen


@dataclass(frozen=True)
class Fault:
    """A rule that does not hold, and where."""

    rule: str
    detail: str


def faults(case: Case, rng: np.random.Generator) -> list[Fault]:
    """Every rule of the contract that the case breaks; an empty list for a sound mechanism."""
    found = []
    for rule, check in RULES.items():
        try:
            found += [Fault(rule, detail) for detail in check(case, rng)]
        except Exception as error:  # a mechanism that cannot be run keeps no promise
            found.append(Fault(rule, f"{type(error).__name__}: {error}"))
    return found


def _neighbours(case: Case, rng: np.random.Generator) -> Iterator[str]:
    for left, right in case.pairs:
        if not case.mechanism.are_neighbours(left, right):
            yield f"{left} and {right} are not neighbours"


def _mass(case: Case, rng: np.random.Generator) -> Iterator[str]:
    for data in case.data():
        for law in _coordinates(case.mechanism.law(data)):
            mass = total_mass(law)
            if abs(mass - 1) > 1e-9:
                yield f"on {data} the total mass is {mass:.12g}"


def _samples(case: Case, rng: np.random.Generator) -> Iterator[str]:
    distance = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * case.draws))
    for data in case.data():
        law = case.mechanism.law(data)
        if isinstance(law, Image):
            continue  # it is defined by its samples
        draws = case.mechanism(data, rng, case.draws)
        uniforms = _uniforms(law, draws, rng)
        tests = {f"coordinate {i}": u for i, u in enumerate(uniforms)}
        for i, u in enumerate(uniforms[1:], 1):  # both are uniform if the coordinates are independent
            tests[f"coordinates {i - 1} and {i} (difference)"] = (u - uniforms[i - 1]) % 1
            tests[f"coordinates {i - 1} and {i} (sum)"] = (u + uniforms[i - 1]) % 1
        for name, u in tests.items():
            gap = np.max(np.abs(np.sort(u) - (np.arange(len(u)) + 0.5) / len(u)))
            if gap > distance + 0.5 / len(u):
                yield f"on {data} the draws do not fit the law at {name}: off by {gap:.3f}"


def _promise(case: Case, rng: np.random.Generator) -> Iterator[str]:
    for left, right, loss in _losses(case):
        share = case.mechanism.guarantee.share(loss)
        if share > 1 + 1e-9:
            yield f"{left} against {right} uses {share:.6g} times the promise {case.mechanism.guarantee!r}"


def _tight(case: Case, rng: np.random.Generator) -> Iterator[str]:
    if case.tight:
        best = max(case.mechanism.guarantee.share(loss) for _, _, loss in _losses(case))
        if best < 1 - 1e-6:
            yield f"no pair uses more than {best:.6g} of the promise, which is called tight"


def _brackets(case: Case, rng: np.random.Generator) -> Iterator[str]:
    epsilons = np.linspace(0, 2, 9)
    for left, right, loss in _losses(case):
        lower, upper = loss.delta_bounds(epsilons)
        if not (np.all(lower <= upper) and np.all(lower >= 0) and np.all(upper <= 1)):
            yield f"{left} against {right}: the bounds on delta cross"
        if np.any(np.diff(upper) > 1e-12):
            yield f"{left} against {right}: delta grows with epsilon"
        if loss.pair and not any(law.discrete or isinstance(law, Product) for law in loss.pair):
            low, high = DensityLoss(loss.pair).delta_bounds(epsilons)
            if np.any(low > upper + 1e-12) or np.any(high < lower - 1e-12):
                yield f"{left} against {right}: two methods disagree on delta"


RULES: Final[dict[str, Callable[[Case, np.random.Generator], Iterator[str]]]] = {
    "neighbours": _neighbours,
    "mass": _mass,
    "samples": _samples,
    "promise": _promise,
    "tight": _tight,
    "brackets": _brackets,
}


def total_mass(law: Law) -> float:
    """The sum of the probabilities, or the integral of the density."""
    finite = law.to_finite()
    if finite is not None:
        return math.fsum(finite.weights)
    if law.discrete:
        low, high = law.window()
        reach = 100 * (high - low) + 100  # the tails of every law here fall at least exponentially
        integers = np.arange(math.floor(low - reach), math.ceil(high + reach) + 1)
        return math.fsum(law.prob(integers))
    return math.exp(DensityLoss((law, law)).log_moment(0.0))


def _losses(case: Case) -> Iterator[tuple[Any, Any, PrivacyLoss]]:
    for left, right in case.pairs:
        laws = case.mechanism.law(left), case.mechanism.law(right)
        if any(isinstance(law, Image) for law in laws):
            continue  # the inner mechanism's own case covers it
        yield left, right, PrivacyLoss.between(*laws)
        yield right, left, PrivacyLoss.between(*laws[::-1])


def _coordinates(law: Law) -> list[Law]:
    if isinstance(law, Image):
        return []
    return law.coordinates() if isinstance(law, Product) else [law]


def _uniforms(law: Law, draws: Any, rng: np.random.Generator) -> list[Floats]:
    """F(y-) + V Pr[y] with V uniform: exactly uniform if y has distribution function F."""
    finite = law.to_finite()
    if finite is not None:
        return [_finite_uniform(finite, draws, rng)]
    columns = (
        [np.asarray(draws)[..., i] for i in range(law.dimension)] if isinstance(law, Product) else [draws]
    )
    uniforms = []
    for part, y in zip(_coordinates(law), columns, strict=True):
        below = part.cdf(y)
        if part.discrete:
            below = below - rng.random(len(y)) * part.prob(y)
        uniforms.append(np.asarray(below))
    return uniforms


def _finite_uniform(law: Finite, draws: Any, rng: np.random.Generator) -> Floats:
    places = {outcome: i for i, outcome in enumerate(law.outcomes)}
    rows = np.asarray(draws, dtype=object).tolist()
    index = np.array([places.get(tuple(y) if isinstance(y, list) else y, -1) for y in rows])
    if np.any(index < 0):
        return np.zeros(len(index))  # a draw that the law calls impossible: as far off as can be
    upper = np.cumsum(law.weights)
    return np.asarray(upper[index] - rng.random(len(index)) * law.weights[index])
