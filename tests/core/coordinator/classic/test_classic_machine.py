"""A Hypothesis state machine over the classic protocol, offsets and failing logs.

It knows little about what must be answered (the comparison with Kafka's own coordinator does) and
much about what must always hold.
"""

from collections.abc import Hashable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from kgroups.core.coordinator.admin_messages import DeleteGroupsRequest
from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupAssignment,
    SyncGroupRequest,
)
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.groups import GroupSnapshot
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.coordinator_driver import Harness
from tests.support.coordinator.default_requests import SUBSCRIBED_TO_T, commit, join

GROUPS = st.sampled_from(["g", "h"])
INSTANCES = st.sampled_from([None, None, "i1", "i2"])
OFFERS = st.sampled_from([("range",), ("range", "sticky"), ("sticky", "range"), ("odd",)])
REFUSALS = st.sampled_from([ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_LEADER_OR_FOLLOWER])
Who = tuple[str, str, str | None]


class ClassicGroups(RuleBasedStateMachine):
    """Members come, sync, commit and go; time passes; the log refuses now and then."""

    known = Bundle("known")

    def __init__(self) -> None:
        super().__init__()
        config = CoordinatorConfig(
            classic_initial_rebalance_delay_ms=1000,
            classic_max_size=3,
            offsets_partitions=2,
            offsets_retention_ms=60_000,
            offsets_retention_check_interval_ms=30_000,
        )
        self.harness = Harness(config)
        self.joins: dict[Hashable, Who] = {}
        self.before: dict[str, GroupSnapshot] = {}

    def groups(self) -> dict[str, GroupSnapshot]:
        """Every group as it is now."""
        return {one.group_id: one for one in self.harness.coordinator.snapshot()}

    def generation(self, group_id: str) -> int:
        """The group's generation, or one that it does not have."""
        group = self.groups().get(group_id)
        return -1 if group is None else group.epoch

    def identity(self, who: Who) -> dict[str, Any]:
        """Fields by which a member says who it is."""
        group_id, member_id, instance = who
        return {
            "version": 3,
            "group_id": group_id,
            "generation_id": self.generation(group_id),
            "member_id": member_id,
            "group_instance_id": instance,
        }

    def learned(self) -> tuple[Who, ...]:
        """Members that answers to joins have told about since the last look."""
        found = []
        for token in [token for token in self.joins if token in self.harness.replies]:
            group_id, _, instance = self.joins.pop(token)
            member_id = self.harness.replies[token].member_id
            if member_id:
                found.append((group_id, member_id, instance))
        return tuple(found)

    # ------------------------------------------------------------------ rules

    @rule(
        target=known, group_id=GROUPS, instance=INSTANCES, offers=OFFERS, version=st.integers(0, 9)
    )
    def join(self, group_id: str, instance: str | None, offers: tuple[str, ...], version: int):  # type: ignore[no-untyped-def] # Hypothesis types what `multiple` gives
        """A new member, or a static one without its id."""
        self._join((group_id, "", instance if version >= 5 else None), offers, version)
        return multiple(*self.learned())

    @rule(target=known, who=known, offers=OFFERS)
    def rejoin(self, who: Who, offers: tuple[str, ...]):  # type: ignore[no-untyped-def] # as above
        """A member that knows its id."""
        self._join(who, offers, 9)
        return multiple(*self.learned())

    def _join(self, who: Who, offers: tuple[str, ...], version: int) -> None:
        group_id, member_id, instance = who
        request = join(
            group_id,
            version=version,
            member_id=member_id,
            group_instance_id=instance,
            rebalance_timeout_ms=5_000,
            protocols=tuple(JoinGroupProtocol(name, SUBSCRIBED_TO_T) for name in offers),
        )
        self.joins[self.harness.send(request)] = who

    @rule(who=known)
    def sync(self, who: Who) -> None:
        """A SyncGroup; a leader gives everybody its own name."""
        group = self.groups().get(who[0])
        members = () if group is None else group.members
        given = tuple(SyncGroupAssignment(one.member_id, one.member_id.encode()) for one in members)
        self.harness.send(SyncGroupRequest(assignments=given, **self.identity(who)))

    @rule(who=known)
    def heartbeat(self, who: Who) -> None:
        """A Heartbeat, answered at once."""
        self.harness.ask(HeartbeatRequest(**self.identity(who)))

    @rule(who=known, by_instance=st.booleans())
    def leave(self, who: Who, by_instance: bool) -> None:
        """A LeaveGroup, answered at once."""
        member_id = "" if by_instance and who[2] else who[1]
        leaving = MemberIdentity(member_id, who[2])
        self.harness.ask(LeaveGroupRequest(version=4, group_id=who[0], members=(leaving,)))

    @rule(who=known, anonymous=st.booleans(), partition=st.integers(0, 3))
    def commit(self, who: Who, anonymous: bool, partition: int) -> None:
        """An OffsetCommit, answered at once."""
        request = commit(
            {partition: 7},
            who[0],
            generation_id_or_member_epoch=-1 if anonymous else self.generation(who[0]),
            member_id="" if anonymous else who[1],
        )
        self.harness.ask(request)

    @rule(group_id=GROUPS)
    def delete(self, group_id: str) -> None:
        """A DeleteGroups, answered at once."""
        self.harness.ask(DeleteGroupsRequest(version=2, groups_names=(group_id,)))

    @rule(target=known, ms=st.sampled_from([1, 500, 1000, 4000, 5000, 10_000, 70_000]))
    def let_time_pass(self, ms: int):  # type: ignore[no-untyped-def] # as above
        """Timers fire."""
        self.harness.advance(ms)
        return multiple(*self.learned())

    @rule(error=REFUSALS)
    def refuse_the_next_write(self, error: ErrorCode) -> None:
        """The next records do not reach the log."""
        self.harness.refusal = error

    @rule(partition=st.integers(0, 1))
    def reload(self, partition: int) -> None:
        """The partition moves away and comes back; who waits is told."""
        harness = self.harness
        harness.coordinator.resign(harness.now_ms, partition)
        harness.collect()
        harness.coordinator.begin_loading(partition)
        for record in harness.replica.durable_records():
            if harness.coordinator.partition_of(record.key.group_id) == partition:
                harness.coordinator.replay(record)
        harness.coordinator.finish_loading(harness.now_ms, partition)
        harness.collect()
        for group_id in list(self.before):
            if harness.coordinator.partition_of(group_id) == partition:
                del self.before[group_id]

    # ------------------------------------------------------------------ what always holds

    @invariant()
    def every_waiting_request_is_parked_in_one_member(self) -> None:
        """A token is answered once, dropped once, or waits in a member."""
        parked = [one for group in self.groups().values() for one in group.members]
        assert len(self.harness.waiting) == sum(one.waiting_for is not None for one in parked)

    @invariant()
    def leader_and_static_members_are_members(self) -> None:
        """A group with members has a leader among them, and each instance id one holder."""
        for group in self.groups().values():
            ids = [one.member_id for one in group.members]
            assert group.leader in ids if ids else group.leader is None
            instances = [one.instance_id for one in group.members if one.instance_id]
            assert len(instances) == len(set(instances))

    @invariant()
    def generations_grow_and_assignments_stay(self) -> None:
        """A generation never falls; what a Stable group's members have is fixed until the next."""
        now = self.groups()
        for group_id, before in self.before.items():
            after = now.get(group_id)
            if after is None:
                continue
            assert after.epoch >= before.epoch or after.epoch == 0
            if before.state == after.state == "Stable" and before.epoch == after.epoch:
                had = {one.instance_id or one.member_id: one.assignment for one in before.members}
                has = {one.instance_id or one.member_id: one.assignment for one in after.members}
                assert had == has
        self.before = now

    @invariant()
    def parked_requests_fit_the_state(self) -> None:
        """A JoinGroup waits in PreparingRebalance only, a SyncGroup in CompletingRebalance only."""
        for group in self.groups().values():
            waits = {one.waiting_for for one in group.members} - {None}
            assert waits <= {
                "PreparingRebalance": {"join"},
                "CompletingRebalance": {"sync"},
            }.get(group.state, set())
            assert (group.state == "Empty") <= (not group.members)

    @invariant()
    def replaying_the_log_gives_what_was_written(self) -> None:
        """The coordinator that follows the log has every record that this one stands by."""
        self.harness.assert_replica_is_equal()


ClassicGroups.TestCase.settings = settings(max_examples=150, stateful_step_count=50)
TestClassicGroups = ClassicGroups.TestCase


class ManyClassicGroups(ClassicGroups):
    """The same, for longer."""


ManyClassicGroups.TestCase.settings = settings(max_examples=500, stateful_step_count=50)
TestManyClassicGroups = pytest.mark.slow("fewer such lives are in every run")(
    ManyClassicGroups.TestCase
)
