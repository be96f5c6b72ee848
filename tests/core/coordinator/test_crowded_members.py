"""Members that share buckets and slots of the coordinator's tables: their order, Kafka's and ours.

A classic group of such members becomes a consumer group; members leave it and come. What each gets
goes by the order in which the assignor meets them, and ConsumerGroupDescribe lists them in the
coordinator's own.
"""

import hashlib
import random
from uuid import UUID

import pytest

from kgroups.core.planning.outcomes.ids import bucket
from tests.support.coordinator.answer_comparison import side_by_side
from tests.support.coordinator.both_coordinators import Both
from tests.support.coordinator.operations import (
    SENDER,
    config,
    heartbeat,
    join,
    leave,
    sync,
)
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import Oracle
from tests.support.coordinator.subscription_base64 import assignment, subscription
from tests.support.planning.crowded_ids import CAPACITY, CrowdedIds

pytestmark = pytest.mark.oracle

GROUPS = 12
STEPS = 12
FIRST: Json = {"subscribedTopicNames": ["t", "u"], "serverAssignor": "uniform"}


class Crowd:
    """One group on both coordinators."""

    def __init__(self, oracle: Oracle, seed: int) -> None:
        self.dice = random.Random(f"crowd {seed}")
        self.ids = CrowdedIds(self.dice, self.dice.randint(2, 3))
        self.both = Both(oracle.ask)
        self.classic: list[str] = []
        self.kip848: dict[str, tuple[int, list[Json]]] = {}
        self.do(
            config(
                group_initial_rebalance_delay_ms="3000",
                group_consumer_assignment_interval_ms="0",
            )
        )
        self.counts = {"t": self.dice.randint(2, 9), "u": self.dice.randint(1, 6)}
        self.do({"op": "topics", "topics": self.counts})

    def do(self, op: Json) -> Json:
        """One operation on both, which answer alike; members of a group in the same order."""
        _, theirs, mine = self.both.answers(op)
        want, got = side_by_side(theirs, mine)
        assert got == want, op
        assert listed(mine) == listed(theirs), op
        return theirs

    def live(self) -> None:
        """The group's life: classic at first, then converted, then members that go and come."""
        self.join_classic(self.dice.randint(2, 7))
        for _ in range(STEPS):
            self.step()
            for member_id in list(self.kip848):
                self.beat(member_id)
            described = {"op": "consumer_describe", "version": 1, "request": {"groupIds": ["g"]}}
            self.do({**SENDER, **described})

    def join_classic(self, size: int) -> None:
        """So many members join, and their leader assigns."""
        for number in range(size):
            joining = join(subscription(["t", "u"]))
            self.do({**joining, "client_id": self.client_id(number), "id": f"r{number}"})
        done = self.do({"op": "advance", "ms": 6_000})["completed"]
        self.classic = [one["response"]["memberId"] for one in done]
        dealt: dict[str, dict[str, list[int]]] = {name: {} for name in self.classic}
        for topic, count in self.counts.items():
            for partition in range(count):
                dealt[self.dice.choice(self.classic)].setdefault(topic, []).append(partition)
        leader = done[0]["response"]["leader"]
        self.do(sync(leader, {name: assignment(held.items()) for name, held in dealt.items()}))

    def client_id(self, number: int) -> str:
        """A client id with which the next id of a classic member is a crowded one."""
        raw = bytearray(hashlib.md5(b"kgroups:%d" % number, usedforsecurity=False).digest())
        raw[0] &= 0x7F
        raw[6], raw[8] = raw[6] & 15 | 64, raw[8] & 63 | 128
        drawn = UUID(bytes=bytes(raw))
        return next(
            name
            for name in (f"c{n}" for n in range(10_000))
            if bucket(f"{name}-{drawn}", CAPACITY) in self.ids.buckets
        )

    def step(self) -> None:
        """A member goes or comes; the first one to come converts the group."""
        members = [*self.classic, *self.kip848]
        if not self.kip848 or len(members) < 2 or self.dice.random() < 0.5:
            member_id = self.ids.kip848()
            self.kip848[member_id] = (0, [])
            self.beat(member_id)
            return
        leaver = self.dice.choice(members)
        if leaver in self.kip848 and len(self.kip848) > 1:
            del self.kip848[leaver]
            self.do(heartbeat(leaver, -1))
        elif leaver in self.classic:
            self.classic.remove(leaver)
            self.do(leave(leaver))

    def beat(self, member_id: str) -> None:
        """A heartbeat that owns what it was given."""
        epoch, owned = self.kip848[member_id]
        beat = heartbeat(member_id, epoch, **({} if epoch else FIRST), topicPartitions=owned)
        answer = self.do(beat)["response"]
        given = answer["assignment"]
        self.kip848[member_id] = (
            answer["memberEpoch"], owned if given is None else given["topicPartitions"],
        )  # fmt: skip


def listed(answer: Json) -> list[str]:
    """Ids of the members that ConsumerGroupDescribe lists."""
    response = answer.get("response")
    groups = response.get("groups", ()) if isinstance(response, dict) else ()
    return [member["memberId"] for group in groups for member in group.get("members", ())]


def test_crowded_members_stand_as_in_kafka(oracle: Oracle) -> None:
    """Every answer, every target and every list of members."""
    for seed in range(GROUPS):
        Crowd(oracle, seed).live()
