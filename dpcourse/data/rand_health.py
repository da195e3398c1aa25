"""The RAND Health Insurance Experiment: real people, real doctors' visits, in the public domain.

Newhouse and the Insurance Experiment Group, "Free for All?", 1993. Families in six places were given
insurance plans by lot from 1974 on; a row is one person in one year. The table is that of Cameron and
Trivedi, "Microeconometrics", 2005, as it travels with statsmodels, whose notes say of it: "This is in the
public domain." README.md in this folder says what was kept, and how to make the file again.
"""

from __future__ import annotations

from importlib import resources
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

FILE: Final = "rand_health.npz"

COLUMNS: Final = MappingProxyType(
    {
        "person": "which person, 0 to 5911; one person has up to five rows",
        "year": "year of the study, 1 to 5",
        "site": "place, 1 to 6",
        "age": "age in that year, whole years (rounded down)",
        "female": "1 for a woman or girl, else 0",
        "income": "annual income, whole dollars (rounded)",
        "family": "people in the family",
        "coinsurance": "part of a bill that the family pays, per cent: 0, 25, 50, 95 or 100",
        "visits": "visits to a medical doctor in that year",
        "admissions": "admissions to a hospital in that year",
        "spending": "medical spending in that year, dollars to the cent (without psychotherapy)",
        "chronic": "index of chronic diseases at the start, 0 to 58.6",
        "health": "self-rated health at the start: 0 excellent, 1 good, 2 fair, 3 poor",
    }
)
"""What each column means, and its unit."""


def rand_health() -> NDArray[Any]:
    """The 20,190 person-years as a structured array; `COLUMNS` explains the fields.

    One person can be in up to five rows, so a promise to a row is not yet a promise to a person.

    >>> table = rand_health()
    >>> round(float(table["visits"].mean()), 4), int(np.unique(table["person"]).size)
    (2.8604, 5912)
    """
    with resources.files(__package__).joinpath(FILE).open("rb") as file, np.load(file) as stored:
        columns = {name: stored[name] for name in COLUMNS}
    first = next(iter(columns.values()))
    table = np.empty(len(first), dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        table[name] = column
    return table
