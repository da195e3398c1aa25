"""Every bound on the same workload, next to the exact answer."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import Any

from dpcourse.accounting.bounds import BOUNDS, PROMISES, exact_bounds
from dpcourse.accounting.step import Item
from dpcourse.accounting.workload import Workload
from dpcourse.errors import delta as check_delta
from dpcourse.errors import reject, whole


@dataclass(frozen=True)
class Row:
    """What one way of accounting says; `kind` is bound, exact, approximation or misprint."""

    key: str
    name: str
    epsilon: float
    kind: str
    reference: str

    @property
    def valid(self) -> bool:
        """Whether this epsilon is a promise: approximations and misprints are not."""
        return self.kind in PROMISES


@dataclass(frozen=True)
class Comparison:
    """The rows of all bounds that apply, smallest epsilon first; `exact` brackets the true epsilon."""

    workload: str
    k: int
    delta: float
    exact: tuple[float, float] | None
    rows: tuple[Row, ...]

    def __getitem__(self, key: str) -> Row:
        """The row of a key of BOUNDS, such as "basic" or "exact"."""
        for row in self.rows:
            if row.key == key:
                return row
        rule = f"one of {', '.join(repr(row.key) for row in self.rows)}"
        reject("key", key, rule, "choose one of the bounds that apply to this workload.")

    @property
    def best(self) -> Row:
        """The smallest epsilon that is a promise."""
        return min((row for row in self.rows if row.valid), key=lambda row: row.epsilon)

    def cells(self) -> list[tuple[str, str, str, str, str]]:
        """The table as text: name, epsilon rounded up, ratio to the exact value, kind, reference."""
        return [(r.name, shown(r.epsilon), self._ratio(r), self._kind(r), r.reference) for r in self.rows]

    def _ratio(self, row: Row) -> str:
        if self.exact is None or not 0 < self.exact[1] < math.inf or row.epsilon == math.inf:
            return ""
        return f"{row.epsilon / self.exact[1]:.3f}"

    def _kind(self, row: Row) -> str:
        low = self.exact is not None and row.epsilon < self.exact[0]
        return f"{row.kind}, too low" if low and not row.valid else row.kind

    def __str__(self) -> str:
        table = [HEAD, *self.cells()]
        widths = [max(len(line[i]) for line in table) for i in range(4)]
        lines = [
            f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d:<{widths[3]}}  {e}".rstrip()
            for a, b, c, d, e in table
        ]
        return "\n".join([f"{self.workload}, delta = {self.delta:g}", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A table in the colours of the page, so that it reads in light and dark themes."""
        title = html.escape(f"{self.workload}, delta = {self.delta:g}")
        head = "".join(_cell(text, i, "col") for i, text in enumerate(HEAD))
        lines = [
            "".join(_cell(text, i, "" if i else "row") for i, text in enumerate(r)) for r in self.cells()
        ]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        caption = f'<caption style="text-align:left;padding:4px 8px">{title}</caption>'
        style = 'style="border-collapse:collapse;font-variant-numeric:tabular-nums"'
        return f"<table {style}>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


HEAD = ("accountant", "epsilon", "x exact", "kind", "reference")


def _cell(text: str, column: int, scope: str) -> str:
    tag, extra = ("th", f' scope="{scope}"') if scope else ("td", "")
    align, weight = "right" if column in {1, 2} else "left", "bold" if scope == "col" else "normal"
    style = f"text-align:{align};font-weight:{weight};padding:2px 8px"
    return f'<{tag}{extra} style="{style}">{html.escape(text)}</{tag}>'


def shown(epsilon: float, digits: int = 6) -> str:
    """An epsilon to print, rounded up, so that the printed number is a bound as well.

    >>> shown(4.6926674), shown(10.000000000000002), shown(math.inf)
    ('4.69267', '10', 'infinite')
    """
    if epsilon == math.inf:
        return "infinite"
    # A part in 10^12 above a round number is rounding, not privacy.
    value = Context(prec=digits, rounding=ROUND_CEILING).create_decimal_from_float(epsilon * (1 - 1e-12))
    return f"{float(value):.{digits}g}"


def compare(workload: Any, delta: float, k: int = 1, *, misprints: bool = False) -> Comparison:
    """Every bound that applies to the workload, sorted, against the exact answer.

    The workload is a mechanism, a guarantee or a privacy loss, one of them with a count, or a list of
    these; `k` repeats all of it. What applies follows from the guarantees: steps with an epsilon of their
    own get the composition theorems as they are; other steps are read as (epsilon_0, delta_0)-DP with
    their share of delta first, which is what a textbook would do. The exact answer composes the steps'
    worst cases, in both directions; for a guarantee it is that of the worst mechanism with it, as it is for a
    mechanism of which only the guarantee is known (the row then says so).

    >>> from dpcourse.mechanisms import LaplaceMechanism
    >>> table = compare(LaplaceMechanism(0.1), delta=1e-6, k=100)
    >>> for key in ("basic", "tanh", "optimal", "rdp", "exact"):
    ...     print(f"{key:8}{table[key].epsilon:.4f}")
    basic   10.0000
    tanh    5.7561
    optimal 4.7746
    rdp     4.9842
    exact   4.6927
    """
    steps = Workload.of(workload, k)
    delta = float(check_delta("delta", delta))
    exact = exact_bounds(steps, delta)
    rows = []
    for key, bound in BOUNDS.items():
        if bound.kind == "misprint" and not misprints:
            continue
        epsilon = exact[1] if key == "exact" and exact else bound.epsilon(steps, delta)
        if epsilon is None:
            continue
        tight = exact is not None and bound.kind == "bound" and epsilon <= exact[0] * (1 + 1e-9)
        name = "exact for what is promised" if key == "exact" and steps.promised else bound.name
        rows.append(Row(key, name, epsilon, "exact" if tight else bound.kind, bound.reference))
    rows.sort(key=lambda row: (row.epsilon if row.key != "exact" else exact[0] if exact else 0.0, row.key))
    return Comparison(str(steps), steps.k, delta, exact, tuple(rows))


def compare_over_k(
    item: Item, ks: Iterable[int], delta: float, *, misprints: bool = False
) -> tuple[Comparison, ...]:
    """One comparison for each number of releases, for a figure of all bounds against k."""
    return tuple(compare(item, delta, whole("k", k), misprints=misprints) for k in ks)
