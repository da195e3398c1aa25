"""Makes rand_health.npz from the table that travels with statsmodels, byte for byte.

python -m dpcourse.data.make_rand_health .../statsmodels/datasets/randhie/src/randhie.csv
"""

from __future__ import annotations

import csv
import hashlib
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpcourse.data.rand_health import COLUMNS, FILE
from dpcourse.errors import reject

SOURCE_SHA256: Final = "fe64f3c8e987779daa6052dd756d9ce277e025330f5549126c7c2f6a3c9c5541"


def columns(source: Path) -> dict[str, NDArray[Any]]:
    """The columns that the course uses, in the smallest types that hold them."""
    found = hashlib.sha256(source.read_bytes()).hexdigest()
    if found != SOURCE_SHA256:
        reject("sha256 of the source", found, SOURCE_SHA256, "take src/randhie.csv of statsmodels.")
    with source.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def column(name: str) -> NDArray[np.float64]:
        return np.array([float(row[name]) for row in rows])

    _, first, person = np.unique(column("zper"), return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # people are numbered as they appear
    return {
        "person": order[person].astype("<i2"),
        "year": column("year").astype("i1"),
        "site": column("site").astype("i1"),
        "age": np.floor(column("xage")).astype("i1"),
        "female": column("female").astype("i1"),
        "income": np.rint(column("income")).astype("<i4"),
        "family": column("num").astype("i1"),
        "coinsurance": column("coins").astype("i1"),
        "visits": column("mdvis").astype("i1"),
        "admissions": column("totadm").astype("i1"),
        "spending": np.round(column("meddol"), 2),
        "chronic": column("disea").astype("<f4"),
        "health": (column("hlthg") + 2 * column("hlthf") + 3 * column("hlthp")).astype("i1"),
    }


def main(source: str) -> None:
    """Write the file next to this module; numpy dates every member 1980, so the bytes do not change."""
    found = columns(Path(source))
    arrays: dict[str, Any] = {name: found[name] for name in COLUMNS}
    np.savez_compressed(Path(__file__).with_name(FILE), **arrays)


if __name__ == "__main__":
    main(sys.argv[1])
