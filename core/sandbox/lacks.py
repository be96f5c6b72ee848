"""What the embedded cluster does not do, with the reason: one table for readers and for tests."""

from collections.abc import Mapping
from types import MappingProxyType

SANDBOX_LACKS: Mapping[str, str] = MappingProxyType(
    {
        "transactions": (
            "only idempotent producers are supported; transactions would need a second coordinator"
        ),
        "share groups": "their coordinator is not implemented",
        "streams groups": "their coordinator is not implemented",
        "ACLs": "there is one user, with every right",
        "TLS": "the brokers listen on loopback",
        "SASL": "the brokers listen on loopback",
        "quotas": "throttle times are always 0",
        "replication": "all replicas of a partition share one log; followers cannot fetch",
        "retention": "records stay until DeleteRecords or DeleteTopics",
        "compaction": "only `__consumer_offsets` is compacted; other topics keep every record",
        "writing to internal topics": "only coordinators write to `__consumer_offsets`",
        "log append time": "timestamps are the producer's",
        "fetch sessions": "every Fetch is answered in full, as all clients accept",
        "changing settings": "the settings of topics and brokers are fixed at their start",
        "log directories": "there are none",
        "partition reassignment": "leaders move only by fault rules",
    }
)
"""Feature and why it is missing. The shared contract tests leave out what stands here."""
