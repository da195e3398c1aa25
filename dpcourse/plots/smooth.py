"""Pictures of smooth sensitivity: windows around the median, spikes and tents, one bar per mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse import laws
from dpcourse.plots.streams import LOOKS, curves
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label


def windows(ax: Axes, data: Sequence[float], high: float, distances: Sequence[int]) -> list[Artist]:
    """For each t every window of t+1 gaps that holds the median of [0, high] data; the widest is green."""
    m, n = (len(data) + 1) // 2, len(data)
    x = {i: 0.0 if i < 1 else high if i > n else sorted(data)[i - 1] for i in range(m - n - 1, m + n + 2)}
    artists: list[Artist] = [*ax.plot(x[m] * np.ones(2), [0.6, -99], ":", color=PURPLE, zorder=1)]
    artists += ax.plot(sorted(data), np.zeros(n), "o", color=BLUE, markersize=9, clip_on=False, zorder=3)
    artists += ax.plot(x[m], 0, "^", color=PURPLE, markersize=8, zorder=4)
    row = 0.0
    for t in distances:
        ends = [(x[m + s - t - 1], x[m + s]) for s in range(t + 2)]
        widest = max(b - a for a, b in ends)
        row -= 0.7
        artists.append(label(ax, 0, row - 0.45 * (len(ends) - 1) / 2, f"t = {t}", dx=-44))
        for a, b in ends:
            best = b - a == widest
            colour, style = (GREEN, "-") if best else (INK, "-")
            artists += ax.plot([a, b], [row, row], style, color=colour, linewidth=5 if best else 2)
            row -= 0.45
        artists.append(label(ax, high, row + 0.45 * (len(ends) + 1) / 2, f"{widest:g}", GREEN, dx=14))
    ax.set(xlim=(-0.02 * high, 1.02 * high), ylim=(row, 0.6), yticks=[])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("value; ▲ the median")
    return artists


def tents(ax: Axes, steps: Any, local: Any, smooth: Mapping[float, Any]) -> list[Artist]:
    """The local sensitivity along a chain of data sets as a spike, and the smooth one for each beta."""
    artists: list[Artist] = [*ax.bar(steps, local, width=0.5, color=VERMILION, label="local")]
    for (beta, values), (colour, line, marker) in zip(smooth.items(), LOOKS, strict=False):
        artists += ax.plot(
            steps, values, color=colour, linestyle=line, marker=marker, ms=5, mfc="none",
            label=f"smooth, β = {beta:g}",
        )  # fmt: skip
    ax.set(xlabel="how many rows are 1", ylabel="sensitivity", ylim=(0, 1.1))
    ax.set_xticks(list(steps))
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def bars_of_error(ax: Axes, errors: Mapping[str, float]) -> list[Artist]:
    """One bar for each mechanism on a logarithmic axis, with its number."""
    names, values = list(errors), list(errors.values())
    best = min(values)
    colours = [GREEN if value == best else BLUE for value in values]
    artists: list[Artist] = list(ax.barh(names, values, color=colours, height=0.55))
    for y, value in enumerate(values):
        words = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        artists.append(label(ax, value, y, words, dx=6))
    ax.set_xscale("log")
    ax.invert_yaxis()
    ax.grid(axis="x")
    return artists


def dilated(ax: Axes, stretch: float, reach: float) -> list[Artist]:
    """ln of a noise's density, stretched, over the density itself: bounded only for heavy tails."""
    z = np.linspace(-reach, reach, 481)
    standard = {
        "Gaussian": (laws.Gaussian(0, stretch), laws.Gaussian(0, 1)),
        "Laplace": (laws.Laplace(0, stretch), laws.Laplace(0, 1)),
        "Cauchy, γ = 4": (laws.GeneralizedCauchy(0, stretch, 4), laws.GeneralizedCauchy(0, 1, 4)),
        "Student t, 3 degrees": (laws.StudentT(0, stretch, 3), laws.StudentT(0, 1, 3)),
    }
    ratios = {name: wide.log_prob(z) - plain.log_prob(z) for name, (wide, plain) in standard.items()}
    artists = curves(ax, z, ratios, markers=False)
    ax.set(xlim=(-reach, reach), ylim=(-0.4, 2.6), xlabel="noise z", ylabel="log-ratio (nats)")
    return artists


def ruled_out(ax: Axes, thresholds: Any, shown: Mapping[str, Any], claim: float) -> list[Artist]:
    """The epsilon that the event "above w" rules out, for each w and mechanism, next to the claim."""
    artists = curves(ax, thresholds, shown, markers=False)
    artists.append(ax.axhline(claim, color=VERMILION, linestyle="--", linewidth=1))
    artists.append(ax.axhspan(claim, 4 * claim, color=VERMILION, alpha=0.1, linewidth=0))
    artists.append(label(ax, thresholds[-1], 1.15 * claim, "the claim is broken", VERMILION, dx=-112))
    ax.set(xlim=(thresholds[0], thresholds[-1]), ylim=(0, 4 * claim))
    ax.set(xlabel="w: the event is y > w", ylabel="ε that the event rules out")
    return artists
