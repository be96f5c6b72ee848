"""Subscriptions by pattern: when patterns are resolved, and what a resolution changes.

A resolution looks at all patterns of the group together and comes after the answer of the
heartbeat that asked for it. Source: `GroupMetadataManager.maybeUpdateRegularExpressions`,
`handleRegularExpressionsResult`, KIP-848.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kgroups.core.coordinator.consumer_batch import Batch
from kgroups.core.coordinator.consumer_checks import Refusal
from kgroups.core.coordinator.consumer_group import ConsumerGroup
from kgroups.core.coordinator.consumer_member import ConsumerMember
from kgroups.core.coordinator.consumer_messages import ConsumerGroupHeartbeatRequest
from kgroups.core.coordinator.consumer_metadata import group_hash
from kgroups.core.coordinator.consumer_progress import bump_epoch
from kgroups.core.coordinator.errors import ErrorCode
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.ports import Matches, PatternError
from kgroups.core.coordinator.records import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    Record,
)
from kgroups.core.coordinator.shard import Shard

# Resolutions of one group are at least this far apart.
MIN_INTERVAL_MS = 10_000


@dataclass(frozen=True, slots=True)
class RegexStatus:
    """What a heartbeat changes about its member's pattern.

    Args:
        bumps: the group epoch goes up now.
        resolves: a pattern came that nobody used.
        unused: the pattern that nobody uses any more; empty for none.
    """

    bumps: bool = False
    resolves: bool = False
    unused: str = ""

    def apply(self, batch: Batch, group: ConsumerGroup) -> None:
        """Forget the pattern that nobody uses any more."""
        if self.unused:
            key = ConsumerGroupRegularExpressionKey(group.group_id, self.unused)
            batch.add(Record(key, None))


UNCHANGED = RegexStatus()


def regex_status(
    shard: Shard,
    group: Group | None,
    member: ConsumerMember | None,
    request: ConsumerGroupHeartbeatRequest,
) -> RegexStatus | Refusal:
    """What the request changes about its member's pattern; a Refusal if it does not compile."""
    old = member.subscribed_topic_regex if member is not None else ""
    new = request.subscribed_topic_regex
    if new is None or new == old:
        return UNCHANGED
    known = group if isinstance(group, ConsumerGroup) else None
    unused = old if old and known is not None and known.pattern_users(old) == 1 else ""
    if not new:
        return RegexStatus(bumps=True, unused=unused)
    if known is not None and known.pattern_users(new):
        return RegexStatus(bumps=new in known.regexes, unused=unused)
    try:
        compile_pattern(shard, new)
    except PatternError as broken:
        text = f"SubscribedTopicRegex `{new}` is not a valid regular expression: {broken}."
        return Refusal(ErrorCode.INVALID_REGULAR_EXPRESSION, text)
    return RegexStatus(resolves=True, unused=unused)


def compile_pattern(shard: Shard, pattern: str) -> Matches:
    """A test of whole topic names.

    Raises:
        PatternError: the pattern is not RE2's.
    """
    port = shard.ports.compile_pattern
    assert port is not None, "a coordinator that serves consumer groups has patterns"
    return port(pattern)


def resolve_if_due(shard: Shard, group: ConsumerGroup, *, required: bool) -> None:
    """Begin a resolution of all patterns of the group, if there is reason to."""
    patterns = list(group.patterns())
    if group.resolving or not patterns:
        return
    last = next(iter(group.regexes.values()), None)
    if last is not None:
        age_ms = shard.now_ms - last.timestamp_ms
        if age_ms <= MIN_INTERVAL_MS:
            return
        due = (
            required
            or any(pattern not in group.regexes for pattern in patterns)
            or last.version < shard.topics_created_version
            or age_ms > shard.config.consumer_regex_refresh_interval_ms
        )
        if not due:
            return
    group.resolving = True
    shard.later(_resolution(shard, group, patterns))


def _resolution(shard: Shard, group: ConsumerGroup, patterns: list[str]) -> Callable[[], None]:
    def task() -> None:
        topology = shard.topology
        resolved: dict[str, tuple[str, ...]] = {}
        for pattern in patterns:
            matches = compile_pattern(shard, pattern)
            resolved[pattern] = tuple(sorted(name for name in topology.topics if matches(name)))
        group.resolving = False
        if shard.groups.get(group.group_id) is group:
            _store(shard, group, resolved)

    return task


def _store(shard: Shard, group: ConsumerGroup, resolved: Mapping[str, tuple[str, ...]]) -> None:
    """Write what the patterns match now; if that changed the group's topics, bump its epoch."""
    batch = Batch(shard, group.partition)
    changed = False
    for pattern, topics in resolved.items():
        if not group.pattern_users(pattern):
            continue
        before = group.regexes.get(pattern)
        changed = changed or set(before.topics if before is not None else ()) != set(topics)
        value = ConsumerGroupRegularExpressionValue(topics, shard.topology.version, shard.now_ms)
        key = ConsumerGroupRegularExpressionKey(group.group_id, pattern)
        batch.add(Record(key, value))
    hash_now = group_hash(shard, group)
    if changed or hash_now != group.metadata_hash:
        bump_epoch(batch, group, hash_now, "patterns match other topics")
    batch.write()
