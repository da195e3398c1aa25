"""What a private table may be made of: plain columns of one length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpcourse.errors import reject
from dpcourse.interactive.table.expressions import Array, Columns, kind_of


def as_columns(data: Any) -> Columns:
    """A dict of columns from a dict or a structured array, as int64, float64, bool or text."""
    fix = 'write {"age": [31, 64], "sex": ["f", "m"]} or give a structured numpy array.'
    if isinstance(data, np.ndarray) and data.dtype.names:
        data = {name: data[name] for name in data.dtype.names}
    if not isinstance(data, Mapping) or not data or not all(isinstance(name, str) for name in data):
        reject("data", type(data).__name__, "a dict of columns or a structured array", fix)
    columns = {name: _column(name, np.asarray(given)) for name, given in data.items()}
    if len({len(c) for c in columns.values()}) > 1:
        sizes = {name: len(c) for name, c in columns.items()}
        reject("data", sizes, "columns of one length", "fill the gaps first.")
    return columns


def _column(name: str, given: Array) -> Array:
    """A copy in one of the plain types, so that equal values stay equal in every expression."""
    if given.dtype == object and all(isinstance(v, str) for v in given.ravel()):
        given = given.astype(str)
    kinds: dict[str, type] = {"b": bool, "i": np.int64, "u": np.int64, "f": float, "U": str}
    if given.ndim != 1 or given.dtype.kind not in kinds:
        rule = "one-dimensional, of numbers, truth values or text"
        reject("column", f"{name} ({given.dtype.name}, shape {given.shape})", rule, "convert it first.")
    column: Array = given.astype(kinds[given.dtype.kind])
    if given.dtype.kind == "u" and np.any(column < 0):
        reject("column", name, "whole numbers below 2^63", "store such numbers as text.")
    return column


def plain(column: Array, key: Any) -> Any:
    """A key in the type of the column, so that no row has two keys."""
    kinds: dict[str, type] = {"b": bool, "i": int, "f": float, "U": str}
    kind = kinds[column.dtype.kind]
    fix = f"list values of that type: {kind(1)!r}, say."
    if np.ndim(key) or isinstance(key, str) != (kind is str):
        reject("key", key, f"a {kind_of(column)}, as the column is", fix)
    try:
        stored: Any = np.array(key, dtype=kind).item()
    except (OverflowError, TypeError, ValueError):
        stored = None
    if stored is None or stored != key:  # 2.5 among whole numbers, NaN, text that ends with a null character
        reject("key", key, f"a {kind_of(column)} that the column can hold", fix)
    return stored
