"""The outcome of a run, as values: per group and per member, in virtual ms from its start."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kgroups.core.simulation.figures.deploy_window import DeployOutcome
from kgroups.core.simulation.figures.ledger import Owned
from kgroups.core.simulation.figures.recorder import Rebalance
from kgroups.core.simulation.kubernetes.scaling_rules import Scaling

# A picture cannot show more.
MAX_MOMENTS: Final = 200


@dataclass(frozen=True, slots=True)
class Sample:
    """A group's distance from the end of its topics at one time.

    Args:
        unread: records that nobody of the group was given yet.
        lag: records after the last commit, as a tool shows it.
    """

    at_ms: int
    unread: int
    lag: int


@dataclass(frozen=True, slots=True)
class MemberOutcome:
    """One member over all its lives.

    Args:
        stopped_ms: time in which it had given everything up and waited for an assignment.
        longest_stop_ms: the longest such time.
        starting_ms: time from starts of its process until their first assignments.
        partitions: how many it owns at the end.
        failures: fatal errors of its consumer.
    """

    name: str
    lives: int
    stopped_ms: int
    longest_stop_ms: int
    starting_ms: int
    partitions: int
    running: bool
    failures: tuple[str, ...] = ()


class PartitionOutcome(NamedTuple):
    """One partition that the group reads.

    Args:
        owner: member that owns it at the end; None if nobody does.
        unowned_ms: time without an owner; `longest_unowned_ms` at once.
        doubled_ms: time with two owners.
    """

    topic: str
    partition: int
    owner: str | None
    unowned_ms: int
    longest_unowned_ms: int
    doubled_ms: int


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """One group.

    Args:
        epoch: generation or group epoch at the end.
        state: at its coordinator; None where there is none.
        rebalances: with causes, in order; `rebalance_count` counts those beyond the list too.
        first_owned_ms: when somebody owned the first partition; None if never.
        unowned_ms: time without an owner, added up over partitions.
        longest_unowned_ms: the longest time that one partition was without an owner.
        doubled_ms: time with two owners, added up over partitions.
        never_owned: partitions that nobody ever owned.
        moved: partitions that went over to another member.
        lost: records that were committed before they were done, and are not done by anybody.
        out_of_order: records that began before an earlier one of their partition was done.
        skipped: records that applications passed over, as they were too old.
        behind_ms: time in which the group was behind by more than it reads in passing.
        catch_up_ms: the longest such time at once.
        owned: who owned what from when to when (virtual ms), as far as it was kept.
        deploys: in the order of their starts.
        scalings: what the autoscaler did, in order.
        counts: further figures by name (the ZooKeeper era's notifications, retries, ...).
    """

    group: str
    protocol: str
    settled: bool
    settled_ms: int | None
    epoch: int
    state: str | None
    rebalances: tuple[Rebalance, ...]
    rebalance_count: int
    causes: Mapping[str, int]
    first_owned_ms: int | None
    unowned_ms: int
    longest_unowned_ms: int
    doubled_ms: int
    never_owned: int
    moved: int
    records: int
    read_again: int
    lost: int
    out_of_order: int
    skipped: int
    unread: int
    lag: int
    peak_unread: int
    behind_ms: int
    catch_up_ms: int
    requests: Mapping[str, int]
    errors: Mapping[str, int]
    members: tuple[MemberOutcome, ...]
    partitions: tuple[PartitionOutcome, ...]
    samples: tuple[Sample, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    owned: tuple[Owned, ...] = ()
    deploys: tuple[DeployOutcome, ...] = ()
    scalings: tuple[Scaling, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run.

    Args:
        end_ms: how long it lasted.
        events: how many of each kind happened.
        steps: events of the heap.
        moments: when the first `MAX_MOMENTS` events happened, each with its name.
    """

    scenario: str
    seed: int
    end_ms: int
    settled: bool
    events: Mapping[str, int]
    groups: tuple[GroupOutcome, ...]
    steps: int
    checks: int
    assumed: tuple[str, ...] = ()
    moments: tuple[tuple[int, str], ...] = ()

    @property
    def requests(self) -> int:
        """Requests of all groups."""
        return sum(sum(group.requests.values()) for group in self.groups)
