"""Files that the log of a table knows: whether they are there as they were written."""

from collections.abc import Sequence
from pathlib import Path

from kgroups.core.errors import ItemError
from kgroups.core.lag.captures.delta_table import ActiveFile
from kgroups.core.lag.captures.old_layout import broken
from kgroups.core.lag.stores.places import Store, sizes_in


def whole_files(
    files: Sequence[ActiveFile],
) -> tuple[tuple[ActiveFile, ...], tuple[ItemError, ...]]:
    """The files of a table that are there as they were written, and what is wrong with others."""
    place = files[0].place if files else None
    if isinstance(place, Store):
        sizes = sizes_in(place, {file.path.rpartition("/")[0] for file in files})
        why = [_why_other(file, sizes.get(file.path)) for file in files]
    else:
        why = [_why_unreadable(file) for file in files]
    pairs = list(zip(files, why, strict=True))
    errors = tuple(broken(file.path, text) for file, text in pairs if text is not None)
    return tuple(file for file, text in pairs if text is None), errors


def _why_unreadable(file: ActiveFile) -> str | None:
    """What is wrong with a file that the log knows; None if it is there as it was written."""
    try:
        size = Path(file.path).stat().st_size
    except OSError as exc:
        return f"a file of the table cannot be read: {exc.strerror}"
    return _why_other(file, size)


def _why_other(file: ActiveFile, size: int | None) -> str | None:
    """What is wrong with a file of this size; None where it is as it was written."""
    if size is None:
        return "a file of the table is not there"
    return None if size == file.size else f"it has {size} bytes, the table says {file.size}"
