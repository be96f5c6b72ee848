"""Strategies of one's own whose members remember what they were given."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    LastAssignment,
    MemberSubscription,
    TopicPartitions,
    WithUserData,
)
from kgroups.assignors.subscriptions import assignment_bytes, last_assignment
from kgroups.assignors.user.user_defined import GuardedAssignor, load_assignor, with_user_data
from kgroups.core.coordinator.client.classic.states import ClientState
from kgroups.core.input_files.document import parse_document
from kgroups.core.planning.changes.kinds import SetPartitions
from kgroups.core.planning.plan import plan_group
from kgroups.core.planning.scenario import parse_scenario
from tests.support.coordinator.classic_client_world import World

HERE = "tests.assignors.user.test_memory"


class Keeps:
    """Members keep what they had; the rest goes to the first. It says how often one was given."""

    name = "keeps"
    waives = frozenset({"balanced"})

    def __init__(self) -> None:
        self.last: LastAssignment | None = None

    def on_assignment(self, last: LastAssignment) -> None:
        """Take note."""
        self.last = last

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:
        """What it has, and how often it was given something."""
        if self.last is None:
            return None
        rounds = json.loads(self.last.user_data or b"0")
        return json.dumps({"rounds": rounds, "has": [*self.last.partitions]}).encode()

    def assign(self, request: AssignmentRequest) -> WithUserData:
        """Who says that it has a partition, has it."""
        free = {
            (name, n) for name, topic in request.topics.items() for n in range(topic.partitions)
        }
        plan: dict[str, dict[str, list[int]]] = {}
        rounds = {}
        for member in sorted(request.members, key=lambda member: member.member_id):
            said = json.loads(member.user_data or b'{"rounds": 0, "has": []}')
            rounds[member.member_id] = json.dumps(said["rounds"] + 1).encode()
            held = [(topic, number) for topic, number in said["has"] if (topic, number) in free]
            free -= {*held}
            plan[member.member_id] = {"t": [number for _, number in held]}
        first = min(plan)
        plan[first]["t"] += sorted(number for _, number in free)
        return WithUserData(plan, rounds)


class Fails(Keeps):
    """One whose memory does not work."""

    name = "fails"

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:
        """Nothing of the kind."""
        raise ValueError("lost it")


class Speaks(Keeps):
    """One that gives text."""

    name = "speaks"

    def subscription_user_data(self, topics: Sequence[str]) -> Any:
        """No bytes."""
        return "text"


MEMBERS = [MemberSubscription("a", ("t",)), MemberSubscription("b", ("t",))]
TOPICS: Mapping[str, TopicPartitions] = {"t": TopicPartitions(3)}


def test_from_one_round_to_the_next() -> None:
    """Bytes of the leader go to the member, and those of the member to the next leader."""
    strategy = load_assignor(f"{HERE}:Keeps")
    assert isinstance(strategy, GuardedAssignor)
    first = strategy.assign(AssignmentRequest(MEMBERS[1:], TOPICS))
    last = last_assignment(assignment_bytes(first, "b"), 4)
    assert last == LastAssignment([("t", 0), ("t", 1), ("t", 2)], 4, b"1")
    said = strategy.subscription_user_data(["t"], last)
    assert json.loads(said or b"") == {"rounds": 1, "has": [["t", 0], ["t", 1], ["t", 2]]}
    assert strategy.subscription_user_data(["t"], None) is None


def test_a_dry_run_asks_every_member() -> None:
    """A new object each: what one was given does not show in what another one says."""
    owning = MemberSubscription("b", ("t",), owned=[("t", (1,))], generation=7)
    request = AssignmentRequest([MEMBERS[0], owning], TOPICS)
    told = with_user_data(load_assignor(f"{HERE}:Keeps"), request)
    assert [member.user_data for member in told.members] == [
        None,
        b'{"rounds": 0, "has": [["t", 1]]}',
    ]


@pytest.mark.parametrize(
    ("strategy", "said"),
    [(Fails(), "`fails` raised ValueError: lost it"), (Speaks(), "data that are str, not bytes")],
)
def test_memory_that_fails(strategy: Any, said: str) -> None:
    """The error names the strategy; `plan` shows it, and a member of a group gives up."""
    guarded = GuardedAssignor(strategy)
    with pytest.raises(AssignorError, match=said):
        guarded.subscription_user_data(["t"], None)
    with pytest.raises(AssignorError, match=said):
        with_user_data(guarded, AssignmentRequest(MEMBERS, TOPICS))


class Wrong(Keeps):
    """A leader that gives what it was made with."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        super().__init__()
        self.answer = answer

    def assign(self, request: AssignmentRequest) -> WithUserData:
        """No partitions, and these bytes."""
        return WithUserData({}, self.answer)


@pytest.mark.parametrize("answer", [{"a": "text"}, {"nobody": b""}])
def test_user_data_that_are_none(answer: Mapping[str, Any]) -> None:
    """A leader gives bytes, to members that there are."""
    with pytest.raises(AssignorError, match=r"not bytes|unknown member"):
        GuardedAssignor(Wrong(answer)).assign(AssignmentRequest(MEMBERS, TOPICS))


def test_a_plan_uses_it() -> None:
    """Without their memory all would go to the first member."""
    text = f"""
topics: {{t: 4}}
groups:
  g:
    assignor: {HERE}:Keeps
    members:
      a: {{topics: [t], owned: {{t: [0]}}}}
      b: {{topics: [t], owned: {{t: [1, 2, 3]}}}}
"""
    scenario = parse_scenario(parse_document(text, "s.yaml", "yaml"))
    (group,) = scenario.snapshot.groups
    plan = plan_group(scenario.snapshot, group, [SetPartitions("t", 5)])
    assert {one.member_id: dict(one.assignment) for one in plan.members} == {
        "a": {"t": (0, 4)},
        "b": {"t": (1, 2, 3)},
    }


def test_members_of_a_group_use_it() -> None:
    """A group of two on the coordinator: who came first keeps all, and is told how often."""
    world = World(seed=3, t=4)
    old = world.start("z", f"{HERE}:Keeps")
    world.run(20_000)
    new = world.start("a", f"{HERE}:Keeps")
    world.run(20_000)
    assert (len(old.client.owned), len(new.client.owned)) == (4, 0)
    assert last_assignment(old.client.last_bytes).user_data == b"2"
    failing = world.start("f", f"{HERE}:Fails")
    world.run(20_000)
    assert failing.client.state is ClientState.FAILED
