"""Values of a context that are to be had elsewhere: `env:NAME`, `file:PATH`, `exec:COMMAND`.

They are asked for when a cluster is, and never shown.
"""

import os
from pathlib import Path
from typing import Final

from kgroups.cli.contexts.context import Context
from kgroups.cli.contexts.context_file import property_text
from kgroups.cli.exits import warn_once
from kgroups.core.errors import UsageError
from kgroups.core.input_files.command_output import check_owner, command_output
from kgroups.core.input_files.document import Cursor
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.input_files.properties import Property
from kgroups.core.kafka.config.settings import exposure_of, is_secret

HIDDEN: Final = "(hidden)"
KINDS: Final = ("env", "file", "exec")
MAX_BYTES: Final = MIB // 16
_NOT_SECRETS: Final = (".url", ".uri", ".endpoint", ".location")
"""Ends of properties whose values may begin with `file:` and mean it."""

_SAID: dict[tuple[str, str], str] = {}
"""The output of commands: each runs once in a process, by file and command."""


def kind_of(name: str, text: str) -> str | None:
    """Where the value of a property is to be had; None if it is the value."""
    kind, colon, _ = text.partition(":")
    return kind if colon and kind in KINDS and not name.endswith(_NOT_SECRETS) else None


def shown(name: str, text: str) -> str:
    """The value of a property as it may be shown."""
    kind = kind_of(name, text)
    if text.startswith("exec:") and kind in ("exec", None):
        words = text.partition(":")[2].split()
        return f"exec:{words[0]} …" if len(words) > 1 else text
    return HIDDEN if kind is None and is_secret(name) else text


def properties_of(
    context: Context, timeout_ms: int, *, silent: bool = False
) -> dict[str, Property]:
    """The inline properties with what they refer to.

    Args:
        silent: warn of nothing, and run no command.
    Raises:
        UsageError: something cannot be had, or the file may be changed by others.
    """
    properties: dict[str, Property] = {}
    for name, cursor in context.properties.items():
        text = property_text(cursor)
        kind = kind_of(name, text)
        source = Path(cursor.document.name)
        if kind is not None:
            rest = text.partition(":")[2].strip()
            if not rest:
                cursor.fail(f"`{kind}:` has nothing after it")
            text = _had(kind, rest, cursor, source.parent, timeout_ms, silent=silent)
        elif is_secret(name) and not silent:
            warn_once(source, exposure_of(source))
        if name.endswith(".location") and "://" not in text:
            text = str(source.parent / Path(text).expanduser())
        line = cursor.document.line_of(cursor.path)
        properties[name] = Property(text, str(source), line)
    return properties


def _had(
    kind: str, rest: str, cursor: Cursor, folder: Path, timeout_ms: int, *, silent: bool
) -> str:
    if kind == "env":
        value = os.environ.get(rest)
        if value is None:
            cursor.fail(f"the environment variable `{rest}` is not set")
        return value
    if kind == "file":
        path = folder / Path(rest).expanduser()
        try:
            text = read_text(path, MAX_BYTES, "a file with nothing but the value")
        except UsageError as error:
            cursor.fail(error.message, hint=error.hint)
        if not silent:
            warn_once(path, exposure_of(path))
        return text.rstrip("\r\n")
    if silent:
        cursor.fail("a command is not run here")
    key = (cursor.document.name, rest)
    try:
        check_owner(Path(cursor.document.name))
        if key not in _SAID:
            _SAID[key] = command_output(rest, timeout_ms / 1_000)
    except UsageError as error:
        cursor.fail(error.message, hint=error.hint)
    return _SAID[key]
