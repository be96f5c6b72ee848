"""The APIs that the embedded cluster serves, with their versions.

The lowest versions are those of Kafka 4 (KIP-896 took the older ones away) or lower where the
message tables know more; the highest are those of Kafka 4.3.
"""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from kgroups.core.protocol.tables.api_keys import Api

Caps = Mapping[Api, tuple[int, int]]
"""Lowest and highest version offered of each API; an API that is absent is not offered."""

API_VERSIONS: Caps = MappingProxyType(
    {
        Api.PRODUCE: (3, 13),
        Api.FETCH: (4, 18),
        Api.LIST_OFFSETS: (1, 11),
        Api.METADATA: (0, 13),
        Api.OFFSET_COMMIT: (2, 10),
        Api.OFFSET_FETCH: (1, 10),
        Api.FIND_COORDINATOR: (0, 6),
        Api.JOIN_GROUP: (0, 9),
        Api.HEARTBEAT: (0, 4),
        Api.LEAVE_GROUP: (0, 5),
        Api.SYNC_GROUP: (0, 5),
        Api.DESCRIBE_GROUPS: (0, 6),
        Api.LIST_GROUPS: (0, 5),
        Api.API_VERSIONS: (0, 4),
        Api.CREATE_TOPICS: (2, 7),
        Api.DELETE_TOPICS: (1, 6),
        Api.DELETE_RECORDS: (0, 2),
        Api.INIT_PRODUCER_ID: (0, 5),
        Api.OFFSET_FOR_LEADER_EPOCH: (2, 4),
        Api.DESCRIBE_CONFIGS: (1, 4),
        Api.CREATE_PARTITIONS: (0, 3),
        Api.DELETE_GROUPS: (0, 2),
        Api.OFFSET_DELETE: (0, 0),
        Api.DESCRIBE_CLUSTER: (0, 2),
        Api.CONSUMER_GROUP_HEARTBEAT: (0, 1),
        Api.CONSUMER_GROUP_DESCRIBE: (0, 1),
        Api.DESCRIBE_TOPIC_PARTITIONS: (0, 0),
    }
)


def counts_by_name(counts: Counter[tuple[Api, int]]) -> dict[str, dict[int, int]]:
    """Requests by API name and version, for people: `{"JoinGroup": {9: 4}}`."""
    named: dict[str, dict[int, int]] = {}
    for (api, version), count in sorted(counts.items()):
        named.setdefault(api.kafka_name, {})[version] = count
    return named
