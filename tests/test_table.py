"""The private table: exact charging against brute force over neighbours, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import contract
from dpcourse.contract import Case
from dpcourse.errors import BadInput
from dpcourse.interactive.table import Agent, Answer, BudgetExceeded, PrivateTable, col, exact
from dpcourse.interactive.table.costs import shown
from dpcourse.laws import DiscreteLaplace, Finite, Image, Laplace, Law, Product
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE, Adjacency

GROUPS, VALUES = ("x", "y", "z"), (-2, 1, 3)
DOMAIN = tuple((g, v) for g in GROUPS for v in VALUES)
ROWS = (("x", 1), ("y", -2))
BOTH = pytest.mark.parametrize("adjacency", [ADD_REMOVE, REPLACE_ONE], ids=repr)


def table_of(rows: Any, agent: Agent) -> PrivateTable:
    return PrivateTable({"group": [g for g, _ in rows], "value": [v for _, v in rows]}, agent)


def people(budget: Any = 1, adjacency: Adjacency = ADD_REMOVE) -> PrivateTable:
    return table_of(ROWS, Agent(budget, adjacency=adjacency))


def largest_loss(p: Law, q: Law) -> float:
    """sup ln p/q from the formulas of the laws: an oracle that knows nothing of privacy losses."""
    if isinstance(p, Image) and isinstance(q, Image):
        return largest_loss(p.law, q.law)
    if isinstance(p, Product) and isinstance(q, Product):
        pairs = zip(p.coordinates(), q.coordinates(), strict=True)
        return sum(largest_loss(a, b) for a, b in pairs)
    if isinstance(p, Finite) and isinstance(q, Finite):
        return float(np.max(np.log(p.weights) - np.log(q.weights)))
    assert isinstance(p, Laplace | DiscreteLaplace)
    assert isinstance(q, Laplace | DiscreteLaplace)
    assert p.scale == q.scale
    return float(abs(p.loc - q.loc) / p.scale)


def worst_loss(answers: list[Answer], adjacency: Adjacency, size: int = 2) -> float:
    """The largest loss of all answers together, over all neighbouring pairs of up to `size` rows."""
    laws = {x: [a.mechanism.law(x) for a in answers] for x in ADD_REMOVE.datasets(DOMAIN, size, 0)}
    worst = 0.0
    for n in range(1, size + 1):
        for x, y in adjacency.pairs(DOMAIN, n):
            worst = max(worst, sum(map(largest_loss, laws[x], laws[y])))
    return worst


# Random plans: a list of small decisions is read as transformations and queries.

STEPS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99)), min_size=1, max_size=7)


def run(plan: list[tuple[int, int]], table: PrivateTable, rng: np.random.Generator) -> list[Answer]:
    """Ask what the decisions say, of tables made as they say."""
    tables, answers = [table], []
    for kind, seed in plan:
        chosen = tables[seed % len(tables)]
        epsilon = Fraction(1 + seed % 4, 10)
        names = list(chosen.columns)
        value = next(n for n in names if n.startswith("value"))
        group = next(n for n in names if n.startswith("group"))
        if kind == 0:
            tables.append(chosen.where(col(value) > VALUES[seed % 3] - 1))
        elif kind == 1:
            tables.append(chosen.select(group=col(group), value=-2 * col(value)))
        elif kind == 2:
            tables += chosen.partition(group, GROUPS[: 1 + seed % 3]).values()
        elif kind == 3 and len(tables) < 6:
            other = tables[(seed // 7) % len(tables)]
            if group in other.columns:
                tables.append(chosen.join(other, group, k=1 + seed % 2))
        elif kind == 4:
            answers += chosen.partition(group, GROUPS).noisy_count(epsilon, rng).values()
        elif kind == 5:
            answers.append(chosen.noisy_sum(value, epsilon, rng, bounds=((-2, 3), (1, 3), (0, 1))[seed % 3]))
        elif kind == 6:
            answers.append(chosen.noisy_mean(value, epsilon, rng, bounds=(-2, 3)))
        elif kind == 7:
            candidates = (-4, 0, 2, 5)
            rank = Fraction(1 + seed % 3, 4)
            answers.append(chosen.noisy_quantile(value, rank, epsilon, rng, candidates=candidates))
        else:
            answers.append(chosen.noisy_count(epsilon, rng))
    return answers


def test_the_plans_of_the_property_use_every_transformation(rng: np.random.Generator) -> None:
    plan = [(kind, 11 * kind) for kind in range(9)]
    table = people(1000)
    answers = run(plan, table, rng)
    assert len(answers) == 7
    text = repr(table.plan())
    assert all(word in text for word in ("partition", "noisy_sum", "noisy_mean", "noisy_quantile"))


@BOTH
@given(plan=STEPS)
def test_no_neighbours_are_told_apart_by_more_than_was_charged(
    adjacency: Adjacency, plan: list[tuple[int, int]]
) -> None:
    table = people(10**6, adjacency)
    answers = run(plan, table, np.random.default_rng(0))
    if answers:
        assert worst_loss(answers, adjacency) <= float(table.agent.spent) * (1 + 1e-9)


@BOTH
@given(plan=STEPS)
def test_each_query_keeps_its_own_promise(adjacency: Adjacency, plan: list[tuple[int, int]]) -> None:
    table = people(10**6, adjacency)
    for answer in run(plan, table, np.random.default_rng(0)):
        promise = answer.mechanism.guarantee.epsilon(0)
        assert worst_loss([answer], adjacency) <= promise * (1 + 1e-9)
        assert promise <= float(table.agent.spent) * (1 + 1e-12)


def cases(adjacency: Adjacency) -> Iterator[tuple[str, list[Answer], PrivateTable]]:
    """Plans whose price is reached by some pair of neighbours."""
    rng = np.random.default_rng(0)
    for name in ("sum", "where", "partition", "two parts", "nested", "mean", "join"):
        table = people(100, adjacency)
        parts = table.partition("group", GROUPS)
        if name == "sum":
            answers = [table.noisy_sum("value", 0.5, rng, bounds=(-2, 3))]
        elif name == "where":
            answers = [table.where(col("value") > 0).noisy_count(0.5, rng)]
        elif name == "partition":
            answers = list(parts.noisy_count(0.5, rng).values())
        elif name == "two parts":
            answers = [parts["x"].noisy_count(0.7, rng), parts["y"].noisy_count(0.2, rng)]
        elif name == "nested":
            inner = [part.partition("value", VALUES) for part in parts.values()]
            answers = [a for parts in inner for a in parts.noisy_count(0.25, rng).values()]
        elif name == "mean":
            answers = [table.where(col("value") > -5).noisy_mean("value", 0.5, rng, bounds=(-2, 3))]
        else:
            right = table.select("group")
            answers = [table.join(right, "group", k=1).noisy_count(0.5, rng)]
        yield name, answers, table


@BOTH
def test_the_charges_are_tight(adjacency: Adjacency) -> None:
    for name, answers, table in cases(adjacency):
        spent = float(table.agent.spent)
        if name == "join":  # a self-join of distinct keys: one row reaches one pair, paid from both sides
            assert worst_loss(answers, adjacency) == pytest.approx(spent / 2)
        else:
            assert worst_loss(answers, adjacency) == pytest.approx(spent, rel=1e-9), name


def test_two_parts_cost_the_larger_or_their_sum() -> None:
    assert [t.agent.spent for n, _, t in cases(ADD_REMOVE) if n == "two parts"] == [Fraction(7, 10)]
    assert [t.agent.spent for n, _, t in cases(REPLACE_ONE) if n == "two parts"] == [Fraction(9, 10)]


def test_parts_are_charged_the_maximum_as_they_spend(rng: np.random.Generator) -> None:
    table = people(1)
    parts = table.partition("group", GROUPS)
    spent = []
    for key, epsilon in (("x", 0.1), ("y", 0.3), ("x", 0.1), ("x", 0.2), ("z", 0.4)):
        parts[key].noisy_count(epsilon, rng)
        spent.append(table.agent.spent)
    assert spent == [Fraction(n, 10) for n in (1, 3, 3, 4, 4)]


@given(st.lists(st.tuples(st.sampled_from(GROUPS), st.integers(1, 9)), max_size=12))
def test_partition_charges_max_and_top_two(spends: list[tuple[str, int]]) -> None:
    for adjacency, top in ((ADD_REMOVE, 1), (REPLACE_ONE, 2)):
        table = people(1000, adjacency)
        parts = table.partition("group", GROUPS)
        totals = dict.fromkeys(GROUPS, Fraction(0))
        for key, tenths in spends:
            parts[key].noisy_count(Fraction(tenths, 10), np.random.default_rng(0))
            totals[key] += Fraction(tenths, 10)
        assert table.agent.spent == sum(sorted(totals.values())[-top:])


def test_a_refused_call_costs_nothing_and_draws_nothing(rng: np.random.Generator) -> None:
    table = people(1.0)
    table.noisy_count(0.01, rng)
    table.noisy_count(0.10, rng)
    state = rng.bit_generator.state
    with pytest.raises(BudgetExceeded, match=r"fit into the budget 1.*total to 1\.11.*0\.89 is left"):
        table.noisy_count(1.00, rng)
    assert table.agent.remaining == Fraction(89, 100)
    assert rng.bit_generator.state == state
    table.noisy_count(0.89, rng)
    with pytest.raises(BudgetExceeded, match="nothing is left"):
        table.noisy_count(1e-9, rng)
    assert [r.label for r in table.agent.refused] == ["noisy_count at 1", "noisy_count at 1e-09"]


def test_parts_are_granted_together_or_not_at_all(rng: np.random.Generator) -> None:
    table = people(0.5, REPLACE_ONE)
    with pytest.raises(BudgetExceeded):
        table.partition("group", GROUPS).noisy_count(0.3, rng)
    assert table.agent.spent == 0


@given(st.lists(st.integers(1, 999), min_size=1, max_size=30))
def test_decimals_add_up_exactly(thousandths: list[int]) -> None:
    table = people(sum(thousandths) / 1000)
    for t in thousandths:
        table.noisy_count(t / 1000, np.random.default_rng(0))
    assert table.agent.remaining == 0


@pytest.mark.parametrize("tenth", [0.1, Fraction(1, 10), Decimal("0.1"), np.float64(0.1)])
def test_three_tenths_fit_into_point_three(tenth: Any, rng: np.random.Generator) -> None:
    table = people(0.3)
    for _ in range(3):
        table.noisy_count(tenth, rng)
    assert table.agent.remaining == 0
    assert exact("x", tenth) == Fraction(1, 10)


def test_laws_are_those_of_the_textbook(rng: np.random.Generator) -> None:
    table = people()
    rows = (("x", 3), ("x", 1), ("y", -2))
    count = table.where(col("value") > 0).noisy_count(0.1, rng).mechanism
    assert count.law(rows) == DiscreteLaplace(2, 10.0)
    total = table.noisy_sum("value", 0.1, rng, bounds=(0, 2)).mechanism
    assert total.law(rows) == Laplace(3.0, 20.0)
    median = table.noisy_median("value", 0.2, rng, candidates=(0, 1, 2)).mechanism.law(rows)
    weights = np.exp(-0.1 * np.array([1, 0, 1]))
    assert np.allclose(median.weights, weights / weights.sum())
    assert table.noisy_count(0.1, rng).mechanism.law(()).loc == 0


def test_mean_of_a_public_size_moves_by_one_nth(rng: np.random.Generator) -> None:
    mean = people(1, REPLACE_ONE).noisy_mean("value", 0.5, rng, bounds=(-2, 3)).mechanism
    rows = tuple(("x", v) for v in (3, 1, -2, 3, 9))
    assert mean.law(rows) == Laplace(8 / 5, 5 / (5 * 0.5))


@BOTH
def test_noisy_mean_is_near_the_mean(adjacency: Adjacency, rng: np.random.Generator) -> None:
    values = rng.uniform(0, 10, 20_000)
    table = PrivateTable({"v": values}, Agent(1, adjacency=adjacency)).where(col("v") < 5)
    answer = table.noisy_mean("v", 1, rng, bounds=(0, 5))
    assert abs(float(answer) - values[values < 5].mean()) < 0.02
    assert "values outside [0, 5] count as its nearer end" in answer.note
    assert "so does the answer, and a noisy size below 1 counts as 1" in answer.note
    assert answer.note in repr(answer)


def test_the_mean_beats_a_split_budget(rng: np.random.Generator) -> None:
    rows = tuple(range(1000))
    table = PrivateTable({"v": np.array(rows)}, Agent(1))
    law = table.noisy_mean("v", 1, rng, bounds=(0, 999)).mechanism.law(rows)
    split = (rng.laplace(0, 999, 40_000) + sum(v - 499.5 for v in rows)) / (1000 + rng.laplace(0, 2, 40_000))
    assert law.sample(rng, 40_000).var() / split.var() == pytest.approx(0.5, rel=0.1)


def test_clipping_and_missing_values(rng: np.random.Generator) -> None:
    table = PrivateTable({"v": [np.nan, 7.0, -7.0, np.inf, 1.0]}, Agent(10))
    total = table.noisy_sum("v", 1, rng, bounds=(-1, 2))
    assert total.mechanism.noisy.law(table._columns).loc == -1 + 2 - 1 + 2 + 1
    assert table.where(col("v") > 0).noisy_count(10**-3, rng).charged == Fraction(1, 1000)


def test_expressions_see_one_row_at_a_time(rng: np.random.Generator) -> None:
    table = PrivateTable({"a": [1, 2, 3, 4], "s": ["p", "q", "p", "long"]}, Agent(100))
    tests = {
        (col("a") > 1) & (col("s") == "p"): [3],
        ~(col("a") >= 3) | (col("s") == "long"): [1, 2, 4],
        col("a").isin([2, 9]): [2],
        (10 - 2 * col("a")) // 3 == 2: [1, 2],
        (col("a") % 2 == 0) & (-col("a") + 1 < 0): [2, 4],
        col("s").apply(len, 0) == 4: [4],
        col("a").apply(lambda v: 1 / (v - 2), 0.0) == 0: [2],
        col("a").clip(2, 3) == col("a"): [2, 3],
        col("a") / 0 > 1: [1, 2, 3, 4],
    }
    for condition, kept in tests.items():
        assert table.where(condition)._columns["a"].tolist() == kept, condition
    assert list(table.select("s", twice=2 * col("a"), one=col("a") * 0 + 1).columns) == ["s", "twice", "one"]
    assert repr(~(col("a") >= 3) | (col("s") == "b c")) == "(~(a >= 3)) | (s == 'b c')"


def test_join_pairs_the_first_k_of_each_key(rng: np.random.Generator) -> None:
    agent = Agent(10)
    left = PrivateTable({"id": [2, 1, 1, 1, 3], "v": [5, 9, 7, 8, 1]}, agent)
    right = PrivateTable({"id": [1, 4, 2, 1], "v": [10, 11, 12, 10], "w": list("abcd")}, agent)
    joined = left.join(right, "id", k=2)
    found = sorted(zip(*(joined._columns[n].tolist() for n in ("id", "v_left", "v_right", "w")), strict=True))
    assert found == [(1, 7, 10, "a"), (1, 7, 10, "d"), (1, 8, 10, "a"), (1, 8, 10, "d"), (2, 5, 12, "c")]
    joined.noisy_count(0.1, rng)
    assert agent.spent == Fraction(4, 10)  # k for each side


@given(st.permutations(range(6)))
def test_join_does_not_depend_on_the_order_of_the_rows(order: list[int]) -> None:
    ids, values = np.array([1, 1, 1, 2, 2, 2]), np.array([3, 1, 2, 5, 5, 4])
    agent = Agent(10)
    plain, mixed = (PrivateTable({"id": ids[o], "v": values[o]}, agent) for o in (np.arange(6), order))
    once, again = (t.join(t, "id", k=2)._columns for t in (plain, mixed))
    assert {n: sorted(c.tolist()) for n, c in once.items()} == {
        n: sorted(c.tolist()) for n, c in again.items()
    }


@BOTH
@pytest.mark.parametrize("query", ["count", "sum", "mean", "median"])
@pytest.mark.parametrize("k", [1, 2])
def test_join_is_charged_for_rows_that_push_others_out(k: int, query: str, adjacency: Adjacency) -> None:
    """All edits of the left side of a join, whose first k rows of each key are chosen by `order`."""
    domain = [(key, order, value) for key in (0, 1) for order, value in ((0, -2), (0, 2), (1, -2), (1, 2))]
    agent = Agent(100, adjacency=adjacency)
    left = PrivateTable({"id": [0], "order": [0], "value": [0]}, agent)
    joined = left.join(PrivateTable({"id": [0], "other": [0]}, agent), "id", k=k)
    rng = np.random.default_rng(0)
    answer = {
        "count": lambda: joined.noisy_count(1, rng),
        "sum": lambda: joined.noisy_sum("value", 1, rng, bounds=(-2, 2)),
        "mean": lambda: joined.noisy_mean("value", 1, rng, bounds=(-2, 2)),
        "median": lambda: joined.noisy_median("value", 1, rng, candidates=(-1, 1)),
    }[query]()
    right = tuple((key, i) for key in (0, 1) for i in range(k))
    laws: dict[Any, Law] = {}
    worst = 0.0
    for n in (1, 2, 3) if query == "sum" else (1, 2):
        for pair in adjacency.pairs(domain, n):
            for x in pair:
                laws.setdefault(x, answer.mechanism.law((x, right)))
            worst = max(worst, largest_loss(*(laws[x] for x in pair)))
    share = float(answer.charged) / 2  # the other half is for the right side
    assert worst <= share * (1 + 1e-9)
    if query in {"count", "sum"} and (k, adjacency) != (2, REPLACE_ONE):
        assert worst == pytest.approx(share)  # two rows of each of two keys need more than three rows


@BOTH
def test_the_median_pays_for_scores_that_move_apart(adjacency: Adjacency) -> None:
    """20 rows below both candidates, 30 between them: the scores -11/2 and -49/2 move in opposite ways."""
    answer = people(1, adjacency).noisy_median("value", 1, np.random.default_rng(0), candidates=(0, 2))
    rows = tuple(("x", v) for v in [-2] * 20 + [1] * 30 + [3])
    other = (*rows[1:], ("x", 3)) if adjacency is REPLACE_ONE else rows[1:]
    law, moved = answer.mechanism.law(rows), answer.mechanism.law(other)
    assert 0.98 < max(largest_loss(law, moved), largest_loss(moved, law)) <= 1


def test_the_plan_shows_where_the_budget_went(rng: np.random.Generator) -> None:
    table = people(1)
    table.noisy_count(0.01, rng)
    parts = table.partition("group", ("x", "y"))
    parts["x"].noisy_sum("value", 0.2, rng, bounds=(-2, 3))
    parts["y"].noisy_count(0.1, rng)
    table.where(col("value") > 0)  # nothing asked, nothing shown
    with pytest.raises(BudgetExceeded):
        table.noisy_count(2, rng)
    plan = table.plan()
    assert repr(plan) == "\n".join(
        [
            "budget 1, spent 0.21, left 0.79 (add/remove)",
            "├─ table: 0.21",
            "│  ├─ noisy_count at 0.01: 0.01",
            "│  └─ partition by group: 0.2",
            "│     ├─ part 'x': 0.2",
            "│     │  └─ noisy_sum of value in [-2, 3] at 0.2: 0.2",
            "│     └─ part 'y': 0.1",
            "│        └─ noisy_count at 0.1: 0.1",
            "└─ refused: noisy_count at 2: 2",
        ]
    )
    page = plan._repr_html_()
    assert page.count("<li>") == page.count("</li>") == 8
    assert "part &#x27;x&#x27;" in page
    assert [(d, n.kind) for d, n in plan.roots[0].walk()] == [
        (0, "table"), (1, "query"), (1, "table"), (2, "table"), (3, "query"), (2, "table"), (3, "query"),
    ]  # fmt: skip


def test_the_queries_pass_the_contract(rng: np.random.Generator) -> None:
    for adjacency in (ADD_REMOVE, REPLACE_ONE):
        pairs = adjacency.pairs((("x", 1), ("y", -2), ("y", 3)), 2)
        for name, answers, _ in cases(adjacency):
            for answer in answers[:1]:
                assert contract.faults(Case(name, answer.mechanism, pairs, draws=4000), rng) == []


def test_a_rule_for_add_remove_is_caught_under_replace_one(rng: np.random.Generator) -> None:
    """Charging only the dearest part, where a row may move from one part to another."""
    table = people(1, REPLACE_ONE)
    answers = list(table.partition("group", GROUPS).noisy_count(0.3, rng).values())
    assert worst_loss(answers, REPLACE_ONE) == pytest.approx(0.6) == float(table.agent.spent)


def test_nothing_about_the_rows_can_be_read(rng: np.random.Generator) -> None:
    secret = "Rumpelstiltskin"
    table = PrivateTable({"name": [secret], "age": [31]}, Agent(1))
    for read in (len, list, np.asarray, lambda t: t[0], lambda t: t["age"], lambda t: 31 in t, bool):
        with pytest.raises(BadInput, match=r"asked, not read: its rows are private.*noisy_count"):
            read(table)
    assert repr(table) == "PrivateTable(name: text, age: number; 1 of 1 left)"
    with pytest.raises(BadInput) as error:
        table.where(col("name") > 3)
    shown_to_the_user = repr(table) + repr(table.plan()) + table.plan()._repr_html_() + str(error.value)
    assert secret not in shown_to_the_user
    assert str(len(secret)) not in shown_to_the_user  # numpy's name of the type would tell it


def outcome(call: Any, rows: int) -> str:
    """What a user sees: how a call ends on a table with so many rows."""
    table = PrivateTable({"n": np.arange(rows), "x": np.linspace(0, 1, rows)}, Agent(100))
    try:
        return type(call(table, np.random.default_rng(0))).__name__
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize(
    "call",
    [
        lambda t, rng: t.select(y=col("n").apply(lambda v: 10**30, 0)),
        lambda t, rng: t.select(y=col("n").apply(lambda v: exit(), 0)),  # noqa: PLR1722
        lambda t, rng: t.select(y=col("n") * 10**30 / (col("n") * 10**30)),
        lambda t, rng: t.where(10**30 % col("n") > 0),
        lambda t, rng: t.where(col("n").clip(np.zeros(0), np.zeros(0)) > 0),
        lambda t, rng: t.select(y=col("n") * 1e308).noisy_sum("y", 1, rng, bounds=(0, 1e308)),
        lambda t, rng: t.select(y=col("n") * 1e308).noisy_mean("y", 1, rng, bounds=(-1e308, 1e308)),
        lambda t, rng: t.noisy_mean("n", 1, rng, bounds=(1, 1 + Fraction(1, 10**20))),
        lambda t, rng: t.select(y=1 / col("n")).noisy_median("y", 1, rng, candidates=(0, 1)),
    ],
)
def test_no_error_depends_on_the_rows(call: Any) -> None:
    assert len({outcome(call, rows) for rows in (0, 1, 4)}) == 1


def test_a_failed_query_is_not_charged(rng: np.random.Generator) -> None:
    table = people()
    for call in (
        lambda: table.noisy_count(1e-20, rng),
        lambda: table.noisy_sum("value", Fraction(1, 10**310), rng, bounds=(0, 1)),
        lambda: table.noisy_sum("value", 1, rng, bounds=(0, 10**400)),
    ):
        with pytest.raises(BadInput):
            call()
    assert table.agent.spent == 0


def test_whole_numbers_and_decimals_are_not_joined(rng: np.random.Generator) -> None:
    agent = Agent(10)
    whole = PrivateTable({"k": [2**60 + i for i in range(100)]}, agent)
    decimal = PrivateTable({"k": [2.0**60]}, agent)
    with pytest.raises(BadInput, match=r"same type in both tables.*k=col\('k'\) \* 1.0"):
        whole.join(decimal, "k", k=1)
    answer = whole.select(k=col("k") * 1.0).join(decimal, "k", k=1).noisy_count(1, rng)
    many = tuple(2**60 + i for i in range(100))
    laws = [answer.mechanism.law((many, right)) for right in ((), (2.0**60,))]
    assert largest_loss(*laws) == pytest.approx(1)


def test_answers_say_which_rows_were_left_out(rng: np.random.Generator) -> None:
    part = people().partition("group", ("x",)).noisy_sum("value", 0.1, rng, bounds=(0, 1))["x"]
    assert part.note.startswith("rows with a key that was not listed are in no part; values outside [0, 1]")
    table = people()
    joined = table.join(table, "group", k=2).noisy_count(0.1, rng)
    assert joined.note == "of each group, rows beyond the first 2 on a side are left out"
    assert table.noisy_count(0.1, rng).note == ""


def test_bad_input_is_refused_before_anything_is_charged(rng: np.random.Generator) -> None:
    table = people()
    calls: dict[str, Any] = {
        r"column = 'wage' .* one of 'group', 'value'": lambda: table.noisy_sum("wage", 1, rng, bounds=(0, 1)),
        r"column = 'wages' .* one of": lambda: table.where(col("wages") > 1),
        r"bounds = None .* public pair": lambda: table.noisy_sum("value", 1, rng),
        r"bounds = \(3, 3\) .* lower < upper": lambda: table.noisy_mean("value", 1, rng, bounds=(3, 3)),
        r"column of numbers, not of text": lambda: table.noisy_sum("group", 1, rng, bounds=(0, 1)),
        r"candidates = None .* public list": lambda: table.noisy_median("value", 1, rng),
        r"candidates .* distinct": lambda: table.noisy_median("value", 1, rng, candidates=(1, 1)),
        r"rank = 1 .* between 0 and 1": lambda: table.noisy_quantile("value", 1, 1, rng, candidates=(1, 2)),
        r"epsilon = 0 .* above 0": lambda: table.noisy_count(0, rng),
        r"epsilon = nan .* finite": lambda: table.noisy_count(float("nan"), rng),
        r"epsilon = 'a' .* real number": lambda: table.noisy_count("a", rng),
        r"rng = 3 .* numpy.random.Generator": lambda: table.noisy_count(1, 3),  # type: ignore[arg-type]
        r"condition = .* made of col.*free function": lambda: table.where(lambda t: t),  # type: ignore[arg-type]
        r"true or false for each row, not a number": lambda: table.where(col("value")),
        r"exists for number and text": lambda: table.where(col("value") == "x"),
        r"combined row by row": lambda: table.where(0 < col("value") < 3),  # type: ignore[operator]
        r"operand .* one public number": lambda: col("value") * [1, 2],
        r"default = None .* bool, int, float or str": lambda: col("value").apply(abs, None),
        r"operand = 1000.* 64 bits": lambda: col("value") + 10**30,
        r"operand = 2020-01-01": lambda: col("value") > np.datetime64("2020-01-01"),
        r"value in \['x'\].* exists for number": lambda: table.where(col("value").isin(["x"])),
        r"'-group' .* exists for text": lambda: table.select(y=-col("group")),
        r"'~group' .* exists for text": lambda: table.select(y=~col("group")),
        r"'group.clip\(0, 1\)' .* exists for text": lambda: table.select(y=col("group").clip(0, 1)),
        r"column = \['value'\] .* one of": lambda: table.noisy_sum(["value"], 1, rng, bounds=(0, 1)),  # type: ignore[arg-type]
        r"candidates = 3 .* public list": lambda: table.noisy_median("value", 1, rng, candidates=3),
        r"candidates = \[1000.* real number": lambda: table.noisy_median(
            "value", 1, rng, candidates=[10**400]
        ),
        r"bounds = \(0, 1e\+201\) .* no sum overflows": lambda: table.noisy_sum(
            "value", 1, rng, bounds=(0, 1e201)
        ),
        r"epsilon = 1e-20 .* between 1/1e\+12": lambda: table.noisy_count(1e-20, rng),
        r"keys = None .* list of public keys": lambda: table.partition("group", None),  # type: ignore[arg-type]
        r"keys = 'xy' .* list of public keys": lambda: table.partition("group", "xy"),
        r"key = 1000.* that the column can hold": lambda: table.partition("value", (10**30,)),
        r"budget = 1000.* and 1e\+12": lambda: Agent(10**400),
        r"keys .* distinct public keys": lambda: table.partition("group", ("x", "x")),
        r"key = 2.5 .* number that the column can hold": lambda: table.partition("value", (2.5,)),
        r"key = 1 .* a text": lambda: table.partition("group", (1,)),
        r"key = 'q' .* one of the public keys": lambda: table.partition("group", ("x",))["q"],
        r"at least one column": table.select,
        r"a table of the same agent.*same Agent": lambda: table.join(people(), "group"),
        r"columns .* distinct once _left": lambda: table.select(
            "group", "value", value_left=col("value")
        ).join(table, "group"),
        r"k = 0 .* at least 1": lambda: table.join(table, "group", k=0),
        r"a PrivateTable": lambda: table.join({"group": [1]}, "group"),  # type: ignore[arg-type]
        r"agent = 1.0 .* keeper of the budget": lambda: PrivateTable({"a": [1]}, 1.0),  # type: ignore[arg-type]
        r"data = .list. .* dict of columns": lambda: PrivateTable([1, 2], Agent(1)),
        r"columns of one length": lambda: PrivateTable({"a": [1], "b": [1, 2]}, Agent(1)),
        r"column = .a .* one-dimensional": lambda: PrivateTable({"a": [[1, 2]]}, Agent(1)),
        r"budget = -1 .* above 0": lambda: Agent(-1),
        r"rows of 2 values \(group, value\)": lambda: table.noisy_count(0.001, rng).mechanism.law((1, 2)),
    }
    for message, call in calls.items():
        with pytest.raises(BadInput, match=message):
            call()
    assert table.agent.spent == Fraction(1, 1000)


def test_structured_arrays_and_shared_agents(rng: np.random.Generator) -> None:
    array = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "u1"), ("b", "f4")])
    agent = Agent(1)
    first, second = PrivateTable(array, agent), PrivateTable({"c": np.array(["u"], dtype=object)}, agent)
    first.noisy_sum("b", 0.25, rng, bounds=(0, 5))
    second.noisy_count(0.5, rng)
    assert agent.spent == Fraction(3, 4)  # one person may have a row in each
    assert first.columns == {"a": "number", "b": "number"}
    assert shown(Fraction(1, 3)) == "1/3"
