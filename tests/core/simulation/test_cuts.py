"""Network cuts: what is lost and when it is sent again, whatever the length of the cut."""

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Final

import pytest

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.figures.recorder import Line
from kgroups.core.simulation.scenario.member_settings import LIBRARY_DEFAULTS, MemberSettings
from kgroups.core.simulation.world.link import Link
from tests.support.simulation.sample_scenarios import ran, scenario, told

CUT = """\
cluster: {group.min.session.timeout.ms: 1s, group.initial.rebalance.delay.ms: 0}
topics: {orders: {partitions: 6, rate: 60}}
groups:
  g:
    members:
      app: {count: 3, topics: [orders], processing: 2ms}
"""


def cut(
    seconds: int, /, *, stall: bool = False, rate: int = 60, **settings: str
) -> tuple[GroupOutcome, list[Line]]:
    """The second of three members is cut off at half a minute, for so long."""
    text = CUT.replace("rate: 60", f"rate: {rate}")
    given = {key: settings.pop(key) for key in ("protocol", "client") if key in settings}
    text = text.replace("  g:\n", f"  g:\n    protocol: {given.get('protocol', 'eager')}\n")
    text = text.replace("count: 3,", f"count: 3, client: {given.get('client', 'java')},")
    if settings:
        own = ", ".join(f"{key.replace('_', '.')}: {value}" for key, value in settings.items())
        text += f"    settings: {{{own}}}\n"
    event = {"group": "g", "member": "app-2", "for": f"{seconds}s", "stall": stall}
    outcome, lines = told(scenario(text, events=[{"at": "30s", "network_partition": event}]))
    assert outcome.settled
    (group,) = outcome.groups
    return group, lines


@pytest.mark.parametrize("seconds", [10, 40, 60, 120])
@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_a_run_is_not_over_before_the_member_knows_that_the_cut_is(
    protocol: str, seconds: int
) -> None:
    """However long it lasts, every partition has one owner in the end."""
    group, _ = cut(seconds, protocol=protocol)
    assert [one.owner is not None for one in group.partitions] == [True] * 6
    assert sorted(one.partitions for one in group.members) == [2, 2, 2]


@pytest.mark.parametrize("seconds", [60, 120])
def test_a_client_that_gave_up_connects_again_soon_after_the_cut(seconds: int) -> None:
    """It tries for `socket.connection.setup.timeout.ms`, again and again: not every minute."""
    _, lines = cut(seconds)
    back_ms = [one.at_ms for one in lines if (one.who, one.kind) == ("app-2", "coordinator found")]
    assert 30_000 + seconds * 1_000 <= back_ms[-1] <= 46_500 + seconds * 1_000


def test_librdkafka_gives_up_when_its_session_is_over() -> None:
    """Its session ends when the coordinator's does: no partition has two owners."""
    group, lines = cut(
        10, stall=True, client="librdkafka", session_timeout_ms="6s", heartbeat_interval_ms="1s"
    )
    assert group.rebalance_count == 4  # two at the start
    assert group.doubled_ms == 0
    lost = [one.at_ms for one in lines if (one.who, one.kind) == ("app-2", "lost")]
    assert len(lost) == 1
    assert 35_000 <= lost[0] <= 36_100
    # What was read since the commit five seconds before, at 20 records a second.
    assert group.read_again <= 120


def test_franz_go_gives_up_some_seconds_after_its_session() -> None:
    """As measured with real members: until then two own its partitions, not until the cut ends."""
    group, lines = cut(120, client="franz-go", protocol="eager")
    lost = [one.at_ms for one in lines if (one.who, one.kind) == ("app-2", "lost")]
    assert len(lost) == 1
    assert 75_000 <= lost[0] <= 82_000
    assert group.doubled_ms <= 2 * 10_000


def test_records_come_over_a_connection_of_their_own() -> None:
    """aiokafka reads what came meanwhile before its coordinator says that it is no member.

    Requests were lost later than records, so TCP sends them again later; sarama has one connection
    for both.
    """
    apart, together = (
        cut(10, client=client, session_timeout_ms="6s", heartbeat_interval_ms="1s")[0]
        for client in ("aiokafka", "sarama")
    )
    assert apart.read_again > 4 * together.read_again


def test_reading_goes_on_when_requests_do() -> None:
    """Java: one poll of 500 records before it hears that it is no member, and what was open."""
    group, lines = cut(40, session_timeout_ms="30s")
    assert group.read_again <= 500 + 120
    lost = [one.at_ms for one in lines if (one.who, one.kind) == ("app-2", "lost")]
    assert len(lost) == 1
    assert 70_000 <= lost[0] <= 76_000


def test_a_stalled_network_delivers_as_soon_as_it_can() -> None:
    """Packets that were kept pass at the end of the cut, lost ones with TCP's next attempt."""
    for stall, first_ms in ((True, 40_000), (False, 42_600)):
        _, lines = cut(10, stall=stall, session_timeout_ms="6s", heartbeat_interval_ms="1s")
        answers = [one.at_ms for one in lines if one.who == "app-2" and "answered" in one.text]
        assert answers[-1] - first_ms < 1_000
        assert min(at_ms for at_ms in answers if at_ms > 30_100) == first_ms + 2


def test_what_was_read_before_a_pause_is_no_excuse_to_skip_after_it() -> None:
    """Records that came during a cut are read poll by poll."""
    group, _ = cut(60, protocol="consumer")
    assert group.read_again <= 500 + 120


# ---------------------------------------------------------------------- the connection


def test_a_lost_packet_is_sent_again_at_growing_distances() -> None:
    """200 ms, 600 ms, 1.4 s, 3 s, 6.2 s, 12.6 s after it was lost first."""
    for seconds, opens_ms in ((0.1, 200), (1, 1_400), (10, 12_600), (40, 51_000)):
        link = Link(MemberSettings(), 0)
        link.cut(0, round(seconds * 1_000), stalls=False)
        assert link.opens_ms == opens_ms


def test_a_new_connection_is_asked_for_again_and_again() -> None:
    """After 1 s, 3 s, 7 s; Java's first attempt lasts 10 s, the next one 20 s."""
    link = Link(LIBRARY_DEFAULTS["java"], 0)
    link.cut(0, 60_000, stalls=False)
    link.close(30_000)
    # 30.0 31 33 37, 40.05 41.05 43.05 47.05 55.05, 60.15
    assert link.opens_ms == 60_150
    assert link.number == 1
    link.close(70_000)
    assert (link.opens_ms, link.number) == (60_150, 2)


def test_cuts_that_follow_each_other_are_one() -> None:
    """The second begins before the first packet got through."""
    link = Link(MemberSettings(), 0)
    link.cut(0, 5_000, stalls=False)
    link.cut(6_000, 8_000, stalls=False)
    assert link.opens_ms == 12_600
    link.cut(20_000, 20_100, stalls=False)
    assert link.opens_ms == 20_200


def looked(seconds: int, seed: int, *, idle_ms: int = 540_000, stalls: bool = False) -> Link:
    """The way of a consumer of Java that has no broker left, ten minutes after its start."""
    settings = replace(LIBRARY_DEFAULTS["java"], connections_max_idle_ms=idle_ms)
    link = Link(settings, 0)
    until_ms = 600_000 + seconds * 1_000
    chance = Random(seed)
    link.cut(600_000, until_ms, stalls=stalls, apart=chance, finds=True, bootstraps=True)
    return link


def test_a_consumer_without_a_broker_asks_the_bootstrap_server() -> None:
    """Over the connection of its start, if that is not closed; each gives up for itself."""
    # Fetches are given up 30 s after the cut; TCP sends again 12.6 s after what was lost then.
    assert looked(40, 1, idle_ms=0).finds_ms == 642_600
    assert looked(40, 1, idle_ms=0, stalls=True).finds_ms == 640_000
    # It is idle for longer: a connection is asked for at 30 s, and again after 8 to 12 s.
    assert {looked(40, seed).finds_ms for seed in range(20)} <= set(range(638_000, 645_200))
    kept = [looked(120, seed, idle_ms=0) for seed in range(20)]
    assert all(link.finds_ms >= 720_000 for link in kept)
    assert {link.finds_ms < link.reads_ms for link in kept} == {True, False}


def test_who_comes_back_hears_first_that_it_is_no_member_or_reads_on() -> None:
    """Over two connections: which one is made first is chance (Java 4: 6, 500, 1,221, 1,270)."""
    event = {"group": "g", "member": "app-2", "for": "120s"}
    text = CUT.replace("rate: 60", "rate: 30")
    cuts = scenario(text, events=[{"at": "30s", "network_partition": event}])
    found = [simulate(cuts, seed=seed).groups[0].read_again for seed in range(12)]
    assert min(found) < 100
    assert max(found) > 450


def test_a_leader_that_was_cut_off_may_take_the_topics_for_gone() -> None:
    """Its session goes on, but it began anew from its bootstrap server; with `none` it does not."""
    event = {"group": "g", "member": "app-1", "for": "35s"}
    found = {}
    for strategy in ("rebootstrap", "none"):
        text = f"{CUT}    settings: {{metadata.recovery.strategy: {strategy}}}\n"
        cuts = scenario(text, events=[{"at": "30s", "network_partition": event}])
        groups = [simulate(cuts, seed=seed).groups[0] for seed in range(10)]
        found[strategy] = {sum(one.at_ms > 30_000 for one in group.rebalances) for group in groups}
    assert found == {"rebootstrap": {0, 1}, "none": {0}}


# ---------------------------------------------------------------------- the only broker restarts

FREEZE = "gc_pause: {group: g, member: app-1, for: 20s}"
RESTART = CUT + "events:\n  - {at: 30s, broker_down: {broker: 0, for: 5s}}\n"


def rebalances_of(text: str) -> set[int]:
    """Rebalances after the start, over ten seeds."""
    return {
        sum(one.at_ms > 30_000 for one in ran(text, seed=seed).rebalances) for seed in range(10)
    }


@pytest.mark.parametrize("client", ["java", "kafka-python"])
def test_a_leader_may_take_the_topics_for_gone(client: str) -> None:
    """It forgets them when no broker answers: some restarts cost a rebalance, others none."""
    assert rebalances_of(RESTART.replace("count: 3,", f"count: 3, client: {client},")) == {0, 1}


# Library -> how long its members try at most before they give everything up; whether they keep
# their ids; how long a group without an owner waits at most once the broker is back.
GIVING_UP: Final = {
    "sarama": (1_100, True, 2_500),
    "franz-go": (1_100, True, 5_000),
    "kafkajs": (18_000, False, 36_000),
}


@pytest.mark.parametrize("client", GIVING_UP)
def test_a_broker_that_is_away_for_some_attempts_costs_everything(client: str) -> None:
    """Its members join anew, those of kafkajs when the sessions of their old ids are over."""
    patience_ms, keeps_id, most_ms = GIVING_UP[client]
    text = RESTART.replace("count: 3,", f"count: 3, client: {client},").replace("5s}", "20s}")
    settings = "    settings: {session.timeout.ms: 10s, heartbeat.interval.ms: 1s}\n"
    wanted = scenario(text.replace("events:", f"{settings}events:"))
    outcome, lines = told(wanted)
    (group,) = outcome.groups
    assert all(one.owner is not None for one in group.partitions)
    lost = [one.at_ms for one in lines if one.kind == "lost"]
    assert len(lost) == 3
    assert all(30_000 < at_ms <= 30_000 + patience_ms for at_ms in lost)
    rebalances = sum(one.at_ms > 30_000 for one in group.rebalances)
    assert 1 <= rebalances <= (1 if keeps_id else 3)
    handed_out = [one for one in lines if one.kind == "member id given" and one.at_ms > 30_000]
    assert len(handed_out) == (0 if keeps_id else 3)
    assert group.longest_unowned_ms <= 50_000 + most_ms - min(lost)


def test_who_crashes_tries_again_in_rounds() -> None:
    """kafkajs: after 0.3 s, 0.6, 1.2, 2.4, 4.8, then once more; each 20 % more or less."""
    text = RESTART.replace("count: 3,", "count: 1, client: kafkajs,").replace("5s}", "40s}")
    text = text.replace("rate: 60", "rate: 1")

    def waits(seed: int) -> list[float]:
        _, lines = told(scenario(text), seed=seed)
        ends = [line for line in lines if line.kind == "FindCoordinator"]
        tried = [line.at_ms for line in ends if not line.text.startswith(("asks", "finds"))]
        return [b - a for a, b in pairwise(at_ms for at_ms in tried if at_ms > 30_000)]

    found = {tuple(waits(seed)) for seed in range(3)}
    assert len(found) == 3
    for one in found:
        firsts = [place for place, wait_ms in enumerate(one) if wait_ms <= 310]
        assert firsts[:4] == [0, 5, 6, 12]
        for before, after in pairwise(one):
            assert after <= 310 or 1.55 <= after / before <= 2.45, one


def test_the_attempts_of_franz_go_are_20_percent_apart() -> None:
    """Of 0.25 s, 0.5, 1, 2, 4 and 5 (at most), drawn anew each time: seeds differ."""
    text = RESTART.replace("count: 3,", "count: 1, client: franz-go,").replace("5s}", "40s}")

    def back(seed: int) -> int:
        return ran(text, seed=seed).longest_unowned_ms

    found = [back(seed) for seed in range(8)]
    assert len(set(found)) > 4
    assert all(38_000 < one < 46_000 for one in found)


def test_who_wakes_up_reads_on_or_hears_first_that_it_is_no_member() -> None:
    """A fetch and a commit are under way together: which is answered first is chance."""
    text = RESTART.replace("broker_down: {broker: 0, for: 5s}", FREEZE)
    settings = "    settings: {session.timeout.ms: 10s, heartbeat.interval.ms: 1s}\n"
    text = text.replace("events:", f"{settings}events:")
    text = "network: {latency: {exponential: 20ms}}\n" + text

    found = [ran(text, seed=seed).read_again for seed in range(20)]
    assert any(one < 200 for one in found)
    assert any(one >= 400 for one in found)


def test_franz_go_outlives_a_broker_where_another_is_up() -> None:
    """It looks for the coordinator again; sarama tries the old one until it gives up."""
    for client, rebalances in (("franz-go", 0), ("sarama", 1)):
        text = "brokers: 3\n" + RESTART.replace("count: 3,", f"count: 3, client: {client},")
        # A commit would find the new coordinator first.
        text = text.replace("events:", "    settings: {auto.commit.interval.ms: 60s}\nevents:")
        away = [scenario(text.replace("broker: 0", f"broker: {broker}")) for broker in range(3)]
        found = [simulate(one).groups[0].rebalances for one in away]
        late = [[one for one in each if one.at_ms > 30_000] for each in found]
        assert max(map(len, late)) == rebalances, client


def test_kafkajs_keeps_a_connection_that_does_not_answer() -> None:
    """So TCP's next attempt decides, 204.6 s after the loss."""
    _, lines = cut(120, client="kafkajs", rate=6)  # each poll is committed
    own = [(one.at_ms, one.kind) for one in lines if one.who == "app-2" and one.at_ms > 30_000]
    (lost_ms,) = [at_ms for at_ms, kind in own if kind == "lost"]
    (found_ms,) = [at_ms for at_ms, kind in own if kind == "coordinator found"]
    assert 234_600 <= found_ms <= lost_ms <= 234_650


def test_aiokafka_looks_for_its_coordinator_where_it_fetches() -> None:
    """So it hears soon after it reads again that it is no member, whatever was opened first."""
    group, lines = cut(40, client="aiokafka")
    lost = [one.at_ms for one in lines if (one.who, one.kind) == ("app-2", "lost")]
    assert len(lost) == 1
    assert lost[0] >= 70_000
    # 20 records a second were not committed for up to five seconds.
    assert group.read_again <= 20 * 5 + 50


def test_who_does_not_forget_the_topics_does_not_rebalance() -> None:
    """With another strategy, another client, another protocol, or another broker that is up."""
    settings = "    settings: {metadata.recovery.strategy: none}\n"
    assert rebalances_of(RESTART.replace("events:", settings + "events:")) == {0}
    assert rebalances_of(RESTART.replace("count: 3,", "count: 3, client: librdkafka,")) == {0}
    assert rebalances_of(RESTART.replace("  g:\n", "  g:\n    protocol: consumer\n")) == {0}
    assert rebalances_of("brokers: 2\n" + RESTART) == {0}


def test_nobody_reads_while_no_broker_is_up() -> None:
    """librdkafka's members give up meanwhile, and read again only what they had not committed."""
    text = RESTART.replace("count: 3,", "count: 3, client: librdkafka,").replace("5s}", "60s}")
    group = ran(text)
    assert group.longest_unowned_ms > 10_000
    assert group.read_again <= 60 * 6


def test_members_that_joined_together_hear_of_a_topic_together() -> None:
    """How long the topic waits does not depend on how many members could have noticed it."""
    text = CUT.replace("topics: [orders]", "pattern: 'ord.*'")
    event = {"at": "60s", "create_topic": {"topic": "orders-eu", "partitions": 3}}

    def waits_ms(count: int) -> float:
        wanted = scenario(text.replace("count: 3", f"count: {count}"), events=[event])
        found = [simulate(wanted, seed=n).groups[0].longest_unowned_ms for n in range(9)]
        return sorted(found)[4]

    assert waits_ms(6) > waits_ms(1) / 2
