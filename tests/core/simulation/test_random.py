"""Random lives of groups: whatever happens, the invariants hold, and in the end all is owned.

KGROUPS_SIMULATIONS=1000 runs so many seeds a protocol; a seed that fails is in the message.
"""

import os

import pytest

from kgroups.core.simulation.engine.run import Run
from kgroups.core.simulation.scenario.scenario_events import SCENARIO_EVENTS
from kgroups.core.simulation.scenario.scenario_model import Scenario
from tests.support.simulation.sample_scenarios import in_protocol, scenario

RUNS = int(os.environ.get("KGROUPS_SIMULATIONS", "1"))
PROTOCOLS = ("eager", "cooperative", "consumer")

RANDOM = """\
brokers: 3
until: 20m
cluster: {offsets.topic.num.partitions: 5}
network: {latency: {heavy: 3ms, tail: 1.6}, loss: 0.01}
topics:
  orders: {partitions: 7, rate: 20}
  bills: {partitions: 3, rate: 5, backlog: 200}
groups:
  app:
    protocol: eager
    members:
      dyn: {count: 3, topics: [orders, bills], processing: {normal: 5ms, deviation: 3ms}, every: 1s}
      fix: {count: 2, static: true, rack: z, topics: [orders], processing: {heavy: 4ms}}
      lib: {client: librdkafka, topics: [bills]}
    settings: {session.timeout.ms: 8s, max.poll.interval.ms: 40s, metadata.max.age.ms: 20s}
events:
  - {every: 90s, until: 14m, crash: {group: app, restart_after: 4s}}
  - {every: 2m, until: 14m, gc_pause: {group: app, for: 12s}}
  - {every: 2m, until: 14m, poison_record: {group: app, for: 50s}}
  - {every: 2m, until: 14m, network_partition: {group: app, for: 11s}}
  - {every: 3m, until: 14m, move_coordinator: {group: app}}
  - {every: 5m, until: 13m, broker_down: {broker: 1, for: 15s}}
  - {every: 5m, until: 14m, broker_up: {broker: 1}}
  - {every: 5m, until: 10m, rolling_restart: {group: app, down: 2s, pause: 3s}}
  - {every: 4m, until: 10m, deploy: {group: app, startup: 2s, readiness: 2s}}
  - {every: 4m, until: 14m, scale_out: {group: app}}
  - {every: 6m, until: 14m, scale_in: {group: app}}
  - {every: 5m, until: 14m, load: {topic: orders, rate: 60/s, for: 30s}}
  - {every: 6m, until: 13m, zone_outage: {rack: z, brokers: [2], for: 20s}}
  - {every: 4m, until: 14m, spot_eviction: {group: app, count: 2, notice: 5s, restart_after: 9s}}
  - {every: 5m, until: 14m, slow_broker: {broker: 0, by: 3s, for: 30s}}
  - {every: 5m, until: 14m, request_error: {group: app, api: JoinGroup, error: NOT_COORDINATOR}}
  - {every: 3m, until: 14m, network_partition: {group: app, for: 11s, lost: answers}}
  - {every: 4m, until: 13m, unsubscribe: {group: app, member: dyn-1}}
  - {every: 2m, until: 14m, subscribe: {group: app, member: dyn-1, topics: [orders]}}
  - {at: 14m, subscribe: {group: app, member: dyn-1, topics: [orders, bills]}}
  - {every: 3m, until: 12m, seek: {group: app, topics: [bills], to: end}}
  - {every: 4m, until: 12m, seek: {group: app, member: fix-1, to: 5}}
  - {at: 4m, roll_brokers: {down: 9s, pause: 20s}}
  - {at: 5m, add_partitions: {topic: bills, partitions: 5}}
  - {at: 6m, create_topic: {topic: more, partitions: 2, rate: 3}}
"""


def random_scenario(protocol: str) -> Scenario:
    """The scenario in one protocol; server-side assignors know no library's own names."""
    return scenario(in_protocol(RANDOM, protocol))


def test_every_event_is_among_them() -> None:
    """No kind of event is left out."""
    assert {name for name in SCENARIO_EVENTS if f"{name}:" in RANDOM} == set(SCENARIO_EVENTS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seed", range(RUNS))
def test_the_invariants_hold(protocol: str, seed: int) -> None:
    """No invariant breaks on the way; some minutes after the last event everybody is settled."""
    run = Run(random_scenario(protocol), seed)
    outcome = run.carry_out()
    (group,) = outcome.groups
    assert outcome.settled, f"seed {seed}: {group.state}, {group.rebalances[-3:]}"
    assert group.state == "Stable", f"seed {seed}"
    accounts = run.world.groups["app"].ledger.accounts
    assert all(len(account.owners) == 1 for account in accounts.values()), f"seed {seed}"
    assert outcome.checks > 1_000
    assert group.unread < 100, f"seed {seed}"
