"""Reconstruction by linear programming, and how often one answer with numpy's Laplace noise tells all."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, best_of
from dpcourse.attacks import Bounded, Private, TextbookLaplace, decide, interrogate
from dpcourse.mechanisms import GeometricMechanism

PEOPLE, QUERIES, SEEDS = 64, 256, 20
NOISE = 0.25 * PEOPLE**0.5
GOAL, SECONDS = 0.95, 1.0
DRAWS = 50_000


def rows() -> list[Row]:
    """Both linear programs under bounded noise, the private control, and the low bits."""
    largest, total = ([_recovered(seed, norm) for seed in range(SEEDS)] for norm in (np.inf, 1))
    seconds = max(best_of(lambda norm=norm: _recovered(1, norm)) for norm in (np.inf, 1))  # type: ignore[misc]
    control = float(np.mean([_private(seed) for seed in range(SEEDS)]))
    fixed = decide(GeometricMechanism(1.0)(0, np.random.default_rng(1), DRAWS))
    betrayed = decide(np.random.default_rng(1).laplace(0.0, 1.0, DRAWS), TextbookLaplace())
    return [
        _fraction("64 bits from 256 answers, noise .25 sqrt(n), least largest error", largest),
        _fraction("the same, least total error", total),
        Row(
            "the slower of the two, questions included",
            seconds,
            None,
            "s",
            f"< {SECONDS:g} s",
            seconds < SECONDS,
        ),
        Row(
            "the same attack on a private answerer, epsilon 1 in all",
            control,
            None,
            "fraction",
            ".45 to .55",
            0.45 <= control <= 0.55,
            f"mean of {SEEDS} seeds; 1/2 is coin flipping",
        ),
        Row(
            "answers of numpy's Laplace(1) that are surely from 0, not 1",
            betrayed.rate,
            None,
            "fraction",
            ">= 0.75",
            bool(betrayed.rate >= 0.75 and betrayed.from_left.all()),
            f"{DRAWS} draws; of the discrete Laplace's: {fixed.rate:g}",
        ),
    ]


def _recovered(seed: int, norm: float) -> float:
    rng = np.random.default_rng(seed)
    secret = rng.integers(0, 2, PEOPLE)
    return interrogate(Bounded(secret, NOISE, rng), PEOPLE, QUERIES, rng, norm).recovered(secret)


def _private(seed: int) -> float:
    rng = np.random.default_rng(seed)
    secret = rng.integers(0, 2, PEOPLE)
    oracle = Private.split(secret, 1.0, QUERIES, rng)
    return interrogate(oracle, PEOPLE, QUERIES, rng, norm=1).recovered(secret)


def _fraction(name: str, found: list[float]) -> Row:
    mean = float(np.mean(found))
    note = f"mean of {len(found)} seeds, the worst {min(found):.3f}"
    return Row(name, mean, None, "fraction", f">= {GOAL}", mean >= GOAL, note)
