"""What a benchmark reports, how it takes the time, and how the table is printed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measurement. `holds` is None if it could not be made; `note` then says why."""

    name: str
    ours: float | None
    peer: float | None
    unit: str
    goal: str
    holds: bool | None
    note: str = ""


def best_of(function: Callable[[], object], repeat: int = 5) -> float:
    """The least wall time in seconds over some calls: noise only ever adds.

    >>> 0 <= best_of(lambda: None) < 1
    True
    """
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def in_turns(ours: Callable[[], object], peer: Callable[[], object]) -> tuple[float, float]:
    """The least wall times of two functions that take turns: a slow spell of the machine meets both.

    In a turn each is called equally often, up to 20 times in a row if the peer is quick, so that both are
    warm or neither is. Five turns, or one if the peer takes a second.

    >>> ours, peer = in_turns(lambda: None, lambda: sum(range(10**5)))
    >>> ours < peer
    True
    """
    repeat = min(max(int(0.2 / best_of(peer, 1)), 1), 20)
    turns: list[tuple[float, float]] = []
    while len(turns) < 5 and all(theirs < 1 for _, theirs in turns):
        turns.append((best_of(ours, repeat), best_of(peer, repeat)))
    least, theirs = map(min, zip(*turns, strict=True))
    return least, theirs


def verdict(row: Row) -> str:
    """Whether the goal is met, in one word or two."""
    if row.holds is None:
        return "not measured"
    return "holds" if row.holds else "MISSED"


def table(rows: Iterable[Row]) -> str:
    """All rows, in aligned columns.

    >>> print(table([Row("flip", 0.5, None, "s", "< 1 s", True)]))
    name  ours  peer  unit  goal   verdict  note
    flip  0.5   -     s     < 1 s  holds
    """
    lines = [("name", "ours", "peer", "unit", "goal", "verdict", "note")]
    for row in rows:
        ours, peer = ("-" if x is None else f"{x:.3g}" for x in (row.ours, row.peer))
        lines.append((row.name, ours, peer, row.unit, row.goal, verdict(row), row.note))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
