"""What runs in a student's process: ask the answer every question, and publish the evidence as JSON.

Nothing here is secret and nothing here decides: whoever forges the evidence has to forge right answers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, Final

from dpcourse.workbook.questions import Question, observe

MIME: Final = "application/vnd.dpcourse.probe+json"
MOST: Final = 2**20
"""Bytes of evidence for one exercise, and then no more: an answer of that size is no answer."""
CHANGING: Final = {"_", "input", "getpass", "excepthook", "displayhook"}
"""What IPython itself sets anew for each cell."""
GIVEN: Final = "given"
"""The place of the names in the notebook's own namespace."""
_known: dict[str, dict[str, int]] = {}


def ask(nonce: str, groups: str, *answers: Callable[[], Any]) -> None:
    """Publish the evidence of each answer on its own questions."""
    found, left = [], MOST
    for answer, questions in zip(answers, json.loads(groups), strict=True):
        evidence = []
        for question in questions:
            item = _observed(answer, question)
            left -= len(json.dumps(item))
            evidence.append(
                item if left > 0 else ["error", "OverflowError", "more than a megabyte of answers"]
            )
        found.append(evidence)
    _publish(nonce, found)


def _observed(answer: Callable[[], Any], question: list[Any]) -> list[Any]:
    try:
        found = ["ok", observe(answer(), Question.of(question))]
        json.dumps(found, allow_nan=False)
    except BaseException as error:  # an answer may raise anything, and the next question is still asked
        return ["error", type(error).__name__[:100], _text(error)]
    return found


def _text(error: BaseException) -> str:
    try:
        return str(error)[:500]
    except BaseException:
        return ""


def _publish(nonce: str, found: Any) -> None:
    from IPython.display import display

    display({MIME: {"nonce": nonce, "found": found}}, raw=True)  # type: ignore[no-untyped-call]


def remember() -> None:
    """Note what every answer shares, after the given cells and before the first answer."""
    _known.update(_shared())


def disturbed(nonce: str) -> None:
    """Publish what is no longer as it was: then no failure in this process says much."""
    now = _shared()
    changed = [
        f"{place}.{name}"
        for place, names in _known.items()
        for name, identity in names.items()
        if now.get(place, {}).get(name, None if place == GIVEN else identity) != identity
    ]
    _publish(nonce, sorted(changed)[:20])


def _shared() -> dict[str, dict[str, int]]:
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    hooks = {name: len(calls) for name, calls in shell.events.callbacks.items()}
    hooks |= {name: len(getattr(shell, name)) for name in ("ast_transformers", "input_transformers_post")}
    hooks |= {"cleanup": len(shell.input_transformers_cleanup), "run": id(type(shell).run_cell)}
    hooks |= {"execute": id(type(shell.kernel).do_execute), "trace": id(sys.gettrace())}
    own = {
        name: id(value)
        for name, value in (*vars(shell).items(), *vars(shell.kernel).items())
        if callable(value)
    }
    modules = {
        name: {key: id(value) for key, value in list(vars(module).items()) if _steady(key, value)}
        for name, module in list(sys.modules.items())
        if name != "__main__" and hasattr(module, "__dict__")
    }
    given = {name: id(value) for name, value in shell.user_ns.items() if not name.startswith("_")}
    return {**modules, "hooks": hooks, "own": own, GIVEN: given}


def _steady(name: str, value: Any) -> bool:
    return callable(value) and name not in CHANGING
