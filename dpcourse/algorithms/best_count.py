"""The best private count: tables of Pr[publish j | the count is i], and the least error that any of them has.

A mechanism from counts 0, ..., n to 0, ..., n is a table of probabilities. It is epsilon-DP if neighbouring
rows differ by a factor of at most e^epsilon in each column, so the table of least worst expected error
solves a linear program. Post-processing noise of the geometric law can reach it for every such goal (Ghosh,
Roughgarden and Sundararajan, STOC 2009; for worst cases Gupte and Sundararajan, PODS 2010).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dpcourse.errors import BadInput, number, reject, whole

Table = Sequence[Sequence[Any]]


def worst_error(table: Table) -> Any:
    """max over the true count i of E|published - i|: exact if the entries are fractions.

    >>> worst_error([[0.75, 0.25], [0.25, 0.75]])
    0.25
    """
    rows = enumerate(_checked(table))
    return max(sum(abs(i - j) * p for j, p in enumerate(row)) for i, row in rows)


def largest_ratio(table: Table) -> Any:
    """The largest ratio in a column between neighbouring rows: e^epsilon; infinite if one of two is 0.

    >>> largest_ratio([[0.75, 0.25], [0.25, 0.75]])
    3.0
    """
    worst: Any = 1
    for here, there in pairwise(_checked(table)):
        for p, q in zip(here, there, strict=True):
            low, high = sorted((p, q))
            if high > 0:
                worst = max(worst, high / low if low > 0 else math.inf)
    return worst


def least_error(largest: int, ratio: Any) -> float:
    """The least worst error of any table on counts 0, ..., `largest` with e^epsilon = `ratio`.

    >>> round(least_error(2, 2), 5)  # 4/7
    0.57143
    """
    from scipy.optimize import linprog

    if not number("ratio", ratio) >= 1:
        reject("ratio", ratio, "at least 1", "give e^epsilon.")
    n = whole("largest", largest) + 1
    error = np.zeros((n, n * n + 1))  # the unknowns: the table row by row, and the error
    sums = np.zeros((n, n * n + 1))
    for i in range(n):
        error[i, i * n : (i + 1) * n] = np.abs(np.arange(n) - i)
        sums[i, i * n : (i + 1) * n] = 1
    error[:, -1] = -1
    apart = np.zeros((2 * n * (n - 1), n * n + 1))
    for place, (i, j) in enumerate((i, j) for i in range(n - 1) for j in range(n)):
        here, there = i * n + j, (i + 1) * n + j
        apart[2 * place, [here, there]] = 1, -float(ratio)
        apart[2 * place + 1, [there, here]] = 1, -float(ratio)
    at_most = np.vstack([error, apart])
    goal = np.append(np.zeros(n * n), 1.0)
    found = linprog(goal, A_ub=at_most, b_ub=np.zeros(len(at_most)), A_eq=sums, b_eq=np.ones(n))
    return float(found.fun)


def _checked(table: Table) -> Table:
    """The table, if it is square and each row is a law."""
    try:
        good = all(
            len(row) == len(table)
            and all(p >= 0 for p in row)
            and math.isclose(sum(row), 1, rel_tol=0, abs_tol=1e-12)
            for row in table
        )
    except TypeError:
        good = False
    if not good or not len(table):
        raise BadInput(
            f"table = {str(table)[:80]} breaks a rule: it must be a square table whose rows are laws. "
            "Fix: give one row of probabilities for each count, of sum 1."
        )
    return table
