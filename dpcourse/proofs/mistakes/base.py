"""Erratum: a claim in circulation that is false, next to the claim that is right."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpcourse.proofs.domain import Domain
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.steps import Step, Term


@dataclass(frozen=True, eq=False)
class Erratum:
    """`broken` fails at a point that the search finds by itself; `sound` survives the same search."""

    name: str
    broken: Proof
    sound: Proof
    claimed: str
    right: str


def claim(name: str, left: Term, relation: str, right: Term, domain: Domain, because: str) -> Proof:
    """A statement without steps, to be tested as it stands."""
    return Proof(name, Step("statement", left, relation, right, because), domain, (), "stated without proof")


def dropped(name: str, proof: Proof, hypothesis: str) -> Proof:
    """A proof used where one of its hypotheses does not hold."""
    return replace(proof.without(hypothesis), name=name)
