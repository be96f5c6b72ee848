"""Texts that are generated from the command tree: the first page of help, the completion scripts.

Printing the page so imports no command; making it anew would import them all. The files
(`make completions`) are in `completions/`, beside `cli`, here as in an installed package.
"""

from pathlib import Path
from typing import Final, Literal, get_args

Shell = Literal["bash", "zsh", "fish"]
SHELLS: Final[tuple[Shell, ...]] = get_args(Shell)
HELP_FILE: Final = "help.txt"
FOLDER: Final = Path(__file__).parents[2] / "completions"


def help_page() -> str:
    """Output of `kgroups --help`."""
    return (FOLDER / HELP_FILE).read_text(encoding="utf-8")


def script_file(shell: Shell) -> str:
    """The name of the file with a shell's completion script."""
    return f"kgroups.{shell}"


def completion_script(shell: Shell) -> str:
    """The completion script of a shell."""
    return (FOLDER / script_file(shell)).read_text(encoding="utf-8")
