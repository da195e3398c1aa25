"""What an exercise asks of an answer, in a form that the check in the notebook and the grader share.

An expectation is a domain of inputs, drawn afresh each time; the question to ask on each, which is all
that reaches the student's process; and `judge`, which reads the evidence and says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np

from dpcourse.errors import BadInput
from dpcourse.guarantees import Guarantee
from dpcourse.laws import Law
from dpcourse.loss import PrivacyLoss
from dpcourse.proofs.domain import Domain, Point
from dpcourse.workbook.evidence import Strange, has_nan, same, shown
from dpcourse.workbook.inputs import Data, Laws, Many, Parameter, Rational, Real, Whole
from dpcourse.workbook.questions import Question

__all__ = [
    "Data",
    "Expectation",
    "Laws",
    "Many",
    "Rational",
    "Real",
    "Whole",
    "private",
    "sampler",
    "that",
    "values",
]

INPUTS: Final = 100
"""How many inputs an answer is tried on: corners of the domain first, then fresh ones."""


@dataclass(frozen=True)
class Expectation:
    """Inputs to try, how to ask about one of them, and what must be true of the outcome.

    `judge(point, found)` is empty if all is well; otherwise it says what was asked.
    """

    domain: Domain
    judge: Callable[[Point, Any], str]
    kind: str = "value"
    about: Callable[[Point], Sequence[Any]] = lambda point: ()

    def question(self, point: Point) -> Question:
        """What to ask at a point."""
        return Question(self.kind, tuple(point.values()), tuple(self.about(point)))

    def asked(self, point: Point, found: Any) -> str:
        """What was asked, if this is not it; nan never is, and a rule that only compares would not see it."""
        return "numbers, and nan is none" if has_nan(found) else self.judge(point, found)

    def points(self, rng: np.random.Generator) -> list[Point]:
        """The inputs: one empty one if the answer is a value."""
        if not self.domain.parameters:
            return [{}]
        return list(islice(self._points(rng), INPUTS))

    def _points(self, rng: np.random.Generator) -> Iterator[Point]:
        for batch in self.domain.search(INPUTS, rng):
            legal = self.domain.legal(batch)
            rows = len(next(iter(legal.values())))
            yield from (self.domain.row(legal, i) for i in range(rows))


def values(reference: Callable[..., Any], digits: int = 9, **inputs: Parameter) -> Expectation:
    """The answer is a function that equals `reference`; floats to `digits` digits, all else exactly."""

    def judge(point: Point, found: Any) -> str:
        asked = reference(*point.values())
        return "" if same(found, asked, digits) else shown(asked)

    return Expectation(Domain(inputs), judge)


def sampler(reference: Callable[..., Law], **inputs: Parameter) -> Expectation:
    """The answer is a program `answer(coins, ...)`: over all its coins, it must have the law asked for."""

    def judge(point: Point, found: Any) -> str:
        asked = reference(*point.values())
        return "" if same(found, asked) else f"the law {asked!r}"

    return Expectation(Domain(inputs), judge, "sampler")


def private(
    promise: Callable[..., Guarantee],
    pairs: Callable[..., Sequence[tuple[Any, Any]]],
    tight: bool = True,
    centre: Callable[..., Any] | None = None,
    **inputs: Parameter,
) -> Expectation:
    """The answer makes a mechanism; its laws on these pairs must keep `promise`, by exact divergence.

    If `tight`, some pair must use the whole promise: more noise than needed is not what was asked. And the
    noise must be about the data: the mean on a data set is `centre(data, ...)`, a number or a list.
    """

    def sides(point: Point) -> list[Any]:
        return [side for pair in pairs(*point.values()) for side in pair]

    def judge(point: Point, found: Any) -> str:
        if not all(isinstance(law, Law) for law in found):
            return f"a law for each data set, such as dp.laws.Laplace(0, 1), and not {shown(found[0])}"
        try:
            return judged(point, found)
        except BadInput as error:  # laws that cannot be compared, such as an array of them
            return str(error)

    def judged(point: Point, found: Sequence[Law]) -> str:
        guarantee, data = promise(*point.values()), sides(point)
        if centre is not None:
            for side, law in zip(data, found, strict=True):
                means, wanted = np.ravel(law.mean()), np.ravel(centre(side, *point.values()))
                if means.shape != wanted.shape or not np.allclose(means, wanted, rtol=1e-9, atol=1e-9):
                    return f"noise around {shown(wanted.tolist())}, for the data {shown(side)}"
        most = 0.0
        for i in range(0, len(data), 2):
            for a, b in ((i, i + 1), (i + 1, i)):
                share = guarantee.share(PrivacyLoss.between(found[a], found[b]))
                if not share <= 1 + 1e-9:
                    return f"{guarantee!r}, but {data[a]} against {data[b]} takes {share:.4g} times that"
                most = max(most, share)
        return f"no more noise than {guarantee!r} needs: this uses {most:.4g} of it" * (
            tight and most < 1 - 1e-6
        )

    return Expectation(Domain(inputs), judge, "laws", sides)


def that(rule: Callable[..., str | bool], asked: str, **inputs: Parameter) -> Expectation:
    """`rule(found, ...)` must be true; a text that it returns says what is wrong, False means `asked`."""

    def judge(point: Point, found: Any) -> str:
        if isinstance(found, Strange):
            return asked
        try:
            verdict = rule(found, *point.values())
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):  # of no form to read
            return asked
        return verdict if isinstance(verdict, str) else "" if verdict else asked

    return Expectation(Domain(inputs), judge)
