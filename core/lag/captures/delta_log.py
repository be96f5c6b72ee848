"""The log of a Delta table, looked at before delta-rs reads it: it must not end the process.

A pipe or a device is read without end there, and a value that is nested deeply overflows the stack.
In a store there are no pipes; what is in its logs is not looked at: that would be every request
twice, and whoever may write to the bucket is trusted so far.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from kgroups.core.errors import KgroupsError, UsageError, shorten
from kgroups.core.lag.stores.places import Place, storage_options, store_failure

if TYPE_CHECKING:
    from deltalake import DeltaTable

LOG: Final = "_delta_log"
LOGS: Final = "_delta_logs"
"""Beside the tables: the folder of their logs."""
# A file of a log that is longer (bytes) was made to fill the memory of whoever reads it.
LONGEST: Final = 64 << 20
# What delta-rs 1.6 cannot have in a path: it refuses it, takes another one, or panics.
NOT_IN_PATHS: Final = re.compile(r"[\x00-\x1f\x7f\[\]^|\\%]")
COMMIT: Final = re.compile(r"(\d{20})\.json")
# What an action holds as JSON in a string.
INNER: Final = {"add": "stats", "metaData": "schemaString"}


def opened(folder: Place, table: str) -> "DeltaTable | None":
    """The newest version of a table; None if there is none.

    Raises:
        UsageError: the path of the folder is one that tables cannot have.
        KgroupsError: its log cannot be read.
    """
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    check_path(folder)
    place = folder / table
    names = _checked_log(place) if isinstance(place, Path) else None
    if names == []:
        return None  # the first commit is being written
    try:
        return DeltaTable(str(place), storage_options=storage_options(place))
    except TableNotFoundError:
        return None
    except (DeltaError, OSError, ValueError) as exc:
        if names is None:
            raise store_failure(place, exc) from exc
        why = str(exc).splitlines()[0].rstrip(".")
        raise _broken(place, f"{why} (its log ends with `{names[-1]}`)") from exc


def set_log_aside(folder: Path, table: str) -> None:
    """Makes the log of a new table a link to a folder beside the tables.

    `DIR/rows/**` is then Parquet alone for readers that follow no links, as DuckDB's `**` does not.
    A log that is there stays where it is, and so does a new one where links cannot be made.
    """
    log = folder / table / LOG
    if os.path.lexists(log):
        return
    with contextlib.suppress(OSError):
        (folder / LOGS / table).mkdir(parents=True, exist_ok=True)
        log.parent.mkdir(exist_ok=True)
        log.symlink_to(Path("..", LOGS, table), target_is_directory=True)


def _checked_log(place: Path) -> list[str]:
    """The names of a log's files, looked at as far as they are read; none where there is no log.

    Raises:
        KgroupsError: one is no commit.
    """
    log = place / LOG
    if not log.is_dir():
        return []
    names = sorted(_regular_files(log))
    for name in _unfolded(log, names):
        _must_be_commit(log / name)
    return names


def check_path(folder: Place) -> None:
    """Fails on a folder that cannot have tables.

    Raises:
        UsageError: its path holds a character that tables cannot have.
    """
    path = str(folder.absolute()) if isinstance(folder, Path) else str(folder)
    match = NOT_IN_PATHS.search(path)
    if match:
        raise UsageError(
            f"captures cannot be kept in `{shorten(str(folder))}`: "
            f"the path of a Delta table cannot hold {match[0]!r}",
            hint="choose a folder with another name",
        )


def _regular_files(log: Path) -> Iterator[str]:
    """The names of its files.

    Raises:
        KgroupsError: one is no file that can be read as a whole.
    """
    with os.scandir(log) as entries:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False) and not COMMIT.fullmatch(entry.name):
                    continue
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # of another writer, renamed just now
                continue
            if not stat.S_ISREG(status.st_mode):
                raise _broken(log.parent, f"`{shorten(entry.name)}` is not a regular file")
            if status.st_size > LONGEST:
                raise _broken(log.parent, f"`{shorten(entry.name)}` is too long")
            yield entry.name


def _unfolded(log: Path, names: list[str]) -> Iterator[str]:
    """Commits that are in no checkpoint yet: those that are read as JSON."""
    first = 0
    if "_last_checkpoint" in names:
        try:
            first = int(msgspec.json.decode((log / "_last_checkpoint").read_bytes())["version"])
        except (ValueError, KeyError, TypeError, RecursionError) as exc:
            raise _broken(log.parent, "`_last_checkpoint` is not of a log") from exc
    for name in names:
        commit = COMMIT.fullmatch(name)
        if commit and int(commit[1]) >= first:
            yield name


def _must_be_commit(path: Path) -> None:
    """Fails on what is no lines of JSON, or nested deeply.

    Raises:
        KgroupsError: names the file.
    """
    try:
        for line in path.read_bytes().splitlines():
            action = msgspec.json.decode(line)
            for kind, name in INNER.items():
                text = action.get(kind, {}).get(name)
                if text is not None:
                    msgspec.json.decode(text)
    except FileNotFoundError:  # folded into a checkpoint and removed just now
        return
    except (ValueError, AttributeError, TypeError, RecursionError) as exc:
        why = str(exc).splitlines()[0]
        raise _broken(path.parents[1], f"`{path.name}` is not a commit ({why})") from exc


def _broken(place: Place, why: str) -> KgroupsError:
    return KgroupsError(
        f"the table `{place}` cannot be read: {shorten(why)}",
        hint="a table of captures is made and changed by kgroups, or by a Delta writer",
        code="BROKEN_TABLE",
    )
