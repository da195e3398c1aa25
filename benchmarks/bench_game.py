"""Games played side by side, against the raw rate at which numpy draws the same noise."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness import Row, best_of
from dpcourse import Challenge, Game, GaussianMechanism, Guess, LaplaceMechanism, Mechanism

GAMES, ROUNDS = 2**18, 100


@dataclass(frozen=True)
class Chasing:
    """An adaptive adversary: the next question depends on the last answer, in every game."""

    mechanism: Mechanism

    def batch(self, view: Any) -> Any:
        """A shift away from where the last answer fell; a guess at the end."""
        if not view.left:
            return Guess((view.loss < 0).astype(int))
        if view.last is None:
            return Challenge(self.mechanism, 0.0, 1.0)
        return Challenge(self.mechanism, 0.0, np.where(view.last < 0.5, -1.0, 1.0))


def rows() -> Iterator[Row]:
    """Rounds a second, and the memory of a long simulation."""
    rng = np.random.default_rng(0)
    peers: list[tuple[str, Mechanism, Callable[..., Any]]] = [
        ("Laplace", LaplaceMechanism(0.1), rng.laplace),
        ("Gaussian", GaussianMechanism(10.0), rng.normal),
    ]
    for name, mechanism, noise in peers:
        adversary = Chasing(mechanism)
        played = GAMES * ROUNDS / best_of(lambda a=adversary: _play(a, rng), 3)  # type: ignore[misc]
        drawn = GAMES * ROUNDS / best_of(lambda draw=noise: draw(size=GAMES * ROUNDS), 3)  # type: ignore[misc]
        label = f"adaptive {name} game against numpy's raw draws"
        yield Row(label, played / 1e6, drawn / 1e6, "M rounds/s", ">= 0.5 x peer", played >= 0.5 * drawn)
    tracemalloc.start()
    Game(rounds=2000).simulate(Chasing(LaplaceMechanism(0.1)), games=2**15, rng=rng)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    note = "one chunk at a time"
    yield Row("peak memory, 6.5e7 rounds", peak, None, "MiB", "< 300 MiB", peak < 300, note)


def _play(adversary: Chasing, rng: np.random.Generator) -> None:
    Game(rounds=ROUNDS).simulate(adversary, games=GAMES, rng=rng)
