"""Pictures of the composition workbench: the law of the total loss, and what every bound makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import StepPatch

from dpcourse.accounting import Comparison
from dpcourse.accounting.comparison import shown
from dpcourse.loss import PrivacyLoss
from dpcourse.plots.accounting import KINDS
from dpcourse.plots.marks import brief
from dpcourse.plots.style import BLUE, GREEN, INK, VERMILION

NAMES = {
    "exact": "exact", "optimal": "optimal (ε, δ)", "rdp": "Rényi DP", "zcdp": "zCDP", "gdp": "Gaussian DP",
    "clt": "central limit, no promise", "tanh": "advanced, ε·tanh(ε/2)", "half-square": "advanced, ε²/2",
    "square": "advanced, ε²", "classic": "advanced, ε(e$^ε$−1)", "basic": "basic, kε",
    "missing two": "misprint: no 2 in the root", "without mean": "misprint: no mean",
    "exponential of slack": "misprint: e$^δ$−1 in the mean",
}  # fmt: skip
"""The bounds of the workbench from strong to weak, then the misprints, as they are written in a figure."""

NICE = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
NOISE = 1e-11


def rounded_up(x: float) -> float:
    """The next of few round numbers: an axis that ends there seldom moves."""
    power = 10.0 ** math.floor(math.log10(x))
    return next(step * power for step in NICE if step * power >= x * (1 - 1e-12))


def axis_of(loss: PrivacyLoss, table: Comparison, shares: float = 3.0) -> tuple[float, float]:
    """From where the loss is still likely to past the bounds, but not far beyond the exact one."""
    mean, step = loss.kl(), 1e-3
    second = 2 * float(np.real(loss.log_moment(step)) - step * mean) / step**2
    spread = math.sqrt(max(second, 1e-12))
    scale = max(table["exact"].epsilon, spread)  # a large delta makes the exact epsilon small, or zero
    most = max(row.epsilon for row in table.rows)
    low = max(mean - 6 * spread, -1.4 * scale)
    high = rounded_up(min(most, shares * scale) * 1.12)
    return (-rounded_up(-low) if low < 0 else 0.0), high


def loss_law(
    ax: Axes, loss: PrivacyLoss, lattice: float | None, exact: float, delta: float, ends: tuple[float, float]
) -> None:
    """A histogram of the total loss on a log scale; what lies beyond the exact epsilon makes up delta."""
    low, high = ends
    wide = (high - low) / 160
    if lattice:  # bins of whole steps, or some would hold one value and others two
        wide = lattice * max(1, round(wide / lattice))
        first = loss.max_divergence()
        edges = (
            first
            + wide * np.arange(math.floor((low - first) / wide), math.ceil((high - first) / wide) + 1)
            + lattice / 2
        )
    else:
        edges = np.arange(low, high + wide, wide)
    tails = np.asarray(loss.tail(edges), dtype=float)
    mass = np.clip(tails[:-1] - tails[1:], 1e-300, 1)
    mass[mass < NOISE * tails[:-1]] = 1e-300  # the difference of two tails has no more digits
    floor = 10.0 ** (math.floor(math.log10(delta)) - 3)
    shown_mass = np.where(mass > floor, mass, floor)
    if lattice and wide > (high - low) / 50:  # a few atoms, not a density: bars with gaps
        middle = (edges[:-1] + edges[1:]) / 2
        wide = (high - low) / 80
        edges = np.ravel(np.column_stack([middle - wide / 2, middle + wide / 2]))
        shown_mass = np.ravel(np.column_stack([shown_mass, np.full(len(middle), floor)]))[:-1]
    ax.add_artist(StepPatch(shown_mass, edges, baseline=floor, fill=True, color=BLUE, alpha=0.6, linewidth=0))
    ax.axvspan(exact, high, color=VERMILION, alpha=0.1, linewidth=0)
    beyond = np.where(edges[:-1] + wide / 2 > exact * (1 + 1e-9), shown_mass, floor)
    ax.add_artist(StepPatch(beyond, edges, baseline=floor, fill=True, color=VERMILION, linewidth=0))
    ax.axvline(exact, color=GREEN, linewidth=2)
    ax.set(yscale="log", xlim=ends, ylim=(floor, 1), ylabel="probability")
    ax.tick_params(axis="x", labelbottom=False)
    powers = round(math.log10(floor))
    ax.set_yticks([10.0**p for p in range(0, powers, min(-1, powers // 4))])
    ax.text(
        0.995, 0.93, "beyond the exact ε", color=VERMILION, ha="right", transform=ax.transAxes, fontsize=9
    )
    ax.set_title("the total privacy loss, its exact ε, and what each theorem makes of it")
    ax.grid()


def rulers(ax: Axes, table: Comparison, keys: Sequence[str], ends: tuple[float, float]) -> None:
    """A row for each bound: its epsilon on the axis of the loss; the exact one is a line through all."""
    found: dict[str, Any] = {row.key: row for row in table.rows}
    exact = table["exact"].epsilon
    low, high = ends
    ax.axvline(exact, color=GREEN, linewidth=2)
    stems, colours = [], []
    for place, key in enumerate(reversed(keys)):
        row = found.get(key)
        if row is None:
            ax.text(low, place, " does not apply", color=INK, va="center", fontsize=8.5, alpha=0.8)
            continue
        too_low = not row.valid and row.epsilon < exact * (1 - 1e-9)
        colour, marker = KINDS["exact" if key == "exact" else "bound" if row.valid else row.kind]
        colour = VERMILION if too_low else colour
        x = min(row.epsilon, high)
        stems.append([(min(exact, x), place), (max(exact, x), place)])
        colours.append(colour)
        far = row.epsilon > high
        ax.plot(
            [x],
            [place],
            ">" if far else marker,
            color=colour,
            markersize=8,
            mfc=colour if row.valid else "none",
            clip_on=False,
        )
        text = brief(float(shown(row.epsilon, 4)), 4) + ("  too low" if too_low else "")
        left = x > low + (0.18 if too_low else 0.88) * (high - low)
        gap = 0.014 * (high - low)
        ax.text(
            x - gap if left else x + gap,
            place,
            text,
            va="bottom" if left != too_low else "center",
            ha="right" if left else "left",
            color=colour,
            fontsize=9,
        )
    ax.add_collection(LineCollection(stems, colors=colours, linewidths=1.6, alpha=0.5), autolim=False)
    ax.set_yticks(range(len(keys)), [NAMES[key] for key in reversed(keys)])
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=ends, ylim=(-0.7, len(keys) - 0.3))
    ax.set_xlabel(f"privacy loss of all releases (nats); each mark is an ε at δ = {brief(table.delta)}")
    ax.grid(axis="x")
