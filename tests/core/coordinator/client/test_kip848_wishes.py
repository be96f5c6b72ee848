"""Members of a consumer group whose application commits, unsubscribes and comes back."""

from typing import Any

import pytest

from kgroups.core.coordinator.client.effects import (
    CallbackKind,
    ClientEventKind,
    Close,
    CommitOffsets,
    Subscribe,
    TopicPartition,
    Unsubscribe,
)
from kgroups.core.coordinator.client.kip848.member import MemberState
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.kip848_client_world import Member, World

T0 = TopicPartition("t", 0)
DONE, FAILED = ClientEventKind.OFFSETS_COMMITTED, ClientEventKind.COMMIT_FAILED


def settled(number: int = 2, **settings: Any) -> tuple[World, list[Member]]:
    """Settled members, which commit nothing by themselves."""
    world = World()
    given = {"enable_auto_commit": False, **settings}
    members = [world.start(f"m{place}", **given) for place in range(number)]
    world.settle()
    return world, members


def outcome(member: Member) -> list[tuple[ClientEventKind, str, object]]:
    """What it was told of its application's commits: kind, reason, number."""
    return [(e.kind, e.reason, e.detail[0]) for e in member.events if e.detail and e.kind in KINDS]


KINDS = frozenset({DONE, FAILED})


@pytest.mark.parametrize("static", [False, True])
def test_who_unsubscribes_leaves_and_is_the_same_member_when_it_comes_back(static: bool) -> None:
    """-1, or -2 of a static member; nothing is committed; the id stays (KIP-1082)."""
    world = World()
    gone = world.start("gone", **({"group_instance_id": "i"} if static else {}))
    world.settle()
    sent = len(gone.sent)
    world.tell(gone, Unsubscribe())
    world.run(1_000)
    assert gone.beats()[-1].member_epoch == (-2 if static else -1)
    assert not any(isinstance(one, OffsetCommitRequest) for one in gone.sent[sent:])
    assert gone.callbacks[-1].kind is CallbackKind.REVOKED
    assert (gone.client.state, gone.client.owned) == (MemberState.UNSUBSCRIBED, ())
    quiet = len(gone.sent)
    world.settle()
    assert len(gone.sent) == quiet
    world.tell(gone, Subscribe(("t",)))
    world.settle()
    assert world.shares() == {"gone": [0, 1, 2, 3, 4, 5]}
    assert {one.member_id for one in gone.beats()} == {"id-gone"}


def test_who_is_closed_while_it_unsubscribes_is_closed() -> None:
    """And not only unsubscribed."""
    world, (member, _) = settled()
    world.tell(member, Unsubscribe())
    world.tell(member, Close())
    world.run(1_000)
    assert member.client.state is MemberState.CLOSED


def test_a_new_subscription_goes_with_the_next_heartbeat() -> None:
    """Names only, in the interval of the coordinator."""
    world = World(t=6, u=2)
    member = world.start("m", "t")
    world.settle()
    world.tell(member, Subscribe(("t", "u")))
    world.settle()
    told = [one for one in member.beats() if one.subscribed_topic_names == ("t", "u")]
    assert len(told) == 1
    assert told[0].member_epoch > 0
    assert {one.topic for one in member.client.owned} == {"t", "u"}


def test_commits_are_told_by_number() -> None:
    """Good or bad; without waiting an error is the end."""
    world, (member, _) = settled()
    world.tell(member, CommitOffsets({T0: 5}, number=1))
    world.run(200)
    world.faults[OffsetCommitRequest] = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    world.tell(member, CommitOffsets({T0: 6}, number=2))
    world.run(2_000)
    assert outcome(member) == [(DONE, "", 1), (FAILED, "COORDINATOR_LOAD_IN_PROGRESS", 2)]


@pytest.mark.parametrize(
    "error", [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR, None]
)
def test_a_commit_that_is_waited_for_is_tried_again(error: ErrorCode | None) -> None:
    """While the error may pass."""
    world, (member, _) = settled()
    world.faults[OffsetCommitRequest] = [error] * 2
    world.tell(member, CommitOffsets({T0: 5}, number=3, sync=True))
    world.run(3_000)
    assert outcome(member) == [(DONE, "", 3)]


def test_a_commit_that_is_waited_for_ends_with_its_time() -> None:
    """`default.api.timeout.ms`."""
    world, (member, _) = settled(default_api_timeout_ms=3_000)
    world.faults[OffsetCommitRequest] = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 100
    world.tell(member, CommitOffsets({T0: 5}, number=4, sync=True))
    world.run(10_000)
    assert len(outcome(member)) == 1
    assert outcome(member)[0][0] is FAILED


def test_who_is_no_member_cannot_commit() -> None:
    """Told at once."""
    world, (member, _) = settled()
    world.tell(member, Unsubscribe())
    world.run(500)
    world.tell(member, CommitOffsets({T0: 5}, number=5, sync=True))
    assert outcome(member) == [(FAILED, "the member is not part of an active group", 5)]
