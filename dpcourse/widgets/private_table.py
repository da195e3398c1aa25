"""The budget explorer: questions about a private table, what each costs, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dpcourse.interactive.table import Agent, BudgetExceeded, Plan, PrivateTable, col, exact
from dpcourse.interactive.table.costs import shown
from dpcourse.neighbours import ADD_REMOVE, REPLACE_ONE
from dpcourse.widgets.controls import Control
from dpcourse.widgets.explorer import Choice, Explorer, Moves, Slider, View

WARDS: Final = ("north", "south", "west")
ADJACENCIES: Final = {"one row more or less": ADD_REMOVE, "one row changed": REPLACE_ONE}


@lru_cache(maxsize=1)
def patients() -> dict[str, Any]:
    """600 patients of a hospital that does not exist."""
    rng = np.random.default_rng(1854)
    return {
        "ward": np.array(WARDS)[rng.choice(3, 600, p=(0.5, 0.3, 0.2))],
        "age": rng.integers(18, 96, 600),
        "days": rng.geometric(0.2, 600).clip(max=30),
    }


class Hospital:
    """The private table and the tables made from it, each made once, so that all share one plan."""

    def __init__(self, budget: Any, adjacency: str, seed: int) -> None:
        self.agent = Agent(budget, adjacency=ADJACENCIES[adjacency])
        self.everybody = PrivateTable(patients(), self.agent, name="patients")
        self.wards = self.everybody.partition("ward", WARDS)
        self.over_60 = self.everybody.where(col("age") > 60)
        self.rng = np.random.default_rng([seed, 7])


Ask = Callable[[Hospital, Any], Any]
QUESTIONS: Final[dict[str, Ask]] = {
    "Count all": lambda h, e: h.everybody.noisy_count(e, h.rng),
    "Count each ward": lambda h, e: h.wards.noisy_count(e, h.rng),
    "Count over 60": lambda h, e: h.over_60.noisy_count(e, h.rng),
    "Mean age": lambda h, e: h.everybody.noisy_mean("age", e, h.rng, bounds=(18, 95)),
    "Days in the north": lambda h, e: h.wards["north"].noisy_sum("days", e, h.rng, bounds=(0, 30)),
    "Days in the south": lambda h, e: h.wards["south"].noisy_sum("days", e, h.rng, bounds=(0, 30)),
}


def truth(question: str) -> tuple[float, ...]:
    """What the noise hides: a lesson may show it, a hospital may not."""
    table = patients()
    ward, age, days = table["ward"], table["age"], table["days"]
    true: dict[str, tuple[Any, ...]] = {
        "Count all": (len(age),),
        "Count each ward": tuple(np.sum(ward == w) for w in WARDS),
        "Count over 60": (np.sum(age > 60),),
        "Mean age": (np.mean(age),),
        "Days in the north": (np.sum(days[ward == "north"]),),
        "Days in the south": (np.sum(days[ward == "south"]),),
    }
    return tuple(float(value) for value in true[question])


@dataclass(frozen=True)
class Record:
    """What became of one question: the answers and the price, or the message of the refusal."""

    question: str
    answers: tuple[float, ...]
    charged: Fraction
    refusal: str = ""


def ask_all(
    asked: tuple[str, ...], epsilon: float, budget: float, adjacency: str, seed: int
) -> tuple[list[Record], Plan]:
    """All questions in order, and the plan after them.

    >>> asked = ("Days in the north", "Days in the south")
    >>> records, plan = ask_all(asked, 0.2, 1.0, "one row more or less", 0)
    >>> [str(r.charged) for r in records], str(plan.spent)  # in parallel: nobody is in two wards
    (['1/5', '0'], '1/5')
    """
    hospital, records = Hospital(budget, adjacency, seed), []
    for name in asked:
        try:
            given = QUESTIONS[name](hospital, epsilon)
            answers = list(given.values()) if isinstance(given, dict) else [given]
            records.append(Record(name, tuple(a.value for a in answers), answers[0].charged))
        except BudgetExceeded as refusal:
            records.append(Record(name, (), Fraction(0), str(refusal)))
    return records, hospital.everybody.plan()


def draw(asked: tuple[str, ...], epsilon: float, budget: float, adjacency: str, seed: int) -> View:
    """The gauge, the answers and the plan."""
    from dpcourse import plots

    records, plan = ask_all(tuple(asked), epsilon, budget, adjacency, seed)
    given = [r for r in records if not r.refusal]
    refused = bool(records) and bool(records[-1].refusal)
    fig, whole = plots.sheet(10, 4.3)
    said = f"budget {shown(plan.budget)}, spent {shown(plan.spent)}, left {shown(plan.remaining)}"
    over = float(exact("epsilon", epsilon)) if refused else None
    pieces = [float(r.charged) for r in given]
    plots.gauge(plots.Sheet(fig, 12, 238, whole.wide - 24, 34), float(plan.budget), pieces, over, said)
    lines = [(r.question, _values(r.answers), _values(truth(r.question))) for r in given]
    plots.answers_list(plots.Sheet(fig, 12, 12, 300, 180), lines, "noisy answers, and the truth (grey)")
    rows = [
        (depth, _plain(node.label), float(node.cost), shown(node.cost), node.kind)
        for root in plan.roots
        for depth, node in root.walk()
    ]
    tree = plots.Sheet(fig, 345, 12, whole.wide - 357, 180)
    plots.plan_tree(tree, rows, float(plan.budget), "what an edit of each table costs")
    return View(fig, _words(records, plan, adjacency))


def _words(records: list[Record], plan: Plan, adjacency: str) -> str:
    last = records[-1] if records else None
    turned_away = sum(bool(r.refusal) for r in records)
    if last is None:
        head = "Press a question. Each is answered with noise for the ε that you set."
    elif last.refusal:
        head = f"Refused: {last.question} does not fit into what is left, and costs nothing."
    elif not last.charged:
        head = f"{last.question}: free, because nobody is in two parts of a partition."
    else:
        head = f"{last.question}: charged {shown(last.charged)}."
    total = f"All answers together are {shown(plan.spent)}-DP for {adjacency}"
    return f"{head} {total}; {shown(plan.remaining)} is left of {shown(plan.budget)}, {turned_away} refused."


def _values(answers: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.4g}" for value in answers)


def _plain(label: str) -> str:
    return label.replace("noisy_", "").replace("table", "patients")


def private_table(**start: Any) -> Explorer:
    """Spend a budget on questions; parts of a partition are paid once, and what does not fit is refused.

    >>> private_table(epsilon=0.1).values["epsilon"]
    0.1
    """
    controls: dict[str, Control] = {
        "asked": Moves("ask", tuple(QUESTIONS), tuple(QUESTIONS)[:2], most=24),
        "epsilon": Slider("ε of each question", 0.05, 0.5, 0.05, 0.2),
        "budget": Slider("budget", 0.5, 2.0, 0.1, 1.0),
        "adjacency": Choice("neighbours", tuple(ADJACENCIES)),
        "seed": Slider("noise drawn", 0, 20, 1, 0),
    }
    return Explorer("private table", draw, controls, **start)
