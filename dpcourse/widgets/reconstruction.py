"""The reconstruction explorer: 64 secret pixels, noisy counts of random sets, and what they add up to."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse import special
from dpcourse.attacks import PICTURE, random_subsets, reconstruct, recoverable
from dpcourse.errors import Floats
from dpcourse.widgets.controls import Control
from dpcourse.widgets.explorer import Button, Choice, Explorer, Slider, View

SQUARES, PROGRAM = "least squares", "linear program"
SECRET = PICTURE.ravel()
N = SECRET.size
LEVELS = np.round(np.arange(0.0, 2.01, 0.05), 2)


@lru_cache(maxsize=64)
def questions(queries: int, draw: int) -> tuple[Floats, Floats, Floats]:
    """Random sets of pixels, the pseudo-inverse of their matrix, and for every level noise in [-1, 1]."""
    rng = np.random.default_rng([queries, draw])
    masks = random_subsets(rng, queries, N).astype(float)
    wide = queries <= N  # few questions: the shortest answer that fits; many: least squares, which is quicker
    inverse = np.linalg.pinv(masks) if wide else np.linalg.solve(masks.T @ masks, masks.T)
    return masks, inverse, rng.uniform(-1, 1, (queries, len(LEVELS)))


@lru_cache(maxsize=512)
def fitted(noise: float, queries: int, attack: str, draw: int) -> Floats:
    """The best fit to the answers, in [0, 1]."""
    masks, inverse, error = questions(queries, draw)
    level = int(np.abs(LEVELS - noise).argmin())
    answers = masks @ SECRET + noise * math.sqrt(N) * error[:, level]
    if attack == PROGRAM:
        return reconstruct(masks, answers).fractional
    return np.clip(inverse @ answers, 0, 1)


@lru_cache(maxsize=64)
def curve(queries: int, draw: int) -> tuple[Floats, Floats]:
    """At every level of noise: the fraction that least squares expects, and one run of it.

    The expectation is for normal noise of the same variance; with fewer questions than pixels there is none.
    """
    masks, inverse, error = questions(queries, draw)
    answers = (masks @ SECRET)[:, None] + error * LEVELS * math.sqrt(N)
    runs = np.mean((inverse @ answers > 0.5) == SECRET[:, None], axis=0)
    if queries < N or not np.allclose(inverse @ masks, np.eye(N)):
        return np.full(len(LEVELS), np.nan), runs
    # `expected_recovery` at all levels at once: the rows of the inverse say how noise reaches each pixel.
    spread = np.linalg.norm(inverse, axis=1)[:, None] * np.maximum(LEVELS, 1e-9) * math.sqrt(N / 3)
    return np.mean(special.ndtr(0.5 / spread), axis=0), runs


def draw(noise: float, queries: int, attack: str, again: int) -> View:
    """The secret, the reconstruction with its errors, and the phase curve."""
    from dpcourse import plots

    fit = fitted(noise, queries, attack, again)
    wrong = (fit > 0.5) != SECRET
    found = 1 - float(np.mean(wrong))
    expected, runs = curve(queries, again)
    with plots.panels(10, 3.9, left=6.6) as (fig, (right,)):
        plots.bitmap(plots.Sheet(fig, 10, 50, 190, 190), PICTURE, "the secret")
        shown = plots.Sheet(fig, 216, 50, 190, 190)
        plots.bitmap(shown, fit.reshape(PICTURE.shape), "from the answers", wrong.reshape(PICTURE.shape))
        plots.phase(right, LEVELS, expected, runs, noise, found, attack)
    here = float(np.interp(noise, LEVELS, expected))
    beside = (
        f"least squares expects {64 * here:.1f}"
        if math.isfinite(here)
        else "with fewer questions than pixels"
    )
    words = (
        f"{queries} counts, each off by up to {noise * math.sqrt(N):.3g}: {N - int(wrong.sum())} of 64 "
        f"pixels are right ({beside}). Noise for ε = 1 in all {queries} answers has scale {queries}, and "
        f"lets nobody expect more than {64 * recoverable(1.0):.1f} of 64 random pixels."
    )
    alt = f"A padlock of 64 pixels beside its reconstruction, in which {int(wrong.sum())} pixels are wrong."
    return View(fig, words, alt)


def reconstruction(**start: Any) -> Explorer:
    """Drag the noise and the number of questions, and see the secret appear or drown.

    >>> reconstruction(noise=0.5)
    Explorer(reconstruction: noise = 0.5, queries = 256, attack = least squares, again = 0)
    """
    controls: dict[str, Control] = {
        "noise": Slider("noise c", 0.0, 2.0, 0.05, 0.25),
        "queries": Slider("questions asked", 32, 512, 32, 256),
        "attack": Choice("attack", (SQUARES, PROGRAM)),
        "again": Button("Ask again"),
    }
    return Explorer("reconstruction", draw, controls, **start)
