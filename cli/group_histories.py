"""The logs of groups in `__consumer_offsets`, read into their histories."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from kgroups.cli.captures import read_captures
from kgroups.cli.output.printer import Printer
from kgroups.cli.source import cluster, unknown_group
from kgroups.core.coordinator.placement import OFFSETS_TOPIC, offsets_partition
from kgroups.core.errors import ClusterError, EmptyWindowError, ItemError
from kgroups.core.history.log_entry import LogEntry
from kgroups.core.history.looks import CapturedReader, looks_at
from kgroups.core.history.reader import HistoryReader
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.answers import Placement
from kgroups.core.kafka.lookups.group_log import GroupLogs, read_group_logs
from kgroups.core.lag.stores.places import Place
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot

DENIED: Final = "TOPIC_AUTHORIZATION_FAILED"


class Reader(Protocol):
    """Takes the records of a group in their order, and counts them, and captures of the group."""

    records: int
    captures: int

    def take(self, entry: LogEntry) -> None:
        """The next record."""


R = TypeVar("R", bound=Reader)
MakeReaders = Callable[[Sequence[ClusterSnapshot]], Mapping[str, R]]
"""Makes a reader for each group, which knows what captures tell."""


class GroupHistories(NamedTuple, Generic[R]):
    """Histories that were read.

    Args:
        readers: of each group, with what its log said.
        logs: None where `__consumer_offsets` may not be seen.
        captures: that readers know of.
    """

    readers: Mapping[str, R]
    placement: Placement
    logs: GroupLogs | None
    captures: Sequence[ClusterSnapshot] = ()


def readers_of(
    names: Sequence[str], since_ms: int, captures: Sequence[ClusterSnapshot]
) -> dict[str, HistoryReader]:
    """A reader for each group, which knows what captures tell."""
    if not captures:
        return {name: HistoryReader(since_ms) for name in names}
    return {name: CapturedReader(since_ms, list(looks_at(name, captures))) for name in names}


def read_histories(
    printer: Printer,
    admin: ClusterAdmin,
    names: Sequence[str],
    make: MakeReaders[R],
    folder: Place | None = None,
    window: tuple[int, int] = (0, 0),
) -> GroupHistories[R]:
    """The histories of groups; a note says if no capture is in the window.

    Args:
        folder, window: as of `open_histories`.
    Raises:
        EmptyWindowError: neither `__consumer_offsets` can be read nor a capture.
        KgroupsError: as of `read_captures`.
    """

    def take(group: str, entry: LogEntry) -> None:
        readers[group].take(entry)

    printer.progress(f"reading `{OFFSETS_TOPIC}`")
    placement = admin.coordinators(list(names))
    is_denied = placement.partitions is None and bool(placement.coordinators)
    captures: Sequence[ClusterSnapshot] = ()
    if folder is not None:
        name = placement.cluster_id or placement.bootstrap
        try:
            captures = read_captures(printer.options, folder, names, name, window)
        except EmptyWindowError as error:
            if is_denied:
                raise
            printer.note(
                "NO_CAPTURES", f"from `{OFFSETS_TOPIC}` only: {error.message}; {error.hint}"
            )
    readers = make(captures)
    if is_denied:
        return GroupHistories(readers, placement, None)
    return GroupHistories(readers, placement, read_group_logs(admin, placement, take), captures)


def open_histories(
    printer: Printer,
    names: Sequence[str],
    make: MakeReaders[R],
    folder: Place | None,
    window: tuple[int, int],
) -> GroupHistories[R]:
    """Histories from records, and from captures; these alone where records cannot be read.

    Args:
        window: of captures, as of `read_captures`.
    Raises:
        ClusterError: the cluster cannot be asked, and there are no captures.
        KgroupsError: as of `read_captures`.
    """
    options = printer.options
    if folder is None:
        with cluster(options) as admin:
            return read_histories(printer, admin, names, make)
    given = (options.bootstrap_server, options.command_config, options.context)
    why = "no cluster given"
    if any(given):
        try:
            with cluster(options) as admin:
                found = read_histories(printer, admin, names, make, folder, window)
            if found.logs is not None:
                return found
            why = _denied().message
        except ClusterError as error:
            why = error.message
    note_of_captures(printer, why)
    captures = read_captures(options, folder, names, None, window)
    placement = Placement(None, {}, captures[0].cluster_id)
    return GroupHistories(make(captures), placement, GroupLogs(), captures)


def note_of_captures(printer: Printer, why: str | None = None) -> None:
    """Say that what follows is from captures alone.

    Args:
        why: None: `__consumer_offsets` may not be read.
    """
    printer.note("LOG_UNREAD", f"from captures only: {why or _denied().message}")


def unread_groups(
    names: Sequence[str], histories: GroupHistories[R], captures: Place | None
) -> list[ItemError]:
    """Groups of which nothing is known: no record could be read, or there is none.

    Raises:
        ClusterError: `__consumer_offsets` may not be seen.
    """
    readers, placement, logs, _ = histories
    if logs is None:
        raise _denied().as_error()
    told = {name for name in names if readers[name].captures and not readers[name].records}
    errors = [error for error in placement.errors if error.target not in told]
    failed = {error.target for error in errors}
    for name in names:
        if name in failed or name in told:
            continue
        if name in logs.failures:
            errors.append(_unread(name, logs.failures[name], _place(name, placement)))
        elif not readers[name].records:
            if name in logs.unread.others:
                text = f"`{name}` is a share or streams group"
                errors.append(broker_error(name, "UNSUPPORTED_VERSION", text))
            else:
                place = _place(name, placement) if placement.coordinators else str(captures)
                errors.append(unknown_group(name, f"`{place}`"))
    return errors


def _denied() -> ItemError:
    return _unread(OFFSETS_TOPIC, DENIED, OFFSETS_TOPIC)


def _unread(name: str, code: str, place: str) -> ItemError:
    """The failure of a group whose partition cannot be read."""
    if code == DENIED:
        text = f"not authorized to read `{OFFSETS_TOPIC}`"
        return broker_error(name, code, text, "DESCRIBE and READ on the topic are required")
    return broker_error(name, code, f"`{place}` cannot be read ({code})")


def _place(name: str, placement: Placement) -> str:
    return f"{OFFSETS_TOPIC}-{offsets_partition(name, placement.partitions or 1)}"
