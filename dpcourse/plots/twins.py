"""The picture of two sliding densities: one output, two explanations, and the log-ratio between them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from dpcourse.laws import Law
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

SPAN = (-7.0, 9.0)


def twin_densities(ax: Axes, left: Law, right: Law, at: float) -> None:
    """Both densities, and a pointer that reads both off at one output."""
    y = np.linspace(*SPAN, 641)
    for law, colour, style, name in ((left, BLUE, "-", "with you"), (right, VERMILION, "--", "without you")):
        density = np.exp(law.log_prob(y))
        ax.fill_between(y, density, color=colour, alpha=0.13, linewidth=0)
        ax.plot(y, density, style, color=colour, linewidth=2, label=name)
    heights = [float(np.exp(law.log_prob(at))) for law in (left, right)]
    ax.plot([at, at], [0, 2], color=INK, linewidth=1)
    ax.plot([at], heights[:1], "o", color=BLUE, markersize=9, clip_on=False)
    ax.plot([at], heights[1:], "s", color=VERMILION, markersize=8, clip_on=False)
    ax.set(xlim=SPAN, ylim=(0, 1.05), yticks=[0, 0.5, 1], ylabel="density")
    ax.tick_params(axis="x", labelbottom=False)
    ax.set_title("two worlds, one output: in which of them is it likelier?")
    ax.legend(frameon=False, labelcolor=INK, loc="upper left")
    ax.grid()


def ratio_strip(ax: Axes, left: Law, right: Law, epsilon: float, at: float) -> None:
    """ln p(y)/q(y) over all outputs, the band that the promise draws, and where the ratio leaves it."""
    y = np.linspace(*SPAN, 641)
    ratio = left.log_prob(y) - right.log_prob(y)
    here = float(left.log_prob(at) - right.log_prob(at))
    ax.axhspan(-epsilon, epsilon, color=GREEN, alpha=0.13, linewidth=0)
    outside = np.abs(ratio) > epsilon + 1e-9
    ax.plot(y, np.where(outside, np.nan, ratio), color=GREEN, linewidth=2)
    ax.plot(y, np.where(outside, ratio, np.nan), "--", color=VERMILION, linewidth=2)
    ax.fill_between(y, ratio, np.clip(ratio, -epsilon, epsilon), color=VERMILION, alpha=0.25, linewidth=0)
    ax.plot([at, at], [-9, 9], color=INK, linewidth=1)
    ax.plot([at], [np.clip(here, -4, 4)], "D", color=PURPLE, markersize=9, clip_on=False)
    for side in (-1, 1):
        word = f"{'−' if side < 0 else ''}ε"
        ax.text(
            SPAN[1] - 0.1, side * epsilon, word, color=GREEN, ha="right", va="bottom" if side > 0 else "top"
        )
    ax.set(xlim=SPAN, ylim=(-4, 4), xlabel="output y", ylabel="log-ratio (nats)", yticks=[-4, -2, 0, 2, 4])
    ax.grid()
