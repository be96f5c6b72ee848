"""Seeded random cases of KIP-848 groups for the assignor oracle."""

import base64
import struct
from random import Random
from typing import Any

from tests.support.assignors.naming import (
    instance_ids,
    member_count,
    member_ids,
    partition_counts,
    random_uuid,
    subscriptions,
    topic_names,
)

Json = Any

CHANGES = (
    "nothing", "join", "leave", "both", "subscribe", "grow", "drop-topic", "new-topic", "replace",
)  # fmt: skip
CHANGE_WEIGHTS = (20, 16, 16, 14, 10, 12, 6, 4, 6)


class ServerCase:
    """One random KIP-848 group."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.used: set[str] = set()
        members = member_count(random)
        few = [0, 1, 2, 3, random.randrange(4, 13), random.randrange(13, 30)]
        wanted = random.choices(few, [2, 22, 22, 18, 32, 4])[0]
        names = topic_names(random, min(wanted, 6) if members > 60 else wanted)
        counts = partition_counts(random, len(names))
        self.topics: Json = [
            [name, count, self.topic_id()] for name, count in zip(names, counts, strict=True)
        ]
        self.names = names
        self.subscriptions = subscriptions(random, members, names)
        instances = instance_ids(random, members)
        owned = self._owned(members)
        self.members: list[Json] = []
        for index, name in enumerate(member_ids(random, members)):
            member: Json = {"id": name, "topics": self.subscriptions[index]}
            if instances[index] is not None:
                member["instance"] = instances[index]
            if owned[index]:
                member["owned"] = owned[index]
            self.members.append(member)

    def topic_id(self) -> str:
        """A new topic id in base64; small ones now and then, so that hashes meet."""
        while True:
            raw = self.random.getrandbits(128).to_bytes(16, "big")
            if self.random.random() < 0.1:
                raw = struct.pack(">QQ", self.random.randrange(2, 9), self.random.randrange(9))
            found = base64.urlsafe_b64encode(raw).decode().rstrip("=")
            if found not in self.used:
                self.used.add(found)
                return found

    def _owned(self, members: int) -> list[Json]:
        """An earlier target: every partition at most once, none beyond the count."""
        random = self.random
        owned: list[dict[str, list[int]]] = [{} for _ in range(members)]
        cells = [(tid, name, p) for name, count, tid in self.topics for p in range(count)]
        if random.random() < 0.6:
            kinds = ["balanced", "skewed", "few", "departed", "unsubscribed"]
            style = random.choices(kinds, [30, 25, 15, 20, 10])[0]
            holders: list[int | None] = list(range(members))
            if style == "few":
                holders = random.sample(holders, max(1, members // 3))
            if style == "departed":
                holders += [None] * random.randrange(1, members + 2)
            random.shuffle(holders)
            if random.random() < 0.5:
                random.shuffle(cells)
            for index, (topic_id, name, part) in enumerate(cells):
                place = index % len(holders)
                if style == "skewed":
                    place = min(int(random.expovariate(1.2) * len(holders) / 3), len(holders) - 1)
                holder = holders[place]
                if holder is None:
                    continue
                if name in self.subscriptions[holder] or style == "unsubscribed":
                    owned[holder].setdefault(topic_id, []).append(part)
        if random.random() < 0.05:
            owned[random.randrange(members)][self.topic_id()] = [0, 1]
        found = []
        for held in owned:
            runs = [[tid, ps if random.random() < 0.5 else sorted(ps)] for tid, ps in held.items()]
            random.shuffle(runs)
            found.append(runs)
        return found

    def rounds(self) -> Json:
        """The first round and now and then what follows."""
        random = self.random
        found: list[Json] = [{"members": self.members}]
        if random.random() > 0.35:
            return found
        plan = {m["id"]: {k: v for k, v in m.items() if k != "owned"} for m in self.members}
        topics = self.topics
        for number in range(1, random.choice([1, 1, 2, 3, 4]) + 1):
            change = random.choices(CHANGES, CHANGE_WEIGHTS)[0]
            members = self._next_members(change, plan, number)
            step: Json = {"members": members}
            if change in ("grow", "drop-topic", "new-topic") and topics:
                topics = step["topics"] = self._next_topics(change, topics, plan, members)
            if random.random() < 0.3:
                random.shuffle(members)
            found.append(step)
        return found

    def _next_members(self, change: str, plan: dict[str, Json], number: int) -> list[Json]:
        """Members of the next round; `plan` follows."""
        random = self.random
        known = list(plan)
        if change in ("leave", "both") and len(known) > 1:
            for name in random.sample(known, random.randrange(1, 1 + max(1, len(known) // 3))):
                del plan[name]
        replaced = next((n for n in plan if "instance" in plan[n]), None)
        members = []
        for name in list(plan):
            member = dict(plan[name])
            if change == "subscribe" and self.names and random.random() < 0.4:
                some = random.randrange(1, len(self.names) + 1)
                member["topics"] = sorted(random.sample(self.names, some))
            if change == "replace" and name == replaced:
                del plan[name]
                member["id"] = random_uuid(random)
                plan[member["id"]] = member
                members.append(member | {"from": number - 1, "from_member": name})
                continue
            plan[name] = member
            members.append(member | {"from": number - 1})
        if change in ("join", "both"):
            for _ in range(random.randrange(1, 4)):
                name = random_uuid(random)
                plan[name] = {"id": name, "topics": random.choice(members)["topics"]}
                members.append(dict(plan[name]))
        return members

    def _next_topics(
        self, change: str, topics: Json, plan: dict[str, Json], members: list[Json]
    ) -> Json:
        """Topics of the next round: one more, one less, or one with more partitions."""
        random = self.random
        topics = [list(topic) for topic in topics]
        chosen = random.randrange(len(topics))
        if change == "drop-topic":
            topics.pop(chosen)
        elif change == "grow":
            topics[chosen][1] += random.randrange(1, 6)
        else:
            name = f"fresh{len(topics)}"
            self.names = [*self.names, name]
            topics.append([name, random.randrange(1, 12), self.topic_id()])
            for member in members:
                if random.random() < 0.8:
                    member["topics"] = [*member["topics"], name]
                    plan[member["id"]] = plan[member["id"]] | {"topics": member["topics"]}
        return topics


def server_case(random: Random, name: str, strategy: str) -> Json:
    """A case of a server-side strategy."""
    case = ServerCase(random)
    rounds = case.rounds()
    return {
        "id": name,
        "side": "server",
        "strategy": strategy,
        "topics": case.topics,
        "rounds": rounds,
    }
