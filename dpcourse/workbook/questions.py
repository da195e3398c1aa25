"""Questions: what an answer is asked, as plain data; and `observe`, all that happens in a student's process.

A question goes in as JSON, its evidence comes out as JSON. Who judges need not trust who answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcourse import coins
from dpcourse.workbook.evidence import decode, encode


@dataclass(frozen=True)
class Question:
    """How to ask (`kind`), the arguments, and for `laws` the data sets to ask about.

    value     answer(*arguments), or the answer itself if it is no function
    sampler   the exact law of answer(coins, *arguments), over all coin flips
    laws      the law of the mechanism answer(*arguments) on each data set
    """

    kind: str
    arguments: tuple[Any, ...] = ()
    about: tuple[Any, ...] = ()

    def data(self) -> list[Any]:
        """As JSON."""
        return [self.kind, encode(self.arguments), encode(self.about)]

    @staticmethod
    def of(data: list[Any]) -> Question:
        """From JSON.

        >>> Question.of(Question("value", (0.5, 3)).data())
        Question(kind='value', arguments=(0.5, 3), about=())
        """
        kind, arguments, about = data
        return Question(kind, decode(arguments), decode(about))


def observe(answer: Any, question: Question) -> Any:
    """The evidence, as JSON; an error of the answer is the caller's to catch."""
    arguments = question.arguments
    if question.kind == "sampler":
        return encode(coins.law(answer, *arguments))
    if question.kind == "laws":
        mechanism = answer(*arguments)
        law = getattr(mechanism, "law", mechanism)
        return encode([law(data) for data in question.about])
    return encode(answer(*arguments) if arguments or callable(answer) else answer)
