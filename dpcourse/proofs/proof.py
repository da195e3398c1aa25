"""Proof: a statement, the domain it is about, and the steps that lead to it; every line can be computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpcourse.errors import one_of, reject, whole
from dpcourse.proofs.chain import Chain
from dpcourse.proofs.domain import Batch, Domain
from dpcourse.proofs.search import Search, search
from dpcourse.proofs.show import Checked, rows
from dpcourse.proofs.steps import Step


@dataclass(frozen=True, eq=False)
class Proof:
    """Steps that lead from the left to the right side of a statement, for every point of a domain.

    The statement is itself a step, whose reason is the proof. `hypotheses` maps the name of each to the
    domain in which it is dropped: there (`proof.without(name)`) the search finds a counterexample.

    >>> from dpcourse import proofs
    >>> proof = proofs.book()["group-privacy-pure"]
    >>> proof.check(k=3).holds
    True
    >>> proof.falsify(1000, rng=np.random.default_rng(0)).counterexample is None
    True
    """

    name: str
    statement: Step
    domain: Domain
    steps: tuple[Step, ...]
    reference: str
    hypotheses: Mapping[str, Domain] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [step.name for step in self.lines]
        for i, name in enumerate(names):
            if name in names[:i]:
                reject("step", name, "a name of its own in the proof", "rename one of the two.")
        for i, step in enumerate(self.steps):
            for used in step.uses:
                one_of(f"step used by {step.name}", used, names[:i])

    @property
    def lines(self) -> tuple[Step, ...]:
        """The steps, then the statement."""
        return (*self.steps, self.statement)

    def check(self, **parameters: Any) -> Checked:
        """Both sides of every step at one point; parameters left out take the values of the example."""
        point = self.domain.point(parameters)
        batch = self.domain.batch([point])
        if not self.domain.fitting(batch)[0]:
            fix = "change one parameter so that they fit together, or drop the hypothesis."
            reject("point", self.domain.show(point), "inside the domain of the proof", fix)
        return Checked(self, point, tuple(rows(self.lines, self.domain.view(batch))))

    def falsify(self, budget: int = 10_000, *, rng: np.random.Generator) -> Search:
        """Search the domain for a point where a step or the statement certainly fails."""
        return search(self, whole("budget", budget), rng)

    def chain(self) -> Chain:
        """How the steps link the left side of the statement to its right side."""
        return Chain(self)

    def without(self, hypothesis: str) -> Proof:
        """The same argument on the larger domain where a hypothesis is dropped: not a proof any more."""
        one_of("hypothesis", hypothesis, self.hypotheses)
        name = f"{self.name}, without: {hypothesis}"
        return replace(self, name=name, domain=self.hypotheses[hypothesis], hypotheses={})

    def outcomes(self, batch: Batch) -> list[tuple[Any, Any]]:
        """For each line (held, violated) at each point of a batch.

        Brackets decide most points at once; where they leave a line open, Fractions decide if there are any.
        """
        seen = self.domain.view(batch, exact=False)
        found = [line.outcomes(seen) for line in self.lines]
        unsure = np.flatnonzero(np.any([~held & ~failed for held, failed in found], axis=0))
        if self.domain.has_fractions and len(unsure):
            seen = self.domain.view({name: values[unsure] for name, values in batch.items()})
            for (held, failed), line in zip(found, self.lines, strict=True):
                held[unsure], failed[unsure] = line.outcomes(seen)
        return found

    def data(self, **parameters: Any) -> dict[str, Any]:
        """What a picture or a widget shows, in plain numbers and strings."""
        checked = self.check(**parameters)
        return {
            "proof": self.name,
            "statement": self.statement.latex,
            "parameters": {n: p.show(checked.point[n]) for n, p in self.domain.parameters.items()},
            "rows": [row.data() for row in checked.rows],
            "loses_most": checked.loses_most.name if checked.loses_most else None,
            "reference": self.reference,
        }

    def __str__(self) -> str:
        return str(self.chain())

    def _repr_markdown_(self) -> str:
        return self.chain()._repr_markdown_()
