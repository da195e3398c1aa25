"""Pictures of laws: densities side by side, and how far apart their logarithms are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse.laws import Law
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION

LINES = ((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."), (PURPLE, ":"))


def densities(ax: Axes, laws: Mapping[str, Law], span: tuple[float, float]) -> list[Artist]:
    """The density of each law over a span of outputs, by name."""
    y = np.linspace(*span, 801)
    artists: list[Artist] = []
    for (name, law), (colour, style) in zip(laws.items(), LINES, strict=False):
        artists += ax.plot(y, np.exp(law.log_prob(y)), style, color=colour, label=name)
    ax.set(xlabel="output y", ylabel="density", xlim=span)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def log_ratio(ax: Axes, left: Law, right: Law, limit: float, span: tuple[float, float]) -> list[Artist]:
    """ln(density of left / density of right) at each output, between the lines that a promise draws."""
    y = np.linspace(*span, 801)
    artists: list[Artist] = [*ax.plot(y, left.log_prob(y) - right.log_prob(y), color=GREEN)]
    artists += [ax.axhline(s * limit, color=VERMILION, linestyle="--", linewidth=1) for s in (-1, 1)]
    ax.set(xlabel="output y", ylabel="log-ratio (nats)", xlim=span)
    ax.grid()
    return artists


def shade(ax: Axes, law: Law, above: float, span: tuple[float, float], **look: Any) -> Artist:
    """The area under a density from `above` on: the probability of an event."""
    y = np.linspace(above, span[1], 401)
    return ax.fill_between(y, np.exp(law.log_prob(y)), **look)
