"""Law: a probability law that samples, has a density, and draws itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.errors import Floats, generator, reject

if TYPE_CHECKING:
    from dpcourse.laws.finite import Finite

__all__ = ["Law", "Size", "generator", "shape_of"]

Size = int | tuple[int, ...] | None


def shape_of(size: Size) -> tuple[int, ...]:
    """numpy's size argument as a tuple: None is one draw without an axis of its own."""
    if size is None:
        return ()
    shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
    if min(shape, default=0) < 0:
        reject("size", size, "no less than 0 draws", "say how many draws you want, such as 1000.")
    return shape


class Law(ABC):
    """A probability law, or an array of laws: parameters broadcast as numpy arrays do.

    `sample(rng, size)` has shape `size + batch_shape`, where `batch_shape` is the shape that the
    parameters broadcast to: one `Laplace(loc=array)` is as many laws as the array has entries.
    """

    discrete: ClassVar[bool] = False
    """Whether `log_prob` is the logarithm of a probability (else of a density)."""

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape that the parameters broadcast to."""
        return np.broadcast_shapes(*(np.shape(getattr(self, f.name)) for f in fields(self)))  # type: ignore[arg-type]

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: Size = None) -> Any:
        """Independent draws, of shape `size + batch_shape`."""

    @abstractmethod
    def log_prob(self, y: Any) -> Any:
        """The logarithm of the density at y (of the probability, for a discrete law)."""

    @abstractmethod
    def cdf(self, y: ArrayLike) -> Any:
        """Pr[Y <= y]."""

    def sf(self, y: ArrayLike) -> Any:
        """Pr[Y > y]; without cancellation in the tail where the law allows it."""
        return 1 - self.cdf(y)

    @abstractmethod
    def mean(self) -> Any:
        """E[Y]; NaN where it does not exist."""

    @abstractmethod
    def variance(self) -> Any:
        """E[(Y - E[Y])^2]; infinite or NaN where it does not exist."""

    @property
    @abstractmethod
    def formula(self) -> str:
        """The density or probability, in LaTeX."""

    def prob(self, y: Any) -> Any:
        """The density at y (the probability, for a discrete law)."""
        return np.exp(self.log_prob(y))

    def std(self) -> Any:
        """The standard deviation."""
        return np.sqrt(self.variance())

    def to_finite(self) -> Finite | None:
        """The same law as a `Finite` one, if its support is finite."""
        return None

    def __getitem__(self, index: Any) -> Law:
        """One law (or a part) of a batch."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        shape = self.batch_shape
        return type(self)(**{name: np.broadcast_to(v, shape)[index] for name, v in values.items()})

    def window(self) -> tuple[float, float]:
        """An interval that a picture of the law should show."""
        centre, spread = float(np.mean(self.mean())), float(np.max(self.std()))
        return centre - 4 * spread, centre + 4 * spread

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = [f.name for f in fields(self)]  # type: ignore[arg-type]
        return all(_same(getattr(self, n), getattr(other, n)) for n in names)

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def _repr_html_(self) -> str:
        """A small picture and the formula; ink in the page's own colour reads on any theme."""
        caption = f"<code>{escape(repr(self))}</code> &nbsp; ${self.formula}$"
        if self.batch_shape:
            return f"<div>{caption} &nbsp; ({self.batch_shape} laws)</div>"
        return f"<div>{self._picture()}<div>{caption}</div></div>"

    def _picture(self, width: int = 240, height: int = 64) -> str:
        low, high = self.window()
        if self.discrete:
            x = np.arange(np.floor(low), np.ceil(high) + 1)
            if len(x) > 200:
                x = np.unique(np.round(np.linspace(low, high, 200)))
        else:
            x = np.linspace(low, high, 161)
        return curve_svg(x, self.prob(x), repr(self), self.discrete, width, height)


def curve_svg(x: Floats, p: Floats, label: str, stems: bool, width: int, height: int) -> str:
    """A curve (or stems) over a base line as inline SVG, with its end points labelled."""
    low, high = float(x[0]), float(x[-1])
    bar = min(16.0, 0.6 * width / len(x)) if stems else 1.6
    room = 8 + bar / 2
    across = room + (width - 2 * room) * (x - low) / ((high - low) or 1.0)
    up = height - 14 - (height - 20) * p / (p.max() or 1.0)
    base = height - 14
    if stems:
        path = "".join(f"M{a:.1f} {base}V{b:.1f}" for a, b in zip(across, up, strict=True))
    else:
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(across, up, strict=True))
    text = f'font-size="10" fill="currentColor" y="{height - 2}"'
    return (
        f'<svg role="img" aria-label="{escape(label)}" width="{width}" height="{height}">'
        f'<path d="M8 {base}H{width - 8}" stroke="currentColor" stroke-opacity="0.4"/>'
        f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="{bar:.1f}"/>'
        f'<text x="8" {text}>{low:.3g}</text>'
        f'<text x="{width - 8}" text-anchor="end" {text}>{high:.3g}</text></svg>'
    )


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)
