"""Settings of a coordinator, by the names that a broker's properties file uses, and its release.

Dynamic settings of one group, too, and what brokers refuse of them (KIP-848). Times in
milliseconds, sizes in bytes, maximum sizes in members.

Source: GroupCoordinatorConfig; `GroupConfig.validate`, Kafka 4.3.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final, NamedTuple

from kgroups.core.coordinator.releases import RELEASES, Release, Rule
from kgroups.core.errors import UsageError, guess, shorten

# A member that joined and has not got its id yet cannot heartbeat; it may stay this long.
NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
MINUTE_MS = 60_000
MAX_INT = 2**31 - 1


class MigrationPolicy(StrEnum):
    """Between which protocols a group may be converted while it has members."""

    BIDIRECTIONAL = "bidirectional"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class CoordinatorConfig:
    """The settings of a broker that concern groups, with Kafka's defaults.

    Args:
        release: of Kafka, whose rules the coordinator follows.
    """

    classic_min_session_timeout_ms: int = 6_000
    classic_max_session_timeout_ms: int = 1_800_000
    classic_initial_rebalance_delay_ms: int = 3_000
    classic_max_size: int = MAX_INT
    offsets_partitions: int = 50
    offset_metadata_max_size: int = 4096
    offsets_retention_ms: int = 10_080 * MINUTE_MS
    offsets_retention_check_interval_ms: int = 600_000
    consumer_max_size: int = MAX_INT
    consumer_session_timeout_ms: int = 45_000
    consumer_min_session_timeout_ms: int = 45_000
    consumer_max_session_timeout_ms: int = 60_000
    consumer_heartbeat_interval_ms: int = 5_000
    consumer_min_heartbeat_interval_ms: int = 5_000
    consumer_max_heartbeat_interval_ms: int = 15_000
    consumer_assignment_interval_ms: int = 1_000
    consumer_regex_refresh_interval_ms: int = 600_000
    consumer_assignors: tuple[str, ...] = ("uniform", "range")
    consumer_migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    release: Release = RELEASES[-1]

    def follows(self, rule: Rule) -> bool:
        """Whether coordinators of this release do so."""
        return self.release.follows(rule)

    @classmethod
    def from_properties(
        cls,
        properties: Mapping[str, str],
        unknown: list[str] | None = None,
        *,
        release: Release = RELEASES[-1],
    ) -> "CoordinatorConfig":
        """Settings from a broker's properties.

        Args:
            properties: those of `PROPERTIES`, and others, which are passed over: a broker has
                hundreds, and a later release has some for groups that are not known here.
            unknown: takes a sentence about each of those others, for who wants to tell.
        Raises:
            UsageError: a value is not of its setting's kind.
        """
        if unknown is not None:
            unknown += [_unknown(name) for name in properties if name not in PROPERTIES]
        given = {
            field: _converted(name, properties[name], convert)
            for name, (field, convert) in PROPERTIES.items()
            if name in properties
        }
        return cls(**given, release=release)  # type: ignore[arg-type] # each converter gives its field's type

    def check_assignors(self, assignors: Collection[str]) -> None:
        """See that a broker with these `group.consumer.assignors` would start.

        Args:
            assignors: names of the server-side assignors that there are.
        Raises:
            UsageError: none is named, or one that is not known.
        """
        names = self.consumer_assignors
        unknown = [name for name in names if name not in assignors]
        if unknown or not names:
            problem = f"no assignor `{unknown[0]}`" if unknown else "`consumer_assignors` is empty"
            raise UsageError(problem, hint=f"known: {', '.join(sorted(assignors))}")


def _unknown(name: str) -> str:
    return f"`{name}` is not a broker property for groups{guess(name, PROPERTIES)}"


def _converted(name: str, text: str, convert: Callable[[str], object]) -> object:
    try:
        return convert(text)
    except ValueError as error:
        raise UsageError(f"`{name}`: invalid value `{shorten(text)}`") from error


def _minutes(text: str) -> int:
    return int(text) * MINUTE_MS


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _assignors(text: str) -> tuple[str, ...]:
    """Names of assignors; brokers before 4.0 name Kafka's own by their classes."""
    return tuple(_CLASSES.get(name, name) for name in _names(text))


_CLASSES: Mapping[str, str] = {
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
}


def _policy(text: str) -> MigrationPolicy:
    return MigrationPolicy(text.lower())


PROPERTIES: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "group.min.session.timeout.ms": ("classic_min_session_timeout_ms", int),
    "group.max.session.timeout.ms": ("classic_max_session_timeout_ms", int),
    "group.initial.rebalance.delay.ms": ("classic_initial_rebalance_delay_ms", int),
    "group.max.size": ("classic_max_size", int),
    "offsets.topic.num.partitions": ("offsets_partitions", int),
    "offset.metadata.max.bytes": ("offset_metadata_max_size", int),
    "offsets.retention.minutes": ("offsets_retention_ms", _minutes),
    "offsets.retention.check.interval.ms": ("offsets_retention_check_interval_ms", int),
    "group.consumer.max.size": ("consumer_max_size", int),
    "group.consumer.session.timeout.ms": ("consumer_session_timeout_ms", int),
    "group.consumer.min.session.timeout.ms": ("consumer_min_session_timeout_ms", int),
    "group.consumer.max.session.timeout.ms": ("consumer_max_session_timeout_ms", int),
    "group.consumer.heartbeat.interval.ms": ("consumer_heartbeat_interval_ms", int),
    "group.consumer.min.heartbeat.interval.ms": ("consumer_min_heartbeat_interval_ms", int),
    "group.consumer.max.heartbeat.interval.ms": ("consumer_max_heartbeat_interval_ms", int),
    "group.consumer.assignment.interval.ms": ("consumer_assignment_interval_ms", int),
    "group.consumer.regex.refresh.interval.ms": ("consumer_regex_refresh_interval_ms", int),
    "group.consumer.assignors": ("consumer_assignors", _assignors),
    "group.consumer.migration.policy": ("consumer_migration_policy", _policy),
}

assert {"release", *(field for field, _ in PROPERTIES.values())} == {
    field.name for field in fields(CoordinatorConfig)
}


SESSION_TIMEOUT: Final = "consumer.session.timeout.ms"


HEARTBEAT_INTERVAL: Final = "consumer.heartbeat.interval.ms"


ASSIGNMENT_INTERVAL: Final = "consumer.assignment.interval.ms"


GROUP_CONFIG: Final = (SESSION_TIMEOUT, HEARTBEAT_INTERVAL, ASSIGNMENT_INTERVAL)


_ENDS: Final = ("min", "max")


class WrongSetting(NamedTuple):
    """A setting that a broker refuses: its name, why, and what to do."""

    name: str
    what: str
    hint: str | None = None


def wrong_settings(config: Mapping[str, str], broker: CoordinatorConfig) -> Iterator[WrongSetting]:
    """Settings that a broker refuses: unknown names, no whole numbers, values out of bounds.

    Args:
        config: the group's settings by name.
        broker: the settings of the broker, whose bounds hold.
    """
    session, beat = broker.consumer_session_timeout_ms, broker.consumer_heartbeat_interval_ms
    values = {SESSION_TIMEOUT: session, HEARTBEAT_INTERVAL: beat}
    bounds = {
        SESSION_TIMEOUT: (
            broker.consumer_min_session_timeout_ms,
            broker.consumer_max_session_timeout_ms,
        ),
        HEARTBEAT_INTERVAL: (
            broker.consumer_min_heartbeat_interval_ms,
            broker.consumer_max_heartbeat_interval_ms,
        ),
    }
    for name, text in config.items():
        if name not in GROUP_CONFIG:
            yield WrongSetting(
                name, f"no group setting `{name}`", f"known: {', '.join(GROUP_CONFIG)}"
            )
            continue
        try:
            values[name] = value = int(text)
        except ValueError:
            yield WrongSetting(name, f"`{name}` must be a whole number, not `{text}`")
            continue
        if name not in bounds:
            if value < 0:
                yield WrongSetting(name, f"`{name}` is {value}, not at least 0")
            continue
        least, most = bounds[name]
        if not least <= value <= most:
            low, high = (f"group.{name.replace('consumer', f'consumer.{end}')}" for end in _ENDS)
            hint = f"the brokers' bounds are `{low}` and `{high}`"
            yield WrongSetting(name, f"`{name}` is {value}, not between {least} and {most}", hint)
    if (
        not config.keys().isdisjoint(values)
        and values[SESSION_TIMEOUT] <= values[HEARTBEAT_INTERVAL]
    ):
        name = SESSION_TIMEOUT if SESSION_TIMEOUT in config else HEARTBEAT_INTERVAL
        yield WrongSetting(name, f"`{HEARTBEAT_INTERVAL}` must be less than `{SESSION_TIMEOUT}`")


def check_group_config(config: Mapping[str, str], broker: CoordinatorConfig) -> None:
    """Raises UsageError for the first setting that a broker refuses."""
    for wrong in wrong_settings(config, broker):
        raise UsageError(wrong.what, hint=wrong.hint)
