"""Characters that would drive a terminal or a spreadsheet, spelled out.

Anyone who may connect to the cluster can choose names of groups, topics, members and hosts. On a
terminal no form of output lets them through: escape sequences, returns, and marks that turn the
direction of writing are shown as `\\x1b`, `\\r`, `\\u202e`. In a pipe every form holds the names
as they are, in its own way of quoting; tables are for people, and are spelled out there too.
"""

import re
import sys
from collections.abc import Callable
from typing import Final

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]")
"""What a cell begins with that a spreadsheet takes for a formula (OWASP, "CSV Injection"), in full
width too."""


def printable(line: str) -> str:
    """The line with control characters spelled out, so that a name cannot drive the terminal."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def for_stdout() -> Callable[[str], str]:
    """Function that makes a name fit for stdout: `printable` on a terminal, nothing elsewhere."""
    return printable if sys.stdout.isatty() else str


def visible(text: str) -> str:
    """Text of several lines, with tabs, as it may stand on stdout."""
    if not sys.stdout.isatty():
        return text
    lines = text.split("\n")
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in lines)


def visible_json(text: str) -> str:
    """JSON on one line as it may stand on stdout: the same value, whatever is escaped."""
    if text.isprintable() or not sys.stdout.isatty():
        return text
    return "".join(c if c.isprintable() else _utf16(c) for c in text)


def _utf16(char: str) -> str:
    """`\\u` escapes of a character, two for one beyond the basic plane."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def no_formula(value: object, text: str) -> str:
    """The text of a cell, behind a quotation mark where a spreadsheet would calculate it.

    Args:
        value: what the cell holds: numbers stay numbers, negative ones too.
        text: how it is written.
    """
    if isinstance(value, int | float) or not _FORMULA.match(text):
        return text
    return f"'{text}"
