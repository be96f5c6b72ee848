"""A group taken to the other protocol member by member, the coordinator doing the conversion.

Each member in turn leaves and comes back by the other protocol; a static one is replaced by its
next life at once. The group settles after every step. While it is a classic group its leader
assigns, as in any other plan; from the first KIP-848 member to the last one, the coordinator does.

Source: KIP-848 (migration); GroupMetadataManager.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.releases import Release
from kgroups.core.errors import RefusedError
from kgroups.core.planning.changes.kinds import AddMembers, RemoveMember
from kgroups.core.planning.confidence import Word
from kgroups.core.planning.deploys.rolling import members_in_order
from kgroups.core.planning.deploys.walk import Event, Walk
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.libraries import SPEAKERS
from kgroups.core.planning.leaders.strategies import chosen_assignor, server_strategy
from kgroups.core.planning.migration.blockers import SPEAK_KIP848
from kgroups.core.planning.migration.broker_rules import BrokerRules, check_assignor, guesses_of
from kgroups.core.planning.migration.id_classes import NO_CHOICE, id_classes
from kgroups.core.planning.migration.rehearsal import Rehearsal, Settled, Terms, terms_of
from kgroups.core.planning.migration.speakers import Refused
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.outcomes.ids import assumed_id
from kgroups.core.planning.outcomes.newcomer_ids import Ids
from kgroups.core.planning.outcomes.visible_order import visible_orders
from kgroups.core.planning.plan import Stage
from kgroups.core.planning.reasons import (
    COORDINATOR,
    EARLIER_IDS,
    FOLLOWS,
    IDS_DECIDE,
    MORE_ORDERS,
)
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.snapshot import Member, MemberProtocol

# What happens at one step; given the ids that members are taken to have.
Action = Callable[[Rehearsal, Mapping[str, str]], None]


@dataclass(frozen=True, slots=True)
class _Way:
    """One way in which a step can end, with the ids for which it does."""

    settled: Settled
    ids: Mapping[str, str]
    weight: float
    owners: Hashable


@dataclass(slots=True)
class Roll:
    """A group on its way from one protocol to the other.

    Args:
        walk: the group, and what happened to it; taken on with every step.
        assignor: to classic: what the members use then; to consumer: the server-side assignor that
            they ask for; None: not said.
        guesses: what had to be taken for granted, a clause each.
        other_releases: that the brokers may be of, and that would assign differently.
    """

    walk: Walk
    protocol: MemberProtocol
    rules: BrokerRules
    assignor: str | None = None
    guesses: list[str] = field(default_factory=list)
    other_releases: set[Release] = field(default_factory=set)
    terms: Terms = field(init=False)
    ids_are_open: bool = field(init=False)
    readers: tuple[Member, ...] = field(init=False)

    def __post_init__(self) -> None:
        group = self.walk.group
        self.readers = group.members or ()  # also what only one of them reads
        # Ids of members that came back, nothing of which has been decided by chance yet.
        self.ids_are_open = not self.walk.assumed
        check_assignor(self.assignor, self.protocol, self.rules)
        self.terms = terms_of(group, self.protocol, self.assignor)
        topics = self.walk.snapshot.topics
        self.guesses += guesses_of(group, topics, self.protocol, self.assignor, self.rules)

    def go(self) -> None:
        """Take every member over.

        Raises:
            KgroupsError: an assignor failed.
        """
        group = self.walk.group
        waiting = [
            member.member_id
            for member in members_in_order(group, None)
            if member.member_protocol != self.protocol
        ]
        for member_id in waiting:
            self._move(next(m for m in self.walk.group.members or () if m.member_id == member_id))
        self._say_what_follows()
        if self.other_releases:
            named = " and ".join(map(str, sorted(self.other_releases)))
            self.guesses.append(
                f"Kafka {self.rules.config.release} is assumed: {named} would assign differently"
            )

    def _say_what_follows(self) -> None:
        """A step that starts from one that may come out otherwise is not certain either."""
        stages, certain = self.walk.stages, True
        for number, stage in enumerate(stages):
            if not certain and stage.confidence in ("exact", "outcomes"):
                stages[number] = replace(stage, confidence="likely", confidence_reason=FOLLOWS)
            certain = certain and stage.confidence == "exact"

    # ------------------------------------------------------------------ steps

    def _move(self, member: Member) -> None:
        """A member goes and comes back by the other protocol; a static one in one step."""
        walk, name, static = self.walk, self._shown(member), member.instance_id is not None

        def leave(play: Rehearsal, ids: Mapping[str, str]) -> None:
            play.leave(ids.get(member.member_id, member.member_id))

        if not static and walk.group.type == "classic":
            walk.step(Event(f"`{name}` leaves", (RemoveMember(member.member_id),)))
        elif not static:
            self._step(f"`{name}` leaves", leave, None, name)
        if self.protocol == "classic" and not (
            walk.group.type == "consumer" and walk.group.members
        ):
            self._follow_others(member, name)
            return
        converts = walk.group.type == "classic" and bool(walk.group.members)
        after = "; the coordinator converts the group" if converts else ""
        comes = self._coming(member)

        def come(play: Rehearsal, ids: Mapping[str, str]) -> None:
            if self.protocol == "consumer":
                play.join_kip848(_renamed(comes, ids), self.assignor)
                return
            if static:
                leave(play, ids)
            play.join_classic(_renamed(comes, ids))

        verb = "restarts" if static else "rejoins"
        self._step(f"`{name}` {verb} with the {self.protocol} protocol{after}", come, comes, name)

    def _follow_others(self, member: Member, name: str) -> None:
        """The group is classic again, and the last member joins it as any other."""
        walk = self.walk
        walk.group = replace(
            walk.group, type="classic", assignor=self.terms.strategy, group_epoch=None
        )
        joins = AddMembers(
            client_id=member.client_id,
            rack=member.rack or None,
            topics=member.subscription or (),
            library=walk.known.libraries.get(member.member_id),
        )
        walk.step(Event(f"`{name}` rejoins with the classic protocol", (joins,), back=name))

    def _coming(self, member: Member) -> Member:
        """The next life of a member, with an id that it may draw."""
        number = 1 + len(self.walk.stages)
        return replace(
            member,
            member_id=assumed_id(self.walk.group.group, None, number),
            member_protocol=self.protocol,
            member_epoch=None,
            assignment={},
            target_assignment=None,
            subscription_version=None,
            user_data=None,
            assignment_version=None,
            assignment_user_data=None,
        )

    # ------------------------------------------------------------------ one step

    def _step(self, text: str, action: Action, comes: Member | None, name: str) -> None:
        """Let something happen on the coordinator, with all ids that matter."""
        walk = self.walk
        before = walk.shares()
        unknown: dict[str, str | None] = {}
        if self.ids_are_open:
            ids = {member.member_id for member in walk.group.members or ()}
            unknown = {m: prefix for m, prefix in walk.assumed.items() if m in ids}
        if comes is not None:
            unknown[comes.member_id] = None
        try:
            ways, complete = self._ways(action, unknown, self.rules.config)
        except Refused as refusal:
            raise RefusedError(
                f"the coordinator refuses `{name}`: {refusal}",
                code=refusal.error.name,
            ) from refusal
        self._compare_releases(action, unknown, ways)
        shown = ways[0]
        self._take(shown, comes, name)
        word, reason = self._confidence(ways, complete=complete)
        if shown.settled.group.type == "classic" and shown.settled.rebalances:
            self._turned_back(text)
            return
        static = comes is not None and comes.instance_id is not None
        moves = walk.moves_from(before, "consumer")
        walk.stages.append(Stage(text, not static, walk.shares(), moves, None, word, reason))
        if word != "exact":
            self.ids_are_open = False
            walk.doubts.append(f"{text}: {word}, {reason}")

    def _compare_releases(
        self, action: Action, unknown: Mapping[str, str | None], ways: Sequence[_Way]
    ) -> None:
        """Note the releases that the brokers may be of as well, and where a step ends otherwise."""
        config = self.rules.config
        for release in {*self.rules.releases} - {config.release} - self.other_releases:
            try:
                others, _ = self._ways(action, unknown, replace(config, release=release))
            except Refused:
                others = []
            if {way.owners for way in others} != {way.owners for way in ways}:
                self.other_releases.add(release)

    def _ways(
        self, action: Action, unknown: Mapping[str, str | None], config: CoordinatorConfig
    ) -> tuple[list[_Way], bool]:
        """The ways in which a step can end, the likeliest first, and whether these are all.

        Raises:
            Refused: the coordinator answers with an error.
        """
        probe = self._played(action, {}, config)
        classes, complete = self._classes(probe, unknown)
        ways: dict[Hashable, _Way] = {}
        for id_class in classes:
            settled = self._played(action, id_class.ids, config, id_class.places)
            back = {own: name for name, own in id_class.ids.items()}
            shares = {
                back.get(m.member_id, m.member_id): m.assignment or {}
                for m in settled.group.members or ()
            }
            key = ownership(shares)
            earlier = ways.get(key)
            weight = id_class.weight + (earlier.weight if earlier else 0.0)
            first = (earlier.settled, earlier.ids) if earlier else (settled, id_class.ids)
            ways[key] = _Way(*first, weight, key)
        ranked = sorted(ways.values(), key=lambda way: -way.weight)
        complete = complete and all(way.settled.rests for way in ranked)
        return ranked, complete

    def _classes(
        self, probe: Settled, unknown: Mapping[str, str | None]
    ) -> tuple[Sequence[Ids], bool]:
        """The ids that the assignor in force can tell apart."""
        group = probe.group
        if not unknown or group.type == "classic":
            return NO_CHOICE
        members = group.members or ()
        seats = tuple(Seat(member, member.subscription or ()) for member in members)
        roster = Roster(Evidence(group), seats, (), self.walk.snapshot.topics)
        visible = visible_orders(roster, server_strategy(group, chosen_assignor(group)))
        ids_known = [m.member_id for m in members if m.member_id not in unknown]
        return id_classes(f"{group.group}/{len(self.walk.stages)}", ids_known, unknown, visible)

    def _played(
        self,
        action: Action,
        ids: Mapping[str, str],
        config: CoordinatorConfig,
        places: Mapping[str, int] | None = None,
    ) -> Settled:
        group = self.walk.group
        members = tuple(_renamed(member, ids) for member in group.members or ())
        asked = {ids.get(name, name): asks for name, asks in self.terms.asked.items()}
        play = Rehearsal(
            self.walk.snapshot.topics,
            replace(group, members=members),
            replace(self.terms, asked=asked),
            config,
            self.readers,
            places,
        )
        action(play, ids)
        return play.settle()

    def _take(self, way: _Way, comes: Member | None, name: str) -> None:
        """Go on from the way that a step ended."""
        walk, ids = self.walk, way.ids
        walk.names = {ids.get(own, own): shown for own, shown in walk.names.items()}
        walk.assumed = {ids.get(own, own): prefix for own, prefix in walk.assumed.items()}
        asked = {ids.get(own, own): asks for own, asks in self.terms.asked.items()}
        libraries = {ids.get(own, own): lib for own, lib in walk.known.libraries.items()}
        if comes is not None:
            own = ids.get(comes.member_id, comes.member_id)
            walk.names[own] = name
            walk.assumed[own] = None
            if self.protocol == "consumer":
                asked[own] = self.assignor
        walk.known = replace(walk.known, libraries=libraries, leaders=None)
        self.terms = replace(self.terms, asked=asked)
        walk.group = way.settled.group

    def _confidence(self, ways: list[_Way], *, complete: bool) -> tuple[Word, str]:
        if not complete:
            return "likely", MORE_ORDERS
        if not self.ids_are_open and len(self.walk.group.members or ()) > 1:
            return "likely", EARLIER_IDS
        if len(ways) == 1:
            return "exact", COORDINATOR
        return "outcomes", IDS_DECIDE

    def _turned_back(self, text: str) -> None:
        """The last KIP-848 member has gone: the classic members rebalance by themselves."""
        walk = self.walk
        members = {member.member_id for member in walk.group.members or ()}
        libraries = {k: v for k, v in walk.known.libraries.items() if k in members}
        leader = walk.group.leader or ""
        possible = libraries.get(leader)
        leaders = frozenset({possible}) if possible else _able(walk.group.assignor)
        walk.known = replace(walk.known, libraries=libraries, leaders={leader: leaders})
        walk.group = replace(walk.group, leader=None)
        walk.step(Event(f"{text}; the coordinator converts the group back, and it rebalances"))

    def _shown(self, member: Member) -> str:
        return self.walk.names.get(member.member_id, member.member_id)


def _renamed(member: Member, ids: Mapping[str, str]) -> Member:
    return replace(member, member_id=ids.get(member.member_id, member.member_id))


def _able(strategy: str | None) -> frozenset[str]:
    return frozenset(SPEAKERS.get(strategy or "", tuple(SPEAK_KIP848))) & SPEAK_KIP848.keys()
