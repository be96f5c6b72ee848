"""The ports of a coordinator that is given none: Kafka's assignors, XXH3 and RE2."""

from collections.abc import Mapping
from uuid import UUID

import xxhash

from kgroups.assignors.kip848.broker_ranges import ServerRangeAssignor
from kgroups.assignors.kip848.uniform import UniformAssignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    Assignor,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.core.coordinator.ports import (
    AssignableMember,
    AssignmentSpec,
    AssignorFailed,
    Ports,
    ServerAssign,
)
from kgroups.core.coordinator.topology import TopicInfo
from kgroups.core.patterns import compile_pattern
from kgroups.core.uuids import uuid_text


def coordinator_ports() -> Ports:
    """Assignors `uniform` and `range`, XXH3 and RE2, as a coordinator calls them."""
    strategies: tuple[Assignor, ...] = (UniformAssignor(), ServerRangeAssignor())
    return Ports(
        assignors={strategy.name: _assign_with(strategy) for strategy in strategies},
        hash64=xxhash.xxh3_64_intdigest,
        compile_pattern=compile_pattern,
    )


def _assign_with(strategy: Assignor) -> ServerAssign:
    def assign(spec: AssignmentSpec) -> Mapping[str, Mapping[UUID, frozenset[int]]]:
        names = {topic.topic_id: topic.name for topic in spec.topics.values()}
        request = AssignmentRequest(
            [_member(member, names) for member in spec.members],
            {name: _topic(topic) for name, topic in spec.topics.items()},
            options={"homogeneous": spec.homogeneous},
            faithful=True,
        )
        try:
            targets = strategy.assign(request)
        except AssignorError as error:
            raise AssignorFailed(error.message) from error
        return {
            member_id: {
                spec.topics[name].topic_id: frozenset(partitions)
                for name, partitions in topics.items()
            }
            for member_id, topics in targets.items()
        }

    return assign


def _member(member: AssignableMember, names: Mapping[UUID, str]) -> MemberSubscription:
    # A topic that is gone keeps its place in what is owned, under its id.
    owned = [
        (names.get(topic_id, uuid_text(topic_id)), sorted(partitions))
        for topic_id, partitions in member.target.items()
    ]
    return MemberSubscription(
        member.member_id,
        member.topic_names,
        member.instance_id,
        member.rack_id,
        owned=owned,
    )


def _topic(topic: TopicInfo) -> TopicPartitions:
    racks = [sorted(rack) for rack in topic.racks] if any(topic.racks) else []
    return TopicPartitions(topic.partitions, racks, topic_id=uuid_text(topic.topic_id))
