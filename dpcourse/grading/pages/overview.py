"""The page for whoever teaches the class: scores, hardest exercises, misconceptions, open cases."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from dpcourse.grading.pages.charts import VERDICT, histogram, legend, shares
from dpcourse.grading.pages.feedback import file_name
from dpcourse.grading.pages.markup import Html, joined, page, table, tag, words
from dpcourse.grading.records import Mark, Result
from dpcourse.grading.tables import exercises, number
from dpcourse.workbook.exercises import WrongAnswer


def class_page(
    results: Sequence[Result],
    title: str,
    bank: Mapping[str, WrongAnswer],
    missing: Sequence[str],
    sandboxed: bool,
) -> str:
    """A self-contained page with names in it, so not for students."""
    parts = [
        tag("p", title, class_="over"),
        tag("h1", "The class"),
        _tiles(results),
        _people(results, missing),
        _scores(results),
        _hardest(results),
        _wrong(results, bank),
        _failures(results),
        _everyone(results),
        tag("footer", "This page has the names of students in it: it is for whoever teaches them."),
    ]
    return page(f"{title}: the class", *parts, sandboxed=sandboxed)


def _link(result: Result) -> Html:
    return tag("a", result.student, href=f"feedback/{quote(file_name(result.student))}")


def _tiles(results: Sequence[Result]) -> Html:
    final = [result.points for result in results if not result.needs_a_human]
    possible = max((result.possible for result in results), default=0.0)
    facts = {
        "submissions": str(len(results)),
        f"median, of {number(possible)}": number(statistics.median(final)) if final else "–",
        "mean": f"{statistics.fmean(final):.1f}" if final else "–",
        "with full points": str(sum(points == possible > 0 for points in final)),
        "late": str(sum(result.late for result in results)),
        "need a human": str(sum(result.needs_a_human for result in results)),
    }
    return tag(
        "div",
        *(tag("div", tag("b", v), tag("span", k), class_="tile") for k, v in facts.items()),
        class_="tiles",
    )


def _people(results: Sequence[Result], missing: Sequence[str]) -> Html:
    """Who has to be looked at by hand, first on the page because grades wait for it."""
    rows: list[list[str]] = [
        [_link(result), mark.title, joined(mark.found or "–")]
        for result in results
        for mark in result.marks
        if mark.verdict == "needs a human"
    ]
    parts = [tag("h2", "Needs a human")]
    caption = (
        "The grader itself failed here, so these are no zeros; their totals are left empty in the tables."
    )
    parts.append(
        table(["student", "exercise", "what happened"], rows, caption) if rows else tag("p", "Nobody.")
    )
    if missing:
        parts.append(tag("p", tag("strong", f"No submission ({len(missing)}): "), ", ".join(missing)))
    return joined(*parts)


def _scores(results: Sequence[Result]) -> Html:
    """The distribution, by whole points or by as many as make about twenty bars."""
    final = [result.points for result in results if not result.needs_a_human]
    most = math.floor(max((result.possible for result in results), default=0.0))
    most = max([most, *map(math.floor, final)])  # somebody may have been given more
    wide = max(1, math.ceil(most / 20))
    counts = Counter(math.floor(points / wide) for points in final)
    starts = range(0, most + 1, wide)
    names = [f"{start}" if wide == 1 else f"{start}–{min(start + wide - 1, most)}" for start in starts]
    bins = [(name, counts[place]) for place, name in enumerate(names)]
    words = "; ".join(f"{count} with {name} points" for name, count in bins if count) or "no final scores yet"
    middle = statistics.median(final) if final else None
    at = None if middle is None else (middle + 0.5) / wide
    drawn = histogram(bins, at, "How many students have how many points", words)
    told = words if middle is None else f"The broken line is the median, {number(middle)}."
    rows: list[list[str]] = [[name, str(count)] for name, count in bins if count]
    listed = table(["points", "students"], rows, "Students by points", 1)
    as_text = tag("details", tag("summary", "as a table"), listed)
    return joined(tag("h2", "Scores"), drawn, tag("p", f"Students by points. {told}", class_="soft"), as_text)


def _hardest(results: Sequence[Result]) -> Html:
    rows: list[tuple[float, int, list[str]]] = []
    seen: set[str] = set()
    for place, mark in enumerate(exercises(results).values(), 1):
        counts = Counter(m.verdict for r in results for m in r.marks if m.exercise == mark.exercise)
        seen |= set(counts)
        total = counts.total()
        share = counts["right"] / total
        bar = shares(counts, f"{mark.title}: {_spoken(counts)}")
        spread = [str(counts[verdict] or "–") for verdict in VERDICT]
        rows.append((share, place, [joined(f"{place}. {mark.title}", bar), f"{share:.0%}", *spread]))
    rows.sort(key=lambda row: row[:2])
    heads = ["exercise", "right", *(mark for _, mark, _ in VERDICT.values())]
    body = table(heads, [row for _, _, row in rows], "Of all submissions", numbers=6)
    return joined(tag("h2", "Exercises, hardest first"), legend(sorted(seen)), body)


def _wrong(results: Sequence[Result], bank: Mapping[str, WrongAnswer]) -> Html:
    """Which known wrong answers occurred: the misconception, how often, and the code that shows it."""
    who: dict[str, list[Result]] = defaultdict(list)
    marks: dict[str, Mark] = {}
    for result in results:
        for mark in result.marks:
            if mark.wrong_answer:
                who[mark.wrong_answer].append(result)
                marks[mark.wrong_answer] = mark
    total = sum(mark.verdict == "wrong" for result in results for mark in result.marks)
    known = sum(map(len, who.values()))
    places = {name: place for place, name in enumerate(exercises(results), 1)}
    rows: list[list[str]] = []
    for name in sorted(who, key=lambda name: (-len(who[name]), places[marks[name].exercise], name)):
        known_as = bank.get(name)
        people = tag("p", "Given by ", Html(", ".join(map(_link, who[name]))), ".")
        code = tag("pre", known_as.code.strip()) if known_as else ""
        more = tag(
            "details", tag("summary", words(known_as.misconception) if known_as else name), code, people
        )
        title = f"{places[marks[name].exercise]}. {marks[name].title}"
        rows.append([str(len(who[name])), title, more])
    told = f"{known} of {total} wrong answers are among those that people are known to give."
    body = (
        table(["students", "exercise", "misconception"], rows, told)
        if rows
        else tag("p", "None was recognised.")
    )
    return joined(tag("h2", "Misconceptions"), body)


def _failures(results: Sequence[Result]) -> Html:
    seconds = sorted(result.seconds for result in results)
    slowest = sorted(results, key=lambda result: (-result.seconds, result.student))[:5]
    times: list[list[str]] = [[_link(result), f"{result.seconds:.1f}"] for result in slowest]
    errors: dict[str, Counter[str]] = defaultdict(Counter)
    for mark in (mark for result in results for mark in result.marks if mark.verdict == "error"):
        errors[mark.found.strip().split("\n")[0].split(":")[0][:60] or "unknown"][mark.title] += 1
    rows: list[list[str]] = [
        [
            kind,
            ", ".join(f"{title} ({n})" for title, n in sorted(errors[kind].items())),
            str(errors[kind].total()),
        ]
        for kind in sorted(errors, key=lambda kind: (-errors[kind].total(), kind))
    ]
    middle = f"{statistics.median(seconds):.1f}" if seconds else "–"
    told = f"{sum(seconds):.0f} seconds in all, {middle} for the submission in the middle. The slowest:"
    parts = [
        tag("h2", "Time and failures"),
        tag("p", told),
        table(["student", "seconds"], times, "Slowest submissions", 1),
    ]
    if rows:
        parts.append(table(["error", "exercises", "answers"], rows, "Answers that stopped with an error", 1))
    return joined(*parts)


def _everyone(results: Sequence[Result]) -> Html:
    rows: list[list[str]] = []
    for result in results:
        notes = [*(["late"] if result.late else []), *(["needs a human"] if result.needs_a_human else [])]
        counts = Counter(mark.verdict for mark in result.marks)
        remarks = "; ".join([*notes, *result.remarks])
        who = joined(_link(result), tag("div", remarks, class_="soft small") if remarks else "")
        score = "–" if result.needs_a_human else number(result.points)
        rows.append([who, shares(counts, _spoken(counts)), score])
    heads = ["student", "answers", "points"]
    return joined(tag("h2", "Everyone"), table(heads, rows, "One line a student", 1))


def _spoken(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[v]} {VERDICT[v][2]}" for v in VERDICT if counts[v]) or "nothing graded"
