"""The event log reads like a story."""

import pytest

from kgroups.core.coordinator.effects import Event, EventKind
from kgroups.core.sandbox.coordination.event_log import event_text
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.sandbox.librdkafka_members import members, wait_for_shares

CASES: list[tuple[EventKind, str | None, str, tuple[object, ...], str]] = [
    (EventKind.GROUP_CREATED, None, "a member joined", (), "group created: a member joined"),
    (EventKind.STATE_CHANGED, None, "m left", ("Stable", "Empty"), "Stable -> Empty: m left"),
    (EventKind.MEMBER_REPLACED, "b", "i1 is back", ("a",),
     "member b replaces a: i1 is back"),
    (EventKind.LEADER_ELECTED, "a", "the leader left", (),
     "member a is the leader: the leader left"),
    (EventKind.PROTOCOL_CHOSEN, None, "range", (("range", 2), ("sticky", 1)),
     "assignor range chosen by votes (range 2, sticky 1)"),
    (EventKind.EPOCH_BUMPED, None, "a topic changed", (4,), "group epoch 5: a topic changed"),
    (EventKind.MEMBER_RECONCILED, "a", "UNREVOKED_PARTITIONS", (4, 4),
     "member a stays at 4, UnrevokedPartitions"),
    (EventKind.MEMBER_RECONCILED, "a", "STABLE", (4, 6), "member a goes from epoch 4 to 6, Stable"),
    (EventKind.TARGET_COMPUTED, None, "uniform", (5,), "target computed by assignor uniform"),
    (EventKind.OFFSETS_EXPIRED, None, "", (3,), "3 commits expired"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "member", "reason", "detail", "text"), CASES)
def test_an_event_is_a_clause(
    kind: EventKind, member: str | None, reason: str, detail: tuple[object, ...], text: str
) -> None:
    """Members, states, votes and epochs are named, and the reason is given."""
    assert event_text(Event(0, kind, "g", member, reason, detail)) == text


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_tells_its_life(protocol: str) -> None:
    """Real members of either protocol: joined, assigned, left; every line is a plain sentence."""
    with Sandbox(brokers=1, topics={"t": 4}) as cluster:
        servers = cluster.bootstrap_servers
        with members(servers, "g", ["t"], ["a", "b"], group_protocol=protocol) as pair:
            wait_for_shares([2, 2], *pair)
        lines = [
            str(line).split("group g: ")[1] for line in cluster.events if "group g: " in str(line)
        ]
    assert lines[0] == "group created: a member joined"
    assert any("-> Stable: " in line for line in lines)
    assert any("-> Empty: " in line for line in lines)
    assert len([line for line in lines if line.endswith(" added: joined")]) == 2
    assert not [line for line in lines if "('" in line or "None" in line]
