"""Files that appear whole or not at all."""

from pathlib import Path

from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.files import lies_at, whole_file

_HINT = "choose a file in a folder that you can write to"


def write_whole(path: Path, text: str, what: str) -> None:
    """Write a file whole or not at all, over what is there.

    Args:
        what: is written, for messages: `the page`.
    Raises:
        UsageError: it cannot be written there.
    """
    try:
        with whole_file(path) as file:
            file.write(text.encode(errors="backslashreplace"))
    except OSError as error:
        raise UsageError(
            f"{what} cannot be written to `{path}`: {error.strerror}", hint=_HINT
        ) from error


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
