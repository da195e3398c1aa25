"""How the commands are asked for: one line for a mistake, examples in every help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from dpcourse.errors import BadInput
from dpcourse.workbook import course

Options = argparse.Namespace
Command = Callable[[Options], int]

UNIT = "--unit"


class Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message.removesuffix('.')}. Try: {self.prog} --help\n")


class Commands:
    """The commands, in the order in which help lists them."""

    def __init__(self, description: str, examples: str) -> None:
        self.parser = Parser(
            prog="dpcourse",
            description=description,
            epilog=_shown(examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self._subparsers = self.parser.add_subparsers(title="commands", required=True, metavar="command")

    def add(self, name: str, run: Command, about: str, examples: str) -> argparse.ArgumentParser:
        """A new command; its help ends with its examples."""
        added: argparse.ArgumentParser = self._subparsers.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=_shown(examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added.set_defaults(command=run)
        return added

    def options(self) -> dict[str, list[str]]:
        """The options of each command, for shell completion."""
        return {
            name: sorted(o for a in command._actions for o in a.option_strings if o.startswith("--"))
            for name, command in self._subparsers.choices.items()
        }


def _shown(examples: str) -> str:
    return "\n  ".join(["examples:", *(line.strip() for line in examples.strip().splitlines())])


def moment(given: str) -> datetime:
    """A time, as in 2026-11-30T23:59+01:00."""
    try:
        return datetime.fromisoformat(given).astimezone()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{given!r} is not a time: write 2026-11-30T23:59+01:00.") from None


def port(given: str) -> int:
    """A port."""
    if not given.isdigit() or not 0 < int(given) < 65536:
        raise argparse.ArgumentTypeError(f"{given!r} is not a port: choose a number from 1 to 65535.")
    return int(given)


def unit(given: str) -> str:
    """A unit in two digits: 3 is 03."""
    return given.zfill(2) if given.isdigit() else given


def exercise(given: str, here: Path | None = None) -> Path:
    """A notebook by its path, or the exercises of a unit by their number, found near the current folder."""
    here = here or Path()
    if not given.isdigit() or (here / given).exists():
        return here / given
    known = {name.partition("/")[2]: name for name in course.notebooks("exercises")}
    wanted = [name for name in known if name.startswith(f"{unit(given)}_")]
    if not wanted:
        units = ", ".join(name[:2] for name in known)
        raise BadInput(f"there is no unit {given!r} in the course ({units}). Fix: choose one of them.")
    places = [folder / wanted[0] for folder in (here / "exercises", here, here / "dpcourse/exercises")]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise BadInput(
            f"{wanted[0]} is not in this folder or in its exercises/. "
            "Fix: go to the folder of your course, or give the path of the notebook."
        )
    return found


def complain(message: object) -> None:
    """One line to the terminal, beside whatever a script reads."""
    print(f"dpcourse: {message}", file=sys.stderr)
