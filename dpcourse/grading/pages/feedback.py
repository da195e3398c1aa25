"""The page that one student gets: each exercise, what was asked, what was found, and the hint."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from dpcourse.grading.pages.charts import chip, meter
from dpcourse.grading.pages.markup import Html, joined, page, tag, words
from dpcourse.grading.records import Mark, Result
from dpcourse.grading.roster import bad_name
from dpcourse.grading.tables import number

LATE: Final = "This came in after the due date."
HUMAN: Final = (
    "A person will look at part of this: the grader could not decide, and that is not your fault. "
    "The points so far are not final."
)


def file_name(student: str) -> str:
    """What a student's page is called on every system; no two students share one.

    >>> file_name("ada"), file_name("../Ada")
    ('ada.html', '_Ada~4e4af216.html')
    """
    if not bad_name(student) and re.fullmatch(r"[a-z0-9_.@+-]+", student):
        return f"{student}.html"
    plain = re.sub(r"[^A-Za-z0-9]+", "_", student)[:40]
    return f"{plain}~{hashlib.sha256(student.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}.html"


def student_page(result: Result, title: str, sandboxed: bool) -> str:
    """A self-contained page, with nothing in it that the result does not show."""
    share = result.points / result.possible if result.possible else 0.0
    score = f"{number(result.points)} of {number(result.possible)} points"
    notes = [
        *([tag("p", LATE, class_="note")] if result.late else []),
        *([tag("p", HUMAN, class_="note")] if result.needs_a_human else []),
    ]
    right = sum(mark.verdict == "right" for mark in result.marks)
    return page(
        f"{title}: {result.student}",
        tag("p", title, class_="over"),
        tag("h1", result.student),
        tag(
            "div",
            tag("b", number(result.points)),
            tag("span", f"of {number(result.possible)} points"),
            tag("span", f"· {right} of {len(result.marks)} exercises right", class_="soft"),
            class_="score",
        ),
        meter(share, score),
        *notes,
        tag("h2", "Your answers"),
        *(_card(place, mark) for place, mark in enumerate(result.marks, 1)),
        *_remarks(result),
        tag(
            "footer",
            "An answer is tried on fresh inputs; you see a simple one on which it fails. To try again: ",
            tag("code", "dpcourse check"),
            " with your notebook.",
        ),
        sandboxed=sandboxed,
    )


def _card(place: int, mark: Mark) -> Html:
    human = mark.verdict == "needs a human"  # whose reason is ours, and not for the student
    points = f"{'–' if human else number(mark.points)} / {number(mark.possible)}"
    head = tag("h3", f"{place}. {mark.title}"), chip(mark.verdict), tag("span", points, class_="points")
    facts: list[Html] = []
    if mark.verdict != "right" and not human:
        for name, text in (("Tried", mark.where), ("Asked", mark.asked), ("Found", mark.found)):
            facts += [tag("dt", name), tag("dd", tag("pre", text))] if text else []
        facts += [tag("dt", "Hint"), tag("dd", words(mark.hint), class_="hint")] if mark.hint else []
    body = [tag("dl", *facts)] if facts else []
    return tag("section", tag("header", *head), *body, class_="card")


def _remarks(result: Result) -> list[Html]:
    if not result.remarks:
        return []
    items = (tag("li", remark) for remark in result.remarks)
    return [joined(tag("h2", "About your notebook"), tag("ul", *items))]
