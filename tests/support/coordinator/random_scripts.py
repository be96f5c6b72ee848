"""Random scripts for coordinators: clients of both protocols, topics, administrators and time.

A script is a shape, a seed and what the coordinator answers to it; the same three give the same
operations. The shapes differ in what they do often.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.random_classic_client import Classic
from tests.support.coordinator.random_kip848_client import Consumer

Client = Classic | Consumer
NO_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
ADMIN = {"client_id": "admin", "host": "10.0.0.9"}
MEMBER = {"client_id": "c", "host": "10.0.0.1"}


class World:
    """One script in the making.

    Args:
        ask: carries out an operation and gives the answer.
        shape: a key of `SHAPES`.
    """

    def __init__(self, ask: Callable[[Json], Json], shape: str, seed: int) -> None:
        self.ask = ask
        self.random = r = Random(f"{shape}:{seed}")
        self.operations = self._serial = 0
        self.waiting: dict[str, tuple[Client, str]] = {}
        self.topics: dict[str, int] = {}
        self.ids: dict[str, str] = {}
        self.clients: list[Client] = []
        self.groups = ["g", "h", "k"][: r.choice([1, 1, 2, 3])]
        self.types: dict[str, str] = {}
        self.names = ["t0", "t1", "foo0", "foo1", "bar0", "bar1"]
        self.instances = ["i1", "i2", "i3"]
        self.assignors: list[str | None] = [None, None, None, "uniform", "range"]
        self.regexes = ["foo.*", "bar.*|t0", ".*", "(foo|bar)\\d", "none", "foo.*", "t[0-9]"]
        self.join_versions = [9, 9, 9, 8, 7, 6, 5, 5, 4, 4, 3, 2, 1, 0]
        self.sessions_ms = [6000, 10000, 10000, 30000, 45000]
        self.p_static, self.p_consumer, self.p_odd_names, self.p_garbage = 0.25, 0.9, 0.05, 0.03
        self.p_fault, self.p_regex, self.p_admin, self.p_time = 0.1, 0.0, 0.06, 0.16
        self.p_topics, self.p_reload, self.p_kip848 = 0.004, 0.002, 0.0
        self.max_clients = r.choice([3, 4, 6, 9])
        self.raw = False
        self.config: dict[str, object] = random_config(r)
        SHAPES[shape](self, r, self.config)
        if "group.consumer.assignors" in self.config:
            named = str(self.config["group.consumer.assignors"]).split(",")
            self.assignors = [None, None, *named, *named]
        begin: Json = {"op": "config", "shape": shape, "seed": seed}
        begin["config"] = {name: str(value) for name, value in self.config.items()}
        self.do({**begin, "raw": True} if self.raw else begin)
        count = r.choice([2, 3, 5, 6])
        self.new_topics({name: r.choice([1, 2, 3, 4, 6]) for name in self.names[:count]})
        self.clients = [self.new_client() for _ in range(r.choice([1, 2, 3]))]

    # ------------------------------------------------------------------ plumbing

    def serial(self) -> int:
        """A number not used before."""
        self._serial += 1
        return self._serial

    def do(self, op: Json) -> Json:
        """Carry out one operation; clients whose requests are answered now learn from it."""
        answer = self.ask(op)
        self.operations += 1
        for done in answer.get("completed", ()):
            client, kind = self.waiting.pop(done["id"], (None, ""))
            if client is not None and isinstance(done["response"], dict):
                client.took(kind, done["response"])
        return answer

    def send(self, client: Client, kind: str, version: int, request: Json) -> None:
        """Send a client's request."""
        op: Json = {"op": kind, "version": version, "request": request}
        op |= {"client_id": client.client_id, "host": client.host}
        if kind in ("join", "sync"):
            op["id"] = f"r{self.operations}"
            self.waiting[op["id"]] = (client, kind)
        response = self.do(op)["response"]
        if response == "parked":
            client.state = {"join": "joining", "sync": "syncing"}[kind]
            return
        self.waiting.pop(op.get("id", ""), None)
        if isinstance(response, dict) and "exception" not in response:
            client.took(kind, response)

    def retire(self, client: Client) -> None:
        """Let a client go that has no place; one always stays."""
        if client in self.clients and len(self.clients) > 1:
            self.clients.remove(client)

    def new_client(self) -> Client:
        """A client of some group."""
        group = self.random.choice(self.groups)
        kip848 = self.random.random() < self.p_kip848
        return Consumer(self, group) if kip848 else Classic(self, group)

    # ------------------------------------------------------------------ time and topics

    def tick(self) -> None:
        """Let some time pass: mostly little, rarely an hour."""
        r = self.random
        x = r.random()
        ms = r.choice([600_000, 3_600_000])
        if x < 0.45:
            ms = r.randint(1, 500)
        elif x < 0.8:
            ms = r.randint(500, 4000)
        elif x < 0.96:
            ms = r.randint(4000, 15000)
        elif x < 0.994:
            ms = r.choice([30000, 45000, 60000, 61000, 130000])
        self.do({"op": "advance", "ms": ms})

    def some_topics(self) -> list[str]:
        """Topics to subscribe to; some may not exist."""
        count = self.random.choice([1, 1, 2, 3])
        return self.random.sample(self.names, min(count, len(self.names)))

    def any_topic_id(self) -> str | None:
        """The id of a topic that exists."""
        return self.random.choice(list(self.ids.values())) if self.ids else None

    def new_topics(self, topics: Json) -> None:
        """Create topics, or let them grow."""
        for name, made in self.do({"op": "topics", "topics": topics})["response"].items():
            self.topics[name], self.ids[name] = made["partitions"], made["id"]

    def change_topics(self) -> None:
        """Let a topic grow, make one, or delete one."""
        r = self.random
        x = r.random()
        name = r.choice(self.names)
        if x < 0.45 and name in self.topics:
            more: Json = {"partitions": self.topics[name] + r.choice([1, 2])}
            if r.random() < 0.1:
                more["racks"] = [["r1", "r2"]] * 12
            self.new_topics({name: more})
        elif name not in self.topics:
            self.new_topics({name: r.choice([1, 2, 3])})
        else:
            del self.topics[name], self.ids[name]
            self.do({"op": "topics", "topics": {}, "delete": [name]})

    def some_partitions(self) -> list[tuple[str, list[int]]]:
        """Topics and partitions for an offset request, now and then unknown ones."""
        r = self.random
        known = [name for name in self.names if name in self.topics] or ["t0"]
        out: list[tuple[str, list[int]]] = []
        for name in r.sample(known, min(len(known), r.choice([1, 1, 2]))):
            numbers = range(self.topics.get(name, 1))
            out.append((name, sorted(r.sample(numbers, min(len(numbers), r.choice([1, 2]))))))
        if r.random() < 0.15:
            out.append(("missing", [0]))
        if r.random() < 0.06:
            out[0][1].append(99)
        return out

    # ------------------------------------------------------------------ offsets

    def commit(
        self, group: str, *, mid: str, generation: int, instance: str | None, kip848: bool = False
    ) -> None:
        """Send an OffsetCommit."""
        r = self.random
        version = r.choice([9, 9, 9, 10, 10, 8] if kip848 else [10, 9, 8, 8, 7, 6, 5, 4, 3, 2])
        if instance is not None and version < 7:
            version = 8
        request = {
            "groupId": group,
            "generationIdOrMemberEpoch": generation,
            "memberId": mid,
            "groupInstanceId": instance,
            "retentionTimeMs": r.choice([-1, -1, 60000, 0]),
            "topics": [
                {
                    **self._topic(name, version),
                    "partitions": [self._commit_of(n, version) for n in numbers],
                }
                for name, numbers in self.some_partitions()
            ],
        }
        self.do({"op": "commit", "version": version, **MEMBER, "request": request})

    def _topic(self, name: str, version: int) -> Json:
        return {"topicId": self.ids.get(name, NO_TOPIC_ID)} if version >= 10 else {"name": name}

    def _commit_of(self, partition: int, version: int) -> Json:
        r = self.random
        odd = ["", None, "meta", "x" * 11, "é" * 6 + "😀"]
        one = {
            "partitionIndex": partition,
            "committedOffset": r.randrange(1000),
            "committedMetadata": r.choice(odd) if r.random() < 0.3 else "",
        }
        return {**one, "committedLeaderEpoch": r.choice([-1, 3])} if version >= 6 else one

    def fetch(self, group: str, mid: str | None = None, epoch: int = -1) -> None:
        """Send an OffsetFetch."""
        r = self.random
        version = r.choice([10, 9, 9, 9] if mid is not None else [10, 9, 8, 7, 5, 3, 2, 1])

        def topics() -> list[Json] | None:
            if version >= 2 and r.random() < 0.4:
                return None
            return [
                {**self._topic(name, version), "partitionIndexes": numbers}
                for name, numbers in self.some_partitions()
            ]

        request: Json = {"requireStable": r.random() < 0.3}
        if version < 8:
            request |= {"groupId": group, "topics": topics()}
        else:
            others = [r.choice([*self.groups, "nogroup"])]
            more = others if mid is None and r.random() < 0.3 else []
            member = {"memberId": mid, "memberEpoch": epoch} if version >= 9 else {}
            request["groups"] = [
                {"groupId": one, "topics": topics(), **member}
                for one in dict.fromkeys([group, *more])
            ]
        self.do({"op": "fetch", "version": version, **MEMBER, "request": request})

    # ------------------------------------------------------------------ administrators

    def admin(self) -> None:
        """Do one thing that an administrator does."""
        r = self.random
        odd = ["nogroup"] * (r.random() < 0.2) + [""] * (r.random() < 0.1)
        group = r.choice(self.groups + odd)
        x = r.random()
        if x < 0.18:
            more = [r.choice(self.groups)] if r.random() < 0.2 else []
            self._ask_admin("describe", r.choice([0, 1, 2, 3, 4, 5, 6, 6]), groups=[group, *more])
        elif x < 0.36:
            self._ask_admin("consumer_describe", r.choice([0, 1, 1]), groupIds=[group])
        elif x < 0.46:
            self._list()
        elif x < 0.62:
            mid = r.choice([None, None, "", "ghost"])
            self.fetch(group, mid, 1 if mid == "ghost" else -1)
        elif x < 0.76:
            self._commit_as_outsider(group)
        elif x < 0.9:
            topics = [
                {"name": name, "partitions": [{"partitionIndex": n} for n in numbers]}
                for name, numbers in self.some_partitions()
            ]
            self._ask_admin("delete_offsets", 0, groupId=group, topics=topics)
        elif x < 0.94:
            self._ask_admin("delete_groups", r.choice([0, 1, 2]), groupsNames=[group])
        elif x < 0.97:
            self.do({"op": "cleanup"})
        else:
            self._remove_static_member()

    def _ask_admin(self, kind: str, version: int, **request: Any) -> None:
        self.do({"op": kind, "version": version, **ADMIN, "request": request})

    def _list(self) -> None:
        r = self.random
        states = [[], [], ["stable"], ["Empty", "PreparingRebalance"], ["nonsense"]]
        states.append(["Assigning", "RECONCILING"])
        self._ask_admin(
            "list",
            r.choice([0, 2, 3, 4, 5, 5, 5]),
            statesFilter=r.choice(states),
            typesFilter=r.choice([[], [], ["consumer"], ["Classic"], ["nonsense"]]),
        )

    def _commit_as_outsider(self, group: str) -> None:
        r = self.random
        if r.random() < 0.7:
            self.commit(group, mid="", generation=-1, instance=None)
        else:
            self.commit(
                group,
                mid=r.choice(["", "ghost"]),
                generation=r.choice([-1, 0, 1]),
                instance=r.choice([None, "i1"]),
            )

    def _remove_static_member(self) -> None:
        r = self.random
        static = [one for one in self.clients if one.instance]
        if static:
            one = r.choice(static)
            member = r.choice(["", "", one.member_id])
            leaving = {"memberId": member, "groupInstanceId": one.instance, "reason": "admin"}
            self._ask_admin("leave", r.choice([3, 5]), groupId=one.group, members=[leaving])

    def group_config(self) -> None:
        """Change a group's dynamic settings."""
        r = self.random
        config = {}
        if r.random() < 0.5:
            config["consumer.session.timeout.ms"] = r.choice(["45000", "60000"])
        if r.random() < 0.5:
            config["consumer.heartbeat.interval.ms"] = r.choice(["5000", "7000"])
        if r.random() < 0.4:
            config["consumer.assignment.interval.ms"] = r.choice(["0", "2000"])
        self.do({"op": "group_config", "group": r.choice(self.groups), "config": config})

    # ------------------------------------------------------------------ the script

    def run(self, operations: int) -> None:
        """Go on until so many operations were carried out."""
        r = self.random
        while self.operations < operations:
            x = r.random() - self.p_topics
            if x < 0:
                self.change_topics()
            elif x < self.p_reload:
                if r.random() < 0.7:
                    self.do({"op": "reload"})
                elif self.p_kip848:
                    self.group_config()
            elif x < 0.01:
                self._come_or_go()
            elif x < 0.01 + self.p_admin:
                self.admin()
            elif x < 0.01 + self.p_admin + self.p_time:
                self.tick()
            else:
                r.choice(self.clients).act()
            if self.operations > 40 and self.operations % 37 == 0:
                self._come_or_go()

    def _come_or_go(self) -> None:
        r = self.random
        full = len(self.clients) >= self.max_clients
        if full or (len(self.clients) > 1 and r.random() < 0.2):
            self.clients.remove(r.choice(self.clients))
        else:
            self.clients.append(self.new_client())
            self.clients[-1].act()


# ---------------------------------------------------------------------- shapes


def random_config(r: Random) -> dict[str, object]:
    """A broker's settings, drawn at random."""
    config: dict[str, object] = {
        "group.initial.rebalance.delay.ms": r.choice([0, 0, 0, 1000, 3000]),
        "offsets.retention.minutes": r.choice([2, 10, 10080]),
        "offsets.retention.check.interval.ms": r.choice([60000, 600000]),
        "group.min.session.timeout.ms": 6000,
        "group.consumer.migration.policy": "bidirectional",
        "offset.metadata.max.bytes": r.choice([4096, 10]),
    }
    if r.random() < 0.25:
        config["group.max.size"] = r.choice([2, 3, 4])
        config["group.consumer.max.size"] = r.choice([2, 3, 4])
    if r.random() < 0.6:
        config["group.consumer.assignment.interval.ms"] = 0
    if r.random() < 0.3:
        config["group.consumer.assignors"] = r.choice(["range,uniform", "range", "uniform"])
    if r.random() < 0.3:
        config["group.consumer.min.session.timeout.ms"] = 5000
        config["group.consumer.session.timeout.ms"] = 10000
    return config


Shape = Callable[[World, Random, dict[str, object]], None]


def _two_types(world: World, r: Random) -> None:
    world.types = {"h": r.choice(["consumer", "connect"])}


def _classic(world: World, r: Random, config: dict[str, object]) -> None:
    _two_types(world, r)


def _classic_big(world: World, r: Random, config: dict[str, object]) -> None:
    world.max_clients, world.groups, world.p_fault = r.choice([14, 20, 30]), ["g"], 0.03
    config.pop("group.max.size", None)
    if r.random() < 0.4:
        config["group.max.size"] = 12
    world.p_odd_names = 0.0


def _classic_static(world: World, r: Random, config: dict[str, object]) -> None:
    """Nearly all static, one group, and many requests with the wrong ids."""
    world.p_static, world.p_fault, world.groups = 0.7, 0.3, ["g"]
    world.join_versions = [9, 8, 7, 6, 5]


def _classic_offsets(world: World, r: Random, config: dict[str, object]) -> None:
    _offsets(world, r, config)
    world.p_kip848 = 0.0


def _classic_versions(world: World, r: Random, config: dict[str, object]) -> None:
    _versions(world, r, config)
    world.p_kip848, world.raw = 0.0, True


def _kip848(world: World, r: Random, config: dict[str, object]) -> None:
    world.p_kip848, world.p_regex, world.p_static = 1.0, 0.05, 0.2
    world.p_topics = 0.01


def _kip848_static(world: World, r: Random, config: dict[str, object]) -> None:
    world.p_kip848, world.p_static = 1.0, 0.8
    world.instances = ["i1", "i2", "i3", "i4"]


def _regex(world: World, r: Random, config: dict[str, object]) -> None:
    world.p_kip848, world.p_regex, world.p_topics, world.p_static = 1.0, 0.7, 0.03, 0.1
    if r.random() < 0.5:
        config["group.consumer.regex.refresh.interval.ms"] = r.choice([10000, 60000])


def _topics(world: World, r: Random, config: dict[str, object]) -> None:
    world.p_kip848, world.p_regex, world.p_topics = r.choice([1.0, 0.5]), 0.2, 0.08


def _offsets(world: World, r: Random, config: dict[str, object]) -> None:
    _two_types(world, r)
    world.p_kip848, world.p_admin, world.p_topics = r.choice([0.0, 0.5, 1.0]), 0.6, 0.01
    world.groups = ["g", "h", "k", "s"]
    config["offset.metadata.max.bytes"] = r.choice([4096, 10])
    world.max_clients = 4


def _mixed(world: World, r: Random, config: dict[str, object]) -> None:
    world.p_kip848, world.p_regex = 0.5, 0.05
    world.groups = ["g", "h"][: r.choice([1, 1, 2])]
    world.p_consumer, world.p_garbage, world.p_odd_names = 0.99, 0.01, 0.01
    policies = ["bidirectional", "bidirectional", "upgrade", "downgrade", "disabled"]
    config["group.consumer.migration.policy"] = r.choice(policies)
    world.max_clients = r.choice([3, 4, 6])


def _mixed_down(world: World, r: Random, config: dict[str, object]) -> None:
    """Few KIP-848 members among classic ones, so that groups are converted to and fro."""
    _mixed(world, r, config)
    world.p_kip848, world.groups, world.p_fault = 0.3, ["g"], 0.04
    policies = ["bidirectional", "bidirectional", "bidirectional", "downgrade", "upgrade"]
    config["group.consumer.migration.policy"] = r.choice(policies)
    world.sessions_ms = [30000, 45000]
    world.join_versions = [9, 9, 8, 7, 5, 3]
    config.pop("group.max.size", None)
    config.pop("group.consumer.max.size", None)


def _raw(world: World, r: Random, config: dict[str, object]) -> None:
    """A mix of everything; records also as bytes."""
    world.raw, world.p_kip848, world.p_regex, world.p_admin = True, 0.5, 0.15, 0.15
    world.groups = ["g", "h", "k", "é😀"]


def _versions(world: World, r: Random, config: dict[str, object]) -> None:
    _two_types(world, r)
    world.p_kip848, world.p_admin, world.p_fault = 0.3, 0.25, 0.2
    world.join_versions = list(range(10))


SHAPES: dict[str, Shape] = {
    "classic": _classic,
    "classic_big": _classic_big,
    "classic_static": _classic_static,
    "classic_offsets": _classic_offsets,
    "classic_versions": _classic_versions,
    "kip848": _kip848,
    "kip848_static": _kip848_static,
    "regex": _regex,
    "topics": _topics,
    "offsets": _offsets,
    "mixed": _mixed,
    "mixed_down": _mixed_down,
    "raw": _raw,
    "versions": _versions,
}
