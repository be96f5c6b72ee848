"""The rule of each strategy with a plan's own numbers in it: why a partition has its new owner.

A rule says what the owner follows from and nothing that does not hold: positions come from the
order in which the leader's library sorts members, and where ids of joining members are not known
yet, from the shares themselves.

Source: the Java classes RangeAssignor, RoundRobinAssignor, AbstractStickyAssignor,
UniformHomogeneousAssignmentBuilder, UniformHeterogeneousAssignmentBuilder and the server side's
RangeAssignor; KIP-881 (racks).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kgroups.assignors.java.former_leaders import BY_MEMBER_ID as JAVA_BY_MEMBER_ID
from kgroups.assignors.java.former_leaders import RELEASES, STATIC_FIRST_SINCE
from kgroups.assignors.java.leader_view import JAVA_ORDER, OrderRule
from kgroups.assignors.other_clients.variants import (
    BY_MEMBER_ID,
    KAFKA_PYTHON,
    LIBRDKAFKA,
    STATIC_FIRST,
)
from kgroups.assignors.spec import MemberSubscription
from kgroups.core.planning.moves import Move
from kgroups.core.planning.plan import Plan, PlannedMember
from kgroups.core.snapshot import TopicPartition

# Order of members by client library, and how to say it.
ORDERS: Final[Mapping[str, tuple[OrderRule, str]]] = {
    "librdkafka": (LIBRDKAFKA, "member ids, two static members by instance ids"),
    "franz-go": (STATIC_FIRST, "instance ids, then member ids"),
    "sarama": (BY_MEMBER_ID, "member ids"),
    "aiokafka": (BY_MEMBER_ID, "member ids"),
    "kafka-python": (KAFKA_PYTHON, "instance ids, then member ids"),
}
JAVA: Final = (JAVA_ORDER, "instance ids, then member ids")


@dataclass(frozen=True, slots=True)
class Question:
    """A partition whose owner is to be explained.

    Args:
        owner: the member that gets it.
        readers: members that subscribe to its topic, in the plan's order.
    """

    plan: Plan
    move: Move
    owner: PlannedMember
    readers: Sequence[PlannedMember]

    @property
    def count(self) -> int:
        """Partitions of its topic."""
        return self.plan.partition_counts.get(self.move.topic, 0)

    @property
    def order(self) -> tuple[OrderRule, str]:
        """How the leader sorts members."""
        release = self.plan.roster.evidence.known.release if self.plan.roster else None
        if release is not None and RELEASES.index(release) < STATIC_FIRST_SINCE:
            return JAVA_BY_MEMBER_ID, "member ids"
        return ORDERS.get(self.plan.leader_client or "", JAVA)

    def sorted(self, members: Sequence[PlannedMember]) -> list[PlannedMember] | None:
        """Members as the leader sorts them; None where an id is not known yet."""
        if any(member.joins for member in members):
            return None
        asked = [MemberSubscription(m.member_id, m.topics, m.instance_id) for m in members]
        return [members[place] for place in self.order[0].order(asked)]

    @property
    def near(self) -> bool | None:
        """Whether the owner's rack has a replica; None where one of the two shows no rack."""
        racks = self.plan.partition_racks.get((self.move.topic, self.move.partition), ())
        racks_known = {rack for rack in racks if rack}
        return self.owner.rack in racks_known if racks_known and self.owner.rack else None

    @property
    def racks_count(self) -> bool:
        """Whether racks can have a say: a member and not every replica set show one."""
        sets = {frozenset(filter(None, racks)) for racks in self.plan.partition_racks.values()}
        return len(sets) > 1 and any(member.rack for member in self.readers)


def range_reasons(asked: Question) -> list[str]:
    """The division, the owner's place in the order, and its block."""
    topic, count, readers = asked.move.topic, asked.count, len(asked.readers)
    size, more = divmod(count, readers)
    extra = f", and the first {more} get one more" if more else ""
    lines = [
        (
            f"`range` divides each topic separately: {count} partitions of `{topic}` among "
            f"{readers} subscribers, in the order of {asked.order[1]}, make {size} each{extra}"
        )
    ]
    block = sorted(asked.owner.assignment.get(topic, ()))
    place = _block_of(asked.move.partition, size, more)
    start = place * size + min(place, more)
    order = asked.sorted(asked.readers)
    straight = block == list(range(start, start + size + (place < more))) and (
        order is None or (place < len(order) and order[place] is asked.owner)
    )
    ends = f"{block[0]} to {block[-1]}" if len(block) > 1 else f"{block[0]} alone"
    if straight:
        lines.append(f"`{asked.owner.member_id}` is number {place + 1}, so its block is {ends}")
        return [*lines, *history(asked)]
    numbers = ", ".join(map(str, block))
    lines.append(
        "racks take precedence: each subscriber in turn takes the lowest partitions with a "
        f"replica in its rack, up to its share; `{asked.owner.member_id}` gets {numbers}"
    )
    return [*lines, *_rack_reason(asked), *history(asked)]


def _block_of(partition: int, size: int, more: int) -> int:
    """Place of the reader whose block has the partition."""
    longer = more * (size + 1)
    if partition < longer:
        return partition // (size + 1)
    return more + (partition - longer) // size


def _rack_reason(asked: Question) -> list[str]:
    if asked.near is None:
        return []
    where = "a" if asked.near else "no"
    return [f"its rack `{asked.owner.rack}` holds {where} replica of this partition"]


def roundrobin_reasons(asked: Question) -> list[str]:
    """The partition's place in the row, where the circle stood, and who was passed by."""
    plan, move = asked.plan, asked.move
    row = [
        (name, number) for name in sorted(plan.partition_counts)
        for number in range(plan.partition_counts[name])
    ]  # fmt: skip
    if plan.leader_client == "sarama":
        row.sort(key=lambda pair: f"{pair[0]}-{pair[1]}")
    place = row.index((move.topic, move.partition))
    lines = [
        (
            "`roundrobin` deals all partitions, by topic and number, to members in turn, in the "
            f"order of {asked.order[1]}; this is number {place + 1} of {len(row)}"
        )
    ]
    circle = asked.sorted(plan.members) or []
    names = [member.member_id for member in circle]
    if asked.owner.member_id not in names:
        return [*lines, *history(asked)]
    at = names.index(asked.owner.member_id)
    before = _owner_of(plan, row[place - 1]) if place else None
    if before is None or before not in names:
        start, words = 0, "the first turn"
    else:
        start = (names.index(before) + 1) % len(names)
        words = f"{row[place - 1][0]}-{row[place - 1][1]} went to `{before}`"
    lines.append(f"{words}; `{names[at]}` is number {at + 1} of {len(names)} in turn")
    passed = [names[(start + step) % len(names)] for step in range((at - start) % len(names))]
    if passed:
        listed = ", ".join(f"`{name}`" for name in passed)
        lines.append(f"skipped, because they do not subscribe to `{move.topic}`: {listed}")
    return [*lines, *history(asked)]


def _owner_of(plan: Plan, partition: TopicPartition) -> str | None:
    topic, number = partition
    owners = (m.member_id for m in plan.members if number in m.assignment.get(topic, ()))
    return next(owners, None)


def sticky_reasons(asked: Question) -> list[str]:
    """The share of a member, and whether this one was kept, given up or free."""
    plan = asked.plan
    if len({frozenset(member.topics) for member in plan.members}) > 1:
        return [*_mixed_rule(asked), *_stay_or_go(asked)]
    total, members = sum(plan.partition_counts.values()), len(plan.members)
    low, more = divmod(total, members)
    share = f"{low} each" + (f", {more} of them one more" if more else "")
    rule = (
        f"all members subscribe to the same topics: {total} partitions among {members} members "
        f"make {share}; a member keeps partitions up to that share, and free partitions go to "
        "members below it"
    )
    return [rule, *_stay_or_go(asked)]


def _mixed_rule(asked: Question) -> list[str]:
    return [
        (
            f"members subscribe to different topics, {len(asked.readers)} of "
            f"{len(asked.plan.members)} to `{asked.move.topic}`: partitions stay where they are, "
            "free ones go to the subscriber with the fewest, and single ones move until no "
            "subscriber has two more than another"
        )
    ]


def history(asked: Question) -> list[str]:
    """The fate of the previous owner."""
    plan, move = asked.plan, asked.move
    members = {member.member_id: member for member in plan.members}
    if move.source is None:
        return ["it has no owner now"]
    if move.source == move.target:
        return [f"`{move.target}` owns it now and keeps it"]
    if move.source in plan.leavers or move.source not in members:
        return [f"`{move.source}`, which owns it now, leaves"]
    before, after = members[move.source].partitions_before, members[move.source].partitions
    return [f"`{move.source}`, which owns it now, goes from {before} to {after} partitions"]


def _stay_or_go(asked: Question) -> list[str]:
    """Kept because owned, moved because over the share, given because below it."""
    move, owner = asked.move, asked.owner
    members = {member.member_id: member for member in asked.plan.members}
    if move.source == owner.member_id:
        return [
            f"kept, because `{owner.member_id}` owns it and stays within its share: it goes from"
            f" {owner.partitions_before} to {owner.partitions} partitions"
        ]
    lines = [] if move.source in members else history(asked)
    if move.source in members:
        source = members[move.source]
        if move.topic not in source.topics:
            lines.append(
                f"free, because `{source.member_id}` no longer subscribes to `{move.topic}`"
            )
        elif (source.partitions_before or 0) > source.partitions:
            lines.append(
                f"moved, because `{source.member_id}` is over its share: it goes from"
                f" {source.partitions_before} to {source.partitions}, and keeps the lowest"
                " by partition, then topic"
            )
        elif asked.racks_count:
            lines.append(f"moved, because `{source.member_id}` is not in the rack of any replica")
        else:
            lines.append(f"moved from `{source.member_id}`, which gets others in exchange")
    had = owner.partitions_before or 0
    kept = len(_kept(asked.plan, owner))
    lines.append(
        f"assigned to `{owner.member_id}`, which is below its share: it keeps {kept} of {had} "
        f"and goes up to {owner.partitions}"
    )
    return [*lines, *(_rack_reason(asked) if asked.racks_count else [])]


def _kept(plan: Plan, member: PlannedMember) -> list[Move]:
    name = member.member_id
    return [move for move in plan.moves if move.source == name and move.target == name]


def uniform_reasons(asked: Question) -> list[str]:
    """The coordinator's quotas."""
    plan = asked.plan
    if len({frozenset(member.topics) for member in plan.members}) > 1:
        rule = (
            "members subscribe to different topics: `uniform` keeps the previous target, "
            f"gives free partitions to the subscribers with the fewest, {len(asked.readers)} "
            f"of them for `{asked.move.topic}`, and then balances topic by topic"
        )
        return [rule, *_stay_or_go(asked)]
    total, members = sum(plan.partition_counts.values()), len(plan.members)
    low, more = divmod(total, members)
    share = f"{low} each" + (
        f", the last {more} in the coordinator's order one more" if more else ""
    )
    rule = (
        f"`uniform`: {total} partitions among {members} members make {share}; members keep "
        "their previous target up to that share, and free partitions are assigned in blocks"
    )
    return [rule, *_stay_or_go(asked)]


def lag_reasons(asked: Question) -> list[str]:
    """The partition's rank by lag, and how the round decides."""
    topic = asked.move.topic
    lags = {
        number: asked.plan.partition_lags.get((topic, number)) or 0 for number in range(asked.count)
    }
    ranked = sorted(lags, key=lambda number: (-lags[number], number))
    rank = ranked.index(asked.move.partition)
    return [
        (
            "`lag` assigns each topic separately, the partition with the most lag first: this one "
            f"has {lags[asked.move.partition]} and is number {rank + 1} of {asked.count}, in round "
            f"{rank // len(asked.readers) + 1} of {-(-asked.count // len(asked.readers))}"
        ),
        (
            "in a round each subscriber gets one, starting with the least lag so far, then by "
            f"member id; `{asked.owner.member_id}` gets "
            f"{len(asked.owner.assignment.get(topic, ()))} of `{topic}`"
        ),
        *history(asked),
    ]


def lag_sticky_reasons(asked: Question) -> list[str]:
    """Kept as `sticky` would, but for what lag makes it exchange."""
    return [
        (
            "`lag-sticky` assigns like `sticky`, then swaps single partitions as long as that "
            "balances lag"
        ),
        *_stay_or_go(asked),
    ]


def random_reasons(asked: Question) -> list[str]:
    """Drawn."""
    return [
        (
            "`random` picks an owner at random for each partition, here one of the "
            f"{len(asked.readers)} subscribers of `{asked.move.topic}`; the same seed gives the "
            "same result"
        ),
        *history(asked),
    ]


def broadcast_reasons(asked: Question) -> list[str]:
    """Everybody gets it."""
    return [
        (
            f"`broadcast` assigns it to each of the {len(asked.readers)} subscribers of "
            f"`{asked.move.topic}`"
        )
    ]


Rule = Callable[[Question], list[str]]
RULES: Final[Mapping[str, Rule]] = {
    "range": range_reasons,
    "roundrobin": roundrobin_reasons,
    "sticky": sticky_reasons,
    "cooperative-sticky": sticky_reasons,
    "uniform": uniform_reasons,
    "lag": lag_reasons,
    "lag-sticky": lag_sticky_reasons,
    "random": random_reasons,
    "broadcast": broadcast_reasons,
}
