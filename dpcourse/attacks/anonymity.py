"""k-anonymity, and why it does not protect: a class may be large and yet agree on the secret.

A table is k-anonymous if every row shares its quasi-identifier with at least k - 1 others (Samarati and
Sweeney 1998). If all of them have the same secret, whoever knows that you are among them knows yours: the
homogeneity attack (Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam, "l-diversity", ICDE 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcourse.attacks.linkage import Ints, Table, class_sizes, columns, labels, pick
from dpcourse.errors import Floats, numeric, positive, reject, whole

Column = NDArray[Any]
Rule = Callable[[Column], Any]


def bands(width: float) -> Rule:
    """Numbers in bands of one width, each named by its lower end.

    >>> bands(10)(np.array([29, 30, 39]))
    array([20., 30., 30.])
    """
    positive("width", width)
    return lambda column: np.floor(numeric("column", column) / width) * width


def prefix(length: int) -> Rule:
    """The first characters only.

    >>> prefix(3)(np.array(["02138", "02139"]))
    array(['021', '021'], dtype='<U3')
    """
    whole("length", length)
    return lambda column: column.astype(str).astype(f"<U{length}")


def hide(column: Column) -> Column:
    """The same star for everybody."""
    return np.full(len(column), "*")


def generalise(table: Table, rules: Mapping[str, Rule]) -> dict[str, Column]:
    """The table with some columns made coarser; the others stay as they are.

    >>> generalise({"age": [31, 38], "ill": [0, 1]}, {"age": bands(10)})
    {'age': array([30., 30.]), 'ill': array([0, 1])}
    """
    found = columns("table", table)
    if unknown := [key for key in rules if key not in found]:
        reject("rules", unknown, f"for columns of the table ({', '.join(found)})", "check the names.")
    return {key: np.asarray(rules[key](c)) if key in rules else c for key, c in found.items()}


def anonymity(table: Table, on: Sequence[str]) -> int:
    """The k of k-anonymity: the size of the smallest class.

    >>> anonymity({"zip": [1, 1, 2, 2, 2]}, ["zip"])
    2
    """
    return int(class_sizes(table, on).min())


@dataclass(frozen=True)
class Homogeneity:
    """What membership in a class tells about the secret column, row by row."""

    sizes: Ints
    """The size of the row's class."""
    distinct: Ints
    """How many secret values its class has."""
    shares: Floats
    """The share of the row's own secret value in its class: the belief of somebody who can place the row."""

    @property
    def k(self) -> int:
        """The least class size."""
        return int(self.sizes.min())

    @property
    def diversity(self) -> int:
        """The least number of secret values in a class: 1 if the attack succeeds somewhere."""
        return int(self.distinct.min())

    @property
    def exposed(self) -> NDArray[np.bool_]:
        """The rows whose secret is certain."""
        return np.equal(self.distinct, 1)


def homogeneity(table: Table, on: Sequence[str], secret: str) -> Homogeneity:
    """The homogeneity attack on every class of the table.

    >>> shop = {"bought A": [1, 1, 1, 0, 0], "bought C": [1, 1, 1, 0, 1]}
    >>> found = homogeneity(shop, ["bought A"], "bought C")
    >>> found.k, found.exposed.tolist()  # Elaine bought A; so she bought C
    (2, [True, True, True, False, False])
    """
    classes = labels(pick("table", table, on))
    (column,) = pick("table", table, [secret])
    cells = labels([classes, column])
    sizes, counts = np.bincount(classes), np.bincount(cells)
    class_of_cell = np.zeros(len(counts), dtype=np.int64)
    class_of_cell[cells] = classes
    distinct = np.bincount(class_of_cell)
    return Homogeneity(sizes[classes], distinct[classes], counts[cells] / sizes[classes])
