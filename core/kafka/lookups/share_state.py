"""The state of share groups' partitions, read out of `__share_group_state`."""

from collections.abc import Iterable, Mapping

from kgroups.core.deliveries import (
    DELIVERY_LIMIT,
    LOCK_LIMIT,
    STATE_TOPIC,
    DeliveryRow,
    SharePartition,
    ShareState,
    decode_state,
    delivery_rows,
    state_partition,
)
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.lookups.dead_letters import DEAD_LETTER_TOPIC
from kgroups.core.kafka.lookups.group_settings import settings_of_groups
from kgroups.core.kafka.lookups.offsets_log import OffsetsLog
from kgroups.core.kafka.lookups.record_walk import Allowance, End, Spot, Stand, read_each, walk
from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
from kgroups.core.offsets.group_settings import Setting
from kgroups.core.protocol.batches import Record
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.snapshot import Group, Topic, TopicPartition
from kgroups.core.uuids import uuid_from

MOST_BYTES = 256 << 20
"""Of the topic in all; brokers delete what later snapshots stand for."""

States = dict[TopicPartition, ShareState | str]


def share_states(
    admin: ClusterAdmin, groups: Iterable[Group], topics: Mapping[str, Topic]
) -> dict[str, States]:
    """By group, the state of each partition with a start offset, or Kafka's error name.

    Takes READ on `__share_group_state`.

    Args:
        topics: with their ids.
    """
    groups = tuple(groups)
    found: dict[str, States] = {group.group: {} for group in groups}
    if not groups:
        return found
    listing = topics_with_bounds(admin, [STATE_TOPIC])
    topic = listing.topics.get(STATE_TOPIC)
    missing = listing.failures.get(STATE_TOPIC, "UNKNOWN_TOPIC_OR_PARTITION")
    places: dict[TopicPartition, dict[SharePartition, tuple[str, TopicPartition]]] = {}
    for group in groups:
        for name, offsets in (group.offsets or {}).items():
            topic_id = topics[name].topic_id if name in topics else None
            for number in offsets:
                found[group.group][name, number] = (
                    missing if topic is None else "UNKNOWN_TOPIC_OR_PARTITION"
                )
                if topic is not None and topic_id is not None:
                    at = (group.group, uuid_from(topic_id), number)
                    place = STATE_TOPIC, state_partition(at, topic_id, len(topic.partitions))
                    places.setdefault(place, {})[at] = group.group, (name, number)
    if topic is None:
        return found
    allowance = Allowance(MOST_BYTES, MOST_BYTES, admin.ends())

    async def read(log: OffsetsLog, stand: Stand) -> dict[SharePartition, ShareState]:
        wanted = places[STATE_TOPIC, log.partition]
        return await _read(log, stand, allowance, {at: ShareState() for at in wanted})

    logs = {at: topic.partitions[at[1]] for at in places}
    stands = {
        at: Stand(log.log_start_offset or 0, log.log_start_offset or 0, log.log_end_offset or 0)
        for at, log in logs.items()
    }
    answers = read_each(admin, listing.topics, stands, read, isolation="read_uncommitted")
    for place, answer in answers.items():
        for share_partition, (name, partition) in places[place].items():
            found[name][partition] = answer if isinstance(answer, str) else answer[share_partition]
    return found


def deliveries(
    admin: ClusterAdmin, groups: Iterable[Group], topics: Mapping[str, Topic]
) -> dict[str, list[DeliveryRow]]:
    """By group, what became of the records of each partition; settings where one may read them.

    Args:
        groups: share groups.
        topics: with their ids and the bounds of their logs.
    """
    groups = tuple(groups)
    states = share_states(admin, groups, topics)
    settings = settings_of_groups(admin, [group.group for group in groups])
    return {
        name: delivery_rows(group, topics, states[name], *_settings(settings[name]))
        for name, group in ((group.group, group) for group in groups)
    }


def _settings(
    found: Mapping[str, Setting] | BrokerFailure,
) -> tuple[int | None, str | None, int | None]:
    """The delivery limit of a group, its topic of dead letters, and its limit of record locks."""
    if isinstance(found, BrokerFailure):  # one without the right still has the counts
        return None, None, None
    names = (DELIVERY_LIMIT, DEAD_LETTER_TOPIC, LOCK_LIMIT)
    limit, topic, locks = (found[name].value if name in found else None for name in names)
    return int(limit or 0) or None, topic or None, int(locks or 0) or None


async def _read(
    log: OffsetsLog, stand: Stand, allowance: Allowance, states: dict[SharePartition, ShareState]
) -> dict[SharePartition, ShareState]:
    """The states with what one partition of the topic says of them."""
    ends: list[End] = []

    def take(spot: Spot) -> bool:
        if isinstance(spot, End):
            ends.append(spot)
        if isinstance(spot, Record) and spot.key is not None:
            try:
                record = decode_state(spot.key, spot.value)
            except DecodeError as broken:
                raise BrokerFailure("CORRUPT_MESSAGE") from broken
            if record is not None and record.at in states:
                states[record.at].take(record)
        return spot.next_offset >= stand.log_end

    await walk(log, stand.log_start, allowance, take)
    if any(end.reason == "limit" for end in ends):
        raise BrokerFailure("REQUEST_TIMED_OUT")
    return states
