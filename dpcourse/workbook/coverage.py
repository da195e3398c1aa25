"""Coverage: every topic that the course must meet, and the cells that meet it.

A cell lists its topics in its metadata, `{"dpcourse": {"covers": ["S0.1"]}}`. Lectures and exercises count.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpcourse.workbook import course
from dpcourse.workbook.notebook import read


@dataclass(frozen=True)
class Coverage:
    """The topics by id, for each the places that meet it, and the ids in cells that no topic has."""

    topics: dict[str, str]
    places: dict[str, tuple[str, ...]]
    unknown: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The topics that no cell meets."""
        return tuple(topic for topic in self.topics if not self.places[topic])

    @property
    def complete(self) -> bool:
        """Whether every topic is met, and every id in a cell is a topic."""
        return not self.missing and not self.unknown

    def data(self) -> dict[str, dict[str, object]]:
        """As JSON."""
        return {
            topic: {"about": about, "cells": list(self.places[topic])} for topic, about in self.topics.items()
        }

    def __str__(self) -> str:
        lines = []
        for topic, about in self.topics.items():
            lines.append(f"{topic:8}{about}")
            lines += [f"          {place}" for place in self.places[topic]] or ["          NOT MET"]
        lines += [f"{name} is in {self.places[name][0]}, and no topic has that id" for name in self.unknown]
        met = len(self.topics) - len(self.missing)
        return "\n".join([*lines, f"{met} of {len(self.topics)} topics are met"])


def topics() -> dict[str, str]:
    """What each topic is about, by id, in the order of the notes.

    >>> topics()["S0.1"]
    'group privacy for pure promises'
    """
    lines = (Path(__file__).parent / "topics.txt").read_text("utf-8").splitlines()
    pairs = (line.split(" ", 1) for line in lines if line and not line.startswith("#"))
    return {line[0]: line[1] for line in pairs}


def coverage() -> Coverage:
    """Of the lectures and exercises of this course."""
    known = topics()
    places: dict[str, list[str]] = {name: [] for name in known}
    for notebook, path in course.notebooks(*course.FOLDERS).items():
        for cell in read(path)["cells"]:
            for name in cell["metadata"].get("dpcourse", {}).get("covers", ()):
                places.setdefault(name, []).append(f"{notebook.removesuffix('.ipynb')}#{cell['id']}")
    unknown = tuple(sorted(set(places) - set(known)))
    return Coverage(known, {name: tuple(found) for name, found in places.items()}, unknown)
