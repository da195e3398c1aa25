"""Many games: chunks that fit in the cache, seeded one by one, on any executor.

A chunk is a few thousand games played side by side in one world. Its seed depends on its number only,
so results do not depend on how many workers there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from dpcourse.errors import Floats, reject, whole
from dpcourse.game.moves import Challenge, Guess, Transcript
from dpcourse.game.referee import Game, GameError
from dpcourse.game.results import Simulation, World
from dpcourse.game.walk import Drift, walk_of
from dpcourse.interactive.filters import Filter

CHUNK: Final = 2**15  # games side by side: their arrays stay in the cache
ANSWERS: Final = 2**23  # answers kept at once (64 MB), so long games run in smaller chunks
KEPT: Final = 500  # walks kept for pictures, in each world


@dataclass
class Games:
    """What an adversary with a `batch` method sees: the transcripts of many games, as arrays."""

    games: int
    left: int
    answers: list[Any] = field(default_factory=list)
    loss: Floats = field(default_factory=lambda: np.zeros(0))
    rng: Any = None

    @property
    def last(self) -> Any:
        """The last answers; None before the first round."""
        return self.answers[-1] if self.answers else None


def run_chunks(
    game: Game, adversary: Any, bit: int, sizes: list[int], seeds: list[Any], keep: int
) -> list[World]:
    """Several chunks one after the other: the unit of work of an executor."""
    play = _play_batch if hasattr(adversary, "batch") else _play_singly
    chunks = []
    for size, seed in zip(sizes, seeds, strict=True):
        chunks.append(play(game, adversary, bit, size, np.random.default_rng(seed), keep))
        keep = max(0, keep - size)
    return chunks


def simulate(
    game: Game,
    adversary: Any,
    games: int,
    rng: np.random.Generator,
    executor: Any = None,
    progress: bool = False,
) -> Simulation:
    """`games` games, half of them in each world."""
    half = whole("games", games, at_least=2) // 2
    bulk = hasattr(adversary, "batch")
    chunk = max(64, min(CHUNK, ANSWERS // game.rounds)) if bulk else 256
    sizes = [chunk] * (half // chunk) + ([half % chunk] if half % chunk else [])
    root = np.random.SeedSequence(rng.integers(0, 2**63, 4).tolist())
    per_task = max(1, (2**22 if bulk else 2**11) // (chunk * game.rounds))
    tasks = []
    for bit, branch in enumerate(root.spawn(2)):
        seeds = branch.spawn(len(sizes))
        for i in range(0, len(sizes), per_task):
            job = (bit, sizes[i : i + per_task], seeds[i : i + per_task], KEPT if i == 0 else 0)
            tasks.append((game, adversary, *job))
    worlds: tuple[list[World], list[World]] = ([], [])
    for task, chunks in zip(tasks, _run(tasks, executor, progress), strict=True):
        worlds[task[2]].extend(chunks)
    zero, one = (_joined(world) for world in worlds)
    return Simulation(zero, one, game)


def _run(tasks: list[Any], executor: Any, progress: bool) -> Any:
    from tqdm.auto import tqdm

    if executor is None:
        results: Any = (run_chunks(*task) for task in tasks)
    else:
        futures = [executor.submit(run_chunks, *task) for task in tasks]
        results = (future.result() for future in futures)
    return tqdm(results, total=len(tasks), desc="games", disable=not progress, leave=False)


def _joined(chunks: list[World]) -> World:
    guesses = None if any(c.guesses is None for c in chunks) else np.concatenate([c.guesses for c in chunks])
    width = max(c.walks.shape[1] for c in chunks)
    walks, drifts = ([_padded(getattr(c, name), width) for c in chunks] for name in ("walks", "drifts"))
    losses = np.concatenate([c.losses for c in chunks])
    return World(losses, guesses, np.concatenate(walks), np.concatenate(drifts))


def _padded(walks: Floats, width: int) -> Floats:
    """Walks that ended early stay where they are."""
    return np.pad(walks, ((0, 0), (0, width - walks.shape[1])), mode="edge")


def _play_batch(game: Game, adversary: Any, bit: int, n: int, rng: Any, keep: int) -> World:
    """Many games side by side: the adversary sees arrays and answers with arrays."""
    view = Games(n, game.rounds, [], np.zeros(n), rng)
    walks, drifts, guesses = [np.zeros(min(keep, n))], [np.zeros(min(keep, n))], None
    drift = Drift()
    budget = _Budget(game, n)
    while True:
        move = adversary.batch(view)
        if move is None or isinstance(move, Guess):
            guesses = None if move is None else np.broadcast_to(np.asarray(move.bit, dtype=np.int8), n)
            break
        if not view.left:
            shown = Transcript(left=0)
            fix = "return Guess(bits) or None once view.left is 0"
            raise GameError(
                f"round {game.rounds + 1}: the game has only {game.rounds} rounds. Fix: {fix}.", shown
            )
        parts: Any = [(slice(None), move)] if isinstance(move, Challenge) else move
        budget.admit(parts, view)
        means = np.zeros(min(keep, n))
        if isinstance(move, Challenge):
            answer, step = _round(move, bit, n, rng)
            means += drift.each(move, bit, len(means)) if keep else 0.0
        else:
            answer, step = np.full(n, np.nan), np.zeros(n)
            for mask, part in parts:
                if part is not None:
                    answer[mask], step[mask] = _round(part, bit, int(mask.sum()), rng)
                    here = np.flatnonzero(np.asarray(mask)[: len(means)])
                    if len(here):
                        means[here] += drift.each(part, bit, len(here))
        view.answers.append(answer)
        view.loss += step
        view.left -= 1
        if keep:
            walks.append(view.loss[: len(means)].copy())
            drifts.append(drifts[-1] + means)
    return World(view.loss, guesses, np.stack(walks, axis=1), np.stack(drifts, axis=1))


def _round(challenge: Challenge, bit: int, n: int, rng: Any) -> tuple[Any, Any]:
    """Answers of n games to one challenge, and their privacy losses."""
    mechanism, data = challenge.mechanism, challenge.data(bit)
    each = isinstance(data, np.ndarray) and data.ndim > 0
    y = mechanism.laws(data).sample(rng) if each else mechanism.law(data).sample(rng, n)
    return y, mechanism.losses(y, challenge.left, challenge.right)


class _Budget:
    """The referee of a round of many games: neighbours, family, and what each game has spent."""

    def __init__(self, game: Game, n: int) -> None:
        self.game, self.spent = game, np.zeros((n, 0))
        if game.filter is not None and type(game.filter).refuses is not Filter.refuses:
            fix = "use play or exact, which ask the filter query by query."
            reject("filter", game.filter, "one whose costs add up, to play games in bulk", fix)

    def admit(self, parts: Any, view: Games) -> None:
        """Charge every game for its move, or say which rule is broken."""
        shown, place = Transcript(left=view.left), f"round {len(view.answers) + 1}"
        for mask, part in parts:
            if part is None:
                continue
            if not isinstance(part, Challenge):
                fix = "return Challenge, a list of (mask, Challenge), Guess or None."
                rule = f"move = {part!r} breaks a rule: it must be a move"
                raise GameError(f"{place}: {rule}. Fix: {fix}", shown)
            one = _worst(part) if part.batched else part
            self.game.check(one, shown, place)
            if self.game.filter is not None:
                costs = self.game.filter.costs(part.mechanism.guarantee)
                if not self.spent.shape[1]:
                    self.spent = np.zeros((len(self.spent), len(costs)))
                self.spent[mask] += costs
        if self.game.filter is not None:
            for totals in np.unique(self.spent, axis=0):
                if not self.game.filter.fits(tuple(totals)):
                    fix = "stop, or ask for less, where the budget is used up."
                    rule = f"{self.game.filter!r} refuses a total of {totals}"
                    raise GameError(f"{place}: {rule}. Fix: {fix}", shown)


def _worst(challenge: Challenge) -> Challenge:
    """The entry of a batched challenge whose two inputs are farthest apart."""
    gaps = np.subtract(challenge.left, challenge.right)
    high, low = int(gaps.argmax()), int(gaps.argmin())
    i = high if gaps[high] >= -gaps[low] else low
    left, right = (np.broadcast_to(side, gaps.shape)[i].item() for side in (challenge.left, challenge.right))
    return Challenge(challenge.mechanism, left, right)


def _play_singly(game: Game, adversary: Any, bit: int, n: int, rng: Any, keep: int) -> World:
    """One game after the other, for a plain adversary: slower by the cost of Python."""
    drift = Drift()
    plays = [game.play(adversary, bit, rng) for _ in range(n)]
    walks = [walk_of(p.transcript, bit, drift) for p in plays[: min(keep, n)]]
    width = max((len(w.loss) for w in walks), default=1)
    shape, guesses = (len(walks), width), [p.guess for p in plays]
    return World(
        np.array([p.transcript.loss for p in plays]),
        None if None in guesses else np.array(guesses, dtype=np.int8),
        np.array([_padded(w.loss[None], width) for w in walks]).reshape(shape),
        np.array([_padded(w.drift[None], width) for w in walks]).reshape(shape),
    )
