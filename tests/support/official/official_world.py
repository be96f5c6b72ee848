"""A cluster full of groups of every kind and state, for both tools to look at."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import BASE_PROPERTIES, ClusterSpec
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, create_topics, expire_records, produce
from tests.support.official import stuck

ORDERS, AUDIT, EMPTY = "orders", "audit", "no-records"
LONG_TOPIC = "a.very.long.topic.name_that-needs.quotes-in-csv"
COMPACT = "compacted"
TOPICS = {ORDERS: 12, AUDIT: 3, EMPTY: 1, LONG_TOPIC: 1, "reset-a": 10, "reset-b": 2, "records": 2}

SPEC = ClusterSpec(
    properties={
        # a KIP-848 or share member that says nothing more stays for the whole run
        "group.consumer.session.timeout.ms": "300000",
        "group.consumer.max.session.timeout.ms": "300000",
        "group.share.session.timeout.ms": "300000",
        "group.share.max.session.timeout.ms": "300000",
        "unstable.api.versions.enable": "true",
    }
)

STAYING = {"session.timeout.ms": "60000"}
"""Of static members that nobody waits for."""

ODD_NAMES = (
    "グループ",
    "comma,group",
    "has space",
    "-dash",
    "--group",
    'quo"te',
    "sing'le",
    "back\\slash",
    "percent%s",
    "party-🎉",
    "a-group-with-a-name-that-is-much-longer-than-any-column",
)


class Embedded(NamedTuple):
    """The embedded cluster, seen as tests see a real one: an address.

    Args:
        bootstrap: `host:port` of its only broker.
    """

    bootstrap: str

    def address(self) -> str:
        """The broker's."""
        return self.bootstrap


@contextmanager
def world() -> Iterator[KafkaCluster]:
    """A broker with all of it; groups stay as they are while the block lasts."""
    with KafkaCluster(SPEC) as cluster, populated(cluster.bootstrap):
        yield cluster


@contextmanager
def embedded_world() -> Iterator[Embedded]:
    """The same on the embedded cluster, less its share group."""
    both = {**BASE_PROPERTIES, **SPEC.properties}
    properties = {name: value for name, value in both.items() if name.startswith("group.consumer.")}
    with Sandbox(brokers=1, properties=properties) as cluster:
        bootstrap = cluster.bootstrap_servers
        with populated(bootstrap, share=False):
            yield Embedded(bootstrap)


@contextmanager
def populated(bootstrap: str, *, share: bool = True) -> Iterator[None]:
    """All of it on the one broker at an address, while the block lasts."""
    with ExitStack() as stack:
        create_topics(bootstrap, TOPICS)
        create_topics(bootstrap, {COMPACT: 1}, config={"cleanup.policy": "compact"})
        _fill(bootstrap)
        _commit(bootstrap)
        live = _live_groups(bootstrap)
        for group, _ in live:
            stack.enter_context(group)
        connection = stack.enter_context(WireConnection(bootstrap, client_id="wire"))
        if share:
            stuck.share(connection, "share-readers", AUDIT)
        _hold(connection)
        for group, partitions in live:
            group.wait_stable(partitions)
        owner = next(m for m in live[0][0].members if (ORDERS, 3) in m.assignment)
        owner.commit({(ORDERS, 3): 7})
        yield


def _fill(bootstrap: str) -> None:
    counts = {(ORDERS, number): 5 * number for number in range(12)}
    counts |= {(AUDIT, 0): 7, (LONG_TOPIC, 0): 4}
    counts |= {("reset-a", number): 100 for number in range(10)}
    counts |= {("records", 0): 10, ("records", 1): 10}
    counts |= {("reset-b", 0): 50, ("reset-b", 1): 50}
    produce(bootstrap, counts)
    expire_records(bootstrap, {(ORDERS, 11): 30})


def _commit(bootstrap: str) -> None:
    commit_offsets(
        bootstrap,
        {
            "empty-odd": {
                (ORDERS, 11): 10,
                (ORDERS, 10): 50,
                (ORDERS, 2): 500,
                (ORDERS, 0): 0,
                (AUDIT, 0): 3,
                (EMPTY, 0): 0,
                (LONG_TOPIC, 0): 1,
            },
            **{name: {(AUDIT, 0): 1, (AUDIT, 2): 0} for name in ODD_NAMES},
        },
    )
    for number, offset, epoch in ((1, 3, 0), (2, 4, 7)):
        commit_offsets(bootstrap, {"with-epochs": {(ORDERS, number): offset}}, leader_epoch=epoch)


def _live_groups(bootstrap: str) -> list[tuple[LiveGroup, int]]:
    """Groups of librdkafka clients, and how many partitions each owns."""
    two = [MemberSpec("one", (ORDERS, AUDIT)), MemberSpec("two", (ORDERS,))]
    static = [
        MemberSpec("one", (AUDIT,), instance_id="instance-1"),
        MemberSpec("two", (AUDIT,), instance_id="an-instance-with-a-long-name"),
        MemberSpec("idle", (AUDIT,)),
        MemberSpec("idler", (AUDIT,)),
    ]
    kip848 = [MemberSpec("one", (ORDERS,)), MemberSpec("two", (ORDERS, AUDIT))]
    return [
        (LiveGroup(bootstrap, "live-classic", two), 15),
        (LiveGroup(bootstrap, "live-robin", two, assignor="roundrobin"), 15),
        (LiveGroup(bootstrap, "live-static", static, settings=STAYING), 3),
        (LiveGroup(bootstrap, "live-kip848", kip848, protocol="consumer"), 15),
        (
            LiveGroup(
                bootstrap,
                "live-kip848-range",
                [MemberSpec("a-client-id-that-is-longer-than-15", (AUDIT,), instance_id="static")],
                protocol="consumer",
                assignor="range",
            ),
            3,
        ),
    ]


def _hold(connection: WireConnection) -> None:
    """Groups in the middle of something, and groups of other kinds."""
    stuck.join(connection, "stuck-completing", [ORDERS])
    stable = stuck.join(connection, "stuck-preparing", [AUDIT])
    stuck.sync(connection, "stuck-preparing", stable, stuck.assignment(AUDIT, [2, 0, 1]))
    worker = stuck.join(connection, "connect-workers", [], protocol_type="connect")
    stuck.sync(connection, "connect-workers", worker, b"", protocol_type="connect")
    stuck.reconcile(connection, "stuck-reconciling", ORDERS, 12)
    mixed = stuck.beat(connection, "mixed-protocols", "member-new", AUDIT)
    assert mixed.member_epoch > 0
    stuck.join(connection, "mixed-protocols", [AUDIT])
    stuck.knock(connection, "stuck-preparing", [AUDIT])
