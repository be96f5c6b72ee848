"""Groups of any size for the assignor benches: the same ones that AssignorBench.java builds.

Member ids are seeded as `java.util.Random` does it, so both sides can compare check sums.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.kip848.target import TargetAssignment, uuid_halves, uuid_hash
from kgroups.assignors.order.java_order import java_sorted, string_hash
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions
from kgroups.assignors.wire import encode_sticky_data

LONG = 0xFFFFFFFFFFFFFFFF


def java_longs(seed: int) -> Iterator[int]:
    """`new Random(seed).nextLong()`, again and again, as unsigned numbers."""
    state = (seed ^ 0x5DEECE66D) & (1 << 48) - 1

    def bits() -> int:
        nonlocal state
        state = (state * 0x5DEECE66D + 0xB) & (1 << 48) - 1
        value = state >> 16
        return value - (1 << 32) if value >> 31 else value

    while True:
        high = bits()
        yield ((high << 32) + bits()) & LONG


def member_ids(wanted: int) -> list[str]:
    """`app-` and a seeded uuid."""
    longs = java_longs(42)
    found = []
    for _ in range(wanted):
        digits = f"{next(longs):016x}{next(longs):016x}"
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        found.append("app-" + "-".join(parts))
    return found


@dataclass(frozen=True, slots=True)
class Shape:
    """One group to be measured.

    Args:
        strategy: client-side name, or `server-uniform` and `server-range`.
        topics: number of topics.
        partitions: of each topic.
        members: number of members.
        mode: `fresh`, `swap` (one member left, one joined) and `mixed` (a quarter of the members
            on the first half of the topics, the others on the second), joined with `,`.
    """

    strategy: str
    topics: int
    partitions: int
    members: int
    mode: str = "fresh"

    @property
    def server(self) -> bool:
        """Whether the strategy is one of KIP-848."""
        return self.strategy.startswith("server-")


def request_of(shape: Shape) -> AssignmentRequest:
    """The request that the shape describes."""
    names = [f"topic-{number:04d}" for number in range(shape.topics)]
    longs = java_longs(7)
    topics = {
        name: TopicPartitions(shape.partitions, topic_id=_uuid(next(longs), next(longs)))
        for name in names
    }
    half = shape.topics // 2
    lists = (tuple(names[:half]), tuple(names[half:])) if "mixed" in shape.mode else (tuple(names),)
    ids = member_ids(shape.members + 1)
    quarter = shape.members // 4
    members = [
        MemberSubscription(name, lists[0 if len(lists) == 1 or index < quarter else 1])
        for index, name in enumerate(ids[:-1])
    ]
    if "swap" in shape.mode:
        members = _rejoined(shape, members, names)
        middle = members[shape.members // 2]
        members[shape.members // 2] = MemberSubscription(ids[-1], middle.topics)
    return AssignmentRequest(members, topics)


def _uuid(high: int, low: int) -> str:
    import base64

    raw = high.to_bytes(8, "big") + low.to_bytes(8, "big")
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _rejoined(
    shape: Shape, members: list[MemberSubscription], names: list[str]
) -> list[MemberSubscription]:
    """The members after an earlier round dealt every partition in a circle of its subscribers."""
    by_id = {member.member_id: member for member in members}
    circles: dict[tuple[str, ...], list[str]] = {}
    for name in java_sorted(by_id):
        circles.setdefault(by_id[name].topics, []).append(name)
    held: dict[str, list[tuple[str, int]]] = {name: [] for name in by_id}
    for topics, circle in circles.items():
        place = 0
        for topic in topics:
            for partition in range(shape.partitions):
                held[circle[place % len(circle)]].append((topic, partition))
                place += 1
    found = []
    for member in members:
        got = held[member.member_id]
        if shape.server:
            runs: dict[str, list[int]] = {}
            for topic, partition in got:
                runs.setdefault(topic, []).append(partition)
            found.append(replace(member, owned=list(runs.items())))
            continue
        back = rejoin(member, shape.strategy, got, 1)
        if back.previous is not None:  # the bytes, as a leader gets them
            back = replace(back, previous=None, user_data=encode_sticky_data(*back.previous))
        found.append(back)
    return found


def checksum(shape: Shape, result: CompactAssignment | TargetAssignment) -> int:
    """The check sum that AssignorBench.java prints: who got what, in no order."""

    def signed(value: int) -> int:
        return value - (1 << 32) if value >> 31 else value

    codes: dict[str, int] = {}
    if shape.server:
        longs = java_longs(7)
        for number in range(shape.topics):
            halves = uuid_halves(_uuid(next(longs), next(longs)))
            codes[f"topic-{number:04d}"] = signed(uuid_hash(halves))
    else:
        codes = {
            f"topic-{n:04d}": signed(string_hash(f"topic-{n:04d}")) for n in range(shape.topics)
        }
    total = 0
    for name, held in result.items():
        member = signed(string_hash(name))
        for topic, partitions in held.items():
            total += member * (
                31 * codes[topic] * len(partitions) + sum(partitions) + len(partitions)
            )
    total &= LONG
    return total - (1 << 64) if total >> 63 else total
