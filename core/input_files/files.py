"""Files that the user names, read whole: regular ones only, and no longer than their kind may be.

Nothing else reads such a file; undo files and saved plans are read line by line. A pipe or a device
has no end that could be waited for, and a length beyond any honest file's fills the memory
before a parser can say what is wrong with it.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal

from kgroups.core.errors import UsageError, shorten

MIB: Final = 1 << 20


@contextlib.contextmanager
def regular_file(path: Path, most: int, expected: str) -> Iterator[BinaryIO]:
    """A file, open for reading.

    Args:
        path: `~` stands for the home directory.
        most: bytes that a file of this kind has at most.
        expected: what the file should be, for the hint.
    Raises:
        UsageError: it cannot be read, is not a regular file, or is longer.
    """
    shown = f"`{shorten(str(path))}`"
    hint = f"expected {expected}"
    try:
        # Opening a pipe that nobody writes to would wait for ever.
        descriptor = os.open(path.expanduser(), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                what = "a directory" if stat.S_ISDIR(about.st_mode) else "not a regular file"
                raise UsageError(f"{shown} is {what}", hint=hint)
            if about.st_size > most:
                raise UsageError(f"{shown} is longer than {show_bytes(most)}", hint=hint)
            yield file
    except (OSError, ValueError, RuntimeError) as error:  # no file, no path, no home directory
        reason = (error.strerror if isinstance(error, OSError) else None) or "no such path"
        raise UsageError(f"{shown} cannot be read: {reason.lower()}", hint=hint) from error


def read_file(path: Path, most: int, expected: str) -> bytes:
    """The content of a file, as `regular_file` opens it.

    Raises:
        UsageError: as there; it has become longer.
    """
    with regular_file(path, most, expected) as file:
        data = file.read(most + 1) or b""
    if len(data) > most:
        hint = f"expected {expected}"
        raise UsageError(f"`{shorten(str(path))}` is longer than {show_bytes(most)}", hint=hint)
    return data


def read_text(path: Path, most: int, expected: str) -> str:
    """The content of a text file in UTF-8, without a byte order mark.

    Raises:
        UsageError: as `read_file`, or it is no such text.
    """
    return decode(read_file(path, most, expected), shorten(str(path)), expected)


def lies_at(path: Path) -> Literal["file", "folder"] | None:
    """The kind of file at a path; None for nothing.

    A name that no file can have leads to nothing: `Path.exists` raises where it is too long.
    """
    try:
        return "folder" if stat.S_ISDIR(path.stat().st_mode) else "file"
    except (OSError, ValueError):
        return None


def decode(data: bytes, name: str, expected: str) -> str:
    """Bytes as text in UTF-8, without a byte order mark; `name` stands for the file in messages.

    Raises:
        UsageError: they are no such text.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"`{name}`, line {line}: not UTF-8 text", hint=f"expected {expected}"
        ) from error


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of a regular one in one step, when it is written to its end.

    Anything else (a pipe, a device) is written to directly.

    Raises:
        OSError: it cannot be written.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def show_bytes(count: int) -> str:
    """`64 MiB`, `512 KiB`: a limit for people."""
    return f"{count // MIB} MiB" if count >= MIB else f"{count // 1024} KiB"


def default_cache_dir() -> Path:
    """`$XDG_CACHE_HOME/kgroups`, or `~/.cache/kgroups`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kgroups"


def kept_text(name: str, make: Callable[[], str]) -> str:
    """A text that was made before, or is made now and kept where that is possible.

    A file that is not whole, by the checksum in its first line, is as if it were not there.
    """
    try:
        path = default_cache_dir() / name
        checksum, _, text = path.read_bytes().decode().partition("\n")
        if checksum == _checksum(text):
            return text
    except (OSError, ValueError):  # not there, or no text
        pass
    except RuntimeError:  # nobody's home
        return make()
    text = make()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(f"{_checksum(text)}\n{text}".encode())
    return text


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
