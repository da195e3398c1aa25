"""A quicker start: what a package would load at its import and never use here is not there while it loads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Inside, importing one of these optional modules fails, as if it were not installed.

    >>> with without("tabnanny"):
    ...     import tabnanny
    Traceback (most recent call last):
    ModuleNotFoundError: import of tabnanny halted; None in sys.modules
    """
    modules: dict[str, Any] = sys.modules
    absent = [name for name in names if name not in modules]
    modules.update(dict.fromkeys(absent))
    try:
        yield
    finally:
        for name in absent:
            del modules[name]
