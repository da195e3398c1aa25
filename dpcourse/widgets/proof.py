"""The proof walker: one line of any proof after the other, both sides live."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse.errors import one_of
from dpcourse.proofs import Proof, Rational, Real, Whole, book
from dpcourse.proofs.parameters import Parameter
from dpcourse.widgets.controls import Control
from dpcourse.widgets.explorer import Button, Choice, Explorer, Slider, View

STATED = "as stated"


def control(name: str, kind: Parameter, start: Any) -> Control:
    """A slider for a number; for a list or a law, a button that draws another one."""
    if isinstance(kind, Whole) and kind.high - kind.low <= 200:
        return Slider(name, kind.low, kind.high, 1, int(start))
    if isinstance(kind, Whole | Real | Rational):
        low, high = float(kind.low), float(kind.high)
        if kind.log and low > 0:
            ends = math.log10(low), math.log10(high)
            first = int(start) if isinstance(kind, Whole) else float(start)
            return Slider(name, *ends, (ends[1] - ends[0]) / 40, first, log=True)
        step = 10.0 ** math.floor(math.log10((high - low) / 20))
        return Slider(name, low, high, step if (high - low) / step <= 100 else 5 * step, float(start))
    return Button(f"Draw other {name}")


def widest(proof: Proof, name: str) -> Parameter:
    """The range of a number over all domains of a proof: a slider must reach where a dropped one matters."""
    kind = proof.domain.parameters[name]
    if not isinstance(kind, Whole | Real | Rational):
        return kind
    kinds: list[Any] = [kind, *(domain.parameters[name] for domain in proof.hypotheses.values())]
    return replace(kind, low=min(k.low for k in kinds), high=max(k.high for k in kinds))


def point(proof: Proof, values: dict[str, Any]) -> dict[str, Any]:
    """The point of the domain that the controls mean: numbers kept in their range, lists drawn by count."""
    found: dict[str, Any] = {}
    for place, (name, kind) in enumerate(proof.domain.parameters.items()):
        value = values[name]
        if isinstance(kind, Whole | Real):
            found[name] = min(max(value, kind.low), kind.high)
        elif isinstance(kind, Rational):
            found[name] = min(max(Fraction(repr(float(value))), Fraction(kind.low)), Fraction(kind.high))
        elif value:
            found[name] = _drawn(kind, place, value)
    return found


def beyond(proof: Proof, values: dict[str, Any]) -> str:
    """Which sliders stand outside what the theorem is about; a log slider is only near to its ends."""
    kept = point(proof, values)
    return "".join(
        f" {name} is kept at {kind.show(kept[name])}, where the theorem ends."
        for name, kind in proof.domain.parameters.items()
        if isinstance(kind, Whole | Real | Rational)
        and not math.isclose(kept[name], values[name], rel_tol=1e-9, abs_tol=1e-12)
    )


@lru_cache(maxsize=512)
def _drawn(kind: Parameter, place: int, count: int) -> Any:
    drawn = kind.draw(np.random.default_rng([place, count]), 1)[0]
    return (
        tuple(tuple(map(int, row)) for row in drawn)
        if drawn.ndim > 1
        else tuple(x.item() if isinstance(x, np.generic) else x for x in drawn)
    )


def view(proof: Proof, line: int, values: dict[str, Any]) -> View:
    """The line in large above the bars of all lines, and where the proof loses most."""
    from dpcourse.plots import panels
    from dpcourse.plots import walker as picture
    from dpcourse.plots.proofs import SIGN

    checked = proof.check(**point(proof, values))
    rows = checked.rows
    place = min(line, len(rows)) - 1
    height = 2.6 + 0.42 * len(rows)
    with panels(10, height, rows=(1.05, 0.36 * len(rows)), left=2.5, down=0.35, top=0.2) as (
        fig,
        (top, bottom),
    ):
        top.set_position((0.02, 1 - 1.45 / height, 0.955, 1.25 / height))
        picture.line_in_large(top, rows[place], place, len(rows))
        picture.all_lines(bottom, rows, place)
    row = rows[place]
    broken = [row.name for row in rows if row.outcome.value == "violated"]
    sides = f"{row.left_text} {SIGN[row.relation]} {row.right_text}"
    words = f"{row.name}: {sides}, {row.outcome.value}, because {picture.readable(row.step.because)}.\n"
    if broken:
        words += f"Fails here: {', '.join(broken)}."
    elif checked.loses_most is not None and checked.loses_most.slack > 0:
        words += f"All lines hold. Most is lost at: {checked.loses_most.name}."
    else:
        words += "All lines hold."
    words += beyond(proof, values)
    return View(fig, words + f" ({proof.name}; {proof.reference})")


def proof(proof: Proof | str = "group-privacy-pure", **start: Any) -> Explorer:
    """Walk through a proof of the course line by line; give a Proof, or its name in the book.

    >>> proof("kl-lemma-tanh", line=2)
    Explorer(proof of kl-lemma-tanh: line = 2, ratio = 2, kernel = 0, domain = as stated)
    """
    if isinstance(proof, str):
        proof = book()[one_of("proof", proof, book())]
    said = proof
    example = said.domain.example()
    controls: dict[str, Control] = {"line": Slider("line", 1, len(said.lines), 1, 1, play=True)}
    controls |= {name: control(name, widest(said, name), example[name]) for name in said.domain.parameters}
    if said.hypotheses:
        controls["domain"] = Choice("hypotheses", (STATED, *(f"without: {name}" for name in said.hypotheses)))

    def draw(line: int, domain: str = STATED, **values: Any) -> View:
        chosen = said if domain == STATED else said.without(domain.removeprefix("without: "))
        return view(chosen, line, values)

    return Explorer(f"proof of {said.name}", draw, controls, **start)
