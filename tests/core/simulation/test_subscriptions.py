"""Applications that change what they read, or leave their group and come back."""

import pytest

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.scenario.event_file import parse_event
from tests.support.simulation.sample_scenarios import (
    BASE,
    TWO_TOPICS,
    in_protocol,
    ran,
    scenario,
)

PROTOCOLS = ("eager", "cooperative", "consumer")
OTHER = {"at": "2m", "subscribe": {"group": "app", "topics": ["bills"]}}
LEAVE = {"at": "2m", "unsubscribe": {"group": "app", "member": "m-2"}}
BACK = {"at": "3m", "subscribe": {"group": "app", "member": "m-2", "topics": ["orders"]}}


def owners(group: GroupOutcome) -> dict[str, int]:
    """Partitions of each topic that have an owner at the end."""
    found: dict[str, int] = {}
    for one in group.partitions:
        found[one.topic] = found.get(one.topic, 0) + (one.owner is not None)
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("client", ["java", "librdkafka"])
def test_a_group_reads_other_topics(client: str, protocol: str) -> None:
    """It rejoins; what nobody reads any more is no longer counted, at the end or as unowned."""
    text = in_protocol(TWO_TOPICS, protocol).replace("count: 3", f"count: 3, client: {client}")
    found = ran(text, OTHER)
    assert found.settled
    assert owners(found) == {"bills": 3}
    assert found.epoch > ran(text).epoch
    assert found.unowned_ms < 60_000


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_same_subscription_changes_nothing(protocol: str) -> None:
    """As in Java: a rebalance needs another set of topics."""
    text = in_protocol(TWO_TOPICS, protocol)
    same = ran(text, {"at": "2m", "subscribe": {"group": "app", "topics": ["orders"]}})
    before = ran(text)
    assert (same.epoch, same.rebalance_count) == (before.epoch, before.rebalance_count)
    assert same.unowned_ms == before.unowned_ms


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_member_that_unsubscribes_leaves_and_can_come_back(protocol: str) -> None:
    """Its partitions go to the others, and its process lives on; then it has its share again."""
    text = in_protocol(BASE, protocol)
    left = ran(text, LEAVE)
    assert [(one.partitions, one.lives) for one in left.members] == [(3, 1), (0, 1), (3, 1)]
    assert left.settled
    assert any("unsubscribe" in cause or "left" in cause for cause in left.causes), left.causes
    back = ran(text, LEAVE, BACK)
    assert [(one.partitions, one.lives) for one in back.members] == [(2, 1)] * 3


def test_java_commits_nothing_when_it_unsubscribes_and_librdkafka_does() -> None:
    """20 records a second come to the member; its last commit may be 5 s old."""
    read_again = {
        client: ran(BASE.replace("count: 3", f"count: 3, client: {client}"), LEAVE).read_again
        for client in ("java", "librdkafka")
    }
    assert 0 < read_again["java"] <= 20 * 5 + 20
    assert read_again["librdkafka"] <= 2


def test_a_group_that_has_unsubscribed_as_a_whole_rests() -> None:
    """Nothing comes, nobody waits; its partitions have no owner until it subscribes again."""
    text = BASE.replace("until: 4m\n", "").replace("rate: 60", "rate: 0")
    every = {"at": "2m", "unsubscribe": {"group": "app"}}
    gone = simulate(scenario(text, events=[every]))
    assert gone.settled
    assert gone.end_ms < 180_000
    assert gone.groups[0].state == "Empty"
    again = {"at": "3m", "subscribe": {"group": "app", "topics": ["orders"]}}
    back = ran(text, events=[every, again])
    assert [one.partitions for one in back.members] == [2, 2, 2]
    # `group.initial.rebalance.delay.ms`, twice: others join meanwhile.
    assert 60_000 <= back.longest_unowned_ms <= 66_100


def test_a_process_that_is_started_again_reads_what_its_entry_says() -> None:
    """An application begins anew with its code."""
    restart = {"at": "3m", "crash": {"group": "app", "restart_after": "5s", "member": "m-1"}}
    other = {"group": "app", "member": "m-1", "topics": ["bills"]}
    found = ran(TWO_TOPICS, {"at": "2m", "subscribe": other}, restart)
    assert owners(found) == {"bills": 0, "orders": 6}
    assert [one.partitions for one in found.members] == [2, 2, 2]


def test_a_static_member_that_unsubscribes_stays_in_the_group() -> None:
    """It says no LeaveGroup: its session has to be over first."""
    found = ran(BASE.replace("count: 3", "count: 3, static: true"), LEAVE)
    assert found.requests.get("LeaveGroup", 0) == 0
    assert 7_000 <= found.longest_unowned_ms <= 10_100
    assert [one.partitions for one in found.members] == [3, 0, 3]


@pytest.mark.parametrize("protocol", ["eager", "consumer"])
def test_from_topics_to_a_pattern_by_unsubscribing(protocol: str) -> None:
    """Java refuses it otherwise."""
    text = in_protocol(TWO_TOPICS, protocol)
    pattern = {"at": "3m", "subscribe": {"group": "app", "pattern": ".*s"}}
    found = ran(text, {"at": "2m", "unsubscribe": {"group": "app"}}, pattern)
    assert owners(found) == {"bills": 3, "orders": 6}


def test_to_subscribe_to_nothing_is_to_unsubscribe() -> None:
    """As in every client: an empty list of topics, in a file and on the command line."""
    nothing = {"at": "2m", "subscribe": {"group": "app", "member": "m-2", "topics": []}}
    assert ran(BASE, nothing) == ran(BASE, LEAVE)
    told = parse_event("subscribe:group=app,member=m-2,topics=,at=2m", scenario(BASE))
    assert told == parse_event("unsubscribe:group=app,member=m-2,at=2m", scenario(BASE))
