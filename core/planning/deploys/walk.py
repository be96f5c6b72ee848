"""A group taken through one event after the other, each when it has settled from the one before.

After every event the group is taken as the plan of it says: with one of its outcomes, and with ids
for members that joined with which it comes out so.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace

from kgroups.assignors.other_clients.choices import Choices
from kgroups.core.planning.changes.kinds import Change
from kgroups.core.planning.confidence import Word
from kgroups.core.planning.leaders.evidence import NOTHING_KNOWN, Evidence, Known
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.planning.leaders.libraries import RACK_VERSION, shows_rack
from kgroups.core.planning.moves import (
    Assigned,
    Move,
    RebalanceProtocol,
    Shares,
    find_moves,
    ownership,
)
from kgroups.core.planning.outcomes.draws import ids_matter
from kgroups.core.planning.outcomes.ids import assumed_id, listing
from kgroups.core.planning.outcomes.outcome import Outcome
from kgroups.core.planning.plan import Plan, Stage, plan_group
from kgroups.core.planning.reasons import RECKONS, RESTARTED, UNKNOWN_IDS, UNKNOWN_RACKS
from kgroups.core.planning.roster import Seat
from kgroups.core.snapshot import ClusterSnapshot, Group, Member


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a deploy.

    Args:
        text: a clause.
        changes: what leads to a rebalance; empty if there is none.
        back: the member that comes back, where one does; its old id stands for it.
        restarted: id of a static member that restarts within its session: no rebalance.
        library: the client library that the member that joins or restarts has then, if another.
    """

    text: str
    changes: tuple[Change, ...] = ()
    back: str | None = None
    restarted: str | None = None
    library: str | None = None


@dataclass(slots=True)
class Walk:
    """A group on its way through a deploy.

    Args:
        group: as it is now; `start` is how it was.
        leader: client library of the leader of now; None: inferred.
        alike: whether all members have the library of that leader.
        names: id of a member that came back, or that joined, to the name that it goes by.
        doubts: why what happens is not certain.
        last: the plan of the last rebalance.
        assumed: ids that were assumed, with what they are known to begin with.
        choices: which outcome of each plan is followed.
        plans: those made on other walks, by the choices before them.
        weight: how likely its outcomes are together.
        guessed: whether what members read had to be guessed.
        length: how many events there are; 0 while that is not known.
    """

    snapshot: ClusterSnapshot
    group: Group
    assignor: str | None = None
    leader: str | None = None
    known: Known = NOTHING_KNOWN
    alike: bool = False
    names: dict[str, str] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    last: Plan | None = None
    assumed: dict[str, str | None] = field(default_factory=dict)
    choices: Choices = field(default_factory=Choices)
    plans: MutableMapping[tuple[int, ...], Plan] = field(default_factory=dict)
    weight: float = 1.0
    guessed: bool = False
    length: int = 0
    start: Group = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.group
        if self.leader is not None:  # it is one of the members, and may leave
            self.known = _known_of(self.group, self.leader, self.known, alike=self.alike)
            self.leader = None

    @property
    def evidence(self) -> Evidence:
        """Of the group as it is now."""
        return Evidence(self.group, self.known)

    def id_of(self, name: str) -> str:
        """The id that the member of this name has now."""
        return next((now for now, shown in self.names.items() if shown == name), name)

    def step(self, event: Event) -> None:
        """Let one event happen."""
        if event.library is not None and self._may_come_with_racks(event.library):
            self.doubts.append(UNKNOWN_RACKS)
        if event.restarted is not None:
            self._restart(event, event.restarted)
            return
        self._rebalance(event, self._plan(event.changes))

    def _may_come_with_racks(self, library: str) -> bool:
        """Whether members do not tell their racks now, and this library's would."""
        hide = any(
            member.subscription_version is not None and member.subscription_version < RACK_VERSION
            for member in self.group.members or ()
        )
        racks = {broker.rack for broker in self.snapshot.brokers}
        return hide and len(racks) > 1 and shows_rack(library, self.group.assignor)

    def _plan(self, changes: Sequence[Change]) -> Plan:
        """The plan of the next rebalance, made once for all walks that come this way."""
        place = (len(self.stages), *(taken for taken, _ in self.choices.made))
        plan = self.plans.get(place)
        if plan is None:
            plan = self.plans[place] = plan_group(
                self.snapshot, self.group, changes, self.assignor, self.leader, known=self.known
            )
        return plan

    def _rebalance(self, event: Event, plan: Plan, doubt: str | None = None) -> None:
        """Take the group through a rebalance.

        Args:
            doubt: why it may not come.
        """
        word, reason = plan.confidence, plan.confidence_reason
        if doubt is not None and word == "exact":
            word, reason = "outcomes", doubt
        if plan.roster is not None and ids_matter(plan.roster, plan.strategies, self.assumed):
            self.doubts.append(UNKNOWN_IDS)
            if word in ("exact", "outcomes"):
                word, reason = "likely", UNKNOWN_IDS
        before = self.shares()
        rebalances = self._move_on(plan, event)
        protocol = plan.rebalance_protocol or "eager"
        moves = self.moves_from(before, protocol)
        self.stages.append(
            Stage(event.text, rebalances, self.shares(), moves, plan.leader_client, word, reason)
        )
        self.last = plan
        self.guessed = self.guessed or bool(plan.roster and plan.roster.guesses)
        if plan.confidence not in ("exact", "outcomes", None) or plan.outcomes.failures:
            self.doubts.append(f"{event.text}: {plan.confidence}, {plan.confidence_reason}")

    def moves_from(self, before: Assigned, protocol: RebalanceProtocol) -> tuple[Move, ...]:
        """Partitions that do not stay where they were."""
        after = self.shares()
        moves = find_moves(before, after, protocol, before.keys() & after)
        return tuple(move for move in moves if move.kind != "kept")

    def shares(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """Who has what now, by the names that members go by."""
        return {
            self.names.get(member.member_id, member.member_id): dict(member.assignment or {})
            for member in self.group.members or ()
        }

    def _restart(self, event: Event, name: str) -> None:
        """A static member is back within its session, with another id: it gets what it had."""
        old = self.id_of(name)
        reckons = self._may_reckon(old, event.library)
        members = self.group.members or ()
        facts = next(member for member in members if member.member_id == old)
        prefix = facts.instance_id if facts.member_protocol == "classic" else None
        new = assumed_id(self.group.group, prefix, 1 + len(self.stages))
        renamed = replace(facts, member_id=new)
        self.group = replace(
            self.group,
            members=_listed(self.group, [renamed if m is facts else m for m in members], {new}),
            leader=new if self.group.leader == old else self.group.leader,
            led=(),
            leader_is_back=self.group.leader_is_back or self.group.leader == old,
        )
        self.names[new] = name
        libraries = {new if k == old else k: v for k, v in self.known.libraries.items()}
        if event.library is not None:
            libraries[new] = event.library
        leaders = self.known.leaders
        if leaders is not None and old in leaders:
            own = frozenset({event.library}) if event.library else leaders[old]
            leaders = {new if k == old else k: own if k == old else v for k, v in leaders.items()}
        self.known = replace(self.known, libraries=libraries, leaders=leaders)
        self.assumed[new] = prefix
        word: Word = "exact"
        reason = RESTARTED
        plan = self._plan(()) if reckons else None
        if plan is not None and not self._changes_nothing(plan):
            self.weight /= 2
            if self.choices.pick(range(2)):
                self._rebalance(event, plan, RECKONS)
                return
            word, reason = "outcomes", RECKONS
        self.stages.append(Stage(event.text, False, self.shares(), (), None, word, reason))

    def _may_reckon(self, member: str, library: str | None) -> bool:
        """Whether a static member that comes back is a franz-go leader.

        It is told to leave the assignment alone (KIP-814), computes one from what everybody said
        last, and makes the group rebalance where its own share in that is another one.

        Args:
            library: its new one; None: as before.
        Source: franz-go 1.22.2, groupConsumer.joinAndSync.
        """
        if self.group.type != "classic":
            return False
        leaders = infer_leader(self.evidence).leaders
        possible = leaders.get(member, frozenset())
        return "franz-go" in (possible if library is None or not possible else {library})

    def _changes_nothing(self, plan: Plan) -> bool:
        """Whether another rebalance would leave everything as it is, for certain."""
        now = {m.member_id: m.assignment or {} for m in self.group.members or ()}
        return plan.confidence == "exact" and plan.outcomes.ends == {ownership(now)}

    def _move_on(self, plan: Plan, event: Event) -> bool:
        """Take the group as the plan leaves it; says whether it rebalances on the way."""
        roster, outcome = plan.roster, self._followed(plan)
        if roster is None or outcome is None:
            self.group = replace(self.group, members=())
            return True
        ids = outcome.ids
        shares = outcome.settled.shares
        rebalances = bool(outcome.settled.steps)
        members = [_member_after(seat, ids, shares, roster.group.type) for seat in roster.seats]
        present = {member.member_id for member in members}
        libraries = {name: lib for name, lib in self.known.libraries.items() if name in present}
        joined: set[str] = set()
        for seat in roster.seats:
            if not seat.joins:
                continue
            name = seat.member.member_id
            own = ids.get(name, name)
            joined.add(own)
            self.names[own] = event.back or name
            if not seat.id_known:
                self.assumed[own] = seat.id_prefix
            if seat.library is not None:
                libraries[own] = seat.library
        self.known = replace(self.known, libraries=libraries, leaders=_leaders(plan, ids))
        self.snapshot = replace(self.snapshot, topics=dict(roster.topics))
        epoch = None if self.group.group_epoch is None else self.group.group_epoch + 1
        self.group = replace(
            self.group,
            members=_listed(self.group, members, joined),
            group_epoch=epoch,
            target_epoch=epoch,
            leader_is_back=self.group.leader_is_back and not rebalances,
            assignor=self.group.assignor or plan.assignor,
            state="Stable",
        )
        return rebalances

    def _followed(self, plan: Plan) -> Outcome | None:
        """The outcome that this walk takes: the one that the plan shows, or another."""
        shown = shown_outcome(plan)
        if shown is None:
            return None
        outcomes = [shown, *(outcome for outcome in plan.outcomes.each if outcome is not shown)]
        if len(self.stages) + 1 < self.length:  # what comes then may depend on the ids
            each_ids = [
                [
                    replace(outcome, ids=ids, weight=outcome.weight / (1 + len(outcome.more_ids)))
                    for ids in (outcome.ids, *outcome.more_ids)
                ]
                for outcome in outcomes
            ]
            outcomes = [*(ids[0] for ids in each_ids), *(o for ids in each_ids for o in ids[1:])]
        outcome = outcomes[self.choices.pick(range(len(outcomes)))]
        self.weight *= outcome.weight
        return outcome


def _known_of(group: Group, library: str, known: Known, *, alike: bool) -> Known:
    """The evidence on the members of a group whose leader has this library."""
    members = group.members or ()
    if alike:
        ids = [member.member_id for member in members]
        return replace(known, libraries=dict.fromkeys(ids, library))
    named = [member for member in members if member.member_id == group.leader]
    shown = Evidence(group).libraries
    able = [member for member in members if library in shown[member.member_id]]
    leaders = [member.member_id for member in named or able or members]
    libraries = dict.fromkeys(leaders if len(leaders) == 1 else (), library)
    return replace(known, libraries=libraries, leaders=dict.fromkeys(leaders, frozenset({library})))


def shown_outcome(plan: Plan) -> Outcome | None:
    """The outcome that a plan shows: the likeliest of the likeliest leader."""
    shown = ownership({member.member_id: member.assignment for member in plan.members})
    return next((o for o in plan.outcomes.each if ownership(o.settled.shares) == shown), None)


def _member_after(seat: Seat, ids: Mapping[str, str], shares: Shares, kind: str) -> Member:
    """A member as it is when the group has settled."""
    name = seat.member.member_id
    held = shares.get(name, {})
    subscription, regex = seat.topics, None
    if seat.pattern is not None and seat.pattern.dialect == "re2":
        # What a coordinator matches itself is not among the topics that a member names.
        is_new = seat.joins or seat.changed
        subscription = () if is_new else seat.member.subscription or ()
        regex = seat.sent_pattern
    return replace(
        seat.member,
        member_id=ids.get(name, name),
        subscription=subscription,
        subscription_regex=regex,
        assignment=held,
        target_assignment=held if kind == "consumer" else None,
    )


def _leaders(plan: Plan, ids: Mapping[str, str]) -> Mapping[str, frozenset[str]] | None:
    """Who may lead now: those who may have led, or one of those that joined."""
    if plan.leaders is None:
        return None
    if plan.leaders:
        return plan.leaders
    return {
        ids.get(member.member_id, member.member_id): frozenset(plan.leader_clients)
        for member in plan.members
    }


def _listed(group: Group, members: Sequence[Member], joined: set[str]) -> tuple[Member, ...]:
    """The members in the order in which the coordinator lists them."""
    by_id = {member.member_id: member for member in members}
    staying = [name for name in by_id if name not in joined]
    joining = [name for name in by_id if name in joined]
    return tuple(by_id[name] for name in listing(group, staying, joining))
