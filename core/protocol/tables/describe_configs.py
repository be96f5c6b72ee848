"""DescribeConfigs, API 32."""

from typing import Final

REQUEST: Final = """
DescribeConfigsRequest 1-4 flexible 4+
    resources []struct
        resource_type int8
        resource_name string
        configuration_keys []string?
    include_synonyms bool default false
    include_documentation bool 3+ default false
"""

RESPONSE: Final = """
DescribeConfigsResponse 1-4 flexible 4+
    throttle_time_ms int32
    results []struct
        error_code int16
        error_message string?
        resource_type int8
        resource_name string
        configs []struct
            name string
            value string?
            read_only bool
            config_source int8 default -1
            is_sensitive bool
            synonyms []struct
                name string
                value string?
                source int8
            config_type int8 3+ default 0
            documentation string? 3+
"""
