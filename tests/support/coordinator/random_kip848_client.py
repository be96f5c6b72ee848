"""A client of the consumer protocol (KIP-848) for random scripts: it moves towards its target."""

from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.support.coordinator.oracle_json import Json

if TYPE_CHECKING:
    from tests.support.coordinator.random_scripts import Client, World

FORGETS_ITS_EPOCH = (25, 110)
Partitions = dict[str, set[int]]


def as_list(partitions: Partitions) -> list[Json]:
    """Partitions by topic id as a request has them."""
    return [
        {"topicId": topic, "partitions": sorted(numbers)}
        for topic, numbers in sorted(partitions.items())
        if numbers
    ]


class Consumer:
    """One consumer with `group.protocol=consumer`."""

    kind = "consumer"

    def __init__(self, world: "World", group: str) -> None:
        r = world.random
        self.world: World = world
        self.group = group
        self.version = 1 if r.random() < 0.85 else 0
        self.client_id, self.host = r.choice(["c", "app"]), r.choice(["10.0.0.1", "10.0.0.2"])
        self.instance: str | None = (
            r.choice(world.instances) if r.random() < world.p_static else None
        )
        self.rack: str | None = r.choice([None, None, None, "r1"])
        self.rebalance_ms = r.choice([1000, 5000, 30000, 300000])
        self.assignor: str | None = r.choice(world.assignors)
        self.member_id: str = ""
        self.epoch: int = 0
        self.last_epoch: int = 0
        self.topics: list[str] | None = None
        self.regex: str | None = None
        self.owned: Partitions = {}
        self.target: Partitions = {}
        self.state, self.refused = "out", False
        self.pick_subscription()

    def pick(self, *options: Any) -> Any:
        """One of these."""
        return self.world.random.choice(options)

    def pick_subscription(self) -> None:
        """Subscribe to something else from now on."""
        r = self.world.random
        self.topics, self.regex = self.world.some_topics(), None
        if self.version >= 1 and r.random() < self.world.p_regex:
            self.regex = r.choice(self.world.regexes)
            if r.random() < 0.6:
                self.topics = None

    def beat(self, **over: Any) -> None:
        """Send a ConsumerGroupHeartbeat."""
        request = {
            "groupId": self.group,
            "memberId": self.member_id,
            "memberEpoch": self.epoch,
            **over,
        }
        self.world.send(self, "consumer_heartbeat", self.version, request)

    def everything(self) -> Json:
        """The fields of a full heartbeat."""
        return {
            "instanceId": self.instance,
            "rackId": self.rack,
            "rebalanceTimeoutMs": self.rebalance_ms,
            "subscribedTopicNames": self.topics,
            "subscribedTopicRegex": self.regex,
            "serverAssignor": self.assignor,
        }

    def join(self, **over: Any) -> None:
        """Send a heartbeat with epoch 0."""
        r = self.world.random
        if self.member_id == "" and self.version >= 1:
            self.member_id = f"m{self.world.serial()}"
            if r.random() < 0.5:
                raw = bytes(r.randrange(256) for _ in range(16))
                self.member_id = urlsafe_b64encode(raw).decode().rstrip("=")
        self.epoch, self.owned, self.target = 0, {}, {}
        self.beat(**{**self.everything(), "topicPartitions": [], **over})

    def commit(self, **over: Any) -> None:
        """Send an OffsetCommit as this member."""
        sender = {"mid": self.member_id, "generation": self.epoch, "instance": None}
        self.world.commit(self.group, kip848=True, **{**sender, **over})

    def took(self, kind: str, answer: Json) -> None:
        """Learn from an answer."""
        if kind != "consumer_heartbeat":
            return
        r, error = self.world.random, answer["errorCode"]
        self.refused = error in (-1, 69, 81, 111)
        if error == 0:
            self._accepted(answer)
        elif (error in FORGETS_ITS_EPOCH and r.random() < 0.85) or self.epoch <= 0:
            self.state, self.epoch, self.owned = "out", 0, {}
            if error in (82, 111) and r.random() < 0.3:
                self.member_id = ""
            if error in (42, 128, 112, 81):
                self.pick_subscription()
        elif error in (82, 111) and r.random() < 0.5:
            self.state, self.member_id = "out", ""
        elif error in (42, 128, 112) and r.random() < 0.7:
            self.pick_subscription()
            self.assignor = r.choice(self.world.assignors)

    def _accepted(self, answer: Json) -> None:
        self.member_id = answer["memberId"] or self.member_id
        self.last_epoch, self.epoch = self.epoch, answer["memberEpoch"]
        self.state = "out" if self.epoch < 0 else "in"
        if self.epoch >= 0 and answer["assignment"] is not None:
            topics = answer["assignment"]["topicPartitions"]
            self.target = {one["topicId"]: set(one["partitions"]) for one in topics}

    # ------------------------------------------------------------------ what it does next

    def act(self) -> None:
        """Do one thing that makes sense now, or something wrong."""
        world, r = self.world, self.world.random
        if r.random() < world.p_fault:
            r.choice(FAULTS)(self, r.choice(world.clients))
        elif self.state != "out":
            self._run()
        elif self.refused and r.random() < 0.7:
            self.refused = False
            world.tick()
        else:
            self.join()

    def _run(self) -> None:
        x = self.world.random.random()
        for limit, action in ACTIONS:
            if x < limit:
                action(self)
                return
        self.world.tick()

    def follow_target(self) -> None:
        """Give back what is to go, or else take what is given; tell what is owned."""
        r = self.world.random
        lose = {
            topic: {n for n in numbers if n not in self.target.get(topic, ())}
            for topic, numbers in self.owned.items()
        }
        if not any(lose.values()):
            self.owned = {topic: set(numbers) for topic, numbers in self.target.items()}
        elif r.random() < 0.2:  # some of it only
            self.owned = {t: ns - set(sorted(lose[t])[:1]) for t, ns in self.owned.items()}
        else:
            self.owned = {topic: numbers - lose[topic] for topic, numbers in self.owned.items()}
        more = self.everything() if r.random() < 0.15 else {}
        self.beat(**more, topicPartitions=as_list(self.owned))

    def resubscribe(self) -> None:
        """Subscribe to something else."""
        self.pick_subscription()
        names = self.topics if self.topics is not None or self.version == 0 else []
        self.beat(subscribedTopicNames=names, subscribedTopicRegex=self.regex or "")

    def change_details(self) -> None:
        """Change assignor, rack or rebalance timeout."""
        what = self.pick("assignor", "rack", "timeout")
        if what == "assignor":
            self.assignor = self.pick(*(name for name in self.world.assignors if name))
            self.beat(serverAssignor=self.assignor)
        elif what == "rack":
            self.rack = self.pick("r1", "r2")
            self.beat(rackId=self.rack)
        else:
            self.rebalance_ms = self.pick(1000, 5000, 30000)
            self.beat(rebalanceTimeoutMs=self.rebalance_ms)

    def leave(self) -> None:
        """Leave for good."""
        self.state = "out"
        self.beat(memberEpoch=-1, topicPartitions=self.pick(None, []))

    def pause(self) -> None:
        """Leave for a while, if static."""
        if self.instance is None:
            self.world.tick()
            return
        self.state = "out"
        self.beat(memberEpoch=-2, instanceId=self.instance)
        if self.world.random.random() < 0.7:
            self.member_id = ""

    def fetch(self) -> None:
        """Fetch the group's offsets as this member."""
        self.world.fetch(self.group, self.member_id, self.epoch)


ACTIONS: tuple[tuple[float, Callable[[Consumer], None]], ...] = (
    (0.3, Consumer.beat),
    (0.68, Consumer.follow_target),
    (0.72, Consumer.resubscribe),
    (0.755, Consumer.change_details),
    (0.785, Consumer.leave),
    (0.815, Consumer.pause),
    (0.86, Consumer.commit),
    (0.9, Consumer.fetch),
)


def _claims(me: Consumer) -> Any:
    return me.pick(None, [], as_list(me.target), as_list(me.owned))


def _claim_of_other(me: Consumer, other: "Client") -> None:
    claim = as_list(other.target) if isinstance(other, Consumer) else None
    me.join(topicPartitions=me.pick(None, claim))


def _claim_of_nobody(me: Consumer, other: "Client") -> None:
    topic = me.world.any_topic_id()
    me.beat(topicPartitions=[{"topicId": topic, "partitions": [0, 1]}] if topic else [])


def _wrong_commit(me: Consumer, other: "Client") -> None:
    epochs = (me.epoch, me.epoch - 1, me.epoch + 1, -1, me.last_epoch)
    me.commit(mid=me.pick(me.member_id, other.member_id, "ghost", ""), generation=me.pick(*epochs))


def _leave_as_other(me: Consumer, other: "Client") -> None:
    instance = me.pick(None, me.instance, "nobody")
    me.beat(memberEpoch=-1, memberId=me.pick("ghost", me.member_id), instanceId=instance)


FAULTS: tuple[Callable[[Consumer, "Client"], None], ...] = (
    lambda me, other: me.beat(memberEpoch=me.epoch + 1),
    lambda me, other: me.beat(memberEpoch=me.epoch - 1, topicPartitions=_claims(me)),
    lambda me, other: me.beat(memberEpoch=me.last_epoch, topicPartitions=_claims(me)),
    lambda me, other: me.beat(memberEpoch=me.pick(-3, 9999, -1, -2)),
    lambda me, other: me.beat(memberId=me.pick("ghost", other.member_id, "")),
    lambda me, other: me.beat(instanceId=me.pick("nobody", other.instance, "")),
    lambda me, other: me.beat(groupId=me.pick("", "nogroup")),
    lambda me, other: me.join(rebalanceTimeoutMs=me.pick(-1, 0)),
    _claim_of_other,
    lambda me, other: me.join(subscribedTopicNames=me.pick(None, []), subscribedTopicRegex=None),
    lambda me, other: me.join(serverAssignor=me.pick("nothing", "")),
    lambda me, other: me.join(subscribedTopicRegex=me.pick("[", "(", "*", "")),
    lambda me, other: me.beat(serverAssignor=me.pick("nothing", "range", "")),
    lambda me, other: me.beat(subscribedTopicRegex=me.pick("[", "", "foo.*")),
    lambda me, other: me.beat(memberEpoch=-2, instanceId=me.pick(None, me.instance, "nobody", "")),
    _leave_as_other,
    lambda me, other: me.join(rackId=""),
    lambda me, other: me.join(instanceId=me.pick(other.instance, "")),
    lambda me, other: me.join(memberId=me.pick("", other.member_id)),
    _claim_of_nobody,
    lambda me, other: me.join(instanceId=me.instance, memberId=f"m{me.world.serial()}"),
    lambda me, other: me.beat(topicPartitions=[]),
    lambda me, other: me.beat(subscribedTopicNames=[]),
    lambda me, other: me.join(),  # a restart without leaving
    lambda me, other: me.beat(memberEpoch=0),
    _wrong_commit,
)
