"""What grading works with: a submission that came in, and the result that goes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

VERDICTS: Final = ("right", "wrong", "not answered", "error", "needs a human")
"""Only `right` earns points; `needs a human` is what was not judged, never a zero."""


@dataclass(frozen=True)
class Submission:
    """One notebook of one student; `problem` says why it could not even be found or chosen."""

    student: str
    path: Path | None
    received: datetime | None = None
    late: bool = False
    problem: str = ""
    absent: bool = False
    """Nothing was handed in: the problem is none of ours, and nobody need look."""


@dataclass(frozen=True)
class Mark:
    """One exercise: what it earned and why; `wrong_answer` names the known wrong answer that it matches."""

    exercise: str
    title: str
    points: float
    possible: float
    verdict: str
    where: str = ""
    found: str = ""
    asked: str = ""
    hint: str = ""
    wrong_answer: str = ""


@dataclass(frozen=True)
class Result:
    """All marks of one submission, what was odd about it, and how long it took."""

    student: str
    unit: str
    marks: tuple[Mark, ...]
    remarks: tuple[str, ...] = ()
    late: bool = False
    sandboxed: bool = True
    seconds: float = 0.0

    @property
    def points(self) -> float:
        """Earned in all."""
        return sum(mark.points for mark in self.marks)

    @property
    def possible(self) -> float:
        """What there was to earn."""
        return sum(mark.possible for mark in self.marks)

    @property
    def needs_a_human(self) -> bool:
        """Whether somebody has to look."""
        return any(mark.verdict == "needs a human" for mark in self.marks)

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @staticmethod
    def of(data: Mapping[str, Any]) -> Result:
        """From JSON."""
        marks = tuple(Mark(**mark) for mark in data["marks"])
        return Result(**{**data, "marks": marks, "remarks": tuple(data["remarks"])})
