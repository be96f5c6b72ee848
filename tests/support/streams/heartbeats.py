"""A member of a streams group, spoken to the broker by hand."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from kio.schema.errors import ErrorCode
from kio.schema.streams_group_heartbeat.v0.request import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from kio.schema.streams_group_heartbeat.v0.response import StreamsGroupHeartbeatResponse
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i16, i32, i32Timedelta, i64

from tests.support.kafka.broker_requests import WireConnection


def subtopology(
    name: str,
    sources: Sequence[str],
    changelog: str | None = None,
    *,
    repartition: str | None = None,
) -> Subtopology:
    """A part of a topology, perhaps with a state and a repartition topic of one partition."""
    return Subtopology(
        subtopology_id=name,
        source_topics=tuple(map(TopicName, sources)),
        state_changelog_topics=_internal(changelog, 0),
        repartition_source_topics=_internal(repartition, 1),
        copartition_groups=(),
    )


def _internal(name: str | None, partitions: int) -> tuple[TopicInfo, ...]:
    if name is None:
        return ()
    topic = TopicInfo(
        name=TopicName(name),
        partitions=i32(partitions),
        replication_factor=i16(-1),
        topic_configs=(),
    )
    return (topic,)


class HandMember:
    """One member: `beat` sends a heartbeat, with the tasks that the last answer gave it.

    What it says of its tasks' states, by subtopology and partition, is `state`.

    Args:
        process: id of its process; others of it are its threads.
    """

    def __init__(
        self,
        connection: WireConnection,
        group: str,
        parts: Sequence[Subtopology],
        process: str = "process",
    ) -> None:
        self.member_id = str(uuid.uuid4())
        self.epoch = 0
        self.active: tuple[TaskIds, ...] = ()
        self.standby: tuple[TaskIds, ...] = ()
        self.state: dict[tuple[str, int], int] = {}
        self._connection, self._group, self._parts, self._process = (
            connection,
            group,
            parts,
            process,
        )

    def beat(self, epoch: int | None = None) -> StreamsGroupHeartbeatResponse:
        """The broker's answer to a heartbeat with this epoch, or that of the answer before."""
        epoch = self.epoch if epoch is None else epoch
        first = epoch == 0
        request = StreamsGroupHeartbeatRequest(
            group_id=GroupId(self._group),
            member_id=self.member_id,
            member_epoch=i32(epoch),
            endpoint_information_epoch=i32(-1),
            rebalance_timeout=i32Timedelta.parse(timedelta(minutes=5 if first else 0)),
            topology=Topology(epoch=i32(0), subtopologies=tuple(self._parts)) if first else None,
            active_tasks=self.active,
            standby_tasks=self.standby,
            warmup_tasks=(),
            process_id=self._process if first else None,
            client_tags=() if first else None,
            task_offsets=tuple(
                TaskOffset(subtopology_id=name, partition=i32(number), offset=i64(offset))
                for (name, number), offset in self.state.items()
            )
            or None,
            task_end_offsets=None,
        )
        answer = self._connection.ask(request, StreamsGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.none, answer.error_message
        self.epoch = int(answer.member_epoch)
        if answer.active_tasks is not None:
            self.active = tuple(
                TaskIds(subtopology_id=row.subtopology_id, partitions=row.partitions)
                for row in answer.active_tasks
            )
        if answer.standby_tasks is not None:
            self.standby = tuple(
                TaskIds(subtopology_id=row.subtopology_id, partitions=row.partitions)
                for row in answer.standby_tasks
            )
        return answer


@contextmanager
def hand_member(
    address: str, group: str, parts: Sequence[Subtopology], process: str = "process"
) -> Iterator[HandMember]:
    """A member on a connection of its own, which leaves its group at the end."""
    with WireConnection(address, client_id="streamer") as connection:
        member = HandMember(connection, group, parts, process)
        yield member
        member.active = member.standby = ()
        member.beat(-1)
