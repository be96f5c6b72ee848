"""A coordinator that only reads the log of another, and must stand by the same records."""

from dataclasses import replace
from uuid import UUID

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.groups import GroupSnapshot
from kgroups.core.coordinator.log import record_codec
from kgroups.core.coordinator.topology import Topology
from tests.support.coordinator.coordinator_driver import START_MS, encoded
from tests.support.coordinator.oracle_adapter import Adapter

EMPTY_CONSUMERS = ("consumer", "Empty")


class LogReplica:
    """Replays what an adapter's coordinator has written, as far as it has not yet."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self._log: list[tuple[bytes, bytes | None]] | None = None

    def check(self) -> None:
        """Read on, and compare every record that stands, byte for byte.

        A consumer group that exists in the log only, or where memory has a classic one that never
        wrote a record (only a Stable one is sure to have), is an empty one that 4.3.0 forgot
        without a record.
        """
        if self._log is not self.adapter.log:
            self._log, self._read = self.adapter.log, 0
            config = CoordinatorConfig(offsets_partitions=1, release=self.adapter.release)
            self.coordinator = Coordinator(config, Topology(), lambda: UUID(int=0), now_ms=START_MS)
        for key, value in self._log[self._read :]:
            record = record_codec.decode_record(key, value)
            assert record is not None
            self.coordinator.replay(record)
        self._read = len(self._log)
        theirs, ours = self.coordinator.group_states(), self.adapter.coordinator.group_states()
        forgotten = {
            name
            for name, read in theirs.items()
            if read == EMPTY_CONSUMERS and _is_unwritten(ours.get(name))
        }
        assert set(theirs) <= set(ours) | forgotten
        names = set(ours) - forgotten
        assert encoded(self.adapter.coordinator.durable_records(names)) == encoded(
            self.coordinator.durable_records(names & set(theirs))
        )
        self._check_stable_groups()

    def _check_stable_groups(self) -> None:
        """A classic group that is Stable is in the log just as it is in memory."""
        read = {group.group_id: group for group in self.coordinator.snapshot()}
        for group in self.adapter.coordinator.snapshot():
            if (group.kind, group.state) == ("classic", "Stable"):
                assert _essence(read[group.group_id]) == _essence(group)


def _is_unwritten(kind_and_state: tuple[str, str] | None) -> bool:
    """Whether there is no group, or a classic one that may not have written a record yet."""
    return kind_and_state is None or (
        kind_and_state[0] == "classic" and kind_and_state[1] != "Stable"
    )


def _essence(group: GroupSnapshot) -> GroupSnapshot:
    """The group without what the log does not hold: offers not chosen, syncs still to come.

    Nor which topics count as subscribed: a static member that comes back with another subscription
    is stored, and counts from the next generation on or from a reload, as in Kafka. The order of
    members depends on how large the group has ever been.
    """
    by_id = sorted(group.members, key=lambda member: member.member_id)
    members = tuple(replace(member, facts={}) for member in by_id)
    return replace(group, members=members, offsets={}, facts={})
