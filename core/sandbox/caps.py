"""The APIs that the embedded cluster serves, with their versions; also as older releases do.

The lowest versions are those of Kafka 4 (KIP-896 took the older ones away) or lower where the
message tables know more. `--as-version 2.8` is a look-up in the steps, one row a release from 2.4
on: the APIs that came with it or whose highest version rose in it. Source: the message files of
each release (KIP-482 flexible versions, KIP-516 topic ids, KIP-709 and KIP-848 for groups); the
same steps are listed by franz-go's `kversion`.
"""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from kgroups.core.coordinator.wire import WIRE_FORMS
from kgroups.core.errors import UsageError
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


NEWEST = "4.4"

_STEPS: Mapping[str, Mapping[Api, int]] = {
    "2.4": {
        Api.PRODUCE: 8,
        Api.FETCH: 11,
        Api.LIST_OFFSETS: 5,
        Api.METADATA: 9,
        Api.OFFSET_COMMIT: 8,
        Api.OFFSET_FETCH: 6,
        Api.FIND_COORDINATOR: 3,
        Api.JOIN_GROUP: 6,
        Api.HEARTBEAT: 4,
        Api.LEAVE_GROUP: 4,
        Api.SYNC_GROUP: 4,
        Api.DESCRIBE_GROUPS: 5,
        Api.LIST_GROUPS: 3,
        Api.API_VERSIONS: 3,
        Api.CREATE_TOPICS: 5,
        Api.DELETE_TOPICS: 4,
        Api.DELETE_RECORDS: 1,
        Api.INIT_PRODUCER_ID: 2,
        Api.OFFSET_FOR_LEADER_EPOCH: 3,
        Api.DESCRIBE_CONFIGS: 2,
        Api.CREATE_PARTITIONS: 1,
        Api.DELETE_GROUPS: 2,
        Api.OFFSET_DELETE: 0,
    },
    "2.5": {
        Api.OFFSET_FETCH: 7,
        Api.JOIN_GROUP: 7,
        Api.SYNC_GROUP: 5,
        Api.INIT_PRODUCER_ID: 3,
        Api.CREATE_PARTITIONS: 2,
    },
    "2.6": {Api.LIST_GROUPS: 4, Api.DELETE_RECORDS: 2, Api.DESCRIBE_CONFIGS: 3},
    "2.7": {
        Api.FETCH: 12,
        Api.CREATE_TOPICS: 6,
        Api.DELETE_TOPICS: 5,
        Api.INIT_PRODUCER_ID: 4,
        Api.CREATE_PARTITIONS: 3,
    },
    "2.8": {
        Api.PRODUCE: 9,
        Api.LIST_OFFSETS: 6,
        Api.METADATA: 11,
        Api.CREATE_TOPICS: 7,
        Api.DELETE_TOPICS: 6,
        Api.OFFSET_FOR_LEADER_EPOCH: 4,
        Api.DESCRIBE_CONFIGS: 4,
        Api.DESCRIBE_CLUSTER: 0,
    },
    "3.0": {Api.LIST_OFFSETS: 7, Api.OFFSET_FETCH: 8, Api.FIND_COORDINATOR: 4},
    "3.1": {Api.FETCH: 13, Api.METADATA: 12},
    "3.2": {Api.JOIN_GROUP: 9, Api.LEAVE_GROUP: 5},
    "3.3": {},
    "3.4": {},
    "3.5": {Api.FETCH: 15, Api.LIST_OFFSETS: 8},
    "3.6": {},
    "3.7": {
        Api.PRODUCE: 10,
        Api.FETCH: 16,
        Api.OFFSET_COMMIT: 9,
        Api.OFFSET_FETCH: 9,
        Api.DESCRIBE_CLUSTER: 1,
        Api.CONSUMER_GROUP_HEARTBEAT: 0,
        Api.CONSUMER_GROUP_DESCRIBE: 0,
    },
    "3.8": {
        Api.PRODUCE: 11,
        Api.FIND_COORDINATOR: 5,
        Api.LIST_GROUPS: 5,
        Api.INIT_PRODUCER_ID: 5,
        Api.DESCRIBE_TOPIC_PARTITIONS: 0,
    },
    "3.9": {
        Api.FETCH: 17,
        Api.LIST_OFFSETS: 9,
        Api.FIND_COORDINATOR: 6,
        Api.API_VERSIONS: 4,
    },
    "4.0": {
        Api.PRODUCE: 12,
        Api.LIST_OFFSETS: 10,
        Api.METADATA: 13,
        Api.DESCRIBE_GROUPS: 6,
        Api.DESCRIBE_CLUSTER: 2,
        Api.CONSUMER_GROUP_HEARTBEAT: 1,
        Api.CONSUMER_GROUP_DESCRIBE: 1,
    },
    "4.1": {Api.PRODUCE: 13, Api.FETCH: 18},
    "4.2": {Api.LIST_OFFSETS: 11, Api.OFFSET_COMMIT: 10, Api.OFFSET_FETCH: 10},
    "4.3": {},
    "4.4": {Api.API_VERSIONS: 5, Api.DELETE_GROUPS: 3},
}

RELEASES: tuple[str, ...] = tuple(_STEPS)
"""Releases that can be asked for, oldest first."""


def caps_of(release: str) -> Caps:
    """Versions that a broker of this release offers, as far as they are served.

    Args:
        release: `2.8`, or with a patch number, `2.8.1`.
    Raises:
        UsageError: it is not one of `RELEASES`.
    """
    wanted = ".".join(release.split(".")[:2])
    if wanted not in _STEPS or len(release.split(".")) > 3:
        raise UsageError(
            f"unknown Kafka version `{release}`", hint=f"one of: {', '.join(RELEASES)}"
        )
    highest: dict[Api, int] = {}
    for name in RELEASES[: RELEASES.index(wanted) + 1]:
        highest.update(_STEPS[name])
    return {
        api: (API_VERSIONS[api][0], min(version, API_VERSIONS[api][1]))
        for api, version in highest.items()
    }
