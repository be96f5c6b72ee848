"""The JSON form of outcomes: one item a variation and group; several seeds become two numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import Any, Final

from kgroups.core.simulation.figures.confidence import compare, interval, median, percentile
from kgroups.core.simulation.figures.outcome import GroupOutcome, Outcome
from kgroups.core.simulation.figures.readers import NOBODY_READS, SPLIT_BRAIN
from kgroups.core.simulation.scenario.variation import Variation
from kgroups.core.times import in_seconds
from kgroups.core.zookeeper.protocol import READS, Api

Read = Callable[[GroupOutcome], int]

# Figure -> what it means, and how it is read where no field of an outcome is called so; durations
# in ms.
_FIGURES: Final[Mapping[str, tuple[str, Read | None]]] = {
    "rebalances": ("rebalances that began", lambda g: g.rebalance_count),
    "epoch": ("generation, or group epoch, at the end", None),
    "unowned_ms": ("time without an owner, added up over partitions", None),
    "longest_unowned_ms": ("longest time that a partition had no owner", None),
    "doubled_ms": ("time with two owners, added up over partitions", None),
    "stopped_ms": (
        "time in which members owned nothing and waited",
        lambda g: sum(member.stopped_ms for member in g.members),
    ),
    "longest_stop_ms": (
        "longest time that a member owned nothing and waited",
        lambda g: max((m.longest_stop_ms for m in g.members), default=0),
    ),
    "moved": ("partitions that went over to another member", None),
    "records": ("records handed to applications", None),
    "read_again": ("records read twice", None),
    "lost": ("records committed and never processed, of applications with `polls_on`", None),
    "out_of_order": (
        "records begun before an earlier one of their partition was done, of the same",
        None,
    ),
    "skipped": ("records that applications with `skip_older_than` passed over", None),
    "peak_unread": ("most unread records", None),
    "unread": ("unread records at the end", None),
    "lag": ("lag at the end", None),
    "behind_ms": ("time in which the group was behind", None),
    "catch_up_ms": ("longest time in which the group was behind", None),
    "requests": ("requests to brokers", lambda g: sum(g.requests.values())),
}
FIGURES: Final[Mapping[str, Read]] = {
    name: read or attrgetter(name) for name, (_, read) in _FIGURES.items()
}
MEANINGS: Final = {name: meaning for name, (meaning, _) in _FIGURES.items()}

# Of groups without a coordinator: what every change costs all of them, and what failed.
HERD: Final[Mapping[str, Callable[[GroupOutcome], int]]] = {
    "split_brain_ms": lambda g: g.counts.get(SPLIT_BRAIN, 0),
    "nobody_reads_ms": lambda g: g.counts.get(NOBODY_READS, 0),
    "notifications": lambda g: g.counts.get("watch notifications", 0),
    "reads": lambda g: sum(g.requests.get(api, 0) for api in READS),
    "writes": lambda g: sum(g.requests.get(api, 0) for api in Api if api not in READS),
    "attempts": lambda g: g.counts.get("rebalance attempts", 0),
    "attempts_spoiled": lambda g: g.counts.get("attempts spoiled by a change", 0),
    "claims_refused": lambda g: g.counts.get("claims refused", 0),
    "failed_rebalances": lambda g: g.counts.get("failed rebalances", 0),
    "sessions_expired": lambda g: g.counts.get("sessions expired", 0),
}


def compare_items(
    first: Sequence[Outcome], outcomes: Sequence[Outcome], place: int
) -> dict[str, Any] | None:
    """How a group's figures differ from those of the first variation; None if nothing can be said.

    Args:
        first: runs of the first variation.
    """
    if len(outcomes) < 2 or first is outcomes:
        return None
    compared = {}
    for name, read in FIGURES.items():
        baseline, other = ([read(run.groups[place]) for run in runs] for runs in (first, outcomes))
        compared[name] = asdict(compare(baseline, other))
    return compared


def group_items(
    variation: Variation | None,
    outcomes: Sequence[Outcome],
    first: Sequence[Outcome] | None = None,
) -> list[dict[str, Any]]:
    """The items of one variation, one a group.

    Args:
        outcomes: its runs; lists and maps are those of the first one.
        first: runs of the variation that it is compared with; None: none.
    """
    return [
        in_seconds(
            _item(variation, outcomes, group, [run.groups[place] for run in outcomes])
            | {"compared": None if first is None else compare_items(first, outcomes, place)}
        )
        for place, group in enumerate(outcomes[0].groups)
    ]


def _item(
    variation: Variation | None,
    outcomes: Sequence[Outcome],
    group: GroupOutcome,
    runs: Sequence[GroupOutcome],
) -> dict[str, Any]:
    values = {name: [read(run) for run in runs] for name, read in FIGURES.items()}
    several = len(runs) > 1
    return {
        "group": group.group,
        "protocol": group.protocol,
        "variation": None if variation is None else dict(variation),
        "seed": outcomes[0].seed,
        "runs": len(runs),
        "runs_settled": sum(run.settled for run in runs),
        "end_ms": outcomes[0].end_ms,
        "settled": group.settled,
        "settled_ms": group.settled_ms,
        "state": group.state,
        "first_owned_ms": group.first_owned_ms,
        "never_owned": group.never_owned,
        "figures": {name: median(numbers) for name, numbers in values.items()},
        "herd": {name: median([read(run) for run in runs]) for name, read in HERD.items()}
        if group.protocol == "zookeeper"
        else None,
        "p95": {n: percentile(numbers, 0.95) for n, numbers in values.items()} if several else None,
        "interval": {n: interval(numbers) for n, numbers in values.items()} if several else None,
        "requests": dict(group.requests),
        "errors": dict(group.errors),
        "counts": dict(group.counts),
        "events": dict(outcomes[0].events),
        "rebalances": [asdict(rebalance) for rebalance in group.rebalances],
        "deploys": [deploy._asdict() for deploy in group.deploys],
        "scalings": [scaling._asdict() for scaling in group.scalings],
        "members": [{**asdict(m), "failures": list(m.failures)} for m in group.members],
        "partitions": [partition._asdict() for partition in group.partitions],
        "samples": [asdict(sample) for sample in group.samples],
    }
