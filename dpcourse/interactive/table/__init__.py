"""A private table: its rows are never shown, its noisy answers are paid from an exact budget.

After PINQ (McSherry, SIGMOD 2009): transformations know how far one person's row can reach, queries add
the noise, and an agent keeps the budget.

>>> import numpy as np
>>> people = PrivateTable({"age": [31, 64, 70], "income": [40.0, 55.0, 20.0]}, Agent(1))
>>> older = people.where(col("age") >= 60)
>>> answer = older.noisy_count(0.1, np.random.default_rng(0))
>>> answer.charged, people.agent.remaining
(Fraction(1, 10), Fraction(9, 10))
"""

from dpcourse.interactive.table.agents import Agent, BudgetExceeded
from dpcourse.interactive.table.answers import Answer
from dpcourse.interactive.table.costs import Cost, exact
from dpcourse.interactive.table.expressions import Expression, col
from dpcourse.interactive.table.plan import Plan
from dpcourse.interactive.table.private import Parts, PrivateTable

__all__ = [
    "Agent",
    "Answer",
    "BudgetExceeded",
    "Cost",
    "Expression",
    "Parts",
    "Plan",
    "PrivateTable",
    "col",
    "exact",
]
