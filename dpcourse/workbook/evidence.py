"""What an answer gave, as plain JSON and back, without loss: floats, fractions, arrays and laws.

A grader judges what comes out of a student's process, so nothing but plain data may come out of it.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpcourse import laws

KIND: Final = "$"
"""The key that marks what JSON has no form for."""


@dataclass(frozen=True)
class Strange:
    """A value of a kind that no exercise asks for: its type and its look, for the message."""

    kind: str
    look: str

    def __repr__(self) -> str:
        return f"{self.look} (a {self.kind})"


def encode(value: Any) -> Any:
    """A value as JSON.

    >>> encode((Fraction(3, 4), 0.1, float("inf")))
    {'$': 'tuple', 'of': [{'$': 'Fraction', 'of': '3/4'}, 0.1, {'$': 'float', 'of': 'inf'}]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {KIND: "float", "of": str(float(value))}
    if isinstance(value, Fraction):
        return {KIND: "Fraction", "of": str(value)}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, set | frozenset):  # as a list, which is what exercises ask for
        return [encode(item) for item in sorted(value, key=repr)]
    if isinstance(value, tuple):
        return {KIND: "tuple", "of": [encode(item) for item in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {KIND: "array", "of": encode(value.tolist())}
    if isinstance(value, dict):
        return {KIND: "dict", "of": [[encode(key), encode(item)] for key, item in value.items()]}
    name = type(value).__name__
    if isinstance(value, laws.Law) and getattr(laws, name, None) is type(value) and is_dataclass(value):
        return {
            KIND: "law",
            "name": name,
            "of": {f.name: encode(getattr(value, f.name)) for f in fields(value)},
        }
    return {KIND: "strange", "name": name, "of": repr(value)[:200]}


def decode(data: Any) -> Any:
    """The value again; `encode` and `decode` are inverse on all that an exercise may ask for."""
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    kind, of = data[KIND], data["of"]
    if kind == "tuple":
        return tuple(decode(item) for item in of)
    if kind == "dict":
        return {decode(key): decode(item) for key, item in of}
    if kind == "array":
        return np.array(decode(of))
    if kind == "law":
        values = {name: decode(item) for name, item in of.items()}
        return (
            laws.Product(*values["parts"])
            if data["name"] == "Product"
            else getattr(laws, data["name"])(**values)
        )
    return (
        {"Fraction": Fraction, "float": float}[kind](of) if kind != "strange" else Strange(data["name"], of)
    )


def has_nan(value: Any) -> bool:
    """Whether there is a nan in a number, an array, a list or a dict.

    >>> has_nan([1, (0.5, {"a": float("nan")})]), has_nan(float("inf"))
    (True, False)
    """
    if isinstance(value, dict):
        return any(has_nan(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(map(has_nan, value))
    return isinstance(value, float | np.ndarray) and bool(np.isnan(value).any())


def same(found: Any, asked: Any, digits: int = 9) -> bool:
    """Whether a value is the one asked for.

    Whole numbers, fractions, truth values and texts exactly; a float to `digits` significant digits, because
    two right formulas round differently; a law by the total variation distance from the one asked for.
    """
    if isinstance(asked, laws.Law):
        return isinstance(found, laws.Law) and distance(found, asked) <= 10.0**-digits
    if isinstance(asked, bool | np.bool_) or isinstance(found, bool | np.bool_):
        both = isinstance(found, bool | np.bool_) and isinstance(asked, bool | np.bool_)
        return both and bool(found) == bool(asked)
    if isinstance(asked, numbers.Real):
        exact = isinstance(asked, numbers.Rational) and isinstance(found, numbers.Rational)
        return isinstance(found, numbers.Real) and (
            found == asked if exact else math.isclose(found, asked, rel_tol=10.0**-digits, abs_tol=1e-300)
        )
    if isinstance(asked, list | tuple | np.ndarray):
        fits = isinstance(found, list | tuple | np.ndarray) and len(found) == len(asked)
        return fits and all(same(f, a, digits) for f, a in zip(found, asked, strict=True))
    if isinstance(asked, dict):
        fits = isinstance(found, dict) and found.keys() == asked.keys()
        return fits and all(same(found[key], asked[key], digits) for key in asked)
    return type(found) is type(asked) and bool(found == asked)


def distance(found: laws.Law, asked: laws.Law) -> float:
    """The total variation distance, 0 only for equal laws; exact for two finite laws of fractions."""
    from dpcourse.loss import PrivacyLoss

    first, second = found.to_finite(), asked.to_finite()
    if (first is None) != (second is None):
        return 1.0
    if first is not None and second is not None:
        p, q = (dict(zip(law.outcomes, law.probs, strict=True)) for law in (first, second))
        gaps = [max(p.get(y, 0) - q.get(y, 0), 0) for y in p.keys() | q.keys()]
        return float(sum(gaps))
    return float(PrivacyLoss.between(found, asked).delta(0.0))


def shown(value: Any) -> str:
    """A value in a message: seven digits are enough to see a difference that counts."""
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, tuple | list):
        inside = ", ".join(shown(item) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    return repr(value) if not isinstance(value, Fraction) else str(value)
