"""Results as pages: one for each student, one for whoever teaches them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dpcourse.grading.files import write_whole
from dpcourse.grading.pages.feedback import file_name, student_page
from dpcourse.grading.pages.overview import class_page
from dpcourse.grading.records import Result
from dpcourse.grading.roster import NOBODY, Roster
from dpcourse.grading.tables import in_order
from dpcourse.workbook.exercises import exercises
from dpcourse.workbook.notebook import Notebook

__all__ = ["file_name", "write"]


def write(
    results: Iterable[Result], out: Path, master: Notebook | None = None, roster: Roster = NOBODY
) -> list[Path]:
    """Write class.html and feedback/STUDENT.html; each is whole, alone, and the same for the same results.

    The master gives the unit its title and the class page its misconceptions; no student's page quotes it.
    """
    found = in_order(results)
    sandboxed = all(result.sandboxed for result in found)
    title = unit_title(master) or (f"Unit {found[0].unit}" if found else "No results")
    bank = {wrong.id: wrong for exercise in (exercises(master) if master else ()) for wrong in exercise.wrong}
    handed_in = {result.student for result in found}
    missing = [person.student for person in roster if person.student not in handed_in]
    pages = {out / "class.html": class_page(found, title, bank, missing, sandboxed)}
    for result in found:
        pages[out / "feedback" / file_name(result.student)] = student_page(result, title, sandboxed)
    for path, page in pages.items():
        write_whole(path, page)
    return list(pages)


def unit_title(master: Notebook | None) -> str:
    """The first heading of a notebook: `# Exercises 3. Group privacy` -> `Exercises 3. Group privacy`."""
    lines = (
        line
        for cell in (master["cells"] if master else ())
        if cell["cell_type"] == "markdown"
        for line in cell["source"].splitlines()
    )
    return next((line[2:].strip() for line in lines if line.startswith("# ")), "")
