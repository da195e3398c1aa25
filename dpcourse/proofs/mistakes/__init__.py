"""Claims in circulation that are false: each as a proof that fails, next to the one that holds."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final, NoReturn

from dpcourse.proofs.mistakes.base import Erratum
from dpcourse.proofs.show import table, unknown

CHAPTERS: Final = (
    *("basics", "definitions", "choosing", "formulas", "targets", "losses", "meanings"),
    *("normal", "threshold", "median", "queries", "weights", "accountants"),
)


class Errata(dict[str, Erratum]):
    """Errata by name; in a notebook, a table of what was claimed and what is right."""

    def __missing__(self, name: Any) -> NoReturn:
        unknown("erratum", name, self)

    def __repr__(self) -> str:
        return "\n".join(f"{e.name}: claimed: {e.claimed}; right: {e.right}" for e in self.values())

    def _repr_markdown_(self) -> str:
        return table(("erratum", "claimed", "right"), [(e.name, e.claimed, e.right) for e in self.values()])


@cache
def errata() -> Errata:
    """All errata by name: the broken claim, the sound one, what was claimed, what is right.

    >>> print(errata()["k-means-budget"].right)
    an iteration has two releases: eps/(2T) each
    """
    chapters = [import_module(f"dpcourse.proofs.mistakes.{name}") for name in CHAPTERS]
    return Errata({erratum.name: erratum for chapter in chapters for erratum in chapter.ERRATA})


__all__ = ["Errata", "Erratum", "errata"]
