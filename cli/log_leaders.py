"""Who leads groups, by `__consumer_offsets`: for plans and snapshots, or on demand."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from kgroups.cli.output.printer import Printer
from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.logged_leaders import QUICK, LoggedLeaders, logged_leaders
from kgroups.core.kafka.lookups.newest_records import Reach
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import leader_matters
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot, Group

# Groups that a plan looks up without being asked to, at most: each may cost two round trips.
MOST_UNASKED: Final = 8
NAMED: Final = 3
DENIED: Final = "TOPIC_AUTHORIZATION_FAILED"


def with_leaders(
    printer: Printer,
    admin: ClusterAdmin,
    snapshot: ClusterSnapshot,
    *,
    asked: bool,
    grows: bool,
    explained: bool = False,
    most: int | None = MOST_UNASKED,
) -> ClusterSnapshot:
    """The snapshot with the leaders of its classic groups, as far as they are found.

    Args:
        asked: read on until they are found, and fail where that may not be done; else one quick
            look, and that only where it matters who leads.
        grows: as of `leader_matters`.
        explained: whether the leader's library is known, so that an unreadable log is not
            reported.
        most: groups that are looked up unasked; where there are more, none is. None: all.
    Raises:
        ClusterError: it was asked for and cannot be read.
    """
    groups = [
        group
        for group in snapshot.groups
        if group.type == "classic" and group.members and group.leader is None
    ]
    if not asked:
        groups = [group for group in groups if leader_matters(Evidence(group), grows=grows)]
    if not groups or (not asked and most is not None and len(groups) > most):
        return snapshot
    hidden = [group for group in groups if group.offsets_partition is None]
    if hidden and asked:
        raise broker_error(OFFSETS_TOPIC, DENIED).as_error()
    try:
        answer = logged_leaders(admin, groups, Reach() if asked else QUICK)
    except KgroupsError as error:
        if asked:
            raise
        if not explained:
            text = f"cannot look up leaders in `{OFFSETS_TOPIC}`: {error.message}"
            printer.note("LEADER_UNKNOWN", text)
        return snapshot
    if asked:
        for code in answer.failures.values():
            raise broker_error(OFFSETS_TOPIC, code).as_error()
    led = {group.group: answer.led(group) for group in groups}
    if printer.options.output == "table" and not explained:
        unknown = list(_notes(led.values(), answer, asked=asked))
        for name, text in unknown[:NAMED]:
            printer.note("LEADER_UNKNOWN", text, name)
        if len(unknown) > NAMED:
            text = f"the leaders of {len(unknown) - NAMED:,} more groups are unknown"
            printer.note("LEADER_UNKNOWN", text)
    return replace(snapshot, groups=tuple(led.get(group.group, group) for group in snapshot.groups))


def _notes(
    groups: Iterable[Group], answer: LoggedLeaders, *, asked: bool
) -> Iterator[tuple[str, str]]:
    """Groups whose leader is not known, and why, a sentence each."""
    for group in groups:
        if group.leader is not None:
            continue
        place = f"`{OFFSETS_TOPIC}-{group.offsets_partition}`"
        code = DENIED if group.offsets_partition is None else None
        code = answer.failures.get(group.offsets_partition or 0, code)
        if group.offsets_partition is None or code is not None:
            why = f"`{OFFSETS_TOPIC}` cannot be read ({code})"
        elif group.group in answer.found:
            why = f"its newest record in {place} lists other members"
        elif group.offsets_partition in answer.unread:
            at = answer.unread[group.offsets_partition]
            why = f"{place} has no record of the group from offset {at} on"
            if not asked:
                why += "; `--leader-from-log` reads further back"
        else:
            why = f"{place} has no record of the group"
        yield group.group, f"`{group.group}`: the leader is unknown: {why}"
