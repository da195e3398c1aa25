"""Proofs that run: every line is two sides and a relation, and a search looks for a point where it fails.

>>> import numpy as np
>>> from dpcourse import proofs
>>> proof = proofs.book()["group-privacy-approx"]
>>> print(proof.check(ratio=2, k=2, start=0, delta=0.01, moves=(1, 1, 1, 1, 1, 1))["statement"].right_text)
3/100
>>> proof.falsify(1000, rng=np.random.default_rng(0))
group-privacy-approx: no counterexample in 1000 points (0 lines undecided)
>>> broken = proofs.errata()["group-privacy-k-delta"].broken
>>> broken.falsify(1000, rng=np.random.default_rng(0)).counterexample
ratio = 3/2, k = 2, start = 0, moves = (1, 1, 1, 1, 1, 1), delta = 1/100
  statement: 1/40 <= 1/50 is false
"""

from __future__ import annotations

from dpcourse.proofs.book import Book, book
from dpcourse.proofs.bracket import Bracket
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.lists import Laws, Many
from dpcourse.proofs.mistakes import Errata, Erratum, errata
from dpcourse.proofs.proof import Proof
from dpcourse.proofs.scalars import Rational, Real, Whole
from dpcourse.proofs.search import Counterexample, Search
from dpcourse.proofs.steps import Outcome, Step, Term

__all__ = [
    "Book",
    "Bracket",
    "Counterexample",
    "Domain",
    "Errata",
    "Erratum",
    "Laws",
    "Many",
    "Outcome",
    "Proof",
    "Rational",
    "Real",
    "Search",
    "Step",
    "Term",
    "Whole",
    "book",
    "errata",
]
