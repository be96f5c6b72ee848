"""The commits of groups at a moment, out of `__consumer_offsets` and captures."""

from collections.abc import Mapping, Sequence
from typing import Final

from kgroups.cli.group_histories import (
    GroupHistories,
    MakeReaders,
    note_of_captures,
    read_histories,
    unread_groups,
)
from kgroups.cli.output.printer import Printer
from kgroups.core.errors import ItemError
from kgroups.core.history.moment import MomentReader, Standing, last_look
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.group_log import GroupLogs
from kgroups.core.lag.stores.places import Place
from kgroups.core.snapshot import ClusterSnapshot, TopicPartition
from kgroups.core.times import timestamp

Standings = Mapping[TopicPartition, Standing]
CAPTURES_MS: Final = 86_400_000
"""A capture that is older than this at the moment is not looked for."""


def moment_readers(names: Sequence[str], at_ms: int) -> MakeReaders[MomentReader]:
    """Maker of a reader for each group, which knows its last capture before the moment."""

    def make(captures: Sequence[ClusterSnapshot]) -> dict[str, MomentReader]:
        return {name: MomentReader(at_ms, last_look(name, captures, at_ms)) for name in names}

    return make


def capture_window(at_ms: int) -> tuple[int, int]:
    """Where the last capture before a moment is looked for."""
    return max(0, at_ms - CAPTURES_MS), at_ms


def tell_moment(printer: Printer, at_ms: int) -> None:
    """Say which time is meant, as `03:00` or `2h` do not."""
    printer.note("AS_OF", f"committed offsets are those of {timestamp(at_ms)}")


def read_moment(
    printer: Printer, admin: ClusterAdmin, names: Sequence[str], at_ms: int, folder: Place | None
) -> tuple[dict[str, Standings], list[ItemError]]:
    """Standings of each group, and the failures of those of which nothing is known.

    Raises:
        ClusterError: the cluster cannot be asked, or not about records, and there are no captures.
        KgroupsError: as of `read_captures`.
    """

    make, window = moment_readers(names, at_ms), capture_window(at_ms)
    found = read_histories(printer, admin, names, make, folder, window)
    if found.logs is None and folder is not None:
        note_of_captures(printer)
        found = found._replace(logs=GroupLogs())
    errors = unread_groups(names, found, folder)
    return standings_of(found, errors), errors


def standings_of(
    histories: GroupHistories[MomentReader], errors: Sequence[ItemError]
) -> dict[str, Standings]:
    """Standings of each group, except those that have failed."""
    failed = {error.target for error in errors}
    broken = histories.logs.unread.broken if histories.logs is not None else {}
    return {
        name: reader.standings(doubted=name in broken)
        for name, reader in histories.readers.items()
        if name not in failed
    }


def standing_fields(standing: Standing) -> dict[str, str | None]:
    """How a document says where an offset is from, and how exact it is."""
    known_ms = standing.known_ms
    return {
        "exactness": standing.exactness,
        "known_at": None if known_ms is None else timestamp(known_ms),
        "source": standing.source,
    }
