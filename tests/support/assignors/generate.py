"""Seeded random client-side cases for the assignor oracle.

    python -m tests.support.assignors.generate FAMILY COUNT [SEED]

A case is a JSON object: `id`, `side`, `strategy`, `topics` [[name, count or racks of the replicas
of each partition, topic id]], `rounds` [{members, topics, generation, new_leader}]. A member that
names a round in `from` comes back with what that round gave it.
"""

import json
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

from kgroups.assignors.wire import encode_cooperative_data, encode_sticky_data
from tests.support.assignors.naming import (
    RackPlan,
    instance_ids,
    member_count,
    member_ids,
    partition_counts,
    random_uuid,
    subscriptions,
    topic_names,
)

Json = Any

CHANGES = ("nothing", "join", "leave", "both", "subscribe", "grow", "drop-topic", "restart")
CHANGE_WEIGHTS = (20, 16, 16, 14, 10, 12, 6, 6)


class ClientCase:
    """One random group under a client-side strategy."""

    def __init__(self, random: Random, strategy: str) -> None:
        self.random = random
        self.strategy = strategy
        self.sticky = "sticky" in strategy
        members = member_count(random)
        wanted = random.choices([0, 1, 2, 3, random.randrange(4, 9)], [3, 22, 22, 18, 35])[0]
        self.names = topic_names(random, min(wanted, 4) if members > 60 else wanted)
        counts = partition_counts(random, len(self.names))
        self.plain = dict(zip(self.names, counts, strict=True))
        self.racks = RackPlan(random) if random.random() < 0.4 else None
        self.subscriptions = subscriptions(random, members, self.names)
        self.generation = random.choice([1, 2, 5, 40, 2**31 - 20])
        self.members = self._members(members)

    def topics(self) -> Json:
        """The topics of the first round."""
        racks, random = self.racks, self.random
        return [
            [name, racks.topic(count) if racks and random.random() < 0.85 else count]
            for name, count in self.plain.items()
        ]

    def _members(self, count: int) -> list[Json]:
        random = self.random
        instances = instance_ids(random, count)
        claims = self._claims(count) if self.sticky and random.random() < 0.75 else [[]] * count
        versions = random.choices([[3], [0, 1, 2, 3], [0], [1], [2]], [78, 13, 3, 3, 3])[0]
        style = random.choices(["same", "stale", "two", "random", "absent"], [40, 18, 18, 14, 10])[
            0
        ]
        found = []
        for index, name in enumerate(member_ids(random, count)):
            member: Json = {"id": name, "topics": self.subscriptions[index]}
            if instances[index] is not None:
                member["instance"] = instances[index]
            rack = self.racks.member() if self.racks else None
            if rack is not None:
                member["rack"] = rack
            version = random.choice(versions)
            if version != 3:
                member["version"] = version
            if self.sticky:
                member.update(self._memory(claims[index], self._generation(style, claims[index])))
            found.append(member)
        return found

    def _generation(self, style: str, claimed: Json) -> int:
        """Generation that a member names."""
        random = self.random
        if not claimed and random.random() < 0.5:
            return -1
        return {
            "same": self.generation,
            "stale": self.generation - (random.random() < 0.25),
            "two": self.generation - random.randrange(2),
            "random": self.generation - random.randrange(5),
            "absent": -1,
        }[style]

    def _memory(self, claimed: Json, generation: int) -> Json:
        """What a sticky member brings along: owned partitions, generation, user data."""
        random, found = self.random, {}
        luck = random.random()
        if self.strategy == "cooperative-sticky":
            if claimed:
                found["owned"] = claimed
            if generation >= 0:
                found["generation"] = generation
            if luck < 0.90:
                shift = 0 if luck < 0.85 else random.randrange(2)
                found["user_data"] = encode_cooperative_data(generation - shift).hex()
            elif luck < 0.93:
                found["user_data"] = "00"
            return found
        if generation >= 0 or claimed:
            data = encode_sticky_data(claimed, generation)
            damaged = [
                (0.90, data),
                (0.95, encode_sticky_data(claimed, None)),
                (0.97, data[: -random.randrange(1, 9)]),
                (0.98, b""),
                (0.99, data + b"\x00\xff"),
            ]
            chosen = next((bytes_ for limit, bytes_ in damaged if luck < limit), None)
            if chosen is not None:
                found["user_data"] = chosen.hex()
        if generation >= 0 and random.random() < 0.9:
            found["generation"] = generation
        if claimed and random.random() < 0.03:
            found["owned"] = claimed
        return found

    def _claims(self, count: int) -> list[Json]:
        """Per member [[topic, [partitions]]]: an earlier state of the group, then damage."""
        random = self.random
        cells = [(name, part) for name, size in self.plain.items() for part in range(size)]
        owned: list[list[tuple[str, int]]] = [[] for _ in range(count)]
        if cells:
            self._deal_claims(owned, cells)
            if random.random() < 0.35:
                for _ in range(random.randrange(1, 1 + max(2, len(cells) // 4))):
                    owned[random.randrange(count)].append(random.choice(cells))
            if random.random() < 0.15:
                for _ in range(random.randrange(1, 4)):
                    name = random.choice(self.names)
                    beyond = self.plain[name] + random.randrange(3)
                    owned[random.randrange(count)].append((name, beyond))
            if random.random() < 0.12:
                owned[random.randrange(count)] += [("deleted", 0), ("deleted", 1)]
        return [self._runs(held) for held in owned]

    def _deal_claims(
        self, owned: list[list[tuple[str, int]]], cells: list[tuple[str, int]]
    ) -> None:
        """Share the partitions out: evenly, skewed, to few, or some to members that left."""
        random = self.random
        kinds = ["balanced", "skewed", "few", "departed", "random"]
        style = random.choices(kinds, [35, 20, 15, 20, 10])[0]
        holders: list[int | None] = list(range(len(owned)))
        if style == "few":
            holders = random.sample(holders, max(1, len(holders) // 3))
        if style == "departed":
            holders += [None] * random.randrange(1, len(owned) + 2)
        random.shuffle(holders)
        if random.random() < 0.5:
            random.shuffle(cells)
        for index, (name, part) in enumerate(cells):
            if style == "skewed":
                place = min(int(random.expovariate(1.2) * len(holders) / 3), len(holders) - 1)
                holder = holders[place]
            elif style == "random":
                holder = random.choice([*holders, None])
            else:
                holder = holders[index % len(holders)]
            if holder is None:
                continue
            if name in self.subscriptions[holder] or random.random() < 0.08:
                owned[holder].append((name, part))

    def _runs(self, held: list[tuple[str, int]]) -> Json:
        """Claims by topic, at times sorted, rarely with one twice."""
        random = self.random
        if random.random() < 0.5:
            held = sorted(held)
        if random.random() < 0.97:
            held = list(dict.fromkeys(held))
        found: dict[str, list[int]] = {}
        for name, part in held:
            found.setdefault(name, []).append(part)
        return [[name, parts] for name, parts in found.items()]

    def rounds(self, topics: Json) -> Json:
        """The first round and, for sticky strategies, now and then what follows."""
        random = self.random
        first: Json = {"members": self.members, "generation": self.generation}
        first.update(want_user_data=True) if random.random() < 0.1 else None
        found = [first]
        if not self.sticky or random.random() > (0.33 if len(self.members) <= 60 else 0.15):
            return found
        plan = {member["id"]: member for member in self.members}
        state = dict.fromkeys(plan, 0)
        for number in range(1, random.choice([1, 1, 2, 3, 4]) + 1):
            step: Json = {"generation": self.generation + number}
            change = random.choices(CHANGES, CHANGE_WEIGHTS)[0]
            members = self._next_members(change, plan, state)
            if change in ("grow", "drop-topic") and topics:
                topics = step["topics"] = self._next_topics(change, topics)
            if random.random() < 0.3:
                random.shuffle(members)
            step["members"] = members
            if random.random() < 0.2:
                step["new_leader"] = True
            late = random.random() < 0.15
            for member in members:
                if member["id"] not in state or not (late and random.random() < 0.3):
                    state[member["id"]] = number
            found.append(step)
        if random.random() < 0.3:
            found[-1]["want_user_data"] = True
        return found

    def _next_members(self, change: str, plan: dict[str, Json], state: dict[str, int]) -> Json:
        """Members of the next round; `plan` and `state` follow."""
        random = self.random
        known = list(plan)
        if change in ("leave", "both", "restart") and len(known) > 1:
            for name in random.sample(known, random.randrange(1, 1 + max(1, len(known) // 3))):
                del plan[name], state[name]
        members = []
        for name, before in plan.items():
            kept = ("id", "topics", "instance", "rack", "version")
            member = {field: before[field] for field in kept if field in before}
            if change == "subscribe" and self.names and random.random() < 0.4:
                some = random.randrange(1, len(self.names) + 1)
                member["topics"] = sorted(random.sample(self.names, some))
            plan[name] = member
            members.append(member | {"from": state[name]})
        if change in ("join", "both", "restart"):
            for _ in range(random.randrange(1, 4)):
                topics = random.choice(members)["topics"]
                member = {"id": random.choice(["", "new-"]) + random_uuid(random), "topics": topics}
                if self.racks and random.random() < 0.6:
                    member["rack"] = random.choice(self.racks.racks)
                if self.strategy == "cooperative-sticky":
                    member["user_data"] = "ffffffff"
                plan[member["id"]] = member
                members.append(dict(member))
        return members

    def _next_topics(self, change: str, topics: Json) -> Json:
        """Topics of the next round: one less, or one with more partitions."""
        random = self.random
        topics = [list(topic) for topic in topics]
        chosen = random.randrange(len(topics))
        if change == "drop-topic":
            topics.pop(chosen)
        elif isinstance(topics[chosen][1], int):
            topics[chosen][1] += random.randrange(1, 6)
        else:
            assert self.racks is not None
            topics[chosen][1] = topics[chosen][1] + self.racks.topic(random.randrange(1, 5))
        return topics


def client_case(random: Random, name: str, strategy: str) -> Json:
    """A case of a client-side strategy."""
    case = ClientCase(random, strategy)
    topics = case.topics()
    return {
        "id": name,
        "side": "client",
        "strategy": strategy,
        "topics": topics,
        "rounds": case.rounds(topics),
    }


def generate(family: str, count: int, seed: int) -> Iterator[Json]:
    """Cases of one family; the same seed gives the same cases.

    Args:
        family: a client-side strategy, `server-uniform`, `server-range` or `server-simple`.
        count: how many.
        seed: any number.
    """
    from tests.support.assignors.generate_kip848 import server_case

    for number in range(count):
        random = Random(f"{family}/{seed}/{number}")
        name = f"{family}-{seed}-{number:05d}"
        if family.startswith("server-"):
            yield server_case(random, name, family.removeprefix("server-"))
        else:
            yield client_case(random, name, family)


if __name__ == "__main__":
    chosen, wanted, *rest = sys.argv[1:]
    for one in generate(chosen, int(wanted), int(rest[0]) if rest else 1):
        print(json.dumps(one, ensure_ascii=False, separators=(",", ":")))
