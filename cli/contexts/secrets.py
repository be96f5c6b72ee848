"""Values of a context that are to be had elsewhere: `env:NAME`, `file:PATH`, `exec:COMMAND`.

They are asked for when a cluster is, and never shown. A command runs without a shell and without
input, in a process group of its own, which ends with it.
"""

import os
import shlex
import signal
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from kgroups.cli.contexts.context import Context
from kgroups.cli.contexts.context_file import property_text
from kgroups.cli.exits import warn_once
from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.document import Cursor
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.input_files.properties import Property
from kgroups.core.kafka.config.exposure import exposure_of, is_secret

HIDDEN: Final = "(hidden)"
KINDS: Final = ("env", "file", "exec")
MAX_BYTES: Final = MIB // 16
_NOT_SECRETS: Final = (".url", ".uri", ".endpoint", ".location")
"""Ends of properties whose values may begin with `file:` and mean it."""

_SAID: dict[tuple[str, str], str] = {}
"""What commands said: each runs once in a process, by file and command."""


def kind_of(name: str, text: str) -> str | None:
    """Where the value of a property is to be had; None if it is the value."""
    kind, colon, _ = text.partition(":")
    return kind if colon and kind in KINDS and not name.endswith(_NOT_SECRETS) else None


def shown(name: str, text: str) -> str:
    """The value of a property as it may be shown."""
    kind = kind_of(name, text)
    if kind == "exec":
        words = text.partition(":")[2].split()
        return f"exec:{words[0]} …" if len(words) > 1 else text
    return HIDDEN if kind is None and is_secret(name) else text


def properties_of(
    context: Context, timeout_ms: int, *, silent: bool = False
) -> dict[str, Property]:
    """The inline properties with what they refer to.

    Args:
        timeout_ms: for each command.
        silent: warn of nothing, and run no command.
    Raises:
        UsageError: something cannot be had, or the file may be changed by others.
    """
    found: dict[str, Property] = {}
    for name, cursor in context.properties.items():
        text = property_text(cursor)
        kind = kind_of(name, text)
        source = Path(cursor.document.name)
        if kind is not None:
            rest = text.partition(":")[2].strip()
            if not rest:
                cursor.fail(f"`{kind}:` is followed by nothing")
            text = _had(kind, rest, cursor, source.parent, timeout_ms, silent=silent)
        elif is_secret(name) and not silent:
            warn_once(source, exposure_of(source))
        if name.endswith(".location") and "://" not in text:
            text = str(source.parent / Path(text).expanduser())
        line = cursor.document.line_of(cursor.path)
        found[name] = Property(text, str(source), line)
    return found


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
    _check_owner(cursor)
    key = (cursor.document.name, rest)
    if key not in _SAID:
        _SAID[key] = _said(rest, cursor, timeout_ms)
    return _SAID[key]


def _check_owner(cursor: Cursor) -> None:
    """See that nobody else decides which command runs."""
    about = Path(cursor.document.name).stat()
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or about.st_uid not in (os.geteuid(), 0):
        cursor.fail(
            "`exec:` is not run from a file that other users can change",
            hint=f"run `chmod go-w` on `{cursor.document.name}`, and own it",
        )


def _said(command: str, cursor: Cursor, timeout_ms: int) -> str:
    """What a command prints, less the end of its line."""
    import subprocess  # only where a command runs
    import tempfile

    try:
        words = shlex.split(command)
    except ValueError as error:
        cursor.fail(f"`exec:` cannot be read: {str(error).lower()}")
    program = f"`{shorten(words[0])}`"
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            child = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            cursor.fail(f"{program} cannot be run: {why.lower()}")
        try:
            code = child.wait(timeout_ms / 1_000)
        except subprocess.TimeoutExpired:
            cursor.fail(
                f"{program} did not end within {timeout_ms / 1_000:g} s",
                hint="run it by hand: it may be asking for something; or raise `--timeout`",
            )
        finally:
            if child.poll() is None:
                with suppress(OSError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        if code:
            said = _text_of(err).strip().splitlines()
            why = f": {shorten(said[-1])}" if said else ""
            cursor.fail(f"{program} failed with exit code {code}{why}")
        text = _text_of(out).rstrip("\r\n")
    if not text:
        cursor.fail(f"{program} printed nothing")
    return text


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_BYTES).decode(errors="replace")
