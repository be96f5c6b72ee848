"""A client of the classic protocol for random scripts: mostly behaves, and errs now and then.

It reads the answers, so that ids, generations and assignments in later requests are real.
"""

from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.subscription_base64 import assignment, read_assignment, subscription

if TYPE_CHECKING:
    from tests.support.coordinator.random_scripts import Client, World

ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
OFFERS = (
    ("range",),
    ("range", "roundrobin"),
    ("roundrobin", "range"),
    ("range", "sticky"),
    ("sticky", "roundrobin", "range"),
    ("cooperative-sticky", "range"),
)


class Classic:
    """One consumer, or worker of another protocol type."""

    kind = "classic"

    def __init__(self, world: "World", group: str) -> None:
        r = world.random
        self.world: World = world
        self.group = group
        self.version = r.choice(world.join_versions)
        self.client_id = r.choice(["c", "app", "c", "x-y"])
        self.host = r.choice(["10.0.0.1", "10.0.0.2"])
        static = self.version >= 5 and r.random() < world.p_static
        self.instance: str | None = r.choice(world.instances) if static else None
        self.session_ms = r.choice(world.sessions_ms)
        self.rebalance_ms = r.choice([2000, 5000, 20000, 60000])
        usual = world.types.get(group, "consumer")
        odd = r.choice(["connect", "consumer"])
        self.type = usual if r.random() < world.p_consumer else odd
        self.subscription_version = r.choice([0, 1, 2, 3])
        self.topics = world.some_topics()
        self.member_id: str = ""
        self.generation: int = -1
        self.protocol: str | None = None
        self.leads = False
        self.members: list[str] = []
        self.state = "out"
        self.owned: list[tuple[str, list[int]]] = []
        self.names: list[str] = []
        self.pick_names()

    def pick_names(self) -> None:
        """Offer other assignors from now on."""
        r = self.world.random
        self.names = list(r.choice(OFFERS)) if r.random() < 0.96 else [r.choice(ASSIGNORS)]
        if r.random() < self.world.p_odd_names:
            self.names = [r.choice(["custom", "a", "b", "zz"]), *r.choice([[], ["range"]])]

    def protocols(self) -> list[Json]:
        """What a JoinGroup offers."""
        if self.type != "consumer":
            metadata = b64encode(b"m%d" % len(self.topics)).decode()
        elif self.world.random.random() < self.world.p_garbage:
            metadata = b64encode(b"\0").decode()
        else:
            metadata = subscription(
                self.topics,
                self.subscription_version,
                self.owned if self.subscription_version else (),
                self.generation if self.state != "out" else -1,
            )
        return [{"name": name, "metadata": metadata} for name in self.names]

    def join(self, **over: Any) -> None:
        """Send a JoinGroup."""
        request = {
            "groupId": self.group,
            "sessionTimeoutMs": self.session_ms,
            "rebalanceTimeoutMs": self.rebalance_ms,
            "memberId": self.member_id,
            "groupInstanceId": self.instance,
            "protocolType": self.type,
            "protocols": self.protocols(),
            "reason": self.world.random.choice([None, None, "why"]),
        }
        self.world.send(self, "join", self.version, {**request, **over})

    def _assignments(self) -> list[Json]:
        """What a leader decides, now and then one too few or one too many."""
        r = self.world.random
        members = list(self.members)
        shares = {
            member: [
                (topic, [n for n in range(count) if n % len(members) == turn])
                for topic, count in self.world.topics.items()
            ]
            for turn, member in enumerate(members)
        }
        if r.random() < 0.1:
            members = members[1:]
        if r.random() < 0.05:
            members = [*members, "nobody"]
        return [
            {
                "memberId": one,
                "assignment": assignment([(t, ps) for t, ps in shares.get(one, []) if ps]),
            }
            for one in members
        ]

    def sync(self, **over: Any) -> None:
        """Send a SyncGroup."""
        version = 5 if self.version >= 7 else max(0, min(self.version, 5, self.version - 2))
        if self.instance is not None:
            version = max(version, 3)
        request = {
            "groupId": self.group,
            "generationId": self.generation,
            "memberId": self.member_id,
            "groupInstanceId": self.instance,
            "protocolType": self.type,
            "protocolName": self.protocol,
            "assignments": self._assignments() if self.leads and self.members else [],
        }
        self.world.send(self, "sync", version, {**request, **over})

    def heartbeat(self, **over: Any) -> None:
        """Send a Heartbeat."""
        old = 3 if self.instance else self.world.random.choice([0, 1, 2, 3])
        version = 4 if self.version > 6 else old
        request = {
            "groupId": self.group,
            "generationId": self.generation,
            "memberId": self.member_id,
            "groupInstanceId": self.instance,
        }
        self.world.send(self, "heartbeat", version, {**request, **over})

    def leave(self, **over: Any) -> None:
        """Send a LeaveGroup, sometimes for somebody else as well."""
        r = self.world.random
        version = r.choice([0, 1, 2]) if self.version < 5 else r.choice([3, 4, 5])
        me = {
            "memberId": self.member_id,
            "groupInstanceId": self.instance if r.random() < 0.7 else None,
            "reason": r.choice([None, "bye"]),
        }
        leaving = [me]
        if version >= 3 and r.random() < 0.2:
            other = r.choice(self.world.clients)
            leaving.append(
                {
                    "memberId": r.choice([other.member_id, "", "ghost"]),
                    "groupInstanceId": r.choice([other.instance, None]),
                    "reason": None,
                }
            )
        if version >= 3 and self.instance and r.random() < 0.4:
            me["memberId"] = ""
        request = {"groupId": self.group, "memberId": self.member_id, "members": leaving}
        self.world.send(self, "leave", version, {**request, **over})
        self.state, self.generation = "out", -1
        if r.random() < 0.8:
            self.member_id, self.owned = "", []

    # ------------------------------------------------------------------ answers

    def took(self, kind: str, answer: Json) -> None:
        """Learn from an answer."""
        took = {"join": self._joined, "sync": self._synced, "heartbeat": self._heard}.get(kind)
        if took is not None:
            took(answer, answer.get("errorCode", 0))

    def _joined(self, answer: Json, error: int) -> None:
        r = self.world.random
        if error == 0:
            self.member_id, self.generation = answer["memberId"], answer["generationId"]
            self.protocol = answer.get("protocolName")
            self.leads = answer["leader"] == answer["memberId"]
            self.members = [one["memberId"] for one in answer["members"]]
            self.state = "joined"
            return
        self.state = "out"
        if error == 79:
            self.member_id = answer["memberId"]
        if error in (25, 82) and r.random() < 0.8:
            self.member_id = ""
        if error == 23 and r.random() < 0.7:
            self.type = self.world.types.get(self.group, "consumer")
            self.names = ["sticky", "range"]
        if error in (24, 26, 81) and r.random() < 0.3:
            self.member_id = ""
        if error == 81 and r.random() < 0.4:
            self.world.retire(self)

    def _synced(self, answer: Json, error: int) -> None:
        if error == 0:
            self.state = "stable"
            if self.type == "consumer":
                self.owned = read_assignment(answer["assignment"])
        elif error in (27, 22):
            self.state = "rejoin"
        else:
            self.state = "out"
            if self.world.random.random() < 0.8:
                self.member_id = ""

    def _heard(self, answer: Json, error: int) -> None:
        likely = self.world.random.random() < 0.8
        if error in (27, 22) and likely:
            self.state = "rejoin"
        elif error in (25, 82) and likely:
            self.state, self.member_id = "out", ""

    # ------------------------------------------------------------------ what it does next

    def act(self) -> None:
        """Do one thing that makes sense now, or something wrong."""
        world, r = self.world, self.world.random
        if r.random() < world.p_fault:
            r.choice(FAULTS)(self, r.choice(world.clients))
        elif self.state == "out":
            if r.random() < 0.1:
                self.topics = world.some_topics()
            self.join()
        elif self.state in ("joining", "syncing"):
            self._wait()
        elif self.state == "joined":
            x = r.random()
            if x < 0.8:
                self.sync()
            elif x < 0.9:
                self.heartbeat()
            else:
                self.commit()
        elif self.state == "rejoin":
            if r.random() < 0.4:
                self.owned = []  # an eager client
            if r.random() < 0.85:
                self.join()
            else:
                self.heartbeat()
        else:
            self._settled()

    def _wait(self) -> None:
        """Its request is parked: mostly others act, but a client may also ask again."""
        world, r = self.world, self.world.random
        x = r.random()
        if x < 0.3 and self.member_id:
            self.heartbeat()
        elif x < 0.38:
            if self.state == "joining":
                self.join()
            else:
                self.sync()
        elif x < 0.41:
            self.leave()
        else:
            free = [one for one in world.clients if one.state not in ("joining", "syncing")]
            if free and r.random() < 0.8:
                r.choice(free).act()
            else:
                world.tick()

    def _settled(self) -> None:
        world, r = self.world, self.world.random
        x = r.random()
        if x < 0.6:
            self.heartbeat()
        elif x < 0.68:
            self.commit()
        elif x < 0.74:
            if r.random() < 0.5:
                self.topics = world.some_topics()
            if r.random() < 0.15:
                self.pick_names()
            self.join()
        elif x < 0.79:
            self.leave()
        elif x < 0.83:
            self.sync()
        elif x < 0.86 and self.instance:
            self.restart()
        else:
            world.tick()

    def restart(self) -> None:
        """A static member that comes back without its id."""
        self.member_id, self.generation, self.state, self.owned = "", -1, "out", []
        if self.world.random.random() < 0.15:
            self.pick_names()
        self.join()

    def commit(self, **over: Any) -> None:
        """Send an OffsetCommit as this member."""
        sender = {"mid": self.member_id, "generation": self.generation, "instance": self.instance}
        self.world.commit(self.group, **{**sender, **over})

    def pick(self, *options: Any) -> Any:
        """One of these."""
        return self.world.random.choice(options)


Fault = Callable[[Classic, "Client"], None]


def _wrong_sender(me: Classic, other: "Client") -> None:
    me.commit(
        mid=me.pick(me.member_id, other.member_id, "ghost", ""),
        generation=me.pick(me.generation, -1),
        instance=me.pick(me.instance, other.instance, None, "nobody"),
    )


def _wrong_leaver(me: Classic, other: "Client") -> None:
    one = {
        "memberId": me.pick("ghost", other.member_id, ""),
        "groupInstanceId": me.pick(None, "nobody", other.instance),
        "reason": None,
    }
    me.leave(groupId=me.pick("", "nogroup", me.group), members=[one])


def _fresh_group(me: Classic, other: "Client") -> None:
    name = me.pick("", f"fresh{me.world.random.randrange(4)}")
    me.join(groupId=name, memberId=me.pick("", "ghost"))


def _leave_with_other_instance(me: Classic, other: "Client") -> None:
    near = [one for one in me.world.clients if one.group == me.group]
    held = [one.instance for one in near if one.instance and one.member_id]
    instance = me.pick(*(held or ["nobody"]), *held, "nobody")
    member = me.pick(me.member_id, *(one.member_id for one in near))
    me.leave(members=[{"memberId": member, "groupInstanceId": instance, "reason": None}])


def _fresh_group_refused(me: Classic, other: "Client") -> None:
    wrong = me.pick({"protocols": []}, {"protocolType": ""}, {"sessionTimeoutMs": 1})
    me.join(groupId=f"fresh{me.world.random.randrange(20)}", memberId="", **wrong)


def _join_as_nearby(me: Classic, other: "Client") -> None:
    """With the id of somebody of the group, perhaps one that was only handed out."""
    near = [one for one in me.world.clients if one.group == me.group and one.member_id]
    me.join(
        memberId=me.pick(me.member_id, *(one.member_id for one in near)),
        groupInstanceId=me.pick("nobody", *(one.instance for one in near if one.instance)),
    )


def _commit_as_nearby(me: Classic, other: "Client") -> None:
    near = [one for one in me.world.clients if one.group == me.group and one.instance]
    if near:
        me.commit(mid=me.member_id, instance=me.pick(*(one.instance for one in near)))
    else:
        me.commit()


def _other_protocol(me: Classic, other: "Client") -> None:
    me.sync(protocolName=me.pick("wrong", None), protocolType=me.pick(me.type, "wrong", None))


def _pending_with_instance(me: Classic, other: "Client") -> None:
    me.join(groupInstanceId=me.pick(other.instance, "nobody"))


FAULTS: tuple[Fault, ...] = (
    lambda me, other: me.heartbeat(generationId=me.generation + me.pick(1, -1, 5)),
    lambda me, other: me.heartbeat(memberId=me.pick(other.member_id, "ghost", "")),
    lambda me, other: me.heartbeat(groupInstanceId=me.pick(other.instance, "nobody")),
    lambda me, other: me.sync(generationId=me.generation + me.pick(1, -1)),
    lambda me, other: me.sync(memberId=me.pick(other.member_id, "ghost", "")),
    _other_protocol,
    lambda me, other: me.join(memberId=me.pick(other.member_id, "ghost")),
    lambda me, other: me.join(sessionTimeoutMs=me.pick(1, 0, 2000000000)),
    lambda me, other: me.join(protocols=[]),
    lambda me, other: me.join(protocolType=me.pick("", "connect", "other")),
    lambda me, other: me.join(protocols=[{"name": "odd", "metadata": ""}]),
    _fresh_group,
    lambda me, other: me.sync(groupId=me.pick("", "nogroup")),
    lambda me, other: me.heartbeat(groupId=me.pick("", "nogroup")),
    _wrong_leaver,
    lambda me, other: me.sync(groupInstanceId=me.pick("nobody", other.instance)),
    lambda me, other: me.join(
        memberId=me.pick(other.member_id, ""), groupInstanceId=me.pick(other.instance, None)
    ),
    lambda me, other: me.commit(generation=me.generation + me.pick(1, -1)),
    _wrong_sender,
    _pending_with_instance,
    _leave_with_other_instance,
    _leave_with_other_instance,
    _fresh_group_refused,
    _join_as_nearby,
    _join_as_nearby,
    _commit_as_nearby,
    _leave_with_other_instance,
)
