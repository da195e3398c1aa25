"""PrivateTable: transformations and noisy queries, and no way to read a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from dpcourse.errors import reject, whole
from dpcourse.interactive.table.agents import Agent
from dpcourse.interactive.table.answers import Answer, Asking
from dpcourse.interactive.table.costs import shown
from dpcourse.interactive.table.expressions import Columns, Expression, col, kind_of, look_up
from dpcourse.interactive.table.joins import Join
from dpcourse.interactive.table.plan import Plan, plan_of
from dpcourse.interactive.table.sources import as_columns, plain
from dpcourse.interactive.table.stages import Part, Partition, Select, Source, Stage, Where


class PrivateTable(Asking[Answer]):
    """A table that answers noisy queries only, and pays for them from its agent's budget.

    `data` is a dict of columns or a structured array; all tables made from it share the budget. `epsilon`
    of a query is the privacy loss for one row of the table asked; what a row of the source can do there,
    the agent works out. This guards against queries, not against a Python user who means harm: run it
    where only queries come in. Counts have exact discrete noise; sums and means have Laplace noise in floats,
    whose low bits can tell more than they should (`dpcourse.attacks.floating_point`).
    """

    def __init__(self, data: Any, agent: Agent, *, name: str = "table") -> None:
        if not isinstance(agent, Agent):
            fix = "write PrivateTable(data, Agent(1))."
            reject("agent", agent, "an Agent, the keeper of the budget", fix)
        columns = as_columns(data)
        source = Source(name=name, empty={n: c[:0] for n, c in columns.items()}, adjacency=agent.adjacency)
        self._start(source, agent, columns)

    def _start(self, stage: Stage, agent: Agent, columns: Columns) -> None:
        self.agent, self.stage, self._columns = agent, stage, columns
        agent.ledger.adopt(stage)

    def _made(self, stage: Stage, *others: PrivateTable) -> PrivateTable:
        """The table of a new stage, computed from this table (and others)."""
        table = PrivateTable.__new__(PrivateTable)
        table._start(stage, self.agent, stage.columns({t.stage: t._columns for t in (self, *others)}))
        return table

    @property
    def columns(self) -> dict[str, str]:
        """The names and types of the columns."""
        return {name: kind_of(column) for name, column in self.stage.schema.items()}

    # Transformations ----------------------------------------------------------------------------

    def where(self, condition: Expression) -> PrivateTable:
        """The rows that fulfil a condition, such as (col("age") >= 65) & (col("sex") == "f")."""
        self._checked("condition", condition, boolean=True)
        return self._made(Where(parents=(self.stage,), condition=condition))

    def select(self, *names: str, **expressions: Expression) -> PrivateTable:
        """Some columns, and new ones: select("age", thousands=col("income") / 1000)."""
        chosen = {name: col(name) for name in names} | expressions
        if not chosen:
            reject("select()", "no columns", "at least one column", 'write select("age").')
        for name, expression in chosen.items():
            self._checked(name, expression)
        return self._made(Select(parents=(self.stage,), expressions=chosen))

    def partition(self, by: str | Expression, keys: Sequence[Any]) -> Parts:
        """Disjoint parts, one for each public key; rows with another key are in none of them.

        Parallel composition: under add/remove only the dearest part is paid for, under replace-one the
        two dearest, because a row may move from one to the other.
        """
        key = col(by) if isinstance(by, str) else by
        self._checked("by", key)
        fix = "list them without looking at the data."
        if not isinstance(keys, Iterable) or isinstance(keys, str):
            reject("keys", keys, "a list of public keys", fix)
        values = [plain(key.on(self.stage.schema), value) for value in keys]
        if not values or len(set(values)) < len(values):
            reject("keys", values, "distinct public keys, at least one", fix)
        split = Partition(parents=(self.stage,), key=key)
        parts = (Part(parents=(split,), condition=key == value, key=value) for value in values)
        return Parts({part.key: self._made(part) for part in parts})

    group_by = partition

    def join(self, other: PrivateTable, on: str, *, k: int = 1) -> PrivateTable:
        """All pairs of rows with the same key, from the first k rows of each key on both sides.

        One row reaches at most k pairs, so a query on the join costs about k times as much. The rows of a
        key come in the order of their values; those beyond the k-th are left out.
        """
        if not isinstance(other, PrivateTable):
            reject("other", type(other).__name__, "a PrivateTable", "wrap it: PrivateTable(data, agent).")
        if other.agent is not self.agent:
            fix = "make both with the same Agent: one budget then covers a person with a row in each."
            reject("other", other, "a table of the same agent", fix)
        # A whole number and a decimal are no common type: many whole numbers round to the same decimal, and a
        # row would reach more than k pairs.
        if len({look_up(table.stage.schema, on).dtype.kind for table in (self, other)}) > 1:
            fix = f"make both decimals (or text) with select, as in {on}=col({on!r}) * 1.0."
            reject("on", on, "a column of the same type in both tables", fix)
        stage = Join(parents=(self.stage, other.stage), on=on, k=whole("k", k))
        return self._made(stage, other)

    # Queries, and what is refused ---------------------------------------------------------------

    def plan(self) -> Plan:
        """Where the budget went, as a tree."""
        return plan_of(self.agent)

    @property
    def _tables(self) -> Sequence[PrivateTable]:
        return (self,)

    def _packed(self, answers: list[Answer]) -> Answer:
        return answers[0]

    def _checked(self, name: str, expression: Expression, boolean: bool = False) -> None:
        """Try the expression on the table without its rows, so that no error depends on them."""
        if not isinstance(expression, Expression):
            fix = 'write col("age") >= 65: a free function could look at all rows at once.'
            reject(name, expression, "an expression made of col(...)", fix)
        kind = kind_of(expression.on(self.stage.schema))
        if boolean and kind != "truth value":
            fix = "compare it with something."
            reject(name, expression, f"true or false for each row, not a {kind}", fix)

    def _refuse(self, *_: Any) -> NoReturn:
        fix = "use noisy_count, noisy_sum and the like."
        reject("table", self, "asked, not read: its rows are private", fix)

    __len__ = __iter__ = __getitem__ = __array__ = __contains__ = _refuse

    def __repr__(self) -> str:
        names = ", ".join(f"{name}: {kind}" for name, kind in self.columns.items())
        return f"PrivateTable({names}; {shown(self.agent.remaining)} of {shown(self.agent.budget)} left)"


class Parts(Asking[dict[Any, Answer]], Mapping[Any, PrivateTable]):
    """The parts of a table by key; a query asks all of them and gives a dict of answers.

    >>> import numpy as np
    >>> visits = PrivateTable({"site": ["a", "b", "a"]}, Agent(1)).partition("site", ["a", "b", "c"])
    >>> answers = visits.noisy_count(0.5, np.random.default_rng(1))
    >>> list(answers), visits["a"].agent.spent
    (['a', 'b', 'c'], Fraction(1, 2))
    """

    def __init__(self, tables: Mapping[Any, PrivateTable]) -> None:
        self._parts = tables

    def __getitem__(self, key: Any) -> PrivateTable:
        if key not in self._parts:
            reject("key", key, f"one of the public keys {list(self._parts)}", "partition by other keys.")
        return self._parts[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def _tables(self) -> Sequence[PrivateTable]:
        return tuple(self._parts.values())

    def _packed(self, answers: list[Answer]) -> dict[Any, Answer]:
        return dict(zip(self._parts, answers, strict=True))

    def __repr__(self) -> str:
        return f"Parts({list(self._parts)})"
