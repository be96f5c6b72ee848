"""What resets of share groups do, counted in `__share_group_state`."""

from collections.abc import Mapping, Sequence

from kgroups.cli.commands.writes.writing import Run, share_groups
from kgroups.core.deliveries import STATE_TOPIC, ShareState, effects_of
from kgroups.core.errors import ClusterError
from kgroups.core.kafka.lookups.share_state import States, share_states
from kgroups.core.offsets.change import Change
from kgroups.core.snapshot import ClusterSnapshot, Topic


def with_effects(
    run: Run, looked: ClusterSnapshot, changes: Sequence[Change], topics: Mapping[str, Topic]
) -> list[Change]:
    """The changes; those of share groups with how many records they skip, and deliver again.

    Without READ on the topic they are reckoned from lags, which a note says.

    Args:
        topics: with their ids and the bounds of their logs.
    """
    shared = {*share_groups(run.admin, changes)}
    groups = [group for group in looked.groups if group.group in shared]
    if not groups:
        return list(changes)
    states: Mapping[str, States] = {}
    codes: set[str] = set()
    run.printer.progress(f"reading {STATE_TOPIC}")
    try:
        states = share_states(run.admin, groups, topics)
    except ClusterError as failure:
        codes.add(failure.code)
    codes |= {one for own in states.values() for one in own.values() if isinstance(one, str)}
    if codes:
        text = (
            f"`{STATE_TOPIC}` could not be read ({', '.join(sorted(codes))}), so how many records "
            "are skipped and delivered again is reckoned from the lag"
        )
        run.printer.note("DELIVERIES_UNKNOWN", text, of_a_write=True)
    return [_with_effects(change, states, topics) for change in changes]


def _with_effects(
    change: Change, states: Mapping[str, States], topics: Mapping[str, Topic]
) -> Change:
    if change.topic is None or change.partition is None or change.new is None:
        return change
    state = states.get(change.group, {}).get((change.topic, change.partition))
    if not isinstance(state, ShareState):
        return change
    log = topics[change.topic].partitions[change.partition]
    return change._replace(effects=effects_of(state, log, change.new.offset))
