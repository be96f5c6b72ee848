"""ApiVersions, API 18."""

from typing import Final

REQUEST: Final = """
ApiVersionsRequest 0-5 flexible 3+
    client_software_name string 3+
    client_software_version string 3+
    cluster_id string? 5 default null
    node_id int32 5 default -1
"""

RESPONSE: Final = """
ApiVersionsResponse 0-5 flexible 3+
    error_code int16
    api_keys []struct
        api_key int16
        min_version int16
        max_version int16
    throttle_time_ms int32 1+
    supported_features []struct 3+ tag 0
        name string
        min_version int16
        max_version int16
    finalized_features_epoch int64 3+ tag 1 default -1
    finalized_features []struct 3+ tag 2
        name string
        max_version_level int16
        min_version_level int16
    zk_migration_ready bool 3+ tag 3 default false
"""
