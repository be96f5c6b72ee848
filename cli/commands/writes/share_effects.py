"""What writes do to share groups, counted in `__share_group_state`."""

from collections.abc import Mapping, Sequence

from kgroups.cli.commands.writes.writing import Run, share_groups
from kgroups.cli.source import now_ms
from kgroups.core.deliveries import STATE_TOPIC, ShareState, effects_of
from kgroups.core.errors import ClusterError
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.lookups.share_starts import FirstOffsets, first_offsets
from kgroups.core.kafka.lookups.share_state import States, share_states
from kgroups.core.offsets.change import Change
from kgroups.core.snapshot import ClusterSnapshot, Topic

_Starts = Mapping[str, FirstOffsets | BrokerFailure]


def with_effects(
    run: Run, looked: ClusterSnapshot, changes: Sequence[Change], topics: Mapping[str, Topic]
) -> list[Change]:
    """The changes; those of share groups with how many records they skip, and deliver again.

    Without READ on the topic they are reckoned from lags, which a note says.

    Args:
        topics: with their ids and the bounds of their logs.
    """
    shared = {*share_groups(run.admin, changes)}
    asked = {
        (change.group, (change.topic, change.partition))
        for change in changes
        if change.group in shared and change.topic is not None and change.partition is not None
    }
    groups = [group for group in looked.groups if group.group in {name for name, _ in asked}]
    if not groups:
        return list(changes)
    states: Mapping[str, States] = {}
    codes: set[str] = set()
    run.printer.progress(f"reading {STATE_TOPIC}")
    try:
        states = share_states(run.admin, groups, topics)
    except ClusterError as failure:
        codes.add(failure.code)
    told = [states.get(name, {}).get(at) for name, at in asked]
    codes |= {state for state in told if isinstance(state, str)}
    if codes:
        moved = any(change.new is not None for change in changes)
        text = (
            f"`{STATE_TOPIC}` could not be read ({', '.join(sorted(codes))}), so how many records "
            f"are skipped and delivered again is {'reckoned from the lag' if moved else 'unknown'}"
        )
        run.printer.note("DELIVERIES_UNKNOWN", text, of_a_write=True)
    starts = {} if codes else _starts(run, shared, changes, topics)
    return [_with_effects(change, states, starts, topics) for change in changes]


def _starts(
    run: Run, shared: set[str], changes: Sequence[Change], topics: Mapping[str, Topic]
) -> _Starts:
    """Where groups restart whose offsets are deleted; a note names those of which it is unknown."""
    wanted: dict[str, dict[str, Topic]] = {}
    for group, topic, _, old, new, *_ in changes:
        if group in shared and old and not new and topic is not None and topic in topics:
            wanted.setdefault(group, {})[topic] = topics[topic]
    starts = first_offsets(run.admin, wanted, now_ms())
    for group, found in starts.items():
        if isinstance(found, BrokerFailure):
            text = (
                f"where `{group}` restarts is unknown ({found.code}), and so is how many "
                "records are skipped and delivered again"
            )
            run.printer.note("DELIVERIES_UNKNOWN", text, group, of_a_write=True)
    return starts


def _with_effects(
    change: Change, states: Mapping[str, States], starts: _Starts, topics: Mapping[str, Topic]
) -> Change:
    _, topic, partition, _, new, *_ = change
    if topic is None or partition is None:
        return change
    state = states.get(change.group, {}).get((topic, partition))
    anew = starts.get(change.group)
    offset = None if new is None else new.offset
    if new is None and isinstance(anew, FirstOffsets):
        offset = anew.offsets.get((topic, partition))
        change = change._replace(note=f"restarts from {anew.reset}")
    if offset is None or not isinstance(state, ShareState):
        return change
    log = topics[topic].partitions[partition]
    return change._replace(effects=effects_of(state, log, offset))
