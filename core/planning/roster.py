"""Who is in a group after the changes, and what the cluster then looks like."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from kgroups.core.planning.changes.kinds import Pattern
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.snapshot import Group, Member, Topic

# Library -> what it makes of one pattern for a coordinator.
SENT_PATTERNS: Final = {"franz-go": ".*(?:(?:{})).*", "librdkafka": "({})"}


@dataclass(frozen=True, slots=True)
class Seat:
    """One member of the group after the changes.

    Args:
        member: its facts; for a member that joins, those that are known before it does.
        topics: what it subscribes to, in the order of the wire, patterns resolved.
        joins: whether it is not there yet.
        id_prefix: what a joining member's id will begin with; None if that is not known.
        id_known: whether `member.member_id` is the real id.
        library: client library of a member that joins, where it was said.
        changed: whether a change gives it another subscription.
        read_before: what it reads before the changes, patterns resolved.
        pattern: by which it subscribes, besides `topics` as they were before it was resolved.
    """

    member: Member
    topics: tuple[str, ...]
    joins: bool = False
    id_prefix: str | None = None
    id_known: bool = True
    pattern: Pattern | None = None
    library: str | None = None
    changed: bool = False
    read_before: tuple[str, ...] = ()

    @property
    def kind(self) -> object:
        """Equal for members that differ in nothing but their ids."""
        facts = self.member
        return (facts.client_id, facts.instance_id, facts.rack, self.topics, self.library)

    @property
    def finds_topics(self) -> bool:
        """Whether its pattern stands for more topics than it now subscribes to."""
        topics_before = set(self.member.subscription or ())
        return self.pattern is not None and not set(self.topics) <= topics_before

    @property
    def sent_pattern(self) -> str:
        """Its pattern as the coordinator has it; empty if it has none.

        franz-go and librdkafka rewrite it.
        """
        text = self.pattern.pattern if self.pattern is not None else ""
        rewritten = SENT_PATTERNS.get(self.library or "") if self.joins else None
        return rewritten.format(text) if text and rewritten else text


@dataclass(frozen=True, slots=True)
class Roster:
    """A group and its cluster after the changes.

    Args:
        evidence: of the group as it is now.
        seats: members that stay, in the broker's order, then those that join.
        left: members that leave, as they read before.
        topics: the cluster's topics by name.
        notes: what is to be known of it, one sentence each.
        guesses: what had to be guessed, one sentence each: what comes of it is not certain.
        topics_before: topics that somebody subscribes to and that are new or have grown: as they
            were, None for a new one.
        broker_racks: broker id to its rack, None for those without; empty if not known.
    """

    evidence: Evidence
    seats: tuple[Seat, ...]
    left: tuple[Seat, ...]
    topics: Mapping[str, Topic]
    notes: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    topics_before: Mapping[str, Topic | None] = field(default_factory=dict)
    broker_racks: Mapping[int, str | None] = field(default_factory=dict)

    @property
    def group(self) -> Group:
        """The group as it is now."""
        return self.evidence.group

    @property
    def leavers(self) -> tuple[Member, ...]:
        """The facts of members that leave."""
        return tuple(seat.member for seat in self.left)

    @property
    def newcomers(self) -> tuple[Seat, ...]:
        """Members that join with ids that are not known."""
        return tuple(seat for seat in self.seats if not seat.id_known)

    @property
    def topics_without_id(self) -> list[str]:
        """Subscribed topics whose ids are not known, by name."""
        return sorted(name for name in self.subscribed() if self.topics[name].topic_id is None)

    @property
    def topics_changed(self) -> bool:
        """Whether a topic that somebody subscribes to is new or has grown."""
        return bool(self.topics_before)

    def subscribed(self) -> list[str]:
        """Topics that exist and that somebody subscribes to, in the cluster's order."""
        names = {topic for seat in self.seats for topic in seat.topics}
        return [name for name in self.topics if name in names]
