"""Where the group has begun to read, and where nobody gets any further."""

from collections.abc import Iterator
from shlex import quote

from kgroups.core.doctor.detectors.consumption import place, rivals
from kgroups.core.doctor.detectors.stability import BY_DESIGN
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding, likely_or_possible
from kgroups.core.doctor.thresholds import FASTEST_PER_S, POISON_MEMBERS
from kgroups.core.snapshot import TopicPartition
from kgroups.core.uuids import uuid_text


def poison_record(facts: DoctorFacts) -> Iterator[Finding]:
    """Member after member is lost at one record, while the group's other partitions go on.

    Where none goes on, the members fail for another reason, of which `REBALANCE_STORM` tells.
    """
    lost = _lost_members(facts)
    waiting = {(row.topic, row.partition): row for row in facts.rows or () if row.lag}
    stuck = {at: who for at, who in lost.items() if at in waiting and len(who) >= POISON_MEMBERS}
    if len(stuck) != 1 or len(facts.rows or ()) < 2:
        return
    ((at, members),) = stuck.items()
    offset, since_ms = facts.standing[at]
    row = waiting[at]
    if row.committed_offset != offset:
        return
    yield Finding(
        "STALLED_PARTITION",
        "error",
        "likely",
        f"its next record may be one that no member can process: each is lost at offset {offset}",
        f"kgroups peek {facts.word} --topic {quote(row.topic)}:{row.partition}",
        place(row),
        {
            "lag": row.lag,
            "committed_offset": offset,
            "members_lost": len(members),
            "client_ids": sorted(set(members.values()))[:5],
            "stood_seconds": round((facts.snapshot.captured_at_ms - since_ms) / 1_000),
            **rivals(facts, at),
        },
    )


def _lost_members(facts: DoctorFacts) -> dict[TopicPartition, dict[str, str]]:
    """Partitions to members, client ids by member ids, that were lost with them since a commit."""
    names = {topic.topic_id: name for name, topic in facts.snapshot.topics.items()}
    lost: dict[TopicPartition, dict[str, str]] = {}
    for change in facts.changes or ():
        if change.cause in BY_DESIGN:
            continue
        for gone in change.members.gone:
            for topic, number in gone.seat.partitions:
                name = topic if isinstance(topic, str) else names.get(uuid_text(topic))
                if name is None or (name, number) not in facts.standing:
                    continue
                if change.at_ms > facts.standing[name, number][1]:
                    members = lost.setdefault((name, number), {})
                    members[gone.seat.member_id] = gone.seat.client_id
    return lost


def new_partitions_skipped(facts: DoctorFacts) -> Iterator[Finding]:
    """A partition was added and had records before an owner, and its first commit is behind them.

    A group that begins at the end (`auto.offset.reset=latest`) has skipped them; one that begins
    at the start has read them, unless it cannot have in that time.
    """
    starts = {(row.topic, row.partition): row.log_start_offset for row in facts.rows or ()}
    for change in facts.changes or ():
        for first in () if change.commits is None else change.commits.first:
            at = first.topic, first.partition
            start = starts.get(at)
            end = min(first.offset, facts.ends.get(at, first.offset))
            if start is None or end <= start:
                continue
            seconds = max(1.0, (first.at_ms - first.assigned_ms) / 1_000)
            records = end - start
            level, certainty = likely_or_possible(
                "warning", is_likely=records > FASTEST_PER_S * seconds
            )
            topic = quote(f"{first.topic}:{first.partition}")
            yield Finding(
                "NEW_PARTITIONS_SKIPPED",
                level,
                certainty,
                "what was written before it had an owner is skipped if auto.offset.reset is latest",
                f"kgroups reset-offsets {facts.word} --topic {topic} --to earliest --dry-run",
                {"topic": first.topic, "partition": first.partition},
                {
                    "log_start_offset": start,
                    "first_commit": first.offset,
                    "records": records,
                    "after_seconds": round(seconds, 1),
                },
            )
