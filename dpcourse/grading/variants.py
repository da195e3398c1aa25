"""Each student's own parameters, drawn by a keyed hash: whoever has the key draws the same again.

    draw = HMAC-SHA256(key, [unit, student, name]) mod (number of choices)

Nobody without the key can tell what another student has, and nothing need be stored but the key. Constants
are drawn one by one, so a new one leaves the others as they are. HMAC: Bellare, Canetti and Krawczyk, 1996.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import unicodedata
from pathlib import Path
from typing import Final

from dpcourse.errors import BadInput
from dpcourse.grading.roster import Roster
from dpcourse.workbook.notebook import BadNotebook, Notebook
from dpcourse.workbook.release import release
from dpcourse.workbook.variants import Choices, values, varied

SHORTEST: Final = 16
"""Bytes of a key below which it could be guessed."""

__all__ = ["for_student", "make_key", "read_key", "released", "values"]


def for_student(master: Notebook, student: str, key: bytes) -> Notebook:
    """The master with this student's parameters; a master in which nothing varies comes back as it is.

    >>> cell = {"id": "given", "cell_type": "code", "source": "SEED = 7", "outputs": [],
    ...         "metadata": {"dpcourse": {"variant": {"SEED": {"from": 0, "below": 100}}}}}
    >>> master = {"metadata": {"dpcourse": {"unit": "03"}}, "cells": [cell]}
    >>> [for_student(master, name, b"a key of 16 bytes")["cells"][0]["source"] for name in ("ada", "bo")]
    ['SEED = 52', 'SEED = 4']
    """
    unit = master.get("metadata", {}).get("dpcourse", {}).get("unit")

    def draw(choices: Choices) -> str:
        if not isinstance(unit, str) or not unit:
            raise BadNotebook(
                'the notebook does not say its unit. Fix: put "dpcourse": {"unit": "03"} in its metadata.'
            )
        return choices[_drawn(key, unit, student, choices.name) % len(choices.options)]

    return varied(master, draw)


def _drawn(key: bytes, *words: str) -> int:
    text = json.dumps([unicodedata.normalize("NFC", word) for word in words])  # no two lists give one text
    return int.from_bytes(hmac.digest(key, text.encode(), hashlib.sha256), "big")


def released(masters: dict[str, Notebook], roster: Roster, key: bytes) -> dict[str, Notebook]:
    """What each student gets, by name as in ada/03_group_privacy.ipynb."""
    return {
        f"{person.student}/{name}": release(for_student(master, person.student, key))
        for person in roster
        for name, master in masters.items()
    }


def read_key(path: Path) -> bytes:
    """The key in a file, blanks at its ends aside."""
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}. Fix: name the file with the key of the release.") from None
    if len(key) < SHORTEST:
        raise BadInput(
            f"{path} holds {len(key)} bytes, and a key has at least {SHORTEST}. Fix: name a file that does "
            "not exist yet, and `dpcourse release` makes a key there."
        )
    return key


def make_key(path: Path) -> bytes:
    """A new key in a new file that only its owner can read."""
    key = secrets.token_hex(32).encode("ascii")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}. Fix: choose another place for the key.") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(key + b"\n")
    return key
