"""Evidence from a student's process, read as from an enemy: bounded in size, depth and kind, then decoded.

Whatever is not exactly what `workbook.evidence.encode` writes is BadEvidence: a plain failure.
"""

from __future__ import annotations

import math
import re
from dataclasses import fields
from typing import Any, Final

from dpcourse import laws
from dpcourse.workbook.evidence import KIND, decode

DEPTH: Final = 12
ROOM: Final = 20
"""How many times larger than the solution's evidence an answer may be."""
NUMBER: Final = re.compile(r"-?\d{1,2000}(/\d{1,2000})?")
LAWS: Final = {
    name: {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for name, kind in vars(laws).items()
    if isinstance(kind, type)
    and issubclass(kind, laws.Law)
    and name not in {"Law", "Image", "SystemRandomness"}
}
"""The laws that plain data can describe, with their parameters."""
BUILT: Final = 10**5
"""How many outcomes a law made of laws may have."""


class BadEvidence(ValueError):
    """Not what an answer can have given."""


def read(data: Any, like: Any) -> Any:
    """The value, if it is of a known kind and not much larger than the solution's, `like`."""
    most = ROOM * size(like) + 400
    if size(data, most) > most:
        raise BadEvidence("far more than was asked for")
    _known(data)
    try:
        return decode(data)
    except Exception as error:  # a law with a bad parameter, a ragged array, a key that cannot be one
        raise BadEvidence(f"{type(error).__name__}: {error}"[:300]) from None


def size(data: Any, most: float = math.inf) -> int:
    """Values and digits in JSON data, counted without recursion, and no further than `most`."""
    total, left = 0, [(data, 0)]
    while left and total <= most:
        item, depth = left.pop()
        if depth > DEPTH:
            raise BadEvidence("lists inside lists without end")
        if isinstance(item, dict):
            left += [(part, depth + 1) for pair in item.items() for part in pair]
        elif isinstance(item, list):
            left += [(part, depth + 1) for part in item]
        total += 1 + (len(item) // 8 if isinstance(item, str) else 0)
        total += item.bit_length() // 32 if isinstance(item, int) else 0
    return total


def _known(data: Any) -> None:
    """Every marked value is of a kind that `encode` writes; the depth is bounded already."""
    if isinstance(data, list):
        for item in data:
            _known(item)
    if not isinstance(data, dict):
        return
    kind, of = data.get(KIND), data.get("of")
    if kind == "law":
        if not isinstance(of, dict) or LAWS.get(str(data.get("name"))) != set(of) or len(data) != 3:
            raise BadEvidence("not a law of this course")
        for item in of.values():
            _known(item)
        if _outcomes(data) > BUILT:
            raise BadEvidence("a law with too many outcomes")
    elif not _plain(kind, of, set(data) - {KIND, "of"}):
        raise BadEvidence("not a value of this course")
    else:
        _known(of)


def _plain(kind: Any, of: Any, more: set[str]) -> bool:
    """Whether `of` is what a mark of this kind goes with."""
    if kind == "strange":
        return isinstance(of, str) and more == {"name"}
    rules = {
        "tuple": isinstance(of, list),
        "array": isinstance(of, list | int | float),
        "dict": isinstance(of, list) and all(map(_pair, of)),
        "Fraction": isinstance(of, str) and NUMBER.fullmatch(of) is not None,
        "float": isinstance(of, str) and of in {"nan", "inf", "-inf"},
    }
    return not more and isinstance(kind, str) and rules.get(kind, False)


def _pair(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 2


def _outcomes(data: Any) -> int:
    """At least as many outcomes as a law in the data has: parts of a product multiply."""
    if isinstance(data, list):
        return math.prod(map(_outcomes, data)) if any(map(_is_law, data)) else max(len(data), 1)
    if not isinstance(data, dict):
        return 1
    inside = data.get("of")
    counts = [_outcomes(part) for part in (inside.values() if isinstance(inside, dict) else [inside])]
    if _is_law(data) and data.get("name") == "Ranking":
        return math.factorial(min(max(counts), 100))
    together = math.prod if _is_law(data) and data.get("name") in {"Product", "Mixture"} else max
    return together(counts or [1])


def _is_law(data: Any) -> bool:
    return isinstance(data, dict) and data.get(KIND) == "law"


def alike(one: Any, other: Any) -> bool:
    """Whether two pieces of evidence are equal, floats to nine digits."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-300)
    return type(one) is type(other) and bool(one == other)
