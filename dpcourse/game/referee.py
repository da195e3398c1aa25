"""Game: the referee of the composition experiment Compose(A, F, k, b).

A secret bit b is fixed. In each of k rounds the adversary, who sees the transcript, names a mechanism
from the family F and two neighbouring inputs; it gets the mechanism's output on the input that b
chooses. What it learns about b is what composition theorems bound (Dwork, Rothblum and Vadhan,
FOCS 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dpcourse import coins as tossing
from dpcourse.errors import BadInput, one_of, reject, whole
from dpcourse.game.moves import Adversary, Ask, Challenge, Guess, Move, Open, Refused, Round, Transcript
from dpcourse.game.walk import Walk, walk_of
from dpcourse.guarantees import Guarantee
from dpcourse.interactive.filters import Filter
from dpcourse.laws import Law

if TYPE_CHECKING:
    from dpcourse.game.exact import ExactResult
    from dpcourse.game.results import Simulation

Family = Guarantee | Collection[Any] | Callable[[Any], bool] | None


class GameError(BadInput):
    """The adversary broke a rule of the game; `transcript` is what happened until then."""

    def __init__(self, message: str, transcript: Transcript) -> None:
        super().__init__(message)
        self.transcript = transcript


@dataclass(frozen=True)
class Played:
    """One game: the secret bit, the transcript, and the guess if there was one."""

    bit: int
    transcript: Transcript
    guess: int | None

    @property
    def walk(self) -> Walk:
        """The privacy loss round by round, with its drift and martingale parts."""
        return walk_of(self.transcript, self.bit)

    @property
    def won(self) -> bool | None:
        """Whether the guess was right; None without a guess."""
        return None if self.guess is None else self.guess == self.bit


@dataclass(frozen=True)
class Game:
    """The rules: how many rounds, which mechanisms, which filter.

    `family` is a guarantee (every mechanism that promises at least as much), a collection of
    mechanisms, a test, or None for all. After the last round the adversary may guess the bit.

    >>> from dpcourse.mechanisms import RandomizedResponse
    >>> def repeat(view):
    ...     return Challenge(RandomizedResponse(1.0), 0, 1) if view.left else Guess(int(view.loss < 0))
    >>> Game(rounds=5).play(repeat, bit=1, rng=np.random.default_rng(0)).won
    True
    """

    rounds: int
    family: Family = None
    filter: Filter | None = field(default=None)

    def __post_init__(self) -> None:
        whole("rounds", self.rounds)

    def play(self, adversary: Adversary, bit: int, rng: np.random.Generator) -> Played:
        """One game, to watch."""
        one_of("bit", bit, (0, 1))
        source = tossing.Random(rng)
        view = Transcript(left=self.rounds)
        sessions: list[tuple[Open, Any]] = []
        while True:
            recorder = Recorder(source)
            move = self.move(adversary, view, recorder)
            if move is None or isinstance(move, Guess):
                return Played(bit, replace(view, coins=None), None if move is None else int(move.bit))
            refusal = self.refusal(move, view)
            if refusal:
                view = self.extended(view, move, Refused(refusal), recorder.drawn)
            elif isinstance(move, Challenge):
                answer = draw(move.law(bit), source)
                view = self.extended(view, move, answer, recorder.drawn, move.loss_at(answer))
            elif isinstance(move, Open):
                data = move.right if bit else move.left
                sessions.append((move, draw(move.mechanism.begin(data), source)))
                view = self.extended(view, move, len(sessions) - 1, recorder.drawn)
            else:
                opened, state = sessions[move.session]
                data = opened.right if bit else opened.left
                answer = draw(opened.mechanism.answer(data, state, move.query), source)
                sessions[move.session] = (opened, opened.mechanism.after(state, move.query, answer))
                view = self.extended(view, move, answer, recorder.drawn)

    def simulate(
        self,
        adversary: Any,
        games: int = 10**6,
        *,
        rng: np.random.Generator,
        executor: Any = None,
        progress: bool = False,
    ) -> Simulation:
        """Many games, half of them with each bit, to count.

        An adversary with a method `batch` sees arrays (`view.answers`, `view.loss`) and answers with
        arrays; a plain function plays one game at a time. `executor` is any concurrent.futures executor
        or a Dask client; the result does not depend on it.
        """
        from dpcourse.game.simulate import simulate

        return simulate(self, adversary, games, rng, executor, progress)

    def exact(self, adversary: Adversary) -> ExactResult:
        """All games at once: the exact laws of both views, for finite mechanisms."""
        from dpcourse.game.exact import play_exactly

        return play_exactly(self, adversary)

    def bounds(self, delta: float) -> Any:
        """Every composition theorem's promise for a game of this family, against the exact one."""
        from dpcourse.accounting import compare

        if not isinstance(self.family, Guarantee):
            fix = "give the game a family such as PureDP(0.1), or call compare(workload, delta)."
            reject("family", self.family, "a guarantee, to compose it", fix)
        return compare(self.family, delta, self.rounds)

    def move(self, adversary: Adversary, view: Transcript, coins: tossing.Coins) -> Move:
        """The adversary's next move, checked."""
        place = f"round {len(view) + 1}"
        try:
            move = adversary(replace(view, coins=coins))
        except Exception as error:
            raise GameError(f"{place}: the adversary raised {error!r}", view) from error
        if isinstance(move, Guess) and move.bit not in (0, 1):
            foul(view, place, "guess", move.bit, "0 or 1", "return Guess(0) or Guess(1).")
        if move is None or isinstance(move, Guess):
            return move
        if not isinstance(move, Challenge | Open | Ask):
            fix = "return Challenge(mechanism, left, right), Open, Ask, Guess(bit) or None."
            foul(view, place, "move", move, "a move", fix)
        if not view.left:
            fix = "return Guess(bit) or None once view.left is 0."
            foul(view, place, "move", move, f"a guess or None after {self.rounds} rounds", fix)
        self.check(move, view, place)
        return move

    def check(self, move: Challenge | Open | Ask, view: Transcript, place: str) -> None:
        """Whether the inputs are neighbours and the mechanism belongs to the family."""
        if isinstance(move, Ask):
            opened = sum(isinstance(r.move, Open) and not isinstance(r.answer, Refused) for r in view.rounds)
            if not (isinstance(move.session, int) and 0 <= move.session < opened):
                fix = "Open a mechanism first; its answer is the session number."
                foul(view, place, "session", move.session, "open", fix)
            return
        try:
            neighbours = move.mechanism.are_neighbours(move.left, move.right)
        except Exception as error:
            raise GameError(f"{place}: the inputs are no data: {error}", view) from error
        if not neighbours:
            rule = f"a pair of neighbours ({move.mechanism.guarantee.adjacency!r})"
            foul(view, place, "(left, right)", (move.left, move.right), rule, "change one row only.")
        if not in_family(move.mechanism, self.family):
            fix = "choose a mechanism of the family."
            foul(view, place, "mechanism", move.mechanism, f"in the family {self.family!r}", fix)

    def refusal(self, move: Challenge | Open | Ask, view: Transcript) -> str:
        """Why the filter refuses the move; empty if it does not. Asking a session is paid by opening it."""
        if self.filter is None or isinstance(move, Ask):
            return ""
        return self.filter.refuses(view.charges, move.mechanism.guarantee)

    def extended(
        self, view: Transcript, move: Any, answer: Any, coins: tuple[Any, ...], loss: float = 0.0
    ) -> Transcript:
        """The transcript after one more round; whatever was not refused is charged."""
        charged = isinstance(move, Challenge | Open) and not isinstance(answer, Refused)
        return Transcript(
            rounds=(*view.rounds, Round(move, answer, coins)),
            loss=view.loss + loss,
            left=view.left - 1,
            charges=(*view.charges, move.mechanism.guarantee) if charged else view.charges,
        )


def foul(view: Transcript, place: str, name: str, value: Any, rule: str, fix: str) -> NoReturn:
    """The one way to end a game early: names the round, the value, the rule and the fix."""
    try:
        reject(name, value, rule, fix)
    except BadInput as error:
        raise GameError(f"{place}: {error}", view) from None


class Recorder(tossing.Coins):
    """Coins that remember what was drawn, so that the view holds the adversary's own randomness."""

    def __init__(self, source: tossing.Coins) -> None:
        self.source = source
        self.drawn: tuple[Any, ...] = ()

    def _draw(self, probs: tuple[Any, ...], values: Any) -> Any:
        value = self.source._draw(probs, values)
        self.drawn += (value,)
        return value


def draw(law: Law, source: tossing.Coins) -> Any:
    """One outcome of a law: of a finite one by coins, of another by the generator behind them."""
    finite = law.to_finite()
    if isinstance(source, tossing.Random):
        answer = (finite or law).sample(source.rng)
        return answer.item() if isinstance(answer, np.generic) else answer
    if finite is None:
        fix = "use play or simulate for continuous mechanisms, or a discrete one here."
        reject("law", law, "finite, to enumerate", fix)
    return source.choice(finite.probs, finite.outcomes)


def in_family(mechanism: Any, family: Family) -> bool:
    """Whether a mechanism belongs to the family."""
    if family is None:
        return True
    if isinstance(family, Guarantee):
        return implies(mechanism.guarantee, family)
    return bool(family(mechanism)) if callable(family) else mechanism in family


def implies(stronger: Guarantee, weaker: Guarantee) -> bool:
    """Whether one promise is at least as strong as another of a kind that it converts to."""
    if stronger.adjacency != weaker.adjacency:
        return False
    try:
        same = stronger.to(type(weaker))
    except BadInput:
        return False
    names = [n for n in ("epsilon_0", "delta_0", "rho", "mu") if hasattr(weaker, n)]
    return bool(names) and all(getattr(same, n) <= getattr(weaker, n) * (1 + 1e-12) for n in names)
