"""Random lives of groups of both protocols over a log that refuses records now and then.

They know little about what must be answered (the comparison with Kafka's own coordinator, whose
scripts they are, does) and much about what must always hold.
"""

from base64 import urlsafe_b64encode
from collections import Counter
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

import pytest

from kgroups.core.coordinator.effects import Dropped, Effect, Reply, Write
from kgroups.core.coordinator.groups import GroupSnapshot
from kgroups.core.coordinator.releases import RELEASES
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.kafka_json import kafka_field
from kgroups.core.protocol.reader import default_of
from kgroups.core.protocol.table import Field, fields_at, request_table
from tests.support.coordinator.log_replica import LogReplica
from tests.support.coordinator.oracle_adapter import NOW, Adapter
from tests.support.coordinator.oracle_json import APIS, Json
from tests.support.coordinator.random_scripts import SHAPES, World

REFUSALS = (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_LEADER_OR_FOLLOWER)
REFUSED = 0.3  # of all writes
OPERATIONS = 500
READ = 4  # after every so many operations a coordinator that reads the log is compared
WAITS = {"PreparingRebalance": {"join"}, "CompletingRebalance": {"sync"}}


def whole(fields: list[Field], version: int, given: Json) -> Json:
    """A message with the defaults of what it does not name, as Kafka's own reader takes them."""
    found = {}
    for field in fields_at(fields, version):
        default = default_of(field)
        value = given.get(kafka_field(field.name), [] if field.is_array else default)
        if field.kind == "struct" and isinstance(value, list):
            value = [whole(field.fields, version, one) for one in value]
        found[kafka_field(field.name)] = value
    return found


class RefusingLog(Adapter):
    """A coordinator whose log refuses records; it draws its ids, and those of topics, itself.

    Attributes:
        refused: how many writes were.
    """

    def __init__(self, dice: Random, release: str) -> None:
        self._dice, self._drawn, self.refused = dice, count(1), 0
        super().__init__(release=release)

    def carry_out(self, op: Json) -> Json:
        """The answer to an operation of a script."""
        if op["op"] == "topics":
            op = {**op, "topics": {name: self._topic(name, n) for name, n in op["topics"].items()}}
        if "request" in op:
            table = request_table(APIS[op["op"]])
            op = {**op, "request": whole(table.fields, op["version"], op["request"])}
        return self.answer({**op, "uuids": (str(UUID(int=number)) for number in self._drawn)})

    def _topic(self, name: str, asked: Any) -> Json:
        known = self.topology.topics.get(name)
        topic_id = UUID(int=next(self._drawn)) if known is None else known.topic_id
        more = asked if isinstance(asked, dict) else {"partitions": asked}
        return {**more, "id": urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")}

    def _effects(self) -> list[Effect]:
        """Those that are left where a write is refused: nothing that follows it stands."""
        effects = super()._effects()
        place, write = next(
            ((n, one) for n, one in enumerate(effects) if isinstance(one, Write)), (0, None)
        )
        if write is not None and self._dice.random() < REFUSED:
            self.refused += 1
            self.coordinator.write_failed(self.now_ms, write, self._dice.choice(REFUSALS))
            told = self.coordinator.take()
            others = [one for one in effects[place:] if not isinstance(one, Write)]
            stand = [
                one for one in others if not isinstance(one, Reply) or one.after < write.sequence
            ]
            effects = [*effects[:place], *told, *stand]
        for one in effects:
            if isinstance(one, Dropped):
                del self.asked[str(one.token)]
        return effects


def check_waiting(ours: RefusingLog, groups: dict[str, GroupSnapshot]) -> None:
    """Whoever is not answered waits in one member, of a group in whose state it may wait."""
    parked = 0
    for group in groups.values():
        waits = [one.waiting_for for one in group.members if one.waiting_for]
        parked += len(waits)
        assert set(waits) <= WAITS.get(group.state, set())
        assert (group.state == "Empty") <= (not group.members)
    assert NOW not in ours.asked
    assert len(ours.asked) == parked


def check_members(group: GroupSnapshot) -> None:
    """A leader is a member, and each instance id has one holder."""
    ids = [one.member_id for one in group.members]
    if group.kind == "classic":
        assert group.leader in ids if ids else group.leader is None
    instances = [one.instance_id for one in group.members if one.instance_id]
    assert len(instances) == len(set(instances))


def check_generation(before: GroupSnapshot, after: GroupSnapshot) -> None:
    """A generation never falls; what a Stable group's members have is fixed until the next."""
    assert after.epoch >= before.epoch or after.epoch == 0
    if before.state == after.state == "Stable" and before.epoch == after.epoch:
        had, has = (
            {one.instance_id or one.member_id: one.assignment for one in group.members}
            for group in (before, after)
        )
        assert had == has


def check_epochs(group: GroupSnapshot) -> None:
    """A partition has one holder; no target is ahead of its group, no member of its target."""
    held: Counter[tuple[UUID, int]] = Counter()
    for member in group.members:
        mine: set[tuple[UUID, int]] = set()
        for parts in (member.facts["assigned"], member.facts["pending"]):
            assert isinstance(parts, dict)
            mine |= {(topic, number) for topic, numbers in parts.items() for number in numbers}
        held.update(mine)
    assert not [partition for partition, holders in held.items() if holders > 1]
    target = group.facts["target_epoch"]
    assert isinstance(target, int)
    assert target <= group.epoch
    assert all(one.epoch <= target for one in group.members)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.slow("more of them")) for n in (1, 2))]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_must_hold_holds_after_every_operation(shape: str, seed: int) -> None:
    """And a coordinator that reads the log has every record that this one stands by."""
    ours = RefusingLog(Random(f"log:{shape}:{seed}"), str(RELEASES[seed % len(RELEASES)]))
    replica = LogReplica(ours)
    before: dict[str, GroupSnapshot] = {}
    asked = 0

    def ask(op: Json) -> Json:
        nonlocal before, asked
        answer = ours.carry_out(op)
        now = {one.group_id: one for one in ours.coordinator.snapshot()}
        check_waiting(ours, now)
        for name, group in now.items():
            check_members(group)
            if group.kind == "consumer":
                check_epochs(group)
            elif name in before and before[name].kind == "classic" and op["op"] != "reload":
                check_generation(before[name], group)
        before, asked = now, asked + 1
        if asked % READ == 0:
            replica.check()
        return answer

    World(ask, shape, seed).run(OPERATIONS)
    replica.check()
    assert ours.refused
