"""Topics that are created or grow."""

from dataclasses import replace

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.lag.uncommitted import CONDITION, ranges_text
from kgroups.core.planning.changes.draft import Draft
from kgroups.core.planning.changes.kinds import AddTopic, SetPartitions
from kgroups.core.snapshot import PartitionLog, Topic


def set_partitions(draft: Draft, change: SetPartitions) -> None:
    """A topic gets more partitions, which are empty."""
    name, count = change.topic, change.partitions
    topic = draft.topics.get(name)
    if topic is None:
        raise NotFoundError(
            f"there is no topic `{name}`",
            hint=f"to plan with a new topic: `--add-topic {name}={count}`",
            code="UNKNOWN_TOPIC_OR_PARTITION",
        )
    present = len(topic.partitions)
    if count < present:
        raise UsageError(
            f"`{name}` has {present} partitions, and Kafka cannot remove partitions",
            hint=f"expected at least {present}",
        )
    added = {number: PartitionLog(0, 0) for number in range(present, count)}
    draft.topics[name] = replace(topic, partitions={**topic.partitions, **added})
    if added:
        draft.new_topics.add(name)
        places = [(name, number) for number in added]
        if any(name in seat.topics for seat in draft.seats):
            draft.notes.append(f"{ranges_text(places)} will have no commit: {CONDITION}")


def add_topic(draft: Draft, change: AddTopic) -> None:
    """A topic is created, and is empty."""
    name, count = change.topic, change.partitions
    if name in draft.topics:
        raise UsageError(
            f"topic `{name}` already exists", hint=f"`--set-partitions {name}={count}`"
        )
    draft.topics[name] = Topic(name, {number: PartitionLog(0, 0) for number in range(count)})
    draft.new_topics.add(name)
