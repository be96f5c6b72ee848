"""InitProducerId, API 22."""

from typing import Final

REQUEST: Final = """
InitProducerIdRequest 0-6 flexible 2+
    transactional_id string?
    transaction_timeout_ms int32
    producer_id int64 3+ default -1
    producer_epoch int16 3+ default -1
    enable2_pc bool 6 default false
    keep_prepared_txn bool 6 default false
"""

RESPONSE: Final = """
InitProducerIdResponse 0-6 flexible 2+
    throttle_time_ms int32
    error_code int16
    producer_id int64 default -1
    producer_epoch int16
    ongoing_txn_producer_id int64 6 default -1
    ongoing_txn_producer_epoch int16 6 default -1
"""
