"""Pictures of a private choice: how likely each candidate is in two worlds, and the log-ratio of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from dpcourse.audit import clopper_pearson
from dpcourse.errors import Floats
from dpcourse.plots.marks import block
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION


def choice_bars(
    ax: Axes,
    names: Sequence[str],
    left: Any,
    right: Any,
    title: str,
    lift: Any = 0.0,
    worlds: tuple[str, str] = ("the data", "their worst neighbour"),
) -> None:
    """Two bars for each candidate: its probability on the data and on the neighbour."""
    lifts = np.broadcast_to(lift, len(names))
    for place, (p, q) in enumerate(zip(left, right, strict=True)):
        for shift, value, colour, hatch in ((-0.2, p, BLUE, None), (0.2, q, VERMILION, "//")):
            block(
                ax, place + shift - 0.185, 0, 0.37, max(value, 0.002), color=colour, alpha=0.85, hatch=hatch
            )
            text = (
                f"{value:.2f}"
                if value >= 0.01
                else f"{value:.1g}"
                if value >= 1e-3
                else f"{value:.0e}".replace("e-0", "e-")
            )
            above = max(value, lifts[place]) if shift < 0 else value
            ax.text(place + shift, above + 0.018, text, ha="center", color=colour, fontsize=9)
    handles = [
        Patch(color=BLUE, alpha=0.85, linewidth=0),
        Patch(color=VERMILION, alpha=0.85, hatch="//", linewidth=0),
    ]
    ax.set(
        xlim=(-0.6, len(names) - 0.4),
        ylim=(0, 1.27),
        yticks=[0, 0.5, 1],
        ylabel="probability of being chosen",
    )
    ax.set_xticks(range(len(names)), list(names))
    ax.tick_params(axis="x", length=0)
    ax.legend(handles, list(worlds), frameon=False, labelcolor=INK, loc="upper left", ncols=2)
    ax.set_title(title)
    ax.grid(axis="y")


def ratio_needles(ax: Axes, names: Sequence[str], ratios: Sequence[float], epsilon: float) -> None:
    """The log-ratio of each candidate as a needle, against the band that the promise allows."""
    ax.axhspan(-epsilon, epsilon, color=GREEN, alpha=0.14, linewidth=0)
    worst = int(np.argmax(np.abs(ratios)))
    for place, ratio in enumerate(ratios):
        over = abs(ratio) > epsilon * (1 + 1e-9)
        colour = VERMILION if over else GREEN
        ax.plot(
            [place, place],
            [0, ratio],
            "--" if over else "-",
            color=colour,
            linewidth=3 if place == worst else 2,
        )
        ax.plot([place], [ratio], "X" if over else "o", color=colour, markersize=11 if place == worst else 8)
        up = ratio >= 0
        ax.text(
            place + 0.13,
            ratio + (0.07 if up else -0.07) * epsilon,
            f"{round(ratio, 3) + 0:+.3f}".replace("-", "−"),
            color=colour,
            va="bottom" if up else "top",
            fontsize=9.5,
            fontweight="bold" if place == worst else "normal",
        )
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set(
        xlim=(-0.4, len(names) - 0.2),
        ylim=(-2.4 * epsilon, 2.4 * epsilon),
        ylabel="log-ratio, data to neighbour (nats)",
    )
    ax.set_yticks([-2 * epsilon, -epsilon, 0, epsilon, 2 * epsilon], ["−2ε", "−ε", "0", "ε", "2ε"])
    ax.set_xticks(range(len(names)), list(names))
    ax.tick_params(axis="x", length=0)
    ax.set_title("what each outcome gives away: within ε?")
    ax.grid(axis="y")


def noisy_race(ax: Axes, names: Sequence[str], scores: Floats, noisy: Floats, scale: float) -> None:
    """A lane for each candidate: its score, the law of its noisy score, one draw, and who wins it."""
    winner = int(np.argmax(noisy))
    y = np.linspace(-12, 22, 341)
    for lane, (name, score, value) in enumerate(zip(names, scores, noisy, strict=True)):
        base = len(names) - 1 - lane
        density = np.exp(-np.abs(y - score) / scale)
        won = lane == winner
        colour = GREEN if won else BLUE
        ax.fill_between(y, base, base + 0.72 * density, color=colour, alpha=0.25, linewidth=0)
        ax.plot([score, score], [base, base + 0.72], color=INK, linewidth=1.2)
        shown = min(max(value, -11.5), 21.3)
        ax.plot([score, shown], [base + 0.12] * 2, ":", color=colour, linewidth=1.2)
        ax.plot([shown], [base + 0.12], "*" if won else "o", color=colour, markersize=17 if won else 8)
        ax.text(-11.8, base + 0.84, f"{name}, score {score:g}", color=INK, va="center")
        if won:
            ax.text(
                21.8,
                base + 0.84,
                f"wins with {value:.1f}",
                color=GREEN,
                ha="right",
                va="center",
                fontweight="bold",
            )
    ax.axvline(min(max(float(np.max(noisy)), -11.5), 21.3), color=GREEN, linewidth=1, linestyle="--")
    ax.set(xlim=(-12, 22), ylim=(-0.1, len(names)), yticks=[], xlabel="score plus noise")
    ax.spines["left"].set_visible(False)
    ax.set_title("one race: only the winner’s name is published")
    ax.grid(axis="x")


def tally(
    ax: Axes,
    names: Sequence[str],
    exact: Floats,
    other: Floats,
    counted: Floats,
    races: int,
) -> None:
    """The exact chance of each winner on D and D', and how often each won in the races that were run."""
    low, high = np.array([clopper_pearson(round(share * races), races, 0.99) for share in counted]).T
    title = f"who wins: exactly (bars), in {races} races (rings)"
    choice_bars(ax, names, exact, other, title, lift=high, worlds=("D", "its neighbour D′"))
    ax.vlines(np.arange(len(names)) - 0.2, low, high, color=PURPLE, linewidth=1.6)
    ax.plot(np.arange(len(names)) - 0.2, counted, "o", mfc="none", mew=2, color=PURPLE, markersize=9)
