"""Interactive mechanisms: they hold the data, keep a hidden state, and answer query after query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcourse.errors import positive, whole
from dpcourse.guarantees import ApproxDP, Guarantee, PureDP
from dpcourse.laws import Finite, Laplace, Law, Point
from dpcourse.neighbours import REPLACE_ONE


@dataclass(frozen=True)
class Interactive(ABC):
    """A mechanism in conversation: hidden state, law of the next answer, next state.

    Privacy is promised for the whole conversation, whatever the questions and however they depend on
    earlier answers: View(A with M(x)) and View(A with M(x')) are close for every adversary A.
    """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The promise about the whole conversation."""

    @abstractmethod
    def answer(self, data: Any, state: Any, query: Any) -> Law:
        """The law of the answer to a query, given the hidden state."""

    def begin(self, data: Any) -> Law:
        """The law of the hidden state at the start; none unless a mechanism says otherwise."""
        return Point(None)

    def after(self, state: Any, query: Any, answer: Any) -> Any:
        """The hidden state after an answer; unchanged unless a mechanism says otherwise."""
        return state

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Whether the guarantee speaks about this pair of inputs."""
        return self.guarantee.adjacency.are_neighbours(left, right)


@dataclass(frozen=True)
class LaplaceAnswerer(Interactive):
    """Answers the first `queries` numeric queries of sensitivity 1 with Laplace(queries/epsilon) noise.

    A query is a function of the data; once the number is used up, every answer is None.
    """

    epsilon: float
    queries: int

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        whole("queries", self.queries)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon in all, by basic composition."""
        return PureDP(self.epsilon)

    def begin(self, data: Any) -> Law:
        """The number of queries answered so far."""
        return Point(0)

    def answer(self, data: Any, state: Any, query: Callable[[Any], float]) -> Law:
        """query(data) + Laplace(queries/epsilon)."""
        if state >= self.queries:
            return Point(None)
        return Laplace(float(query(data)), self.queries / self.epsilon)

    def after(self, state: Any, query: Any, answer: Any) -> Any:
        """One more query is used."""
        return state + 1


@dataclass(frozen=True)
class NoisyGate(Interactive):
    """Above-threshold: says whether each query exceeds a threshold, and falls silent after the first yes.

    The threshold gets Laplace(2/epsilon) once, each query Laplace(4/epsilon): epsilon-DP for any
    number of queries of sensitivity 1 (Dwork and Roth 2014, Theorem 3.23).
    """

    epsilon: float
    threshold: float = 0.0

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon for the whole stream."""
        return PureDP(self.epsilon)

    def begin(self, data: Any) -> Law:
        """The noisy threshold, drawn once and never shown."""
        return Laplace(self.threshold, 2 / self.epsilon)

    def answer(self, data: Any, state: Any, query: Callable[[Any], float]) -> Law:
        """True with the chance that query(data) + Laplace(4/epsilon) reaches the hidden threshold."""
        if state is None:
            return Point(None)
        yes = float(Laplace(float(query(data)), 4 / self.epsilon).sf(state))
        return Finite((True, False), (yes, 1 - yes))

    def after(self, state: Any, query: Any, answer: Any) -> Any:
        """A yes ends the conversation."""
        return None if answer else state


@dataclass(frozen=True)
class Trapdoor(Interactive):
    """Gives a random password, and the data to whoever then asks with it.

    Against questions fixed in advance it is (0, 2^-bits)-DP: they hit the password by luck only. An
    adaptive adversary repeats the password and learns everything. This is why interactive privacy
    is defined over adversaries and not over lists of questions.
    """

    bits: int = 3

    def __post_init__(self) -> None:
        whole("bits", self.bits)

    @property
    def guarantee(self) -> Guarantee:
        """The promise that holds for fixed questions only: false in the game."""
        return ApproxDP(0.0, 0.5**self.bits, adjacency=REPLACE_ONE)

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Any two values: the data is one person's."""
        return True

    def answer(self, data: Any, state: Any, query: Any) -> Law:
        """A uniform password first; then the data if the query is the password, else nothing."""
        if state is None:
            n = 2**self.bits
            return Finite(range(n), [Fraction(1, n)] * n)
        return Point(data if query == state else None)

    def after(self, state: Any, query: Any, answer: Any) -> Any:
        """The password, once it is drawn."""
        return answer if state is None else state
