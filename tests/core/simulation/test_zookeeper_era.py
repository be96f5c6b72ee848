"""Consumers of the ZooKeeper era in the same scenarios as the others: the herd, split brain."""

from typing import Any

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.simulation.engine.refusals import check_scenario
from kgroups.core.simulation.engine.run import Run, simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.figures.outcome_item import HERD, group_items
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.scenario.variation import varied
from kgroups.core.simulation.world.actors import ZOOKEEPER
from kgroups.core.simulation.world.zookeeper_service import ZookeeperService
from tests.support.simulation.sample_scenarios import scenario, told

ERA = """\
until: 3m
brokers: 2
topics:
  orders: {partitions: 6, rate: 60}
groups:
  app:
    protocol: zookeeper
    members:
      m: {count: 3, topics: [orders], processing: 2ms}
    settings: {zookeeper.sync.time.ms: 0, rebalance.backoff.ms: 2s}
"""


def era(members: int = 3, partitions: int = 6, *, events: Any = (), **settings: Any) -> Scenario:
    """A group of the ZooKeeper era, with property names' dots as underscores."""
    text = ERA.replace("count: 3", f"count: {members}").replace("s: 6", f"s: {partitions}")
    found = scenario(text, events=list(events))
    for name, value in settings.items():
        found = varied(found, {name.replace("_", "."): str(value)})
    return found


def herd(group: GroupOutcome, name: str) -> int:
    """A figure of the herd."""
    return HERD[name](group)


def run(given: Scenario, seed: int = 1) -> GroupOutcome:
    """The only group's outcome."""
    (group,) = simulate(given, seed=seed).groups
    return group


def test_every_protocol_answers_for_the_same_events() -> None:
    """Side by side; what belongs to ZooKeeper alone is null for the others."""
    events = [{"at": "60s", "crash": {"group": "app", "member": "m-2", "restart_after": "20s"}}]
    items = {}
    for protocol in ("eager", "cooperative", "consumer", "zookeeper"):
        one = varied(era(events=events), {"protocol": protocol})
        (items[protocol],) = group_items({"protocol": protocol}, [simulate(one)])
    assert [name for name, item in items.items() if item["herd"]] == ["zookeeper"]
    for item in items.values():
        assert item["events"] == {"crash": 1}
        assert item["settled"]
        assert item["never_owned"] == 0
        assert sum(member["partitions"] for member in item["members"]) == 6


def test_a_pause_is_split_brain_only_while_both_read() -> None:
    """The paused member believes all the time, and reads again only until it has understood."""
    pause = {"at": "60s", "gc_pause": {"group": "app", "member": "m-1", "for": "30s"}}
    group = run(era(events=[pause]))
    # Its session expires at 66 or 68 s; from then until 90 s another owns its two partitions.
    assert 2 * 20_000 < group.doubled_ms < 2 * 30_000
    # Awake it finds the connection closed and waits up to a second before it dials.
    assert 0 < herd(group, "split_brain_ms") < 2 * 1_200
    assert herd(group, "sessions_expired") == 1
    assert group.read_again > 0
    assert herd(run(era()), "split_brain_ms") == 0


def test_stale_views_leave_partitions_to_nobody() -> None:
    """The further followers are behind, the longer nobody reads, and the more claims fail."""
    join = {"at": "60s", "scale_out": {"group": "app", "count": 3}}
    prompt, stale = (
        [run(era(events=[join], zookeeper_sync_time_ms=sync_ms), seed) for seed in range(5)]
        for sync_ms in (0, 20_000)
    )
    for figure in ("nobody_reads_ms", "claims_refused", "attempts"):
        before, after = (sum(herd(one, figure) for one in runs) for runs in (prompt, stale))
        assert after > before, figure


def test_without_a_backoff_of_its_own_a_member_takes_the_sync_time() -> None:
    """rebalance.backoff.ms is zookeeper.sync.time.ms where it is not set."""
    text = ERA.replace(", rebalance.backoff.ms: 2s", "")
    given = varied(scenario(text), {"zookeeper.sync.time.ms": "3000"})
    same = varied(given, {"rebalance.backoff.ms": "3000"})
    other = varied(given, {"rebalance.backoff.ms": "500"})
    outcomes = [run(one, seed=3) for one in (given, same, other)]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0] != outcomes[2]


def test_a_white_list_is_topics_with_commas_between_them() -> None:
    """As in 0.8.2, where a comma means `or`; what is no regular expression is refused."""
    text = ERA.replace("topics: [orders]", "pattern: 'orders, pay.*'")
    text = text.replace("topics:\n", "topics:\n  payments: {partitions: 3}\n  other: 4\n")
    given = scenario(text)
    check_scenario(given)
    assert sum(member.partitions for member in run(given).members) == 9
    broken = scenario(ERA.replace("topics: [orders]", "pattern: '(orders'"))
    with pytest.raises(UsageError, match="`m-1` of `app`"):
        check_scenario(broken)


def test_the_ensemble_grants_no_session_below_two_ticks() -> None:
    """A timeout of 1 s becomes 4 s, that of 6 s stays: a crash is seen so much later."""
    crash = {"at": "60s", "crash": {"group": "app", "member": "m-1"}}
    unowned = [
        run(era(events=[crash], zookeeper_session_timeout_ms=timeout_ms)).longest_unowned_ms
        for timeout_ms in (1_000, 4_000, 6_000, 12_000)
    ]
    assert unowned[0] == unowned[1] < unowned[2] < unowned[3]


def test_the_same_seed_tells_the_same_story() -> None:
    """Line by line, and another seed tells another one."""
    events = [{"every": "20s", "crash": {"group": "app", "restart_after": "5s"}}]
    run = era(events=events, zookeeper_sync_time_ms=2_000)
    stories = [told(run, seed)[1] for seed in (5, 5, 6)]
    assert stories[0] == stories[1] != stories[2]
    kinds = {line.kind for line in stories[0]}
    assert {"consumer registered", "watch fired", "begin rebalancing", "partition owned"} <= kinds
    assert kinds.isdisjoint({"getData", "getChildren", "ping"})


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(8))
def test_random_trouble_ends_with_every_partition_read(seed: int) -> None:
    """Whatever comes by chance in five minutes, three quiet minutes later all is well."""
    trouble = [
        {"every": "40s", "until": "5m", "crash": {"group": "app", "restart_after": "8s"}},
        {"every": "40s", "until": "5m", "gc_pause": {"group": "app", "for": "15s"}},
        {"every": "60s", "until": "5m", "network_partition": {"group": "app", "for": "12s"}},
        {"every": "60s", "until": "5m", "scale_out": {"group": "app"}},
        {"every": "60s", "until": "5m", "scale_in": {"group": "app"}},
        {"at": "400s", "scale_out": {"group": "app"}},
        # What was given up is taken up again at the next event; this is one for everybody.
        {"at": "420s", "add_partitions": {"topic": "orders", "partitions": 9}},
    ]
    text = ERA.replace("until: 3m", "until: 8m")
    outcome = simulate(scenario(text, events=trouble), seed=seed)
    (group,) = outcome.groups
    assert sum(outcome.events.values()) > 10
    assert sum(member.partitions for member in group.members) == 9
    assert group.settled


def test_the_timeline_tells_what_every_node_holds() -> None:
    """Its lines, one after the other, give the ensemble's tree at the end."""
    events = [{"at": "60s", "crash": {"group": "app", "member": "m-1"}}]
    running = Run(era(events=events), 1)
    told: dict[str, str] = {}
    for line in running.lines(every_request=True):
        if line.who == "zookeeper":
            path, _, data = line.text.partition(" ")
            if line.kind == "node deleted":
                del told[path]
            else:
                told[path] = data
    service = running.world.services[ZOOKEEPER]
    assert isinstance(service, ZookeeperService)
    tree = service._ensemble.tree_of()
    held = {}
    below = ["/"]
    while below:
        path = below.pop()
        node = tree.node(path)
        assert node is not None
        held[path] = node.data
        below += [f"{path.rstrip('/')}/{child}" for child in node.children]
    del held["/"]
    assert told == held
    assert any(path.startswith("/consumers/app/owners/orders/") for path in told)
