"""Blockers of a move to the other protocol, member by member.

Some of it the brokers refuse, some the client; the rest nobody refuses, but something is lost.

Source: GroupMetadataManager.validateOnlineUpgrade, .convertToConsumerGroup and
.validateOnlineDowngradeWithFencedMembers; KIP-848 (clients, patterns); release notes of the client
libraries.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from kgroups.core.coordinator.config import MigrationPolicy
from kgroups.core.coordinator.releases import Rule
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import Pattern
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.libraries import KAFKAJS_ROUND_ROBIN, RANGE
from kgroups.core.planning.migration.broker_rules import POLICY, PROTOCOLS, BrokerRules
from kgroups.core.planning.plan import Blocker
from kgroups.core.planning.reasons import one_of
from kgroups.core.planning.topic_patterns import matching_topics
from kgroups.core.snapshot import Group, Member, MemberProtocol, Topic

UPGRADES: Final = (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE)
DOWNGRADES: Final = (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)

# Client-side strategy -> the server-side assignor that does the like.
COUNTERPARTS: Final[Mapping[str, str]] = {
    RANGE: "range",
    "roundrobin": "uniform",
    "sticky": "uniform",
    "cooperative-sticky": "uniform",
    KAFKAJS_ROUND_ROBIN: "uniform",
}

# Client libraries that speak KIP-848, and since when.
SPEAK_KIP848: Final[Mapping[str, str]] = {"java": "4.0", "librdkafka": "2.12", "franz-go": "1.22"}

# The version that subscriptions of such clients have at least, and since when libraries send it.
NEWEST_SUBSCRIPTION: Final = 3
SENT_SINCE: Final[Mapping[str, str]] = {"java": "3.5", "librdkafka": "2.3"}

MOST_NAMED: Final = 3


def find_blockers(
    evidence: Evidence,
    protocol: MemberProtocol,
    rules: BrokerRules,
    topics: Mapping[str, Topic],
    *,
    patterns: Sequence[Pattern] = (),
) -> tuple[Blocker, ...]:
    """Everything that stands in the way, the whole group's first.

    Args:
        evidence: of the group as it is.
        patterns: by which classic members subscribe, as the user says.
    """
    group = evidence.group
    members = [member for member in group.members or () if member.member_protocol != protocol]
    if protocol == "classic":
        return tuple(_on_the_way_back(group, members, rules))
    blockers = list(_of_brokers(group, rules)) if group.type == "classic" else []
    for member in members:
        blockers += _of_member(evidence, member)
    blockers += _of_patterns(patterns, topics, members)
    return tuple(blockers)


def _of_brokers(group: Group, rules: BrokerRules) -> Iterator[Blocker]:
    what: str | None = None
    hint = "upgrade the brokers to Kafka 4.0 or newer, and finalize `group.version` 1"
    if rules.kip848 == "missing":
        what = "they have no ConsumerGroupHeartbeat"
    elif rules.switched_off:
        what = f"`{PROTOCOLS}` is {rules.protocols}"
        hint = f"upgrade the brokers to Kafka 4.0 or newer, and add `consumer` to `{PROTOCOLS}`"
    elif rules.kip848 == "refused":
        what = "the feature `group.version` is not finalized"
        if rules.protocols is None:  # not told: it may be that, too
            what += f", or `{PROTOCOLS}` lacks `consumer`"
        hint = (
            "when all brokers are 4.0 or newer, run `kafka-features.sh upgrade --feature"
            " group.version=1`"
        )
    if what is not None:
        said = f"the brokers do not serve KIP-848: {what}"
        yield Blocker(None, "UNSUPPORTED_VERSION", said, hint, "broker")
    policy = rules.config.consumer_migration_policy
    if policy not in UPGRADES:
        yield Blocker(
            None,
            "MIGRATION_POLICY",
            f"the brokers do not convert classic groups that have members: `{POLICY}` is {policy}",
            (
                f"set `{POLICY}` to bidirectional or upgrade on every broker, or stop all members: "
                "an empty group needs no policy"
            ),
            "broker",
        )
    size, most = len(group.members or ()), rules.config.consumer_max_size
    if size > most:
        yield Blocker(
            None,
            "GROUP_MAX_SIZE",
            f"it has {size} members, and `group.consumer.max.size` is {most}",
            "increase it on every broker, or stop members first",
            "broker",
        )


def _of_member(evidence: Evidence, member: Member) -> Iterator[Blocker]:
    group = evidence.group
    name, strategy = member.member_id, group.assignor
    if member.assignment_user_data:
        yield Blocker(
            name,
            "ASSIGNMENT_USER_DATA",
            (
                f"its assignment has {len(member.assignment_user_data)} bytes of the leader's user "
                "data, and brokers do not convert such a group"
            ),
            "switch the members to range or roundrobin first, in a separate rolling restart",
            "broker",
        )
    if group.type == "classic" and strategy is not None and strategy not in COUNTERPARTS:
        yield Blocker(
            name,
            "ASSIGNOR",
            f"no server-side assignor is equivalent to `{strategy}`",
            "the coordinator will assign, by uniform or range",
        )
        if member.user_data:
            yield Blocker(
                name,
                "SUBSCRIPTION_USER_DATA",
                (
                    f"it sends {len(member.user_data)} bytes of user data to `{strategy}`, which "
                    "no server-side assignor reads"
                ),
                "what depends on them is lost",
            )
    yield from _of_client(evidence, member)


def _of_client(evidence: Evidence, member: Member) -> Iterator[Blocker]:
    group, name = evidence.group, member.member_id
    if group.type != "classic" or (group.assignor or "") not in COUNTERPARTS:
        return  # nothing tells the library
    libraries = evidence.libraries[name]
    able = libraries & SPEAK_KIP848.keys()
    if not able:
        yield Blocker(
            name,
            "CLIENT_LIBRARY",
            f"{one_of(sorted(libraries))} clients do not speak KIP-848",
            f"switch it to a library that does: {_since()}",
            "client",
        )
        return
    version = member.subscription_version
    traces = evidence.traces[name]
    if version is None or not traces or version >= NEWEST_SUBSCRIPTION:
        return
    old = sorted({trace.library for trace in traces if trace.library in able})
    if old and able == libraries:
        yield Blocker(
            name,
            "CLIENT_TOO_OLD",
            f"its subscription has version {version}: the {one_of(old)} client is older than"
            f" {one_of([SENT_SINCE.get(library, SPEAK_KIP848[library]) for library in old])}",
            f"upgrade it in the same rolling restart: {_since()}",
            "client",
        )


def _of_patterns(
    patterns: Sequence[Pattern],
    topics: Mapping[str, Topic],
    members: Sequence[Member],
) -> Iterator[Blocker]:
    """Patterns that the brokers read otherwise than the clients do until now."""
    for pattern in patterns:
        if pattern.dialect == "re2":
            continue
        sends = pattern.dialect == "librdkafka"
        text = f"^{pattern.pattern.removeprefix('^')}" if sends else pattern.pattern
        concerned = [m.member_id for m in members if pattern.member in (None, m.member_id)]
        hint = (
            (
                "librdkafka then sends patterns to the broker: write it for RE2, which matches "
                "whole names"
            )
            if sends
            else (
                "`subscribe(Pattern)` still matches in the client; only "
                "`subscribe(SubscriptionPattern)` needs another pattern"
            )
        )
        now: tuple[str, ...] | None = None
        with suppress(UsageError):  # told where the pattern is read
            now = matching_topics(topics, pattern.pattern, pattern.dialect)
        try:
            then = matching_topics(topics, text, "re2")
        except UsageError as error:
            message = f"`{text}` is not a valid RE2 pattern, as brokers require: {error.message}"
            for name in concerned:
                yield Blocker(name, "REGULAR_EXPRESSION", message, hint)
            continue
        if now is not None and now != then:
            lost = [f"no longer {name}" for name in now if name not in then]
            new = [f"also {name}" for name in then if name not in now]
            shown = ", ".join([*lost, *new][:MOST_NAMED])
            for name in concerned:
                yield Blocker(
                    name,
                    "REGULAR_EXPRESSION",
                    f"brokers read `{text}` as RE2 and match whole names: {shown}",
                    hint,
                )


def _on_the_way_back(
    group: Group, members: Sequence[Member], rules: BrokerRules
) -> Iterator[Blocker]:
    policy = rules.config.consumer_migration_policy
    if members and policy is MigrationPolicy.DISABLED:
        refuses = Rule.DISABLED_MIGRATION_REFUSES
        all_do = all(release.follows(refuses) for release in rules.releases)
        who = "the brokers" if all_do else f"brokers of Kafka {refuses.since} and newer"
        yield Blocker(
            None,
            "MIGRATION_POLICY",
            f"{who} refuse classic members in a consumer group: `{POLICY}` is {policy}",
            f"set `{POLICY}` to bidirectional or downgrade on every broker",
            "broker",
        )
    elif members and policy not in DOWNGRADES:
        yield Blocker(
            None,
            "MIGRATION_POLICY",
            (
                "the brokers do not convert a consumer group with members back to a classic one: "
                f"`{POLICY}` is {policy}, so it stays a consumer group of classic members"
            ),
            f"set `{POLICY}` to bidirectional or downgrade on every broker",
        )
    size, most = len(group.members or ()), rules.config.classic_max_size
    if size > most:
        yield Blocker(
            None,
            "GROUP_MAX_SIZE",
            f"it has {size} members, and `group.max.size` is {most}",
            "increase it on every broker, or stop members first",
        )
    for member in members:
        if member.subscription_regex:
            yield Blocker(
                member.member_id,
                "REGULAR_EXPRESSION",
                f"it subscribes by `{member.subscription_regex}`, which the broker matches (RE2);"
                " classic members match patterns themselves, each library by its own rules",
                (
                    "Java: `subscribe(Pattern)` instead of `subscribe(SubscriptionPattern)`, "
                    "which classic consumers reject"
                ),
            )


def _since() -> str:
    return ", ".join(f"{library} {version}" for library, version in SPEAK_KIP848.items())
