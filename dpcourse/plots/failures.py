"""Pictures of how privacy fails: who sees what, fingerprints, crowds, repeated questions, reconstruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter

from dpcourse.attacks import PhaseCurve, error_probability
from dpcourse.errors import Floats
from dpcourse.laws import Law
from dpcourse.plots.reconstruction import bitmap
from dpcourse.plots.sheet import Sheet, sheet
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION, label

MARKS = ((GREEN, "o"), (BLUE, "s"), (PURPLE, "^"), (VERMILION, "X"))


def two_models(ax: Axes, interactive: bool) -> list[Artist]:
    """People, the curator who has their data, and the analyst, who knows more than the curator gave."""
    artists: list[Artist] = []
    for x, words, colour in ((0.1, "people", GREEN), (0.45, "curator", BLUE), (0.86, "analyst", VERMILION)):
        look = {"boxstyle": "round,pad=0.5", "facecolor": "none", "edgecolor": colour, "linewidth": 1.6}
        artists.append(ax.text(x, 0.55, words, ha="center", va="center", color=colour, bbox=look))
    arrows: list[tuple[float, float, float, str, str]] = [(0.18, 0.35, 0.55, "data", "->")]
    if interactive:
        arrows += [(0.55, 0.75, 0.63, "question after question", "<-"), (0.55, 0.75, 0.47, "answers", "->")]
    else:
        arrows.append((0.55, 0.75, 0.55, "one release", "->"))
    for start, end, y, words, style in arrows:
        line = {"arrowstyle": style, "color": INK}
        artists.append(ax.annotate("", (end, y), (start, y), arrowprops=line))
        above = words != "answers"
        edge = "bottom" if above else "top"
        place = (start + end) / 2, y + (0.03 if above else -0.03)
        artists.append(ax.text(*place, words, ha="center", va=edge, fontsize=9))
    known = "other tables, old releases,\nnewspapers, insiders"
    artists.append(ax.text(0.86, 0.06, known, ha="center", va="bottom", fontsize=9, color=VERMILION))
    rise = {"arrowstyle": "->", "color": VERMILION, "linestyle": "--"}
    artists.append(ax.annotate("", (0.86, 0.43), (0.86, 0.25), arrowprops=rise))
    ax.set(xlim=(0, 1), ylim=(0, 0.78))
    ax.set_axis_off()
    return artists


def fingerprints(ax: Axes, names: Sequence[str], unique: Floats) -> list[Artist]:
    """The share of people who are alone with their values, as one column after another becomes known."""
    rows = np.arange(len(names))[::-1]
    artists: list[Artist] = [*ax.barh(rows, unique, color=BLUE, alpha=0.75, height=0.6)]
    for row, share in zip(rows, unique, strict=True):
        artists.append(label(ax, float(share), float(row), f"{share:.1%}", dx=5))
    ax.set_yticks(rows, [names[0], *(f"+ {name}" for name in names[1:])])
    ax.set(xlabel="share of people who are the only one of their kind", xlim=(0, 1.1))
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    return artists


def crowds(ax: Axes, sizes: Any, shares: Floats, overall: float) -> list[Artist]:
    """Each class of a k-anonymous table: how many people it has, and how many of them have the secret."""
    classes = np.unique(np.stack([sizes, shares]), axis=1)
    certain = (classes[1] == 0) | (classes[1] == 1)
    artists: list[Artist] = [ax.axhline(overall, color=INK, linestyle="--", linewidth=1)]
    artists += ax.plot(*classes[:, ~certain], "o", color=BLUE, mfc="none", label="a class")
    artists += ax.plot(
        *classes[:, certain], "X", color=VERMILION, label="a class where the secret is certain"
    )
    artists.append(label(ax, 0, overall, "everybody", dx=5, dy=8))
    ax.set(xlabel="people in the class", ylabel="share with the secret", xlim=(0, None), ylim=(-0.03, None))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def running_means(ax: Axes, means: Sequence[Floats], truth: float) -> list[Artist]:
    """The mean of the first k answers to one question, with the band in which it rounds to the truth."""
    artists: list[Artist] = [ax.axhspan(truth - 0.5, truth + 0.5, color=GREEN, alpha=0.25, linewidth=0)]
    for mean, (colour, style) in zip(means, ((BLUE, "-"), (PURPLE, "--"), (VERMILION, ":")), strict=False):
        artists += ax.plot(np.arange(1, len(mean) + 1), mean, style, color=colour, linewidth=1.2)
    ax.set(xscale="log", xlabel="times asked, k", ylabel="mean of the answers", ylim=(truth - 8, truth + 8))
    artists.append(ax.text(1.1, truth, "rounds to the truth", color=GREEN, fontsize=9, va="center"))
    ax.grid()
    return artists


def rounding_errors(ax: Axes, noise: Law, times: Sequence[int], wrong: Sequence[float]) -> list[Artist]:
    """How often the rounded mean is wrong: exactly, and in the games played."""
    k = np.unique(np.geomspace(1, max(times), 60).astype(int))
    exact = [error_probability(noise, int(i)) for i in k]
    artists: list[Artist] = [*ax.plot(k, exact, color=BLUE, label="exact")]
    artists += ax.plot(times, wrong, "o", color=VERMILION, mfc="none", markersize=7, label="played")
    ax.set(xscale="log", xlabel="times asked, k", ylabel="probability of a wrong count", ylim=(-0.03, 1.03))
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def survivors(
    ax: Axes, errors: Sequence[float], worst: Sequence[int], usual: Sequence[Sequence[int]]
) -> list[Artist]:
    """Bits in which a candidate that fits all answers differs from the secret, under the line 4E."""
    ends = np.array([0, max(errors)])
    artists: list[Artist] = [*ax.plot(ends, 4 * ends, "--", color=INK, label="4E")]
    for error, found in zip(errors, usual, strict=True):
        artists += ax.plot([error] * len(found), found, "o", color=BLUE, mfc="none", alpha=0.6)
    artists[-1].set_label("random errors up to E")
    artists += ax.plot(errors, worst, "D", color=VERMILION, label="answers chosen to confuse")
    ax.set(xlabel="largest error of an answer, E", ylabel="bits of a survivor that are wrong")
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def recovery(ax: Axes, curves: Sequence[PhaseCurve]) -> list[Artist]:
    """The fraction recovered against c, for noise up to c sqrt(n); one mark for each n."""
    artists: list[Artist] = [ax.axhline(0.5, color=INK, linestyle=":", linewidth=1)]
    for curve, (colour, mark) in zip(curves, MARKS, strict=False):
        artists += ax.plot(curve.levels, curve.mean, mark, color=colour, mfc="none", label=f"n = {curve.n}")
    last = curves[-1]
    artists += ax.plot(last.levels, last.expected, color=INK, label="least squares, expected")
    artists.append(label(ax, float(last.levels[0]), 0.5, "tossing coins", dx=0, dy=-9))
    ax.set(
        xscale="log", xlabel="noise c: answers are off by up to c√n", ylabel="bits right", ylim=(0.4, 1.03)
    )
    ax.set_xticks([0.125, 0.25, 0.5, 1, 2, 4], ["1/8", "1/4", "1/2", "1", "2", "4"], minor=False)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.legend(frameon=False, labelcolor=INK)
    ax.grid()
    return artists


def gallery(pictures: Mapping[str, Any], side: float = 124.0, gap: float = 14.0) -> Figure:
    """Square pictures in a row, sizes in points: first the secret, then others with a cross at each error."""
    secret = np.asarray(next(iter(pictures.values()))) > 0.5
    fig, _ = sheet((len(pictures) * (side + gap) + gap) / 72, (side + 34) / 72)
    for i, (title, values) in enumerate(pictures.items()):
        place = Sheet(fig, gap + i * (side + gap), 8, side, side)
        bitmap(place, values, title, (np.asarray(values) > 0.5) != secret)
    return fig
