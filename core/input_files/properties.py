r"""Properties files, read by Java's rules, which librdkafka's `key=value` files obey too.

`#` or `!` starts a comment line, a backslash at the end joins the next line, and a key ends at the
first equals sign, colon or blank. `\t \n \r \f \uXXXX` are escapes; any other escaped character
stands for itself.
"""

import re
from pathlib import Path
from typing import NamedTuple

from kgroups.core.errors import UsageError
from kgroups.core.input_files.files import MIB, read_text

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BLANKS = " \t\f"
_NAME = re.compile(r"[\w.-]+")
_EXPECTED = "a file of Kafka client properties, one `key=value` a line"

MAX_BYTES = MIB
"""Of a file of properties; certificates may stand in it."""


class Property(NamedTuple):
    """A value and where it was found.

    Args:
        value: unescaped text.
        source: file name, or what else held it.
        line: number of the line on which it starts, from 1; None outside files.
    """

    value: str
    source: str
    line: int | None

    @property
    def place(self) -> str:
        """`file:line`, for messages."""
        return self.source if self.line is None else f"{self.source}:{self.line}"


def read_properties(path: Path) -> dict[str, Property]:
    """Properties of a file by name; a name given twice has its last value, as in Java.

    Raises:
        UsageError: the file is missing, not text, or a line cannot be understood.
    """
    return parse_properties(read_text(path, MAX_BYTES, _EXPECTED), str(path))


def parse_properties(text: str, source: str) -> dict[str, Property]:
    """Properties in `text` by name.

    Raises:
        UsageError: a line has no value, no key, or a broken escape.
    """
    properties: dict[str, Property] = {}
    for number, line in _logical_lines(text):
        key, value = _split(line, source, number)
        properties[key] = Property(value, source, number)
    return properties


def property_line(text: str, path: tuple[str | int, ...], key: bool) -> int | None:
    """Line (from 1) on which the property of this name starts; None if there is none."""
    entry = parse_properties(text, "").get(str(path[0])) if path else None
    return None if entry is None else entry.line


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Number of the first line and text of each joined line that is no comment."""
    lines: list[tuple[int, str]] = []
    pending, start = "", 0
    for number, raw in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = raw.lstrip(_BLANKS)
        if not start:
            if not line or line[0] in "#!":
                continue
            start = number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        lines.append((start, pending + line))
        pending, start = "", 0
    if start:
        lines.append((start, pending))
    return lines


def _split(line: str, source: str, number: int) -> tuple[str, str]:
    """Key and value of a joined line, unescaped."""
    end = 0
    while end < len(line) and line[end] not in "=:" + _BLANKS:
        end += 1
    key, rest = line[:end], line[end:].lstrip(_BLANKS)
    if not rest:
        # Java takes a lone word for a key without value, which in a client's configuration is
        # always a line that was cut or that is no property at all.
        raise UsageError(
            f"{source}:{number}: `{_shorten(line)}` is not a property", hint="expected `key=value`"
        )
    value = rest[1:].lstrip(_BLANKS) if rest[0] in "=:" else rest
    if not key:
        raise UsageError(f"{source}:{number}: the key is missing", hint="expected `key=value`")
    if not _NAME.fullmatch(key):  # JSON, YAML or a certificate, given by mistake
        raise UsageError(
            f"{source}:{number}: `{key[:30]}` is not the name of a property",
            hint="expected `key=value`",
        )
    bare = value.rstrip(_BLANKS)
    if bare.endswith("\\"):  # the blank is escaped: it is meant
        bare = value[: len(bare) + 1]
    return key, _unescape(bare, source, number)


def _shorten(line: str) -> str:
    """The first word, at most 30 characters: the rest of a broken line may hold a password."""
    return line.split()[0][:30]


def _unescape(text: str, source: str, number: int) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    index = 0
    while index < len(text):
        char = text[index]
        index += 1
        if char != "\\" or index >= len(text):
            parts.append(char)
            continue
        escaped = text[index]
        index += 1
        if escaped != "u":
            parts.append(_ESCAPES.get(escaped, escaped))
            continue
        digits = text[index : index + 4]
        try:
            parts.append(chr(int(digits, 16)) if len(digits) == 4 else chr(-1))
        except ValueError as error:
            raise UsageError(
                f"{source}:{number}: malformed `\\u` escape",
                hint=(
                    "expected four hexadecimal digits, as in `\\u00e9`; write a literal "
                    "backslash as `\\\\`"
                ),
            ) from error
        index += 4
    joined = "".join(parts)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
