"""How much a submission may use: time, memory, disk, processes, output."""

from __future__ import annotations

from dataclasses import dataclass

from dpcourse.errors import positive, whole

MB = 2**20


@dataclass(frozen=True)
class Limits:
    """What is absolute for one submission: seconds a cell and in all, and bytes of every kind.

    >>> Limits(cell_seconds=0)
    Traceback (most recent call last):
    dpcourse.errors.BadInput: cell_seconds = 0 breaks a rule: it must be a finite number above 0. \
Fix: choose a value such as 0.5.
    """

    cell_seconds: float = 20.0
    submission_seconds: float = 300.0
    memory: int = 2048 * MB
    disk: int = 64 * MB
    output: int = 8 * MB
    notebook: int = 10 * MB
    processes: int = 64
    files: int = 20_000

    def __post_init__(self) -> None:
        positive("cell_seconds", self.cell_seconds)
        positive("submission_seconds", self.submission_seconds)
        for name in ("memory", "disk", "output", "notebook", "processes", "files"):
            whole(name, getattr(self, name))
