"""Effects of writes on share groups, counted in `__share_group_state`."""

from collections.abc import Mapping, Sequence
from typing import Final

from kgroups.cli.commands.writes.writing import Run, share_groups
from kgroups.cli.exits import now_ms
from kgroups.core.deliveries import STATE_TOPIC, ShareState, effects_of
from kgroups.core.errors import ClusterError
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.lookups.group_settings import settings_of_groups
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at
from kgroups.core.kafka.lookups.share_state import States, share_states
from kgroups.core.kafka.reads.log_bounds import led_only
from kgroups.core.offsets.change import Change, Key
from kgroups.core.offsets.reset import Known, committed_partitions, plan_reset
from kgroups.core.offsets.targets import parse_target
from kgroups.core.snapshot import ClusterSnapshot, Group, Topic

_RESET: Final = "share.auto.offset.reset"


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
    anew = {change.group for change in changes if change.old and not (change.new or codes)}
    restarts = _restarts(run, {each.group: each for each in groups if each.group in anew}, topics)
    return [_with_effects(change, states, restarts.get(change.key), topics) for change in changes]


def _restarts(
    run: Run, groups: Mapping[str, Group], topics: Mapping[str, Topic]
) -> dict[Key, Change]:
    """By partition, the reset to where a group begins that has no offsets there.

    A note names the groups of which that is not known.
    """
    found: dict[Key, Change] = {}
    for name, settings in settings_of_groups(run.admin, list(groups)).items():
        if isinstance(settings, BrokerFailure):
            text = (
                f"where `{name}` restarts is unknown ({settings.code}), and so is how many records "
                "are skipped and delivered again"
            )
            run.printer.note("DELIVERIES_UNKNOWN", text, name, of_a_write=True)
            continue
        reset = (_RESET in settings and settings[_RESET].value) or "latest"
        target = parse_target(reset.removeprefix("by_duration:"), now_ms())
        is_time = target.kind == "time"
        at_time = offsets_at(run.admin, led_only(topics), target.number) if is_time else {}
        group, known = groups[name], Known(topics, at_time)
        for change in plan_reset(group, committed_partitions(group), target, known):
            found[change.key] = change._replace(note=f"restarts from {reset}")
    return found


def _with_effects(
    change: Change,
    states: Mapping[str, States],
    restart: Change | None,
    topics: Mapping[str, Topic],
) -> Change:
    new = change.new
    if new is None and restart is not None:
        new, change = restart.new, change._replace(note=restart.note)
    if change.topic is None or change.partition is None or new is None:
        return change
    state = states.get(change.group, {}).get((change.topic, change.partition))
    if not isinstance(state, ShareState):
        return change
    log = topics[change.topic].partitions[change.partition]
    return change._replace(effects=effects_of(state, log, new.offset))
