"""A unit of five small exercises, for tests of grading: values, a hidden test, a sampler, a pair, a law."""

from __future__ import annotations

import json
from typing import Any

from dpcourse.grading.limits import Limits
from dpcourse.grading.one import Graded, Job, grade_one
from dpcourse.workbook.notebook import Notebook, text

GIVEN = """import math
from fractions import Fraction

import dpcourse as dp
from dpcourse import check, expect
"""
EXERCISES = {  # name: (solution, check)
    "double": (
        """def double(x):
    ### BEGIN SOLUTION: Twice.
    return 2 * x
    ### END SOLUTION
""",
        """LEAST = 3


def moved(x):
    return x + LEAST


check(
    "double",
    lambda x: double(moved(x)),  # what students see of a check may help to ask
    expect.values(lambda x: 2 * (x + 3), x=expect.Whole(0, 50)),
    hints=["Add it twice."],
)
""",
    ),
    "mix": (
        """def mix(a, b):
    ### BEGIN SOLUTION: A sum with a square in it.
    return 3 * a + b * b + sum([1])
    ### END SOLUTION
""",
        """def reference(a, b):
    return 3 * a + b**2 + 1


check(
    "mix",
    mix,
    expect.values(reference, a=expect.Whole(0, 1000), b=expect.Whole(0, 1000)),
    hints=["b squared."],
    without=["comb"],
)
### BEGIN HIDDEN TESTS
check("mix", lambda a: mix(-a, a), expect.values(lambda a: reference(-a, a), a=expect.Whole(5000, 6000)))
### END HIDDEN TESTS
""",
    ),
    "respond": (
        """def respond(coins, truth):
    ### BEGIN SOLUTION: Tell the truth with probability 3/4.
    return truth if coins.flip(Fraction(3, 4)) else not truth
    ### END SOLUTION
""",
        """def warner(truth):
    truth = bool(truth)
    return dp.laws.Finite((truth, not truth), (Fraction(3, 4), Fraction(1, 4)))


check(
    "respond",
    lambda coins, truth: respond(coins, bool(truth)),
    expect.sampler(warner, truth=expect.Whole(0, 1)),
)
""",
    ),
    "pair": (
        """def pair(coins, a, b):
    ### BEGIN SOLUTION: Two answers share a budget of ln 9: each may use half of it.
    keep = Fraction(3, 4)
    return (a if coins.flip(keep) else 1 - a, b if coins.flip(keep) else 1 - b)
    ### END SOLUTION
""",
        """def two(a, b):
    p, q = Fraction(3, 4), Fraction(1, 4)
    return dp.laws.Finite(((a, b), (a, 1 - b), (1 - a, b), (1 - a, 1 - b)), (p * p, p * q, q * p, q * q))


check("pair", pair, expect.sampler(two, a=expect.Whole(0, 1), b=expect.Whole(0, 1)))
""",
    ),
    "count": (
        """def count(epsilon):
    ### BEGIN SOLUTION: Noise to the scale of one person.
    return lambda data: dp.laws.Laplace(float(len(data)), 1 / epsilon)
    ### END SOLUTION
""",
        """check(
    "count",
    count,
    expect.private(
        lambda epsilon: dp.PureDP(epsilon),
        lambda epsilon: [((), ("Ada",)), (("Ada", "Bo"), ("Ada",))],
        epsilon=expect.Real(0.05, 3),
    ),
)
""",
    ),
}
POINTS = 2


def cell(name: str, kind: str, source: str, **metadata: Any) -> dict[str, Any]:
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"id": name, "cell_type": kind, "source": source, "metadata": metadata, **code}


def about(name: str, **rest: Any) -> dict[str, Any]:
    return {"grade_id": name, "schema_version": 3, "task": False, **rest}


def unit(exercises: dict[str, tuple[str, str]] | None = None, given: str = GIVEN) -> Notebook:
    """A master."""
    cells = [cell("imports", "code", given)]
    for name, (solution, check) in (exercises or EXERCISES).items():
        marks = about(f"check-{name}", grade=True, locked=True, points=POINTS, solution=False)
        cells += [
            cell(f"ex-{name}", "markdown", f"## {name} ({POINTS} points)"),
            cell(name, "code", solution, nbgrader=about(name, grade=False, locked=False, solution=True)),
            cell(f"check-{name}", "code", check, nbgrader=marks),
        ]
    return {"cells": cells, "metadata": {"dpcourse": {"unit": "99"}}, "nbformat": 4, "nbformat_minor": 5}


MASTER = unit()
LIMITS = Limits(cell_seconds=4, submission_seconds=60)


def submitted(**answers: str) -> Notebook:
    """The right answers, with some in their place."""
    changed: Notebook = json.loads(json.dumps(MASTER))
    for found in changed["cells"]:
        found["source"] = answers.get(found["id"], found["source"])
    return changed


def graded(
    notebook: Notebook | bytes, seed: str = "a seed", limits: Limits = LIMITS, **options: Any
) -> Graded:
    """The result of a submission, graded here and now."""
    data = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
    return grade_one(Job("ada", data, text(MASTER), seed, limits, **options))


def verdicts(found: Graded) -> dict[str, str]:
    return {mark.exercise: mark.verdict for mark in found.result.marks}
