"""The error that a client gets when the log refused the records of its request.

A code is a *value* in a response; the coordinator raises nothing for what a client does wrong.
"""

from collections.abc import Mapping
from typing import Final

from kgroups.core.protocol.errors import ErrorCode

# Looking a member of an enumeration up in its class takes ten times as long as this.
NO_ERROR: Final = ErrorCode.NONE

# What a client is told when the log refused a record of its request; any other error goes
# through unchanged. Source: GroupMetadataManager.appendGroupMetadataErrorToResponseError.
APPEND_ERRORS: Mapping[ErrorCode, ErrorCode] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


def append_error(error: ErrorCode, *, transactional: bool = False) -> ErrorCode:
    """Code that the client sees when appending its records failed with `error`."""
    if transactional and error is ErrorCode.NETWORK_EXCEPTION:
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return APPEND_ERRORS.get(error, error)
