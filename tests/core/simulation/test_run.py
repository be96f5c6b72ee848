"""A run is a function of scenario and seed; its figures, its timeline, its end."""

import gc
import os
import tracemalloc
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import parent_process
from typing import Any

import pytest

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.effects import Event, EventKind
from kgroups.core.simulation.engine.run import SAMPLES_A_RUN, Run, simulate
from kgroups.core.simulation.engine.sweep import Task, plan_tasks, sweep
from kgroups.core.simulation.figures.confidence import median, percentile
from kgroups.core.simulation.figures.ledger import BrokenInvariant
from kgroups.core.simulation.figures.recorder import Line
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.scenario.variation import combinations, parse_vary
from kgroups.core.simulation.world.actors import Hold
from kgroups.core.simulation.world.partition_logs import PartitionRecords
from tests.support.simulation.sample_scenarios import BASE, ran, scenario, told, with_event

LOSSY: dict[str, Any] = {
    "network": {"latency": {"normal": "3ms", "deviation": "2ms"}, "loss": 0.02}
}


JOINED_BY_ONE = """\
topics: {orders: {partitions: 12, rate: 60}}
groups:
  app:
    long_running: false
    members: {m: {count: 5, client: librdkafka, topics: [orders]}}
events: [{at: 61s, scale_out: {group: app}}]
"""


@pytest.mark.parametrize("protocol", ["eager", "consumer"])
def test_members_of_long_standing_send_heartbeats_at_times_of_their_own(protocol: str) -> None:
    """Who heard first waits for the last one, up to `heartbeat.interval.ms` (3 s; 5 s)."""
    fresh = JOINED_BY_ONE.replace("app:", f"app:\n    protocol: {protocol}", 1)
    old = fresh.replace("long_running: false", "long_running: true")
    (together,) = {ran(fresh, seed=n).unowned_ms for n in range(5)}
    found = [ran(old, seed=n) for n in range(9)]
    assert len({one.unowned_ms for one in found}) > 5
    if protocol == "eager":
        stops = [max(member.longest_stop_ms for member in one.members) for one in found]
        assert together < 100
        assert max(stops) <= 3_010
        assert median(stops) > 1_000


def timeline(seed: int) -> list[Line]:
    """Every line of a run in which chance plays a part."""
    return told(scenario(until="2m", **LOSSY), seed, every_request=True)[1]


def test_the_same_seed_gives_the_same_lines_and_another_seed_others() -> None:
    """Line by line, heartbeats included."""
    assert timeline(1) == timeline(1)
    assert timeline(1) != timeline(2)


def test_a_run_that_is_told_is_the_same_run() -> None:
    """Whether or not somebody looks."""
    one = scenario(until="2m")
    assert told(one)[0] == simulate(one)


def test_without_an_end_a_run_is_over_when_it_has_settled() -> None:
    """Ten quiet seconds after the last event and the last rebalance."""
    text = BASE.replace("until: 4m\n", "")
    outcome = simulate(scenario(text, events=[{"at": "60s", "scale_out": {"group": "app"}}]))
    (group,) = outcome.groups
    assert outcome.settled
    assert group.settled_ms is not None
    assert group.settled_ms + 10_000 <= outcome.end_ms < group.settled_ms + 13_000


def test_a_run_that_never_settles_ends_and_says_so() -> None:
    """Members that crash every second on average never come to rest."""
    crashes = {"every": "1s", "crash": {"group": "app", "restart_after": "1s"}}
    outcome = simulate(scenario(until="3m", events=[crashes]))
    assert outcome.end_ms == 180_000
    assert not outcome.settled


@pytest.mark.parametrize("policy", ["auto", "each poll", "never"])
def test_the_commit_policy_decides_what_is_read_twice(policy: str) -> None:
    """Five seconds of records, the last poll's, or everything since the start."""
    one = replace(with_event("crash", "eager")[1], until_ms=170_000)
    auto, each = policy == "auto", policy == "each poll"
    members = tuple(
        replace(
            plan,
            settings=replace(plan.settings, enable_auto_commit=auto, commit_each_poll=each),
        )
        for plan in one.groups[0].members
    )
    (group,) = simulate(replace(one, groups=(replace(one.groups[0], members=members),))).groups
    # Each member reads 20 records a second; the crash is at two minutes.
    low, high = {"auto": (50, 110), "each poll": (0, 3), "never": (1_000, 30_000)}[policy]
    assert low <= group.read_again <= high


def test_each_partition_has_its_own_figures() -> None:
    """They add up to the group's; whose member crashed was without an owner for a session more."""
    (group,) = simulate(with_event("crash", "eager")[1]).groups
    assert [(one.topic, one.partition) for one in group.partitions] == [
        ("orders", number) for number in range(6)
    ]
    assert sum(one.unowned_ms for one in group.partitions) == group.unowned_ms
    longest = sorted(one.longest_unowned_ms for one in group.partitions)
    assert longest[-1] == group.longest_unowned_ms
    # The dead member's two partitions wait for its session of ten seconds to end.
    assert all(waited > 6_000 for waited in longest[-2:])
    assert all(waited < 4_000 for waited in longest[:-2])
    assert {one.owner for one in group.partitions} <= {"m-1", "m-2", "m-3"}


def test_memory_does_not_grow_with_virtual_time() -> None:
    """Three quarters of an hour more, as much memory, but for the interpreter's spare tuples.

    The longer run has 4,100 requests more: an object kept of each would take 190 kB.
    """
    simulate(scenario(until="5m"))  # what is made once
    peaks = []
    for minutes in (10, 55):
        gc.collect()
        tracemalloc.start()
        simulate(scenario(until=f"{minutes}m"))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 100_000


def test_a_sweep_keeps_order_on_several_cores() -> None:
    """Two processes give what one gives, every variation with every seed."""
    variations = combinations(parse_vary(["protocol=eager,consumer", "static=false,true"]))
    tasks = plan_tasks(scenario(until="30s"), variations, (1, 2))
    assert [(task.place, task.seed) for task in tasks[:3]] == [(0, 1), (0, 2), (1, 1)]
    # Some here, the rest there.
    assert list(sweep(tasks, 2, alone_s=0.01)) == list(sweep(tasks, 1))


@dataclass(frozen=True, slots=True)
class Deadly(Task):
    """A run that ends every process that it is sent to."""

    def __reduce__(self) -> tuple[Any, ...]:
        return die_elsewhere, (self.place, self.scenario, self.seed)


def die_elsewhere(place: int, scenario: Scenario, seed: int) -> Task:
    """What a process makes of a `Deadly` that it is sent."""
    if parent_process() is not None:
        os._exit(1)
    return Deadly(place, scenario, seed)


def test_a_sweep_goes_on_alone_where_its_processes_are_ended() -> None:
    """All outcomes, in order."""
    plain = plan_tasks(scenario(until="30s"), [{}], range(1, 9))
    deadly = [Deadly(task.place, task.scenario, task.seed) for task in plain]
    assert list(sweep(deadly, 2, alone_s=0)) == list(sweep(plain, 1))


def test_a_sweep_fails_as_the_first_run_that_fails() -> None:
    """After the outcomes before it, wherever it was carried out."""
    tasks = plan_tasks(scenario(until="30s"), [{}], range(1, 9))
    tasks[2] = replace(tasks[2], scenario=None)  # type: ignore[arg-type] # this is what fails
    tasks[5] = replace(tasks[5], scenario=5)  # type: ignore[arg-type] # and fails otherwise
    found = sweep(tasks, 2, alone_s=0)
    assert [outcome.seed for _, outcome in islice(found, 2)] == [1, 2]
    with pytest.raises(AttributeError, match="NoneType"):
        next(found)


def test_medians_and_percentiles_are_values_that_happened() -> None:
    """The lower middle one; the nearest rank."""
    assert (median([4, 1, 3, 2]), median([5])) == (2, 5)
    assert (percentile(list(range(1, 101)), 0.95), percentile([7, 3], 0.95)) == (95, 7)
    assert percentile(list(range(1, 101)), 0.99) == 99


# ---------------------------------------------------------------------- invariants have teeth


def settled_run() -> Run:
    """A run that was carried out."""
    run = Run(scenario(until="1m"), 1)
    run.carry_out()
    return run


def test_two_owners_in_one_generation_are_found() -> None:
    """Both are members and up to date."""
    run = settled_run()
    one, other = list(run.world.processes.values())[:2]
    ledger = run.world.groups["app"].ledger
    (partition,) = [p for p, account in ledger.accounts.items() if one.life in account.owners][:1]
    hold = Hold((partition,), one.consumer.epoch + 1)
    shared = ledger.hold((partition,), other.seat.name, other.life, run.world.now_ms)
    run.world.invariants.held(other, hold, [], run.world.processes, run.world.now_ms)
    with pytest.raises(BrokenInvariant, match="was given to"):
        run.world.invariants.held(one, hold, [], run.world.processes, run.world.now_ms)
    same = Hold((partition,), one.consumer.epoch)
    with pytest.raises(BrokenInvariant, match=r"and both are members \(seed 1"):
        run.world.invariants.held(other, same, shared, run.world.processes, run.world.now_ms)


def test_who_was_thrown_out_may_own_on_unknowing() -> None:
    """The coordinator has told that the other one is no member any more."""
    run = settled_run()
    one, other = list(run.world.processes.values())[:2]
    partition = TopicPartition("orders", 0)
    event = Event(0, EventKind.MEMBER_REMOVED, "app", one.consumer.member_id, "gone")
    run.world.invariants.told(event, None)
    hold = Hold((partition,), other.consumer.epoch + 1)
    shared = [(partition, frozenset({one.life}))]
    run.world.invariants.held(other, hold, shared, run.world.processes, run.world.now_ms)


def test_an_answer_too_many_a_commit_backwards_and_lost_requests_are_found() -> None:
    """Each raises."""
    run = settled_run()
    invariants, now_ms = run.world.invariants, run.world.now_ms
    with pytest.raises(BrokenInvariant, match="answered twice"):
        invariants.answered(None, now_ms)
    ledger = run.world.groups["app"].ledger
    back = ledger.store({TopicPartition("orders", 0): 0})
    with pytest.raises(BrokenInvariant, match="went backwards"):
        invariants.stored("app", back, now_ms)
    with pytest.raises(BrokenInvariant, match="1 requests wait for an answer, 0 are parked"):
        invariants.waiting(1, 0, now_ms)


def test_a_partition_without_an_owner_at_rest_is_found() -> None:
    """The group is Stable and everybody settled."""
    run = settled_run()
    state = run.world.groups["app"]
    (life, *_) = run.world.processes
    state.ledger.release(list(state.ledger.accounts), life, run.world.now_ms)
    with pytest.raises(BrokenInvariant, match="not every partition has one owner"):
        run.world.invariants.at_rest(state, run.world.brokers.snapshot_of("app"), 0)


QUIET = """\
until: 30m
topics: {orders: {partitions: 6, rate: RATE}}
groups:
  g:
    members:
      app: {count: 3, topics: [orders], settings: {enable.auto.commit: false}}
"""


@pytest.mark.parametrize("rate", ["0", "6/h"])
def test_members_without_records_go_on_polling(rate: str) -> None:
    """Without auto-commit too: nobody is thrown out for not polling."""
    group = ran(QUIET.replace("RATE", rate))
    assert group.rebalance_count == 1
    assert group.unowned_ms == 0


def test_members_without_records_rebalance_at_once() -> None:
    """A poll that waits for records is no poll that waits to join."""
    event = {"at": "10m", "scale_out": {"group": "g"}}
    group = ran(QUIET.replace("RATE", "6/h"), events=[event])
    (_, second) = group.rebalances
    assert second.until_ms is not None
    assert second.until_ms - second.at_ms < 3_500  # a heartbeat


def test_cost_follows_what_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A partition without records is looked at when it is assigned and at samples, no more."""
    looks: Counter[bool] = Counter()
    look = PartitionRecords.end

    def end(self: PartitionRecords, at_ms: float) -> int:
        looks[self.per_ms > 0] += 1
        return look(self, at_ms)

    monkeypatch.setattr(PartitionRecords, "end", end)
    text = QUIET.replace("RATE", "0").replace("enable.auto.commit: false", "max.poll.records: 100")
    text = text.replace("topics: {orders", "topics: {busy: {partitions: 3, rate: 30}, orders")
    text = text.replace("partitions: 6", "partitions: 300").replace("[orders]", "[orders, busy]")
    group = ran(text)
    assert group.records > 50_000
    samples = SAMPLES_A_RUN + 1
    assert looks[True] > 3 * samples
    assert looks[False] <= 300 * (samples + 10)
    assert group.lag <= 5 * 30 + 3
