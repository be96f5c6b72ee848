"""Files that the log of a table knows: whether they are as they were written, and their rows."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.lag.captures.delta_table import ActiveFile, rows_in
from kgroups.core.lag.stores.places import Place, Store, sizes_in


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


def broken(path: Place | str, why: str) -> ItemError:
    """A file of captures that is left out."""
    hint = "delete it, or report without it"
    return ItemError(str(path), "BROKEN_CAPTURE", why, hint=hint)


def _why_unreadable(file: ActiveFile) -> str | None:
    """The fault of a file that the log knows; None if it is there as it was written."""
    try:
        size = Path(file.path).stat().st_size
    except OSError as exc:
        return f"a file of the table cannot be read: {exc.strerror}"
    return _why_other(file, size)


def _why_other(file: ActiveFile, size: int | None) -> str | None:
    """The fault of a file of this size; None where it is as it was written."""
    if size is None:
        return "a file of the table is not there"
    return None if size == file.size else f"it has {size} bytes, the table says {file.size}"


def rows_of_files(
    place: Place, files: Sequence[ActiveFile], schema: pa.Schema, at_ms: int | None = None
) -> pa.Table:
    """The rows of files, read by Arrow.

    Args:
        at_ms: as in `delta_table.rows_in`.
    Raises:
        KgroupsError: a file is gone, or cannot be read.
    """
    batches: list[pa.RecordBatch] = []
    for file in files:
        try:
            batches += rows_in([file], schema, at_ms)
        except FileNotFoundError as exc:
            raise captures_changed(place) from exc
        except (OSError, pa.ArrowException) as exc:
            raise broken_file(file.path, exc) from exc
    return pa.Table.from_batches(batches, schema=schema)


def broken_file(path: str, exc: Exception) -> KgroupsError:
    """A file that its reader does not understand."""
    why = str(exc).splitlines()[0].rstrip(".")
    return KgroupsError(f"capture `{path}` cannot be read: {why}", code="BROKEN_CAPTURE")


def captures_changed(place: Place) -> KgroupsError:
    """Files were there when the report began, and are no longer."""
    return KgroupsError(
        f"captures in `{place}` were removed while they were read",
        hint="try again",
        code="CAPTURES_CHANGED",
    )
