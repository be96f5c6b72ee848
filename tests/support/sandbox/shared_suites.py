"""Suites of the real broker, taken over for the embedded cluster."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

SANDBOX_LACKS = {
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
"""Feature and why it is missing. The shared contract tests leave out what stands here."""


def take_over(suite: ModuleType, space: dict[str, Any], needs: Mapping[str, str]) -> None:
    """Put a suite's tests and fixtures into a module, less those that need what is lacking.

    Args:
        suite: whose fixtures start from `cluster_address`.
        space: the module's globals.
        needs: test and the row of `SANDBOX_LACKS` that leaves it out.
    """
    assert set(needs.values()) <= set(SANDBOX_LACKS)
    assert all(hasattr(suite, name) for name in needs)
    taken = {
        name: thing
        for name, thing in vars(suite).items()
        if (name.startswith("test_") and name not in needs) or type(thing).__name__ in FIXTURES
    }
    assert len(taken) > 2, suite.__name__
    space.update(taken)
    space["pytestmark"] = []  # no real broker is needed


FIXTURES = frozenset({"FixtureFunctionDefinition"})
