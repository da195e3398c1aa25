"""Pictures of Gaussian noise: what the classical constants promise, and where the promise breaks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from matplotlib.axes import Axes

from dpcourse.loss import GaussianLoss
from dpcourse.mechanisms import classic_sigma
from dpcourse.plots.marks import brief
from dpcourse.plots.panel import Panel
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

RULES: Mapping[float, tuple[str, str, str, str]] = {
    2.0: ("√(2 ln(2/δ))", BLUE, "-", "o"),
    1.25: ("√(2 ln(1.25/δ))", PURPLE, "--", "s"),
    1.0: ("√(2 ln(1/δ))", INK, "-.", "^"),
}
"""The classical constants in print, with their formula and their look."""

GRID = np.geomspace(0.1, 30, 61)


@lru_cache(maxsize=256)
def broken_promise(constant: float, delta: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The exact delta over the promised one, for each epsilon of the grid."""
    sigmas = [classic_sigma(epsilon, delta, constant=constant) for epsilon in GRID]
    exact = [GaussianLoss(1 / s).delta(e) for s, e in zip(sigmas, GRID, strict=True)]
    return np.maximum(np.array(exact, dtype=float) / delta, 1e-30)


def promise_curves(ax: Panel, epsilon: float, delta: float) -> None:
    """Exact delta over promised delta against epsilon: above 1 the constant has failed."""
    ax.axhspan(1, 1e9, color=VERMILION, alpha=0.13, linewidth=0)
    ax.axhline(1, color=VERMILION, linewidth=1.2)
    ax.axvspan(GRID[0], 1, 0, 6 / 11, color=GREEN, alpha=0.1, linewidth=0)  # up to a multiple of 1
    for constant, (name, colour, style, marker) in RULES.items():
        ratio = broken_promise(constant, delta)
        ax.plot(GRID, ratio, style, color=colour, linewidth=2, label=f"$σ$ = {name}/ε")
        here = GaussianLoss(1 / classic_sigma(epsilon, delta, constant=constant)).delta(epsilon) / delta
        failed = here > 1
        ax.plot(
            [epsilon], [here], "X" if failed else marker, color=VERMILION if failed else colour, markersize=10
        )
    ax.axvline(epsilon, color=INK, linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlim=(GRID[0], GRID[-1]), ylim=(1e-6, 1e5))
    ax.set_xticks([0.1, 0.3, 1, 3, 10, 30])
    ax.set_yticks([1e-6, 1e-4, 1e-2, 1, 1e2, 1e4])
    ax.set(xlabel="promised ε", ylabel="exact δ as a multiple of the promised δ")
    ax.still(0.98, 0.94, "the promise is broken", color=VERMILION, ha="right", va="center")
    ax.still(0.02, 0.06, "proved: ε below 1", color=GREEN, va="center")
    ax.set_title("three constants in print: all of them fail for large ε")
    ax.legend(frameon=False, labelcolor=INK, loc="lower right", fontsize=9)
    ax.grid()


def sigma_rows(ax: Axes, epsilon: float, delta: float, least: float) -> None:
    """The sigma of each constant next to the least one that keeps the promise, and its exact delta."""
    rows = [
        ("least that works", least, GREEN, "D"),
        *(
            (RULES[c][0] + "/ε", classic_sigma(epsilon, delta, constant=c), RULES[c][1], RULES[c][3])
            for c in RULES
        ),
    ]
    ax.axvspan(0, 1, color=VERMILION, alpha=0.13, linewidth=0)
    ax.axvline(1, color=GREEN, linewidth=2)
    for place, (name, sigma, colour, marker) in enumerate(reversed(rows)):
        exact = GaussianLoss(1 / sigma).delta(epsilon)
        failed = sigma < least * (1 - 1e-12)
        ink = VERMILION if failed else colour
        ratio = sigma / least
        x, far = min(max(ratio, 0.45), 1.62), not 0.45 <= ratio <= 1.62  # an arrow points to what is outside
        mark = ("<" if failed else ">") if far else "X" if failed else marker
        ax.plot([1, x], [place, place], color=ink, linewidth=2, alpha=0.6)
        ax.plot([x], [place], mark, color=ink, markersize=11)
        ax.text(1.72, place + 0.17, name, color=INK, va="center", fontsize=9)
        ax.text(
            1.72, place - 0.17, f"σ = {sigma:.4g}, δ = {brief(exact)}", color=ink, va="center", fontsize=9
        )
    ax.set(
        xlim=(0.4, 2.5), ylim=(-0.6, len(rows) - 0.3), yticks=[], xlabel="σ as a multiple of the least one"
    )
    ax.set_xticks([0.5, 1, 1.5])
    ax.spines["left"].set_visible(False)
    ax.set_title("at this ε: too little noise, or too much?")
    ax.grid(axis="x")
