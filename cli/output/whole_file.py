"""Files that appear whole or not at all."""

import secrets
from pathlib import Path

from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.files import lies_at

_HINT = "choose a file in a folder that you can write to"


def write_whole(path: Path, text: str, what: str) -> None:
    """Write a file whole or not at all, over what is there.

    Args:
        what: is written, for messages: `the page`.
    Raises:
        UsageError: it cannot be written there.
    """
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        hidden.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        hidden.replace(path)
    except OSError as error:
        raise UsageError(
            f"{what} cannot be written to `{path}`: {error.strerror}", hint=_HINT
        ) from error
    finally:
        hidden.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """See that a file could be written, before the work that fills it.

    Raises:
        UsageError: its folder does not exist, or it is itself a folder.
    """
    is_folder = lies_at(path) == "folder"
    if is_folder or lies_at(path.absolute().parent) != "folder":
        raise UsageError(
            f"`{shorten(str(path))}` cannot be written: "
            + ("it is a folder" if is_folder else "its folder does not exist"),
            hint=_HINT,
        )
