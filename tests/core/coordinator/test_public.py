"""What programs that drive the coordinator count on besides its answers."""

import ast
import builtins
import random
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import kgroups.core.coordinator as coordinator_package
from kgroups.core.coordinator.config import PROPERTIES, CoordinatorConfig, wrong_settings
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.default_ports import coordinator_ports
from kgroups.core.coordinator.effects import Reply, Write
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kgroups.core.coordinator.log.record_codec import decode_record, encode_record
from kgroups.core.coordinator.ports import Ports
from kgroups.core.coordinator.protocols import ROUTES
from kgroups.core.coordinator.topology import TopicInfo, Topology
from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.default_requests import commit, join

TOPICS = Topology.of([TopicInfo("t", UUID(int=11), 4)], version=1)
JOINS = ConsumerGroupHeartbeatRequest(
    version=1,
    group_id="g",
    member_id="m",
    member_epoch=0,
    rebalance_timeout_ms=60_000,
    subscribed_topic_regex="t.*",
    topic_partitions=(),
)


def coordinator() -> Coordinator:
    """A new one that serves every partition."""
    return Coordinator(CoordinatorConfig(), TOPICS, lambda: UUID(int=1), now_ms=0)


def written() -> list[Write]:
    """What a commit of three groups appends."""
    one = coordinator()
    writes = []
    for token, group in enumerate(("a", "b", "c")):
        one.submit(0, token, commit({1: 7}, group))
        effects = one.take()
        writes += [effect for effect in effects if isinstance(effect, Write)]
        assert [effect.api for effect in effects if isinstance(effect, Reply)] == ["OffsetCommit"]
    return writes


def test_records_go_to_bytes_and_back() -> None:
    """`decode_record` is the inverse of `encode_record`."""
    records = [record for write in written() for record in write.records]
    assert records
    assert [decode_record(*encode_record(record)) for record in records] == records


def test_reload_in_one_call() -> None:
    """A coordinator that loads the log holds what the first one held."""
    records = [record for write in written() for record in write.records]
    fresh = coordinator()
    fresh.reload(1_000, records)
    assert sorted(fresh.group_states()) == ["a", "b", "c"]
    assert sorted(map(encode_record, fresh.durable_records())) == sorted(
        map(encode_record, records)
    )


def test_it_serves_kip848_without_being_given_anything() -> None:
    """Kafka's assignors are its defaults: the only member gets all that its pattern finds."""
    one = coordinator()
    one.submit(0, 1, JOINS)
    one.advance(1_000)
    again = replace(JOINS, member_epoch=1, topic_partitions=None, subscribed_topic_regex=None)
    one.submit(1_000, 2, again)
    answers = [effect.response for effect in one.take() if isinstance(effect, Reply)]
    assert isinstance(answers[-1], ConsumerGroupHeartbeatResponse)
    (topic,) = answers[-1].assignment or ()
    assert (topic.topic_id, topic.partitions) == (UUID(int=11), (0, 1, 2, 3))


def test_a_brokers_file_is_taken_whole() -> None:
    """What is not known here, such as settings of later releases, is told and passed over."""
    later = "group.consumer.assignor.offload.enable"
    assert {later, "log.dirs"}.isdisjoint(PROPERTIES)
    given = {"group.max.size": "5", later: "true", "log.dirs": "/tmp", "group.max.sise": "6"}
    unknown: list[str] = []
    assert CoordinatorConfig.from_properties(given, unknown).classic_max_size == 5
    assert CoordinatorConfig.from_properties(given).classic_max_size == 5
    assert [text.split()[0] for text in unknown] == [f"`{later}`", "`log.dirs`", "`group.max.sise`"]
    assert unknown[-1].endswith("did you mean `group.max.size`?")
    with pytest.raises(UsageError, match=r"`group\.max\.size`: invalid value `many`"):
        CoordinatorConfig.from_properties({"group.max.size": "many"})


def test_time_does_not_go_back() -> None:
    """Nothing happens then; the same time again is fine."""
    one = coordinator()
    one.submit(5_000, 1, JOINS)
    before = one.take(), one.snapshot(), one.next_deadline()
    with pytest.raises(UsageError, match="time went back"):
        one.submit(4_999, 2, JOINS)
    with pytest.raises(UsageError, match="time went back"):
        one.advance(0)
    assert one.answer_at_once(4_999, JOINS) is None
    assert (one.take(), one.snapshot(), one.next_deadline()) == ([], *before[1:])
    one.advance(5_000)


def test_what_is_no_request_changes_nothing() -> None:
    """Neither the time nor the token is taken."""
    one = coordinator()
    with pytest.raises(UsageError, match="`str` is no request of the coordinator's"):
        one.submit(5_000, "t", "hello")  # type: ignore[arg-type]
    one.submit(0, "t", JOINS)
    assert [effect.token for effect in one.take() if isinstance(effect, Reply)] == ["t"]
    with pytest.raises(UsageError, match="None is no token"):
        one.submit(0, None, JOINS)


def test_a_token_is_free_once_it_is_answered() -> None:
    """A request that waits for the others keeps its token for itself."""
    joins, one = join("classic"), coordinator()
    one.submit(0, "join", joins)
    before = one.snapshot()
    with pytest.raises(UsageError, match="the token `join` has no answer yet"):
        one.submit(0, "join", joins)
    assert one.snapshot() == before
    one.advance(10_000)
    assert [effect.token for effect in one.take() if isinstance(effect, Reply)] == ["join"]
    one.submit(10_000, "join", JOINS)


def test_every_request_is_named_as_kafka_names_it() -> None:
    """So that a reply's `api` is the name of its request."""
    assert all(request.__name__.endswith("Request") for request in ROUTES)


@pytest.mark.parametrize("names", [(), ("uniform", "mine")])
def test_assignors_that_are_not_there(names: tuple[str, ...]) -> None:
    """A broker would not start with these `group.consumer.assignors`."""
    config = CoordinatorConfig(consumer_assignors=names)
    with pytest.raises(UsageError, match="empty" if not names else "no assignor `mine`"):
        Coordinator(config, TOPICS, lambda: UUID(int=1), now_ms=0)
    Coordinator(config, TOPICS, lambda: UUID(int=1), now_ms=0, ports=Ports())  # serves none


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"consumer.session.timeout.ms": "soon"}, "whole number"),
        ({"consumer.session.timeout.ms": "1"}, "between 45000 and 60000"),
        ({"consumer.heartbeat.interval.ms": "20000"}, "between 5000 and 15000"),
        ({"consumer.assignment.interval.ms": "-1"}, "at least 0"),
        ({"consumer.sessions": "1"}, "no group setting"),
    ],
)
def test_settings_of_a_group_are_checked_when_they_are_set(
    config: dict[str, str], said: str
) -> None:
    """Not by the request that needs them; those of before stay."""
    one = coordinator()
    one.set_group_config("g", {"consumer.session.timeout.ms": "50000"})
    with pytest.raises(UsageError, match=said):
        one.set_group_config("g", config)
    one.submit(0, 1, JOINS)
    assert any(isinstance(effect, Reply) for effect in one.take())


def test_a_heartbeat_as_long_as_the_session() -> None:
    """Each is within its bounds; together a broker refuses them."""
    broker = CoordinatorConfig(consumer_min_session_timeout_ms=5_000)
    (wrong,) = wrong_settings({"consumer.session.timeout.ms": "5000"}, broker)
    assert wrong.name == "consumer.session.timeout.ms"
    assert "must be less than" in wrong.what
    assert not list(wrong_settings({"consumer.session.timeout.ms": "5001"}, broker))


def test_a_reload_takes_the_place_of_what_was_held() -> None:
    """Groups of before are gone, and records of kinds that are not known are passed over."""
    one = coordinator()
    for token, group in enumerate(("old", "kept")):
        one.submit(0, token, commit({1: 7}, group))
    one.take()
    records = one.durable_records(["kept"])
    assert decode_record(b"\x7f\x00", b"") is None
    one.reload(1_000, [None, *records])
    assert list(one.group_states()) == ["kept"]
    assert one.durable_records() == records


def held(one: Coordinator) -> tuple[object, ...]:
    """All that can be seen of it."""
    return one.snapshot(), one.durable_records(), one.next_deadline(), one.take()


@pytest.mark.parametrize("what", ["no record", "a key", "time", "no partition", "negative"])
def test_a_reload_that_cannot_be_leaves_all_as_it_was(what: str) -> None:
    """What is wrong is told before anything is given up."""
    one = coordinator()
    one.submit(5_000, 1, JOINS)
    one.take()
    before = held(one)
    records: list[Any] = [*one.durable_records()]
    match what:
        case "no record":
            records.append(("key", "value"))
        case "a key":
            records.append(records[0].key)
    partition = {"no partition": 50, "negative": -1}.get(what)
    with pytest.raises(UsageError, match=r"no record|time went back|has 50 partitions"):
        one.reload(4_000 if what == "time" else 6_000, records, partition)
    assert held(one) == before


@pytest.mark.parametrize(
    ("call", "arguments", "said"),
    [
        ("resign", (4_999, 0), "time went back"),
        ("resign", (5_000, 50), "has 50 partitions, and no 50"),
        ("begin_loading", (50,), "has 50 partitions, and no 50"),
        ("finish_loading", (4_999, 0), "time went back"),
        ("finish_loading", (5_000, -1), "has 50 partitions, and no -1"),
        ("write_failed", (4_999, Write, ErrorCode.NOT_LEADER_OR_FOLLOWER), "time went back"),
    ],
)
def test_driven_wrongly_it_stays_as_it_was(
    call: str, arguments: tuple[object, ...], said: str
) -> None:
    """Time that goes back, and partitions that are not there."""
    one = coordinator()
    one.submit(5_000, 1, JOINS)
    write = next(effect for effect in one.take() if isinstance(effect, Write))
    before = held(one)
    with pytest.raises(UsageError, match=said):
        getattr(one, call)(*(write if given is Write else given for given in arguments))
    assert held(one) == before


def test_without_assignors_consumer_groups_are_refused() -> None:
    """By the code that brokers answer with where the protocol is off, and nothing is written."""
    records = [*coordinator_of_one_group().durable_records()]
    ports = Ports()
    one = Coordinator(CoordinatorConfig(), TOPICS, lambda: UUID(int=1), now_ms=0, ports=ports)
    one.submit(0, 1, JOINS)
    (reply,) = one.take()
    assert isinstance(reply, Reply)
    assert isinstance(reply.response, ConsumerGroupHeartbeatResponse)
    assert reply.response.error_code is ErrorCode.UNSUPPORTED_VERSION
    with pytest.raises(UsageError, match="consumer group"):
        one.reload(0, records)
    with pytest.raises(UsageError, match="consumer group"):
        one.replay(records[0])
    assert one.snapshot() == ()


def test_ports_are_whole() -> None:
    """Assignors without what else a consumer group needs would fail at the first heartbeat."""
    with pytest.raises(UsageError, match="hash64"):
        Ports(assignors=coordinator_ports().assignors)


def coordinator_of_one_group() -> Coordinator:
    """One with a consumer group of one member."""
    one = coordinator()
    one.submit(0, 1, JOINS)
    return one


@pytest.mark.parametrize("key", [bytes(one) for one in ((), (0,), (0, 1), (0, 1, 255, 255))])
def test_broken_records(key: bytes) -> None:
    """They are told by an error that is one of ours and, as it was, a ValueError."""
    with pytest.raises(KgroupsError) as caught:
        decode_record(key, b"")
    assert isinstance(caught.value, ValueError)


def test_every_error_is_one_of_ours() -> None:
    """Whoever drives the coordinator catches `KgroupsError`; an AssertionError is a bug."""
    raised = {
        f"{path.name}: {node.exc.func.id}"
        for path in Path(coordinator_package.__path__[0]).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and isinstance(getattr(builtins, node.exc.func.id, None), type)
    }
    assert {text for text in raised if not text.endswith("AssertionError")} == set()


def drive(one: Coordinator, draw: random.Random, now_ms: int, records: list[Any]) -> None:
    """One call with arguments that are right, wrong or late."""
    requests: list[Any] = [JOINS, "hello", None, replace(JOINS, group_id="h", member_id="n")]
    partition = draw.choice((0, 3, 49, 50, -1))
    match draw.randrange(10):
        case 0 | 1:
            one.submit(now_ms, draw.randrange(9), draw.choice(requests))
        case 2:
            one.advance(now_ms)
        case 3:
            given = draw.choices([*records, None, 7], k=3)
            one.reload(now_ms, given, draw.choice((None, 3, 50)))
        case 4:
            one.replay(draw.choice([*records[:3], "record"]))
        case 5:
            one.resign(now_ms, partition)
        case 6:
            one.begin_loading(partition)
            one.finish_loading(now_ms, partition)
        case 7:
            one.write_failed(now_ms, written()[0], ErrorCode.NOT_LEADER_OR_FOLLOWER)
        case 8:
            name = draw.choice(("a", "consumer.session.timeout.ms"))
            one.set_group_config("g", {name: "1"})
        case 9:
            one.update_topology(now_ms, draw.choice((TOPICS, Topology())))


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_called_raises_errors_of_ours(seed: int) -> None:
    """Random calls: each does what it should or is refused, with an error of ours."""
    draw = random.Random(seed)
    one = coordinator()
    records: list[Any] = [record for write in written() for record in write.records]
    records += coordinator_of_one_group().durable_records()
    now_ms = refused = 0
    for _ in range(60):
        now_ms += draw.choice((-1, 0, 1, 5_000, 50_000))
        one.take()
        before = held(one)
        try:
            drive(one, draw, now_ms, records)
        except KgroupsError:
            refused += 1
            after = held(one)
            if after != before:
                pytest.fail(f"seed {seed}: changed by a call that was refused")
    assert refused, f"seed {seed}"
