"""Predict, do it, wait, compare: one change of a live group after the other."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import settings_from_text
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    RemoveMember,
    SetPartitions,
)
from kgroups.core.planning.outcomes.outcome import Outcome
from kgroups.core.planning.plan import Plan, plan_group
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, TopicPartition
from tests.support.fidelity.java_members import JavaMembers
from tests.support.fidelity.real_groups import DrivenGroup, GroupSpec
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import admin_of, create_topics

Kind = Literal["join", "static join", "leave", "partitions", "new topic"]
Verdict = Literal["exact", "in the set", "missed"]
Owned = dict[str, frozenset[TopicPartition]]

SETTLE_S = 90.0


@dataclass(frozen=True)
class Step:
    """One change of a group: who or what, and how many partitions."""

    kind: Kind
    name: str
    count: int = 0


@dataclass(frozen=True)
class Result:
    """What was predicted and what came.

    Args:
        leader: the client library that the plan took for the leader's; None server side.
        confidence: of the plan, made before the change.
        outcomes: how many it named.
    """

    group: str
    library: str
    strategy: str
    kind: Kind
    members: int
    partitions: int
    confidence: str
    outcomes: int
    verdict: Verdict
    leader: str | None = None
    detail: str = ""


def random_steps(spec: GroupSpec, seed: int, count: int) -> list[Step]:
    """Changes that make sense one after the other for a group that starts with `a` and `b`."""
    dice = random.Random(f"{spec.name}/{seed}")
    members, topics, steps = ["a", "b"], {f"{spec.name}-t0": 5}, []
    fresh = iter("cdefghijklmnopqrstuvwxyz")
    script: list[Kind] = ["join", "partitions", "join", "new topic", "leave"]
    if spec.strategy in ("range", "roundrobin"):
        script.insert(2, "static join")
    if not spec.by_pattern:
        script.remove("new topic")
    if spec.is_raced:
        # Two members find it one after another; of more the plan names no complete set.
        script.insert(0, script.pop(script.index("new topic")))
    for number in range(count):
        kind = script[number] if number < len(script) else dice.choice(script)
        if kind == "leave" and len(members) < 2:
            kind = "join"
        if kind in ("join", "static join") and len(members) > 6:
            kind = "leave"
        if kind == "new topic" and spec.is_raced and len(members) > 2:
            kind = "partitions"
        match kind:
            case "join" | "static join":
                # In front of, among or behind the others, in the order of member ids.
                name = dice.choice("amz") + next(fresh) + str(number)
                members.append(name)
                steps.append(Step(kind, name))
            case "leave":
                steps.append(Step(kind, members.pop(dice.randrange(len(members)))))
            case "partitions":
                topic = dice.choice(sorted(topics))
                topics[topic] += dice.randint(1, 4)
                steps.append(Step(kind, topic, topics[topic]))
            case "new topic":
                topic = f"{spec.name}-t{len(topics)}"
                topics[topic] = dice.randint(1, 5)
                steps.append(Step(kind, topic, topics[topic]))
    return steps


def drive(
    bootstrap: str, spec: GroupSpec, steps: Sequence[Step], java: JavaMembers
) -> list[Result]:
    """The results of all steps of one group."""
    topics = {f"{spec.name}-t0": 5}
    create_topics(bootstrap, topics)
    settings = settings_from_text("", bootstrap)
    with (
        DrivenGroup(bootstrap, spec, topics, java) as driven,
        ClusterAdmin(settings, timeout_ms=20_000) as admin,
    ):
        for client_id in ("a", "b"):
            driven.join(client_id)
            settled(admin, driven)
        return [_one_change(bootstrap, admin, driven, step) for step in steps]


def _one_change(bootstrap: str, admin: ClusterAdmin, driven: DrivenGroup, step: Step) -> Result:
    before = settled(admin, driven)
    group = before.groups[0]
    plan = plan_group(before, group, [*driven.spec.said_pattern(), *_planned(driven, group, step)])
    _do(bootstrap, driven, step)
    after = settled(admin, driven)
    came = owned_by_client(after.groups[0])
    verdict, detail = _judge(plan, came)
    return Result(
        group=driven.spec.name,
        library=driven.spec.library,
        strategy=driven.spec.strategy,
        kind=step.kind,
        members=len(plan.members),
        partitions=plan.metrics.partitions,
        confidence=plan.confidence or "none",
        outcomes=len(plan.outcomes.each),
        verdict=verdict,
        leader=plan.leader_client,
        detail=detail,
    )


def _planned(driven: DrivenGroup, group: Group, step: Step) -> list[Change]:
    """The change, as it is said to a plan before it happens."""
    match step.kind:
        case "join":
            return [AddMembers(client_id=step.name)]
        case "static join":
            return [AddMembers(client_id=step.name, instance_id=_instance_id(step.name))]
        case "leave":
            members = group.members or ()
            return [
                RemoveMember(member.member_id)
                for member in members
                if member.client_id == step.name
            ]
        case "partitions":
            return [SetPartitions(step.name, step.count)]
        case "new topic":
            return [AddTopic(step.name, step.count)]


def _instance_id(client_id: str) -> str:
    """An instance id that does not sort as the client id does."""
    return f"static-{client_id[::-1]}"


def _do(bootstrap: str, driven: DrivenGroup, step: Step) -> None:
    """The change itself, with real consumers and on the real broker."""
    match step.kind:
        case "join":
            driven.join(step.name)
        case "static join":
            driven.join(step.name, _instance_id(step.name))
        case "leave":
            driven.leave(step.name)
        case "partitions":
            grow_topic(bootstrap, step.name, step.count)
            driven.topics[step.name] = step.count
        case "new topic":
            create_topics(bootstrap, {step.name: step.count})
            driven.topics[step.name] = step.count


def grow_topic(bootstrap: str, topic: str, count: int) -> None:
    """Give a topic more partitions and wait until the broker's metadata have them."""
    admin: AdminClient = admin_of(bootstrap)
    for future in admin.create_partitions([NewPartitions(topic, count)]).values():
        future.result(60)
    wait_until(
        lambda: len(admin.list_topics(timeout=60).topics[topic].partitions) == count,
        f"{topic} has {count} partitions",
    )


def settled(admin: ClusterAdmin, driven: DrivenGroup) -> ClusterSnapshot:
    """The group once it has come to rest: twice the same, complete, and so its members believe."""
    wanted = {(name, p) for name, count in driven.topics.items() for p in range(count)}
    seen: list[Owned] = []

    def at_rest() -> ClusterSnapshot | None:
        snapshot = admin.snapshot([driven.spec.name])
        found = _complete(snapshot, set(driven.client_ids), wanted, set(driven.topics))
        if found is None or found != driven.owned():
            seen.clear()
            return None
        seen.append(found)
        return snapshot if len(seen) > 2 and seen[-1] == seen[-3] else None

    found = wait_until(at_rest, f"{driven.spec.name} is at rest", timeout_s=SETTLE_S, pause_s=0.25)
    assert found is not None
    return found


def _complete(
    snapshot: ClusterSnapshot, client_ids: set[str], wanted: set[TopicPartition], topics: set[str]
) -> Owned | None:
    """Who owns what, or None while the group is not whole."""
    if not snapshot.groups or snapshot.groups[0].state != "Stable":
        return None
    group = snapshot.groups[0]
    members = group.members or ()
    if {member.client_id for member in members} != client_ids or len(members) != len(client_ids):
        return None
    if any(not _up_to_date(member, group, topics) for member in members):
        return None
    owned = owned_by_client(group)
    everything = [partition for held in owned.values() for partition in held]
    if len(everything) != len(wanted) or set(everything) != wanted:
        return None
    return owned


def _up_to_date(member: Member, group: Group, topics: set[str]) -> bool:
    """Whether a member knows all topics, and has what the coordinator wants it to have."""
    if group.type == "consumer":
        return (
            member.member_epoch == group.group_epoch == group.target_epoch
            and member.assignment == member.target_assignment
        )
    return set(member.subscription or ()) == topics


def owned_by_client(group: Group) -> Owned:
    """Client id to partitions, as the broker shows them."""
    return {
        member.client_id: frozenset(
            (topic, number)
            for topic, numbers in (member.assignment or {}).items()
            for number in numbers
        )
        for member in group.members or ()
    }


def _judge(plan: Plan, came: Owned) -> tuple[Verdict, str]:
    """Whether the plan kept its word."""
    clients = {member.member_id: member.client_id for member in plan.members}
    shown = {
        member.client_id: frozenset(_pairs(member.assignment.items())) for member in plan.members
    }
    if plan.confidence == "exact":
        if shown == came:
            return "exact", ""
    elif any(_as_owned(outcome, clients) == came for outcome in plan.outcomes.each):
        return "in the set", ""
    wrong = {
        client: (sorted(shown.get(client, ())), sorted(held))
        for client, held in came.items()
        if shown.get(client) != held
    }
    return "missed", f"{plan.leader_client}: predicted and came: {wrong}"


def _as_owned(outcome: Outcome, clients: dict[str, str]) -> Owned:
    return {
        clients[member]: frozenset(_pairs(held.items()))
        for member, held in outcome.settled.shares.items()
    }


def _pairs(topics: object) -> Iterator[TopicPartition]:
    for topic, numbers in topics:  # type: ignore[attr-defined]
        for number in numbers:
            yield topic, number
