"""What the embedded cluster does not do, with the reason: one table for readers and for tests."""

from collections.abc import Mapping
from types import MappingProxyType

SANDBOX_LACKS: Mapping[str, str] = MappingProxyType(
    {
        "transactions": "idempotent producers are served; transactions need a second coordinator, "
        "and a test of group tools does not",
        "share groups": "listed and described by real clusters; their coordinator is not built",
        "streams groups": "listed and described by real clusters; their coordinator is not built",
        "ACLs": "there is one user, who may do everything",
        "TLS": "the brokers listen on loopback",
        "SASL": "the brokers listen on loopback",
        "quotas": "throttle times are always 0",
        "replication": "one log a partition serves all its replicas; followers cannot fetch",
        "retention": "records stay until DeleteRecords or DeleteTopics",
        "compaction": "of `__consumer_offsets` only; other topics keep every record",
        "writing to internal topics": "`__consumer_offsets` holds what the coordinators decided: "
        "no test can put a corrupted past into it",
        "log append time": "timestamps are the producer's",
        "fetch sessions": "every Fetch is answered in full, which all clients accept",
        "changing settings": "topics and brokers keep what they began with",
        "log directories": "there are none to describe",
        "partition reassignment": "leaders move by fault rules only",
    }
)
"""Feature and why it is missing. The shared contract tests leave out what stands here."""
