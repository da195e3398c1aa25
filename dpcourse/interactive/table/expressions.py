"""Expressions: what may be computed from one row, for all rows at once.

An expression sees each row by itself, whatever it is made of. A free function of whole columns would
not: `age > age.mean()` lets one row decide about all others, and no stability could be promised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcourse.errors import reject

Array = NDArray[Any]
Columns = Mapping[str, Array]
Operator = Callable[["Expression", Any], "Expression"]


def col(name: str) -> Expression:
    """A column; combine it with arithmetic, comparisons, & | ~, `isin`, `clip` and `apply`.

    >>> (col("age") >= 65) & (col("region") == "north")
    (age >= 65) & (region == 'north')
    """
    return Expression(name, lambda columns: look_up(columns, name))


def look_up(columns: Columns, name: str) -> Array:
    """The column of that name."""
    if not isinstance(name, str) or name not in columns:
        reject("column", name, f"one of {', '.join(map(repr, columns))}", "check the spelling.")
    return columns[name]


def kind_of(column: Array) -> str:
    """The type of a column in a word; no more, since the width of a text type is the length of a value."""
    return {"U": "text", "b": "truth value"}.get(column.dtype.kind, "number")


def _operator(symbol: str, function: Any, reflected: bool = False) -> Operator:
    """The method for an operator sign: a numpy function of two rows of numbers, entry by entry."""

    def method(self: Expression, other: Any) -> Expression:
        left, right = (_expression(other), self) if reflected else (self, _expression(other))
        text = f"{left.inner} {symbol} {right.inner}"

        return _computed(text, function, left, right)

    return method


def _computed(text: str, function: Any, *parts: Expression) -> Expression:
    """A numpy function of other expressions, entry by entry."""

    def rule(columns: Columns) -> Array:
        values = [part.rule(columns) for part in parts]
        try:
            return np.asarray(function(*values))
        except TypeError:  # it depends on the types of the columns only, and these are public
            kinds = " and ".join(map(kind_of, values))
            fix = "compare text with text and numbers with numbers; arithmetic is for numbers."
            reject("expression", text, f"an operation that exists for {kinds}", fix)

    return Expression(text, rule)


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """A value for every row, computed from that row alone; it shows itself as it was written."""

    text: str
    rule: Callable[[Columns], Array]

    __array_ufunc__ = None  # an array beside an expression is an error: its entries belong to no row
    __hash__ = object.__hash__

    def on(self, columns: Columns) -> Array:
        """The values, one for each row; NaN or infinity where arithmetic has no answer."""
        size = len(next(iter(columns.values())))
        with np.errstate(all="ignore"):
            return np.broadcast_to(self.rule(columns), size)

    def isin(self, values: Iterable[Any]) -> Expression:
        """Whether the value is one of a public list."""
        listed = [_public(value) for value in values]

        def member(found: Array) -> Array:
            if any(isinstance(value, str) != (kind_of(found) == "text") for value in listed):
                raise TypeError
            return np.isin(found, np.array(listed))

        return _computed(f"{self.inner} in {listed}", member, self)

    def clip(self, lower: float, upper: float) -> Expression:
        """The value moved into [lower, upper]."""
        ends = _expression(lower), _expression(upper)
        return _computed(f"{self.inner}.clip({lower}, {upper})", np.clip, self, *ends)

    def apply(self, function: Callable[[Any], Any], default: Any) -> Expression:
        """function(value); `default`, which also sets the type, where the function raises.

        The function sees one value at a time and each distinct value once. It should be a function in the
        mathematical sense: a program that keeps notes between the calls could carry rows away.
        """
        kind = type(default)
        if kind not in {bool, int, float, str}:
            fix = "give the answer for values that the function cannot handle, such as 0.0."
            reject("default", default, "a bool, int, float or str", fix)

        def tried(value: Any) -> Any:
            try:
                return np.array(kind(function(value)), dtype=kind).item()  # refuses what 64 bits cannot hold
            except (Exception, SystemExit):  # an error message would be an answer without noise
                return default

        def rule(columns: Columns) -> Array:
            distinct, place = np.unique(self.rule(columns), return_inverse=True)
            return np.array([tried(v) for v in distinct.tolist()], dtype=kind)[place]

        return Expression(f"{getattr(function, '__name__', 'function').strip('<>')}({self.text})", rule)

    @property
    def inner(self) -> str:
        """The text as a part of a longer one."""
        return f"({self.text})" if " " in self.text and not self.text.startswith("'") else self.text

    def __repr__(self) -> str:
        return self.text

    def __bool__(self) -> bool:  # noqa: PLE0304
        fix = "write & for and, | for or, ~ for not, with parentheses: (a > 1) & (a < 9)."
        reject("expression", self.text, "combined row by row, without and, or, not, or 1 < a < 9", fix)

    def __invert__(self) -> Expression:
        return _computed(f"~{self.inner}", np.logical_not, self)

    def __neg__(self) -> Expression:
        return _computed(f"-{self.inner}", np.negative, self)

    __eq__ = _operator("==", np.equal)  # type: ignore[assignment]
    __ne__ = _operator("!=", np.not_equal)  # type: ignore[assignment]
    __lt__ = _operator("<", np.less)
    __le__ = _operator("<=", np.less_equal)
    __gt__ = _operator(">", np.greater)
    __ge__ = _operator(">=", np.greater_equal)
    __and__, __rand__ = _operator("&", np.logical_and), _operator("&", np.logical_and, True)
    __or__, __ror__ = _operator("|", np.logical_or), _operator("|", np.logical_or, True)
    __add__, __radd__ = _operator("+", np.add), _operator("+", np.add, True)
    __sub__, __rsub__ = _operator("-", np.subtract), _operator("-", np.subtract, True)
    __mul__, __rmul__ = _operator("*", np.multiply), _operator("*", np.multiply, True)
    __truediv__, __rtruediv__ = _operator("/", np.divide), _operator("/", np.divide, True)
    __floordiv__, __rfloordiv__ = _operator("//", np.floor_divide), _operator("//", np.floor_divide, True)
    __mod__, __rmod__ = _operator("%", np.remainder), _operator("%", np.remainder, True)


def _expression(value: Any) -> Expression:
    """The expression itself, or a public constant as one."""
    if isinstance(value, Expression):
        return value
    constant = _public(value)
    return Expression(repr(constant), lambda _: np.asarray(constant))


def _public(value: Any) -> Any:
    """A constant in a type that columns have: arithmetic with others may fail, and so tell a row's value."""
    fix = "use col(name) for a column, and numbers of 64 bits."
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, bool | int | float | str) or (isinstance(plain, int) and abs(plain) >= 2**63):
        reject("operand", value, "an expression or one public number or text", fix)
    return plain
