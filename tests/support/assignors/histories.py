"""Random groups with a history: several rounds, each of which starts from what the last one gave.

Seeded: a group is known by its text. What happens between two rounds is what happens to groups:
members join, leave, subscribe otherwise, miss a round and come back with old claims; topics come,
go, grow and are made anew with fewer partitions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from uuid import UUID

from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions

Plan = Mapping[str, Mapping[str, Sequence[int]]]
Rejoin = Callable[[MemberSubscription, Sequence[tuple[str, int]], int], MemberSubscription]

CHANGES = ("nothing", "join", "leave", "both", "subscribe", "topics", "shuffle")
WEIGHTS = (10, 22, 22, 14, 16, 12, 4)


@dataclass(frozen=True, slots=True)
class Kind:
    """What groups are like.

    Args:
        members: at most so many at the beginning.
        topics: at most so many.
        partitions: at most so many a topic.
        alike: how often all members subscribe to the same.
        static: how often a member is static.
        stale: how often a member comes back with what it sent before.
        racks: whether members and replicas may be in racks.
        sorted_topics: whether members sort the topics that they name.
    """

    members: int = 8
    topics: int = 4
    partitions: int = 10
    alike: float = 0.5
    static: float = 0.2
    stale: float = 0.05
    racks: bool = False
    sorted_topics: bool = False


class History:
    """A random group on its way through its rounds.

    Args:
        seed: tells it from all others.
        kind: what it is like.
        rejoin: what a member sends after it was given partitions.
    """

    def __init__(self, seed: str, kind: Kind, rejoin: Rejoin) -> None:
        self.dice = Random(seed)
        self.kind = kind
        self._rejoin = rejoin
        self.generation = self.dice.choice([0, 1, 1, 7, 40])
        self._names = [f"t{number}" for number in range(kind.topics + 2)]
        self._names += [f"T-{number}" for number in range(2)]
        self.dice.shuffle(self._names)
        self.racks = [self.dice.choice("abc") for _ in range(3)] if kind.racks else []
        self.topics = {
            name: self._topic() for name in self._names[: self.dice.randint(1, kind.topics)]
        }
        self.alike = self.dice.random() < kind.alike
        self._numbers = iter(self.dice.sample(range(1000), 200))
        self._led_by = ""
        self.members: list[MemberSubscription] = []
        for _ in range(self.dice.randint(1, kind.members)):
            self._join()
        if self.dice.random() < 0.3:
            self._deal_anyhow()

    def request(self) -> AssignmentRequest:
        """What the leader is to decide now."""
        return AssignmentRequest(
            list(self.members), dict(self.topics), self.generation, leader=self._leader()
        )

    def advance(self, plan: Plan) -> None:
        """Give everybody what was decided, then let something happen."""
        self.generation += 1
        back = []
        for member in self.members:
            held = plan.get(member.member_id, {})
            pairs = [(topic, number) for topic, numbers in held.items() for number in numbers]
            back.append((member, pairs))
        change = self.dice.choices(CHANGES, WEIGHTS)[0]
        forgetful = self.dice.random() < 0.3
        if change in ("leave", "both") and len(back) > 1:
            for _ in range(self.dice.randint(1, max(1, len(back) // 3))):
                back.pop(self.dice.randrange(len(back)))
        if change == "topics":
            self._change_topics()
        self.members = []
        for member, pairs in back:
            if change == "subscribe" and self.dice.random() < 0.5:
                member = replace(member, topics=self._subscription())
            if forgetful and self.dice.random() < 3 * self.kind.stale:
                self.members.append(member)
                continue
            self.members.append(self._rejoin(member, pairs, self.generation))
        if change in ("join", "both"):
            for _ in range(self.dice.randint(1, 2)):
                self._join()
        if change == "shuffle" or self.dice.random() < 0.3:
            self.dice.shuffle(self.members)

    def _leader(self) -> str:
        """Who leads: the same member as long as it is there."""
        ids = [member.member_id for member in self.members]
        if self._led_by not in ids:
            self._led_by = ids[0]
        return self._led_by

    def _deal_anyhow(self) -> None:
        """Let the group begin with partitions that nobody shared out well."""
        held: list[list[tuple[str, int]]] = [[] for _ in self.members]
        for name, topic in sorted(self.topics.items()):
            readers = [i for i, member in enumerate(self.members) if name in member.topics]
            for number in range(topic.partitions if readers else 0):
                if self.dice.random() < 0.9:
                    place = int(len(readers) * self.dice.random() ** 3)
                    held[readers[place]].append((name, number))
        for index, pairs in enumerate(held):
            self.dice.shuffle(pairs)
            older = self.dice.random() < self.kind.stale
            self.members[index] = self._rejoin(self.members[index], pairs, self.generation - older)

    def _topic(self) -> TopicPartitions:
        count = self.dice.randint(1, self.kind.partitions)
        racks: list[tuple[str | None, ...]] = []
        if self.racks and self.dice.random() < 0.8:
            racks = [
                tuple(self.dice.choice([*self.racks, None]) for _ in range(self.dice.randint(1, 3)))
                for _ in range(count)
            ]
        return TopicPartitions(count, racks, leader_racks=_leaders(racks))

    def _change_topics(self) -> None:
        name = self.dice.choice(sorted(self.topics))
        luck = self.dice.random()
        if luck < 0.5:
            before = self.topics[name]
            more = self._topic()
            racks = [*before.racks, *more.racks] if before.racks and more.racks else []
            self.topics[name] = TopicPartitions(
                before.partitions + more.partitions, racks, leader_racks=_leaders(racks)
            )
        elif luck < 0.7 and len(self.topics) > 1:
            del self.topics[name]
        elif luck < 0.85:
            self.topics[name] = self._topic()
        else:
            unused = [one for one in self._names if one not in self.topics]
            self.topics[unused[0]] = self._topic()

    def _subscription(self) -> tuple[str, ...]:
        names = sorted(self.topics)
        chosen = names if self.alike else self.dice.sample(names, self.dice.randint(1, len(names)))
        if self.dice.random() < 0.04:
            chosen = [*chosen, "missing"]
        if self.kind.sorted_topics:
            return tuple(sorted(chosen))
        if self.dice.random() < 0.2:
            chosen = self.dice.sample(chosen, len(chosen))
        return tuple(chosen)

    def _join(self) -> None:
        number = next(self._numbers)
        client = self.dice.choice(["app", "app", "app", "zé", "漢", "😀"])
        static = self.dice.random() < self.kind.static
        self.members.append(
            MemberSubscription(
                f"{client}-{UUID(int=self.dice.getrandbits(128))}",
                self._subscription(),
                instance_id=f"i{number:03}" if static else None,
                rack=self.dice.choice([*self.racks, None, ""]) if self.racks else None,
            )
        )


def _leaders(racks: Sequence[Sequence[str | None]]) -> list[str | None]:
    """Rack of each partition's leader: the first replica."""
    return [each[0] for each in racks]


def histories(
    name: str, seed: int, groups: int, kind: Kind, rejoin: Rejoin
) -> Iterator[tuple[str, History]]:
    """Groups with the text that makes each of them again."""
    for number in range(groups):
        text = f"{name}/{seed}/{number}"
        yield text, History(text, kind, rejoin)
