"""Report noisy max: a race that can be run again and again, next to the exact chance of every winner."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcourse.mechanisms.selection import log_laplace_winner
from dpcourse.widgets.controls import number
from dpcourse.widgets.explorer import Button, Choice, Explorer, Slider, View

NAMES = ("A", "B", "C")
SWAP, COUNT = "A gains 1, the others lose 1", "A gains 1"
TWO, ONE = "2/ε", "1/ε"
RACES = 200


def draw(a: float, b: float, c: float, epsilon: float, noise: str, neighbour: str, races: int) -> View:
    """One race, and the exact chances on both data sets with the tally of 200 races."""
    from dpcourse.plots import choosing as picture
    from dpcourse.plots import panels

    scores = np.array([a, b, c], dtype=float)
    moved = scores + (np.array([1.0, -1, -1]) if neighbour == SWAP else np.array([1.0, 0, 0]))
    scale = (2 if noise == TWO else 1) / epsilon
    here, there = log_laplace_winner(scores / scale), log_laplace_winner(moved / scale)
    drawn = scores + np.random.default_rng(races).laplace(scale=scale, size=(RACES, 3))
    counted = np.bincount(drawn.argmax(axis=1), minlength=3) / RACES
    with panels(10, 4.4, columns=(1.1, 1), across=0.85, left=0.35) as (fig, (left, right)):
        picture.noisy_race(left, NAMES, scores, drawn[0], scale)
        picture.tally(right, NAMES, np.exp(here), np.exp(there), counted, RACES)
    worst = float(np.abs(here - there).max())
    verdict = "kept" if worst <= epsilon * (1 + 1e-9) else "broken"
    chances = ", ".join(f"{name} {number(p)}" for name, p in zip(NAMES, np.exp(here), strict=True))
    words = (
        f"Exactly: {chances}. In {RACES} races: "
        + ", ".join(f"{n} {x:.3g}" for n, x in zip(NAMES, counted, strict=True))
        + ".\n"
        f"With noise of scale {scale:.3g} this pair has a log-ratio of {worst:.4f}; "
        f"promised is ε = {epsilon:.3g}: {verdict}."
    )
    return View(fig, words)


def noisy_max(**start: Any) -> Explorer:
    """Run races between three noisy scores, and compare with the exact chances.

    >>> noisy_max(a=0, b=20, c=0, noise="1/ε").view().words.split(":")[-1]
    ' broken.'
    """
    controls = {
        "a": Slider("score of A", 0, 20, 1, 3),
        "b": Slider("score of B", 0, 20, 1, 5),
        "c": Slider("score of C", 0, 20, 1, 6),
        "epsilon": Slider("ε", 0.1, 2, 0.1, 1.0),
        "noise": Choice("noise of scale", (TWO, ONE)),
        "neighbour": Choice("on D′", (SWAP, COUNT)),
        "races": Button("Race again", 1),
    }
    return Explorer("noisy max", draw, controls, **start)
