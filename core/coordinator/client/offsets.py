"""Where a member begins to read: it asks the coordinator for what the group committed.

What Kafka calls fetchCommittedOffsets; of either protocol, without I/O. Partitions are wanted
until an answer names them; errors that pass are answered by asking again after a back-off.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.client.reactions import Reaction
from kgroups.core.coordinator.offsets.messages import (
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
)
from kgroups.core.protocol.errors import ErrorCode

FETCH_VERSION = 9


# The reactions to an OffsetFetch that was not answered.
REFUSALS: Final[Mapping[ErrorCode, Reaction]] = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: Reaction.RETRY,
    ErrorCode.NETWORK_EXCEPTION: Reaction.FIND,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: Reaction.FIND,
    ErrorCode.NOT_COORDINATOR: Reaction.FIND,
    ErrorCode.STALE_MEMBER_EPOCH: Reaction.RETRY,
    ErrorCode.UNKNOWN_MEMBER_ID: Reaction.REJOIN,
    ErrorCode.GROUP_ID_NOT_FOUND: Reaction.REJOIN,
}


class CommittedLookup:
    """The partitions of one member whose committed offsets are not known to it yet.

    Attributes:
        wanted: partitions to ask for, in the order in which they were got.
    """

    __slots__ = ("_client_id", "_group_id", "wanted")

    def __init__(self, group_id: str, client_id: str) -> None:
        self.wanted: dict[TopicPartition, None] = {}
        self._group_id, self._client_id = group_id, client_id

    def want(self, partitions: Iterable[TopicPartition]) -> None:
        """The member owns these now."""
        self.wanted.update(dict.fromkeys(partitions))

    def drop(self, partitions: Iterable[TopicPartition]) -> None:
        """The member owns these no more."""
        for partition in partitions:
            self.wanted.pop(partition, None)

    def request(self, member_id: str | None, epoch: int) -> OffsetFetchRequest | None:
        """The request to send now; None if nothing is wanted.

        Args:
            member_id: of a KIP-848 member, with its epoch; None and -1 of a classic one.
        """
        if not self.wanted:
            return None
        topics: dict[str, list[int]] = {}
        for topic, partition in self.wanted:
            topics.setdefault(topic, []).append(partition)
        asked = tuple(OffsetFetchTopic(name, tuple(p)) for name, p in topics.items())
        group = OffsetFetchGroup(self._group_id, asked, member_id, epoch)
        return OffsetFetchRequest(
            version=FETCH_VERSION, client_id=self._client_id, groups=(group,), require_stable=True
        )

    def response(
        self, answer: OffsetFetchResponse | None
    ) -> Reaction | dict[TopicPartition, int | None]:
        """Committed offsets of partitions that are still wanted (None: no commit), or the refusal.

        A partition with an error of its own stays wanted.
        """
        if answer is None:
            return Reaction.FIND
        (group,) = answer.groups
        if group.error_code is not ErrorCode.NONE:
            return REFUSALS.get(group.error_code, Reaction.RETRY)
        offsets: dict[TopicPartition, int | None] = {}
        for topic in group.topics:
            for row in topic.partitions:
                partition = TopicPartition(topic.name, row.partition_index)
                if partition in self.wanted and row.error_code is ErrorCode.NONE:
                    committed = row.committed_offset >= 0
                    offsets[partition] = row.committed_offset if committed else None
        self.drop(offsets)
        return offsets
