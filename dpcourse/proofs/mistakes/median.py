"""Errata of local and smooth sensitivity."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dpcourse.proofs.chapters import smooth
from dpcourse.proofs.domain import Domain
from dpcourse.proofs.functions import exp, fractions, log
from dpcourse.proofs.lists import Many
from dpcourse.proofs.mistakes.base import Erratum, claim
from dpcourse.proofs.scalars import Real, Whole
from dpcourse.proofs.steps import Term

# Sensitivity ---------------------------------------------------------------------------------------

LAPLACE_SMOOTH: Final = Domain({"epsilon": Real(0.05, 2.0, log=True), "y": Real(0.0, 200.0)})


def _two_scales(v: Any) -> Any:
    """[0,0,1] (S = 1) against [0,0,0] (S = e^-eps): medians 0, noise S/eps Lap."""
    small = exp(-v.epsilon)
    return (log(v.epsilon) - v.epsilon * v.y) - (log(v.epsilon / small) - v.epsilon * v.y / small)


ROWS: Final = 5
MEDIANS: Final = Domain(
    {"rows": Many(Whole(0, 20), ROWS), "M": Whole(1, 20), "which": Whole(0, ROWS - 1), "value": Whole(0, 20)}
)


def _data(v: Any) -> Any:
    return np.minimum(v.rows, v.M[:, None])


def _replaced(rows: Any, which: Any, value: Any) -> Any:
    changed = rows.copy()
    changed[np.arange(len(rows)), which] = value
    return changed


def _median(rows: Any) -> Any:
    """Of an odd number of rows; of an even number, twice the mean of the middle two, halved."""
    ordered, n = np.sort(rows, -1), rows.shape[-1]
    twice = ordered[..., (n - 1) // 2] + ordered[..., n // 2]
    return fractions(twice, 2)


MEDIAN_MOVE = Term(
    r"|\mathrm{med}(x)-\mathrm{med}(x')|",
    lambda v: abs(_median(_data(v)) - _median(_replaced(_data(v), v.which, np.minimum(v.value, v.M)))),
)


def _gaps(rows: Any) -> Any:
    """max(x_m - x_{m-1}, x_{m+1} - x_m) of sorted rows."""
    ordered, m = np.sort(rows, -1), (rows.shape[-1] - 1) // 2
    return np.maximum(ordered[..., m] - ordered[..., m - 1], ordered[..., m + 1] - ordered[..., m])


def _each_replacement(rows: Any, most: Any) -> Any:
    """All data sets with one row moved to an end of the range: (point, change, row)."""
    n = rows.shape[-1]
    ends = [0 * most, most]
    return np.stack([_replaced(rows, np.full(len(rows), i), end) for i in range(n) for end in ends], 1)


def _local(v: Any, size: int = ROWS) -> Any:
    """The local sensitivity of the median of the first rows, by trying all replacements."""
    rows = _data(v)[:, :size]
    moves = abs(_median(_each_replacement(rows, v.M)) - _median(rows)[:, None])
    return moves.max(-1)


def _local_add_remove(v: Any) -> Any:
    """The local sensitivity when one row is removed, or a row at an end is added."""
    rows, here = _data(v), _median(_data(v))
    removed = [np.delete(rows, i, 1) for i in range(ROWS)]
    added = [np.concatenate([rows, end[:, None]], 1) for end in (0 * v.M, v.M)]
    return np.stack([abs(_median(other) - here) for other in (*removed, *added)], 1).max(-1)


GAP_FORMULA = Term(r"\max(x_m-x_{m-1},x_{m+1}-x_m)", lambda v: _gaps(_data(v)))
LOCAL_AT_1 = Term(r"A^{(1)}=\max_{x'\sim x}LS(x')", lambda v: _gaps(_each_replacement(_data(v), v.M)).max(-1))


EVEN: Final = ROWS - 1


def _even_gaps(v: Any) -> Any:
    """max(x_{m+2} - x_m, x_{m+1} - x_{m-1})/2 of n = 2m rows; their median is the mean of x_m and x_{m+1}."""
    x, m = np.sort(_data(v)[:, :EVEN], -1), EVEN // 2 - 1
    return fractions(np.maximum(x[:, m + 2] - x[:, m], x[:, m + 1] - x[:, m - 1]), 2)


EVEN_LOCAL = Term(r"LS(x),\ n=4", lambda v: _local(v, EVEN))


def _windows(v: Any, shortcut: bool) -> Any:
    """max_s x_{m+s} - x_{m+s-2}; the shortcut keeps only the windows that end at the median."""
    x, m = np.sort(_data(v), -1), ROWS // 2
    pairs = [(m + s, m + s - 2) for s in ((0, 2) if shortcut else (0, 1, 2))]
    return np.stack([x[:, a] - x[:, b] for a, b in pairs], 1).max(-1)


ERRATA: Final = (
    Erratum(
        "smooth-laplace",
        claim(
            "Laplace noise of scale S/eps is 2 eps-DP",
            Term(r"\ln\frac{p_x(y)}{p_{x'}(y)}", _two_scales),
            "<=",
            Term(r"2\varepsilon", lambda v: 2 * v.epsilon),
            LAPLACE_SMOOTH,
            "eps about f and eps about S",
        ),
        smooth.SMOOTH_CAUCHY,
        "f + Lap(S/eps) with an eps-smooth S is 2 eps-DP",
        "Laplace tails see the scale: only (eps, delta); heavy tails give pure privacy",
    ),
    Erratum(
        "sensitivity-and-range",
        claim(
            "the median moves by at most 1",
            MEDIAN_MOVE,
            "<=",
            Term("1", lambda v: 0 * v.M + 1),
            MEDIANS,
            "not dependent on the range",
        ),
        claim(
            "the median moves by at most the range",
            MEDIAN_MOVE,
            "<=",
            Term("M", lambda v: v.M),
            MEDIANS,
            "data in [0, M]",
        ),
        "the sensitivity depends on f, not on the range of the data",
        "on f and on the domain: the median has sensitivity M",
    ),
    Erratum(
        "local-sensitivity-adjacency",
        claim(
            "the gaps, when a row is added or removed",
            Term(r"LS(x)", _local_add_remove),
            "=",
            GAP_FORMULA,
            MEDIANS,
            "whatever neighbours are",
        ),
        claim("the gaps, when a row is replaced", Term(r"LS(x)", _local), "=", GAP_FORMULA, MEDIANS, "n odd"),
        "LS of the median is max(x_m - x_{m-1}, x_{m+1} - x_m)",
        "for an odd number of rows and replaced rows only",
    ),
    Erratum(
        "local-sensitivity-even",
        claim(
            "the gaps beside one row, for an even number of rows",
            EVEN_LOCAL,
            "=",
            Term(GAP_FORMULA.latex, lambda v: _gaps(_data(v)[:, :EVEN])),
            MEDIANS,
            "whatever n is",
        ),
        claim(
            "gaps of two, halved, for an even number of rows",
            EVEN_LOCAL,
            "=",
            Term(r"\tfrac12\max(x_{m+2}-x_m,x_{m+1}-x_{m-1})", _even_gaps),
            MEDIANS,
            "the middle two move on by one row",
        ),
        "LS of the median is max(x_m - x_{m-1}, x_{m+1} - x_m) for every number of rows",
        "for n = 2m rows the median is a mean of two, and LS is half of the larger gap across two rows",
    ),
    Erratum(
        "smooth-one-sided",
        claim(
            "windows that end at the median",
            LOCAL_AT_1,
            "=",
            Term(r"\max(x_m-x_{m-2},x_{m+2}-x_m)", lambda v: _windows(v, True)),
            MEDIANS,
            "move the rows of one side",
        ),
        claim(
            "all windows around the median",
            LOCAL_AT_1,
            "=",
            Term(r"\max_{0\le s\le2}(x_{m+s}-x_{m+s-2})", lambda v: _windows(v, False)),
            MEDIANS,
            "move some rows of each side",
        ),
        "local sensitivity at distance t from the t+1 rows of one side",
        "from every window of t+1 gaps around the median",
    ),
)
