"""The book: every proof of the course by its short name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final, NoReturn

from dpcourse.proofs.proof import Proof
from dpcourse.proofs.show import table, unknown

CHAPTERS: Final = (
    *(
        "reconstruction",
        "group",
        "noise",
        "selection",
        "composition",
        "rounds",
        "lloyd",
        "gaussian",
        "divergence",
    ),
    *(
        "martingale",
        "advanced",
        "stopping",
        "repeated",
        "sparse",
        "smooth",
        "renyi",
        "conversion",
        "tradeoff",
    ),
    *("rounding", "synthetic"),
)


class Book(dict[str, Proof]):
    """Proofs by name; in a notebook, a table of what they prove."""

    def __missing__(self, name: Any) -> NoReturn:
        unknown("proof", name, self)

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {proof.statement.because}" for name, proof in self.items())

    def _repr_markdown_(self) -> str:
        rows = [(p.name, f"${p.statement.latex}$", p.statement.because, p.reference) for p in self.values()]
        return table(("proof", "statement", "how", "reference"), rows)


@cache
def book() -> Book:
    """All proofs of the course, in the order of the lectures.

    >>> "group-privacy-pure" in book()
    True
    """
    chapters = [import_module(f"dpcourse.proofs.chapters.{name}") for name in CHAPTERS]
    return Book({proof.name: proof for chapter in chapters for proof in chapter.PROOFS})
