"""What members of each client library do, beyond their settings.

Source: the libraries' own code: Java 4.3.0, librdkafka 2.16, sarama 1.61.1, franz-go 1.22.2,
kafka-python 3.0.12, aiokafka 0.14.0, kafkajs 2.2.4. All of them say LeaveGroup when they are
closed, but for static members; none does when its process dies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Library = Literal["java", "librdkafka", "sarama", "franz-go", "kafka-python", "aiokafka", "kafkajs"]


@dataclass(frozen=True, slots=True)
class LibraryTraits:
    """One library.

    Args:
        eager: assignors that a member of an eager group offers unless told otherwise.
        cooperative: whether it has a cooperative assignor.
        default_protocol: what its assignors make of a group by themselves.
        kip848: whether it speaks the consumer protocol.
        static: whether it has static members.
        patterns: whether members find topics by a pattern, and go on finding new ones.
        both: whether a member may name topics beside a pattern.
        background: a rebalance goes on while the application is busy; else it waits for its poll.
        session_ends_membership: without an answer for a session it gives everything up itself.
        session_grace_ms: how much later than that.
        beats_between_records: heartbeats are sent when a record is done, not by a thread or timer.
        one_connection: records come over the connection that the coordinator is asked over.
        resubscribes: whether a consumer that runs can read other topics from now on.
        unsubscribes: whether it can leave the group and not be closed.
        commits_drops: before it unsubscribes it commits what it has read, if it auto-commits.
        first_beat_ms: when a cooperative member sends its first heartbeat; None: as the others.
    """

    eager: tuple[str, ...]
    cooperative: bool = True
    default_protocol: Literal["eager", "cooperative"] = "eager"
    kip848: bool = False
    static: bool = True
    patterns: Literal["follow", "once", "none"] = "follow"
    both: bool = True
    background: bool = False
    session_ends_membership: bool = False
    session_grace_ms: int = 0
    beats_between_records: bool = False
    one_connection: bool = False
    resubscribes: bool = True
    unsubscribes: bool = True
    commits_drops: bool = False
    first_beat_ms: int | None = None


LIBRARIES: Final[Mapping[Library, LibraryTraits]] = {
    "java": LibraryTraits(("range", "cooperative-sticky"), kip848=True, both=False),
    "librdkafka": LibraryTraits(
        ("range", "roundrobin"),
        kip848=True,
        session_ends_membership=True,
        commits_drops=True,
    ),
    "sarama": LibraryTraits(("range",), patterns="none", one_connection=True, unsubscribes=False),
    "franz-go": LibraryTraits(
        ("range",),
        default_protocol="cooperative",
        kip848=True,
        background=True,
        # It tries a heartbeat for a session, counted from when it was sent; measured with the
        # defaults, from the last one that was answered.
        session_ends_membership=True,
        session_grace_ms=5_500,
        unsubscribes=False,
        first_beat_ms=500,
    ),
    "kafka-python": LibraryTraits(("range", "roundrobin"), both=False),
    "aiokafka": LibraryTraits(("roundrobin",), cooperative=False, both=False, background=True),
    "kafkajs": LibraryTraits(
        ("RoundRobinAssigner",),
        cooperative=False,
        static=False,
        patterns="once",
        beats_between_records=True,
        one_connection=True,
        resubscribes=False,
        unsubscribes=False,
    ),
}
