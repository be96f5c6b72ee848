"""How often topics are hashed: once as they are, however many members of a group join."""

from itertools import count
from uuid import UUID

from kgroups.core.coordinator.kip848.metadata_hash import metadata_hash, topic_bytes
from kgroups.core.coordinator.topology import TopicInfo, Topology


def test_a_topic_is_hashed_once_until_it_changes() -> None:
    """A joining member costs nothing for partitions that another one's join has looked at."""
    read: list[bytes] = []

    def hash64(raw: bytes) -> int:
        read.append(raw)
        return len(read)

    topic = TopicInfo("t", UUID(int=7), 3)
    for version in range(5):
        metadata_hash(["t"], Topology(topics={"t": topic}, version=version), hash64)
    assert read.count(topic_bytes(topic)) == 1

    grown = TopicInfo("t", UUID(int=7), 4)
    metadata_hash(["t"], Topology(topics={"t": grown}, version=9), hash64)
    assert read.count(topic_bytes(grown)) == 1


def test_the_hash_is_that_of_the_topic_as_it_is_now() -> None:
    """Other racks, other partitions, another id: nothing is taken for what it was before."""
    numbers = count(1)
    known: dict[bytes, int] = {}

    def hash64(raw: bytes) -> int:
        return known.setdefault(raw, next(numbers))

    topics = [
        TopicInfo("t", UUID(int=7), 2),
        TopicInfo("t", UUID(int=8), 2),
        TopicInfo("t", UUID(int=7), 3),
        TopicInfo("t", UUID(int=7), 2, (frozenset({"a"}), frozenset({"b"}))),
    ]
    found = [metadata_hash(["t"], Topology(topics={"t": one}), hash64) for one in topics]
    assert len(set(found)) == len(topics)
    again = [metadata_hash(["t"], Topology(topics={"t": one}), hash64) for one in topics]
    assert again == found
