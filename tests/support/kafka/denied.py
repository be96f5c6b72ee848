"""A cluster on which `carol`, and `dave` still more, are denied things: one right at a time.

Both may do everything but one thing with each of these: a group or topic is named for the right
that is missing. `dave` is not shown the names of groups either that he may not describe.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType

from kgroups.core.snapshot import TopicPartition
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    Offsets,
    admin_of,
    commit_offsets,
    create_topics,
    fetch_offsets,
    produce,
    start_offsets,
)

RIGHTS: Final[Mapping[str, AclOperation]] = {
    "describe": AclOperation.DESCRIBE,
    "read": AclOperation.READ,
    "delete": AclOperation.DELETE,
}
GROUP: Final[Mapping[str, str]] = {right: f"denied-g-{right}" for right in RIGHTS}
TOPIC: Final[Mapping[str, str]] = {right: f"denied-t-{right}" for right in RIGHTS}
FREE_GROUP, FREE_TOPIC = "denied-free", "denied-open"
READER = "denied-reader"
"""A group of theirs that has committed for every topic."""
LIVE = "denied-g-read-live"
"""A group with a member, which they may not read either."""
RECORDS, COMMITTED = 10, 3


OAUTH = "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config"
SPEC: Final = ClusterSpec(
    protocols=("SASL_PLAINTEXT",),
    users={"carol": "carol-secret", "dave": "dave-secret"},
    acls=True,
    properties={
        "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER",
        OAUTH: "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
    },
)


@dataclass(frozen=True)
class State:
    """What a write would have changed."""

    commits: Mapping[str, Mapping[TopicPartition, int]]
    starts: Mapping[TopicPartition, int]
    members: frozenset[str]


@contextmanager
def denied() -> Iterator[KafkaCluster]:
    """The cluster with topics, records, commits, a live group and ACLs."""
    with KafkaCluster(SPEC) as cluster:
        _fill(cluster)
        with LiveGroup(cluster.bootstrap, LIVE, [MemberSpec("live", (FREE_TOPIC,))]) as live:
            live.wait_stable(1)
            yield cluster


def write_properties(
    cluster: KafkaCluster, path: Path, user: str, *, librdkafka: bool
) -> tuple[str, str]:
    """The arguments `--command-config FILE` for one user, the file written.

    Args:
        librdkafka: by a mechanism that only librdkafka speaks.
    """
    settings = cluster.librdkafka_settings("SASL_PLAINTEXT", user=user)
    if librdkafka:
        settings |= {
            "sasl.mechanism": "OAUTHBEARER",
            "enable.sasl.oauthbearer.unsecure.jwt": "true",
            "sasl.oauthbearer.config": f"principal={user}",
        }
    return "--command-config", str(write_properties_file(path, settings))


def _fill(cluster: KafkaCluster) -> None:
    bootstrap = cluster.bootstrap
    topics = (FREE_TOPIC, *TOPIC.values())
    create_topics(bootstrap, dict.fromkeys(topics, 1))
    produce(bootstrap, {(topic, 0): RECORDS for topic in topics})
    commits: dict[str, Offsets] = {
        group: {(FREE_TOPIC, 0): COMMITTED} for group in (FREE_GROUP, *GROUP.values())
    }
    commits[READER] = {(topic, 0): COMMITTED for topic in topics}
    commit_offsets(bootstrap, commits)
    rules = [rule for user in ("carol", "dave") for rule in _rules(user)]
    # Left out of the listing is what dave may not describe only where he may not describe all.
    rules.append(_rule("dave", ResourceType.BROKER, "kafka-cluster", "describe", allow=False))
    admin = admin_of(bootstrap)
    for future in admin.create_acls(rules).values():
        future.result(60)
    wait_until(lambda: _are_denied(cluster), "the ACLs are in force")


def _rules(user: str) -> Iterable[AclBinding]:
    everything = AclOperation.ALL
    for kind in (ResourceType.GROUP, ResourceType.TOPIC):
        yield _binding(user, kind, "*", everything, allow=True)
    yield _binding(user, ResourceType.BROKER, "kafka-cluster", everything, allow=True)
    for right in RIGHTS:
        yield _rule(user, ResourceType.GROUP, GROUP[right], right, allow=False)
        yield _rule(user, ResourceType.TOPIC, TOPIC[right], right, allow=False)
    yield _rule(user, ResourceType.GROUP, LIVE, "read", allow=False)
    yield _rule(user, ResourceType.TOPIC, "__consumer_offsets", "read", allow=False)


def _rule(user: str, kind: ResourceType, name: str, right: str, *, allow: bool) -> AclBinding:
    return _binding(user, kind, name, RIGHTS[right], allow=allow)


def _binding(
    user: str, kind: ResourceType, name: str, operation: AclOperation, *, allow: bool
) -> AclBinding:
    permission = AclPermissionType.ALLOW if allow else AclPermissionType.DENY
    who = f"User:{user}"
    return AclBinding(kind, name, ResourcePatternType.LITERAL, who, "*", operation, permission)


def _are_denied(cluster: KafkaCluster) -> bool:
    """Whether dave, whose rules are the last, is let in and shown what he may see only."""
    settings = cluster.librdkafka_settings("SASL_PLAINTEXT", mechanism="PLAIN", user="dave")
    admin = admin_of(settings.pop("bootstrap.servers"), settings)
    listed = admin.list_consumer_groups(request_timeout=10).result(60)
    names = {item.group_id for item in listed.valid}
    return FREE_GROUP in names and GROUP["describe"] not in names


def state_of(cluster: KafkaCluster) -> State:
    """Commits, starts of logs and members, as somebody sees them who may see all."""
    admin = admin_of(cluster.bootstrap)
    groups = (FREE_GROUP, READER, *GROUP.values())
    live = admin.describe_consumer_groups([LIVE])[LIVE].result(60)
    return State(
        {group: fetch_offsets(cluster.bootstrap, group) for group in groups},
        start_offsets(cluster.bootstrap, [(topic, 0) for topic in (FREE_TOPIC, *TOPIC.values())]),
        frozenset(member.member_id for member in live.members),
    )
