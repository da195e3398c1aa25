"""Domain: the named parameters that a proof speaks about, and how to search among them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.proofs.parameters import Parameter

Point = dict[str, Any]
Batch = dict[str, Any]
"""Raw values of many points: each array has one row for each point."""


@dataclass(frozen=True)
class Domain:
    """Named parameters with their ranges.

    `build` makes from them the objects of the proof (laws, sums, scores), once for all steps. `hard` lists
    points that are known to be tight, `fits` keeps the (raw) points that obey a rule between parameters.

    >>> from dpcourse.proofs import Real, Whole
    >>> domain = Domain({"eps": Real(0.1, 1.0), "k": Whole(1, 10)})
    >>> domain.example()
    {'eps': 0.55, 'k': 6}
    """

    parameters: Mapping[str, Parameter]
    build: Callable[[Any], Mapping[str, Any]] | None = None
    hard: Sequence[Point] = ()
    fits: Callable[[Any], Any] | None = None
    start: Point | None = None

    def widened(self, **changes: Parameter) -> Domain:
        """The same with other ranges."""
        return replace(self, parameters={**self.parameters, **changes}, hard=())

    def example(self) -> Point:
        """The middle of each range, or the point that the author chose to start from."""
        middle = {n: (s := p.sweep())[len(s) // 2] for n, p in self.parameters.items()}
        return middle | self._read(self.start or {})

    def point(self, given: Mapping[str, Any]) -> Point:
        """A full point: what is given, checked, and the example for the rest."""
        for name in given:
            if name not in self.parameters:
                listed = ", ".join(self.parameters)
                reject("parameter", name, f"one of {listed}", "use these names.")
        return self.example() | self._read(given)

    def _read(self, given: Mapping[str, Any]) -> Point:
        return {name: self.parameters[name].checked(name, value) for name, value in given.items()}

    def batch(self, points: Sequence[Point]) -> Batch:
        """Many points as arrays."""
        return {n: p.array([point[n] for point in points]) for n, p in self.parameters.items()}

    def row(self, batch: Batch, index: int) -> Point:
        """One point of a batch, in plain numbers."""
        return {n: _plain(values[index]) for n, values in batch.items()}

    @property
    def has_fractions(self) -> bool:
        """Whether an exact view says more than a quick one."""
        return any(p.has_fractions for p in self.parameters.values())

    def view(self, batch: Batch, exact: bool = True) -> Any:
        """What steps see: an attribute for each parameter and each object built from them."""
        seen = SimpleNamespace(**{n: p.view(batch[n], exact) for n, p in self.parameters.items()})
        with np.errstate(all="ignore"):
            seen.__dict__.update(self.build(seen) if self.build else {})
        return seen

    def fitting(self, batch: Batch) -> Any:
        """Which points obey the rule between parameters."""
        if self.fits is None:
            return np.ones(len(next(iter(batch.values()))), dtype=bool)
        return np.asarray(self.fits(SimpleNamespace(**batch)), dtype=bool)

    def legal(self, batch: Batch) -> Batch:
        """The points that obey the rule between parameters."""
        keep = self.fitting(batch)
        return {n: values[keep] for n, values in batch.items()}

    def search(self, budget: int, rng: np.random.Generator) -> Iterator[Batch]:
        """Known hard cases, corners, sweeps of one parameter at a time, then random points."""
        if self.hard:
            yield self.batch([self.point(p) for p in self.hard])
        yield self.batch(self._corners(max(budget // 8, 16), rng))
        yield self.batch(self._sweeps(max(budget // 8, 16), rng))
        size = 64
        while True:
            yield {n: p.draw(rng, size) for n, p in self.parameters.items()}
            size = min(2 * size, 4096)

    def simpler(self, point: Point) -> list[Point]:
        """Points in which one parameter is simpler."""
        return [
            point | {name: value}
            for name, kind in self.parameters.items()
            for value in kind.simpler(point[name])
            if kind.size(value) < kind.size(point[name])
        ]

    def show(self, point: Point) -> str:
        """A point as text."""
        return ", ".join(f"{n} = {p.show(point[n])}" for n, p in self.parameters.items())

    def _corners(self, most: int, rng: np.random.Generator) -> list[Point]:
        kinds = [p.corners() for p in self.parameters.values()]
        total = int(np.prod([float(len(k)) for k in kinds]).clip(max=1e9))
        if total <= most:
            chosen = list(itertools.product(*kinds))
        else:
            chosen = [tuple(k[int(rng.integers(len(k)))] for k in kinds) for _ in range(most)]
        return [dict(zip(self.parameters, values, strict=True)) for values in chosen]

    def _sweeps(self, most: int, rng: np.random.Generator) -> list[Point]:
        """Each parameter along its scale, the others as in the example or at random corners."""
        points: list[Point] = []
        bases = [self.example(), *self._corners(4, rng)]
        for base in bases:
            for name, kind in self.parameters.items():
                points += [base | {name: value} for value in kind.sweep()]
        return points[:most]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return tuple(_plain(v) for v in value)
    return value.item() if isinstance(value, np.generic) else value
