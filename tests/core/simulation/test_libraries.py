"""Client libraries in the simulation, beside the libraries themselves.

Real members join, leave and die on the embedded cluster, whose clock stands still for them: whoever
is no member any more has said so, and whoever has said nothing is one until its session is over.
"""

import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import pytest
from aiokafka import AIOKafkaConsumer

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.simulation.clients.libraries import LIBRARIES, Library
from kgroups.core.simulation.engine.run import Run, simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.scenario.member_settings import LIBRARY_DEFAULTS, MemberSettings
from kgroups.core.simulation.scenario.scenario_model import Scenario
from tests.support.fidelity.hosts.pool import HostPool, java_settings, present_libraries
from tests.support.kafka.waiting import wait_until
from tests.support.sandbox.kafka_python import KafkaConsumer
from tests.support.simulation.sample_scenarios import checked, ran, small, told

SESSION_MS: Final = 300_000
# One in C with threads of its own, one with an event loop.
QUICK: Final = ("librdkafka", "aiokafka")
SLOW: Final = pytest.mark.slow("a program for each library; two of seven are in `make test`")


def scenario_of(client: str, **changes: Any) -> Scenario:
    """Two members of a library and what happens to them."""
    member = {"count": 2, "client": client, **changes.pop("member", {})}
    return checked(small(member, topic={"partitions": 4, "rate": 4}, **changes))


def run(client: str, **changes: Any) -> GroupOutcome:
    """What comes of it."""
    return simulate(scenario_of(client, **changes)).groups[0]


# ---------------------------------------------------------------------- defaults


def compared(ours: MemberSettings, theirs: dict[str, Any]) -> set[str]:
    """Names that both have, all of them with the same default."""
    names = {name for name in MemberSettings.__slots__ if name in theirs}
    for name in names - {"max_poll_records", "isolation_level"}:
        assert getattr(ours, name) == theirs[name], name
    return names


def test_the_defaults_of_kafka_python() -> None:
    """As its own table has them."""
    theirs = KafkaConsumer.DEFAULT_CONFIG
    ours = LIBRARY_DEFAULTS["kafka-python"]
    assert len(compared(ours, theirs)) >= 15
    assert ours.max_poll_records == theirs["max_poll_records"]
    strategies = theirs["partition_assignment_strategy"]
    assert tuple(one.name for one in strategies) == LIBRARIES["kafka-python"].eager


def test_the_defaults_of_aiokafka() -> None:
    """As its signature has them; a rebalance may last a session."""
    parameters = inspect.signature(AIOKafkaConsumer.__init__).parameters
    theirs = {name: one.default for name, one in parameters.items()}
    assert theirs.pop("rebalance_timeout_ms") is None
    ours = LIBRARY_DEFAULTS["aiokafka"]
    assert len(compared(ours, theirs)) >= 12
    assert ours.rebalance_timeout_ms == ours.session_timeout_ms
    strategies = theirs["partition_assignment_strategy"]
    assert tuple(one.name for one in strategies) == LIBRARIES["aiokafka"].eager


# ---------------------------------------------------------------------- join, leave, crash


@pytest.fixture(scope="module")
def cluster() -> Iterator[Sandbox]:
    """One broker whose clock is moved by the tests."""
    properties = {"group.min.session.timeout.ms": "100", "offsets.topic.num.partitions": "5"}
    properties |= {"group.initial.rebalance.delay.ms": "0"}
    with Sandbox(brokers=1, topics={"t": 4}, properties=properties) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def hosts() -> Iterator[HostPool]:
    """The libraries' programs."""
    with HostPool() as pool:
        yield pool


def members_of(cluster: Sandbox, group: str) -> int:
    """How many members its coordinator knows."""
    with ClusterAdmin(ClientSettings(cluster.bootstrap_servers), timeout_ms=60_000) as admin:
        found = admin.snapshot([group], log_offsets=False).groups
    return sum(len(one.members or ()) for one in found)


def real_changes(cluster: Sandbox, hosts: HostPool, library: Library, static: bool) -> list[int]:
    """Members after two joined, one was closed, the other died, and its session is over."""
    group = f"{library}-{static}"
    host = hosts.alone(library)
    strategy = LIBRARIES[library].eager[0]
    if LIBRARIES[library].default_protocol == "cooperative":
        strategy = "cooperative-sticky"
    for name in ("a", "b"):
        asked: dict[str, object] = {
            "servers": cluster.bootstrap_servers,
            "group": group,
            "name": name,
            "protocol": "classic",
            "strategy": strategy,
            "topics": ["t"],
            "pattern": "",
            "client": name,
            "instance": name if static else "",
            "rack": "",
            "session_ms": SESSION_MS,
            "heartbeat_ms": 200,
            "refresh_ms": 60_000,
            "version": "3.6.0" if library == "sarama" else "",
        }
        if library == "java":
            asked = {"name": name, "config": java_settings(asked), "topics": ["t"]}
        host.ask("open", **asked)

    def both_read() -> bool:
        owned = host.owned(("a", "b"))
        return sorted(map(len, owned.values())) == [2, 2]

    wait_until(both_read, f"two members of {library} share four partitions")
    found = [members_of(cluster, group)]
    host.ask("close", name="b")
    if not static:
        wait_until(lambda: members_of(cluster, group) < 2, f"{library} says good-bye")
        wait_until(lambda: len(host.owned(("a",))["a"]) == 4, "the other one has everything")
    found.append(members_of(cluster, group))
    host.kill()
    found.append(members_of(cluster, group))
    cluster.advance_clock(SESSION_MS + 1)
    wait_until(lambda: members_of(cluster, group) == 0, "the session is over")
    return [*found, 0]


def simulated_changes(library: str, static: bool) -> list[int]:
    """The same in virtual time: one is closed at a minute, the other dies a minute later."""
    events = [
        {"at": "60s", "scale_in": {"group": "g", "members": ["m-2"]}},
        {"at": "120s", "crash": {"group": "g", "member": "m-1"}},
    ]
    group = {"settings": {"session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": 200}}
    member = {"static": True} if static else {}

    def members(until: str) -> int:
        found = scenario_of(library, until=until, events=events, member=member, group=group)
        play = Run(found, found.seed)
        play.carry_out()
        known = play.world.brokers.snapshot_of("g")
        return 0 if known is None else len(known.members)

    return [members(until) for until in ("59s", "119s", "180s", "500s")]


CASES: Final = [
    pytest.param(name, static, marks=() if name in QUICK else SLOW)
    for name in present_libraries()
    for static in (False, True)
    if LIBRARIES[name].static or not static
]


@pytest.mark.parametrize(("library", "static"), CASES)
def test_members_join_leave_and_die_as_simulated(
    cluster: Sandbox, hosts: HostPool, library: Library, static: bool
) -> None:
    """Who is closed leaves at once unless static; who dies is a member until its session ends."""
    expected = simulated_changes(library, static)
    assert expected == ([2, 2, 2, 0] if static else [2, 1, 1, 0])
    assert real_changes(cluster, hosts, library, static) == expected


# ---------------------------------------------------------------------- what differs


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_group_of_each_library_settles(library: Library) -> None:
    """With its own protocol, timeouts and assignor, through a restart."""
    events = [{"at": "60s", "rolling_restart": {"group": "g", "down": "5s", "pause": "20s"}}]
    found = run(library, events=events)
    assert found.settled
    assert found.protocol == LIBRARIES[library].default_protocol
    assert all(one.owner is not None for one in found.partitions)


def test_the_session_of_each_library_decides_about_a_crash() -> None:
    """10 s of sarama and aiokafka, 30 s of kafkajs, 45 s of the others; the last beat is older."""

    def longest(library: Library) -> int:
        crash = {"at": "60s", "crash": {"group": "g", "member": "m-1"}}
        return run(library, events=[crash]).longest_unowned_ms

    for library, defaults in LIBRARY_DEFAULTS.items():
        session_ms = defaults.session_timeout_ms
        assert session_ms - 3_100 <= longest(library) <= session_ms + 3_100, library


def test_a_slow_record_stops_the_heartbeats_of_kafkajs() -> None:
    """Of 40 s, with a session of 30 s; a thread or a timer sends the others'."""

    def rebalances(library: Library) -> int:
        slow = {"at": "60s", "poison_record": {"group": "g", "member": "m-1", "for": "40s"}}
        settings = {"session.timeout.ms": "30s"}
        return run(library, events=[slow], group={"settings": settings}, until="5m").rebalance_count

    assert rebalances("kafkajs") == rebalances("librdkafka") + 2


def test_kafkajs_sends_a_heartbeat_when_a_record_is_done_or_a_fetch_brought_none() -> None:
    """Every 3 s or a little later where records come; else every 5 s, as its fetches end."""

    def beats(rate: int) -> list[int]:
        wanted = scenario_of("kafkajs", topics={"t": {"partitions": 2, "rate": rate}}, until="3m")
        _, lines = told(wanted, every_request=True)
        found = [one.at_ms for one in lines if one.kind == "Heartbeat" and one.who == "m-1"]
        return [after - before for before, after in pairwise(found)][1:]

    assert set(beats(0)) == {5_000}
    assert all(3_000 <= between <= 3_300 for between in beats(10))


def test_a_rebalance_waits_for_the_poll_of_some_libraries() -> None:
    """One joins while another has a record of 20 s: franz-go and aiokafka rejoin meanwhile."""

    def longest_wait(library: Library) -> int:
        events = [
            {"at": "59s", "poison_record": {"group": "g", "member": "m-1", "for": "20s"}},
            {"at": "61s", "scale_out": {"group": "g"}},
        ]
        found = run(library, events=events, until="3m")
        return max(one.starting_ms for one in found.members if one.name == "m-3")

    for library, traits in LIBRARIES.items():
        wait_ms = longest_wait(library)
        assert wait_ms <= 5_000 if traits.background else wait_ms >= 14_000, library


def test_a_pattern_of_kafkajs_is_resolved_once() -> None:
    """A topic that comes later is not read; librdkafka reads it."""

    def topics(client: str) -> set[str]:
        event = {"at": "30s", "create_topic": {"topic": "t2", "partitions": 1}}
        member = {"client": client, "pattern": "^t.*"}
        found = ran(small(member, until="7m", events=[event]))
        return {one.topic for one in found.partitions if one.owner is not None}

    assert topics("kafkajs") == {"t"}
    assert topics("librdkafka") == {"t", "t2"}
