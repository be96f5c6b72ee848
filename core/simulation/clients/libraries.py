"""The behaviour of each client library, beyond its settings.

Source: the libraries' own code, in the releases of `VERSIONS`. All of them say LeaveGroup when they
are closed, but for static members; none does when its process dies.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kgroups.core.coordinator.client.config import Manners

Library = Literal["java", "librdkafka", "sarama", "franz-go", "kafka-python", "aiokafka", "kafkajs"]

VERSIONS: Final[Mapping[Library, str]] = {
    "java": "4.4",
    "librdkafka": "2.16",
    "sarama": "1.61.1",
    "franz-go": "1.22.2",
    "kafka-python": "3.0.12",
    "aiokafka": "0.14.0",
    "kafkajs": "2.2.4",
}


@dataclass(frozen=True, slots=True)
class LibraryTraits(Manners):
    """One library, with its manners as a member of a group.

    Args:
        eager: assignors that a member of an eager group offers unless told otherwise.
        default_protocol: what its assignors make of a group by themselves.
        kip848: whether it speaks the consumer protocol.
        patterns: whether members find topics by a pattern, and go on finding new ones.
        refreshes_to_join: whether it resolves its pattern anew before it joins again; else it joins
            with the topics that it knows, and once more when it has heard of others.
        both: whether a member may name topics beside a pattern.
        background: a rebalance goes on while the application is busy; else it waits for its poll.
        backoff_jitter: by what share a back-off is longer or shorter,
        jitter_adds_up: than twice the one before; else than its attempt has it.
        beats_between_records: heartbeats are sent when a record is done, not by a thread or timer.
        one_connection: records come over the connection that the coordinator is asked over.
        behind_fetches: what it asks a broker waits there until a fetch before it is answered, as
            brokers answer the requests of a connection one after the other.
        finds_over_fetches: it looks for the coordinator where records come from, and reads on.
        bootstraps: without a broker it asks the bootstrap server, over the connection of its start.
        looks_by_timer: its leader looks for new partitions every `metadata.max.age.ms` in what it
            knows, which is refreshed as often at other times.
        refreshes_to_assign: its leader refreshes its metadata when it assigns.
        forgets_topics: a leader may take its topics for gone when no broker was there for a while.
        assigns: whether a consumer of a group can choose its partitions by hand.
        resubscribes: whether a consumer that runs can read other topics from now on.
        unsubscribes: whether it can leave the group and not be closed.
        seeks: whether a consumer that runs can read on from elsewhere.
        commits_drops: before it unsubscribes it commits what it has read, if it auto-commits.
        keeps_pauses: partitions that it paused stay so, whoever has them meanwhile.
        reads_fetched: a paused partition's records that were fetched before are handed out.
        first_beat_ms: when a cooperative member sends its first heartbeat; None: as the others.
    """

    eager: tuple[str, ...]
    cooperative: bool = True
    default_protocol: Literal["eager", "cooperative"] = "eager"
    kip848: bool = False
    static: bool = True
    patterns: Literal["follow", "once", "none"] = "follow"
    refreshes_to_join: bool = True
    both: bool = True
    background: bool = False
    backoff_jitter: float = 0.0
    jitter_adds_up: bool = False
    beats_between_records: bool = False
    one_connection: bool = False
    behind_fetches: bool = False
    finds_over_fetches: bool = False
    bootstraps: bool = False
    looks_by_timer: bool = False
    refreshes_to_assign: bool = False
    forgets_topics: bool = False
    assigns: bool = True
    resubscribes: bool = True
    unsubscribes: bool = True
    seeks: bool = True
    commits_drops: bool = False
    keeps_pauses: bool = False
    reads_fetched: bool = False
    first_beat_ms: int | None = None


LIBRARIES: Final[Mapping[Library, LibraryTraits]] = {
    "java": LibraryTraits(
        ("range", "cooperative-sticky"),
        kip848=True,
        both=False,
        finds_over_fetches=True,
        bootstraps=True,
        forgets_topics=True,
    ),
    "librdkafka": LibraryTraits(
        ("range", "roundrobin"),
        kip848=True,
        refreshes_to_join=False,
        session_ends_membership=True,
        commits_drops=True,
        keeps_pauses=True,
    ),
    "sarama": LibraryTraits(
        ("range",),
        patterns="none",
        one_connection=True,
        behind_fetches=True,
        unsubscribes=False,
        seeks=False,
        keeps_pauses=True,
        reads_fetched=True,
        looks_by_timer=True,
        # Metadata.Retry.Max of the heartbeat loop, at the end of which it ends the session.
        tolerated_losses=3,
        repeats_at_once=True,
        rejoin_backoff_ms=2_000,
    ),
    "franz-go": LibraryTraits(
        ("range",),
        default_protocol="cooperative",
        kip848=True,
        background=True,
        # It tries a heartbeat for a session, counted from when it was sent; measured with the
        # defaults, from the last one that was answered.
        session_ends_membership=True,
        session_grace_ms=5_500,
        # A connection that is refused ends the session at once, if no other broker is there.
        tolerated_losses=1,
        counts_late=False,
        backoff_jitter=0.2,
        assigns=False,
        unsubscribes=False,
        keeps_pauses=True,
        first_beat_ms=500,
    ),
    "kafka-python": LibraryTraits(
        ("range", "roundrobin"),
        both=False,
        finds_over_fetches=True,
        refreshes_to_assign=True,
        forgets_topics=True,
        commits_drops=True,
        keeps_pauses=True,
    ),
    "aiokafka": LibraryTraits(
        ("roundrobin",),
        cooperative=False,
        both=False,
        background=True,
        finds_over_fetches=True,
        commits_drops=True,
    ),
    "kafkajs": LibraryTraits(
        ("RoundRobinAssigner",),
        cooperative=False,
        static=False,
        patterns="once",
        beats_between_records=True,
        one_connection=True,
        # What broke, and `retries` after the first attempt to connect; then the consumer crashes
        # and starts anew.
        tolerated_losses=6,
        keeps_id=False,
        timeout_closes_connection=False,
        backoff_jitter=0.2,
        jitter_adds_up=True,
        assigns=False,
        resubscribes=False,
        unsubscribes=False,
        keeps_pauses=True,
    ),
}


def classic_mode(libraries: Iterable[str]) -> Literal["eager", "cooperative"]:
    """How members of these libraries speak the classic protocol where nothing else is said."""
    named = set(libraries)
    defaults = {traits.default_protocol for name, traits in LIBRARIES.items() if name in named}
    return "cooperative" if defaults == {"cooperative"} else "eager"
