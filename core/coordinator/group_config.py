"""Dynamic settings of one group, checked as brokers check them (KIP-848).

Source: `GroupConfig.validate`, Kafka 4.3.
"""

from collections.abc import Mapping
from typing import Final

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.errors import UsageError

SESSION_TIMEOUT: Final = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL: Final = "consumer.heartbeat.interval.ms"
ASSIGNMENT_INTERVAL: Final = "consumer.assignment.interval.ms"


def check_group_config(config: Mapping[str, str], broker: CoordinatorConfig) -> None:
    """Whether a broker would take these settings.

    Raises:
        UsageError: it would not: an unknown name, no whole number, or one out of its bounds.
    """
    bounds = {
        SESSION_TIMEOUT: (
            broker.consumer_min_session_timeout_ms,
            broker.consumer_max_session_timeout_ms,
        ),
        HEARTBEAT_INTERVAL: (
            broker.consumer_min_heartbeat_interval_ms,
            broker.consumer_max_heartbeat_interval_ms,
        ),
        ASSIGNMENT_INTERVAL: (0, None),
    }
    for name, text in config.items():
        if name not in bounds:
            raise UsageError(f"no group setting `{name}`", hint=f"known: {', '.join(bounds)}")
        least, most = bounds[name]
        try:
            value = int(text)
        except ValueError as error:
            raise UsageError(f"`{name}` must be a whole number, not `{text}`") from error
        if value < least or (most is not None and value > most):
            span = f"at least {least}" if most is None else f"between {least} and {most}"
            raise UsageError(f"`{name}` must be {span}, not {value}")
