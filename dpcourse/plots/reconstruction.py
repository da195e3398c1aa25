"""Pictures of reconstruction: the secret, what the answers give away, and where it stops."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from numpy.typing import ArrayLike

from dpcourse.errors import Floats
from dpcourse.plots.sheet import Sheet
from dpcourse.plots.style import BLUE, GREEN, INK, PURPLE, VERMILION


def bitmap(on: Sheet, values: ArrayLike, title: str, wrong: Any = None) -> None:
    """A square picture in shades of blue, 0 clear and 1 full; a wrong pixel has a cross."""
    grid = np.asarray(values, dtype=float)
    rows, columns = grid.shape
    size = on.wide / columns
    corner = np.array([(c, rows - 1 - r) for r, c in np.ndindex(rows, columns)])
    cells = (corner[:, None] + [(0, 0), (1, 0), (1, 1), (0, 1)]) * size
    shades = np.tile(to_rgba(BLUE), (grid.size, 1))
    shades[:, 3] = 0.04 + 0.96 * grid.ravel()
    look: Any = {"facecolors": shades, "edgecolors": (*to_rgba(INK)[:3], 0.35), "linewidths": 0.6}
    on.add(PolyCollection(cells, **look))  # one artist: a rectangle for each pixel takes ten times as long
    if wrong is not None and np.any(wrong):
        r, c = np.nonzero(wrong)
        x, y = (c + 0.5) * size, (rows - 0.5 - r) * size
        on.line(
            x, y, marker="x", markersize=10, markeredgewidth=3, color=VERMILION, linestyle="none", zorder=4
        )
    on.title(title)


def phase(
    ax: Axes, levels: Floats, expected: Floats, runs: Floats, here: float, found: float, attack: str
) -> list[Artist]:
    """The fraction recovered against the noise c sqrt(n): expected, in single runs, and in the run shown."""
    artists: list[Artist] = [ax.axhline(0.5, color=INK, linewidth=1, linestyle=":", label="tossing coins")]
    artists += ax.plot(
        levels, runs, "o", color=PURPLE, mfc="none", markersize=4, label="least squares, one run each"
    )
    if np.isfinite(expected).any():
        artists += ax.plot(levels, expected, color=GREEN, linewidth=2, label="least squares, expected")
    artists += ax.plot([here, here], [0.5, 1.02], color=INK, linewidth=1)
    artists += ax.plot(
        [here], [found], "D", color=VERMILION, markersize=9, clip_on=False, label=f"this picture ({attack})"
    )
    ax.set(xlabel="noise c: answers are off by up to c√n", ylabel="pixels right", ylim=(0.24, 1.02))
    ax.set_xlim(float(levels[0]), float(levels[-1]))
    ax.set_yticks([0.4, 0.6, 0.8, 1.0], ["40 %", "60 %", "80 %", "100 %"])
    ax.set_title("how much noise stops it")
    ax.legend(frameon=False, labelcolor=INK, loc="lower left", fontsize=9)
    ax.grid()
    return artists
