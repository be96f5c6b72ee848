"""Reads MirrorMaker 2's checkpoints out of their topic."""

from collections.abc import Callable
from dataclasses import replace

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
from kgroups.core.offsets.checkpoints import (
    Checkpoint,
    Checkpoints,
    decode_checkpoint,
    topic_prefix,
)
from kgroups.core.protocol.errors import broker_error
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.snapshot import TopicPartition


def read_checkpoints(
    admin: ClusterAdmin, topic: str, is_wanted: Callable[[str], bool]
) -> Checkpoints:
    """The newest checkpoint of each partition of the groups; takes READ on the topic.

    Args:
        topic: in the target cluster, as `us-west.checkpoints.internal`.
        is_wanted: whether a group's are kept.
    Raises:
        ClusterError: the topic cannot be read, or not in time.
        NotFoundError: it is not there.
        UsageError: it holds something else.
    """
    from kgroups.core.kafka.librdkafka.offsets_topic import OffsetsTopic  # confluent_kafka

    listing = topics_with_bounds(admin, [topic])
    for name, code in listing.failures.items():
        raise broker_error(name, code).as_error()
    if topic not in listing.topics:
        code = "UNKNOWN_TOPIC_OR_PARTITION"
        hint = "the checkpoints are in the target cluster, in SOURCE.checkpoints.internal"
        raise NotFoundError(f"no such topic: `{topic}`", hint=hint, code=code)
    ends = admin.ends()
    settings = replace(admin.settings, trace=None)
    log = OffsetsTopic(settings, timeout_ms=max(1, round(1_000 * ends.left_s)), topic=topic)
    groups: dict[str, dict[TopicPartition, Checkpoint]] = {}
    topics: set[str] = set()
    for part in log.slices():
        for batch in log.read(part):
            for record in batch:
                try:
                    key, checkpoint = decode_checkpoint(record.key, record.value)
                except DecodeError as broken:
                    text = (
                        f"record {record.offset} of `{topic}-{part.partition}` is not a checkpoint"
                    )
                    hint = "MirrorMaker 2 writes checkpoints to SOURCE.checkpoints.internal"
                    raise UsageError(f"{text}: {broken}", hint=hint) from broken
                topics.add(key.topic)
                if not is_wanted(key.group):
                    continue
                of_group = groups.setdefault(key.group, {})
                if checkpoint is None:
                    of_group.pop((key.topic, key.partition), None)
                else:
                    of_group[key.topic, key.partition] = checkpoint
            if ends.is_over:
                text = f"`{topic}` could not be read in time"
                raise broker_error(topic, "REQUEST_TIMED_OUT", text).as_error()
    found_groups = {name: checkpoints for name, checkpoints in groups.items() if checkpoints}
    return Checkpoints(found_groups, topic_prefix(topic, topics))
