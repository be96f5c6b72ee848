"""Subscriptions by pattern: when patterns are resolved, and what a resolution changes.

A resolution looks at all patterns of the group together and comes after the answer of the
heartbeat that asked for it. Source: `GroupMetadataManager.maybeUpdateRegularExpressions`,
`handleRegularExpressionsResult`, KIP-848.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kgroups.core.coordinator.kip848.batch import Batch
from kgroups.core.coordinator.kip848.group import Kip848Group
from kgroups.core.coordinator.kip848.member import Kip848Member
from kgroups.core.coordinator.kip848.metadata_hash import topics_hash
from kgroups.core.coordinator.kip848.steps.checks import Refusal
from kgroups.core.coordinator.kip848.steps.progress import bump_epoch, settle_metadata
from kgroups.core.coordinator.log.records import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    Record,
)
from kgroups.core.coordinator.ports import Matches
from kgroups.core.coordinator.shard import Shard
from kgroups.core.coordinator.topology import MATCHED, topics_read
from kgroups.core.errors import PatternError
from kgroups.core.protocol.errors import ErrorCode

# Resolutions of one group are at least this far apart.
MIN_INTERVAL_MS = 10_000


class RegexStatus(NamedTuple):
    """The change of its member's pattern by a request.

    Args:
        changed: it is another one than before.
        bumps: what it matches is known, so the group epoch goes up now.
        resolves: nobody used it until now.
        unused: the pattern that nobody uses any more; empty for none.
    """

    changed: bool = False
    bumps: bool = False
    resolves: bool = False
    unused: str = ""


NOTHING_NEW = RegexStatus()


def regex_status(
    shard: Shard, group: Kip848Group, before: Kip848Member, after: Kip848Member
) -> RegexStatus | Refusal:
    """The change of its member's pattern by a request; a Refusal if it does not compile."""
    old, new, users = (
        before.subscribed_topic_regex,
        after.subscribed_topic_regex,
        group.tally.patterns,
    )
    if new == old:
        return NOTHING_NEW
    unused = old if old and users.get(old) == 1 else ""
    if not new:
        return RegexStatus(changed=True, bumps=True, unused=unused)
    if new in users:
        return RegexStatus(changed=True, bumps=new in group.regexes, unused=unused)
    try:
        compile_pattern(shard, new)
    except PatternError as broken:
        text = f"SubscribedTopicRegex `{new}` is not a valid regular expression: {broken}."
        return Refusal(ErrorCode.INVALID_REGULAR_EXPRESSION, text)
    return RegexStatus(changed=True, resolves=True, unused=unused)


def apply_status(batch: Batch, group: Kip848Group, status: RegexStatus) -> None:
    """Forget the pattern that nobody uses any more."""
    if status.unused:
        key = ConsumerGroupRegularExpressionKey(group.group_id, status.unused)
        batch.add(Record(key, None))


def compile_pattern(shard: Shard, pattern: str) -> Matches:
    """A test of whole topic names.

    Raises:
        PatternError: the pattern is not RE2's.
    """
    port = shard.ports.compile_pattern
    assert port is not None, "a coordinator that serves consumer groups has patterns"
    return port(pattern)


def resolve_if_due(
    shard: Shard,
    group: Kip848Group,
    before: Kip848Member,
    after: Kip848Member,
    status: RegexStatus,
) -> None:
    """Begin a resolution of all patterns of the group, if there is reason to."""
    if not status.resolves and not group.tally.patterns:
        return
    patterns = tuple(group.tally.patterns_with(before, after))
    last = next((group.regexes[regex] for regex in group.regexes.ordered_keys()), None)
    if last is not None:
        age_ms = shard.now_ms - last.timestamp_ms
        due = (
            status.resolves
            or len(patterns) != len(group.regexes)
            or last.version < shard.topics_created_version
            or age_ms > shard.config.consumer_regex_refresh_interval_ms
        )
        if age_ms <= MIN_INTERVAL_MS or not due:
            return
    if patterns:
        shard.later(_resolution(shard, group.group_id, patterns))


def _resolution(shard: Shard, group_id: str, patterns: Iterable[str]) -> Callable[[], None]:
    def task() -> None:
        topology = shard.topology
        resolved: dict[str, tuple[str, ...]] = {}
        for pattern in patterns:
            matches = compile_pattern(shard, pattern)
            resolved[pattern] = tuple(sorted(name for name in topology.topics if matches(name)))
        group = shard.groups.get(group_id)
        if isinstance(group, Kip848Group):
            _store(shard, group, resolved)

    return task


def _store(shard: Shard, group: Kip848Group, resolved: Mapping[str, tuple[str, ...]]) -> None:
    """Write what the patterns match now; if that changed the group's topics, bump its epoch."""
    batch = Batch(shard, group.partition)
    # Subscriptions by name and by every pattern as the log will have them after this.
    names = {name for name, count in group.tally.names.items() if count.by_name > 0}
    changed = False
    before: set[str] = set()
    after: set[str] = set()
    for pattern in dict.fromkeys((*group.regexes, *resolved)):
        topics = group.resolved_topics(pattern)
        if pattern in resolved and pattern in group.tally.patterns:
            changed = changed or set(topics) != set(resolved[pattern])
            before.update(topics)
            topics = resolved[pattern]
            after.update(topics)
            value = ConsumerGroupRegularExpressionValue(
                topics, shard.topology.version, shard.now_ms
            )
            key = ConsumerGroupRegularExpressionKey(group.group_id, pattern)
            batch.add(Record(key, value))
        names.update(topics)
    hash_now = topics_hash(shard, names)
    if changed or hash_now != group.metadata_hash:
        reason = topics_read(before, after, MATCHED) or group.metadata_changed
        bump_epoch(batch, group, hash_now, reason or "patterns match other topics")
        settle_metadata(batch, group)
    batch.write()
