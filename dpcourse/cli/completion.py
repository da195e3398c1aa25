"""completion: a small script that completes commands, options and units in a shell."""

from __future__ import annotations

from functools import partial

from dpcourse.cli.parsing import UNIT, Commands, Options
from dpcourse.workbook import course

BY_UNIT = ("check", "repair")
"""The commands that understand the number of a unit."""

BASH = """_dpcourse() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} units="{units}" options=
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
    return
  fi
  if [[ ${{COMP_WORDS[COMP_CWORD - 1]}} == {unit} ]]; then
    COMPREPLY=($(compgen -W "$units" -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
    case ${{COMP_WORDS[1]}} in {by_unit}) COMPREPLY+=($(compgen -W "$units" -- "$word")) ;; esac
  fi
}}
complete -o filenames -F _dpcourse dpcourse"""

ZSH = """#compdef dpcourse
_dpcourse() {{
  local -a units=({units}) options=()
  if (( CURRENT == 2 )); then
    compadd -- {commands} --help --version
    return
  fi
  if [[ $words[CURRENT-1] == {unit} ]]; then
    compadd -- $units
    return
  fi
  case $words[2] in
{cases}
  esac
  if [[ $PREFIX == -* ]]; then
    compadd -- $options
  else
    case $words[2] in {by_unit}) compadd -- $units ;; esac
    _files
  fi
}}
compdef _dpcourse dpcourse"""

SHELLS = ("bash", "zsh", "fish")


def add_to(commands: Commands) -> None:
    """The command of this part, which knows all the others."""
    command = commands.add(
        "completion",
        partial(completion, commands),
        "print a script that completes commands, options and units",
        """source <(dpcourse completion bash)                        bash, in ~/.bashrc to keep it
        source <(dpcourse completion zsh)                         zsh, in ~/.zshrc after compinit
        dpcourse completion fish > ~/.config/fish/completions/dpcourse.fish""",
    )
    command.add_argument("shell", choices=SHELLS)


def completion(commands: Commands, options: Options) -> int:
    """Print the script."""
    print(script(options.shell, commands.options()))
    return 0


def script(shell: str, known: dict[str, list[str]]) -> str:
    """The script for a shell, with the options of every command and the units of this course."""
    units = [name.partition("/")[2][:2] for name in course.notebooks("exercises")]
    if shell == "fish":
        return "\n".join(_fish(known, units))
    quoted = '"{}"' if shell == "bash" else "({})"
    cases = [f"    {name}) options={quoted.format(' '.join(found))} ;;" for name, found in known.items()]
    return (BASH if shell == "bash" else ZSH).format(
        commands=" ".join(known),
        units=" ".join(units),
        cases="\n".join(cases),
        by_unit="|".join(BY_UNIT),
        unit=UNIT,
    )


def _fish(known: dict[str, list[str]], units: list[str]) -> list[str]:
    lines = [f"complete -c dpcourse -n __fish_use_subcommand -f -a '{' '.join(known)}'"]
    for name, options in known.items():
        after = f"complete -c dpcourse -n '__fish_seen_subcommand_from {name}'"
        if name in BY_UNIT:
            lines.append(f"{after} -a '{' '.join(units)}'")
        if name == "completion":
            lines.append(f"{after} -f -a '{' '.join(SHELLS)}'")
        for option in options:
            values = f" -x -a '{' '.join(units)}'" if option == UNIT else ""
            lines.append(f"{after} -l {option.removeprefix('--')}{values}")
    return lines
