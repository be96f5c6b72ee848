"""Lag reports as DataFrames, and a live cluster as data sources; needs the extra `spark`."""

from kgroups.core.lag.frames import lag_report, read_captures, with_lag
from kgroups.core.lag.stores.places import parse_place
from kgroups.core.sources.consumer_offsets import ConsumerOffsets
from kgroups.core.sources.kafka_groups import KafkaGroups

__all__ = [
    "ConsumerOffsets",
    "KafkaGroups",
    "lag_report",
    "parse_place",
    "read_captures",
    "with_lag",
]
