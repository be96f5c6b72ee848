"""A cluster whose ACLs show some groups and topics to some users, and what is in it.

`alice`, `bob` and the owner of the client certificate may read, write and delete what is `mine-…`
and `open`, and see what is `seen-…`. Of the other groups `alice` is told the names.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType

from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec, SecurityProtocol
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.workload import Offsets, admin_of, commit_offsets, create_topics, produce

SPEC: Final = ClusterSpec(
    protocols=("SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    users={
        "alice": "alice-secret",
        "bob": "b0b's p&s=s #4",
        "admin": "admin-secret",
    },
    client_certificates=True,
    acls=True,
)
OPEN, CLOSED = "open", "closed"
MINE: Final[Mapping[str, Offsets]] = {
    "mine-a": {(OPEN, 0): 3, (OPEN, 1): 4, (CLOSED, 0): 2},
    "mine-b": {(OPEN, 0): 3},
}
SEEN: Final[Mapping[str, Offsets]] = {"seen-a": {(OPEN, 0): 3}}
THEIRS: Final[Mapping[str, Offsets]] = {
    "theirs-a": {(OPEN, 0): 3},
    "theirs-b": {(CLOSED, 0): 3},
}
LIVE = "mine-live"
"""A KIP-848 group of ours whose member reads a topic that is not."""
OLD = "mine-old"
"""A classic group of ours whose member reads the open topic."""

Way = tuple[SecurityProtocol, str, str]
"""Listener, mechanism, user."""

# The ways in of those who may do the same.
WAYS: Final[tuple[Way, ...]] = (
    ("SASL_SSL", "PLAIN", "alice"),
    ("SASL_SSL", "SCRAM-SHA-512", "alice"),
    ("SASL_SSL", "PLAIN", "bob"),
    ("SASL_SSL", "SCRAM-SHA-512", "bob"),
    ("SSL", "", ""),
)


@contextmanager
def guarded() -> Iterator[KafkaCluster]:
    """The cluster, with topics, commits, a live group and ACLs."""
    with KafkaCluster(SPEC) as cluster:
        bootstrap = cluster.bootstrap
        create_topics(bootstrap, {OPEN: 2, CLOSED: 1})
        produce(bootstrap, {(OPEN, 0): 10, (OPEN, 1): 10, (CLOSED, 0): 10})
        commit_offsets(bootstrap, {**MINE, **SEEN, **THEIRS})
        read, describe, delete = AclOperation.READ, AclOperation.DESCRIBE, AclOperation.DELETE
        for who in ("User:alice", "User:bob", "User:CN=client"):
            allow(bootstrap, who, ResourceType.GROUP, "seen-", describe)
            for operation in (read, describe, delete):
                allow(bootstrap, who, ResourceType.GROUP, "mine-", operation)
                allow(bootstrap, who, ResourceType.TOPIC, OPEN, operation)
        allow(bootstrap, "User:alice", ResourceType.BROKER, "kafka-cluster", describe)
        with (
            LiveGroup(bootstrap, LIVE, [MemberSpec("new", (CLOSED,))], protocol="consumer") as new,
            LiveGroup(bootstrap, OLD, [MemberSpec("old", (OPEN,))]) as old,
        ):
            new.wait_stable(1)
            old.wait_stable(2)
            yield cluster


def allow(bootstrap: str, who: str, kind: ResourceType, name: str, operation: AclOperation) -> None:
    """Let a user do something; a name that ends with a dash is a prefix."""
    pattern = ResourcePatternType.LITERAL
    if name.endswith("-"):
        pattern = ResourcePatternType.PREFIXED
    rule = AclBinding(kind, name, pattern, who, "*", operation, AclPermissionType.ALLOW)
    admin = admin_of(bootstrap)
    for future in admin.create_acls([rule]).values():
        future.result(60)


def write_properties(
    cluster: KafkaCluster,
    path: Path,
    way: Way,
    *,
    password: str | None = None,
) -> tuple[str, str]:
    """The arguments `--command-config FILE` for one way in, the file written.

    Args:
        cluster: the guarded one.
        path: of the file.
        way: listener, mechanism, user.
        password: another one than the right one.
    """
    listener, mechanism, user = way
    settings = cluster.librdkafka_settings(
        listener, mechanism=mechanism, user=user, password=password
    )
    if listener != "SSL":
        del settings["ssl.certificate.location"], settings["ssl.key.location"]
    return "--command-config", str(write_properties_file(path, settings))
