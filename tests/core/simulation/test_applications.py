"""What applications do by events: they pause partitions and resume them."""

import pytest

from tests.support.simulation.sample_scenarios import (
    BASE,
    in_protocol,
    ran,
    scenario,
    told,
)

PROTOCOLS = ("eager", "cooperative", "consumer")
PAUSE = {"at": "2m", "pause": {"group": "app", "for": "60s"}}
MORE = {"at": "130s", "scale_out": {"group": "app"}}
# 60 records a second come for a minute.
PAUSED_RECORDS = 3_600


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_paused_members_poll_on_and_keep_what_they_own(protocol: str) -> None:
    """No rebalance, whatever `max.poll.interval.ms` (60 s here), and nothing read meanwhile."""
    text = in_protocol(BASE, protocol)
    before, paused = ran(text), ran(text, {**PAUSE, "pause": {"group": "app", "for": "100s"}})
    assert paused.rebalance_count == before.rebalance_count
    assert (paused.unowned_ms, paused.read_again) == (before.unowned_ms, before.read_again)
    assert paused.peak_unread == pytest.approx(6_000, rel=0.05)
    assert (paused.unread, paused.records) == (before.unread, before.records)


def test_only_what_is_named_is_paused() -> None:
    """One of three members, which has a third; or one of two topics."""
    one = {"group": "app", "member": "m-1", "for": "60s"}
    found = ran(BASE, {"at": "2m", "pause": one})
    assert found.peak_unread == pytest.approx(PAUSED_RECORDS / 3, rel=0.1)
    two = BASE.replace("  orders:", "  other: {partitions: 3, rate: 30}\n  orders:")
    two = two.replace("topics: [orders]", "topics: [orders, other]")
    found = ran(two, {"at": "2m", "pause": {"group": "app", "topics": ["other"], "for": "60s"}})
    assert found.peak_unread == pytest.approx(30 * 60, rel=0.1)


def test_what_is_given_anew_is_not_paused() -> None:
    """An eager rebalance gives everything anew; a cooperative one leaves paused what stays."""
    eager = ran(BASE, PAUSE, MORE)
    assert eager.peak_unread < PAUSED_RECORDS / 3
    cooperative = ran(in_protocol(BASE, "cooperative"), PAUSE, MORE)
    assert PAUSED_RECORDS / 2 < cooperative.peak_unread < PAUSED_RECORDS


@pytest.mark.parametrize("client", ["java", "librdkafka", "sarama", "franz-go", "kafka-python"])
def test_some_libraries_keep_paused_what_goes_and_comes(client: str) -> None:
    """Of the others' partitions, which an eager rebalance gives anew, none is paused."""
    text = BASE.replace("count: 3,", f"count: 3, client: {client},")
    text = text.replace("max.poll.interval.ms: 60s", "heartbeat.interval.ms: 1s")
    found = ran(text, PAUSE, MORE)
    assert (found.peak_unread > PAUSED_RECORDS / 3) is (client != "java")
    assert found.unread < 60


@pytest.mark.parametrize("client", ["java", "sarama"])
def test_sarama_hands_out_what_it_had_fetched(client: str) -> None:
    """1,048 records of 1,000 bytes of each partition, and 256 that waited; others hand out none."""
    text = BASE.replace("rate: 60", "rate: 0, backlog: 60000")
    text = text.replace("processing: 2ms", f"client: {client}, processing: 20ms")
    settings = "      max.poll.records: 1\n      session.timeout.ms"
    text = text.replace(
        "      session.timeout.ms", settings if client == "java" else "      session.timeout.ms"
    )
    text = text.replace("      max.poll.interval.ms: 60s\n", "")
    event = {"at": "60s", "pause": {"group": "app", "for": "5m"}}
    at_pause, later = (ran(text, events=[event], until=until).records for until in ("60s", "5m"))
    assert later - at_pause == pytest.approx(6 * (1_048 + 256) if client == "sarama" else 0, abs=6)


def test_a_pause_waits_for_the_next_poll() -> None:
    """The records of the poll before are processed first; so they are before it goes on."""
    text = BASE.replace("rate: 60", "rate: 0, backlog: 60000").replace("2ms", "20ms")
    pause = {"at": "2m", "pause": {"group": "app", "member": "m-1", "for": "60s"}}
    _, lines = told(scenario(text, events=[pause]))
    paused_ms, resumed_ms = [one.at_ms for one in lines if one.kind.startswith("partitions ")]
    assert 120_000 < paused_ms < 130_000
    assert resumed_ms == 180_000


def test_members_that_commit_each_poll_read_on_at_once() -> None:
    """And not when they would have polled without records."""
    by_hand = BASE.replace(
        "    settings:",
        "    settings:\n      enable.auto.commit: false\n      commit.each.poll: true",
    ).replace("until: 4m", "until: 150s")
    found = ran(by_hand, {**PAUSE, "at": "30s"})
    assert found.peak_unread == pytest.approx(PAUSED_RECORDS, rel=0.05)
    assert found.catch_up_ms < 70_000
    assert found.unread == ran(by_hand).unread
