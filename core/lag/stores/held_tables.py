"""Tables that a collector keeps open: each commit then reads what came since, not the whole log."""

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kgroups.core.lag.stores.places import Place, Store, storage_options

if TYPE_CHECKING:
    from deltalake import DeltaTable

CHECKPOINT_EVERY: Final = 20
"""Commits that are folded into a checkpoint together, and read one by one until they are."""

# What tells a file of a log from another of the same name: identity or size, and the time.
Stamp = tuple[int, ...]


class _Held(NamedTuple):
    """An open table, the version that it was opened at, and its newest commit's file."""

    delta: "DeltaTable"
    opened_at: int
    stamp: Stamp


class HeldTables:
    """The open tables of one writer, by their place.

    A table is opened for its second commit: whoever writes once needs none. It is opened anew
    where its last commit is no longer there (the folder was removed, or another one is there), and
    after as many commits as a checkpoint folds.
    """

    def __init__(self) -> None:
        self._held: dict[str, _Held | None] = {}

    def find(self, place: Place) -> "DeltaTable | None":
        """The open table; None where it is to be opened by its place."""
        name = str(place)
        if name not in self._held:
            return None
        held = self._held[name]
        if held is not None and _stamp(place, held.delta.version()) == held.stamp:
            return held.delta
        return None if held is not None else self._open(place)

    def _open(self, place: Place) -> "DeltaTable | None":
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        try:
            return DeltaTable(str(place), storage_options=storage_options(place))
        except TableNotFoundError:
            return None

    def keep(self, place: Place, delta: "DeltaTable | None") -> None:
        """Keeps a table as a commit has left it; None: it was written by its place."""
        name = str(place)
        if delta is None:
            self._held[name] = None
            return
        version, before = delta.version(), self._held.get(name)
        opened_at = before.opened_at if before and before.delta is delta else version
        stamp = _stamp(place, version) if version - opened_at < CHECKPOINT_EVERY else None
        self._held[name] = None if stamp is None else _Held(delta, opened_at, stamp)

    def drop(self, place: Place) -> None:
        """Forgets a table: another commit came first, or one failed."""
        self._held.pop(str(place), None)


def _stamp(place: Place, version: int) -> Stamp | None:
    """The identity of the file of a commit; None where it is gone."""
    name = f"{version:020}.json"
    if isinstance(place, Store):
        (info,) = (place / "_delta_log").files().get_file_info([name])
        return None if info.size is None else (info.size, info.mtime_ns or 0)
    try:
        status = (Path(place) / "_delta_log" / name).stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
