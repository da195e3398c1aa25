"""Privacy is certified: for every answer that is a law, the law with the usual mistake in it earns nothing.

The mistakes are made in the evidence, as a student's process would send it, so no answer has to be written:
no noise, half the noise, noise for twice the sensitivity, the same noise twice, a budget that was not split.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcourse import laws
from dpcourse.grading.one import prepared
from dpcourse.grading.plan import Task
from dpcourse.grading.verdict import mark
from dpcourse.workbook.evidence import decode, encode
from dpcourse.workbook.notebook import read, text
from tests.small_unit import MASTER

MASTERS = sorted((Path(__file__).resolve().parent.parent / "solutions").glob("*.ipynb"))
SEEDS = ("one", "two")
Law = Any


def scaled(factor: Fraction) -> Callable[[Law], Law | None]:
    """The same law with its noise so many times as wide; a finite law with its odds to that power."""

    def change(law: Law) -> Law | None:
        if isinstance(law, laws.Product):
            return laws.Product(*(change(part) or part for part in law.parts))
        if isinstance(law, laws.Finite):
            weights = [float(p) ** float(1 / factor) for p in law.probs]
            return (
                laws.Finite(law.outcomes, tuple(w / sum(weights) for w in weights)) if _noisy(law) else None
            )
        if hasattr(law, "scale"):
            fields = {name: getattr(law, name) for name in law.__dataclass_fields__}
            return type(law)(**{**fields, "scale": np.multiply(fields["scale"], float(factor))})
        return None

    return change


def noiseless(law: Law) -> Law | None:
    """All on the likeliest outcome."""
    if isinstance(law, laws.Product):
        return laws.Product(*(noiseless(part) or part for part in law.parts))
    if isinstance(law, laws.Finite):
        best = max(range(len(law.probs)), key=lambda i: law.probs[i])
        return laws.Finite((law.outcomes[best],), (1,)) if _noisy(law) else None
    exact = np.asarray(getattr(law, "loc", None)).tolist()
    return (
        laws.Finite((tuple(exact) if isinstance(exact, list) else exact,), (1.0,))
        if exact is not None
        else None
    )


def unsplit(law: Law) -> Law | None:
    """Every one of several answers takes the whole budget."""
    several = isinstance(law, laws.Product) and len(law.parts) > 1
    return scaled(Fraction(1, len(law.parts)))(law) if several else None


def reused(law: Law) -> Law | None:
    """One draw for all answers, if each may be either of two: they then agree always."""
    pairs = isinstance(law, laws.Finite) and all(isinstance(y, tuple) and len(y) == 2 for y in law.outcomes)
    if not pairs or not _noisy(law):
        return None
    likely = law.outcomes[max(range(len(law.probs)), key=lambda i: law.probs[i])]
    keep = sum(p for y, p in zip(law.outcomes, law.probs, strict=True) if y[0] == likely[0])
    others = [tuple(o for o in {y[i] for y in law.outcomes} if o != likely[i]) for i in (0, 1)]
    if any(len(other) != 1 for other in others):
        return None
    return laws.Finite((likely, (others[0][0], others[1][0])), (keep, 1 - keep))


MUTANTS: dict[str, Callable[[Law], Law | None]] = {
    "noiseless": noiseless,
    "half the noise": scaled(Fraction(1, 2)),
    "twice the sensitivity": scaled(Fraction(2)),
    "reused noise": reused,
    "unsplit budget": unsplit,
}


GENEROUS = {
    # The theorem of unit 9 has generous constants, and pays for a shift and for a stretch of the noise in
    # full, which no two neighbours need for a median: less noise is private, too. A fifth of it is not.
    ("09_smooth_sensitivity", "build"): {"half the noise": scaled(Fraction(1, 5))}
}


def _noisy(law: Law) -> bool:
    return sum(p > 0 for p in law.probs) > 1 and len(set(law.probs)) > 1


def mutated(value: Any, change: Callable[[Law], Law | None]) -> tuple[Any, int]:
    """A value with every law in it changed, and how many were."""
    if isinstance(value, laws.Law):
        found = change(value)
        return (value, 0) if found is None else (found, 1)
    if isinstance(value, list | tuple):
        parts = [mutated(part, change) for part in value]
        return type(value)(part for part, _ in parts), sum(count for _, count in parts)
    return value, 0


def cases(path: Path) -> list[tuple[Task, str, list[Any]]]:
    """Each exercise of a unit with each mistake that can be made in its laws, as evidence."""
    found = []
    for seed in SEEDS:
        for task in prepared(text(read(path)), seed).tasks:
            own = GENEROUS.get((path.stem, task.exercise.name), {})
            for name, change in (MUTANTS | own).items():
                groups, changed = [], 0
                for evidence in task.solution:
                    items = [mutated(decode(item[1]), change) for item in evidence]
                    changed += sum(count for _, count in items)
                    groups.append([["ok", encode(value)] for value, _ in items])
                if changed:
                    found.append((task, name, groups))
    return found


@pytest.mark.parametrize("path", MASTERS, ids=lambda path: path.stem)
def test_a_mistake_in_the_noise_earns_nothing(path: Path) -> None:
    for task, name, evidence in cases(path):
        given = mark(task, evidence)
        assert given.points == 0, f"{task.exercise.name}: {name} is not seen"
        assert given.verdict in {"wrong", "error"}


def nan_instead(data: Any, which: slice) -> Any:
    """Evidence with some of its numbers replaced; the parameters of a law stay as they are."""
    places = list(numbers(data))[which]
    found = copy.deepcopy(data)
    for *way, last in places:
        inside = found
        for step in way:
            inside = inside[step]
        inside[last] = {"$": "float", "of": "nan"}
    return found


def numbers(data: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where in the evidence a number is."""
    if isinstance(data, list):
        for place, item in enumerate(data):
            yield from numbers(item, (*way, place))
    elif isinstance(data, dict):
        if data["$"] in {"Fraction", "float"}:
            yield way
        elif data["$"] in {"tuple", "array", "dict"}:
            yield from numbers(data["of"], (*way, "of"))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield way


@pytest.mark.parametrize("path", MASTERS, ids=lambda path: path.stem)
def test_nan_is_never_an_answer(path: Path) -> None:
    """It is neither above nor below anything, so that a rule which only compares would let it pass."""
    for task in prepared(text(read(path)), SEEDS[0]).tasks:
        for which in (slice(1), slice(-1, None), slice(None)):
            evidence = [[nan_instead(item, which) for item in items] for items in task.solution]
            if evidence != list(task.solution):
                assert mark(task, evidence).points == 0, task.exercise.name


def test_every_mistake_is_made_somewhere(tmp_path: Path) -> None:
    small = tmp_path / "99_small.ipynb"
    small.write_text(text(MASTER), "utf-8")
    made = {name for path in (*MASTERS, small) for _, name, _ in cases(path)}
    assert made == set(MUTANTS)
