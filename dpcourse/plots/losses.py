"""Pictures of the privacy loss as a random variable: tails, walks, and what is claimed of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from dpcourse.adversaries import AzumaGap
from dpcourse.errors import Floats
from dpcourse.loss import PrivacyLoss
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label

LINES = ((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."), (PURPLE, ":"))


def loss_tails(ax: Axes, losses: Mapping[str, PrivacyLoss], span: tuple[float, float]) -> list[Artist]:
    """Pr[L > x] of each loss, by name; the last step of a curve that stays up is infinite loss."""
    x = np.linspace(*span, 1201)
    artists: list[Artist] = []
    for (name, loss), (colour, style) in zip(losses.items(), LINES, strict=False):
        artists += ax.plot(x, loss.tail(x), style, color=colour, label=name)
    ax.set(
        xlabel="privacy loss x (nats)", ylabel="probability of a loss above x", ylim=(-0.02, 1.02), xlim=span
    )
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def loss_walks(ax: Axes, walks: Floats, drift: Floats, epsilon: float, delta: float) -> list[Artist]:
    """Walks of the loss, their mean, and the envelope that all but delta of them end below."""
    rounds = np.arange(walks.shape[1])
    width = np.sqrt(2 * rounds[-1] * math.log(1 / delta)) * epsilon * np.sqrt(rounds / rounds[-1])
    artists: list[Artist] = list(ax.plot(rounds, walks.T, color=INK, linewidth=0.6, alpha=0.35))
    artists += ax.plot(rounds, drift, color=GREEN, linewidth=2)
    artists += ax.plot(rounds, drift + width, "--", color=BLUE)
    artists += ax.plot(rounds, rounds * epsilon, ":", color=VERMILION)
    ends = ((drift[-1], "mean", GREEN), (drift[-1] + width[-1], "Azuma", BLUE))
    artists += [label(ax, rounds[-1], y, name, colour, dx=4) for y, name, colour in ends]
    artists.append(label(ax, rounds[-1], rounds[-1] * epsilon, "basic", VERMILION, dx=4))
    ax.set(xlabel="round", ylabel="accumulated loss (nats)", xlim=(0, rounds[-1]))
    ax.grid()
    return artists


def claims(
    ax: Axes, loss: PrivacyLoss, marks: Sequence[tuple[str, float, bool]], delta: float
) -> list[Artist]:
    """delta(epsilon) of a composition on a log scale, and where each formula puts its epsilon.

    A claim is right if its mark lies where the curve has already fallen to delta.
    """
    right = 1.05 * max(epsilon for _, epsilon, _ in marks)
    x = np.linspace(0, right, 400)
    artists: list[Artist] = list(ax.plot(x, np.maximum(loss.delta(x), 1e-300), color=GREEN))
    artists.append(ax.axhline(delta, color=INK, linewidth=0.8))
    artists.append(label(ax, 0, delta, f"δ' = {delta:g}", INK, dx=5, dy=7))
    floor = delta * 1e-4
    for name, epsilon, holds in marks:
        y = float(loss.delta(epsilon))
        below = y < floor  # off the scale: an arrow, and the number
        colour, marker = (BLUE, "v" if below else "o") if holds else (VERMILION, "X")
        words = f"{name}: {y:.0e}" if below else name
        artists += ax.plot([epsilon], [max(y, floor)], marker, color=colour, markersize=9, clip_on=False)
        aside = (-22, 16) if below else (10, 4)
        artists.append(label(ax, epsilon, max(y, floor), words, colour, dx=aside[0], dy=aside[1]))
    ax.set(yscale="log", xlabel="claimed ε' (nats)", ylabel="exact δ at that ε'", ylim=(floor, 2))
    ax.set_xlim(0, right)
    ax.grid()
    return artists


def azuma_gap(ax: Axes, gaps: Sequence[AzumaGap]) -> list[Artist]:
    """What the flawed step claims against the exact probability, for growing numbers of rounds."""
    k = [gap.k for gap in gaps]
    artists: list[Artist] = list(ax.plot(k, [g.probability() for g in gaps], "-D", color=GREEN, markersize=4))
    artists.append(ax.axhline(gaps[0].delta, color=VERMILION, linestyle="--"))
    artists.append(
        label(ax, k[0], gaps[0].delta, f"claimed: at most {gaps[0].delta:g}", VERMILION, dx=4, dy=8)
    )
    ax.set(xscale="log", xlabel="rounds k", ylabel="$\\Pr[f \\geq E[f] + t]$, exactly")
    ax.set_ylim(bottom=0)
    ax.grid()
    return artists
