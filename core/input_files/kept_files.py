"""Files that are kept in the user's cache folder, for what takes long to make again."""

import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path


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
        hidden = path.with_name(f".{name}.{secrets.token_hex(4)}")
        try:
            hidden.write_bytes(f"{_checksum(text)}\n{text}".encode())
            hidden.replace(path)
        finally:
            hidden.unlink(missing_ok=True)
    return text


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
