"""Grade a class: answers judged outside the student's process, in a sandbox, by exact evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcourse.grading.batch import grade
    from dpcourse.grading.limits import Limits

__all__ = ["Limits", "grade"]


def __getattr__(name: str) -> Any:
    """Loaded at first use: a student's process imports this package too, and needs little of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dpcourse.grading import batch, limits

    return {"grade": batch.grade, "Limits": limits.Limits}[name]
