"""Differencing: two questions about large sets, one answer about one person.

A rule that refuses small sets does not help: "everybody in S" and "everybody in S, and Elaine" are both
large. (Denning, Denning and Schwartz, "The tracker", ACM TODS 1979.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcourse.attacks.oracles import Answer, Bools, ask
from dpcourse.errors import Floats, reject, whole


@dataclass(frozen=True)
class Difference:
    """The two questions and what they told."""

    masks: Bools
    """Without the target, and with the target."""
    answers: Floats

    @property
    def estimate(self) -> float:
        """The second answer less the first: the target's bit, if the answers are exact."""
        return float(self.answers[1] - self.answers[0])

    @property
    def bit(self) -> int:
        """The bit that is closer to the estimate."""
        return int(self.estimate > 0.5)


def difference(answer: Answer, n: int, target: int, smallest: int | None = None) -> Difference:
    """Counts a set of `smallest` others (half of all people unless told), then the same set and the target.

    With exact answers the bit is certain. With Laplace noise it is right with probability
    1 - tail_of_sum(noise, 2, 1/2) (see `averaging`), and recoverable(2 epsilon) bounds every guess from two
    answers.

    >>> from dpcourse.attacks.oracles import Rounding
    >>> careful = Rounding(np.arange(30) % 3 == 0, multiple=1, smallest=15)
    >>> [difference(careful, n=30, target=i).bit for i in range(4)]
    [1, 0, 0, 1]
    """
    whole("n", n, at_least=2)
    size = -(-n // 2) if smallest is None else whole("smallest", smallest, at_least=0)
    if whole("target", target, at_least=0) >= n:
        reject("target", target, f"one of the people 0 to {n - 1}", "choose one of them.")
    if size > n - 1:
        reject("smallest", smallest, f"at most n - 1 = {n - 1}", "the set must leave room for the target.")
    others = np.delete(np.arange(n), target)[:size]
    masks = np.zeros((2, n), dtype=np.bool_)
    masks[:, others] = True
    masks[1, target] = True
    answers = ask(answer, masks)
    if np.isnan(answers).any():
        reject("smallest", size, "large enough for the oracle, which refused", "choose a larger set.")
    return Difference(masks, answers)
