"""Answers that are ready: the version, the first page of help, the completion scripts.

The files in `completions/` are generated from the command tree (`make completions`), so that
printing one needs neither the tree nor what its commands import. The folder stands beside `cli`,
here as in an installed package.
"""

from collections.abc import Sequence
from typing import Final, Literal, get_args

from kgroups.core.release import VERSION

Shell = Literal["bash", "zsh", "fish"]
SHELLS: Final[tuple[Shell, ...]] = get_args(Shell)
HELP_FILE: Final = "help.txt"
FOLDER: Final = __file__.rpartition("/cli/")[0] + "/completions"


def ready_answer(arguments: Sequence[str]) -> str | None:
    """What the line prints; None where the command tree has to be asked."""
    match arguments:
        case ["--version"]:
            return f"kgroups {VERSION}\n"
        case ["--help" | "-h"]:
            return _text(HELP_FILE)
        case ["completion", ("bash" | "zsh" | "fish") as shell]:
            return completion_script(shell)
    return None


def script_file(shell: Shell) -> str:
    """The name of the file with a shell's completion script."""
    return f"kgroups.{shell}"


def completion_script(shell: Shell) -> str:
    """The completion script of a shell."""
    return _text(script_file(shell))


def _text(name: str) -> str:
    # pathlib takes a third of the time that printing a script takes
    with open(f"{FOLDER}/{name}", encoding="utf-8") as file:  # noqa: PTH123
        return file.read()
