"""Dynamic settings of one group, and what brokers refuse of them (KIP-848).

Source: `GroupConfig.validate`, Kafka 4.3.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.errors import UsageError

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
    """What a broker refuses: unknown names, texts that are no whole numbers, what is out of bounds.

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
