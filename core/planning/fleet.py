"""The same changes made to every group of a cluster: who is in each group then, and the topics.

A change that is about members makes sense only in groups that have them: a member or host that one
group does not know is left alone there, and an error only if no group knows it. Groups without
members stay as they are. What cannot be done in one group is that group's error.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgroups.core.errors import ItemError, KgroupsError, NotFoundError
from kgroups.core.planning.changes.apply import next_roster
from kgroups.core.planning.changes.kinds import AddTopic, Change, SetPartitions
from kgroups.core.planning.outcomes.ids import assumed_id, listing
from kgroups.core.planning.roster import Roster
from kgroups.core.snapshot import ClusterSnapshot, Group

# Codes of what one group may lack without anything being wrong.
ELSEWHERE = frozenset({"UNKNOWN_MEMBER_ID", "UNKNOWN_HOST"})


@dataclass(frozen=True, slots=True)
class Fleet:
    """A cluster after the changes.

    Args:
        snapshot: its groups and topics; members that join go by a name that stands for their id.
        assumed_ids: group and such a name -> an id drawn for it, always the same. One group's own
            plan tries all orders of ids; a fleet is shown with these.
        errors: groups in which the changes could not be made; they are left as they were.
        untouched: names of groups without members.
    """

    snapshot: ClusterSnapshot
    assumed_ids: Mapping[tuple[str, str], str]
    errors: tuple[ItemError, ...] = ()
    untouched: tuple[str, ...] = ()


def next_fleet(
    snapshot: ClusterSnapshot, changes_for: Callable[[Group], Sequence[Change]]
) -> Fleet:
    """Every group of a cluster after the changes.

    Args:
        changes_for: the changes as they are said of a group; those of topics are the cluster's.
    Raises:
        NotFoundError: a topic that is not there, or a member or host that no group knows.
        UsageError: a change of topics that cannot be made.
    """
    nobody = Group("", "classic", "Empty", "consumer", members=())
    of_topics = [c for c in changes_for(nobody) if isinstance(c, AddTopic | SetPartitions)]
    topics = dict(next_roster(snapshot, nobody, of_topics).topics)
    changed = replace(snapshot, topics=topics)
    groups: list[Group] = []
    assumed: dict[tuple[str, str], str] = {}
    errors: list[ItemError] = []
    untouched: list[str] = []
    lacking = _Lacking()
    for group in snapshot.groups:
        if not group.members:
            untouched += [group.group] if group.members is not None else []
            groups.append(group)
            continue
        wanted = [e for e in changes_for(group) if not isinstance(e, AddTopic | SetPartitions)]
        try:
            roster = lacking.roster(changed, group, wanted)
        except KgroupsError as error:
            errors.append(ItemError.of(group.group, error))
            groups.append(group)
            continue
        groups.append(_next_group(roster, assumed))
    lacking.check()
    return Fleet(replace(changed, groups=tuple(groups)), assumed, tuple(errors), tuple(untouched))


class _Lacking:
    """Changes that some group could not make because it lacks what they name."""

    def __init__(self) -> None:
        self._made: set[int] = set()
        self._lacked: dict[int, NotFoundError] = {}

    def roster(self, snapshot: ClusterSnapshot, group: Group, changes: Sequence[Change]) -> Roster:
        """The group after the changes that make sense in it."""
        kept: list[Change] = []
        roster = next_roster(snapshot, group, ())
        for place, change in enumerate(changes):
            try:
                roster = next_roster(snapshot, group, [*kept, change])
            except NotFoundError as error:
                if error.code not in ELSEWHERE:
                    raise
                self._lacked.setdefault(place, error)
                continue
            self._made.add(place)
            kept.append(change)
        return roster

    def check(self) -> None:
        """Raise what was found nowhere."""
        nowhere = [error for place, error in self._lacked.items() if place not in self._made]
        if nowhere:
            raise NotFoundError(
                f"{nowhere[0].message}, and neither does any other group",
                hint="`kgroups describe --all-groups --members` lists members and hosts",
                code=nowhere[0].code,
            )


def _next_group(roster: Roster, assumed: dict[tuple[str, str], str]) -> Group:
    """The group with its members after the changes, in the order of the coordinator."""
    group = roster.group
    ids = {
        seat.member.member_id: assumed_id(group.group, seat.id_prefix, number)
        for number, seat in enumerate(roster.seats)
        if seat.joins and not seat.id_known
    }
    assumed |= {(group.group, name): drawn for name, drawn in ids.items()}
    seats = {ids.get(seat.member.member_id, seat.member.member_id): seat for seat in roster.seats}
    order = listing(
        group,
        [name for name, seat in seats.items() if not seat.joins],
        [name for name, seat in seats.items() if seat.joins],
    )
    return replace(
        group,
        members=tuple(
            replace(seat.member, subscription=seat.topics, subscription_regex=None)
            for seat in map(seats.__getitem__, order)
        ),
    )
