"""Where share groups begin in partitions in which they have no start offset."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.lookups.group_settings import settings_of_groups
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at
from kgroups.core.kafka.reads.log_bounds import led_only
from kgroups.core.snapshot import PartitionLog, Topic, TopicPartition
from kgroups.core.times import duration_ms

_RESET: Final = "share.auto.offset.reset"
_AGE: Final = "by_duration:"


class FirstOffsets(NamedTuple):
    """Where one group begins.

    Args:
        reset: its `share.auto.offset.reset`: `earliest`, `latest`, `by_duration:PT1H`.
        offsets: as the logs are now; None where a bound of a log is not known.
    """

    reset: str
    offsets: Mapping[TopicPartition, int | None]


def first_offsets(
    admin: ClusterAdmin, groups: Mapping[str, Mapping[str, Topic]], now_ms: int
) -> dict[str, FirstOffsets | BrokerFailure]:
    """By group, where it begins when its first member fetches; or why that is not known.

    Args:
        groups: each with topics and the bounds of their logs.
        now_ms: epoch milliseconds, from which `by_duration` counts back.
    Raises:
        ClusterError: the cluster cannot be asked.
    Source: org.apache.kafka.server.share.ShareFetchUtils, KIP-932.
    """
    found: dict[str, FirstOffsets | BrokerFailure] = {}
    for group, settings in settings_of_groups(admin, list(groups)).items():
        if isinstance(settings, BrokerFailure):
            found[group] = settings
            continue
        reset = (_RESET in settings and settings[_RESET].value) or "latest"
        topics = led_only(groups[group])
        age_ms = duration_ms(reset.removeprefix(_AGE)) if reset.startswith(_AGE) else None
        at_time = {} if age_ms is None else offsets_at(admin, topics, now_ms - int(age_ms))
        offsets = {
            (name, number): _first(log, reset, at_time.get((name, number)))
            for name, topic in topics.items()
            for number, log in topic.partitions.items()
        }
        found[group] = FirstOffsets(reset, offsets)
    return found


def _first(log: PartitionLog, reset: str, at_time: int | None) -> int | None:
    if reset == "earliest":
        return log.log_start_offset
    return log.log_end_offset if at_time is None else at_time
