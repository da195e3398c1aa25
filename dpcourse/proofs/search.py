"""The search for a counterexample: hard cases, corners, sweeps, random points; then a simpler one like it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.proofs.domain import Batch, Point

if TYPE_CHECKING:
    from dpcourse.proofs.proof import Proof
    from dpcourse.proofs.show import Checked


@dataclass(frozen=True, repr=False)
class Counterexample:
    """A point of the domain where a line certainly fails, after shrinking."""

    proof: Proof
    point: Point
    found_after: int
    shrunk_by: int

    @property
    def checked(self) -> Checked:
        """The proof at this point."""
        return self.proof.check(**self.point)

    @property
    def fails(self) -> tuple[str, ...]:
        """The names of the lines that fail."""
        return tuple(row.name for row in self.checked.rows if row.outcome.value == "violated")

    def __str__(self) -> str:
        rows = [row for row in self.checked.rows if row.outcome.value == "violated"]
        lines = [f"  {row.name}: {row.left_text} {row.relation} {row.right_text} is false" for row in rows]
        return "\n".join([self.proof.domain.show(self.point), *lines])

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class Search:
    """What a search found: a counterexample, or how much was tried in vain.

    `tried` counts points (those of the shrinking apart); `undecided` counts, for each line, the points where
    it was neither certain nor refuted.
    """

    proof: Proof
    tried: int
    undecided: dict[str, int]
    counterexample: Counterexample | None

    @property
    def survived(self) -> bool:
        """Whether nothing was found."""
        return self.counterexample is None

    def __bool__(self) -> bool:
        raise TypeError("a search is neither true nor false. Fix: ask search.survived.")

    def __str__(self) -> str:
        if self.counterexample is None:
            unsure = sum(self.undecided.values())
            return f"{self.proof.name}: no counterexample in {self.tried} points ({unsure} lines undecided)"
        found = self.counterexample
        return f"{self.proof.name}: fails after {found.found_after} points, at\n{found}"

    __repr__ = __str__


def search(proof: Proof, budget: int, rng: np.random.Generator) -> Search:
    """Points of the domain until the statement certainly fails or the budget is spent.

    Where only a step fails, half of the budget is spent on the hope for a point where the statement does;
    what is left of the budget goes into shrinking.
    """
    if not isinstance(rng, np.random.Generator):
        reject("rng", rng, "a numpy.random.Generator", "give numpy.random.default_rng(0).")
    undecided = {line.name: 0 for line in proof.lines}
    tried, empty, found = 0, 0, None
    for batch in proof.domain.search(budget, rng):
        legal = _rows(proof.domain.legal(batch), slice(budget - tried))
        size = _size(legal)
        empty = 0 if size else empty + 1
        if empty > 50:
            reject("domain", proof.name, "one with points in it", "loosen the rule between parameters.")
        if not size:
            continue
        outcomes = proof.outcomes(legal)
        for name, (held, failed) in zip(undecided, outcomes, strict=True):
            undecided[name] += int((~held & ~failed).sum())
        steps, statement = _first([failed for _, failed in outcomes]), _first([outcomes[-1][1]])
        place = steps if statement is None else statement
        if place is not None and (found is None or statement is not None):
            found = tried + place + 1, proof.domain.row(legal, place)
        tried += size
        if statement is not None or tried >= (budget if found is None else budget // 2):
            break
    if found is None:
        return Search(proof, tried, undecided, None)
    after, point = found
    shrunk, spent = _shrink(proof, point, budget - tried)
    return Search(proof, tried, undecided, Counterexample(proof, shrunk, after, spent))


def _first(failed: list[Any]) -> int | None:
    """The first point where one of the lines fails."""
    flags = np.any(failed, axis=0)
    return int(np.argmax(flags)) if flags.any() else None


def _shrink(proof: Proof, point: Point, budget: int) -> tuple[Point, int]:
    """Simpler points as long as the same line fails."""
    target = _failing(proof, proof.domain.batch([point]))[:, 0]
    line = len(target) - 1 if target[-1] else int(np.argmax(target))
    spent = 0
    while candidates := proof.domain.simpler(point)[: budget - spent]:
        batch = proof.domain.batch(candidates)
        spent += len(candidates)
        good = np.flatnonzero(_failing(proof, batch)[line] & proof.domain.fitting(batch))
        if not len(good):
            break
        point = candidates[int(good[0])]
    return point, spent


def _failing(proof: Proof, batch: Batch) -> Any:
    return np.array([failed for _, failed in proof.outcomes(batch)])


def _rows(batch: Batch, rows: Any) -> Batch:
    return {name: values[rows] for name, values in batch.items()}


def _size(batch: Batch) -> int:
    return len(next(iter(batch.values())))
