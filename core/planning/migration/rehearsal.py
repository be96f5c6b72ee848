"""A group on a coordinator of its own, in virtual time: what members that go and come do to it.

The coordinator is the one that stands in for a broker elsewhere: it converts a classic group when
the first KIP-848 member heartbeats into it, keeps classic members in it, and turns it back when the
last KIP-848 member goes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final
from uuid import UUID

from kgroups.assignors.order.java_order import grown_capacity
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.default_ports import coordinator_ports
from kgroups.core.coordinator.effects import Reply
from kgroups.core.coordinator.kip848.messages import ConsumerGroupDescribeRequest
from kgroups.core.coordinator.ports import AssignableMember, Ports, ServerAssign
from kgroups.core.coordinator.request import Request
from kgroups.core.planning.leaders.libraries import RANGE
from kgroups.core.planning.migration.speakers import ClassicSpeaker, Kip848Speaker, Speaker
from kgroups.core.planning.migration.stored_group import (
    classic_records,
    kip848_records,
    topology_of,
)
from kgroups.core.planning.outcomes.ids import bucket
from kgroups.core.snapshot import Group, Member, MemberProtocol, Topic
from kgroups.core.uuids import uuid_from

START_MS: Final = 1_000_000_000
ROUND_MS: Final = 3_000
MAX_ROUNDS: Final = 60
DESCRIBE_VERSION: Final = 1

MEMBER_PROTOCOLS: Final[Mapping[int, MemberProtocol]] = {0: "classic", 1: "consumer"}


@dataclass(frozen=True, slots=True)
class Terms:
    """Assignors of a group on its way, which a snapshot does not show.

    Args:
        strategy: assignor of its classic members.
        asked: member id to the server-side assignor that a KIP-848 member asks for.
    """

    strategy: str
    asked: Mapping[str, str | None] = field(default_factory=dict)


def terms_of(group: Group, protocol: MemberProtocol, assignor: str | None) -> Terms:
    """The assignors that members use before their group moves.

    Args:
        assignor: what the members use then; None: not said.
    """
    if protocol == "classic":
        strategy = assignor or RANGE
    else:
        strategy = (group.assignor if group.type == "classic" else None) or RANGE
    asked = {
        member.member_id: group.assignor
        for member in group.members or ()
        if group.type == "consumer" and member.member_protocol == "consumer"
    }
    return Terms(strategy, asked)


@dataclass(frozen=True, slots=True)
class Settled:
    """A group that has come to rest.

    Args:
        rebalances: whether it is a classic group again, in which a rebalance has begun.
        rests: False if it was still moving when the patience was over.
    """

    group: Group
    rebalances: bool = False
    rests: bool = True


class Rehearsal:
    """One group, its coordinator and its members.

    Args:
        group: as it is; settled, or on its way to its target.
        coming: members that will join.
        places: member id to its place in its bucket of the assignor's table; those that are not
            named follow each other as this coordinator's own table says.
    """

    def __init__(
        self,
        topics: Mapping[str, Topic],
        group: Group,
        terms: Terms,
        config: CoordinatorConfig,
        coming: Sequence[Member] = (),
        places: Mapping[str, int] | None = None,
    ) -> None:
        self._group, self._terms = group, terms
        self._topology = topology_of(topics, group, coming)
        self._now_ms, self._tokens = START_MS, count()
        self._new_ids: list[UUID] = []
        ports = _ports(places or {})
        # Brokers may have assignors of their own: whoever is asked for one of them was refused.
        served = tuple(name for name in config.consumer_assignors if name in ports.assignors)
        self._coordinator = Coordinator(
            # It has one group: loading it need not go through 50 partitions of the log.
            replace(
                config,
                consumer_assignors=served or tuple(ports.assignors),
                offsets_partitions=1,
            ),
            self._topology,
            self._new_ids.pop,
            now_ms=START_MS,
            ports=ports,
        )
        records = (
            kip848_records(group, self._topology, terms.strategy, terms.asked)
            if group.type == "consumer"
            else classic_records(group)
        )
        self._coordinator.reload(START_MS, records)
        self._speakers: list[Speaker] = [self._present(member) for member in group.members or ()]

    def leave(self, member_id: str) -> None:
        """A member goes; a static one will be back."""
        speaker = next(speaker for speaker in self._speakers if speaker.member_id == member_id)
        self._speakers.remove(speaker)
        if isinstance(speaker, Kip848Speaker) or speaker.facts.instance_id is None:
            speaker.leave(self._ask)

    def join_kip848(self, facts: Member, asks_for: str | None) -> None:
        """A member comes by KIP-848; a static one in the place of its former life, which is over.

        Args:
            facts: with the id that it has made for itself.
        Raises:
            Refused: the coordinator does not let it in.
        """
        if facts.instance_id is not None:
            self._speakers = [s for s in self._speakers if s.facts.instance_id != facts.instance_id]
        speaker = Kip848Speaker(facts, self._group.group, asks_for=asks_for)
        speaker.beat(self._ask, self._topology)
        self._speakers.append(speaker)

    def join_classic(self, facts: Member) -> None:
        """A member comes by the classic protocol to a consumer group.

        Args:
            facts: with the id that the coordinator will draw for it.
        Raises:
            Refused: the coordinator does not let it in.
        """
        static = facts.instance_id is not None
        if static:
            self._new_ids.append(uuid_from(facts.member_id))
        name = "" if static else facts.member_id
        speaker = ClassicSpeaker(facts, self._group.group, self._terms.strategy, name)
        speaker.beat(self._ask, self._topology)
        self._speakers.append(speaker)

    def settle(self) -> Settled:
        """Let time pass until nothing moves any more, or the group is classic again."""
        for _ in range(MAX_ROUNDS):
            kind, state = self._coordinator.group_states()[self._group.group]
            if kind == "classic":
                return Settled(self._as_classic(), rebalances=state != "Stable")
            if self._is_at_rest(state):
                return Settled(self._described())
            self._now_ms += ROUND_MS
            self._coordinator.advance(self._now_ms)
            self._coordinator.take()
            for speaker in list(self._speakers):
                speaker.beat(self._ask, self._topology)
        return Settled(self._described(), rests=False)

    def _is_at_rest(self, state: str) -> bool:
        if state not in ("Stable", "Empty"):
            return False
        return all(
            not isinstance(speaker, ClassicSpeaker) or speaker.synced for speaker in self._speakers
        )

    def _present(self, facts: Member) -> Speaker:
        """A member that is there already."""
        group = self._group
        held = {topic: tuple(numbers) for topic, numbers in (facts.assignment or {}).items()}
        epoch = group.group_epoch if facts.member_epoch is None else facts.member_epoch
        if facts.member_protocol == "consumer" and group.type == "consumer":
            return Kip848Speaker(facts, group.group, max(epoch or 1, 1), held)
        if group.type == "classic":
            epoch = next(snapshot.epoch for snapshot in self._coordinator.snapshot())
        return ClassicSpeaker(
            facts, group.group, self._terms.strategy, facts.member_id, max(epoch or 1, 1), held
        )

    def _ask(self, request: Request) -> Any:
        """The answer to a request; None if it was parked."""
        token = next(self._tokens)
        self._coordinator.submit(self._now_ms, token, request)
        for effect in self._coordinator.take():
            if isinstance(effect, Reply) and effect.token == token:
                return effect.response
        return None

    def _described(self) -> Group:
        """The consumer group as it is now."""
        request = ConsumerGroupDescribeRequest(
            version=DESCRIBE_VERSION, group_ids=(self._group.group,)
        )
        (described,) = self._ask(request).groups
        speakers = {speaker.member_id: speaker for speaker in self._speakers}
        members = []
        for member in described.members:
            speaker = speakers[member.member_id]
            protocol = MEMBER_PROTOCOLS[member.member_type]
            members.append(
                replace(
                    speaker.facts,
                    member_id=member.member_id,
                    member_protocol=protocol,
                    member_epoch=member.member_epoch,
                    assignment=dict(speaker.owned),
                    target_assignment={
                        topic.topic_name: tuple(topic.partitions)
                        for topic in member.target_assignment
                        if topic.partitions
                    },
                )
            )
        return replace(
            self._group,
            type="consumer",
            state=described.group_state,
            assignor=described.assignor_name,
            group_epoch=described.group_epoch,
            target_epoch=described.assignment_epoch,
            leader=None,
            members=tuple(members),
        )

    def _as_classic(self) -> Group:
        """The group after a downgrade, before its members have joined again."""
        (snapshot,) = self._coordinator.snapshot()
        speakers = {speaker.member_id: speaker for speaker in self._speakers}
        members = tuple(
            replace(
                speakers[member.member_id].facts,
                member_id=member.member_id,
                member_protocol="classic",
                member_epoch=None,
                assignment=dict(speakers[member.member_id].owned),
                target_assignment=None,
            )
            for member in snapshot.members
        )
        return replace(
            self._group,
            type="classic",
            state=snapshot.state,
            assignor=snapshot.protocol,
            group_epoch=None,
            target_epoch=None,
            leader=snapshot.leader,
            members=members,
        )


def _ports(places: Mapping[str, int]) -> Ports:
    """Ports of a coordinator whose assignors meet members in these places, and ids are given."""

    def with_places(assign: ServerAssign) -> ServerAssign:
        return lambda spec: assign(replace(spec, members=_placed(spec.members, places)))

    ports = replace(coordinator_ports(), draw_id=lambda new_id, _: new_id())
    if not places:
        return ports
    assignors = {name: with_places(assign) for name, assign in ports.assignors.items()}
    return replace(ports, assignors=assignors)


def _placed(
    members: Sequence[AssignableMember], places: Mapping[str, int]
) -> list[AssignableMember]:
    """Members in the order of the table, these in these places of their buckets."""
    capacity = grown_capacity(len(members))
    buckets: dict[int, list[AssignableMember]] = {}
    # Those with a place come after the others, in the order of the places, and go where they say.
    for member in sorted(members, key=lambda m: places.get(m.member_id, -1)):
        held = buckets.setdefault(bucket(member.member_id, capacity), [])
        held.insert(places.get(member.member_id, len(held)), member)
    return [member for _, held in sorted(buckets.items()) for member in held]
