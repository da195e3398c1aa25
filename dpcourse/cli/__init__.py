"""The commands: for students, for instructors, for authors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from dpcourse.cli import authors, completion, doctor, instructors, students
from dpcourse.cli.parsing import Commands, complain
from dpcourse.errors import BadInput

EXAMPLES = """
dpcourse lab my-course     copy the course to my-course and open it in JupyterLab
dpcourse check 03          judge your answers to the exercises of unit 3
dpcourse repair 03         restore the given cells, keep every answer
dpcourse doctor            does everything work here, and if not, what to do"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 if all is well, 1 if the answer is no, 2 if the question was wrong."""
    options = commands().parser.parse_args(arguments)
    try:
        return int(options.command(options))
    except BadInput as error:
        complain(error)
    except BrokenPipeError:  # whoever read our output has seen enough, as in `dpcourse coverage | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # no such folder, no right to write, no room
        complain(f"{error.filename}: {error.strerror}." if error.filename and error.strerror else error)
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130  # as a shell reports it
    return 2


def commands() -> Commands:
    """What can be asked for."""
    known = Commands("A course on differential privacy that runs.", EXAMPLES)
    known.parser.add_argument("--version", action="version", version=f"dpcourse {version('dpcourse')}")
    for part in (students, doctor, instructors, authors):
        part.add_to(known)
    completion.add_to(known)
    return known
