"""The hash by which a consumer group notices that its topics changed.

A topic is hashed over its id, name, partitions and racks, a group over the hashes of its topics
in order of their names; 0 stands for no topics. Source: `Utils.computeTopicHash`,
`Utils.computeGroupHash`, KIP-1101.
"""

import struct
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from kgroups.core.coordinator.shard import Shard
from kgroups.core.coordinator.topology import TopicInfo, Topology

MAGIC = b"\x00"
NO_TOPICS = 0
# Topics whose hash is kept: every member that joins asks for those of its group.
MAX_KEPT: Final = 4_096


def topic_bytes(topic: TopicInfo) -> bytes:
    """The bytes that the hash of a topic is taken over."""
    parts = [MAGIC, _uuid_halves(topic), _text(topic.name), struct.pack("<i", topic.partitions)]
    for partition in range(topic.partitions):
        parts.append(struct.pack("<i", partition))
        racks = topic.racks[partition] if partition < len(topic.racks) else frozenset()
        for rack in sorted(racks):
            parts.append(struct.pack("<i", len(rack)))
            parts.append(_text(rack))
    return b"".join(parts)


def metadata_hash(names: Iterable[str], topology: Topology, hash64: Callable[[bytes], int]) -> int:
    """Hash of those of the topics that exist, as a signed 64-bit number."""
    described = [topology.topics[name] for name in sorted(names) if name in topology.topics]
    if not described:
        return NO_TOPICS
    joined = b"".join(struct.pack("<Q", _topic_hash(topic, hash64)) for topic in described)
    value = hash64(joined)
    return value - 2**64 if value >= 2**63 else value


@lru_cache(MAX_KEPT)
def _topic_hash(topic: TopicInfo, hash64: Callable[[bytes], int]) -> int:
    return hash64(topic_bytes(topic))


def topics_hash(shard: Shard, names: Iterable[str]) -> int:
    """Hash of those of the topics that exist, as they are now."""
    hash64 = shard.ports.hash64
    assert hash64 is not None, "a coordinator that serves consumer groups has a hash"
    return metadata_hash(names, shard.topology, hash64)


def _uuid_halves(topic: TopicInfo) -> bytes:
    high, low = struct.unpack(">QQ", topic.topic_id.bytes)
    return struct.pack("<QQ", high, low)


def _text(text: str) -> bytes:
    raw = text.encode("utf-16-le", "surrogatepass")
    return raw + struct.pack("<i", len(raw) // 2)
