"""Features of a cluster (`share.version`), as `kafka-features.sh` sets them."""

from collections.abc import Mapping
from datetime import timedelta

from kio.schema.errors import ErrorCode
from kio.schema.update_features.v1.request import FeatureUpdateKey, UpdateFeaturesRequest
from kio.schema.update_features.v1.response import UpdateFeaturesResponse
from kio.static.primitive import i8, i16, i32Timedelta

from tests.support.kafka.broker_requests import WireConnection

_SAFE_DOWNGRADE = 2


def set_features(address: str, levels: Mapping[str, int]) -> None:
    """Lower features of a cluster to these levels; 0 switches one off."""
    updates = tuple(
        FeatureUpdateKey(
            feature=name, max_version_level=i16(level), upgrade_type=i8(_SAFE_DOWNGRADE)
        )
        for name, level in levels.items()
    )
    request = UpdateFeaturesRequest(
        timeout=i32Timedelta.parse(timedelta(seconds=60)),
        feature_updates=updates,
        validate_only=False,
    )
    with WireConnection(address) as wire:
        answer = wire.ask(request, UpdateFeaturesResponse)
    assert answer.error_code == ErrorCode.none, answer.error_message
