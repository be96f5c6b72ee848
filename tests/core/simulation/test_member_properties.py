"""Properties of members: from scenarios, from a client's own file, and what they change."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from jsonschema import Draft202012Validator

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import parse_document, read_document
from kgroups.core.simulation.clients.properties import TABLES
from kgroups.core.simulation.engine.refusals import check_scenario
from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.scenario.member_file import with_properties
from kgroups.core.simulation.scenario.member_settings import SETTINGS
from kgroups.core.simulation.scenario.scenario_file import parse_simulation
from kgroups.core.simulation.scenario.scenario_model import MemberPlan, Scenario
from tests.support.simulation.sample_scenarios import BASE, checked, ran, scenario, small

SCHEMA: Final = Path(__file__).parents[3] / "cli" / "schemas" / "simulation.json"
FILE: Final = """\
# A consumer as it is deployed.
bootstrap.servers=broker-1:9092
group.id=app
client.id=billing
client.rack=b
session.timeout.ms=20000
max.poll.records: 50
enable.auto.commit = false
auto.offset.reset=earliest
isolation.level=read_committed
partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor
key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
ssl.truststore.location=/etc/trust.jks
receive.buffer.bytes=131072
"""
WITHOUT_EFFECT: Final = (
    "bootstrap.servers",
    "key.deserializer",
    "receive.buffer.bytes",
    "ssl.truststore.location",
)


def read(folder: Path, properties: str, member: str = "m: {count: 3,") -> Scenario:
    """The base scenario with a file of properties beside it."""
    (folder / "app.properties").write_text(properties)
    path = folder / "s.yaml"
    path.write_text(BASE.replace("m: {count: 3,", f"{member} properties: app.properties,"))
    document = read_document(path)
    found = parse_simulation(document)
    check_scenario(found, document)
    return found


def only_member(found: Scenario) -> MemberPlan:
    """The first member."""
    return found.groups[0].members[0]


def test_a_clients_own_file_is_read(tmp_path: Path) -> None:
    """What counts is taken, the rest is named."""
    found = read(tmp_path, FILE)
    plan = only_member(found)
    assert (plan.client_id, plan.rack, plan.instance_id) == ("billing", "b", None)
    given = plan.settings
    # The scenario's settings are said of the group, the file of its members: it wins.
    assert (given.session_timeout_ms, given.max_poll_records) == (20_000, 50)
    assert (given.max_poll_interval_ms, given.enable_auto_commit) == (60_000, False)
    assert (given.auto_offset_reset, given.isolation_level) == ("earliest", "read_committed")
    assert given.assignors == ("range",)
    assert found.idle == WITHOUT_EFFECT


REFUSED: Final = {
    "a misspelt name": (
        "session.timeout.ms=20000\nmax.pol.records=5\n",
        *("app.properties`, line 2", "unknown property `max.pol.records`", "`max.poll.records`"),
    ),
    "another library's": (
        "socket.timeout.ms=5\n",
        *("line 1", "unknown property `socket.timeout.ms` of the Java consumer", "librdkafka"),
    ),
    "no number": ("fetch.min.bytes=1kB\n", "line 1", "expected a whole number, found `1kB`", None),
    "no number where it has no effect": (
        "send.buffer.bytes=much\n",
        *("line 1", "expected a whole number", None),
    ),
    "a unit": ("session.timeout.ms=10s\n", "line 1", "expected a whole number", None),
    "a level": ("\nisolation.level=all\n", "line 2", "expected one of `read_uncommitted`", None),
    "another group": ("group.id=other\n", "line 1", "group is `other`, not `app`", "group.id"),
    "another protocol": (
        "group.protocol=consumer\n",
        *("line 1", "the protocol is `consumer`, the group is eager", "protocol"),
    ),
    "one id for three": ("group.instance.id=one\n", "groups.app.members.m", "share one", "static"),
    "no property": ("{}\n", "app.properties:1", "is not a property", "key=value"),
}


def said_of(error: UsageError) -> tuple[str, str]:
    """Message and hint."""
    return error.message.replace(r"app\.", "app."), error.hint or ""


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, case: str) -> None:
    """File, line, what is wrong, what would be right."""
    text, where, what, hint = REFUSED[case]
    with pytest.raises(UsageError) as raised:
        read(tmp_path, text)
    message, told = said_of(raised.value)
    assert where in message.replace("'", "")
    assert what in message
    assert hint is None or hint in told


def test_the_file_tells_the_protocol(tmp_path: Path) -> None:
    """Where the scenario does not say it."""
    (tmp_path / "c.properties").write_text("group.protocol=consumer\n")
    path = tmp_path / "s.yaml"
    text = "topics: {t: 1}\ngroups: {g: {members: {m: {topics: [t], properties: c.properties}}}}\n"
    path.write_text(text)
    assert parse_simulation(read_document(path)).groups[0].protocol == "consumer"


def test_librdkafka_has_its_own_words(tmp_path: Path) -> None:
    """They are read by its table, and mean what Java calls otherwise."""
    text = (
        "socket.timeout.ms=5000\nfetch.wait.max.ms=70\nrequest.timeout.ms=1\nmax.poll.records=9\n"
    )
    found = read(tmp_path, text, "m: {count: 3, client: librdkafka,")
    given = only_member(found).settings
    assert (given.request_timeout_ms, given.fetch_max_wait_ms) == (5_000, 70)
    assert given.max_poll_records == 1
    assert found.idle == ("max.poll.records", "request.timeout.ms")


def test_settings_may_hold_what_has_no_effect() -> None:
    """A property of the library is named, another one refused with what was meant."""
    text = BASE.replace("session.timeout.ms: 10s", "ssl.key.password: secret")
    assert scenario(text).idle == ("ssl.key.password",)
    with pytest.raises(UsageError) as raised:
        scenario(BASE.replace("session.timeout.ms", "session.timout.ms"))
    assert raised.value.hint == "did you mean `session.timeout.ms`?"


def test_the_schema_takes_every_property_of_both_libraries() -> None:
    """And no other."""
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    value = yaml.safe_load(BASE)
    settings = value["groups"]["app"]["settings"]
    for table in TABLES.values():
        settings |= {name: "x" for name in table if name not in SETTINGS}
    assert validator.is_valid(value)
    settings["colour"] = "x"
    assert not validator.is_valid(value)


def test_a_file_for_every_member() -> None:
    """Laid over what the scenario says."""
    document = parse_document("max.poll.records=7\nclient.rack=r\n", "c.properties", "properties")
    found = with_properties(scenario(), document)
    assert {plan.settings.max_poll_records for plan in found.groups[0].members} == {7}
    assert {plan.rack for plan in found.groups[0].members} == {"r"}
    assert only_member(found).settings.session_timeout_ms == 10_000
    for text, said in (
        ("group.instance.id=x\n", "`c.properties`, line 1"),
        ("group.protocol=consumer\n", "`c.properties`, line 1"),
        ("sesion.timeout.ms=1\n", "unknown property"),
    ):
        with pytest.raises(UsageError) as raised:
            with_properties(scenario(), parse_document(text, "c.properties", "properties"))
        assert said in raised.value.message


# ---------------------------------------------------------------------- effects


def outcome(settings: dict[str, Any], **changes: Any) -> GroupOutcome:
    """One member that reads one topic for two minutes."""
    topic = {"rate": "10/s", **changes.pop("topic", {})}
    member = {"settings": settings, **changes.pop("member", {})}
    changes = {"until": "2m", **changes}
    return simulate(checked(small(member, topic=topic, **changes))).groups[0]


def test_read_committed_waits_for_the_end_of_transactions() -> None:
    """With one commit in 20 s, 200 records are there and cannot be read yet."""
    topic = {"transactions": "20s"}
    everything = outcome({}, topic=topic)
    committed = outcome({"isolation.level": "read_committed"}, topic=topic)
    assert everything.peak_unread <= 40  # what comes while the group begins
    assert 190 <= committed.peak_unread <= 201
    # Without transactions both levels read the same.
    assert outcome({"isolation.level": "read_committed"}) == outcome({})


def test_a_pattern_leaves_internal_topics_out() -> None:
    """Unless `exclude.internal.topics` is false, or the broker matches it, as Kafka 4.4 does."""

    def owned(settings: dict[str, Any], client: str, protocol: str = "eager") -> set[str]:
        member = {"pattern": "t.*|__consumer.*", "client": client}
        if client == "librdkafka":
            member["pattern"] = "^t.*|^__consumer.*"
        group = ran(small({**member, **settings}, group={"protocol": protocol}, until="30s"))
        return {one.topic for one in group.partitions if one.owner is not None}

    both = {"t", "__consumer_offsets"}
    assert owned({}, "java") == {"t"}
    assert owned({"settings": {"exclude.internal.topics": False}}, "java") == both
    assert owned({}, "librdkafka") == both
    assert owned({}, "java", "consumer") == both
    assert owned({}, "java", "zookeeper") == {"t"}


def test_a_consumer_that_does_not_leave_is_missed_when_its_session_is_over() -> None:
    """`internal.leave.group.on.close`: nobody reads its partition until then."""

    def unowned_ms(leaves: bool) -> int:
        settings = {"internal.leave.group.on.close": leaves, "session.timeout.ms": "20s"}
        events = [{"at": "60s", "scale_in": {"group": "g"}}]
        member = {"count": 2, "settings": settings}
        group = ran(small(member, topic={"partitions": 2}, until="2m", events=events))
        assert group.rebalance_count == 2
        return group.longest_unowned_ms

    assert unowned_ms(True) < 8_000
    assert 17_000 <= unowned_ms(False) <= 23_500


def test_brokers_create_topics_for_clients_that_ask() -> None:
    """Java's do by default, librdkafka's do not."""
    cluster = {"auto.create.topics.enable": True, "num.partitions": 3}
    found = outcome({}, cluster=cluster, member={"topics": ["t", "new"]})
    owners = [one.owner for one in found.partitions if one.topic == "new"]
    assert owners == ["m"] * 3
    for settings, client in (({"allow.auto.create.topics": False}, "java"), ({}, "librdkafka")):
        member = {"topics": ["t", "other"], "client": client}
        with pytest.raises(UsageError, match="there is no topic `other`") as raised:
            outcome(settings, cluster=cluster, member=member)
        assert "allow.auto.create.topics" in (raised.value.hint or "")


def test_a_reset_by_duration_begins_with_records_of_that_age() -> None:
    """KIP-1106: of 10 records a second it reads those of the last five seconds too."""

    def read_by(reset: str) -> int:
        member = {"start": "60s"}
        group = {"committed": "none"}
        return outcome({"auto.offset.reset": reset}, member=member, group=group).records

    latest, earliest = read_by("latest"), read_by("earliest")
    assert read_by("by_duration:PT5S") - latest == 50
    assert read_by("by_duration:P1D") == earliest


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_members_without_an_offset_fail_where_nothing_resets_them(protocol: str) -> None:
    """Each in turn: the first offset that is missing ends it, and its partitions go to the next."""
    group = {"committed": "none", "protocol": protocol}
    found = outcome({"auto.offset.reset": "none"}, member={"count": 2}, group=group)
    assert [one.running for one in found.members] == [False, False]
    for member in found.members:
        (failure,) = member.failures
        assert failure.startswith("no offset to read t-"), failure
    assert (found.records, found.settled) == (0, False)
    kept = outcome({"auto.offset.reset": "none"}, member={"count": 2}, group={"protocol": protocol})
    assert all(one.running and not one.failures for one in kept.members)


def test_an_idle_connection_is_closed_and_set_up_again() -> None:
    """Each heartbeat waits for two more rounds where the connection is closed in between."""

    def crash(settings: dict[str, Any]) -> int:
        settings = {"heartbeat.interval.ms": "6s", "enable.auto.commit": False, **settings}
        events = [{"at": "60s", "scale_in": {"group": "g", "members": ["m-2"]}}]
        member, network = {"count": 2, "settings": settings}, {"latency": "100ms"}
        found = small(member, topic={"partitions": 2}, until="2m", network=network, events=events)
        return ran(found).longest_unowned_ms

    # m-1 hears of it with its next heartbeat; TCP and ApiVersions take 400 ms before that.
    assert crash({"connections.max.idle.ms": "5s"}) - crash({}) == 400


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("receive.buffer.bytes", -2, "expected at least -1, found -2"),
        ("metrics.num.samples", 0, "expected at least 1, found 0"),
        ("sasl.login.refresh.window.jitter", 0.5, "expected at most 0.25, found 0.5"),
    ],
)
def test_what_java_refuses_is_refused(name: str, value: float, said: str) -> None:
    """Also of properties that have no effect; librdkafka has ranges of its own."""
    with pytest.raises(UsageError, match=said):
        outcome({name: value})
    assert outcome({"receive.buffer.bytes": -1}) == outcome({})
