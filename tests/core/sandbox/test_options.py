"""What a cluster can be told, and what it refuses with one sentence."""

from typing import Any

import pytest

from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.caps import API_VERSIONS, RELEASES, caps_of
from kgroups.core.sandbox.handlers.handler_table import HANDLERS
from kgroups.core.sandbox.options import parse_topic_options
from kgroups.core.sandbox.sandbox import Sandbox

REFUSED = [
    ("no brokers", {"brokers": 0}, "number of brokers is 0, not 1 to 100"),
    ("too many brokers", {"brokers": 101}, "number of brokers is 101"),
    ("a port too high", {"port": 65_536}, "port is 65536"),
    ("ports that end too high", {"port": 65_534, "brokers": 3}, "end above 65535"),
    ("a bad topic name", {"topics": {"a b": 1}}, "topic name `a b`"),
    ("an empty topic name", {"topics": {"": 1}}, "the empty string"),
    ("a topic called dot", {"topics": {"..": 1}}, "`..` is not allowed"),
    ("a topic name too long", {"topics": {"x" * 250: 1}}, "longer than 249"),
    ("no partitions", {"topics": {"t": 0}}, "partitions of topic `t` is 0"),
    ("an unknown version", {"as_version": "9.9"}, "unknown Kafka version `9.9`"),
    ("a version with too many parts", {"as_version": "2.8.1.1"}, "unknown Kafka version"),
    ("too many replicas", {"brokers": 1, "replication_factor": 2}, "replication factor is 2"),
    ("racks that do not fit", {"brokers": 2, "racks": ["a"]}, "1 racks for 2 brokers"),
    ("an empty host", {"host": ""}, "the host is empty"),
    ("an unknown property", {"properties": {"x": "1"}}, "unknown property `x`"),
    (
        "a wrong property",
        {"properties": {"group.max.size": "many"}},
        "invalid value `many`",
    ),
    ("every address", {"host": "0.0.0.0"}, "is not an address that clients can connect to"),
    ("a foreign host", {"host": "192.0.2.1"}, "cannot listen on `192.0.2.1`"),
]


@pytest.mark.parametrize(
    ("options", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_refused(options: dict[str, Any], message: str) -> None:
    """One sentence that says what is wrong."""
    with pytest.raises(UsageError) as raised:
        Sandbox(**options).start()
    assert message in raised.value.message


def test_topic_options() -> None:
    """`name=partitions` or `name`."""
    assert parse_topic_options(["orders=12", "audit"]) == {"orders": 12, "audit": 1}
    for texts in (["t=x"], ["t=-1"], ["t="], ["t=1", "t=2"], ["t=²"]):
        with pytest.raises(UsageError):
            parse_topic_options(texts)


def test_not_running() -> None:
    """A sandbox that was not entered, or twice, says so."""
    cluster = Sandbox(brokers=1)
    with pytest.raises(KgroupsError, match="is not running"):
        _ = cluster.bootstrap_servers
    cluster.stop()
    with cluster, pytest.raises(KgroupsError, match="is already running"):
        cluster.start()


def test_releases_only_grow() -> None:
    """A later release offers what an earlier one did, and the newest all that is served."""
    before: dict[Api, int] = {}
    for release in RELEASES:
        now = {api: high for api, (_, high) in caps_of(release).items()}
        assert all(now.get(api, -1) >= high for api, high in before.items()), release
        before = now
    assert dict(caps_of(RELEASES[-1])) == dict(API_VERSIONS)
    assert caps_of("2.8.2") == caps_of("2.8")


KNOWN_CAPS = [
    ("2.4", Api.OFFSET_DELETE, 0),
    ("2.4", Api.OFFSET_FETCH, 6),
    ("2.8", Api.METADATA, 11),
    ("2.8", Api.FETCH, 12),
    ("3.0", Api.OFFSET_FETCH, 8),
    ("3.7", Api.CONSUMER_GROUP_HEARTBEAT, 0),
    ("4.0", Api.CONSUMER_GROUP_HEARTBEAT, 1),
    ("4.1", Api.PRODUCE, 13),
]


@pytest.mark.parametrize(("release", "api", "version"), KNOWN_CAPS)
def test_known_caps(release: str, api: Api, version: int) -> None:
    """Highest versions that the releases are known for."""
    assert caps_of(release)[api][1] == version


def test_consumer_groups_came_with_3_7() -> None:
    """Before that no broker offers KIP-848."""
    assert Api.CONSUMER_GROUP_HEARTBEAT not in caps_of("3.6")


def test_every_api_has_a_handler() -> None:
    """What is in the table of versions is handled."""
    assert set(HANDLERS) == set(API_VERSIONS)
