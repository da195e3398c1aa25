"""What the table shows: the tree of the game, the walk, what is known, and the score; never the secret."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcourse.game import Challenge, Transcript
from dpcourse.widgets.explorer import View
from dpcourse.widgets.game_table.rules import ABOUT, BEST, Rules
from dpcourse.widgets.game_table.state import Table

if TYPE_CHECKING:
    from dpcourse.plots import Spot


def show(table: Table, plan: bool = True) -> View:
    """The picture of a table and its exact numbers in words; `plan` shows what best play would do."""
    from dpcourse import plots

    rules = table.rules
    plan = plan and not table.over
    fig, whole = plots.sheet(10, 4.7)
    title = "the game so far" + (", and the best plan from here" if plan else "")
    whole.title(title, 8, above=-20)
    plots.decision_tree(plots.Sheet(fig, 0, 42, 470, 264), tree_of(table, plan), rules.rounds)
    for i, name in enumerate(rules.menu):
        whole.text(10, 26 - 14 * i, f"{letter(rules, name)}: {name}, {ABOUT[name]}", fontsize=9)
    whole.text(300, 26, "a disc: the chance of 0 (blue) and 1 (orange)", fontsize=9)
    right, wide = 505.0, 205.0
    walk = plots.Sheet(fig, right, 205, wide, 106)
    plots.loss_walk(walk, losses_of(table.view), rules.rounds, math.log(rules.ratio), _reach(rules))
    known = plots.Sheet(fig, right, 138, wide, 22)
    said = f"chance of bit 0: {shown(table.posterior)}"
    plots.knowledge(known, float(table.posterior), said, table.bit if table.over else None)
    exact = {table.strategy: float(rules.chance(table.strategy))}
    played = {table.strategy: _pair(table.by_strategy), "you": _pair(table.by_hand)}
    plots.score(plots.Sheet(fig, right + 62, 30, wide - 62, 52), exact, played)
    return View(fig, words(table, plan))


def words(table: Table, plan: bool = True) -> str:
    """The state of the game in sentences."""
    rules, view = table.rules, table.view
    parts = [_headline(table)]
    if table.note:
        parts.append(table.note)
    if not table.over:
        likelier = (
            f"The chance of bit 0 is {shown(table.posterior)} by now."
            if view.rounds
            else (f"Before the first answer the chance of bit 0 is {shown(rules.prior)}.")
        )
        parts.append(likelier)
        if rules.budget is not None:
            parts.append(f"The budget is ln {rules.budget}, spent: {_spent(rules, view)}.")
        if plan:
            advice = rules.advice(view)
            best = (
                f"ask {letter(rules, advice)} ({advice})"
                if advice
                else f"say {int(table.posterior < Fraction(1, 2))}"
            )
            parts.append(f"Best now: {best}; best play wins {shown(rules.value(view))}.")
    hand, many = table.by_hand, table.by_strategy
    if hand.played:
        parts.append(f"You won {hand.won} of {hand.played}.")
    exact = f"its exact chance is {shown(rules.chance(table.strategy))}"
    if many.played:
        parts.append(f"The strategy “{table.strategy}” won {many.won} of {many.played}; {exact}.")
    elif table.strategy != BEST or table.over:
        parts.append(f"The strategy “{table.strategy}”: {exact}.")
    return " ".join(parts)


def _headline(table: Table) -> str:
    if table.over:
        end = "you win" if table.won else "you lose"
        return f"You said {table.guess}. The bit was {table.bit}: {end}."
    asked = len(table.view)
    if not asked:
        place = f"Series {table.seed}, game {table.number + 1}"
        return f"{place}: a secret bit, {table.rules.rounds} questions."
    heard = ", ".join(_said(answer) for answer in table.view.answers)
    return f"Answers: {heard}; {table.view.left} more may be asked."


def shown(value: Fraction) -> str:
    """A fraction where it is short, and its decimals."""
    return (
        f"{value} = {float(value):.4g}"
        if value.denominator < 10_000 and value.denominator > 1
        else f"{float(value):.4g}"
    )


def tree_of(table: Table, plan: bool) -> Spot:
    """The way so far with the answers that did not come, and from here the best plan (if it is shown)."""
    rules = table.rules
    ahead = _ahead(rules, table.view) if plan else _here(table)
    for place in range(len(table.view) - 1, -1, -1):
        before, taken = _cut(rules, table.view, place), table.view.rounds[place]
        name = _name(rules, taken.move)
        branches = []
        for answer, chance in rules.answers(before, name):
            if answer == taken.answer:
                branches.append(replace(ahead, answer=_said(answer), chance=float(chance)))
            elif chance:
                p = rules.posterior(rules.after(before, name, answer))
                branches.append(_spot(_said(answer), chance, p, "", "missed"))
        ahead = _spot("", 1, rules.posterior(before), f"ask {letter(rules, name)}", "past", tuple(branches))
    return ahead


def _here(table: Table) -> Spot:
    act = f"you said {table.guess}" if table.over else "?"
    return _spot("", 1, table.posterior, act, "now")


def _ahead(rules: Rules, view: Transcript, answer: str = "", chance: float = 1.0, kind: str = "now") -> Spot:
    """Best play from a view on."""
    name, p = rules.advice(view), rules.posterior(view)
    if name is None:
        return _spot(answer, chance, p, f"say {int(p < Fraction(1, 2))}", kind)
    branches = tuple(
        _ahead(rules, rules.after(view, name, y), _said(y), float(w), "plan")
        for y, w in rules.answers(view, name)
        if w
    )
    return _spot(answer, chance, p, f"ask {letter(rules, name)}", kind, branches)


def _spot(
    answer: str, chance: Any, posterior: Fraction, act: str, kind: str, branches: tuple[Spot, ...] = ()
) -> Spot:
    from dpcourse.plots import Spot

    return Spot(answer, float(chance), float(posterior), str(posterior), act, kind, branches)


def letter(rules: Rules, name: str) -> str:
    """What the question's button is called."""
    return "AB"[list(rules.menu).index(name)]


def losses_of(view: Transcript) -> list[float]:
    """The accumulated loss, from 0, after each answer."""
    steps = [r.move.loss_at(r.answer) for r in view.rounds if isinstance(r.move, Challenge)]
    losses = [0.0]
    for step in steps:
        losses.append(losses[-1] + step)
    return losses


def _reach(rules: Rules) -> float:
    """As far as the walk can come, infinite steps aside."""
    if rules.budget is not None:
        return math.log(rules.budget)
    steps = [
        abs(c.loss_at(y))
        for c in rules.menu.values()
        for y, _ in rules.answers(Transcript(), _name(rules, c))
    ]
    return rules.rounds * max(step for step in steps if math.isfinite(step))


def _cut(rules: Rules, view: Transcript, rounds: int) -> Transcript:
    before = Transcript(left=rules.rounds)
    for r in view.rounds[:rounds]:
        before = rules.after(before, _name(rules, r.move), r.answer)
    return before


def _name(rules: Rules, move: Any) -> str:
    return next(name for name, challenge in rules.menu.items() if challenge is move)


def _said(answer: Any) -> str:
    return f"“{answer}”" if isinstance(answer, int) else str(answer)


def _spent(rules: Rules, view: Transcript) -> str:
    odds = [round(math.exp(c.epsilon(0.0))) for c in view.charges]
    return " + ".join(f"ln {n}" for n in odds) or "nothing"


def _pair(score: Any) -> tuple[int, int]:
    return score.won, score.played
