"""The status line of a Nagios plugin, and when a command line asks for one."""

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from kgroups.cli.output.escapes import printable

OK, WARNING, CRITICAL, UNKNOWN = 0, 1, 2, 3
STATUS: Final = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
"""What a plugin says, by its exit code."""
FORM: Final = "nagios"


def status_line(code: int, text: str) -> str:
    """`CRITICAL: …`; a `|` would begin perfdata, so it is a slash here."""
    return f"{STATUS[code]}: {printable(text).replace('|', '/')}"


def is_plugin(arguments: Sequence[str]) -> bool:
    """Whether these arguments ask for a status line, though they may be wrong elsewhere.

    A monitor reads nothing but the first line of stdout and the exit code, of usage errors too.
    """
    asked = os.environ.get("KGROUPS_OUTPUT", "")
    for word, following in pairwise([*arguments, ""]):
        if word == "--":
            break
        if word in ("-o", "--output"):
            asked = following
        elif word.startswith("--output="):
            asked = word.partition("=")[2]
        elif word.startswith("-o"):
            asked = word[2:]
    return asked.lower() == FORM
