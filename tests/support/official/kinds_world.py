"""A broker with share groups and streams groups of every state, for both tools to look at."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Final

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.lookups.topologies import topologies
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.snapshot import CommittedOffset, GroupType, TopicPartition
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.share_members import ShareMembers
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.share_groups import Sharer, configure_group
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import Offsets, commit_offsets, create_topics, produce
from tests.support.official import stuck
from tests.support.streams.application import word_count
from tests.support.streams.heartbeats import hand_member, subtopology

A, B, TEXTS, COUNTS = "kind-a", "kind-b", "texts", "counts"
LONG: Final = "a-group-with-a-name-that-is-much-longer-than-any-column"
LONG_TOPIC: Final = "a.very.long.topic.name_that-needs.quotes-in-csv"
STATE: Final = "app-x-store-changelog"
"""An internal topic, by its name, of the streams group `app-x`."""

SHARE_GROUPS: Final[Mapping[str, Offsets]] = {
    "share-empty": {(A, 0): 3, (B, 1): 4},
    LONG: {(LONG_TOPIC, 0): 1},
}
STREAMS_GROUPS: Final[Mapping[str, Offsets]] = {"app-empty": {(A, 0): 3, (A, 1): 4}}
"""Groups without members, and where they stand."""

SPEC = ClusterSpec(
    properties={
        # a member that says nothing more stays for the whole run
        "group.share.session.timeout.ms": "300000",
        "group.share.max.session.timeout.ms": "300000",
        "group.streams.session.timeout.ms": "300000",
        "group.streams.max.session.timeout.ms": "300000",
        "group.streams.topology.description.plugin.class": "KeptTopologies",
        "group.streams.heartbeat.interval.ms": "1000",
        "group.streams.min.heartbeat.interval.ms": "500",
    }
)


def put(bootstrap: str, kind: GroupType, groups: Mapping[str, Offsets]) -> None:
    """Groups without members that stand at these offsets, whatever they were before."""
    with ClusterAdmin(ClientSettings(bootstrap)) as admin:
        for outcome in admin.delete_groups(list(groups)):
            error = outcome.error
            assert error is None or error.code == "GROUP_ID_NOT_FOUND", error
        for group in groups if kind == "streams" else ():
            _be_born(admin, bootstrap, group)
        admin.types.update(dict.fromkeys(groups, kind))
        wanted = {
            group: {at: CommittedOffset(offset) for at, offset in offsets.items()}
            for group, offsets in groups.items()
        }
        failed = {key: error for key, error in write_commits(admin, wanted).items() if error}
        assert not failed, failed


def standing(bootstrap: str, groups: Iterable[str]) -> dict[str, dict[TopicPartition, int]]:
    """Where groups stand now."""
    with ClusterAdmin(ClientSettings(bootstrap)) as admin:
        looked = admin.snapshot(list(groups), log_offsets=False)
    return {
        group.group: {
            (topic, number): commit.offset
            for topic, numbers in (group.offsets or {}).items()
            for number, commit in numbers.items()
        }
        for group in looked.groups
    }


def _be_born(admin: ClusterAdmin, bootstrap: str, group: str) -> None:
    """A streams group that a member has joined and left; the broker makes its internal topic."""
    state = STATE if group == "app-x" else None
    with hand_member(bootstrap, group, [subtopology("0", [A, B, LONG_TOPIC], state)]) as member:
        member.beat()
        if state is not None:

            def is_there() -> bool:
                member.beat()
                return state in admin.topic_names()

            wait_until(is_there, "the internal topic is there", pause_s=0.2)


@contextmanager
def kinds_world() -> Iterator[KafkaCluster]:
    """A broker with all of it; its groups stay as they are while the block lasts."""
    with KafkaCluster(SPEC) as cluster, ExitStack() as stack:
        bootstrap = cluster.bootstrap
        create_topics(bootstrap, {A: 3, B: 2, LONG_TOPIC: 1, TEXTS: 2, COUNTS: 1})
        counts = {(A, number): 30 for number in range(3)} | {(B, 0): 20, (B, 1): 20}
        produce(bootstrap, counts | {(TEXTS, 0): 9, (TEXTS, 1): 9, (LONG_TOPIC, 0): 4})
        commit_offsets(bootstrap, {"plain": {(A, 0): 1}})
        put(bootstrap, "share", SHARE_GROUPS)
        put(bootstrap, "streams", STREAMS_GROUPS)
        configure_group(bootstrap, "app-live", {"streams.num.standby.replicas": "1"})
        applications = [
            stack.enter_context(word_count(bootstrap, "app-live", (TEXTS, COUNTS), threads=threads))
            for threads in (2, 1)
        ]
        wire = stack.enter_context(WireConnection(bootstrap, client_id="wire"))
        stuck.share(wire, "share-stuck", B)
        late = stack.enter_context(
            hand_member(bootstrap, "app-late", [subtopology("0", ["no-such-topic"])])
        )
        late.beat()
        configure_group(bootstrap, "share-live", {"share.auto.offset.reset": "earliest"})
        sharer = stack.enter_context(Sharer(bootstrap, "share-live", A))
        sharer.take(90)
        stack.enter_context(Sharer(bootstrap, "share-live", A, "another-with-a-long-client-id"))
        hosts = stack.enter_context(HostPool())
        configure_group(bootstrap, "share-java", {"share.auto.offset.reset": "earliest"})
        members = stack.enter_context(ShareMembers(bootstrap, "share-java", hosts))
        members.join("java-of-both", (A, B), in_java=True)
        members.join("java", (B,), in_java=True)
        wait_until(lambda: _lags(bootstrap, "share-java") == [0] * 5, "they have read all")
        members.join("librdkafka", (A,), in_java=False)
        for application in applications:
            application.line_that("RUNNING")
        wait_until(lambda: _is_settled(bootstrap), "every group is settled", timeout_s=240)
        yield cluster


def _lags(bootstrap: str, group: str) -> list[int | None]:
    """Of a share group's partitions, as the coordinator says."""
    with ClusterAdmin(ClientSettings(bootstrap)) as admin:
        found = admin.snapshot([group], log_offsets=False).groups
    return [
        commit.lag
        for each in found
        for numbers in (each.offsets or {}).values()
        for commit in numbers.values()
    ]


def _is_settled(bootstrap: str) -> bool:
    with ClusterAdmin(ClientSettings(bootstrap)) as admin:
        looked = admin.snapshot(["app-live", "share-java", "share-live"])
        if topologies(admin, ["app-live"])["app-live"] is None:
            return False
    ready = {group.group: group for group in looked.groups}
    if len(ready) < 3 or any(group.state != "Stable" for group in looked.groups):
        return False
    app, java, share = (ready[name] for name in ("app-live", "share-java", "share-live"))
    read = {topic for member in app.members or () for topic in member.assignment or {}}
    tasks = [member.streams.assigned_tasks for member in app.members or () if member.streams]
    texts = (app.offsets or {}).get(TEXTS, {})
    return (
        len(read) == 2
        and any(each.standby for each in tasks)
        and not any(each.warmup for each in tasks)
        and all(at in texts and texts[at].offset == 9 for at in (0, 1))
        and len((share.offsets or {}).get(A, {})) == 3
        and [len(group.members or ()) for group in (java, share)] == [3, 2]
        and all(member.assignment for group in (java, share) for member in group.members or ())
    )
