"""Numbers and names of Kafka's errors."""

from kio.schema.errors import ErrorCode as KioError

from kgroups.core.protocol.errors import ErrorCode, error_name

NEWER_THAN_KIO = {134, 135, 136}


def test_names_are_kafkas() -> None:
    """As kio has them, which takes them from Kafka's `Errors`."""
    known = {int(code): code.name for code in ErrorCode if code not in NEWER_THAN_KIO}
    assert known == {int(code): code.name.upper() for code in KioError}


def test_unknown_numbers_stay_numbers() -> None:
    """A newer broker's error is told as far as it can be."""
    assert error_name(0) is None
    assert error_name(29) == "TOPIC_AUTHORIZATION_FAILED"
    assert error_name(999) == "UNKNOWN_ERROR_999"
