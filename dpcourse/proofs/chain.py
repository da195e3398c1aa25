"""How the steps of a proof give its statement."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcourse.proofs.domain import Batch
from dpcourse.proofs.functions import is_exact
from dpcourse.proofs.steps import Step, compare

if TYPE_CHECKING:
    from dpcourse.proofs.proof import Proof


@dataclass(frozen=True, repr=False)
class Chain:
    """How the steps give the statement: links whose sides meet, and lemmas that the links use."""

    proof: Proof

    @property
    def links(self) -> tuple[Step, ...]:
        """The steps from the left to the right side of the statement."""
        return tuple(step for step in self.proof.steps if not step.lemma)

    def joints(self) -> Iterator[tuple[str, Step, Any, Step, Any]]:
        """Pairs of sides that must be the same term for the links to give the statement."""
        statement, links = self.proof.statement, self.links
        if not links:
            return
        yield f"the left side to {links[0].name}", statement, statement.left, links[0], links[0].left
        for one, two in itertools.pairwise(links):
            yield f"{one.name} to {two.name}", one, one.right, two, two.left
        yield f"{links[-1].name} to the right side", links[-1], links[-1].right, statement, statement.right

    def faults(self, batch: Batch) -> list[str]:
        """What keeps the links from giving the statement; an empty list is what a proof should have.

        Sides meet if they are one Term, or if their values agree at every point of the batch.
        """
        if not self.links:
            return ["there are no steps: the statement is only asserted"]
        found = []
        seen = self.proof.domain.view(batch)
        for name, _, one, _, two in self.joints():
            same = one is two or _agree(one(seen), two(seen))
            found += [] if same else [f"{name}: the two sides differ"]
        relations = {step.relation for step in self.links}
        claimed = self.proof.statement.relation
        allowed = {"<=": {"<=", "<", "="}, "<": {"<=", "<", "="}, "=": {"="}}
        allowed |= {">=": {">=", ">", "="}, ">": {">=", ">", "="}}
        if not relations <= allowed[claimed] or (claimed in "<>" and claimed not in relations):
            found.append(f"the relations {sorted(relations)} do not give {claimed}")
        used = {name for step in self.proof.steps for name in step.uses}
        idle = [step.name for step in self.proof.steps if step.lemma and step.name not in used]
        return found + [f"lemma {name} is used nowhere" for name in idle]

    def __str__(self) -> str:
        lines = [f"{self.proof.name} ({self.proof.reference})", f"  claim: {self.proof.statement.latex}"]
        for i, step in enumerate(self.proof.steps, 1):
            kind = "lemma" if step.lemma else "link"
            uses = f" [uses {', '.join(step.uses)}]" if step.uses else ""
            lines.append(f"  {i}. {kind} {step.name}: {step.latex}, because {step.because}{uses}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        lines = [f"**{self.proof.name}** ({self.proof.reference}): ${self.proof.statement.latex}$", ""]
        for i, step in enumerate(self.proof.steps, 1):
            kind = "*lemma* " if step.lemma else ""
            uses = f" (uses {', '.join(step.uses)})" if step.uses else ""
            lines.append(f"{i}. {kind}**{step.name}**: ${step.latex}$, because {step.because}{uses}")
        return "\n".join(lines)


def _agree(one: Any, two: Any) -> bool:
    held, _ = compare(np.asarray(one) if is_exact(one) else one, "=", two)
    return bool(np.all(held))
