"""Brokers that are old, young, busy, moving or hanging: rows, never crashes or hidden groups."""

from typing import Any

import pytest

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at_times
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import CommittedOffset
from tests.support.cli.runner import run
from tests.support.hostile.scripted_broker import Answer, ScriptedBroker
from tests.support.kafka.broker import free_ports
from tests.support.own_waiting import OwnWaiting
from tests.support.protocol.plain import Body

NOT_COORDINATOR, LOADING, NOT_FOUND, UNSUPPORTED = 16, 14, 69, 35
NOT_AUTHORIZED = 29
EPOCHS: Body = {"group_epoch": 3, "assignment_epoch": 3, "assignor_name": "", "topology": None}


def _rows(**rows: list[Body]) -> Answer:
    return lambda *_: rows


def _metadata(brokers: dict[int, tuple[str, int]], hidden: str | None = None) -> Answer:
    """Topics of two partitions; one may not be described."""
    rows = [{"node_id": n, "host": host, "port": port} for n, (host, port) in brokers.items()]
    nodes = dict.fromkeys(("replica_nodes", "isr_nodes", "offline_replicas"), ())
    partitions = [{"partition_index": number, "leader_id": 1, **nodes} for number in range(2)]

    def topic(name: str) -> Body:
        row = {"name": name, "topic_id": None}
        if name == hidden:
            return row | {"error_code": NOT_AUTHORIZED, "partitions": ()}
        return row | {"partitions": partitions}

    return lambda _version, request: {
        "brokers": rows,
        "cluster_id": "scripted",
        "controller_id": 1,
        "topics": [topic(one.name) for one in request.topics or ()],
    }


def _find_coordinator(version: int, request: Any) -> Body:
    found = {"error_message": None, "node_id": 1, "host": "", "port": 0}
    keys = request.coordinator_keys if version >= 4 else ()
    return found | {"coordinators": [{**found, "key": key} for key in keys]}


def _described(group: str, **fields: object) -> Body:
    return {"group_id": group, "group_state": "Empty", "members": (), **fields}


def _describe(_version: int, request: Any) -> Body:
    plain = {"protocol_type": "", "protocol_data": ""}
    states = {group: "Dead" if group == "gone" else "Empty" for group in request.groups}
    return {"groups": [_described(g, **plain, group_state=s) for g, s in states.items()]}


def _unknown_type(code: int = NOT_FOUND) -> Answer:
    """A describing API for which no group is of its type, or which fails for another reason."""
    return lambda _version, request: {
        "groups": [_described(group, **EPOCHS, error_code=code) for group in request.group_ids],
    }


def _commits(version: int, request: Any) -> Body:
    """Every group has committed 5 on partition 0 of `t`."""
    row = {"partition_index": 0, "committed_offset": 5, "metadata": ""}
    topics = [{"name": "t", "partitions": [row]}]
    groups = [group.group_id for group in request.groups] if version >= 8 else []
    each = [{"group_id": group, "topics": topics} for group in groups]
    return {"topics": topics, "groups": each}


def _offsets(_version: int, request: Any) -> Body:
    def partition(asked: Any) -> Body:
        offset = 0 if asked.timestamp == -2 else 10
        return {"partition_index": asked.partition_index, "offset": offset}

    topics = [
        {"name": t.name, "partitions": [*map(partition, t.partitions)]} for t in request.topics
    ]
    return {"topics": topics}


def _listing(*groups: str, kind: str = "classic") -> Answer:
    plain = {"protocol_type": "", "group_state": "Empty", "group_type": kind}
    return lambda *_: {"groups": [{**plain, "group_id": group} for group in groups]}


class Scripted(ScriptedBroker):
    """Broker 1, which leads and coordinates everything; groups `a` and `b`."""

    def __init__(self, caps: dict[str, int] | None = None, **answers: Answer) -> None:
        plain = {
            "metadata": lambda *asked: _metadata({1: ("127.0.0.1", self.port)})(*asked),
            "find_coordinator": _find_coordinator,
            "list_groups": _listing("a", "b"),
            "describe_groups": _describe,
            "consumer_group_describe": _unknown_type(),
            "share_group_describe": _unknown_type(),
            "streams_group_describe": _unknown_type(),
            "offset_fetch": _commits,
            "list_offsets": _offsets,
        }
        super().__init__(plain | answers, caps)

    def admin(self, timeout_ms: int = 30_000) -> ClusterAdmin:
        """A reader of this cluster."""
        return ClusterAdmin(ClientSettings(self.address), timeout_ms=timeout_ms)


OLD = {
    "metadata": 9,
    "find_coordinator": 3,
    "list_groups": 3,
    "describe_groups": 5,
    "offset_fetch": 6,
    "list_offsets": 5,
    "delete_groups": 2,
    "consumer_group_describe": -1,
    "share_group_describe": -1,
    "streams_group_describe": -1,
}
"""What Kafka 2.4 offers."""


@pytest.mark.parametrize("hidden", [False, True])
def test_broker_of_2_4_is_asked_group_by_group(*, hidden: bool) -> None:
    """One OffsetFetch a group; Dead means that there is none.

    Where `__consumer_offsets` may not be described, one FindCoordinator a group, too.
    """
    with Scripted(OLD) as broker:
        here = {1: ("127.0.0.1", broker.port)}
        broker.answers["metadata"] = _metadata(here, OFFSETS_TOPIC if hidden else None)
        with broker.admin() as admin:
            snapshot = admin.snapshot(["a", "b", "gone"])
            listing = admin.list_groups(states=["Empty"])
    assert [group.group for group in snapshot.groups] == ["a", "b"]
    assert [(error.target, error.exit_code) for error in snapshot.errors] == [("gone", 5)]
    assert all(group.offsets == {"t": {0: CommittedOffset(5)}} for group in snapshot.groups)
    assert snapshot.topics["t"].partitions[1].log_end_offset == 10
    assert broker.count("offset_fetch") == 3
    assert broker.count("find_coordinator") == (3 if hidden else 0)
    # its listing has no states, so they come from describing
    assert [(group.group, group.state) for group in listing.groups] == [
        ("a", "Empty"),
        ("b", "Empty"),
    ]


def test_a_broker_that_knows_of_no_broker_is_no_empty_cluster() -> None:
    """It may be starting; that there are no groups is not what it says."""
    with Scripted(metadata=_metadata({})) as broker:
        told = run("-b", broker.address, "list")
    assert (told.exit_code, told.stdout) == (3, "")
    assert told.stderr.startswith("error: the broker knows of no broker\n")


def test_thousands_of_dead_brokers_are_one_line() -> None:
    """3,000 of 3,001: stderr has one line with their number, the document has each."""
    (closed,) = free_ports(1)
    with Scripted() as broker:
        dead = {n: (f"127.9.{n // 200}.{n % 200 + 1}", closed) for n in range(2, 3_002)}
        broker.answers["metadata"] = _metadata({1: ("127.0.0.1", broker.port)} | dead)
        told = run("-b", broker.address, "--timeout", "60s", "list", "-o", "json")
    assert told.exit_code == 3
    assert [item["group"] for item in told.document["items"]] == ["a", "b"]
    assert len(told.document["errors"]) == 3_000
    assert told.stderr.splitlines()[:-2] == [
        f"error: `broker 2 (127.9.0.3:{closed})`, `broker 3 (127.9.0.4:{closed})`, "
        f"`broker 4 (127.9.0.5:{closed})` and 2,997 more: 127.9.0.3:{closed} cannot be reached: "
        "connection refused"
    ]


def test_one_request_serves_all_groups_of_a_coordinator() -> None:
    """The batch that everything else was built for."""
    with Scripted() as broker, broker.admin() as admin:
        snapshot = admin.snapshot()
    assert len(snapshot.groups) == 2
    assert broker.count("offset_fetch") == 1
    assert broker.count("describe_groups") == 0  # the listing says all of empty classic groups
    assert broker.count("find_coordinator") == 0
    assert broker.count("list_offsets") == 2


def test_groups_are_asked_for_as_rare_types_only_if_they_are_of_no_other() -> None:
    """A classic group costs no question about share groups, one that is not there does."""
    with Scripted({"describe_groups": 5}) as broker:  # there `gone` is Dead, not an error
        rare = ("share_group_describe", "streams_group_describe")
        with broker.admin() as admin:
            snapshot = admin.snapshot(["a", "b"])
            assert [broker.count(api) for api in rare] == [0, 0]
            missing = admin.snapshot(["a", "gone"])
            assert [broker.count(api) for api in rare] == [1, 1]
    assert [group.group for group in snapshot.groups] == ["a", "b"]
    assert [error.target for error in missing.errors] == ["gone"]


def test_error_of_the_future_costs_one_group() -> None:
    """The others are whole, and nothing is asked again."""

    def fetch(version: int, request: Any) -> Body:
        answer = _commits(version, request)
        answer["groups"][1] |= {"topics": (), "error_code": 999}
        return answer

    with Scripted(offset_fetch=fetch) as broker, broker.admin() as admin:
        snapshot = admin.snapshot()
    commits = {group.group: group.offsets for group in snapshot.groups}
    assert commits == {"a": {"t": {0: CommittedOffset(5)}}, "b": None}
    (error,) = snapshot.errors
    assert (error.target, error.code, error.exit_code) == ("b", "UNKNOWN_ERROR_999", 1)
    assert broker.count("offset_fetch") == 1


def test_what_nobody_asked_about_is_passed_over() -> None:
    """A leader that says of another topic that it leads it no more."""
    moved = {"name": "other", "partitions": [{"partition_index": 0, "error_code": 6}]}

    def offsets(version: int, request: Any) -> Body:
        answer = _offsets(version, request)
        answer["topics"].append(moved)
        return answer

    with Scripted(list_offsets=offsets) as broker, broker.admin() as admin:
        found = offsets_at_times(admin, {("t", 0): 1_000})
    assert found[("t", 0)] == 10


def test_a_broker_of_4_4_says_why_a_group_was_not_deleted() -> None:
    """DeleteGroups 3: its own words, unless ours say what to do."""
    gone = "The topology description of group a could not be deleted."
    rows = [
        {"group_id": "a", "error_code": 134, "error_message": gone},
        {"group_id": "b", "error_code": NOT_FOUND, "error_message": "Group b not found."},
    ]
    with (
        Scripted({"delete_groups": 3}, delete_groups=_rows(results=rows)) as broker,
        broker.admin() as admin,
    ):
        found = [outcome.error for outcome in admin.delete_groups(["a", "b"])]
    assert [error and (error.code, error.message, error.exit_code) for error in found] == [
        ("GROUP_DELETION_FAILED", gone, 1),
        ("GROUP_ID_NOT_FOUND", "no such group", 5),
    ]


def test_a_broker_of_4_4_names_the_assignor_of_a_streams_group() -> None:
    """StreamsGroupDescribe 1."""
    answer = _rows(groups=[_described("a", **EPOCHS | {"assignor_name": "sticky"})])
    caps = {"streams_group_describe": 1, "describe_groups": -1}
    with Scripted(caps, streams_group_describe=answer) as broker, broker.admin() as admin:
        (group,) = admin.snapshot(["a"]).groups
    assert (group.type, group.state, group.assignor) == ("streams", "Empty", "sticky")


@pytest.mark.parametrize("line", ["describe a", "plan a", "peek a"])
def test_a_group_whose_type_is_not_served(line: str) -> None:
    """The feature is off: it is in the listing alone; a group that is not there is not found."""
    answers = {
        "list_groups": _listing("a", kind="share"),
        "share_group_describe": _unknown_type(UNSUPPORTED),
    }
    with Scripted({"describe_groups": -1}, **answers) as broker:
        told = run("-b", broker.address, *line.split())
        absent = run("-b", broker.address, *line.replace(" a", " b").split())
    assert (told.exit_code, absent.exit_code) == (1, 5)
    why = "the brokers do not serve share groups: the feature `share.version` is off"
    assert f"`a`: {why}" in told.stderr
    assert "`b`: no such group" in absent.stderr


def _node(name: str, kind: int, successors: list[str], **more: Any) -> Body:
    plain: Body = {"source_topics": [], "sink_topic": None, "stores": []}
    return {"name": name, "node_type": kind, "successors": successors, **plain, **more}


_NODES = [
    _node("in", 1, ["count"], source_topics=["t"]),
    _node("count", 2, ["out"], stores=["counts"]),
    _node("out", 3, [], sink_topic="u"),
]
_GLOBAL = {"source": _node("all", 1, ["keep"]), "processor": _node("keep", 2, [])}


@pytest.mark.parametrize(
    ("version", "status", "said"),
    [
        (1, 3, None),
        (1, 2, "the broker failed to fetch the topology description"),
        (1, 1, "they need `group.streams.topology.description.plugin.class`"),
        (0, 0, "requires brokers of Kafka 4.4 or later"),
    ],
    ids=["described", "failed", "not stored", "4.3"],
)
def test_topology_of_a_streams_group(version: int, status: int, said: str | None) -> None:
    """`describe --tasks --verbose`: nodes, or a note why there are none."""
    row = _described("a", **EPOCHS)
    if version:
        parts = [{"subtopology_id": "0", "nodes": _NODES}]
        there = {"subtopologies": parts, "global_stores": [_GLOBAL]} if said is None else None
        row |= {"topology_description_status": status, "topology_description": there}
    caps = {"streams_group_describe": version, "describe_groups": -1}
    with Scripted(caps, streams_group_describe=_rows(groups=[row])) as broker:
        line = ("-b", broker.address, "describe", "a", "--tasks", "--verbose")
        told, table = run(*line, "-o", "json"), run(*line)
    (item,) = told.document["items"]
    notes = [n["message"] for n in told.document["notes"] if n["code"] == "TOPOLOGY_UNKNOWN"]
    if said is not None:
        assert (item["topology_description"], table.stdout, table.exit_code) == (None, "", 0)
        assert len(notes) == 1
        assert notes[0].startswith("no topology nodes of `a`: ")
        assert said in notes[0]
        assert said in table.stderr
        return
    found = item["topology_description"]
    names = [(node["name"], node["kind"]) for node in found["subtopologies"][0]["nodes"]]
    assert names == [("in", "source"), ("count", "processor"), ("out", "sink")]
    assert found["subtopologies"][0]["nodes"][1]["stores"] == ["counts"]
    assert found["global_stores"][0]["processor_node"]["name"] == "keep"
    assert notes == []
    lines = table.stdout.splitlines()
    assert lines[:4] == [
        "TOPOLOGY",
        "Group: a",
        "   Sub-topology: 0",
        "    Source: in (topics: [t])",
    ]
    assert "    Processor: count (stores: [counts])" in lines
    assert "   Sub-topology: 1 for global store (will not generate tasks)" in lines
    assert all(line.strip(" -") for line in lines)


@pytest.mark.parametrize("code", [NOT_COORDINATOR, LOADING])
def test_moving_or_loading_coordinator_is_asked_again(code: int) -> None:
    """Errors that pass are waited out; the coordinator is looked up anew."""
    refusals = iter([code, code])

    def fetch(version: int, request: Any) -> Body:
        refusal = next(refusals, 0)
        if not refusal:
            return _commits(version, request)
        answer = _commits(version, request)
        for group in answer["groups"]:
            group |= {"topics": (), "error_code": refusal}
        return answer

    with Scripted(offset_fetch=fetch) as broker, broker.admin() as admin:
        snapshot = admin.snapshot()
    assert snapshot.errors == ()
    assert all(group.offsets for group in snapshot.groups)
    assert broker.count("offset_fetch") == 3
    assert broker.count("find_coordinator") == 2


def test_hanging_broker_leaves_time_for_the_others() -> None:
    """Its groups are missing and said to be; the rest comes within the timeout."""
    with Scripted() as good, ScriptedBroker({}) as hanging:
        both = {1: ("127.0.0.1", good.port), 2: ("127.0.0.1", hanging.port)}
        good.answers["metadata"] = _metadata(both)
        with good.admin(timeout_ms=6_000) as admin:
            with OwnWaiting() as waiting:
                snapshot = admin.snapshot()
            assert waiting.seconds < 6 + 2
    assert [group.group for group in snapshot.groups] == ["a", "b"]
    (error,) = snapshot.errors
    assert error.target == f"broker 2 ({hanging.address})"
    assert (error.code, error.exit_code) == ("REQUEST_TIMED_OUT", 3)


def test_a_deletion_whose_answer_was_lost_is_done() -> None:
    """It is asked again, and `not found` then says that the first request was carried out."""
    lost = iter([True])

    def delete(_version: int, request: Any) -> Body:
        if next(lost, False):
            raise ConnectionResetError
        gone = {"error_code": NOT_FOUND, "error_message": None}
        return {"results": [{**gone, "group_id": name} for name in request.groups_names]}

    with Scripted(delete_groups=delete) as broker, broker.admin() as admin:
        first = admin.delete_groups(["a"])
        second = admin.delete_groups(["a"])
    assert [each.result for each in first] == ["done"]
    assert [each.error and each.error.code for each in second] == ["GROUP_ID_NOT_FOUND"]


def test_connections_that_were_closed_between_two_questions_are_replaced() -> None:
    """Brokers close what is idle for ten minutes, and all when they restart."""
    with Sandbox(brokers=2) as cluster:
        settings = ClientSettings(cluster.bootstrap_servers)
        with ClusterAdmin(settings, timeout_ms=60_000) as admin:
            before = admin.list_groups()
            for broker in (1, 2):
                cluster.stop_broker(broker)
            for broker in (1, 2):
                cluster.start_broker(broker)
            after = admin.list_groups()
    assert after == before
    assert (len(after.brokers), after.errors) == (2, ())
