"""The APIs that the embedded cluster serves, with their versions.

The lowest versions are those of Kafka 4 (KIP-896 took the older ones away) or lower where the
message tables know more; the highest are those of Kafka 4.4.
"""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from kgroups.core.coordinator.wire import WIRE_FORMS
from kgroups.core.protocol.tables.api_keys import Api

Caps = Mapping[Api, tuple[int, int]]
"""Lowest and highest version offered of each API; an API that is absent is not offered."""

API_VERSIONS: Caps = MappingProxyType(
    {api: wire_form.versions for api, wire_form in WIRE_FORMS.items()}
    | {
        Api.PRODUCE: (3, 13),
        Api.FETCH: (4, 18),
        Api.LIST_OFFSETS: (1, 11),
        Api.METADATA: (0, 13),
        Api.API_VERSIONS: (0, 5),
        Api.CREATE_TOPICS: (2, 7),
        Api.DELETE_TOPICS: (1, 6),
        Api.DELETE_RECORDS: (0, 2),
        Api.INIT_PRODUCER_ID: (0, 5),
        Api.OFFSET_FOR_LEADER_EPOCH: (2, 4),
        Api.DESCRIBE_CONFIGS: (1, 4),
        Api.CREATE_PARTITIONS: (0, 3),
        Api.DESCRIBE_CLUSTER: (0, 2),
        Api.DESCRIBE_TOPIC_PARTITIONS: (0, 0),
    }
)


def counts_by_name(counts: Counter[tuple[Api, int]]) -> dict[str, dict[int, int]]:
    """Requests by API name and version, for people: `{"JoinGroup": {9: 4}}`."""
    named: dict[str, dict[int, int]] = {}
    for (api, version), count in sorted(counts.items()):
        named.setdefault(api.kafka_name, {})[version] = count
    return named
