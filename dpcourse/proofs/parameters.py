"""Kinds of parameters of a proof: what values there are, which are extreme, which are simple.

A kind draws many raw values at once, names its corners, sweeps its scale, proposes simpler values for the
shrinking of a counterexample, and gives a step its view of them: exact Fractions, ints, or brackets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpcourse.errors import reject


class Parameter(ABC):
    """One named quantity of a proof."""

    shape: tuple[int, ...] = ()

    @abstractmethod
    def draw(self, rng: np.random.Generator, size: int) -> Any:
        """Raw values, one for each point, along the first axis."""

    @abstractmethod
    def corners(self) -> list[Any]:
        """The extreme values."""

    @abstractmethod
    def sweep(self) -> list[Any]:
        """Values along the whole scale."""

    @abstractmethod
    def simpler(self, value: Any) -> Iterator[Any]:
        """Values to try in place of this one, the simplest first."""

    @abstractmethod
    def size(self, value: Any) -> float:
        """How complicated a value is; shrinking makes it smaller."""

    @abstractmethod
    def rule(self) -> str:
        """What a value must be, in words."""

    @abstractmethod
    def read(self, value: Any) -> Any:
        """The raw form of a value that somebody gives; None if it breaks the rule."""

    has_fractions: bool = False
    """Whether steps can see the values as exact Fractions."""

    def view(self, raw: Any, exact: bool) -> Any:
        """What steps compute with: Fractions if `exact` and there are any, else brackets or ints."""
        return raw

    def show(self, value: Any) -> str:
        """A value as text."""
        return str(value)

    def checked(self, name: str, value: Any) -> Any:
        """The raw form, or an error that names the rule."""
        raw = self.read(value)
        if raw is None:
            fix = "choose such a value, or look at proof.without(...) to drop a hypothesis."
            reject(name, value, self.rule(), fix)
        return raw

    def array(self, values: Sequence[Any]) -> Any:
        """Raw values as one array with a point on each row."""
        return np.array(list(values))
