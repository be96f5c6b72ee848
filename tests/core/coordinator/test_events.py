"""Events tell the whole story: whoever reads only them knows states, members and leaders."""

from collections import Counter
from itertools import islice

from kgroups.core.coordinator.classic.messages import JoinGroupProtocol
from kgroups.core.coordinator.effects import Event, EventKind
from kgroups.core.coordinator.groups import GroupSnapshot
from tests.core.coordinator.test_recorded import TRACES, read_trace
from tests.support.coordinator.coordinator_driver import Harness
from tests.support.coordinator.default_requests import RANGE, join, leave, stable_group, sync
from tests.support.coordinator.oracle_adapter import Adapter

Story = list[tuple[str, str | None, str]]


class Listener:
    """What follows from the events alone."""

    def __init__(self) -> None:
        self.members: dict[str, set[str]] = {}
        self.states: dict[str, str] = {}
        self.leaders: dict[str, str | None] = {}
        self.kinds: Counter[EventKind] = Counter()

    def hear(self, event: Event, now: dict[str, GroupSnapshot]) -> None:
        """Take in one event.

        Args:
            now: the groups as they are; only a group that was loaded or converted is looked up.
        """
        group, member = event.group_id, event.member_id
        self.kinds[event.kind] += 1
        match event.kind:
            case EventKind.GROUP_CREATED:
                self.members[group] = set()
                self.states[group] = "Empty"
            case EventKind.GROUP_REMOVED | EventKind.GROUP_UNLOADED:
                self.members.pop(group, None)
                self.states.pop(group, None)
            case EventKind.GROUP_LOADED | EventKind.GROUP_CONVERTED if group in now:
                self.members[group] = {one.member_id for one in now[group].members}
                self.states[group] = now[group].state
            case EventKind.MEMBER_ADDED if member is not None:
                self.members[group].add(member)
            case EventKind.MEMBER_REMOVED if member is not None:
                self.members[group].discard(member)
            case EventKind.MEMBER_REPLACED if member is not None:
                self.members[group].discard(str(event.detail[0]))
                self.members[group].add(member)
            case EventKind.STATE_CHANGED:
                assert event.reason
                self.states[group] = str(event.detail[1])
            case EventKind.LEADER_ELECTED:
                self.leaders[group] = member


QUIET_EVERY = 40
HEARD = 500  # operations of each trace
SHAPES = [name for name in TRACES if name.endswith("-000")]


def listen(name: str) -> Counter[EventKind]:
    """Kinds of events of a trace; after each operation that told something the listener is asked.

    After one that told nothing it is asked now and then: nothing may have changed.
    """
    adapter, listener = Adapter(), Listener()
    for number, (op, theirs) in enumerate(islice(read_trace(name), HEARD)):
        adapter.events.clear()
        adapter.answer({**op, "uuids": theirs.get("uuids", ())})
        if op["op"] == "config":
            listener = Listener()
        if not adapter.events and number % QUIET_EVERY:
            continue
        now = {one.group_id: one for one in adapter.coordinator.snapshot()}
        for event in adapter.events:
            listener.hear(event, now)
        members = {one: {m.member_id for m in group.members} for one, group in now.items()}
        assert listener.members == members, (op, adapter.events)
        states = {one: group.state for one, group in now.items()}
        assert listener.states == states, (op, adapter.events)
    return listener.kinds


def test_events_tell_members_and_states() -> None:
    """In every recorded trace of Kafka's the events alone lead to what the coordinator knows."""
    heard: Counter[EventKind] = Counter()
    for name in SHAPES:
        heard += listen(name)
    assert {kind for kind in EventKind if not heard[kind]} == set()


def story(harness: Harness) -> Story:
    """What has been told since the last look, without ids of nobody."""
    told = [(str(one.kind), one.member_id, one.reason) for one in harness.events]
    harness.events.clear()
    return told


def test_the_story_of_a_classic_group() -> None:
    """Why each state was left, who leads, what was voted."""
    harness = Harness()
    token = harness.send(join(protocols=(*RANGE, JoinGroupProtocol("sticky", b""))))
    joined = harness.replies[token]
    one = joined.member_id
    assert story(harness) == [
        ("group created", None, "a member joined"),
        ("member added", one, "joined"),
        ("leader elected", one, "the first to join"),
        ("state changed", None, f"{one} joined"),
        ("protocol chosen", None, "range"),
        ("state changed", None, "generation 1"),
    ]
    harness.send(sync(joined))
    assert story(harness) == [
        ("assignment stored", one, ""),
        ("state changed", None, "the leader synced"),
    ]
    harness.send(leave(one))
    told = story(harness)
    assert told[0] == ("member removed", one, "left")
    assert [kind for kind, _, _ in told[1:]] == ["state changed", "state changed"]


def test_votes_are_told() -> None:
    """The detail of `protocol chosen` is every candidate with its votes."""
    harness = Harness()
    offers = (JoinGroupProtocol("sticky", b""), JoinGroupProtocol("range", b""))
    stable_group(harness, 2, protocols=offers)
    chosen = [one for one in harness.events if one.kind is EventKind.PROTOCOL_CHOSEN]
    assert chosen[-1].detail == (("sticky", 2),)
