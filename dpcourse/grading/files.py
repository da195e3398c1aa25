"""Text that others wrote, made safe to show; files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import unicodedata
from pathlib import Path
from typing import Final

from dpcourse.errors import BadInput

HIDDEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that nobody sees: controls, direction marks, halves of characters, none at all."""
JOINERS: Final = "\u200c\u200d"
"""Invisible, and needed to spell words of several languages."""


def plain(text: str, keep: str = "") -> str:
    r"""Text with every invisible character written out, except those in `keep`.

    A name cannot then hide a line break, and text cannot run backwards.

    >>> print(plain("ada\n\u202egro.live"))
    ada\n\u202egro.live
    """
    return "".join(
        c if c in keep or c in JOINERS or unicodedata.category(c) not in HIDDEN else _written(c) for c in text
    )


def _written(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def write_whole(path: Path, content: str | bytes) -> None:
    """Store text or bytes; whoever reads sees the old file or the new one, also if the disk is full."""
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise BadInput(
            f"{path} could not be written: {error.strerror}. What was there before is unchanged. "
            "Fix: make room or choose another place, and run the same command again."
        ) from error
