"""Pictures of Renyi divergence: the moment curve, and the tangent whose slope is epsilon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

LEAST = 1.1
"""The lowest order of the axis; a best order below it is marked at the edge."""


def moment_tangent(ax: Axes, order: float, best: float, moment: Any, delta: float, right: float) -> None:
    """The curve of (α-1) D_α over α-1; lines to it from -ln(1/δ) have slope ε, the tangent the least."""
    x = np.linspace(1e-9, right, 161)
    curve = np.real(moment(x))
    low = math.log(delta)
    top = max(float(np.real(moment(right))), -0.35 * low)
    ax.plot(x, curve, color=BLUE, linewidth=2.4, label="$(α−1)\\,D_α$, k releases")
    ax.fill_between(x, curve, top * 2, color=BLUE, alpha=0.1, linewidth=0)
    for at, colour, style, width in ((best, GREEN, "-", 2), (order, VERMILION, "--", 1.6)):
        y = float(np.real(moment(at - 1)))
        slope = (y - low) / (at - 1)
        ax.plot([0, right], [low, low + slope * right], style, color=colour, linewidth=width)
        ax.plot([at - 1], [y], "D" if colour == GREEN else "o", color=colour, markersize=9)
    ax.plot([0], [low], "s", color=INK, markersize=8, clip_on=False)
    ax.plot([], [], "-", color=GREEN, label="tangent: the least ε")
    ax.plot([], [], "--", color=VERMILION, label="line of your order")
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.text(0.03 * right, low, "−ln(1/δ)", color=INK, va="top", ha="left")
    ax.set(
        xlim=(0, right),
        ylim=(low - 0.12 * (top - low), top * 1.05),
        xlabel="order − 1",
        ylabel="log-moment (nats)",
    )
    ax.set_title("a line’s slope is its ε: the tangent has the least")
    ax.legend(frameon=False, labelcolor=INK, loc="upper left", fontsize=9)
    ax.grid()


def order_choice(
    ax: Axes, orders: Any, simple: Any, improved: Any, order: float, exact: float, top: float
) -> None:
    """The ε that each order gives, by both conversions, above the exact one."""
    ax.axhspan(0, exact, color=VERMILION, alpha=0.12, linewidth=0)
    ax.axhline(exact, color=GREEN, linewidth=2, label="exact")
    ax.plot(orders, simple, "--", color=BLUE, linewidth=1.8, label="$D_α+\\ln(1/δ)/(α−1)$")
    ax.plot(orders, improved, "-", color=PURPLE, linewidth=2, label="improved conversion")
    for values, colour, marker in ((simple, BLUE, "s"), (improved, PURPLE, "D")):
        at = int(np.argmin(values))
        ax.plot([max(orders[at], LEAST)], [values[at]], marker, color=colour, markersize=8, clip_on=False)
    ax.axvline(order, color=VERMILION, linestyle="--", linewidth=1.2)
    ax.set(xscale="log", xlim=(LEAST, orders[-1]), ylim=(0, top), xlabel="order α", ylabel="ε (nats)")
    ax.set_xticks([LEAST, 2, 5, 10, 30, 100, 300, 1000])
    ax.set_title("which order gives the least ε?")
    ax.legend(frameon=False, labelcolor=INK, loc="lower right", fontsize=9)
    ax.grid()
